//! The service behind `examples/support`: tickets, customers and invoices over HTTP, from SQLite.
//!
//! It stands for the API that a company already has. It knows nothing of agents: it checks what
//! it is given, answers errors in JSON, and keeps a write that is sent twice from happening twice.
//!
//! The first line on standard output is `listening on http://127.0.0.1:PORT`.

mod api;
mod log;
mod seed;
mod stop;
mod store;

use std::{
    io::Write as _, net::Ipv4Addr, path::PathBuf, process::ExitCode, sync::Arc, time::Duration,
};

use clap::Parser;

use crate::{log::RequestLog, store::Store};

/// How long open requests may take to end once the service was told to stop.
const GRACE: Duration = Duration::from_secs(3);

/// Tickets, customers and invoices over HTTP.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 8320)]
    port: u16,

    /// SQLite file, made and filled when it does not exist. Without it a temporary one is used.
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,

    /// Append one JSON line a request to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Stop when standard input closes, so that the service never outlives who started it.
    #[arg(long)]
    exit_with_stdin: bool,
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("the database {path} cannot be used: {source}")]
    Database { path: PathBuf, source: store::OpenError },
    #[error("the log file {path} cannot be opened: {source}")]
    Log { path: PathBuf, source: std::io::Error },
    #[error("port {port} on 127.0.0.1 cannot be used: {source} (--port 0 takes a free one)")]
    Listen { port: u16, source: std::io::Error },
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("support-service: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> Result<(), Error> {
    // Kept until the end of this function, when the folder is removed.
    let folder = tempfile::Builder::new().prefix("support-service-").tempdir()?;
    let path = options.db.unwrap_or_else(|| folder.path().join("support.sqlite"));
    let store = Store::open(&path).map_err(|source| Error::Database { path, source })?;
    let log = match options.log {
        Some(path) => Some(RequestLog::open(&path).map_err(|source| Error::Log { path, source })?),
        None => None,
    };
    let app = api::router(Arc::new(store), log.map(Arc::new));

    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let port = options.port;
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .await
            .map_err(|source| Error::Listen { port, source })?;
        let stop = stop::Stop::listen(options.exit_with_stdin)?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "listening on http://{}", listener.local_addr()?)?;
        stdout.flush()?;

        let asked = stop.clone();
        let server =
            axum::serve(listener, app).with_graceful_shutdown(async move { asked.asked().await });
        tokio::select! {
            ended = async { server.await } => ended?,
            () = async {
                stop.asked().await;
                tokio::time::sleep(GRACE).await;
            } => {}
        }
        Ok(())
    })
}
