//! `callgate runs approve|reject|answer|resolve`: a person's word on a call that waits.
//!
//! The word is left for the run, whoever drives it; the first one counts. With `--resume` the run
//! is gone on with here.

use std::sync::Arc;

use callgate::{
    contract::{Mode, Verdict},
    engine::{Inbox, Journal as _, Message, Sent},
    machine::{
        Event, Record, Run,
        event::{Decision, Resolution},
    },
};
use serde_json::json;

use super::{
    Book,
    cli::{Answer, Approve, Became, Reject, Resolve, Word},
    pending::{On, Pending},
    resume, who,
};
use crate::{exit::Exit, failure::Failure, input, out, show::words, verbs::block_on};

pub(super) fn approve(approve: &Approve) -> Result<Exit, Failure> {
    let edit = approve.edit.as_deref().map(input::text).transpose()?;
    let said = Said { run: &approve.id, call: &approve.call, word: &approve.word };
    said.leave(|wait, run, by| {
        let binding = binding(wait)?;
        let decision = match &edit {
            None => Decision::Approve,
            Some(text) => {
                let arguments = text.trim_end_matches(['\r', '\n']);
                admissible(run, wait, arguments)?;
                Decision::Edit { arguments: arguments.into() }
            }
        };
        let told = match decision {
            Decision::Edit { .. } => "edited; it goes through the gates and is asked about again",
            _ => "approved",
        };
        let call = wait.call.clone();
        Ok((Inbox::Decision { call, binding, decision, by }, told))
    })
}

pub(super) fn reject(reject: &Reject) -> Result<Exit, Failure> {
    let said = Said { run: &reject.id, call: &reject.call, word: &reject.word };
    let reason = reject.reason.as_deref().map(Arc::from);
    said.leave(|wait, _, by| {
        let (call, binding) = (wait.call.clone(), binding(wait)?);
        let decision = Decision::Reject { reason: reason.clone() };
        Ok((Inbox::Decision { call, binding, decision, by }, "rejected"))
    })
}

pub(super) fn answer(answer: &Answer) -> Result<Exit, Failure> {
    let text = input::text(&answer.text)?;
    let text: Arc<str> = text.trim_end_matches(['\r', '\n']).into();
    let said = Said { run: &answer.id, call: &answer.call, word: &answer.word };
    said.leave(|wait, _, by| match &wait.on {
        On::Answer { .. } => {
            let (call, text) = (wait.call.clone(), text.clone());
            Ok((Inbox::Answer { call, text, by }, "answered"))
        }
        _ => Err(other(wait)),
    })
}

pub(super) fn resolve(resolve: &Resolve) -> Result<Exit, Failure> {
    let result = resolve.result.as_deref().map(input::text).transpose()?;
    if result.is_some() && resolve.became != Became::Done {
        let message = "--result goes with done: only what was done brought something";
        return Err(Failure::configuration("bad_result", message));
    }
    if let Some(text) = &result
        && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text)
    {
        let message = format!("--result is no JSON: {error}");
        return Err(Failure::configuration("bad_result", message));
    }
    let said = Said { run: &resolve.id, call: &resolve.call, word: &resolve.word };
    said.leave(|wait, _, by| {
        let On::Doubt { attempt, .. } = wait.on else { return Err(other(wait)) };
        let result = result.as_deref().map(|text| Arc::from(text.trim()));
        let (resolution, told) = match resolve.became {
            Became::Done => (Resolution::Done { result }, "counts as done"),
            Became::Redo => (Resolution::Redo, "is to be called again, with the same key"),
            Became::Fail => (Resolution::Fail, "is left; the model is told that nobody knows"),
        };
        let call = wait.call.clone();
        Ok((Inbox::Doubt { call, attempt, resolution, by }, told))
    })
}

/// A word on a call, before it is said.
struct Said<'s> {
    run: &'s str,
    call: &'s str,
    word: &'s Word,
}

impl Said<'_> {
    fn leave(
        &self,
        message: impl FnOnce(&Pending, &Run, Option<Arc<str>>) -> Result<(Inbox, &'static str), Failure>,
    ) -> Result<Exit, Failure> {
        let options = &self.word.options;
        let book = Book::of_run(options)?;
        let id = book.find(self.run)?;
        let (records, run) = book.folded(&id)?;
        let pending = Pending::of(&records, &run);
        let Some(wait) = pending.iter().find(|wait| *wait.call == *self.call) else {
            return Err(self.not_waiting(&book, &id, &records, &pending));
        };
        let by = who(self.word.by.as_deref());
        let (message, told) = message(wait, &run, Some(by.clone()))?;
        let root = book.root(&id)?;
        let driver = block_on(async {
            match book.journal.send(&id, message).await? {
                Sent::Kept(_) => {}
                Sent::Already(first) => return Err(already(self.call, &first)),
            }
            book.driver(&root)
        })?;
        let call = words::clean(self.call);
        if self.word.resume && driver.is_none() {
            drop(book);
            return resume::go(&root, options);
        }
        let command = book.command("resume", &root);
        let next = match driver {
            Some(pid) => format!("process {pid} drives the run and goes on with it"),
            None => format!("go on with: {command}"),
        };
        if options.json {
            let line = json!({ "run": id, "call": self.call, "said": told, "by": by, "drivenBy": driver, "next": command });
            out::line(&line.to_string())?;
        } else {
            out::line(&format!("{} ({call}) {told}; {next}", words::clean(&wait.tool)))?;
        }
        Ok(Exit::Done)
    }

    /// Nothing is wanted of this call: because somebody was first, or it is another one.
    fn not_waiting(
        &self,
        book: &Book,
        id: &str,
        records: &[Record],
        pending: &[Pending],
    ) -> Failure {
        if let Some(decided) = records.iter().rev().find_map(|record| decided(record, self.call)) {
            return decided;
        }
        let message = format!("run {id} does not wait for a word on {:?}", self.call);
        let failure = Failure::configuration("not_waiting", message);
        let delegates = book.delegates(id).unwrap_or_default();
        let waiting = delegates.iter().filter(|child| !child.open.is_empty());
        let mut known: Vec<String> = pending.iter().map(Pending::short).collect();
        known.extend(waiting.map(|child| format!("its delegate {}", child.run)));
        match known.as_slice() {
            [] => failure.hint(format!("`{}` tells how it stands.", book.command("show", id))),
            known => failure.hint(format!("It waits for {}.", known.join(", "))),
        }
    }
}

fn binding(wait: &Pending) -> Result<Arc<str>, Failure> {
    match &wait.on {
        On::Approval { binding, .. } => Ok(binding.clone()),
        _ => Err(other(wait)),
    }
}

fn other(wait: &Pending) -> Failure {
    let verb = match wait.on {
        On::Approval { .. } => "approve` or `callgate runs reject",
        On::Answer { .. } => "answer",
        On::Doubt { .. } => "resolve",
    };
    Failure::configuration("other_word", format!("what is wanted is {}", wait.short()))
        .hint(format!("That is `callgate runs {verb}`."))
}

/// That the contract admits the edit: told now, while whoever edits can still mend it.
fn admissible(run: &Run, wait: &Pending, arguments: &str) -> Result<(), Failure> {
    let catalog = run.catalog();
    let tool = catalog.resolve(&wait.tool, Mode::Strict).ok().map(|(tool, _)| tool);
    match tool.map(|tool| tool.admit(arguments, Mode::Strict)) {
        Some(Verdict::Refused(fault)) => {
            let lines = words::fault(&fault).join("\n  ");
            let message = format!("the contract refuses that: {lines}");
            Err(Failure::new(Exit::Refused, "edit_refused", message).with("fault", json!(fault)))
        }
        Some(Verdict::Admitted { .. }) | None => Ok(()),
    }
}

/// Somebody else was first.
fn already(call: &str, first: &Message) -> Failure {
    let what = match &first.body {
        Inbox::Decision { decision, .. } => of_decision(decision),
        Inbox::Answer { text, .. } => format!("answered: {}", words::short(text, 200)),
        Inbox::Doubt { resolution, .. } => of_resolution(resolution),
        Inbox::Cancel { .. } | Inbox::Pause { .. } | Inbox::Resume { .. } => "settled".to_owned(),
    };
    first_word(call, &what, first.body.by(), first.at)
}

fn first_word(call: &str, what: &str, by: Option<&Arc<str>>, at: u64) -> Failure {
    let by = by.map_or_else(|| "somebody".to_owned(), |by| words::clean(by));
    let message = format!(
        "{} was {what} by {by} at {} UTC; the first word counts",
        words::clean(call),
        super::time::stamp(at)
    );
    Failure::new(Exit::Refused, "already_decided", message)
        .with("by", json!(by))
        .with("at", json!(at))
}

/// The word on the call that an event is.
fn decided(record: &Record, id: &str) -> Option<Failure> {
    let (what, by) = match &record.event {
        Event::ApprovalDecided { call, decision, by, .. } if **call == *id => {
            (of_decision(decision), by)
        }
        Event::UserAnswered { call, text: Some(text), by } if **call == *id => {
            (format!("answered ({})", words::short(text, 200)), by)
        }
        Event::DoubtResolved { call, resolution, by } if **call == *id => {
            (of_resolution(resolution), by)
        }
        _ => return None,
    };
    Some(first_word(id, &what, by.as_ref(), record.at))
}

fn of_decision(decision: &Decision) -> String {
    match decision {
        Decision::Approve => "approved".to_owned(),
        Decision::Reject { .. } => "rejected".to_owned(),
        Decision::Edit { .. } => "edited".to_owned(),
        Decision::Expired => "left until it lapsed".to_owned(),
    }
}

fn of_resolution(resolution: &Resolution) -> String {
    let word = match resolution {
        Resolution::Done { .. } => "done",
        Resolution::Redo => "to be called again",
        Resolution::Fail => "failed",
    };
    format!("resolved as {word}")
}
