//! Serves the agent for the A2A suites: `a2a-agent [--port N] [--v03] [--usual] [--exit-with-stdin]`.

use std::process::ExitCode;

use callgate_conformance::a2a::{self, Wanted};
use tokio::io::AsyncReadExt as _;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("a2a-agent: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut wanted = Wanted { by_message_id: true, ..Wanted::default() };
    let mut with_stdin = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => wanted.port = arguments.next().ok_or("--port needs a number")?.parse()?,
            "--v03" => wanted.v03 = true,
            "--usual" => wanted.by_message_id = false,
            "--exit-with-stdin" => with_stdin = true,
            other => return Err(format!("there is no option `{other}`").into()),
        }
    }
    let until = async move {
        if with_stdin {
            let mut rest = [0; 64];
            while matches!(tokio::io::stdin().read(&mut rest).await, Ok(1..)) {}
        } else {
            std::future::pending::<()>().await;
        }
    };
    a2a::serve(wanted, |address| println!("listening on http://{address}"), until).await
}
