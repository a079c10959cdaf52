//! Three servers, two workers behind HAProxy, sixty runs under way: one worker and one server go.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use callgate_crash::{APPROVED, Server, WRITE, judge, project, recorded};
use callgate_machine::event::{Decision, Resolution};
use callgate_restate::{Client, Submit, WaitsOn};
use serde_json::json;

use crate::support::{
    bound, free_ports,
    restate::{self, Ports, Restate, common},
    until, within,
    worker::Process,
};

const RUNS: usize = 60;
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
        for status in runs {
            for wait in &status.waits {
                // A word that does not get through is said again.
                match &wait.on {
                    WaitsOn::Approval { tool, binding, .. } if &**tool == APPROVED => {
                        let yes = Decision::Approve;
                        let said = client.decide(&status.run, &wait.call, Some(binding), yes, None);
                        let _ = said.await;
                    }
                    WaitsOn::Doubt { tool, .. } => {
                        assert_eq!(&**tool, WRITE);
                        let word = if server.truth_of_the_write(&status.run) {
                            Resolution::Done { result: Some(r#"{"ok":true}"#.into()) }
                        } else {
                            Resolution::Redo
                        };
                        let _ = client.resolve(&status.run, &wait.call, word, None).await;
                    }
                    _ => {}
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "minutes, and needs HAProxy: cargo xtask scale"]
async fn one_worker_and_one_server_of_three_go() {
    let Some(program) = restate::program() else { return };
    let folder = tempfile::tempdir().unwrap();
    let tools = Server::start(Duration::from_millis(300)).await.unwrap();
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

    let runs: Vec<String> = (0..RUNS).map(|_| Client::new_id()).collect();
    let sent = Instant::now();
    let clients: Vec<Client> = servers.iter().map(Restate::client).collect();
    for (n, run) in runs.iter().enumerate() {
        let submit = Submit { goal: project::goal(run).into(), caller: serde_json::Value::Null };
        let client = &clients[n % SERVERS];
        // Sent until it is taken: twice is once.
        until("the run to be taken", || async { client.submit(run, &submit).await.ok() }).await;
    }
    let submitted = sent.elapsed();
    let person = person(client.clone(), &tools);
    let work = async {
        // All under way, and the first writes done.
        until("the runs to be under way", || async {
            let listed = client.list().await.ok()?;
            let past_a_hop = listed.iter().filter(|status| status.hop >= 2).count();
            (listed.len() == RUNS && past_a_hop >= RUNS / 3).then_some(())
        })
        .await;
        let mut before = BTreeMap::new();
        let (mut over, mut hops) = (0, BTreeMap::<u32, u32>::new());
        for run in &runs {
            let events = client.events(run, 0).await.unwrap();
            let status = client.status(run).await.unwrap();
            over += usize::from(status.ended.is_some());
            *hops.entry(status.hop).or_default() += 1;
            before.insert(run.clone(), recorded(run, &events));
        }
        let balance = balancer.requests().await;
        let memory: Vec<u64> = servers.iter().map(Restate::memory_mib).collect();
        let killed = Instant::now();
        workers[1].kill();
        servers[1].kill();
        for run in &runs {
            let finish = within("a run to end", client.attach(run)).await;
            finish.unwrap_or_else(|e| panic!("{run} is lost: {e}"));
        }
        (before, over, hops, balance, memory, killed.elapsed())
    };
    let (before, over, hops, balance, memory, ended) = tokio::select! {
        done = work => done,
        () = person => unreachable!("the person goes on until all is over"),
    };
    let (mut faults, mut in_doubt, mut repeated, mut effects) = (Vec::new(), 0, 0, 0);
    for run in &runs {
        let events = client.events(run, 0).await.unwrap();
        let books = tools.log().of_run(run);
        effects += books.len();
        let verdict = judge(run, &events, &before[run], &books, 2);
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
        "madeAgain": repeated,
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
