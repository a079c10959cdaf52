//! One tool, as a file has it: what rules look at.

use serde_json::Value;

use super::{
    paper::Paper,
    reach::{Spot, reach},
};
use crate::{
    document::{Kind, NodeRef, push_token},
    listed::{Form, Place, below},
    schema::{Schema, SchemaFault},
};

/// A tool, read leniently: what is missing or of the wrong kind is simply not there.
pub(crate) struct Seen<'p> {
    /// The file.
    pub paper: &'p Paper<'p>,
    /// The tool in it.
    pub node: NodeRef<'p>,
    /// Its pointer in the file.
    pub pointer: String,
    /// How it is written.
    pub form: Form,
    /// Its name, in a lock the catalog's; empty where it has none.
    pub name: &'p str,
    /// What the model reads.
    pub description: Option<&'p str>,
    /// Where the description is or would be, from the tool.
    pub description_at: &'static str,
    /// The schema of the arguments, where it is one.
    pub input: Option<Part>,
    /// The schema of the result, where it is one.
    pub output: Option<Part>,
}

/// A schema of a tool.
pub(crate) struct Part {
    /// Its pointer from the tool.
    pub at: &'static str,
    /// The schema.
    pub schema: Schema,
}

impl Part {
    /// Visits every subschema that an instance can meet, references followed.
    pub(crate) fn reach<'s>(&'s self, visit: &mut dyn FnMut(&Spot<'s>)) {
        reach(self.schema.value(), visit);
    }
}

impl<'p> Seen<'p> {
    pub(super) fn new(paper: &'p Paper<'p>, node: NodeRef<'p>, place: &'p Place) -> Self {
        let form = place.form;
        let inner = match node.get("function") {
            Some(function) if form == Form::OpenAi => function,
            _ => node,
        };
        let text = |name: &str| inner.get(name).and_then(|text| text.string());
        let nested = inner.span() != node.span();
        let part = |places: &'static [&'static str]| {
            let at = *places.iter().find(|at| below(node, at).is_some())?;
            let value = below(node, at)?.to_value();
            Some((at, value))
        };
        let compiled = |(at, value): (&'static str, Value)| {
            let schema = if matches!(value, Value::Object(_) | Value::Bool(_)) {
                let compile =
                    if form == Form::Contract { Schema::compile } else { Schema::compile_as_given };
                compile(value).ok()?
            } else {
                return None;
            };
            Some(Part { at, schema })
        };
        Self {
            paper,
            node,
            pointer: place.pointer.clone(),
            form,
            name: place.name.as_deref().or(text("name")).unwrap_or_default(),
            description: text("description").filter(|text| !text.trim().is_empty()),
            description_at: if nested { "/function/description" } else { "/description" },
            input: part(form.input_at(nested)).and_then(compiled),
            output: part(form.output_at()).and_then(compiled),
        }
    }

    /// The schemas, input first.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.input.iter().chain(&self.output)
    }

    /// What is wrong with a part that is there and is no schema.
    pub(crate) fn faults(&self) -> Vec<(String, SchemaFault)> {
        let nested = self.description_at != "/description";
        let mut faults = Vec::new();
        for (places, is_input) in
            [(self.form.input_at(nested), true), (self.form.output_at(), false)]
        {
            let found = places.iter().find_map(|at| Some((at, below(self.node, at)?)));
            let Some((at, node)) = found else { continue };
            let value = node.to_value();
            let compiled = match crate::catalog::takes_objects(&value) {
                Err(fault) if is_input => Err(vec![fault]),
                // A slip in a keyword is worth its author's look. A lock has what others wrote,
                // and to them a keyword that nobody knows says nothing.
                _ if self.paper.is_lock() => Schema::compile_as_given(value),
                _ => Schema::compile(value),
            };
            for fault in compiled.err().into_iter().flatten() {
                faults.push((format!("{at}{}", fault.pointer), fault));
            }
        }
        faults
    }

    /// Every string that a model reads, with its pointer from the tool: names of members too.
    pub(crate) fn texts(&self, visit: &mut dyn FnMut(&str, &'p str)) {
        strings(self.node, self.form, true, &mut String::new(), visit);
    }

    /// Every string in it, the backend's too.
    pub(crate) fn all_texts(&self, visit: &mut dyn FnMut(&str, &'p str)) {
        strings(self.node, self.form, false, &mut String::new(), visit);
    }

    /// A boolean of the annotations, by the contract's name and by MCP's.
    pub(crate) fn annotation(&self, own: &str, hint: &str) -> Option<bool> {
        let annotations = self.node.get("annotations")?;
        let name = if self.form == Form::Contract { own } else { hint };
        match annotations.get(name)?.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// Whether it stands in the place of a server's tool, and takes from there what it does not say.
    pub(crate) fn stands_for_another(&self) -> bool {
        self.form == Form::Contract && below(self.node, "/backend/mcp").is_some()
    }

    /// Whether it is offered only after a search.
    pub(crate) fn is_deferred(&self) -> bool {
        let by = if self.form == Form::Contract { "defer" } else { "defer_loading" };
        self.node.get(by).is_some_and(|defer| defer.kind() == Kind::True)
    }

    /// The rules that its own contract allows, with the pointers of the entries.
    pub(crate) fn allows(&self) -> Vec<(&'p str, String)> {
        let list = below(self.node, "/lint/allow").filter(|_| self.form == Form::Contract);
        list.into_iter()
            .flat_map(|list| list.elements().enumerate())
            .filter_map(|(i, entry)| {
                let reason = entry.get("reason")?.string()?;
                let rule = entry.get("rule")?.string()?;
                (!reason.trim().is_empty()).then(|| (rule, format!("/lint/allow/{i}")))
            })
            .collect()
    }
}

/// Members of a contract that no model reads.
const UNREAD: &[&str] =
    &["$schema", "version", "tier", "rules", "backend", "lint", "aliases", "mode", "result"];

fn strings<'p>(
    node: NodeRef<'p>,
    form: Form,
    is_tool: bool,
    pointer: &mut String,
    visit: &mut dyn FnMut(&str, &'p str),
) {
    let depth = pointer.len();
    match node.kind() {
        Kind::String => visit(pointer, node.string().unwrap_or_default()),
        Kind::Array => {
            for (i, element) in node.elements().enumerate() {
                push_token(pointer, &i.to_string());
                strings(element, form, false, pointer, visit);
                pointer.truncate(depth);
            }
        }
        Kind::Object => {
            for (name, value) in node.members() {
                if is_tool && form == Form::Contract && UNREAD.contains(&name) {
                    continue;
                }
                push_token(pointer, name);
                visit(pointer, name);
                strings(value, form, false, pointer, visit);
                pointer.truncate(depth);
            }
        }
        _ => {}
    }
}
