//! `callgate runs show ID`: a run as it was told while it went on, and what it waits for.

use std::sync::Arc;

use callgate::{
    engine::{Notice, RunSummary},
    machine::{Event, Finish, Record},
};
use serde_json::{Value, json};

use super::{Book, cli::Show, list::of_state, pending, time};
use crate::{
    exit::Exit,
    failure::Failure,
    out,
    show::{
        screen::Screen,
        view::{Detail, View},
        words,
    },
};

pub(super) fn go(show: &Show) -> Result<Exit, Failure> {
    let book = Book::open(&show.within)?;
    let id = book.find(&show.id)?;
    let summary = book.summary(&id)?;
    let records = book.records(&id)?;
    let last = records.iter().filter_map(hop_of).max().unwrap_or(0);
    if let Some(hop) = show.hop.filter(|hop| *hop == 0 || *hop > last) {
        let message = format!("run {id} has no hop {hop}; it has {last}");
        return Err(Failure::configuration("no_hop", message));
    }
    let driver = if summary.state.is_over() {
        None
    } else {
        let root = book.root(&id)?;
        book.driver(&root)?
    };
    if show.json {
        as_json(show, &book, &summary, &records, driver)
    } else {
        as_text(show, &book, &summary, &records, driver)
    }
}

fn as_json(
    show: &Show,
    book: &Book,
    summary: &RunSummary,
    records: &[Record],
    driver: Option<u32>,
) -> Result<Exit, Failure> {
    let events: Vec<Value> = of_hop(records, show.hop)
        .filter(|(_, is_wanted)| *is_wanted)
        .map(|(record, _)| json!(record))
        .collect();
    let pending = book.pending(&summary.run)?;
    let delegates: Vec<Arc<str>> =
        book.delegates(&summary.run)?.into_iter().map(|child| child.run).collect();
    let mut told = json!(summary);
    told["drivenBy"] = json!(driver);
    told["waits"] = json!(pending);
    told["delegates"] = json!(delegates);
    told["log"] = events.into();
    out::line(&told.to_string())?;
    Ok(Exit::Done)
}

fn as_text(
    show: &Show,
    book: &Book,
    summary: &RunSummary,
    records: &[Record],
    driver: Option<u32>,
) -> Result<Exit, Failure> {
    let id = &summary.run;
    let run = book.folded(id)?.1;
    let screen = Arc::new(Screen::stdout());
    let paint = screen.paint();
    let detail = if show.verbose { Detail::All } else { Detail::Hops };
    let view = View::new(screen.clone(), detail, run.catalog());
    for (record, is_wanted) in of_hop(records, show.hop) {
        view.mute(!is_wanted);
        view.see(&Notice::Record(Arc::new(record.clone())));
        if let Event::RunFinished(finish) = &record.event
            && is_wanted
        {
            view.ended(finish);
            answer(&screen, finish);
        }
    }
    if show.hop.is_some() {
        return Ok(Exit::Done);
    }
    screen.line("");
    let state = of_state(summary.state, summary.state.as_str(), paint);
    let since = time::stamp(summary.started_at);
    let mut facts = vec![state, format!("begun {since} UTC")];
    facts.push(words::count(usize::try_from(summary.events).unwrap_or(usize::MAX), "event"));
    facts.extend(driver.map(|pid| format!("driven by process {pid}")));
    facts.extend(summary.parent.as_ref().map(|parent| format!("delegated by {parent}")));
    screen.line(facts.join(" · "));
    for child in book.delegates(id)? {
        let state = of_state(child.state, child.state.as_str(), paint);
        screen.line(format!("delegated {} to {} · {state}", child.run, words::clean(&child.agent)));
    }
    if !summary.state.is_over() {
        for wait in book.pending(id)? {
            pending::lines(&wait, book, paint).into_iter().for_each(|line| screen.line(line));
        }
        if driver.is_none() {
            let root = book.root(id)?;
            screen.line(format!("nobody drives it; go on with: {}", book.command("resume", &root)));
        }
    }
    Ok(Exit::Done)
}

fn answer(screen: &Screen, finish: &Finish) {
    if let Some(text) = finish.value.as_deref().or(finish.text.as_deref()) {
        screen.line(words::clean(text.trim_end()));
    }
}

/// The events, each with whether it is of the hop that is wanted.
fn of_hop(records: &[Record], hop: Option<u32>) -> impl Iterator<Item = (&Record, bool)> {
    let mut at = 0;
    records.iter().map(move |record| {
        if let Some(now) = hop_of(record) {
            at = now;
        }
        (record, hop.is_none_or(|hop| hop == at))
    })
}

fn hop_of(record: &Record) -> Option<u32> {
    match record.event {
        Event::ModelRequested { hop, .. } => Some(hop),
        _ => None,
    }
}
