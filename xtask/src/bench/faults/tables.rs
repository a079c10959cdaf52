//! The report of the faults bench.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    compare::same_work,
    crew::{OURS, Peer},
    rows::{Fault, Row, of},
};
use crate::bench::{
    plot::{Kind, Plot},
    report::{Block, Report, Table},
};

const METHOD: &[&str] = &[
    "A provider on loopback plays a capable model that makes one mistake; each peer runs its own \
     agent loop against it with the same tools, typed as its documentation does it, its defaults, \
     and at most 10 model calls. What ran, what the model was told and how the run ended is judged \
     from the tools' log, the provider's log and the run's outcome. One conversation a cell, each \
     with an agent, a client and a loop of its own.",
    "**The model's rule**, the same for every peer, by plain content alone, whatever the format: it \
     corrects a call if the text that came back names the faulty place and what is expected there \
     (the property and its type, the right value of the enum, the bound, the form of the date, the \
     missing name, that the JSON cannot be parsed, the available tool's exact name, that the reply \
     was cut); otherwise it repeats the call, since it has learnt nothing. Under the lenient rule the \
     place may also be given by the quoted value, or by line and column. A tool's failure ends the \
     conversation as soon as it is told in any words; whoever invites the model to make the call \
     again gets it made again; a broken result that is passed on as if it were right misleads it. \
     The words are in `bench/faults/say.py`, and none is taken from one peer's messages.",
    "**Outcomes**: R right; F right after a fix; P repaired without asking; S stopped with a typed \
     reason that names what happened; **W** wrong call executed (other values than meant, out of a \
     cut reply, on a guess between two readings, or twice); **M** the model was misled about what \
     happened; **C** crash; **L** loop (10 model calls); **T** over a minute (15 seconds where the tool hangs); **E** silent end: it \
     looks like a success, and nothing was done. Which are acceptable is a property of the fault. \
     Tokens are bytes of requests and replies divided by four.",
    "The first bench is 50 faults in Chat Completions. The grown one has all faults in every dialect \
     that has a form for them (Chat Completions, Responses, Anthropic Messages, Gemini \
     generateContent), whole and streamed. A fault is defined once by its meaning: a cut is \
     `finish_reason: length`, an incomplete response, `stop_reason: max_tokens`, `MAX_TOKENS`. \
     Malformed JSON has a form where arguments are text (in Anthropic's streams too); Gemini and \
     Anthropic's whole replies carry values, so there only odd values can come.",
];

const DOUBTS: &str = "What to keep in mind. The model is a rule: the bench measures what a runtime \
    tells and refuses, not success in the field. Defaults differ in what they mean: the OpenAI Agents \
    SDKs hide the reason of a failure on purpose, and send strict schemas, with which OpenAI's own \
    models cannot make most of the schema's faults; rig's ranges and patterns are in the schema that it \
    sends and nothing enforces them; Pydantic AI and LangChain let a tool's exceptions end the run \
    unless the tool raises their own. `json_dup_keys` and the streams that end after the last byte of \
    the arguments are strict on purpose: the values may be right by luck. Pydantic AI's `run_stream` \
    ends at the first text, as its documentation says. Where a framework has a time limit for a tool, \
    the tool has 2 seconds, which only `hangs` needs. Callgate's own limit of 8 steps is set to 10 like \
    everybody's.";

/// The report; what did not hold is filled in by the caller.
pub(super) fn report(peers: &[Peer], rows: &[Row], faults: &[Fault], summary: &Value) -> Report {
    let names: Vec<(&str, &str)> = peers.iter().map(|peer| (peer.name, peer.label)).collect();
    let tell = |bench, rule, variant| totals(&names, &of(rows, bench, rule, variant));
    let first = of(rows, "first", "strict", "");
    let grown = of(rows, "grown", "strict", "");
    let mut headline = vec![
        Block::Text("The first 50 faults, defaults, strict rule:".to_owned()),
        Block::Table(tell("first", "strict", "")),
        Block::Plot(acceptable("faults-first", "Acceptable of 50 faults", &names, &first)),
    ];
    let mut details = Vec::new();
    for (title, bench, rule, variant) in [
        ("The same under the lenient rule:", "first", "lenient", ""),
        (
            "The peers with their documented options switched on, strict rule:",
            "first",
            "strict",
            "tuned",
        ),
        ("All faults in every dialect, whole and streamed, strict rule:", "grown", "strict", ""),
    ] {
        headline.push(Block::Text(title.to_owned()));
        headline.push(Block::Table(tell(bench, rule, variant)));
    }
    headline.push(Block::Plot(acceptable(
        "faults-grown",
        "Acceptable cells of the grown bench, %",
        &names,
        &grown,
    )));
    headline.push(Block::Text("Acceptable by family, grown bench, strict rule:".to_owned()));
    headline.push(Block::Table(by(&names, &grown, "family", |row| row.family.clone())));
    headline.push(Block::Text(
        "Model calls for the same work: the cells in which the peer and Callgate both came off well. \
         In all its cells a peer that stops early or crashes needs few."
            .to_owned(),
    ));
    headline.push(Block::Table(calls(&names, rows)));
    headline.push(Block::Text(DOUBTS.to_owned()));

    details.push(Block::Text("## The first 50, by group".to_owned()));
    details.push(Block::Table(by(&names, &first, "group", |row| row.group.clone())));
    details.push(Block::Text(
        "## The first 50, fault by fault\n\nThe outcome and the model calls; bold is not acceptable."
            .to_owned(),
    ));
    details.push(Block::Table(each(&names, &first, faults)));
    for (title, rule, variant) in [
        ("## What the lenient rule changes", "lenient", ""),
        ("## What the documented options change", "strict", "tuned"),
    ] {
        details.push(Block::Text(title.to_owned()));
        details.push(Block::Text(changed(&names, &first, &of(rows, "first", rule, variant))));
    }
    details.push(Block::Text(
        "OpenAI Agents: a `failure_error_function` or `errorFunction` that shows the reason, and \
         `OPENAI_AGENTS_DONT_LOG_TOOL_DATA=0`, without which the reason is hidden from it; in Node also \
         `z.strictObject`. LangChain: a `wrap_tool_call` middleware that makes results of exceptions, \
         `extra=\"forbid\"`. AI SDK: `z.strictObject`. rig: `deny_unknown_fields`. Pydantic AI: \
         `retries=3`."
            .to_owned(),
    ));
    details.push(Block::Text("## The grown bench, by dialect".to_owned()));
    let dialect = |row: &Row| format!("{}, {}", row.dialect, row.mode);
    details.push(Block::Table(by(&names, &grown, "dialect", dialect)));
    details.push(Block::Text(
        "## The grown bench, fault by fault\n\nAcceptable cells of all; what was not, by outcome."
            .to_owned(),
    ));
    details.push(Block::Table(counted(&names, &grown, faults)));
    let lenient = of(rows, "grown", "lenient", "");
    if !lenient.is_empty() {
        details.push(Block::Text(
            "## The grown bench under the lenient rule\n\nThe faults that it may judge otherwise, in \
             Chat Completions."
                .to_owned(),
        ));
        details.push(Block::Table(totals(&names, &lenient)));
    }
    details.push(Block::Text("## The faults".to_owned()));
    details.push(Block::Table(listed(faults)));
    Report {
        title: "Faults survived",
        method: METHOD.iter().map(|text| (*text).to_owned()).collect(),
        versions: peers.iter().map(|peer| (peer.label.to_owned(), peer.version.clone())).collect(),
        headline,
        details,
        raw: json!({"summary": summary, "rows": rows}),
        failures: Vec::new(),
    }
}

/// The rows of a peer.
fn mine<'a>(rows: &[&'a Row], peer: &str) -> Vec<&'a Row> {
    rows.iter().filter(|row| row.peer == peer).copied().collect()
}

fn count(rows: &[&Row], is: impl Fn(&Row) -> bool) -> String {
    rows.iter().filter(|row| is(row)).count().to_string()
}

fn share(rows: &[&Row]) -> String {
    format!("{}/{}", rows.iter().filter(|row| row.acceptable).count(), rows.len())
}

fn totals(names: &[(&str, &str)], rows: &[&Row]) -> Table {
    let mut table = Table::new([
        "peer",
        "acceptable",
        "wrong call executed",
        "model misled",
        "crash",
        "time limit",
        "loop",
        "silent end",
        "stopped where it could go on",
        "model calls",
        "of them in loops",
        "tokens, thousands",
    ]);
    for (name, label) in names {
        let mine = mine(rows, name);
        if mine.is_empty() {
            continue;
        }
        let code = |code: char| count(&mine, |row| row.code == code);
        let calls: u64 = mine.iter().map(|row| row.model_calls).sum();
        let lost: u64 = mine.iter().filter(|row| row.code == 'L').map(|row| row.model_calls).sum();
        let tokens: u64 = mine.iter().map(|row| row.tokens()).sum();
        table.row([
            (*label).to_owned(),
            share(&mine),
            code('W'),
            code('M'),
            code('C'),
            code('T'),
            code('L'),
            code('E'),
            count(&mine, |row| row.code == 'S' && !row.acceptable),
            calls.to_string(),
            lost.to_string(),
            (tokens / 1000).to_string(),
        ]);
    }
    table
}

/// What the same work costs: per peer, theirs and ours.
fn calls(names: &[(&str, &str)], rows: &[Row]) -> Table {
    let mut table = Table::new([
        "peer",
        "first 50: cells",
        "its model calls",
        "Callgate's",
        "grown: cells",
        "its model calls",
        "Callgate's",
    ]);
    for (name, label) in names.iter().filter(|(name, _)| *name != OURS) {
        let mut line = vec![(*label).to_owned()];
        for bench in ["first", "grown"] {
            let (cells, theirs, ours) = same_work(rows, bench, "strict", name);
            line.extend([cells.to_string(), theirs.to_string(), ours.to_string()]);
        }
        table.row(line);
    }
    table
}

/// Bars of what is acceptable: as a number of the first bench, in percent where peers met different
/// numbers of cells.
fn acceptable(file: &str, title: &str, names: &[(&str, &str)], rows: &[&Row]) -> Plot {
    let whole = title.ends_with('%');
    let bar = |(name, label): &(&str, &str)| {
        let mine = mine(rows, name);
        let good = mine.iter().filter(|row| row.acceptable).count() as f64;
        let value = if whole { 100.0 * good / mine.len() as f64 } else { good };
        (!mine.is_empty()).then(|| ((*label).to_owned(), value))
    };
    Plot {
        file: file.to_owned(),
        title: title.to_owned(),
        values: if whole { "acceptable cells, %" } else { "acceptable" }.to_owned(),
        log: false,
        kind: Kind::Bars(names.iter().filter_map(bar).collect()),
    }
}

/// Acceptable cells by a property of the row, in the order in which it comes.
fn by(names: &[(&str, &str)], rows: &[&Row], what: &str, of: impl Fn(&Row) -> String) -> Table {
    let mut table = headed(names, &[what]);
    for key in in_order(rows, &of) {
        let mut line = vec![key.clone()];
        for (name, _) in names {
            let mine: Vec<&Row> =
                mine(rows, name).into_iter().filter(|row| of(row) == key).collect();
            line.push(if mine.is_empty() { "–".to_owned() } else { share(&mine) });
        }
        table.row(line);
    }
    table
}

fn headed(names: &[(&str, &str)], before: &[&str]) -> Table {
    let before = before.iter().map(|text| (*text).to_owned());
    Table::new(before.chain(names.iter().map(|(_, label)| (*label).to_owned())))
}

fn in_order(rows: &[&Row], of: impl Fn(&Row) -> String) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.peer == OURS).chain(rows) {
        let key = of(row);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// Fault by fault, where each was met once.
fn each(names: &[(&str, &str)], rows: &[&Row], faults: &[Fault]) -> Table {
    let mut table = headed(names, &["fault", "what", "acceptable"]);
    for fault in faults.iter().filter(|fault| fault.first) {
        let mut line = vec![fault.id.clone(), fault.title.clone(), fault.ok.clone()];
        for (name, _) in names {
            let found = rows.iter().find(|row| row.peer == *name && row.fault == fault.id);
            line.push(found.map_or_else(
                || "–".to_owned(),
                |row| match row.acceptable {
                    true => format!("{} {}", row.code, row.model_calls),
                    false => format!("**{}** {}", row.code, row.model_calls),
                },
            ));
        }
        table.row(line);
    }
    table
}

/// Fault by fault, where each was met in many forms.
fn counted(names: &[(&str, &str)], rows: &[&Row], faults: &[Fault]) -> Table {
    let mut table = headed(names, &["fault", "family", "acceptable"]);
    for fault in faults {
        let mut line = vec![fault.id.clone(), fault.family.clone(), fault.ok.clone()];
        for (name, _) in names {
            let met: Vec<&Row> =
                mine(rows, name).into_iter().filter(|row| row.fault == fault.id).collect();
            let bad: BTreeSet<char> =
                met.iter().filter(|row| !row.acceptable).map(|row| row.code).collect();
            line.push(match (met.is_empty(), bad.is_empty()) {
                (true, _) => "–".to_owned(),
                (_, true) => share(&met),
                _ => format!("{} **{}**", share(&met), bad.into_iter().collect::<String>()),
            });
        }
        table.row(line);
    }
    table
}

/// What another rule or variant changed, peer by peer.
fn changed(names: &[(&str, &str)], before: &[&Row], after: &[&Row]) -> String {
    let codes: BTreeMap<(&str, &str), char> =
        before.iter().map(|row| ((row.peer.as_str(), row.fault.as_str()), row.code)).collect();
    let lines = names.iter().filter_map(|(name, label)| {
        let mine = mine(after, name);
        let differs: Vec<String> = mine
            .iter()
            .filter_map(|row| {
                let was = codes.get(&(*name, row.fault.as_str()))?;
                (*was != row.code).then(|| format!("{} {was}→{}", row.fault, row.code))
            })
            .collect();
        let told = if differs.is_empty() { "nothing".to_owned() } else { differs.join(", ") };
        (!mine.is_empty()).then(|| format!("- {label}: {told}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn listed(faults: &[Fault]) -> Table {
    let mut table = Table::new(["fault", "family", "what the model does", "acceptable", "forms"]);
    for fault in faults {
        let mut forms: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for cell in &fault.cells {
            let (dialect, mode) = cell.split_once('-').unwrap_or((cell, ""));
            forms.entry(dialect).or_default().push(mode);
        }
        let forms: Vec<String> = forms
            .into_iter()
            .map(|(dialect, modes)| match modes.len() {
                2 => dialect.to_owned(),
                _ => format!("{dialect} ({})", modes.join(", ")),
            })
            .collect();
        table.row([
            fault.id.clone(),
            fault.family.clone(),
            fault.title.clone(),
            fault.ok.clone(),
            forms.join(", "),
        ]);
    }
    table
}
