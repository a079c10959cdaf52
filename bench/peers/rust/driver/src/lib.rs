//! What all Rust peers share: the job, the options, runs side by side, and the line of JSON that
//! says what they cost. The drivers in Python and for Node take the same options and print the same.
//!
//! ```text
//! peer --base URL --runs 4000 --warm 1000 --concurrency 64 [--stream]
//! ```
//!
//! What is measured is this process by itself, after the runs that warm it up: CPU time of user and
//! system (getrusage), the time on the wall, the peak of memory, and memory before.

mod job;
mod options;
pub mod prepared;
mod usage;

use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use self::usage::Usage;
pub use self::{
    job::{INSTRUCTIONS, PROMPT, TOOL, TOOL_ABOUT, called, other_tools, rejected, schema, ticket},
    options::Options,
};

/// What every right answer has in it.
const RIGHT: &str = "assigned to dana";

/// Runs `run` as often as the options say, and prints what it cost.
///
/// `peer` is its name. `run` gives the answer's text, or says why there is none.
///
/// # Errors
/// The runtime could not be made, or the system does not say what was used.
pub fn drive<S, F, Fut>(
    peer: &str,
    options: &Options,
    set_up: impl FnOnce() -> Result<S, Failed>,
    run: F,
) -> Result<(), Failed>
where
    S: Send + Sync + 'static,
    F: Fn(Arc<S>) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<String, Failed>> + Send + 'static,
{
    usage::raise_file_limit()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(options.threads)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let state = Arc::new(set_up()?);
        batch(&state, options.warm, options.concurrency, run).await;
        job::forget();
        let before = Usage::now()?;
        let resident = usage::memory("VmRSS")?;
        let began = Instant::now();
        let done = batch(&state, options.runs, options.concurrency, run).await;
        let wall = began.elapsed();
        let after = Usage::now()?;
        println!(
            "{}",
            serde_json::json!({
                "peer": peer,
                "runs": options.runs,
                "concurrency": options.concurrency,
                "stream": options.stream,
                "right": done.right,
                "wrong": done.wrong,
                "error": done.error,
                "wallSeconds": wall.as_secs_f64(),
                "userSeconds": (after.user - before.user).as_secs_f64(),
                "systemSeconds": (after.system - before.system).as_secs_f64(),
                "peakKb": usage::memory("VmHWM")?,
                "beforeKb": resident,
                "toolCalls": job::calls(),
                "rejected": job::rejections(),
            })
        );
        Ok(())
    })
}

/// Whatever ends a peer.
pub type Failed = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, Default)]
struct Done {
    right: usize,
    wrong: usize,
    /// The last thing that went wrong.
    error: Option<String>,
}

/// `runs` runs, `concurrency` at a time.
async fn batch<S, F, Fut>(state: &Arc<S>, runs: usize, concurrency: usize, run: F) -> Done
where
    S: Send + Sync + 'static,
    F: Fn(Arc<S>) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<String, Failed>> + Send + 'static,
{
    let next = Arc::new(AtomicUsize::new(0));
    let done = Arc::new(Mutex::new(Done::default()));
    let workers: Vec<_> = (0..concurrency.min(runs))
        .map(|_| {
            let (state, next, done) = (state.clone(), next.clone(), done.clone());
            tokio::spawn(async move {
                while next.fetch_add(1, Relaxed) < runs {
                    let answer = run(state.clone()).await;
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    match answer {
                        Ok(text) if text.contains(RIGHT) => done.right += 1,
                        Ok(text) => {
                            done.wrong += 1;
                            done.error = Some(format!("the answer was {text:?}"));
                        }
                        Err(error) => {
                            done.wrong += 1;
                            done.error = Some(format!("{error}"));
                        }
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        if let Err(error) = worker.await {
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.wrong += 1;
            done.error = Some(error.to_string());
        }
    }
    std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner))
}
