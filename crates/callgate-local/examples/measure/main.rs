//! How good and how fast is a local model here?
//!
//! ```text
//! cargo run -p callgate-local --example measure -- MODEL.gguf [REQUESTS.json]
//! ```
//!
//! Without a file of labelled requests only the runs of several steps are played.

mod requests;
mod runs;

use std::{env, path::PathBuf, process::ExitCode, time::Instant};

use callgate_local::{LocalModel, LocalOptions};

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let Some(path) = arguments.next() else {
        eprintln!("usage: measure MODEL.gguf [REQUESTS.json]");
        return ExitCode::FAILURE;
    };
    let options = LocalOptions {
        prefix_folder: env::var_os("PREFIXES").map(PathBuf::from),
        ..LocalOptions::default()
    };
    let started = Instant::now();
    let model = match LocalModel::open(&path, options) {
        Ok(model) => model,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("loaded in {:.1} s", started.elapsed().as_secs_f64());
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(async {
        if let Some(file) = arguments.next() {
            requests::measure(&model, &file).await;
        }
        if env::var_os("NO_RUNS").is_none() {
            runs::play(&model).await;
        }
    });
    ExitCode::SUCCESS
}
