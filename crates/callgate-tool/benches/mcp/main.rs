//! What a call of an MCP tool costs: calls a second, and CPU of the client's process a call, to a
//! server on stdio that gives its arguments back. Beside it, in the same run and to the same
//! program, rmcp's client, which validates nothing.
//!
//! `cargo bench -p callgate-tool --bench mcp`. The two take turns, so that a busy machine is busy
//! for both; the ratios are what to read. The server is this program itself, started with `--echo`;
//! its CPU is its own process's and not counted.
//!
//! Ours is the whole way of an agent's call: the gate in (text to admitted arguments), the check
//! against the pinned definition, the client, the gate out (structured result against its output
//! schema, to the text that a model reads). rmcp's begins with parsed arguments and ends with a
//! parsed result.
//!
//! Among tests it runs a few calls of each kind, so that it does not rot.

mod echo;
mod ours;
mod theirs;

use std::{future::Future, process::ExitCode, sync::Arc, time::Instant};

use rustix::time::{ClockId, clock_gettime};

use ours::Ours;
use theirs::Theirs;

/// What goes to the tool and comes back, as a model writes it.
const ARGUMENTS: &str =
    r#"{"ticketId": "T-1042", "priority": "high", "limit": 5, "tags": ["a", "b"]}"#;

/// Calls at once.
const CONCURRENCY: [usize; 2] = [1, 32];

/// How much is measured.
struct Extent {
    rounds: usize,
    /// Calls a round, one after the other, and many at once.
    calls: [usize; 2],
}

const FULL: Extent = Extent { rounds: 9, calls: [4_000, 24_000] };
const SMOKE: Extent = Extent { rounds: 1, calls: [3, 64] };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--echo") {
        return echo::serve();
    }
    // How a test runner asks what there is.
    if has("--list") {
        if !has("--ignored") {
            println!("smoke: test");
        }
        return ExitCode::SUCCESS;
    }
    let extent = if has("--bench") { FULL } else { SMOKE };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(measured(&extent));
    ExitCode::SUCCESS
}

async fn measured(extent: &Extent) {
    let program = std::env::current_exe().expect("this program's path");
    let ours = Arc::new(Ours::connect(&program).await);
    let theirs = Arc::new(Theirs::connect(&program).await);
    // Each gives back what it was given, before anything is measured.
    ours.call().await;
    theirs.call().await;
    println!("medians of {} rounds; µs is CPU of the client's process a call\n", extent.rounds);
    println!("at once   callgate, validated      rmcp 3.11.0              rate     CPU");
    for (concurrency, calls) in CONCURRENCY.into_iter().zip(extent.calls) {
        let (mut our, mut their) = (Vec::new(), Vec::new());
        for round in 0..=extent.rounds {
            // Whoever is first in one round is second in the next.
            for turn in 0..2 {
                let figures = if (round + turn) % 2 == 0 {
                    let ours = ours.clone();
                    let call = move || {
                        let ours = ours.clone();
                        async move { ours.call().await }
                    };
                    (&mut our, batch(concurrency, calls, call).await)
                } else {
                    let theirs = theirs.clone();
                    let call = move || {
                        let theirs = theirs.clone();
                        async move { theirs.call().await }
                    };
                    (&mut their, batch(concurrency, calls, call).await)
                };
                // The first round warms up.
                if round > 0 {
                    figures.0.push(figures.1);
                }
            }
        }
        let (our, their) = (Figures::median(&our), Figures::median(&their));
        println!(
            "{concurrency:>7}   {our}   {their}   x{:.2}   x{:.2}",
            our.rate / their.rate,
            our.cpu / their.cpu
        );
    }
    ours.close().await;
    Arc::into_inner(theirs).expect("no call is under way").close().await;
}

#[derive(Clone, Copy)]
struct Figures {
    /// Calls a second.
    rate: f64,
    /// Microseconds of CPU a call.
    cpu: f64,
}

impl Figures {
    fn median(rounds: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Self { rate: middle(|f| f.rate), cpu: middle(|f| f.cpu) }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:>8.0}/s {:>6.1} µs", self.rate, self.cpu)
    }
}

/// Makes calls, so many at once, each task one after the other.
async fn batch<C, F>(concurrency: usize, calls: usize, call: C) -> Figures
where
    C: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (began, before) = (Instant::now(), cpu_micros());
    let each = calls / concurrency;
    let tasks: Vec<_> = (0..concurrency)
        .map(|_| {
            let call = call.clone();
            tokio::spawn(async move {
                for _ in 0..each {
                    call().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no call fails");
    }
    #[allow(clippy::cast_precision_loss, reason = "some thousands")]
    let made = (each * concurrency) as f64;
    Figures { rate: made / began.elapsed().as_secs_f64(), cpu: (cpu_micros() - before) / made }
}

/// CPU of this process so far; that of a child is not in it.
#[allow(clippy::cast_precision_loss, reason = "seconds and nanoseconds of a short run")]
fn cpu_micros() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}
