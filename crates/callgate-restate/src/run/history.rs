//! Runs that begin as another one did: forks.
//!
//! Who asks for one sends the events that it begins with. They are folded by the contracts that
//! they name, which are in the workers' store since the run that they are of; then the run goes on
//! with this worker's model and contracts, as a run that is resumed elsewhere does.

use std::sync::Arc;

use callgate_contract::Catalog;
use callgate_engine::contracts::{Contracts, named};
use callgate_machine::{
    Event, Record,
    event::{RunResumed, RunStarted},
    replay,
};
use restate_sdk::prelude::*;

use crate::{driver::Driver, message::Begun, worker::Shared};

/// How the run began that these events are of.
pub(super) fn start_of(history: &[Record]) -> Option<&RunStarted> {
    match history.first()?.event {
        Event::RunStarted(ref start) => Some(start),
        _ => None,
    }
}

/// How a run goes on here that began so. `own` is how one of this worker's begins.
pub(super) fn resumed(origin: &RunStarted, own: &RunStarted) -> Event {
    let mut resumed = RunResumed::default();
    if origin.model != own.model {
        resumed.model = Some(own.model.clone());
    }
    if origin.fallbacks != own.fallbacks {
        resumed.fallbacks = Some(own.fallbacks.clone());
    }
    if origin.catalog != own.catalog {
        resumed.catalog.clone_from(&own.catalog);
    }
    Event::RunResumed(Box::new(resumed))
}

/// The machine after these events, ready for what comes next.
pub(super) async fn driver(worker: &Shared, id: &Arc<str>, begun: &Begun) -> HandlerResult<Driver> {
    let mut catalogs = Vec::new();
    for hash in named(&begun.history) {
        let text = worker.blobs.get(&hash).await?;
        let catalog = Catalog::from_text(&hash, &text).map_err(|mistakes| {
            let first = mistakes.first().map(ToString::to_string).unwrap_or_default();
            failed(id, &format!("the contracts {hash} cannot be read: {first}"))
        })?;
        catalogs.push((hash, Arc::new(catalog)));
    }
    let contracts: Contracts = catalogs.into_iter().collect();
    let mut run =
        contracts.fold(id, &begun.history).map_err(|error| failed(id, &error.to_string()))?;
    if let Event::RunResumed(resumed) = &begun.event {
        let own = worker.engine.catalog().clone();
        replay::go_by(&mut run, resumed, &move |_: &str| Some(own.clone()))
            .map_err(|hash| failed(id, &format!("the contracts {hash} are gone")))?;
    }
    let mut driver = Driver::new(run);
    if let Some(last) = begun.history.last() {
        (driver.seq, driver.at) = (last.seq + 1, last.at);
    }
    Ok(driver)
}

fn failed(id: &str, because: &str) -> TerminalError {
    TerminalError::new(format!("run {id} cannot go on as the one that it is a fork of: {because}"))
}
