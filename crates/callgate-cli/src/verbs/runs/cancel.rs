//! `callgate runs cancel|pause ID`: a message to whoever drives the run.
//!
//! A run that nobody drives is ended here: taken up without model and tools, which a cancelled run
//! needs no more.

use std::sync::Arc;

use callgate::{
    engine::{Engine, Inbox, Journal as _},
    machine::{Agent, Finish},
    model::{Model, OnDelta, ReplyFuture},
    wire::{ProviderError, ProviderErrorKind, Request, Retry},
};
use serde_json::json;

use super::{Book, cli::Stop, who};
use crate::{exit::Exit, failure::Failure, out, signals, verbs::block_on};

pub(super) fn cancel(stop: &Stop) -> Result<Exit, Failure> {
    let book = Book::open(&stop.within)?;
    let run = book.find(&stop.id)?;
    book.going(&run)?;
    let by = who(stop.by.as_deref());
    let driver = block_on(cancelled(&book, &run, &by))?;
    let told = match driver {
        Some(pid) => format!("told process {pid}, which drives run {run}, to cancel it"),
        None => format!("cancelled run {run}"),
    };
    say(stop, &run, driver, "cancel", &told)
}

/// Cancels a run and those that it delegated; gives the process that does it.
async fn cancelled(book: &Book, run: &Arc<str>, by: &Arc<str>) -> Result<Option<u32>, Failure> {
    book.journal.send(run, Inbox::Cancel { by: Some(by.clone()) }).await?;
    if let Some(pid) = book.driver(run)? {
        return Ok(Some(pid));
    }
    end(book, run).await?;
    for child in book.delegates(run)? {
        if !child.state.is_over() {
            book.journal.send(&child.run, Inbox::Cancel { by: Some(by.clone()) }).await?;
            if book.driver(&child.run)?.is_none() {
                end(book, &child.run).await?;
            }
        }
    }
    Ok(None)
}

/// Takes a run up to its cancelled end.
async fn end(book: &Book, run: &str) -> Result<Finish, Failure> {
    let (_, folded) = book.folded(run)?;
    let start = folded.start();
    let agent = start.map(|start| Agent::clone(&start.agent)).unwrap_or_default();
    let of = |id: &Arc<str>| Arc::new(Nobody(id.clone())) as Arc<dyn Model>;
    let model = of(&start.map(|start| start.model.clone()).unwrap_or_else(|| Arc::from("")));
    let others = start.map(|start| start.fallbacks.iter().map(of).collect()).unwrap_or_default();
    let engine = Engine::new(agent, model, (**folded.catalog()).clone())
        .fallbacks(others)
        .answer(start.and_then(|start| start.answer.clone()))
        .journal(book.journal.clone());
    let work = async {
        let token = signals::Stop::default().token();
        let mut session = Arc::new(engine).open(run, None, token).await?;
        session.resume(None).await?.finished()
    };
    work.await.map_err(|error| callgate::Error::from(error).into())
}

pub(super) fn pause(stop: &Stop) -> Result<Exit, Failure> {
    let book = Book::open(&stop.within)?;
    let run = book.find(&stop.id)?;
    book.going(&run)?;
    let by = who(stop.by.as_deref());
    let driver = block_on(async {
        let driver = book.driver(&run)?;
        if driver.is_some() {
            book.journal.send(&run, Inbox::Pause { by: Some(by) }).await?;
        }
        Ok(driver)
    })?;
    let resume = book.command("resume", &run);
    let told = match driver {
        Some(pid) => format!(
            "told process {pid}, which drives run {run}, to let it wait; go on with: {resume}"
        ),
        None => format!("nobody drives run {run}: it waits until `{resume}`"),
    };
    say(stop, &run, driver, "pause", &told)
}

fn say(
    stop: &Stop,
    run: &str,
    driver: Option<u32>,
    what: &str,
    told: &str,
) -> Result<Exit, Failure> {
    if stop.json {
        out::line(&json!({ "run": run, "said": what, "drivenBy": driver }).to_string())?;
    } else {
        out::line(told)?;
    }
    Ok(Exit::Done)
}

/// The run's model in name: a cancelled run asks nothing any more.
struct Nobody(Arc<str>);

impl Model for Nobody {
    fn id(&self) -> &str {
        &self.0
    }

    fn reply<'a>(&'a self, _: &'a Request, _: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        Box::pin(std::future::ready(Err(ProviderError {
            kind: ProviderErrorKind::BadRequest,
            message: "the run is being cancelled; no model is asked".to_owned(),
            provider_type: None,
            status: None,
            retry: Retry::Never,
        })))
    }
}
