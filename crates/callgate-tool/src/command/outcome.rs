//! What a program's end means.

use callgate_contract::{ErrorKind, Executed, Failure, Output};
use serde_json::{json, value::RawValue};

use super::child::{Ended, How, Limits};
use crate::{Invoked, call::Interrupted, secrets::Secrets, text};

pub(super) fn invoked(ended: &Ended, limits: &Limits<'_>, secrets: &Secrets) -> Invoked {
    let result = match &ended.how {
        How::Exited(status) if status.success() => output(&ended.stdout, secrets),
        How::Exited(status) => Err(exit_failure(*status, ended)),
        How::TooMuch => Err(Failure::new(
            ErrorKind::ToolError,
            format!("the tool wrote more than {} bytes and was ended", limits.max_output),
        )
        .hint("Ask for less: a narrower filter, a smaller page.")),
        How::TimedOut => Err(Interrupted::Timeout(limits.timeout).failure(Executed::Unknown)),
        How::Cancelled => Err(Interrupted::Cancelled.failure(Executed::Unknown)),
        How::Lost(error) => Err(Failure::new(
            ErrorKind::TransportLost,
            format!("the tool's program was lost: {error}"),
        )),
    };
    let result = result.map_err(|mut failure| {
        failure.message = secrets.scrub(&failure.message).into_owned();
        failure
    });
    // The output of a success is the whole of what came back; a failure's is kept for people.
    let raw = result.is_err().then(|| raw(ended, secrets).into());
    Invoked { result, wire: None, raw, used: None }
}

fn output(stdout: &[u8], secrets: &Secrets) -> Result<Output, Failure> {
    let Ok(text) = std::str::from_utf8(stdout) else {
        return Err(Failure::new(
            ErrorKind::ToolError,
            "the tool wrote something that is neither JSON nor UTF-8 text",
        )
        .retryable(false));
    };
    let text = secrets.scrub_output(text);
    let json = text.trim();
    if json.is_empty() {
        return Ok(Output::json("null"));
    }
    match serde_json::from_str::<&RawValue>(json) {
        Ok(json) => Ok(Output::json(json.get())),
        Err(_) => Ok(Output::text(text.as_ref())),
    }
}

fn exit_failure(status: std::process::ExitStatus, ended: &Ended) -> Failure {
    let said = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text::tail(&text::without_traces(&text::clean(&text)), text::QUOTED)
    };
    let words = match said(&ended.stderr) {
        // Some programs explain themselves on stdout.
        words if words.is_empty() => said(&ended.stdout),
        words => words,
    };
    let end = how_it_ended(status);
    let message = if words.is_empty() {
        format!("the tool failed ({end}) and said nothing")
    } else {
        format!("the tool failed ({end}): {words}")
    };
    Failure::new(ErrorKind::ToolError, message)
}

fn how_it_ended(status: std::process::ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("ended by signal {signal}");
    }
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

/// Everything that came back, for the journal: `{"exitCode", "stdout", "stderr"}`.
fn raw(ended: &Ended, secrets: &Secrets) -> String {
    let text = |bytes: &[u8]| secrets.scrub(&String::from_utf8_lossy(bytes)).into_owned();
    let code = match &ended.how {
        How::Exited(status) => status.code(),
        _ => None,
    };
    json!({ "exitCode": code, "stdout": text(&ended.stdout), "stderr": text(&ended.stderr) })
        .to_string()
}
