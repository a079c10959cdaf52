//! Which tools are sent, and how a choice among them is said or emulated.
//!
//! Hard rule of every provider: without tools nothing may be said about them. What a provider has
//! no word for is emulated by offering less, then by telling the model; each emulation is a
//! [`Note`], and where it forces nothing the run has to look at the reply.

use std::{borrow::Cow, sync::Arc};

use crate::{Note, Request, ToolChoice, ToolDefinition, Unforced, names::Names};

/// What an API has words for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Can {
    /// At least one call, and why not.
    pub(crate) some: Result<(), Unforced>,
    /// A call of one tool; by filter otherwise.
    pub(crate) one: bool,
    /// No call; by leaving out the tools otherwise.
    pub(crate) none: bool,
    /// Some of the tools, without having to call one; by filter otherwise.
    pub(crate) subset: bool,
    /// Some of the tools, one of which must be called; by filter otherwise.
    pub(crate) subset_required: bool,
    /// At most one call.
    pub(crate) one_call: bool,
    /// Tools that a search brings in; all are offered at once otherwise.
    pub(crate) defer: bool,
    /// The most tools.
    pub(crate) max_tools: usize,
}

/// The tools on offer after emulation, and what is left to say.
#[derive(Debug)]
pub(crate) struct Offer<'a> {
    tools: Vec<&'a ToolDefinition>,
    /// The tools' names on the wire.
    names: Vec<Cow<'a, str>>,
    pub(crate) choice: Choice<'a>,
    /// At most one call, where that can be said.
    pub(crate) one_call: bool,
    /// What the model is told where it cannot be forced.
    pub(crate) told: Option<String>,
    /// The tools that wait to be found, among those on offer.
    deferred: Vec<bool>,
}

/// A choice that the API has a word for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice<'a> {
    Auto,
    Some,
    One(Cow<'a, str>),
    None,
    Allowed { names: Vec<Cow<'a, str>>, required: bool },
}

impl<'a> Offer<'a> {
    pub(crate) fn new(
        request: &'a Request,
        can: Can,
        names: &mut Names<'a>,
        notes: &mut Vec<Note>,
    ) -> Self {
        let mut offer = Self {
            tools: Vec::with_capacity(request.tools.len()),
            names: Vec::with_capacity(request.tools.len()),
            choice: Choice::Auto,
            one_call: false,
            told: None,
            deferred: Vec::new(),
        };
        for tool in request.tools.iter() {
            if offer.tools.iter().any(|known| known.name == tool.name) {
                notes.push(Note::DuplicateTool { name: Arc::clone(&tool.name) });
            } else {
                offer.tools.push(tool);
            }
        }
        if offer.tools.is_empty() {
            return offer;
        }
        offer.choose(&request.tool_choice, can, notes);
        offer.limit(&request.tool_choice, can.max_tools, notes);
        if offer.tools.is_empty() {
            offer.choice = Choice::Auto;
            return offer;
        }
        if request.parallel_tool_calls == Some(false) && offer.choice != Choice::None {
            offer.one_call = can.one_call;
            if !can.one_call {
                notes.push(Note::OneCallNotForced);
            }
        }
        // A tool that must or may be called by its name has to be there.
        let waits = |tool: &ToolDefinition| tool.defer && !is_named(&request.tool_choice, tool);
        if !can.defer && offer.tools.iter().any(|tool| tool.defer) {
            notes.push(Note::FieldLeftOut { field: "defer".into() });
        }
        offer.deferred = offer.tools.iter().map(|tool| can.defer && waits(tool)).collect();
        offer.name(names, notes);
        offer
    }

    /// Whether any tool waits to be found, so that the search must be offered.
    pub(crate) fn searches(&self) -> bool {
        self.deferred.contains(&true)
    }

    /// For each tool, whether it waits to be found.
    pub(crate) fn deferred(&self) -> impl Iterator<Item = bool> + '_ {
        self.deferred.iter().copied()
    }

    /// From names in the request to names on the wire.
    fn name(&mut self, names: &mut Names<'a>, notes: &mut Vec<Note>) {
        for tool in &self.tools {
            let wire = names.wire(&tool.name);
            if *wire != *tool.name {
                let name = Arc::clone(&tool.name);
                notes.push(Note::ToolRenamed { name, wire: Arc::from(&*wire) });
            }
            self.names.push(wire);
        }
        let mut rename = |name: &mut Cow<'a, str>| {
            if let Cow::Borrowed(own) = *name {
                *name = names.wire(own);
            }
        };
        match &mut self.choice {
            Choice::One(name) => rename(name),
            Choice::Allowed { names, .. } => names.iter_mut().for_each(rename),
            _ => {}
        }
    }

    /// The tools, each with its name on the wire.
    pub(crate) fn tools(
        &self,
    ) -> impl ExactSizeIterator<Item = (&str, &'a ToolDefinition)> + Clone {
        self.names.iter().map(|name| &**name).zip(self.tools.iter().copied())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    fn choose(&mut self, choice: &'a ToolChoice, can: Can, notes: &mut Vec<Note>) {
        match choice {
            ToolChoice::Auto => {}
            ToolChoice::None if can.none => self.choice = Choice::None,
            ToolChoice::None => self.filter(choice, &|_| false, notes),
            ToolChoice::Some => self.force(choice, can, notes),
            ToolChoice::One(name) if can.one && can.some.is_ok() => {
                self.choice = Choice::One(Cow::Borrowed(name));
            }
            ToolChoice::One(name) => {
                self.filter(choice, &|tool| tool == &**name, notes);
                self.force(choice, can, notes);
            }
            ToolChoice::Subset { names, required } => {
                let has = |tool: &str| names.iter().any(|name| &**name == tool);
                let said = if *required { can.subset_required } else { can.subset };
                let offered = self.tools.iter().map(|tool| &*tool.name);
                let allowed: Vec<_> = offered.filter(|name| has(name)).map(Cow::Borrowed).collect();
                // An empty list of allowed tools is refused: nothing may be called.
                if said && !allowed.is_empty() && (!required || can.some.is_ok()) {
                    self.choice = Choice::Allowed { names: allowed, required: *required };
                } else {
                    self.filter(choice, &has, notes);
                    if *required {
                        self.force(choice, can, notes);
                    }
                }
            }
        }
    }

    fn filter(&mut self, choice: &ToolChoice, keep: &dyn Fn(&str) -> bool, notes: &mut Vec<Note>) {
        self.tools.retain(|tool| keep(&tool.name));
        let offered = self.tools.iter().map(|tool| Arc::clone(&tool.name)).collect();
        notes.push(Note::ChoiceByFilter { choice: choice.clone(), offered });
    }

    fn force(&mut self, choice: &ToolChoice, can: Can, notes: &mut Vec<Note>) {
        match can.some {
            _ if self.tools.is_empty() => {}
            Ok(()) => self.choice = Choice::Some,
            Err(reason) => {
                notes.push(Note::ChoiceNotForced { choice: choice.clone(), reason });
                self.told = Some(match &self.tools[..] {
                    [_] => "In this reply, call the tool that you have. Do not answer with text."
                        .to_owned(),
                    _ => {
                        "In this reply, call at least one tool. Do not answer with text.".to_owned()
                    }
                });
            }
        }
    }

    /// Those that the choice names stay first of all.
    fn limit(&mut self, choice: &ToolChoice, limit: usize, notes: &mut Vec<Note>) {
        let Some(over) = self.tools.len().checked_sub(limit).filter(|over| *over > 0) else {
            return;
        };
        let is_named = |tool: &ToolDefinition| is_named(choice, tool);
        let spare = self.tools.iter().rposition(|tool| !is_named(tool)).map_or(0, |at| at + 1);
        let mut names = Vec::new();
        let mut at = spare;
        while names.len() < over && at > 0 {
            at -= 1;
            if !is_named(self.tools[at]) {
                names.push(Arc::clone(&self.tools.remove(at).name));
            }
        }
        while names.len() < over {
            names.extend(self.tools.pop().map(|tool| Arc::clone(&tool.name)));
        }
        names.reverse();
        if let Choice::Allowed { names: allowed, .. } = &mut self.choice {
            allowed.retain(|name| !names.iter().any(|gone| **gone == **name));
        }
        notes.push(Note::ToolsLeftOut { limit, names });
    }
}

fn is_named(choice: &ToolChoice, tool: &ToolDefinition) -> bool {
    match choice {
        ToolChoice::One(name) => *name == tool.name,
        ToolChoice::Subset { names, .. } => names.contains(&tool.name),
        _ => false,
    }
}

/// What tells the model the answer's schema where the provider does not.
pub(crate) fn answer_told(schema: &str) -> String {
    format!("{ANSWER_LEAD}\n\n{schema}")
}

/// See [`answer_told`].
pub(crate) const ANSWER_LEAD: &str = "When you answer without calling a tool, reply with nothing \
                                      but a JSON value that is valid by this JSON Schema:";
