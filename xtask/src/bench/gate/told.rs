//! The report of the gate's figures.

use super::{
    super::{
        numbers::{median, short, spread},
        plot::{Kind, Plot},
        report::{Block, Report, Table},
    },
    figures::Figures,
};

/// Validators as people know them, in the order of the tables: the word in the rows, who it is from
/// text to arguments, who it is on what is parsed already.
const VALIDATORS: [(&str, &str, &str); 10] = [
    ("callgate", "Callgate's gate", "Callgate's gate"),
    ("jsonschema", "`serde_json` + `jsonschema`", "`jsonschema`"),
    ("boon", "`serde_json` + `boon`", "`boon`"),
    ("ajv", "`JSON.parse` + ajv", "ajv"),
    ("jsonschema-rs", "Python, `orjson` + `jsonschema-rs`", "Python `jsonschema-rs`"),
    ("fastjsonschema", "Python, `orjson` + `fastjsonschema`", "Python `fastjsonschema`"),
    ("pydantic", "Python, pydantic `model_validate_json`", "Python, pydantic `model_validate`"),
    ("python-jsonschema", "Python, `orjson` + `jsonschema`", "Python `jsonschema`"),
    (
        "python-jsonschema-validate",
        "Python, `jsonschema.validate()` a call, as loops by hand have it",
        "",
    ),
    ("struct", "`serde_json` into a struct: no pattern, no bounds", ""),
];

const CASES: [&str; 4] = ["typical", "nested", "wide", "real"];

pub(super) fn report(figures: &Figures, smoke: bool) -> Report {
    let mut headline = vec![Block::Table(whole(figures))];
    if !smoke {
        headline.insert(0, Block::Text(reach(figures)));
    }
    headline.push(Block::Plot(Plot {
        file: "gate-whole".to_owned(),
        title: "Text to arguments that may be used, a typical call".to_owned(),
        values: "nanoseconds of CPU, logarithmic".to_owned(),
        log: true,
        kind: Kind::Bars(bars(figures)),
    }));
    headline.push(Block::Text(alone_in_words(figures)));
    headline.push(Block::Table(loads(figures)));

    let steps = [
        (
            "told",
            "A wrong instance, from text to everything that is wrong with it in words, in nanoseconds. `fastjsonschema` and ajv's generated code stop at the first error unless told otherwise: ajv was told (`allErrors`), `fastjsonschema` cannot be. The gate's words are the whole message that the model reads, with what to do next.",
        ),
        (
            "alone",
            "The verdict alone, on a value that is parsed already, in nanoseconds. Here the same object is judged over and over, which is the best case of a just-in-time compiler.",
        ),
        (
            "compile",
            "A validator made of a schema that is parsed already, in nanoseconds. The gate, `jsonschema`, `boon`, ajv and Python's `jsonschema` check the schema by its meta-schema as they do; the gate looks for misleading references besides. ajv keeps one instance and forgets each schema afterwards; a new instance a schema costs it milliseconds.",
        ),
    ];
    let mut details = Vec::new();
    for (step, words) in steps {
        details.push(Block::Text(words.to_owned()));
        details.push(Block::Table(table(figures, step)));
    }
    details.push(Block::Text(parse_in_words(figures)));
    details.push(Block::Text("Projections: a contract's definition in a provider's words, with its losses and the way back, made of a compiled contract.".to_owned()));
    details.push(Block::Table(projections(figures)));

    let mut failures = figures.failures.clone();
    // A smoke run is about everybody taking part; there are figures of one call only.
    for (case, step) in [("typical", "whole"), ("nested", "whole"), ("wide", "whole")] {
        if figures.nanos("callgate", case, step).is_nan() {
            failures.push(format!("the gate has no figure for {case}, {step}"));
        }
    }
    let mut versions = vec![
        ("callgate".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("jsonschema (Rust)".to_owned(), "0.61.2".to_owned()),
        ("boon".to_owned(), "0.6.1".to_owned()),
    ];
    versions.extend(figures.versions.iter().map(|(who, which)| (who.clone(), which.clone())));
    Report {
        title: "The gate",
        method: method(figures, smoke),
        versions,
        headline,
        details,
        raw: figures.raw(),
        failures,
    }
}

/// What the gate has to reach, and whether it does.
fn reach(figures: &Figures) -> String {
    let ratios: Vec<String> = CASES
        .iter()
        .map(|case| (case, figures.ratio("callgate", "jsonschema", case, "whole")))
        .filter(|(_, ratio)| ratio.is_finite())
        .map(|(case, ratio)| format!("{} ({case})", short(ratio)))
        .collect();
    let ahead = |(word, name, _): &(&str, &str, &str)| {
        let slower = CASES.iter().filter_map(|case| {
            let ratio = figures.ratio("callgate", word, case, "whole");
            (ratio > 1.0).then(|| format!("{name} on {case} ({} times)", short(ratio)))
        });
        slower.collect::<Vec<_>>()
    };
    let behind: Vec<String> = VALIDATORS[1..].iter().flat_map(ahead).collect();
    let behind = if behind.is_empty() {
        "It is ahead of everybody in the table.".to_owned()
    } else {
        format!("It needs more than: {}.", behind.join("; "))
    };
    format!(
        "From argument text to arguments that a tool may be given, with every digit kept: the gate \
         needs {} times what `serde_json` + `jsonschema` needs (1.0 at most is the aim). {behind}",
        ratios.join(", ")
    )
}

/// The main table: nanoseconds, and times the gate's on the typical call.
fn whole(figures: &Figures) -> Table {
    let mut table =
        Table::new(heads(figures, "text to arguments, ns", &["times the gate's, typical"]));
    for (word, name, _) in VALIDATORS {
        let cells = cells(figures, word, "whole");
        if cells.iter().any(|cell| cell != DASH) {
            let times = figures.ratio(word, "callgate", "typical", "whole");
            let row = [name.to_owned()].into_iter().chain(cells).chain([short(times)]);
            table.row(row);
        }
    }
    table
}

/// What `short` makes of no number.
const DASH: &str = "–";

fn cells(figures: &Figures, validator: &str, step: &str) -> Vec<String> {
    CASES
        .iter()
        .map(|case| {
            let all = figures.all(validator, case, step);
            let (least, greatest) = spread(all);
            match all.len() {
                0 => DASH.to_owned(),
                1 => short(all[0]),
                _ => format!("{} [{}–{}]", short(median(all)), short(least), short(greatest)),
            }
        })
        .collect()
}

/// The head of a table by cases.
fn heads(figures: &Figures, first: &str, more: &[&str]) -> Vec<String> {
    let case = |case: &&str| match figures.bytes.get(*case) {
        Some(bytes) => format!("{case}, {bytes} bytes"),
        None => format!("{case} tools"),
    };
    let more = more.iter().map(|head| (*head).to_owned());
    [first.to_owned()].into_iter().chain(CASES.iter().map(case)).chain(more).collect()
}

fn table(figures: &Figures, step: &str) -> Table {
    let mut table = Table::new(heads(figures, step, &[]));
    let lenient = ("callgate-lenient", "Callgate's gate, lenient (it tries to mend first)", "");
    let ours = VALIDATORS.iter().take(1).chain([&lenient]).chain(VALIDATORS.iter().skip(1));
    for (word, whole, alone) in ours {
        let cells = cells(figures, word, step);
        if cells.iter().any(|cell| cell != DASH) {
            let name = if step == "told" { whole } else { alone };
            table.row([(*name).to_owned()].into_iter().chain(cells));
        }
    }
    table
}

fn bars(figures: &Figures) -> Vec<(String, f64)> {
    let short_name = |name: &str| name.replace('`', "").replace("Python, ", "");
    VALIDATORS
        .iter()
        .filter(|(word, ..)| !matches!(*word, "struct" | "python-jsonschema-validate"))
        .map(|(word, name, _)| (short_name(name), figures.nanos(word, "typical", "whole")))
        .filter(|(_, nanos)| nanos.is_finite())
        .collect()
}

fn alone_in_words(figures: &Figures) -> String {
    let nanos = |who, step| short(figures.nanos(who, "typical", step));
    format!(
        "What others do better: ajv alone, on an object that is parsed already, says yes in {} ns, \
         the gate in {} and `jsonschema` in {} (its code is compiled by V8 for this schema, and a \
         loop over one object is its best case). But arguments arrive as text: `JSON.parse` alone \
         takes {} ns, the gate's own parse, which keeps digits and sees duplicate names, {}. \
         Reading into a Rust struct takes {} ns, and holds neither the pattern nor the bounds.",
        nanos("ajv", "alone"),
        nanos("callgate", "alone"),
        nanos("jsonschema", "alone"),
        nanos("ajv", "parse"),
        nanos("callgate", "parse"),
        nanos("struct", "whole"),
    )
}

fn parse_in_words(figures: &Figures) -> String {
    let cases = ["typical", "nested", "wide"];
    let of = |who: &str, name: &str| {
        let all: Vec<String> =
            cases.iter().map(|case| short(figures.nanos(who, case, "parse"))).collect();
        format!("{name} {}", all.join(" / "))
    };
    let parsers = [
        of("callgate", "the gate's own"),
        of("jsonschema", "`serde_json` to a `Value`"),
        of("ajv", "`JSON.parse`"),
        of("orjson", "`orjson`"),
        of("json.loads", "Python's `json`"),
    ];
    format!(
        "The parse alone, nanoseconds, {}: {}. Only the gate's keeps numbers as they were written \
         and tells a name that stands twice.",
        cases.join(" / "),
        parsers.join("; ")
    )
}

fn projections(figures: &Figures) -> Table {
    let mut table = Table::new(["surface", "µs a projection", "projections a second"]);
    for (surface, nanos) in &figures.projections {
        let nanos = median(nanos);
        table.row([surface.clone(), short(nanos / 1e3), short(1e9 / nanos)]);
    }
    table
}

fn loads(figures: &Figures) -> Table {
    let tools = short(figures.load("contracts", "tools"));
    let mut table = Table::new([
        format!("a catalog of {tools} tools"),
        "CPU ms".to_owned(),
        "µs a tool".to_owned(),
        "MB kept".to_owned(),
        "MB at the peak".to_owned(),
    ]);
    let rows = [
        ("contracts", "Callgate, contract files"),
        ("list", "Callgate, a server's `tools/list`"),
        ("jsonschema", "`serde_json` + `jsonschema`: parse and compile, both kept"),
    ];
    for (how, name) in rows {
        let millis = figures.load(how, "millis");
        table.row([
            name.to_owned(),
            short(millis),
            short(millis * 1e3 / figures.load(how, "tools")),
            short(figures.load(how, "keptKb") / 1024.0),
            short(figures.load(how, "peakKb") / 1024.0),
        ]);
    }
    table
}

fn method(figures: &Figures, smoke: bool) -> Vec<String> {
    let (tools, right, wrong) = figures.real;
    let mut method = vec![
        format!(
            "Everybody judges the same: a typical tool of five properties, one with objects in lists \
             in objects and a union, one of 200 properties; and {tools} tools of public MCP servers \
             with the instances that their contracts imply, {right} right ones and {wrong} wrong in \
             one thing (*real*: the mean over these). All validators have to say the same of every \
             instance, or the run fails; those about `format` are left out, as asserting it is every \
             validator's own choice."
        ),
        "A figure is CPU time of the thread (of the process for Node, so that its collector and \
         compiler count) over a batch of at least 40 ms that follows warmer batches. Every \
         repetition visits every program; the tables show medians, in brackets the least and the \
         greatest. Ratios are medians of the repetitions' own ratios."
            .to_owned(),
        "Validators are made once and kept. For right instances a peer is asked in its cheapest way \
         (`is_valid`), for wrong ones for all errors with their places. Python's validators are \
         given `orjson`, the fastest parser for Python, but for pydantic, whose models are made as a \
         person would write them, and which parses by itself; it judges the made cases only, as it \
         reads no JSON Schema. `serde_json` keeps the order of members (`preserve_order`), as the \
         project has it, for all who use it."
            .to_owned(),
        "The catalog's tools are the real ones over and over under new names, texts in memory before \
         the clock starts; memory is counted from there. Each way of loading has its own process."
            .to_owned(),
    ];
    if smoke {
        method.push(
            "This was a smoke run: every figure is of one cold call and means nothing.".to_owned(),
        );
    }
    method
}
