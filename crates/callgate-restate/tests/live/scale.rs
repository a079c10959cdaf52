//! Three servers, two workers behind HAProxy, sixty runs under way: one worker and one server go.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use callgate_crash::{APPROVED, Server, WRITE, judge, project, recorded};
use callgate_machine::{
    Event,
    event::{Decision, Resolution},
};
use callgate_restate::{Client, Submit, Waits, WaitsOn};
use serde_json::json;

use crate::support::{
    LONG, bound, free_ports,
    restate::{self, Ports, Restate, common},
    until,
    worker::Process,
};

const RUNS: usize = 60;
/// How long the model and each tool take: long enough for every stage to be met by the kill.
const SLOW: Duration = Duration::from_millis(1500);
/// How often what is under way may be lost: with the worker, with the server, and each time that a
/// partition changes its leader on the way to a stable one.
const LOSSES: u32 = 4;
/// How long after one another runs are sent.
const APART: Duration = Duration::from_millis(150);
/// How long a fresh cluster is left alone.
const SETTLE: Duration = Duration::from_secs(20);
const SERVERS: usize = 3;

/// HAProxy before the workers. Ends with the test.
struct Balancer {
    child: Child,
    stats: String,
}

impl Balancer {
    fn start(folder: &Path, port: u16, workers: &[u16]) -> Self {
        let [stats] = free_ports();
        let servers: String = workers
            .iter()
            .map(|worker| format!("  server w{worker} 127.0.0.1:{worker} proto h2 check\n"))
            .collect();
        // HTTP/2 all the way, balanced by request: a connection of Restate's carries many runs.
        let config = format!(
            "global\n  maxconn 4096\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 25h\n  timeout server 25h\n  timeout http-request 25h\n\
             frontend restate\n  bind 127.0.0.1:{port} proto h2\n  default_backend workers\n\
             backend workers\n  balance leastconn\n  option redispatch\n  retries 3\n{servers}\
             listen stats\n  bind 127.0.0.1:{stats}\n  stats enable\n  stats uri /\n"
        );
        let path = folder.join("haproxy.cfg");
        fs::write(&path, config).unwrap();
        let log = fs::File::create(folder.join("haproxy.log")).unwrap();
        let child = bound(Path::new("haproxy"))
            .args(["-db", "-f"])
            .arg(&path)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Self { child, stats: format!("http://127.0.0.1:{stats}/;csv") }
    }

    /// Requests by worker so far.
    async fn requests(&self) -> BTreeMap<String, u64> {
        let csv = reqwest::get(&self.stats).await.unwrap().text().await.unwrap();
        let mut lines = csv.lines();
        let names: Vec<&str> = lines.next().unwrap().trim_start_matches("# ").split(',').collect();
        let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
        let (proxy, server, total) = (column("pxname"), column("svname"), column("stot"));
        let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
        rows.filter(|row| row.get(proxy) == Some(&"workers") && row[server] != "BACKEND")
            .map(|row| (row[server].to_owned(), row[total].parse().unwrap_or(0)))
            .collect()
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Three servers that keep each log twice.
async fn cluster(program: &Path, folder: &Path) -> Vec<Restate> {
    let ports: Vec<Ports> = (0..SERVERS).map(|_| Ports::free()).collect();
    let peers: Vec<String> =
        ports.iter().map(|ports| format!("\"http://127.0.0.1:{}\"", ports.node)).collect();
    let mut servers: Vec<Restate> = ports
        .iter()
        .enumerate()
        .map(|(n, ports)| {
            let folder = folder.join(format!("n{}", n + 1));
            let config = format!(
                "cluster-name = \"scale\"\nnode-name = \"n{}\"\nauto-provision = {}\ndefault-num-partitions = 12\ndefault-replication = 2\n{}[metadata-client]\naddresses = [{}]\n",
                n + 1,
                n == 0,
                common(&folder, *ports),
                peers.join(", ")
            );
            Restate::of(program, &folder, *ports, &config)
        })
        .collect();
    for server in &mut servers {
        server.spawn();
    }
    for server in &mut servers {
        server.ready().await;
    }
    servers
}

/// What the person does for all runs.
async fn person(client: Client, server: &Server) {
    loop {
        tokio::time::sleep(Duration::from_millis(250)).await;
        let Ok(runs) = client.list().await else { continue };
        let waits = runs.iter().flat_map(|status| {
            status.waits.iter().map(|wait| answer(&client, server, &status.run, wait))
        });
        // One that does not get through just now keeps nobody else waiting, and is said again.
        futures_util::future::join_all(waits).await;
    }
}

/// What the person says to one question.
async fn answer(client: &Client, server: &Server, run: &str, wait: &Waits) {
    let word = async {
        match &wait.on {
            WaitsOn::Approval { tool, binding, .. } if &**tool == APPROVED => {
                let yes = Decision::Approve;
                client.decide(run, &wait.call, Some(binding), yes, None).await.map(drop)
            }
            WaitsOn::Doubt { tool, .. } => {
                assert_eq!(&**tool, WRITE);
                let word = if server.truth_of_the_write(run) {
                    Resolution::Done { result: Some(r#"{"ok":true}"#.into()) }
                } else {
                    Resolution::Redo
                };
                client.resolve(run, &wait.call, word, None).await.map(drop)
            }
            _ => Ok(()),
        }
    };
    // Whatever came of it, the next look shows whether it counts.
    let _ = tokio::time::timeout(Duration::from_secs(10), word).await;
}

/// What Restate knows of a run that does not end.
async fn told(client: &Client, run: &str) -> String {
    let admin = client.admin_api().unwrap();
    let mut told = format!("{:#?}\n", client.status(run).await);
    for query in [
        format!(
            "SELECT id, target, status, retry_count, last_failure, pinned_deployment_id, modified_at, last_start_at, next_retry_at, last_attempt_deployment_id, journal_size FROM sys_invocation WHERE target_service_key = '{run}'"
        ),
        format!(
            "SELECT i.id, i.target, i.status, i.retry_count, i.last_failure FROM sys_invocation i WHERE i.idempotency_key LIKE '{run}/%'"
        ),
        format!("SELECT key, completed FROM sys_promise WHERE service_key = '{run}'"),
    ] {
        told.push_str(&format!("{:#?}\n", admin.query(&query).await));
    }
    told
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes, and needs HAProxy: cargo xtask scale"]
async fn one_worker_and_one_server_of_three_go() {
    let Some(program) = restate::program() else { return };
    let folder = tempfile::tempdir().unwrap();
    let tools = Server::start(SLOW).await.unwrap();
    let begun = Instant::now();
    let mut servers = cluster(&program, folder.path()).await;
    let up = begun.elapsed();

    let project = folder.path().join("project");
    project::write(&project).unwrap();
    let [first, second, balanced] = free_ports();
    let mut workers = Vec::new();
    for port in [first, second] {
        workers.push(Process::start(&project, port, &tools.url()).await);
    }
    let balancer = Balancer::start(folder.path(), balanced, &[first, second]);
    let client = servers[0].client();
    let url = workers[0].url().replace(&first.to_string(), &balanced.to_string());
    until("the cluster to take a worker", || async { client.register(&url).await.ok() }).await;

    // Partitions go from server to server until each has its leader for good; a hop under way then is
    // made again, which is right but no part of the figures.
    tokio::time::sleep(SETTLE).await;
    let runs: Vec<String> = (0..RUNS).map(|_| Client::new_id()).collect();
    let sent = Instant::now();
    let clients: Vec<Client> = servers.iter().map(Restate::client).collect();
    for (n, run) in runs.iter().enumerate() {
        let submit = Submit::new(project::goal(run), serde_json::Value::Null);
        let client = &clients[n % SERVERS];
        // Sent until it is taken: twice is once.
        until("the run to be taken", || async { client.submit(run, &submit).await.ok() }).await;
        // Apart, so that the kill meets each at another stage.
        tokio::time::sleep(APART).await;
    }
    let submitted = sent.elapsed();
    let person = person(client.clone(), &tools);
    let work = async {
        until("the runs to be under way", || async {
            let listed = client.list().await.ok()?;
            (listed.len() == RUNS).then_some(())
        })
        .await;
        let mut before = BTreeMap::new();
        let (mut over, mut restless, mut hops) = (0, 0, BTreeMap::<u32, u32>::new());
        let looks = runs.iter().map(|run| async {
            let events = client.events(run, 0).await.unwrap();
            (run.clone(), events)
        });
        for (run, events) in futures_util::future::join_all(looks).await {
            let last = events.iter().rev().find_map(|record| match &record.event {
                Event::ModelRequested { hop, .. } => Some(*hop),
                _ => None,
            });
            let is_over = events.iter().any(|r| matches!(r.event, Event::RunFinished(_)));
            over += usize::from(is_over);
            *hops.entry(last.unwrap_or_default()).or_default() += 1;
            let books = tools.log().of_run(&run);
            restless += books.values().filter(|count| count.asked > 1).count();
            before.insert(run.clone(), recorded(&run, &events, &books));
        }
        let balance = balancer.requests().await;
        let memory: Vec<u64> = servers.iter().map(Restate::memory_mib).collect();
        let killed = Instant::now();
        workers[1].kill();
        servers[1].kill();
        for run in &runs {
            match tokio::time::timeout(LONG, client.attach(run)).await {
                Ok(finish) => drop(finish.unwrap_or_else(|e| panic!("{run} is lost: {e}"))),
                Err(_) => panic!("{run} did not end: {}", told(&client, run).await),
            }
        }
        (before, over, restless, hops, balance, memory, killed.elapsed())
    };
    let (before, over, restless, hops, balance, memory, ended) = tokio::select! {
        done = work => done,
        () = person => unreachable!("the person goes on until all is over"),
    };
    let (mut faults, mut in_doubt, mut repeated, mut effects) = (Vec::new(), 0, 0, 0);
    for run in &runs {
        let events = client.events(run, 0).await.unwrap();
        let books = tools.log().of_run(run);
        effects += books.len();
        let verdict = judge(run, &events, &before[run], &books, LOSSES);
        in_doubt += usize::from(verdict.in_doubt);
        repeated += verdict.repeated.len();
        faults.extend(verdict.faults.into_iter().map(|fault| format!("{run}: {fault}")));
    }
    let figures = json!({
        "runs": RUNS,
        "servers": SERVERS,
        "workers": 2,
        "upSeconds": up.as_secs_f64(),
        "submittedSeconds": submitted.as_secs_f64(),
        "underWayAtTheKill": RUNS - over,
        "hopsAtTheKill": hops,
        "endedSecondsAfterTheKill": ended.as_secs_f64(),
        "finished": RUNS,
        "effects": effects,
        "madeAgain": repeated - restless,
        "madeAgainBeforeTheKill": restless,
        "writesInDoubt": in_doubt,
        "requestsByWorkerBeforeTheKill": balance,
        "serverMemoryMib": memory,
    });
    println!("{figures:#}");
    if let Some(path) = std::env::var_os("CALLGATE_SCALE_FIGURES").map(PathBuf::from) {
        fs::write(path, figures.to_string()).unwrap();
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(over < RUNS, "all runs were over before the kill");
}
