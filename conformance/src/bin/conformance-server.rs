//! Serves the suite's fixtures at `/mcp`: `conformance-server [--port N] [--exit-with-stdin]`.

use std::process::ExitCode;

use callgate_conformance::server;
use tokio::io::AsyncReadExt as _;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let (mut port, mut with_stdin) = (0, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--port" => port = arguments.next().ok_or("--port needs a number")?.parse()?,
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
    server::serve(port, |address| println!("listening on http://{address}"), until).await?;
    Ok(())
}
