//! Whether a run that was killed came through as it should.

use std::collections::{BTreeMap, BTreeSet};

use callgate_machine::{Event, Record, Status, event::Resolution};

use crate::{
    ANSWER, APPROVED, LAPSES, WRITE,
    log::{Count, Effect},
};

/// What a run that was killed came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is wrong; nothing where all is right.
    pub faults: Vec<String>,
    /// Effects that were asked for again, all of them under way at the kill.
    pub repeated: Vec<Effect>,
    /// Whether the write was in doubt and a person decided.
    pub in_doubt: bool,
    /// Whether the refund was sent; its question may have lapsed while things were down.
    pub refunded: bool,
}

/// The effects whose outcome stands in these events, each with how often it had been asked for
/// by the books of now.
pub fn recorded(
    run: &str,
    events: &[Record],
    books: &BTreeMap<Effect, Count>,
) -> BTreeMap<Effect, u32> {
    let asked = |effect: Effect| {
        let asked = books.get(&effect).map_or(0, |count| count.asked);
        (effect, asked)
    };
    outcomes(run, events).into_iter().map(asked).collect()
}

fn outcomes(run: &str, events: &[Record]) -> BTreeSet<Effect> {
    let mut tools = BTreeMap::new();
    let mut found = BTreeSet::new();
    for record in events {
        match &record.event {
            Event::ModelReplied { hop, .. } => {
                found.insert(Effect::Model { run: run.to_owned(), hop: *hop });
            }
            Event::CallGated(gated) => {
                tools.insert(gated.call.clone(), gated.name.to_string());
            }
            Event::CallFinished(finished) => {
                if let Some(tool) = tools.get(&finished.call) {
                    let key = format!("{run}/{}", finished.call);
                    found.insert(Effect::Tool { key, tool: tool.clone() });
                }
            }
            _ => {}
        }
    }
    found
}

/// Judges a run by the events at its end, by what was [`recorded`] before the kill, by the
/// server's books, and by how many processes were killed.
pub fn judge(
    run: &str,
    events: &[Record],
    before: &BTreeMap<Effect, u32>,
    books: &BTreeMap<Effect, Count>,
    kills: u32,
) -> Verdict {
    let mut verdict = Verdict::default();
    let mut fault = |words: String| verdict.faults.push(words);
    match events.last().map(|record| &record.event) {
        Some(Event::RunFinished(finish))
            if finish.status == Status::Answered && finish.text.as_deref() == Some(ANSWER) => {}
        other => fault(format!("the run ended with {other:?}")),
    }
    for (expected, record) in (0u64..).zip(events) {
        if record.seq != expected || &*record.run != run {
            fault(format!("event {} of {} stands where {expected} should", record.seq, record.run));
            break;
        }
    }
    // What a person has begun again is asked for again.
    let redone = events.iter().filter(|record| {
        matches!(&record.event, Event::DoubtResolved { resolution: Resolution::Redo, .. })
    });
    let redone = u32::try_from(redone.count()).unwrap_or(u32::MAX);
    for (effect, count) in books {
        let is_write = matches!(effect, Effect::Tool { tool, .. } if tool == WRITE);
        let more = if is_write { redone } else { 0 };
        let (most, when) = match before.get(effect) {
            Some(asked) => (*asked, "recorded before the kill"),
            None => (1 + kills + more, "under way"),
        };
        if count.asked > most {
            fault(format!(
                "{effect:?}, {when}, was asked for {} times instead of {most} at most",
                count.asked
            ));
        }
    }
    let done = |name: &str| -> u32 {
        let mine =
            books.iter().filter(|(e, _)| matches!(e, Effect::Tool { tool, .. } if tool == name));
        mine.map(|(_, count)| count.done).sum()
    };
    if done(WRITE) != 1 {
        fault(format!("the write had its effect {} times", done(WRITE)));
    }
    if done(LAPSES) != 0 {
        fault("the call whose question lapsed was made".to_owned());
    }
    for hop in 1..=3 {
        if !books.contains_key(&Effect::Model { run: run.to_owned(), hop }) {
            fault(format!("hop {hop} never came"));
        }
    }
    for (tool, calls) in [("read_stock", 2), ("add_note", 1)] {
        let keys = books.keys().filter(|e| matches!(e, Effect::Tool { tool: t, .. } if t == tool));
        let keys = keys.count();
        if keys != calls {
            fault(format!("{tool} was called by {keys} keys instead of {calls}"));
        }
    }
    verdict.refunded = done(APPROVED) > 0;
    verdict.in_doubt =
        events.iter().any(|record| matches!(record.event, Event::CallInDoubt { .. }));
    let again = books.iter().filter(|(_, count)| count.asked > 1);
    verdict.repeated = again.map(|(effect, _)| effect.clone()).collect();
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once() -> BTreeMap<Effect, Count> {
        let one = Count { asked: 1, done: 1 };
        let tool =
            |call: &str, tool: &str| Effect::Tool { key: format!("r/{call}"), tool: tool.into() };
        let model = |hop| Effect::Model { run: "r".into(), hop };
        [
            model(1),
            model(2),
            model(3),
            tool("a", "read_stock"),
            tool("b", "read_stock"),
            tool("c", "add_note"),
            tool("d", WRITE),
            tool("e", APPROVED),
        ]
        .map(|effect| (effect, one))
        .into()
    }

    fn faults(books: &BTreeMap<Effect, Count>, before: &BTreeMap<Effect, u32>) -> Vec<String> {
        let faults = judge("r", &[], before, books, 1).faults;
        // There are no events here, and it says so.
        faults.into_iter().filter(|words| !words.contains("the run ended with")).collect()
    }

    #[test]
    fn what_is_done_again_is_seen() {
        assert_eq!(faults(&once(), &BTreeMap::new()), [""; 0]);
        let model = Effect::Model { run: "r".into(), hop: 2 };
        let mut twice = once();
        twice.insert(model.clone(), Count { asked: 2, done: 2 });
        assert_eq!(faults(&twice, &BTreeMap::new()), [""; 0]);
        let said = faults(&twice, &BTreeMap::from([(model.clone(), 1)]));
        assert!(said[0].contains("recorded before the kill"), "{said:?}");
        twice.insert(model, Count { asked: 3, done: 3 });
        assert!(faults(&twice, &BTreeMap::new())[0].contains("under way"));
    }

    #[test]
    fn the_write_counts_by_its_effect() {
        let write = Effect::Tool { key: "r/d".into(), tool: WRITE.into() };
        for (done, words) in [(0, "0 times"), (2, "2 times")] {
            let mut books = once();
            books.insert(write.clone(), Count { asked: 1, done });
            assert!(faults(&books, &BTreeMap::new())[0].contains(words));
        }
    }

    #[test]
    fn a_run_without_an_end_is_lost() {
        let said = judge("r", &[], &BTreeMap::new(), &once(), 1).faults;
        assert!(said[0].contains("the run ended with None"), "{said:?}");
    }
}
