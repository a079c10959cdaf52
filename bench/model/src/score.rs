//! What was right.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    case::Case,
    record::{Ended, Record, Way},
};

/// All that was asked so far, and how much there is to ask.
#[derive(Serialize)]
pub(crate) struct Scores<'a> {
    /// Requests of each set.
    cases: BTreeMap<&'a str, usize>,
    rows: Vec<Row<'a>>,
}

/// One request of one model, judged.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    model: &'a str,
    id: &'a str,
    set: &'a str,
    group: &'a str,
    language: &'a str,
    request: &'a str,
    /// Calls that are due.
    due: usize,
    seconds: f64,
    off: Judged<'a>,
    strict: Judged<'a>,
    lenient: Judged<'a>,
    grammar: Judged<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Judged<'a> {
    /// Whether exactly the right calls ran, and nothing went wrong on the way to them.
    right: bool,
    /// Calls made that fit their schemas, of all.
    valid: usize,
    /// Calls that the limit of a reply cut.
    cut: usize,
    calls: usize,
    /// Calls that ran although the contract refuses them.
    unfit: usize,
    #[serde(flatten)]
    way: &'a Way,
}

/// Judges the requests that have a record, in the records' order.
pub(crate) fn all<'a>(cases: &'a [Case], records: &'a [Record]) -> Scores<'a> {
    let rows = records.iter().filter_map(|record| {
        let case = cases.iter().find(|case| case.id == record.id)?;
        let judged = |way| judged(case, way);
        Some(Row {
            model: &record.model,
            id: &case.id,
            set: &case.set,
            group: &case.group,
            language: &case.language,
            request: &case.request,
            due: case.right.due(),
            seconds: record.seconds,
            off: judged(&record.ways.off),
            strict: judged(&record.ways.strict),
            lenient: judged(&record.ways.lenient),
            grammar: judged(&record.ways.grammar),
        })
    });
    let rows = rows.collect();
    let mut of_set = BTreeMap::new();
    for case in cases {
        *of_set.entry(case.set.as_str()).or_default() += 1;
    }
    Scores { cases: of_set, rows }
}

fn judged<'a>(case: &Case, way: &'a Way) -> Judged<'a> {
    Judged {
        right: is_right(case, way),
        valid: way.made.iter().filter(|made| made.valid).count(),
        cut: way.made.iter().filter(|made| made.cut).count(),
        calls: way.made.len(),
        unfit: way.made.iter().filter(|made| made.ran.is_some() && made.fault.is_some()).count(),
        way,
    }
}

/// Where no call is due, the model has to have written to the user, whatever it tried before.
fn is_right(case: &Case, way: &Way) -> bool {
    let ended = if case.right.due() == 0 { Ended::Said } else { Ended::Called };
    way.ended == ended && case.right.fits(way.ran())
}
