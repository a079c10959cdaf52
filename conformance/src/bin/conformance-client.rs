//! Does what one scenario of the suite asks for: `conformance-client URL`, with the scenario in
//! `MCP_CONFORMANCE_SCENARIO`, its data in `MCP_CONFORMANCE_CONTEXT` (JSON) and the revision in
//! `MCP_CONFORMANCE_PROTOCOL_VERSION`.

use std::process::ExitCode;

use callgate_conformance::client::{self, Assignment};

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Assignment::from_process() {
        Ok(assignment) => client::run(assignment).await,
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance-client: {error}");
            ExitCode::FAILURE
        }
    }
}
