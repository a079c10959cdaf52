//! Judging calls: who is meant, may it run, must somebody be asked.

use std::sync::Arc;

use callgate_contract::{
    Adjustment, Admitted, ErrorKind, Executed, Failure, Fault, Mode, Output, RuleVerdict, Tool,
    Verdict,
    document::{Document, canonical},
    tier::{Tier, TierPolicy},
    tool::hash,
};
use callgate_wire::{Reply, Stop, ToolCall, ToolChoice};

use crate::{
    answer,
    builtin::{self, Builtin},
    effect::{self, Effect},
    event::{CallGated, Event, GateVerdict, LookupStarted},
    offering::Later,
    people,
    run::{CallState, Found, Run},
};

/// An id that no other call of the run has: the provider's where that is so.
pub(crate) fn unique_id(run: &mut Run, call: &ToolCall, index: usize) -> Arc<str> {
    let mut id = call.id.clone();
    let mut n = 0;
    while id.is_empty() || run.ids.contains(&id) {
        id = match n {
            0 => format!("call_{}_{index}", run.hop).into(),
            n => format!("call_{}_{index}_{n}", run.hop).into(),
        };
        n += 1;
    }
    run.ids.insert(id.clone());
    id
}

/// Decides with the whole reply in view which calls cannot run, whatever their arguments.
pub(crate) fn bar(run: &Run, reply: &Reply, may_call: bool, calls: &mut [crate::run::Call]) {
    let one_only = !run.agent().parallel_tool_calls;
    for (i, call) in calls.iter_mut().enumerate() {
        let fault = match reply.stop {
            Stop::Length => Some(Fault::truncated()),
            Stop::Incomplete => Some(Fault::stream_incomplete()),
            // The request said so, and the loop's word counts, whatever the model makes of it.
            _ if !may_call && !answer::is_final(run, &call.name) => {
                Some(Fault::skipped("no calls are possible now; answer with what is known"))
            }
            _ if one_only && i > 0 => Some(Fault::skipped(
                "only one call at a time is possible here, and the first one was taken; make it again",
            )),
            _ => None,
        };
        call.barred = fault.map(Box::new);
    }
}

/// The tool that a call stands for.
pub(crate) fn tool_of(run: &Run, index: usize) -> Option<Arc<Tool>> {
    let name = &run.calls[index].name;
    run.catalog.resolve(name, run.mode()).ok().map(|(tool, _)| tool.clone())
}

/// Judges a call for the first time.
pub(crate) fn gate(run: &Run, index: usize) -> Event {
    judge(run, index, false)
}

/// Judges a person's edit: through every gate again (law 8).
pub(crate) fn gate_edit(run: &Run, index: usize) -> Event {
    judge(run, index, true)
}

fn judge(run: &Run, index: usize, edited: bool) -> Event {
    let call = &run.calls[index];
    let event = |tool: Option<Arc<str>>, adjustments, verdict| {
        Event::CallGated(Box::new(CallGated {
            call: call.id.clone(),
            name: call.name.clone(),
            tool,
            raw: call.raw.clone(),
            edited,
            adjustments,
            verdict,
        }))
    };
    let refused = |fault: Box<Fault>| GateVerdict::Refused { fault };
    if let Some(fault) = &call.barred {
        return event(None, Vec::new(), refused(fault.clone()));
    }
    if let Some(answer) = &run.answer
        && answer.spec.tool.as_ref() == Some(&call.name)
    {
        let verdict = callgate_contract::gate::judge(
            &answer.schema,
            &std::collections::BTreeMap::new(),
            run.mode(),
            &call.raw,
        );
        return match verdict {
            Verdict::Admitted { arguments, adjustments } => {
                event(None, adjustments, GateVerdict::Answer { arguments: arguments.shared() })
            }
            Verdict::Refused(fault) => event(None, Vec::new(), refused(fault)),
        };
    }
    let (tool, renamed) = match run.catalog.resolve(&call.name, run.mode()) {
        Ok(found) => found,
        Err(fault) => return event(None, Vec::new(), refused(on_offer(run, fault))),
    };
    let name = Some(tool.name.clone());
    if !edited && let Some(fault) = not_on_offer(run, tool, &call.name) {
        return event(name, Vec::new(), refused(Box::new(fault)));
    }
    // Not every provider holds a choice among the tools, so the gate does.
    let chosen: Option<Vec<&str>> = match &run.choice {
        ToolChoice::One(one) => Some(vec![one]),
        ToolChoice::Subset { names, .. } => Some(names.iter().map(|n| &**n).collect()),
        _ => None,
    };
    if let Some(chosen) = chosen.filter(|chosen| !edited && !chosen.contains(&&*tool.name)) {
        let available = chosen.into_iter().map(str::to_owned).collect();
        let fault = Fault::unknown_tool(&call.name, available, None);
        return event(name, Vec::new(), refused(Box::new(fault)));
    }
    if tool.tier.never_runs() {
        // Not even offered, so it is as if it did not exist.
        let fault =
            Fault::policy_denied(&format!("The tool {:?} is blocked by policy.", tool.name));
        return event(name, Vec::new(), refused(Box::new(fault)));
    }
    if let Some(most) = run.agent().budget.calls_per_tool {
        let running = run.calls.iter().enumerate().filter(|(i, c)| {
            *i < index
                && tool_of(run, *i).is_some_and(|other| other.name == tool.name)
                && matches!(
                    c.state,
                    CallState::Ready { .. } | CallState::Waiting { .. } | CallState::Asking { .. }
                )
        });
        let so_far = run.tally.started_by_tool.get(&tool.name).copied().unwrap_or(0);
        if so_far + u32::try_from(running.count()).unwrap_or(u32::MAX) >= most {
            let fault = Fault::budget(&format!(
                "The tool {:?} may be called {most} times a run, and that is used up.",
                tool.name
            ));
            return event(name, Vec::new(), refused(Box::new(fault)));
        }
    }
    // A person's edit is judged as it stands; nobody mends what they wrote.
    let verdict = if edited {
        callgate_contract::gate::judge(&tool.input, &tool.aliases, Mode::Strict, &call.raw)
    } else {
        run.shown().admit(tool, &call.raw, run.mode())
    };
    match verdict {
        Verdict::Refused(fault) => {
            event(name, renamed.into_iter().collect::<Vec<Adjustment>>(), refused(fault))
        }
        Verdict::Admitted { arguments, adjustments } => {
            let adjustments = renamed.into_iter().chain(adjustments).collect();
            let verdict = rules_and_tier(run, index, tool, &arguments, 0);
            event(name, adjustments, verdict)
        }
    }
}

/// Why a tool of the catalog may not be called by now. One that waits to be found comes on offer by
/// being called; its arguments were made up without its schema, so they are not even judged.
fn not_on_offer(run: &Run, tool: &Tool, called: &str) -> Option<Fault> {
    if tool.tier.never_runs() || run.offered(&tool.name) {
        return None;
    }
    if run.mount.later(&tool.name) == Some(Later::Found) {
        return Some(Fault::deferred(&tool.name));
    }
    let offered = run.on_offer();
    let available = offered.iter().map(|tool| tool.name.to_string()).collect();
    Some(Fault::unknown_tool(called, available, None))
}

/// The tools that a refusal names are those on offer, not those in the catalog; and where others
/// wait, how they are found.
fn on_offer(run: &Run, fault: Box<Fault>) -> Box<Fault> {
    let definitions = run.on_offer();
    let fault = only(run, &definitions.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), fault);
    match builtin::find(&run.catalog, Builtin::SearchTools) {
        Some(search) if definitions.iter().any(|tool| tool.name == search.name) => {
            Box::new(fault.searchable(&search.name))
        }
        _ => fault,
    }
}

fn only(run: &Run, offered: &[&str], mut fault: Box<Fault>) -> Box<Fault> {
    if fault.available.iter().any(|name| !offered.contains(&name.as_str())) {
        let suggestion = fault.suggestion.take().filter(|s| offered.contains(&s.as_str()));
        let available = offered.iter().map(|name| (*name).to_owned()).collect();
        let name = run.calls.iter().find(|c| matches!(c.state, CallState::Pending));
        let name = name.map_or("", |c| &c.name);
        return Box::new(Fault::unknown_tool(name, available, suggestion));
    }
    fault
}

/// Rules from the `from`th on, then the tier.
fn rules_and_tier(
    run: &Run,
    index: usize,
    tool: &Tool,
    arguments: &Admitted,
    from: usize,
) -> GateVerdict {
    // Who asks and when is for those that look at it; most tools have neither rules nor conditions.
    if let ([], TierPolicy::Always(tier)) = (&*tool.rules, &tool.tier)
        && *tier != Tier::Block
    {
        return GateVerdict::Admitted { arguments: arguments.shared(), tier: *tier, because: None };
    }
    let facts = run.facts();
    let mut from = from;
    loop {
        match tool.check_rules(arguments, &facts, from) {
            RuleVerdict::Broken(fault) => return GateVerdict::Refused { fault },
            RuleVerdict::Hold => break,
            RuleVerdict::Ask { index: rule_index, rule, lookup, arguments: question } => {
                let key = lookup_key(&lookup.tool, &question);
                match run.found.get(&key) {
                    Some(Found::Yes) => from = rule_index + 1,
                    Some(Found::No) => {
                        return GateVerdict::Refused { fault: Box::new(rule.fault()) };
                    }
                    Some(Found::Unanswered) => {
                        let fault = Box::new(rule.unchecked(&lookup.tool));
                        return GateVerdict::Refused { fault };
                    }
                    None => {
                        let id = format!("{}.{}", run.calls[index].id, rule.id);
                        return GateVerdict::Asking {
                            arguments: arguments.shared(),
                            rule: rule_index,
                            question: id.into(),
                        };
                    }
                }
            }
        }
    }
    let (tier, because) = tool.tier.decide(arguments, &facts);
    if tier == Tier::Block {
        let why = because.map_or_else(String::new, |because| format!(" ({because})"));
        return GateVerdict::Refused {
            fault: Box::new(Fault::policy_denied(&format!(
                "Policy blocks this call of {:?}{why}.",
                tool.name
            ))),
        };
    }
    GateVerdict::Admitted { arguments: arguments.shared(), tier, because: because.map(Into::into) }
}

/// The cache key of a rule's question.
pub(crate) fn lookup_key(tool: &str, arguments: &str) -> String {
    // Digits count: the answer about one long id says nothing about its neighbour.
    let key = Document::parse(arguments)
        .map_or_else(|_| arguments.to_owned(), |doc| canonical(doc.root()));
    format!("{tool} {key}")
}

/// What a read-only tool's outcome says to a rule: anything but nothing, `null` and `[]` is a
/// find, an error of the tool's own is none, and everything else leaves the question open.
pub(crate) fn found(outcome: &Result<Output, Failure>) -> Found {
    let there = match outcome {
        Ok(output) => match &output.structured {
            Some(text) => !matches!(text.trim(), "null" | "[]" | "{}" | "\"\""),
            None => !output.content.is_empty(),
        },
        // A server that is down for now (503) has not said that there is no such thing (404).
        Err(failure)
            if failure.kind == ErrorKind::ToolError
                && !(failure.retryable && failure.executed == Executed::No) =>
        {
            false
        }
        Err(_) => return Found::Unanswered,
    };
    if there { Found::Yes } else { Found::No }
}

/// Starts the question of the rule that a call waits for.
fn start_question(run: &Run, index: usize, question: &Arc<str>) -> Event {
    let call = &run.calls[index];
    let nothing = || fail_gate(run, index, "the rule's question could not be asked");
    let CallState::Asking { arguments, rule } = &call.state else {
        return nothing();
    };
    let Some(tool) = tool_of(run, index) else { return nothing() };
    let Some(rule) = tool.rules.get(*rule) else { return nothing() };
    let callgate_contract::rules::Ask::Lookup(lookup) = &rule.ask else { return nothing() };
    let Some(asked) = run.catalog.get(&lookup.tool) else { return nothing() };
    let Some(text) = lookup.arguments(arguments) else { return nothing() };
    // The question passes its own tool's gate like any call.
    match asked.admit(&text, run.mode()) {
        Verdict::Admitted { arguments, .. } => Event::CallStarted {
            call: question.clone(),
            attempt: 1,
            idempotency_key: key(run, question),
            lookup: Some(Box::new(LookupStarted {
                of: call.id.clone(),
                tool: asked.name.clone(),
                arguments: arguments.shared(),
            })),
        },
        Verdict::Refused(_) => fail_gate_with(run, index, rule.fault()),
    }
}

fn fail_gate(run: &Run, index: usize, why: &str) -> Event {
    fail_gate_with(run, index, Fault::policy_denied(why))
}

fn fail_gate_with(run: &Run, index: usize, fault: Fault) -> Event {
    let call = &run.calls[index];
    Event::CallGated(Box::new(CallGated {
        call: call.id.clone(),
        name: call.name.clone(),
        tool: tool_of(run, index).map(|tool| tool.name.clone()),
        raw: call.raw.clone(),
        edited: false,
        adjustments: Vec::new(),
        verdict: GateVerdict::Refused { fault: Box::new(fault) },
    }))
}

/// Judges on after a rule's question was answered.
pub(crate) fn gate_after_question(run: &Run, index: usize) -> Event {
    let call = &run.calls[index];
    let (CallState::Asking { arguments, rule }, Some(tool)) = (&call.state, tool_of(run, index))
    else {
        return fail_gate(run, index, "the call was not waiting for a rule");
    };
    let verdict = rules_and_tier(run, index, &tool, arguments, *rule);
    Event::CallGated(Box::new(CallGated {
        call: call.id.clone(),
        name: call.name.clone(),
        tool: Some(tool.name.clone()),
        raw: call.raw.clone(),
        edited: false,
        adjustments: Vec::new(),
        verdict,
    }))
}

/// What a judged call begins with: itself, or a question to a tool or a person.
pub(crate) fn begin(run: &Run, index: usize) -> Option<Event> {
    let call = &run.calls[index];
    match (&call.state, call.verdict.as_ref()?) {
        (CallState::Asking { .. }, GateVerdict::Asking { question, .. }) => {
            Some(start_question(run, index, question))
        }
        (CallState::Ready { .. }, verdict) => Some(start_or_ask(run, index, verdict)),
        _ => None,
    }
}

/// What follows admission: the call itself, or a question to a person.
fn start_or_ask(run: &Run, index: usize, verdict: &GateVerdict) -> Event {
    if let (CallState::Ready { arguments }, Some(tool)) =
        (&run.calls[index].state, tool_of(run, index))
        && builtin::of(&tool) == Some(Builtin::AskUser)
    {
        return people::ask(run, index, arguments);
    }
    let GateVerdict::Admitted { arguments, tier: Tier::Approve, because } = verdict else {
        return start(run, index);
    };
    let call = &run.calls[index];
    let expires_at =
        run.agent().approvals.timeout_seconds.map(|seconds| run.now + seconds.saturating_mul(1000));
    Event::ApprovalRequested {
        call: call.id.clone(),
        binding: binding_now(run, index, arguments, expires_at),
        because: because.clone(),
        expires_at,
    }
}

/// What a yes to a call would be good for, by its tool's definition of today.
pub(crate) fn binding_now(
    run: &Run,
    index: usize,
    arguments: &str,
    expires_at: Option<u64>,
) -> Arc<str> {
    let fingerprint = tool_of(run, index).map_or_else(String::new, |tool| tool.fingerprint());
    binding(run, &run.calls[index].id, arguments, &fingerprint, expires_at)
}

/// The condition that asked for a person's word, where there is one.
pub(crate) fn because(call: &crate::run::Call) -> Option<Arc<str>> {
    match call.verdict.as_ref()? {
        GateVerdict::Admitted { because, .. } => because.clone(),
        _ => None,
    }
}

/// What a yes is good for: these arguments, this definition, this run and call, until then.
fn binding(
    run: &Run,
    call: &str,
    arguments: &str,
    fingerprint: &str,
    expires_at: Option<u64>,
) -> Arc<str> {
    hash(&format!("{}\n{call}\n{fingerprint}\n{expires_at:?}\n{arguments}", run.maker())).into()
}

/// The intent to call.
pub(crate) fn start(run: &Run, index: usize) -> Event {
    let call = &run.calls[index];
    Event::CallStarted {
        call: call.id.clone(),
        attempt: call.attempt + 1,
        idempotency_key: key(run, &call.id),
        lookup: None,
    }
}

/// The same for every attempt of a call.
pub(crate) fn key(run: &Run, call: &str) -> Arc<str> {
    [run.maker(), "/", call].concat().into()
}

/// The effect of a recorded question to a person.
pub(crate) fn question(
    run: &Run,
    id: &Arc<str>,
    arguments: &Admitted,
    binding: &Arc<str>,
    because: &Option<Arc<str>>,
    expires_at: Option<u64>,
) -> Option<Effect> {
    let index = run.calls.iter().position(|c| c.id == *id)?;
    let tool = tool_of(run, index)?;
    Some(Effect::AskPerson(Box::new(effect::Question {
        run: run.id.clone(),
        call: id.clone(),
        tool: tool.name.clone(),
        description: tool.description.clone(),
        arguments: arguments.shared(),
        binding: binding.clone(),
        because: because.clone(),
        destructive: tool.annotations.destructive,
        expires_at,
    })))
}
