//! What has to hold: Callgate comes off well everywhere, and nobody better anywhere.

use std::collections::{BTreeMap, BTreeSet};

use super::{crew::OURS, rows::Row};

/// Every cell of ours that is not acceptable; in a whole run also where a peer does better. In a
/// smoke run the peers only have to show that they run.
pub(super) fn failures(rows: &[Row], smoke: bool) -> Vec<String> {
    let ours = rows.iter().filter(|row| row.peer == OURS);
    let mut failures: Vec<String> = ours.filter(|row| !row.acceptable).map(told).collect();
    if !rows.iter().any(|row| row.peer == OURS) {
        failures.push("Callgate took no part".to_owned());
    }
    let valid = |row: &&Row| row.fault == "valid" && row.peer != OURS && row.code != 'R';
    failures.extend(rows.iter().filter(valid).map(told));
    if !smoke {
        failures.extend(better(rows));
    }
    failures
}

fn told(row: &Row) -> String {
    format!(
        "{}, {} {} {} ({} rule): {} with {} model calls: {}",
        row.peer, row.dialect, row.mode, row.fault, row.rule, row.code, row.model_calls, row.detail
    )
}

/// Where a peer with its defaults does better than ours: in the acceptable cells of a family; or the
/// best of them, by its model calls in all. Only cells that both met count.
pub(super) fn better(rows: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    let sets = by_peer(rows);
    for ((bench, rule, peer), theirs) in &sets {
        let (ours, theirs) = both_met(rows, bench, rule, theirs);
        let families: BTreeSet<&str> = theirs.iter().map(|row| row.family.as_str()).collect();
        for family in families {
            let good = |rows: &[&Row]| {
                rows.iter().filter(|row| row.family == family && row.acceptable).count()
            };
            let (mine, yours) = (good(&ours), good(&theirs));
            if yours > mine {
                found.push(format!(
                    "{peer} does better in {family} ({bench}, {rule}): {yours} acceptable, ours {mine}"
                ));
            }
        }
        let share = |rows: &[&Row]| {
            rows.iter().filter(|row| row.acceptable).count() as f64 / rows.len().max(1) as f64
        };
        let mut others = sets.iter().filter(|((b, r, _), _)| b == bench && r == rule);
        if others.any(|(_, rows)| share(rows) > share(&theirs)) {
            continue;
        }
        let calls = |rows: &[&Row]| rows.iter().map(|row| row.model_calls).sum::<u64>();
        let (mine, yours) = (calls(&ours), calls(&theirs));
        if mine > yours {
            found.push(format!(
                "{peer}, the best of the others ({bench}, {rule}), needs {yours} model calls, ours {mine}"
            ));
        }
    }
    found
}

/// The model calls of the cells of one bench and rule in which a peer and ours both came off well:
/// how many cells, theirs, ours. Whoever stops early or crashes needs few calls, so only there is it
/// the same work.
pub(super) fn same_work(rows: &[Row], bench: &str, rule: &str, peer: &str) -> (usize, u64, u64) {
    let theirs: Vec<&Row> = by_peer(rows).remove(&(bench, rule, peer)).unwrap_or_default();
    let (ours, theirs) = both_met(rows, bench, rule, &theirs);
    let (ours, theirs) = (well(&ours), well(&theirs));
    let both = theirs.iter().filter_map(|(cell, calls)| Some((*calls, *ours.get(cell)?)));
    both.fold((0, 0, 0), |(cells, a, b), (theirs, ours)| (cells + 1, a + theirs, b + ours))
}

/// The model calls of the cells that came off well.
fn well<'a>(rows: &[&'a Row]) -> BTreeMap<(&'a str, &'a str, &'a str), u64> {
    let good = rows.iter().filter(|row| row.acceptable);
    good.map(|row| (row.cell(), row.model_calls)).collect()
}

/// Ours and theirs, of the cells that both met.
fn both_met<'a>(
    rows: &'a [Row],
    bench: &str,
    rule: &str,
    theirs: &[&'a Row],
) -> (Vec<&'a Row>, Vec<&'a Row>) {
    let ours = rows.iter().filter(|row| row.peer == OURS && row.bench == bench && row.rule == rule);
    let ours: Vec<&Row> = ours.collect();
    let cells = |rows: &[&'a Row]| rows.iter().map(|row| row.cell()).collect::<BTreeSet<_>>();
    let (mine, yours) = (cells(&ours), cells(theirs));
    let met = |rows: &[&'a Row], by: &BTreeSet<_>| {
        rows.iter().filter(|row| by.contains(&row.cell())).copied().collect()
    };
    (met(&ours, &yours), met(theirs, &mine))
}

/// The rows of each peer but ours with its defaults, by bench and rule.
fn by_peer(rows: &[Row]) -> BTreeMap<(&str, &str, &str), Vec<&Row>> {
    let mut sets: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.peer != OURS && row.variant.is_empty()) {
        sets.entry((row.bench.as_str(), row.rule.as_str(), row.peer.as_str()))
            .or_default()
            .push(row);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(peer: &str, fault: &str, acceptable: bool) -> Row {
        Row {
            bench: "first".into(),
            rule: "strict".into(),
            variant: String::new(),
            peer: peer.into(),
            dialect: "chat".into(),
            mode: "whole".into(),
            fault: fault.into(),
            family: "cut".into(),
            group: "cut".into(),
            code: if acceptable { 'R' } else { 'W' },
            acceptable,
            detail: "ran".into(),
            model_calls: 2,
            bytes_sent: 400,
            bytes_got: 40,
            tool_runs: 1,
            seconds: 0.1,
        }
    }

    #[test]
    fn one_bad_cell_of_ours_fails() {
        let rows =
            [row(OURS, "valid", true), row(OURS, "cut_mid", false), row("rig", "cut_mid", false)];
        let failures = failures(&rows, true);
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert!(failures[0].contains("cut_mid"));
        assert!(!super::failures(&[row("rig", "cut_mid", true)], true).is_empty());
    }

    #[test]
    fn a_peer_that_does_not_run_fails() {
        assert_eq!(
            failures(&[row(OURS, "valid", true), row("rig", "valid", false)], true).len(),
            1
        );
    }

    #[test]
    fn who_is_better_is_said_of_what_both_met() {
        let rows = [row(OURS, "a", false), row("rig", "a", true), row("rig", "b", true)];
        assert_eq!(better(&rows).len(), 1);
        let rows = [row(OURS, "a", true), row("rig", "a", true), row("rig", "b", true)];
        assert!(better(&rows).is_empty());
    }

    #[test]
    fn the_same_work_is_what_both_did_well() {
        let rows = [
            row(OURS, "a", true),
            row("rig", "a", true),
            row(OURS, "b", true),
            row("rig", "b", false),
        ];
        assert_eq!(same_work(&rows, "first", "strict", "rig"), (1, 2, 2));
        assert_eq!(same_work(&rows, "first", "strict", "nobody"), (0, 0, 0));
    }

    #[test]
    fn the_best_of_the_others_counts_by_its_calls() {
        let mut rows = [row(OURS, "a", true), row("rig", "a", true), row("other", "a", false)];
        assert!(better(&rows).is_empty());
        rows[0].model_calls = 3;
        rows[2].model_calls = 1;
        assert_eq!(better(&rows).len(), 1, "the bad one may be cheap");
    }
}
