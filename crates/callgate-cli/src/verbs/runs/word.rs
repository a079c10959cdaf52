//! `callgate runs approve|reject|answer|resolve`: a person's word on a call that waits.
//!
//! The word is left for the run, whoever drives it; the first one counts. With `--resume` the run
//! is gone on with here.

use std::sync::Arc;

use callgate::{
    engine::{
        BookError, Pending,
        book::{Decided, On, Said as What, Was},
    },
    machine::event::Resolution,
};
use serde_json::json;

use super::{
    Book,
    cli::{Answer, Approve, Became, Reject, Resolve, Word},
    pending, resume, who,
};
use crate::{exit::Exit, failure::Failure, input, out, show::words, verbs::block_on};

pub(super) fn approve(approve: &Approve) -> Result<Exit, Failure> {
    let edit = approve.edit.as_deref().map(input::text).transpose()?;
    let said = Said { run: &approve.id, call: &approve.call, word: &approve.word };
    match edit {
        None => said.leave(What::Approve { binding: None }, "approved"),
        Some(text) => {
            let arguments = text.trim_end_matches(['\r', '\n']).into();
            let told = "edited; it goes through the gates and is asked about again";
            said.leave(What::Edit { arguments, binding: None }, told)
        }
    }
}

pub(super) fn reject(reject: &Reject) -> Result<Exit, Failure> {
    let said = Said { run: &reject.id, call: &reject.call, word: &reject.word };
    let reason = reject.reason.as_deref().map(Arc::from);
    said.leave(What::Reject { reason }, "rejected")
}

pub(super) fn answer(answer: &Answer) -> Result<Exit, Failure> {
    let text = input::text(&answer.text)?;
    let text: Arc<str> = text.trim_end_matches(['\r', '\n']).into();
    let said = Said { run: &answer.id, call: &answer.call, word: &answer.word };
    said.leave(What::Answer { text }, "answered")
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
    let result = result.as_deref().map(|text| Arc::from(text.trim()));
    let (resolution, told) = match resolve.became {
        Became::Done => (Resolution::Done { result }, "counts as done"),
        Became::Redo => (Resolution::Redo, "is to be called again, with the same key"),
        Became::Fail => (Resolution::Fail, "is left; the model is told that nobody knows"),
    };
    said.leave(What::Became(resolution), told)
}

/// A word on a call, before it is said.
struct Said<'s> {
    run: &'s str,
    call: &'s str,
    word: &'s Word,
}

impl Said<'_> {
    fn leave(&self, what: What, told: &str) -> Result<Exit, Failure> {
        let options = &self.word.options;
        let book = Book::of_run(options)?;
        let id = book.find(self.run)?;
        let by = who(self.word.by.as_deref());
        let left =
            block_on(async { Ok(book.runs.say(&id, self.call, what, Some(by.clone())).await) })?;
        let wait = left.map_err(|error| failure(&book, error))?;
        let root = book.root(&id)?;
        let driver = book.driver(&root)?;
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
}

/// Why a word was not taken, and what to type instead.
fn failure(book: &Book, error: BookError) -> Failure {
    match error {
        BookError::NotWaiting { run, call, waits, delegates } => {
            let message = format!("run {run} does not wait for a word on {call:?}");
            let failure = Failure::configuration("not_waiting", message);
            let mut known: Vec<String> = waits.iter().map(pending::short).collect();
            known.extend(delegates.iter().map(|run| format!("its delegate {run}")));
            match known.as_slice() {
                [] => {
                    failure.hint(format!("`{}` tells how it stands.", book.command("show", &run)))
                }
                known => failure.hint(format!("It waits for {}.", known.join(", "))),
            }
        }
        BookError::OtherWord(wait) => other(&wait),
        BookError::EditRefused(fault) => {
            let lines = words::fault(&fault).join("\n  ");
            let message = format!("the contract refuses that: {lines}");
            Failure::new(Exit::Refused, "edit_refused", message).with("fault", json!(fault))
        }
        BookError::Decided(first) => first_word(&first),
        error => error.into(),
    }
}

fn other(wait: &Pending) -> Failure {
    let verb = match wait.on {
        On::Approval { .. } => "approve` or `callgate runs reject",
        On::Answer { .. } => "answer",
        On::Doubt { .. } => "resolve",
    };
    let message = format!("what is wanted is {}", pending::short(wait));
    Failure::configuration("other_word", message).hint(format!("That is `callgate runs {verb}`."))
}

/// Somebody else was first.
fn first_word(first: &Decided) -> Failure {
    let what = match &first.was {
        Was::Answered(text) => format!("answered: {}", words::short(text, 200)),
        was => was.to_string(),
    };
    let by = first.by.as_ref().map_or_else(|| "somebody".to_owned(), |by| words::clean(by));
    let message = format!(
        "{} was {what} by {by} at {} UTC; the first word counts",
        words::clean(&first.call),
        super::time::stamp(first.at)
    );
    Failure::new(Exit::Refused, "already_decided", message)
        .with("by", json!(first.by))
        .with("at", json!(first.at))
}
