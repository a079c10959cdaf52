//! A run examined, judged again, and moved: doctor, replay, export, import.

use std::sync::Arc;

use callgate_engine::{book::Imported, runfile};
use callgate_machine::{
    doctor::{self, Finding},
    inspect::inspect,
};
use http::Method;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Api,
    rest::{By, File, Info, Json, Lines, New, Path, Route, route},
    show::Run,
};
use crate::http::Scope;

/// What the doctor found.
#[derive(Debug, Serialize, JsonSchema)]
struct Findings {
    /// In the order of the run's events; empty where nothing of what is known to go wrong was seen.
    findings: Vec<Finding>,
}

/// Whether a run follows from what came in from outside.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Replayed {
    /// Whether every verdict and every effect is derived as it was recorded.
    holds: bool,
    /// The first difference, where one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
}

/// A run that was taken in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TakenIn {
    /// The run.
    run: Arc<str>,
    /// Whether it was new; else the same one was there already.
    is_new: bool,
    /// Its events.
    events: usize,
    /// Whether its contracts are those it was recorded with; if not, it can be shown, not replayed
    /// or resumed.
    is_whole: bool,
}

const PROBLEMS: &[u16] = &[403, 404, 409, 502, 503];

pub(super) fn routes() -> Vec<Route> {
    vec![
        route(
            Method::GET,
            "/api/runs/{id}/doctor",
            Scope::Read,
            Info {
                id: "examineRun",
                tag: "papers",
                summary: "Look for the known ways in which runs go wrong",
                about: "",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(_), Path(run)): (By, Path<Run>)| {
                let book = api.host.book(&run.id).await?;
                api.work(move |_| {
                    let records = book.records(&run.id)?;
                    Ok(Json(Findings { findings: doctor::examine(&records) }))
                })
                .await
            },
        ),
        route(
            Method::GET,
            "/api/runs/{id}/inspection",
            Scope::Read,
            Info {
                id: "inspectRun",
                tag: "papers",
                summary: "What is worked out of a run beside its events",
                about: "What the model read of each call, what it was offered, where its arguments came \
                        from, what the doctor finds.",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(_), Path(run)): (By, Path<Run>)| {
                let book = api.host.book(&run.id).await?;
                api.work(move |_| {
                    let (records, run) = book.folded(&run.id)?;
                    Ok(Json(inspect(&records, &run)))
                })
                .await
            },
        ),
        route(
            Method::POST,
            "/api/runs/{id}/replay",
            Scope::Read,
            Info {
                id: "replayRun",
                tag: "papers",
                summary: "Derive everything in a run again, without model and tools, and compare",
                about: "",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(_), Path(run)): (By, Path<Run>)| {
                let book = api.host.book(&run.id).await?;
                api.work(move |_| {
                    let difference = book.replayed(&run.id)?.err();
                    let difference = difference.map(|found| found.to_string());
                    Ok(Json(Replayed { holds: difference.is_none(), difference }))
                })
                .await
            },
        ),
        route(
            Method::GET,
            "/api/runs/{id}/export",
            Scope::Read,
            Info {
                id: "exportRun",
                tag: "papers",
                summary: "A run as one file, secrets masked, to be read elsewhere",
                about: "Contracts, every event, and a hash over everything.",
                problems: PROBLEMS,
            },
            async |api: Arc<Api>, (By(_), Path(run)): (By, Path<Run>)| {
                let book = api.host.book(&run.id).await?;
                api.work(move |api| {
                    let mask = (api.mask)(&book.variables(&run.id)?);
                    let exported = book.export(&run.id, &mask)?;
                    Ok(File { name: runfile::file_name(&run.id), bytes: exported.bytes })
                })
                .await
            },
        ),
        route(
            Method::POST,
            "/api/runs/import",
            Scope::Admin,
            Info {
                id: "importRun",
                tag: "papers",
                summary: "Take in a run that was exported",
                about: "A file that was changed or cut is refused. A run that is not over goes on \
                        when it is resumed.",
                problems: &[403, 409, 413, 415, 422, 501, 502, 503, 507],
            },
            async |api: Arc<Api>, (By(_), Lines(bytes)): (By, Lines)| {
                let file = api.work(move |_| Ok(runfile::read(&mut &*bytes)?)).await?;
                let Imported { run, is_new, events, is_whole } = api.host.import(file).await?;
                let place = format!("/api/runs/{run}");
                Ok(New { is_new, place, value: TakenIn { run, is_new, events, is_whole } })
            },
        ),
    ]
}
