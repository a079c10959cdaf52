//! Worker, server or both killed at each point of a run.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use callgate_crash::{
    APPROVED, Effect, POINTS, Point, Server, Stage, Verdict, WRITE, judge, project, recorded,
};
use callgate_machine::{
    Event,
    event::{Decision, Resolution},
};
use callgate_restate::{Client, Submit, WaitsOn};
use tokio::sync::watch;

use crate::support::{free_ports, restate, restate::Restate, until, within, worker::Process};

/// How long a tool takes.
const SLOW: Duration = Duration::from_millis(50);
/// How often a point may be missed, because a question lapsed before it came, before that counts.
const TRIES: usize = 4;

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Worker,
    Restate,
    Both,
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Worker => "worker",
            Self::Restate => "server",
            Self::Both => "both",
        })
    }
}

const VICTIMS: [Victim; 3] = [Victim::Worker, Victim::Restate, Victim::Both];

/// A server and a worker that kills go to.
struct Lane {
    restate: Restate,
    worker: Process,
    client: Client,
}

impl Lane {
    async fn start(program: &Path, folder: PathBuf, tools: &str) -> Self {
        project::write(&folder).unwrap();
        let restate = Restate::start(program, &folder.join("restate")).await;
        let [port] = free_ports();
        let worker = Process::start(&folder, port, tools).await;
        let client = restate.client();
        client.register(worker.url()).await.unwrap();
        Self { restate, worker, client }
    }

    fn kill(&mut self, victim: Victim) {
        if victim != Victim::Restate {
            self.worker.kill();
        }
        if victim != Victim::Worker {
            self.restate.kill();
        }
    }

    async fn up_again(&mut self, victim: Victim) {
        if victim != Victim::Worker {
            self.restate.up().await;
        }
        if victim != Victim::Restate {
            self.worker.up().await;
        }
    }
}

/// The person: says yes to the refund once they may, nothing to the coupon, and looks at the
/// supplier's books where an order is in doubt.
async fn person(client: Client, run: String, server: &Server, mut may: watch::Receiver<bool>) {
    loop {
        tokio::time::sleep(Duration::from_millis(25)).await;
        // The server may be down just now.
        let Ok(status) = client.status(&run).await else { continue };
        for wait in &status.waits {
            match &wait.on {
                WaitsOn::Approval { tool, binding, .. }
                    if &**tool == APPROVED && *may.borrow_and_update() =>
                {
                    let yes = Decision::Approve;
                    // It is looked at again in a moment, whatever came of it.
                    let _ = client.decide(&run, &wait.call, Some(binding), yes, Some("ann")).await;
                }
                WaitsOn::Doubt { tool, .. } => {
                    assert_eq!(&**tool, WRITE, "only the write can be in doubt");
                    let word = if server.truth_of_the_write(&run) {
                        Resolution::Done { result: Some(r#"{"ok":true}"#.into()) }
                    } else {
                        Resolution::Redo
                    };
                    let _ = client.resolve(&run, &wait.call, word, Some("ann")).await;
                }
                _ => {}
            }
        }
    }
}

/// What one kill came to.
enum Came {
    Judged(Verdict),
    /// The run went by without coming to the point.
    Missed,
}

async fn kill_at(lane: &mut Lane, server: &Server, point: Point, victim: Victim) -> Came {
    let run = Client::new_id();
    let client = lane.client.clone();
    let (allow, may) = watch::channel(point != Point::Asked);
    let person = person(client.clone(), run.clone(), server, may);
    let one = async {
        let at_point = server.hold(&run, point);
        let submit = Submit::new(project::goal(&run), serde_json::Value::Null);
        client.submit(&run, &submit).await.unwrap();
        let held = match point {
            Point::Submitted => None,
            Point::Model(..) | Point::Tool(..) => tokio::select! {
                held = at_point => Some(held.unwrap()),
                _ = client.attach(&run) => return Came::Missed,
            },
            Point::Asked => {
                until("the question", || waits_for(&client, &run, APPROVED)).await;
                None
            }
            Point::Decided | Point::Lapsing => {
                until("the decision", || async {
                    let events = client.events(&run, 0).await.ok()?;
                    let decided = |event: &Event| matches!(event, Event::ApprovalDecided { .. });
                    let over = |event: &Event| matches!(event, Event::CallFinished(_));
                    let finished = events.iter().filter(|r| over(&r.event)).count();
                    let is_there = events.iter().any(|r| decided(&r.event))
                        && (point == Point::Decided || finished == 5);
                    is_there.then_some(())
                })
                .await;
                None
            }
        };
        let before = match client.events(&run, 0).await {
            Ok(events) => recorded(&run, &events, &server.log().of_run(&run)),
            Err(_) => BTreeMap::new(),
        };
        lane.kill(victim);
        drop(held);
        lane.up_again(victim).await;
        let _ = allow.send(true);
        let attached = within("the run to end", client.attach(&run)).await;
        if let Err(error) = attached {
            let faults = vec![format!("the run is lost: {error}")];
            return Came::Judged(Verdict { faults, ..Verdict::default() });
        }
        let events = client.events(&run, 0).await.unwrap();
        let mut verdict = judge(&run, &events, &before, &server.log().of_run(&run), 1);
        let write = Effect::Tool { key: format!("{run}/call_2_0"), tool: WRITE.to_owned() };
        if verdict.in_doubt && before.contains_key(&write) {
            verdict
                .faults
                .push("a write whose outcome was recorded came to be in doubt".to_owned());
        }
        Came::Judged(verdict)
    };
    tokio::select! {
        came = one => came,
        () = person => unreachable!("the person goes on until the run is over"),
    }
}

async fn waits_for(client: &Client, run: &str, wanted: &str) -> Option<()> {
    let status = client.status(run).await.ok()?;
    let is = |on: &WaitsOn| matches!(on, WaitsOn::Approval { tool, .. } if &**tool == wanted);
    status.waits.iter().any(|wait| is(&wait.on)).then_some(())
}

async fn kill_all(
    program: &Path,
    folder: PathBuf,
    server: &Server,
    kills: Vec<(Point, Victim)>,
) -> Vec<(Point, Victim, Verdict)> {
    let mut lane = Lane::start(program, folder, &server.url()).await;
    let mut came = Vec::new();
    for (point, victim) in kills {
        let mut verdict = None;
        for _ in 0..TRIES {
            if let Came::Judged(judged) = kill_at(&mut lane, server, point, victim).await {
                verdict = Some(judged);
                break;
            }
        }
        let verdict = verdict.unwrap_or_else(|| Verdict {
            faults: vec![format!("the point was missed {TRIES} times")],
            ..Verdict::default()
        });
        let told = |is: bool, word: &'static str| if is { word } else { "" };
        println!(
            "{:32} {:7} {}{}{}",
            point.to_string(),
            victim.to_string(),
            if verdict.faults.is_empty() { "held".to_owned() } else { verdict.faults.join("; ") },
            told(verdict.in_doubt, ", in doubt"),
            told(!verdict.repeated.is_empty(), ", under way and made again"),
        );
        came.push((point, victim, verdict));
    }
    came
}

async fn killed(kills: Vec<(Point, Victim)>, lanes: usize) {
    let Some(program) = restate::program() else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(SLOW).await.unwrap();
    let mut shares = vec![Vec::new(); lanes];
    for (n, kill) in kills.into_iter().enumerate() {
        shares[n % lanes].push(kill);
    }
    let each = shares.into_iter().enumerate().map(|(n, share)| {
        kill_all(&program, folder.path().join(format!("lane{n}")), &server, share)
    });
    let came: Vec<_> = futures_util::future::join_all(each).await.into_iter().flatten().collect();
    let count = |is: fn(&Verdict) -> bool| came.iter().filter(|(_, _, v)| is(v)).count();
    println!(
        "{} kill points: {} held, {} with something under way made again, {} with the write in doubt",
        came.len(),
        count(|v| v.faults.is_empty()),
        count(|v| !v.repeated.is_empty()),
        count(|v| v.in_doubt),
    );
    let faults: Vec<String> = came
        .iter()
        .filter(|(_, _, verdict)| !verdict.faults.is_empty())
        .map(|(point, victim, verdict)| format!("{point}, {victim}: {}", verdict.faults.join("; ")))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn some_points() {
    let tool = |stage| Point::Tool(WRITE, "", stage);
    killed(
        vec![
            (Point::Model(2, Stage::Done), Victim::Worker),
            (tool(Stage::Come), Victim::Worker),
            (tool(Stage::Done), Victim::Both),
            (Point::Asked, Victim::Both),
            (Point::Tool("add_note", "", Stage::Done), Victim::Restate),
        ],
        1,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes: cargo xtask crash --engine restate"]
async fn every_point() {
    let kills = POINTS.into_iter().flat_map(|point| VICTIMS.map(|victim| (point, victim)));
    let kills: Vec<_> = kills.collect();
    assert!(kills.len() >= 60);
    let lanes =
        std::env::var("CALLGATE_CRASH_LANES").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    killed(kills, lanes).await;
}
