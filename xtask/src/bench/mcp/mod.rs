//! MCP over stdio: what a call costs the client and the server, each beside the official SDKs.

mod sides;

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use super::{
    Bench, Plan,
    numbers::{median, short, with_spread},
    plot::{Kind, Plot},
    program,
    report::{Block, Report, Table},
};
use crate::failure::Failure;
use sides::{Language, Program, Sides};

pub(super) const BENCH: Bench = Bench {
    name: "mcp",
    about: "calls of an MCP tool over stdio, beside the official SDKs as clients and as servers",
    run,
};

/// Calls at the same time.
const IN_FLIGHT: [usize; 2] = [1, 32];

/// The server that all clients go to, and the client that goes to all servers.
const COMMON: &str = "rmcp";

/// The same client in the protocol without a handshake.
const COMMON_MODERN: &str = "rmcp, 2026-07-28";

/// What one process may take.
const LIMIT: Duration = Duration::from_secs(180);

/// What a visit measured.
#[derive(Debug, Clone)]
struct Visit {
    calls_per_second: f64,
    client_cpu_us: f64,
    client_peak_mb: f64,
    server_cpu_us: f64,
    server_peak_mb: f64,
    protocol: String,
}

/// Client, server, calls in flight.
type Cell = (&'static str, &'static str, usize);

/// All visits to each cell.
type Visits = BTreeMap<Cell, Vec<Visit>>;

fn run(plan: &mut Plan) -> Result<Report, Failure> {
    let built = plan.built(&["callgate-bench-peers"])?;
    let sides = sides::everybody(&mut plan.steps, &built, !plan.smoke)?;
    let (mut visits, mut raw, mut failures) = (Visits::new(), Vec::new(), Vec::new());
    for repeat in 1..=plan.repeats {
        for (client, server) in pairs(&sides) {
            for in_flight in IN_FLIGHT {
                let calls = calls(client.language.min(server.language), in_flight, plan.smoke);
                let command = sides::command(client, server, [calls, in_flight, calls / 8 + 1]);
                let line = program::json(command, LIMIT)?;
                let right = line["right"].as_u64().unwrap_or_default();
                if right != calls as u64 {
                    failures.push(format!(
                        "{} at {}, {in_flight} in flight: {right} right results of {calls}",
                        client.name, server.name
                    ));
                }
                let visit = Visit::of(&line);
                eprintln!(
                    "mcp {repeat}: {} at {}, {in_flight}: {} calls/s, {} and {} µs of CPU a call",
                    client.name,
                    server.name,
                    short(visit.calls_per_second),
                    short(visit.client_cpu_us),
                    short(visit.server_cpu_us)
                );
                raw.push(json!({ "client": client.name, "server": server.name,
                    "inFlight": in_flight, "repeat": repeat, "line": line }));
                visits.entry((client.name, server.name, in_flight)).or_default().push(visit);
            }
        }
    }
    Ok(report(&sides, &visits, raw, failures))
}

impl Visit {
    fn of(line: &Value) -> Self {
        let told = |name: &str| line[name].as_f64().unwrap_or(f64::NAN);
        Self {
            calls_per_second: told("callsPerSecond"),
            client_cpu_us: told("clientCpuUs"),
            client_peak_mb: told("clientPeakKib") / 1024.0,
            server_cpu_us: told("serverCpuUs"),
            server_peak_mb: told("serverPeakKib") / 1024.0,
            protocol: line["protocol"].as_str().unwrap_or_default().to_owned(),
        }
    }
}

/// Who meets whom: every client the common server, the common client every server in each protocol
/// that the server knows, and every SDK itself.
fn pairs(sides: &Sides) -> Vec<(&Program, &Program)> {
    let mut pairs = Vec::new();
    for client in &sides.clients {
        for server in &sides.servers {
            let meets = server.name == COMMON
                || client.name == COMMON
                || client.name == server.name
                // The first generation of the TypeScript SDK knows the older protocol alone.
                || (client.name == COMMON_MODERN && server.name != "TypeScript SDK 1");
            if meets {
                pairs.push((client, server));
            }
        }
    }
    pairs
}

/// About a second's worth, as fast as the slower side is.
fn calls(slower: Language, in_flight: usize, smoke: bool) -> usize {
    match (smoke, slower) {
        (true, _) => in_flight + 3,
        (false, Language::Rust) => 12_000,
        (false, Language::Node) => 2_500,
        (false, Language::Python) => 500,
    }
}

fn values(visits: &Visits, cell: Cell, of: impl Fn(&Visit) -> f64) -> Vec<f64> {
    visits.get(&cell).into_iter().flatten().map(of).collect()
}

fn middle(visits: &Visits, cell: Cell, of: impl Fn(&Visit) -> f64) -> f64 {
    median(&values(visits, cell, of))
}

fn protocol(visits: &Visits, cell: Cell) -> String {
    visits.get(&cell).and_then(|all| all.first()).map_or_else(String::new, |v| v.protocol.clone())
}

fn report(sides: &Sides, visits: &Visits, raw: Vec<Value>, failures: Vec<String>) -> Report {
    let bars = |title: &str, file: &str, all: Vec<(String, f64)>| {
        let mut all = all;
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        Block::Plot(Plot {
            file: file.to_owned(),
            title: title.to_owned(),
            values: "CPU microseconds a call, logarithmic".to_owned(),
            log: true,
            kind: Kind::Bars(all),
        })
    };
    let clients = sides.clients.iter().map(|client| {
        let cell = (client.name, COMMON, 32);
        (client.name.to_owned(), middle(visits, cell, |visit| visit.client_cpu_us))
    });
    let servers = sides.servers.iter().map(|server| {
        let cell = (COMMON, server.name, 32);
        (server.name.to_owned(), middle(visits, cell, |visit| visit.server_cpu_us))
    });
    Report {
        title: "MCP",
        method: method(),
        versions: sides.versions.clone(),
        headline: vec![
            Block::Text(format!(
                "Clients, all at the {COMMON} server. CPU is that of the client's process a call."
            )),
            Block::Table(self::clients(sides, visits)),
            bars(
                "MCP clients at the rmcp server, 32 calls in flight",
                "mcp-clients",
                clients.collect(),
            ),
            Block::Text(format!(
                "Servers, all called by the {COMMON} client. CPU is that of the server's process a call."
            )),
            Block::Table(self::servers(sides, visits)),
            bars(
                "MCP servers under the rmcp client, 32 calls in flight",
                "mcp-servers",
                servers.collect(),
            ),
            Block::Table(reach(visits)),
        ],
        details: vec![
            Block::Text("Every pair: median [least–greatest].".to_owned()),
            Block::Table(everything(visits)),
        ],
        raw: Value::Array(raw),
        failures,
    }
}

fn clients(sides: &Sides, visits: &Visits) -> Table {
    let mut table = Table::new([
        "client",
        "protocol",
        "CPU µs a call, 1 in flight",
        "32",
        "times rmcp: 1",
        "32",
        "calls/s, 1",
        "32",
        "peak MB",
    ]);
    for client in &sides.clients {
        let cell = |in_flight| (client.name, COMMON, in_flight);
        let cpu = |in_flight| middle(visits, cell(in_flight), |visit| visit.client_cpu_us);
        let rate = |in_flight| middle(visits, cell(in_flight), |visit| visit.calls_per_second);
        let times = |in_flight| {
            let theirs = middle(visits, (COMMON, COMMON, in_flight), |visit| visit.client_cpu_us);
            short(cpu(in_flight) / theirs)
        };
        table.row([
            client.name.to_owned(),
            protocol(visits, cell(1)),
            short(cpu(1)),
            short(cpu(32)),
            times(1),
            times(32),
            short(rate(1)),
            short(rate(32)),
            short(middle(visits, cell(32), |visit| visit.client_peak_mb)),
        ]);
    }
    table
}

fn servers(sides: &Sides, visits: &Visits) -> Table {
    let mut table = Table::new([
        "server",
        "CPU µs a call, 1 in flight",
        "32",
        "32, 2026-07-28",
        "times rmcp: 1",
        "32",
        "32, 2026-07-28",
        "calls/s, 1",
        "32",
        "peak MB",
    ]);
    for server in &sides.servers {
        let cpu = |client, server, in_flight| {
            middle(visits, (client, server, in_flight), |visit| visit.server_cpu_us)
        };
        let own = |client, in_flight| short(cpu(client, server.name, in_flight));
        let times = |client, in_flight| {
            short(cpu(client, server.name, in_flight) / cpu(client, COMMON, in_flight))
        };
        let rate = |in_flight| {
            short(middle(visits, (COMMON, server.name, in_flight), |v| v.calls_per_second))
        };
        table.row([
            server.name.to_owned(),
            own(COMMON, 1),
            own(COMMON, 32),
            own(COMMON_MODERN, 32),
            times(COMMON, 1),
            times(COMMON, 32),
            times(COMMON_MODERN, 32),
            rate(1),
            rate(32),
            short(middle(visits, (COMMON, server.name, 32), |v| v.server_peak_mb)),
        ]);
    }
    table
}

/// What we set out for, and where we are: against rmcp in the same protocol.
fn reach(visits: &Visits) -> Table {
    let mut table = Table::new(["aim", "bound", "measured", ""]);
    let mut aim = |what: String, bound: &str, is: f64, met: bool| {
        // What was not measured is not met.
        table.row([
            what,
            bound.to_owned(),
            short(is),
            if met { "met" } else { "missed" }.to_owned(),
        ]);
    };
    for (ours, theirs, protocol) in
        [("callgate, 2025-11-25", COMMON, "2025-11-25"), ("callgate", COMMON_MODERN, "2026-07-28")]
    {
        for in_flight in IN_FLIGHT {
            let of = |client, figure: fn(&Visit) -> f64| {
                middle(visits, (client, COMMON, in_flight), figure)
            };
            let cpu = of(ours, |v| v.client_cpu_us) / of(theirs, |v| v.client_cpu_us);
            let rate = of(ours, |v| v.calls_per_second) / of(theirs, |v| v.calls_per_second);
            let at = format!("{protocol}, {in_flight} in flight");
            aim(format!("client: CPU beside rmcp, {at}"), "at most 1", cpu, cpu <= 1.0);
            aim(
                format!("client: calls a second beside rmcp, {at}"),
                "at least 1",
                rate,
                rate >= 1.0,
            );
        }
    }
    table
}

fn everything(visits: &Visits) -> Table {
    let mut table = Table::new([
        "client",
        "server",
        "in flight",
        "protocol",
        "calls/s",
        "client µs",
        "server µs",
        "client peak MB",
        "server peak MB",
    ]);
    for cell in visits.keys() {
        let told = |of: fn(&Visit) -> f64| with_spread(&values(visits, *cell, of));
        table.row([
            cell.0.to_owned(),
            cell.1.to_owned(),
            cell.2.to_string(),
            protocol(visits, *cell),
            told(|visit| visit.calls_per_second),
            told(|visit| visit.client_cpu_us),
            told(|visit| visit.server_cpu_us),
            short(middle(visits, *cell, |visit| visit.client_peak_mb)),
            short(middle(visits, *cell, |visit| visit.server_peak_mb)),
        ]);
    }
    table
}

fn method() -> Vec<String> {
    [
        "A client starts a server as its child and calls one of its tools over stdio. All servers \
         have the same tool, `get_ticket`: five arguments (pattern, enum, boolean, range, length), a \
         structured result of three members with an output schema, written as each SDK's \
         documentation shows it. Arguments begin as the text that a model writes, and each client \
         takes them in its own way; a call counts if the structured result names the right person.",
        "What each does about a call differs. rmcp's client parses and sends. The TypeScript and \
         Python clients also judge the result by its output schema. Callgate's judges arguments and \
         result by the pinned schemas, compares the definition with the pin, keeps every digit as \
         text, and has a deadline and a cancellation of its own for every call; `whole calls` also \
         has a run around each call, with its events and the envelope that a model would read. As a \
         server Callgate judges arguments and results too and makes a whole call of each; rmcp's \
         reads arguments into a type and does not look at the rest of the schema, the TypeScript \
         and Python servers validate both.",
        "A client speaks what it speaks by default: rmcp and the first TypeScript SDK begin with a \
         handshake (2025-11-25); Callgate, the second TypeScript SDK (as its guide shows) and the \
         Python SDK ask for 2026-07-28, in which every request carries the protocol, the client's \
         name and what it can do, about 250 bytes more. Rows with a protocol in their name are the \
         same program in the other one, so that rmcp and Callgate can be compared like with like.",
        "CPU is user and system time (getrusage) of the client's process, and of the server's as a \
         second tool of it tells, over the measured calls, after an eighth as many that warm up. \
         Peak memory is that of the process. Medians of repetitions, each of which visits every \
         pair in turn. Rust programs are built with the same profile (release, LTO over all \
         crates; of Callgate's, `callgate-tool`, `callgate-server` and their rmcp for size, as they \
         are released) and run on tokio's default threads.",
    ]
    .map(str::to_owned)
    .to_vec()
}
