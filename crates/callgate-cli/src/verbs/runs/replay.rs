//! `callgate runs replay`: derives everything in recorded runs again, without model and tools.
//!
//! With `--against` the recorded calls are judged by other contracts: what a change of them would
//! have meant for the runs that were.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate::{
    Project,
    contract::Catalog,
    machine::{
        Agent, Event, Record, builtin,
        rejudge::{Judged, Rejudged, Standing, rejudge},
        replay::{Difference, replay_by},
    },
};
use serde_json::json;

use super::{
    cli::Replay,
    recording::{self, Recordings},
};
use crate::{
    exit::Exit,
    failure::Failure,
    out,
    show::{paint::Paint, words},
};

pub(super) fn go(replay: &Replay) -> Result<Exit, Failure> {
    let recordings = recording::all(&replay.within, &replay.of)?;
    if replay.against.is_empty() { again(replay, recordings) } else { against(replay, recordings) }
}

fn again(replay: &Replay, recordings: Recordings) -> Result<Exit, Failure> {
    let (mut events, mut differing) = (0, Vec::new());
    let all = recordings.len();
    let paint = Paint::stdout();
    for (from, recording) in recordings {
        let what = match recording {
            Err(failure) => Err(failure.message().to_owned()),
            Ok(recording) => {
                events += recording.records.len();
                let catalogs = |hash: &str| recording.catalog(hash);
                replay_by(catalogs, &recording.records).map(|_| ()).map_err(|d| d.to_string())
            }
        };
        if let Err(what) = what {
            if !replay.json {
                let told = words::clean(&format!("{from}: {what}"));
                out::line(&format!("{} {told}", paint.red("✗")))?;
            }
            differing.push(json!({ "run": from, "difference": what }));
        }
    }
    let (runs, events_told) = (words::count(all, "run"), words::count(events, "event"));
    if replay.json {
        let told = json!({ "runs": all, "events": events, "differing": differing });
        out::line(&told.to_string())?;
    } else if differing.is_empty() {
        let mark = paint.green("✓");
        out::line(&format!("{mark} {runs}, {events_told}: everything follows as it was recorded"))?;
    }
    if differing.is_empty() {
        return Ok(Exit::Done);
    }
    let message = format!("{} of {runs} cannot be derived as recorded", differing.len());
    Err(Failure::new(Exit::Found, "replay_differs", message)
        .with("differing", differing.into())
        .hint("A file was changed or damaged, or another version of Callgate judges otherwise."))
}

fn against(replay: &Replay, recordings: Recordings) -> Result<Exit, Failure> {
    let others = Others::read(&replay.against)?;
    let (mut judged, mut runs) = (0, 0);
    let mut found: Vec<Rejudged> = Vec::new();
    let mut unjudged: Vec<String> = Vec::new();
    for (from, recording) in recordings {
        runs += 1;
        let verdicts = recording.map_err(|f| f.message().to_owned()).and_then(|recording| {
            let other = others.of(&recording.records);
            let catalogs = |hash: &str| recording.catalog(hash);
            rejudge(catalogs, &recording.records, &other).map_err(|d: Difference| d.to_string())
        });
        match verdicts {
            Ok(verdicts) => {
                judged += verdicts.iter().filter(|v| v.what == Judged::Arguments).count();
                found.extend(verdicts.into_iter().filter(|verdict| !verdict.is_same()));
            }
            Err(why) => unjudged.push(format!("{from}: {why}")),
        }
    }
    let refused: Vec<&Rejudged> = found.iter().filter(|v| v.is_newly_refused()).collect();
    let calls = |what| refused.iter().filter(|v| v.what == what).count();
    let (arguments, results) = (calls(Judged::Arguments), calls(Judged::Result));
    let message = {
        let of = format!(
            "{} of {}",
            words::figure(arguments as u64),
            words::count(judged, "recorded call")
        );
        let would = format!("{of} would now be refused");
        if results == 0 {
            would
        } else {
            format!("{would}, and {} would now fail", words::count(results, "result"))
        }
    };
    if replay.json {
        let told = json!({
            "runs": runs, "calls": judged, "refused": refused,
            "changed": found.iter().filter(|v| !v.is_newly_refused()).collect::<Vec<_>>(),
            "unjudged": unjudged,
        });
        out::line(&told.to_string())?;
    } else {
        tell(&found, &unjudged)?;
        if refused.is_empty() {
            out::line(&message)?;
        }
    }
    if refused.is_empty() && unjudged.is_empty() {
        return Ok(Exit::Done);
    }
    let failure = if refused.is_empty() {
        let message = format!("{} of {runs} runs cannot be judged", unjudged.len());
        Failure::new(Exit::Found, "not_judged", message)
    } else {
        Failure::new(Exit::Found, "would_refuse", message)
    };
    Err(failure.with("refused", json!(arguments)).with("results", json!(results)))
}

fn tell(found: &[Rejudged], unjudged: &[String]) -> Result<(), Failure> {
    let paint = Paint::stdout();
    for verdict in found {
        let Rejudged { run, hop, call, tool, .. } = verdict;
        let place = words::clean(&format!("{run} hop {hop} {tool} ({call})"));
        let what = match verdict.what {
            Judged::Arguments => "",
            Judged::Result => "its result: ",
        };
        match &verdict.now {
            Standing::Refused { fault } => {
                let lines = words::fault(fault);
                let (first, rest) =
                    lines.split_first().map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
                out::line(&format!("{} {place}: {what}{first}", paint.red("✗")))?;
                for line in rest {
                    out::line(&format!("    {line}"))?;
                }
            }
            Standing::Passes | Standing::Unknown => {
                let now = match verdict.now {
                    Standing::Unknown => "depends on a tool that was not asked then",
                    _ => "would now go through",
                };
                out::line(&format!("{} {place}: {what}{now}", paint.green("✓")))?;
            }
        }
    }
    for line in unjudged {
        out::line(&format!("{} {}", paint.yellow("?"), words::clean(line)))?;
    }
    Ok(())
}

/// The contracts to judge by: those of a project and of the agents that it hands tasks to, each by
/// the agent's name; or those of files, for all runs.
struct Others {
    named: Vec<(String, Catalog)>,
    any: Catalog,
}

impl Others {
    fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        if let [folder] = paths
            && folder.join("agent.json").is_file()
        {
            let project = Project::open(folder)?;
            let mut named = Vec::new();
            by_name(&project, &mut named);
            return Ok(Self { any: project.catalog().clone(), named });
        }
        let mut files = Vec::new();
        for path in paths {
            if path.is_dir() { files.extend(contracts_in(path)?) } else { files.push(path.clone()) }
        }
        let any = Project::check(&files)?;
        Ok(Self { named: Vec::new(), any })
    }

    fn of(&self, records: &[Record]) -> Arc<Catalog> {
        let agent = records.first().and_then(|record| match &record.event {
            Event::RunStarted(start) => Some(start.agent.clone()),
            _ => None,
        });
        let name = agent.as_ref().map(|agent| agent.name.as_str()).unwrap_or_default();
        let own = self.named.iter().find(|(known, _)| known == name).map(|(_, catalog)| catalog);
        let mut catalog = own.unwrap_or(&self.any).clone();
        builtin::add(agent.as_deref().unwrap_or(&Agent::default()), &mut catalog);
        Arc::new(catalog)
    }
}

fn by_name(project: &Project, named: &mut Vec<(String, Catalog)>) {
    named.push((project.spec().name.clone(), project.catalog().clone()));
    for (_, delegate) in project.delegates() {
        by_name(delegate, named);
    }
}

fn contracts_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let list = || -> std::io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_file() && path.extension().is_some_and(|e| e == "json") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    };
    let bad = |why: &str| {
        let message = format!("cannot read {}: {why}", folder.display());
        Failure::configuration("unreadable_file", message)
    };
    let files = list().map_err(|error| bad(&error.to_string()))?;
    if files.is_empty() { Err(bad("there is no contract (.json) in it")) } else { Ok(files) }
}
