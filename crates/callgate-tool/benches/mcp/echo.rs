//! An MCP server with one tool that gives its arguments back. One thread, one write for all answers
//! to what was read at once.

use std::{
    io::{BufRead as _, Write as _},
    process::ExitCode,
};

use serde::Deserialize;
use serde_json::{json, value::RawValue};

#[derive(Deserialize)]
struct Request<'a> {
    /// Absent in a notification.
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow, default)]
    params: Params<'a>,
}

#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// Serves until its input ends.
pub(crate) fn serve() -> ExitCode {
    let mut input = std::io::BufReader::with_capacity(256 << 10, std::io::stdin().lock());
    let mut output = std::io::BufWriter::with_capacity(256 << 10, std::io::stdout().lock());
    let mut line = String::new();
    loop {
        line.clear();
        match input.read_line(&mut line) {
            Ok(0) => return ExitCode::SUCCESS,
            Ok(_) => {}
            Err(_) => return ExitCode::FAILURE,
        }
        let Ok(request) = serde_json::from_str::<Request<'_>>(&line) else {
            return ExitCode::FAILURE;
        };
        if let Some(id) = request.id {
            let body = answer(&request);
            if writeln!(output, r#"{{"jsonrpc":"2.0","id":{id},{body}}}"#).is_err() {
                return ExitCode::FAILURE;
            }
        }
        if !input.buffer().contains(&b'\n') && output.flush().is_err() {
            return ExitCode::FAILURE;
        }
    }
}

fn answer(request: &Request<'_>) -> String {
    match request.method {
        "initialize" => {
            let result = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "echo", "version": "1" } });
            format!(r#""result":{result}"#)
        }
        "tools/list" => format!(r#""result":{}"#, json!({ "tools": [definition()] })),
        "tools/call" => {
            let arguments = request.params.arguments.map_or("{}", RawValue::get);
            let text = serde_json::Value::from(arguments);
            format!(
                r#""result":{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{arguments},"isError":false}}"#
            )
        }
        _ => r#""error":{"code":-32601,"message":"no such method"}"#.to_owned(),
    }
}

fn definition() -> serde_json::Value {
    let schema = json!({
        "type": "object",
        "properties": {
            "ticketId": { "type": "string", "pattern": "^T-[0-9]+$" },
            "priority": { "enum": ["low", "normal", "high"] },
            "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
            "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 5 },
            "verbose": { "type": "boolean" }
        },
        "required": ["ticketId"],
        "additionalProperties": false
    });
    json!({ "name": "echo", "description": "Gives its arguments back.",
            "inputSchema": schema, "outputSchema": schema, "annotations": { "readOnlyHint": true } })
}
