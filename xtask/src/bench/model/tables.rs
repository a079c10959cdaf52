//! The report: who was right how often, and at what price.

use std::collections::BTreeMap;

use serde_json::json;

use super::{
    super::{
        numbers::short,
        plot::{Kind, Plot},
        report::{Block, Report, Table},
    },
    MODELS,
    rows::{Row, Scores, Sums, WAYS},
};

/// The sets, as tables name them.
const SETS: [(&str, &str); 3] = [
    ("held-out", "own, never used for tuning"),
    ("tuning", "own, used for tuning"),
    ("bfcl", "BFCL"),
];

const METHOD: [&str; 4] = [
    "Local models answer a fixed set of requests: own ones in a dozen languages over eight sets of tools, some of \
     which the prompts were tuned on and some of which nothing ever was, and a fixed sample of BFCL (`bench/model/README.md` says \
     which). What is right was written down before: the calls, with every value that will do; or no call at all.",
    "*Gates off*: the model writes its calls freely, and what plain JSON reads runs, as a hand-made loop does it. \
     *Strict*: the same calls at the gates, which mend nothing; a refusal goes back to the model as the runtime words it, \
     for at most three replies in all. *Lenient*: the same with the mends of `docs/adjustments.md`, which are the default. \
     *Grammar and gates*: names and arguments are decoded by the tools' own grammar, and then pass the same gates; this is what \
     `local:` models do by default. A request counts as right where exactly the right calls ran, and nothing else.",
    "All ways read the same prompt, worked examples included, so gates off is helped by them too: with the \
     models' bare chat template the Qwen coders write code fences instead of calls. Decoding is greedy: a \
     request has one outcome, whatever the machine, so there is nothing to repeat.",
    "A call is *valid* where the tool exists and its schema holds; business rules are the gates' alone. Replies and tokens (read \
     and written, examples included) are averages over the requests that ended in right calls.",
];

pub(super) fn report(scores: &Scores) -> Report {
    let rows = &scores.rows;
    let mut headline: Vec<Block> = missing(scores).map(Block::Text).into_iter().collect();
    headline.push(Block::Text("Requests answered rightly:".to_owned()));
    headline.push(right(rows));
    headline.push(Block::Text("Calls that fit their schemas, of all that were made:".to_owned()));
    headline.push(valid(rows));
    headline.extend(plots(rows));
    let mut details =
        vec![Block::Text("Replies and tokens to the right calls:".to_owned()), price(rows)];
    details.push(Block::Text("By tools and categories, requests answered rightly:".to_owned()));
    details.push(groups(rows));
    details.push(Block::Text("Own requests by language, those of both sets:".to_owned()));
    details.push(languages(rows));
    Report {
        title: "A real model",
        method: METHOD.map(str::to_owned).into(),
        versions: vec![("bfcl-eval (data only)".to_owned(), "2026.3.23".to_owned())],
        headline,
        details,
        raw: json!(rows),
        failures: failures(rows),
    }
}

/// What was not asked yet.
fn missing(scores: &Scores) -> Option<String> {
    let all: usize = scores.cases.values().sum();
    let short: Vec<String> = MODELS
        .into_iter()
        .map(|(model, shown)| (shown, scores.rows.iter().filter(|row| row.model == model).count()))
        .filter(|(_, asked)| *asked < all)
        .map(|(shown, asked)| format!("{shown} {asked}"))
        .collect();
    (!short.is_empty())
        .then(|| format!("Not all of the {all} requests were asked yet: {}.", short.join(", ")))
}

/// What a table's cell says of its rows.
type Cell = fn(&Sums) -> String;

/// What holds for any model, right or wrong.
fn failures(rows: &[Row]) -> Vec<String> {
    let mut failures = Vec::new();
    for row in rows {
        let of = format!("{} of {}", row.id, row.model);
        if row.grammar.valid + row.grammar.cut != row.grammar.calls {
            failures.push(format!("{of}: a call that the grammar let through is not valid"));
        }
        for (name, way) in &WAYS[1..] {
            if way(row).unfit > 0 {
                failures.push(format!("{of}, {name}: a call ran that the contract refuses"));
            }
        }
    }
    failures
}

/// Rows of a model and set, for every pair that has some.
fn pairs(rows: &[Row]) -> impl Iterator<Item = (&'static str, &'static str, Vec<&Row>)> {
    MODELS.into_iter().flat_map(move |(model, shown)| {
        SETS.into_iter().filter_map(move |(set, told)| {
            let of: Vec<&Row> =
                rows.iter().filter(|row| row.model == model && row.set == set).collect();
            (!of.is_empty()).then_some((shown, told, of))
        })
    })
}

/// One row a model and set, one cell a way, and one cell more of gates off where that is asked for.
fn table(rows: &[Row], cell: Cell, more: Option<(&str, Cell)>) -> Block {
    let head = ["model", "requests"].into_iter().chain(WAYS.map(|(name, _)| name));
    let mut table = Table::new(head.chain(more.map(|(name, _)| name)));
    for (model, set, of) in pairs(rows) {
        let sums = WAYS.map(|(_, way)| Sums::of(of.iter().copied(), way));
        let cells = [model.to_owned(), set.to_owned()].into_iter().chain(sums.iter().map(cell));
        table.row(cells.chain(more.map(|(_, cell)| cell(&sums[0]))));
    }
    Block::Table(table)
}

fn right(rows: &[Row]) -> Block {
    table(rows, Sums::right_of_all, None)
}

fn valid(rows: &[Row]) -> Block {
    let unfit: Cell = |off| off.unfit.to_string();
    table(rows, Sums::valid_of_calls, Some(("run against the contract with gates off", unfit)))
}

fn price(rows: &[Row]) -> Block {
    let cell: Cell = |sums| match sums.hops() {
        hops if hops.is_finite() => format!("{hops:.2} replies, {} tokens", short(sums.tokens())),
        _ => "–".to_owned(),
    };
    table(rows, cell, None)
}

fn groups(rows: &[Row]) -> Block {
    by(rows, "tools or category", |row| Some(&row.group))
}

fn languages(rows: &[Row]) -> Block {
    by(rows, "language", |row| (row.set != "bfcl").then_some(&row.language))
}

fn by(rows: &[Row], what: &'static str, key: fn(&Row) -> Option<&String>) -> Block {
    let head = ["model", what].into_iter().chain(WAYS.map(|(name, _)| name));
    let mut table = Table::new(head);
    for (model, shown) in MODELS {
        let mut groups = BTreeMap::<&str, Vec<&Row>>::new();
        for row in rows.iter().filter(|row| row.model == model) {
            if let Some(key) = key(row) {
                groups.entry(key).or_default().push(row);
            }
        }
        for (group, of) in groups {
            let sums = WAYS.map(|(_, way)| Sums::of(of.iter().copied(), way).right_of_all());
            table.row([shown.to_owned(), group.to_owned()].into_iter().chain(sums));
        }
    }
    Block::Table(table)
}

/// One plot a set: shares of right requests.
fn plots(rows: &[Row]) -> Vec<Block> {
    let mut plots = Vec::new();
    for (set, told) in SETS {
        let mut bars = Vec::new();
        for (model, shown) in MODELS {
            let of = || rows.iter().filter(|row| row.model == model && row.set == set);
            if of().next().is_none() {
                continue;
            }
            let short = shown.rsplit(' ').next().unwrap_or(shown);
            for (index, (name, way)) in WAYS.into_iter().enumerate() {
                // Whatever is not off is ours, and drawn so.
                let label = match index {
                    0 => format!("{short}, {name}"),
                    _ => format!("Callgate {short}, {name}"),
                };
                bars.push((label, Sums::of(of(), way).percent_right()));
            }
        }
        if !bars.is_empty() {
            plots.push(Block::Plot(Plot {
                file: format!("model-{set}"),
                title: format!("Right answers: {told}"),
                values: "% of requests".to_owned(),
                log: false,
                kind: Kind::Bars(bars),
            }));
        }
    }
    plots
}

#[cfg(test)]
mod tests {
    use super::{super::rows::tests::row, *};

    #[test]
    fn a_call_that_slips_through_is_told() {
        let cases = [("held-out".to_owned(), 2)].into();
        let mut scores = Scores { cases, rows: vec![row("a", 1, true, true)] };
        scores.rows[0].grammar.valid = scores.rows[0].grammar.calls;
        assert_eq!(report(&scores).failures, Vec::<String>::new());
        assert!(missing(&scores).is_some_and(|text| text.contains("1.5B 1, ")));
        scores.rows[0].strict.unfit = 1;
        scores.rows[0].grammar.valid = 0;
        let failures = report(&scores).failures;
        assert_eq!(failures.len(), 2, "{failures:?}");
    }
}
