//! Kill tests of the embedded engine on its SQLite journal: the process that drives the run is
//! killed with -9 around every event of the run and at every moment of what it asks of the world,
//! and another one takes the run up.
//!
//! The driver is this test's own program, started again with a word of what it is to do.
#![allow(clippy::unwrap_used)]

mod driver;
mod dying;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use callgate_crash::{
    Effect, POINTS, Point, Server, Stage, Verdict, WRITE, judge, project, recorded,
};
use callgate_engine::{Inbox, Journal, Options, SqliteJournal};
use callgate_machine::{Event, event::Resolution};

use driver::WAITS;
use dying::{Moment, Of};

/// How long a tool takes.
const SLOW: Duration = Duration::from_millis(5);
/// Drivers in a row for one run: one that is killed, one that goes on, one after the person's word.
const MOST: usize = 4;
/// Runs at a time. They mostly wait for the question that lapses.
const LANES: usize = 24;

/// Where a driver is killed.
#[derive(Debug, Clone, Copy)]
enum At {
    /// By its own hand, around an event.
    Event(Of),
    /// From outside, while a request of it is held.
    World(Point),
}

impl At {
    /// Whether the run may come to its end before the kill comes: nothing holds it once an answer is out.
    fn is_after_an_answer(self) -> bool {
        matches!(
            self,
            Self::World(Point::Model(_, Stage::Answered) | Point::Tool(_, _, Stage::Answered))
        )
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Event(of) => of.fmt(f),
            Self::World(point) => write!(f, "{}", point.to_string().replace(' ', "-")),
        }
    }
}

/// Starts the driver of a run, and kills it where it is to be killed.
async fn drive(folder: &Path, run: &str, server: &Server, at: Option<At>) -> ExitStatus {
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "driver::drive_one", "--ignored", "--nocapture"])
        .env("CALLGATE_CRASH_FOLDER", folder)
        .env("CALLGATE_CRASH_RUN", run)
        .envs(project::env(&server.url()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true);
    if let Some(At::Event(at)) = at {
        command.env("CALLGATE_CRASH_AT", at.to_string());
    }
    let at_point = match at {
        Some(At::World(point)) => Some(server.hold(run, point)),
        _ => None,
    };
    let mut child = command.spawn().unwrap();
    if let Some(at_point) = at_point {
        let held = tokio::time::timeout(Duration::from_secs(240), at_point).await.unwrap().unwrap();
        child.start_kill().unwrap();
        let status = child.wait().await.unwrap();
        drop(held);
        return status;
    }
    tokio::time::timeout(Duration::from_secs(240), child.wait()).await.unwrap().unwrap()
}

/// One run, killed at a moment; how many events it had at its end, and the verdict on it.
async fn killed(folder: PathBuf, server: &Server, at: Option<At>) -> (u64, Verdict) {
    project::write(&folder).unwrap();
    let run = format!("run-{}", at.map_or_else(|| "whole".to_owned(), |at| at.to_string()));
    let journal = || SqliteJournal::open(folder.join(".callgate"), Options::default()).unwrap();
    let mut status = drive(&folder, &run, server, at).await;
    let kills = u32::from(was_killed(status));
    let escaped = status.success() && at.is_some_and(At::is_after_an_answer);
    assert!(escaped || kills == u32::from(at.is_some()), "{run}: {status}");
    let before = match journal().load(&run) {
        Ok(events) => recorded(&run, &events, &server.log().of_run(&run)),
        Err(_) => BTreeMap::new(),
    };
    for _ in 0..MOST {
        if status.success() {
            break;
        }
        if status.code() == Some(WAITS) {
            person(&journal(), &run, server).await;
        }
        status = drive(&folder, &run, server, None).await;
    }
    assert!(status.success(), "{run}: {status}");
    let events = journal().load(&run).unwrap();
    let mut verdict = judge(&run, &events, &before, &server.log().of_run(&run), kills);
    let kept = journal();
    let catalogs = |hash: &str| {
        let text = kept.kept(hash).unwrap()?;
        Some(std::sync::Arc::new(callgate_contract::Catalog::from_text(hash, &text).unwrap()))
    };
    if let Err(difference) = callgate_machine::replay::replay_by(catalogs, &events) {
        verdict.faults.push(format!("it does not replay: {difference}"));
    }
    let write = Effect::Tool { key: format!("{run}/call_2_0"), tool: WRITE.to_owned() };
    if verdict.in_doubt && before.contains_key(&write) {
        verdict.faults.push("a write whose outcome was recorded came to be in doubt".to_owned());
    }
    (events.len() as u64, verdict)
}

fn was_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(9)
}

/// The person, from another process than the run's: looks at the supplier's books and says what
/// became of the write.
async fn person(journal: &SqliteJournal, run: &str, server: &Server) {
    let events = journal.load(run).unwrap();
    let doubt = events.iter().rev().find_map(|record| match &record.event {
        Event::CallInDoubt { call, attempt, .. } => Some((call.clone(), *attempt)),
        _ => None,
    });
    let (call, attempt) = doubt.expect("it waits for nothing else");
    let resolution = if server.truth_of_the_write(run) {
        Resolution::Done { result: Some(r#"{"ok":true}"#.into()) }
    } else {
        Resolution::Redo
    };
    let word = Inbox::Doubt { call, attempt, resolution, by: Some("ann".into()) };
    journal.send(run, word).await.unwrap();
}

/// Every event of a run that nobody kills, each with a kill before it is kept, as it is kept, and
/// after: before its effects begin.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_around_every_event() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(SLOW).await.unwrap();
    let (events, whole) = killed(folder.path().join("whole"), &server, None).await;
    assert_eq!(whole.faults, [""; 0]);

    let around = (0..events).flat_map(|seq| {
        [Moment::Before, Moment::After].map(|moment| At::Event(Of { seq, moment }))
    });
    let asks = |point: &Point| matches!(point, Point::Model(..) | Point::Tool(..));
    let moments: Vec<At> = around.chain(POINTS.into_iter().filter(asks).map(At::World)).collect();
    assert!(moments.len() >= 60, "{} moments", moments.len());
    let queue = tokio::sync::Mutex::new(moments.into_iter());
    let lanes = (0..LANES).map(|_| async {
        let mut came = Vec::new();
        loop {
            let Some(at) = queue.lock().await.next() else { break };
            let (_, verdict) = killed(folder.path().join(at.to_string()), &server, Some(at)).await;
            came.push((at, verdict));
        }
        came
    });
    let came: Vec<(At, Verdict)> =
        futures_util::future::join_all(lanes).await.into_iter().flatten().collect();
    let count = |is: fn(&Verdict) -> bool| came.iter().filter(|(_, v)| is(v)).count();
    println!(
        "{} kill points: {} held, {} with something under way made again, {} with the write in doubt",
        came.len(),
        count(|v| v.faults.is_empty()),
        count(|v| !v.repeated.is_empty()),
        count(|v| v.in_doubt),
    );
    let faults: Vec<String> = came
        .iter()
        .filter(|(_, verdict)| !verdict.faults.is_empty())
        .map(|(at, verdict)| format!("{at}: {}", verdict.faults.join("; ")))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // Else the scenario would not hold what it is for.
    assert!(
        came.iter().any(|(_, v)| v.in_doubt) && came.iter().any(|(_, v)| !v.repeated.is_empty())
    );
}
