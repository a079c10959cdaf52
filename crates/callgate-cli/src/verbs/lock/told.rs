//! A drift as a person reads it: what changed, in words; what a tool takes now, proved; what hides.

use std::fmt::Write as _;

use callgate::{
    backend::lock::{AgentReport, Changed, LockReport, ServerReport},
    contract::{
        definition::{
            Flag,
            difference::{Change, Edit, Effect, Op},
        },
        schema::canonical::Relation,
    },
};
use serde_json::Value;

use crate::show::words;

/// The most edits of a schema that are listed.
const MOST_EDITS: usize = 12;

/// All servers. Writing to a string cannot fail.
pub(super) fn report(report: &LockReport, accepted: bool) -> String {
    let mut out = String::new();
    for server in &report.servers {
        one(server, accepted, &mut out);
    }
    for agent in &report.agents {
        card(agent, accepted, &mut out);
    }
    for server in &report.forgotten {
        let what = if accepted { "forgotten" } else { "pinned, but declared nowhere" };
        let _ = writeln!(out, "{}: {what}", words::shown(server));
    }
    out
}

fn one(server: &ServerReport, accepted: bool, out: &mut String) {
    let name = words::shown(&server.server);
    if let Some(error) = &server.error {
        let pins = if server.pinned { "its pins stay" } else { "it is not pinned" };
        let _ = writeln!(out, "{name}: could not be asked, {pins}: {}", words::short(error, 400));
        return;
    }
    let how = match (server.drifted, accepted) {
        (false, _) => "as accepted",
        (true, true) => "accepted",
        (true, false) if !server.pinned => "not pinned",
        (true, false) => "drifted",
    };
    let _ = writeln!(out, "{name}: {}, {how}", words::count(server.unchanged, "unchanged tool"));
    for changed in &server.changed {
        change(changed, out);
    }
    for added in &server.added {
        let told = words::short(&words::shown(&added.description), 100);
        let _ = writeln!(out, "  + {}  {told}", words::shown(&added.tool));
        flags(&added.flags, out);
    }
    for removed in &server.removed {
        let _ = writeln!(out, "  - {}", words::shown(removed));
    }
    for unusable in &server.unusable {
        let tool = unusable.tool.as_deref().unwrap_or("(no name)");
        let reason = words::short(&unusable.reason, 300);
        let _ = write!(out, "  x {}: cannot be used: {reason}", words::shown(tool));
        let _ = match unusable.pointer.as_str() {
            "" => writeln!(out),
            pointer => writeln!(out, " (at {})", words::shown(pointer)),
        };
    }
}

/// An agent's card: its members that changed, and its text with the words that went and came.
fn card(agent: &AgentReport, accepted: bool, out: &mut String) {
    let url = words::shown(&agent.agent);
    if let Some(error) = &agent.error {
        let pins = if agent.pinned { "its pin stays" } else { "it is not pinned" };
        let _ = writeln!(out, "{url}: could not be asked, {pins}: {}", words::short(error, 400));
        return;
    }
    let how = match (agent.drifted, accepted) {
        (false, _) => "as accepted",
        (true, true) => "accepted",
        (true, false) if !agent.pinned => "not pinned",
        (true, false) => "drifted",
    };
    let name = words::shown(agent.name.as_deref().unwrap_or_default());
    let _ = writeln!(out, "{url}: the agent \"{name}\", {how}");
    if !agent.fields.is_empty() {
        let _ = writeln!(out, "  ~ card: {}", agent.fields.join(", "));
        let _ = writeln!(out, "      {}", diff(&agent.diff));
    }
    flags(&agent.flags, out);
}

fn change(changed: &Changed, out: &mut String) {
    let difference = &changed.difference;
    let _ = writeln!(out, "  ~ {}: {}", words::shown(&changed.tool), difference.fields.join(", "));
    for text in &difference.texts {
        let _ = writeln!(out, "    {}: {}", text.field, diff(&text.diff));
    }
    for (member, effect, verbs) in [
        ("inputSchema", &difference.input, ["takes", "took"]),
        ("outputSchema", &difference.output, ["gives", "gave"]),
    ] {
        if let Some(effect) = effect {
            schema(member, effect, verbs, out);
        }
    }
    for hint in &difference.annotations {
        let _ = writeln!(
            out,
            "    {}: {} -> {}",
            words::shown(&hint.hint),
            value(Some(&hint.before)),
            value(Some(&hint.after))
        );
    }
    flags(&difference.flags, out);
}

/// Words that went in `[-…-]`, words that came in `{+…+}`.
fn diff(changes: &[Change]) -> String {
    let mut out = String::new();
    for (i, change) in changes.iter().enumerate() {
        let text = words::shown(&change.text);
        match change.op {
            Op::Removed => out.push_str(&format!("[-{text}-]")),
            Op::Added => out.push_str(&format!("{{+{text}+}}")),
            // Of a long text only what stands around the changes.
            Op::Same => out.push_str(&around(&text, i > 0, i + 1 < changes.len())),
        }
    }
    out.replace('\n', "\n      ")
}

fn around(text: &str, keeps_start: bool, keeps_end: bool) -> String {
    const KEPT: usize = 60;
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= KEPT * 2 + 3 {
        return text.to_owned();
    }
    let start: String = if keeps_start { chars[..KEPT].iter().collect() } else { String::new() };
    let end: String =
        if keeps_end { chars[chars.len() - KEPT..].iter().collect() } else { String::new() };
    format!("{start}…{end}")
}

fn schema(member: &str, effect: &Effect, [now, then]: [&str; 2], out: &mut String) {
    let what = match effect.relation {
        Relation::Equal => format!("{now} the same as before"),
        Relation::Wider => format!("{now} more than before"),
        Relation::Narrower => format!("{now} less than before"),
        Relation::Both => format!("{now} what it did not, and not all that it did"),
        Relation::Unknown => format!("it could not be decided whether it {now} more or less"),
    };
    let _ = writeln!(out, "    {member} ({}): {what}", effect.relation.word());
    if let Some(only) = &effect.only_after {
        let _ = writeln!(out, "      {now} now only:   {}", value(Some(only)));
    }
    if let Some(only) = &effect.only_before {
        let _ = writeln!(out, "      {then} before only: {}", value(Some(only)));
    }
    for Edit { pointer, before, after } in effect.edits.iter().take(MOST_EDITS) {
        let at = if pointer.is_empty() { "/" } else { pointer };
        let _ = writeln!(
            out,
            "      {}: {} -> {}",
            words::shown(at),
            value(before.as_ref()),
            value(after.as_ref())
        );
    }
    let more = effect.edits.len().saturating_sub(MOST_EDITS) + effect.more;
    if more > 0 {
        let _ = writeln!(out, "      and {} (--json lists them)", words::count(more, "more edit"));
    }
}

/// A value on one line, with nothing in it that hides.
fn value(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::Null) => "absent".to_owned(),
        Some(value) => words::short(&words::shown(&value.to_string()), 160),
    }
}

/// Things to look at, each with its place.
fn flags(flags: &[Flag], out: &mut String) {
    for flag in flags {
        let _ = writeln!(out, "    ! {}", words::flag(flag));
    }
}
