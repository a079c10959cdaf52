//! Family `mcp`: real calls to a server that plays the case, through the client and both gates.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use callgate_contract::{
    Admitted, Content, Executed, Fault, Mode, Output, Tool, Verdict as Admission,
    definition::Definition, result,
};
use callgate_tool::{
    Invoked,
    mcp::{Call, Client, ClientOptions, Lifecycle, ServerConfig, Timeouts, Transport},
    process_env,
};
use serde_json::{Value, json};

use crate::{Case, Verdict, check, stated};

/// Long enough for any machine.
const LONG: Duration = Duration::from_secs(120);

pub(crate) fn run(case: &Case, mode: Mode) -> Verdict {
    let runtime = tokio::runtime::Runtime::new().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let input = &case.input;
        if input.get("tools_list").is_some() || input.get("pages").is_some() {
            return lists(case, mode).await;
        }
        if input.get("server_script").is_some() {
            return scripts(case, mode).await;
        }
        if input.get("stdout_b64").is_some() {
            return bytes(case, mode).await;
        }
        if input.get("tool_call").is_some() {
            return arguments(case, mode).await;
        }
        results(case, mode).await
    })
}

/// A server that plays a case.
struct Server {
    client: Arc<Client>,
    folder: tempfile::TempDir,
}

impl Server {
    fn play(input: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(place("case"), input.to_string()).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/mcp_server.py").to_owned();
        let config = ServerConfig {
            name: "case".into(),
            transport: Transport::Stdio {
                command: "python3".to_owned(),
                args: vec![script, place("case"), place("received")],
                env: [].into(),
                cwd: None,
            },
            timeouts: Timeouts { start: LONG, idle: LONG, max: LONG },
            lifecycle: Lifecycle::Legacy,
        };
        Self { client: Client::new(config, process_env(), ClientOptions::default()), folder }
    }

    fn call(&self, tool: &str, arguments: Admitted, timeout: Duration) -> Call {
        Call {
            tool: tool.into(),
            arguments,
            idempotency_key: None,
            repeatable: false,
            trace: None,
            timeout,
            cancel: tokio_util::sync::CancellationToken::new(),
        }
    }

    async fn empty_call(&self, timeout: Duration) -> Invoked {
        self.client.call(self.call("t", Admitted::recorded("{}".into()), timeout)).await
    }

    fn received(&self, method: &str) -> Vec<Value> {
        let path: PathBuf = self.folder.path().join("received");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let messages = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        messages.filter(|message| message["method"] == method).collect()
    }

    async fn until_received(&self, method: &str, count: usize) -> Vec<Value> {
        let since = Instant::now();
        loop {
            let received = self.received(method);
            if received.len() >= count || since.elapsed() > LONG {
                return received;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn tool(definition: &Value) -> Result<Tool, String> {
    let read = Definition::read(&definition.to_string()).map_err(|why| why.to_string())?;
    Ok(read.tool(read.name().clone(), "case", "the case", None))
}

/// A call whose result is given: by the gate out.
async fn results(case: &Case, mode: Mode) -> Verdict {
    let input = &case.input;
    check::known(input, &["output_schema", "result", "result_raw", "protocol_version"], "input")?;
    let mut played = input.clone();
    if let Some(result) = input.get("result") {
        played["result_raw"] = result.to_string().into();
    }
    let mut definition = json!({ "name": "t", "inputSchema": { "type": "object" } });
    if let Some(schema) = input.get("output_schema") {
        definition["outputSchema"] = schema.clone();
    }
    let tool = tool(&definition)?;
    let server = Server::play(&played);
    let invoked = server.empty_call(LONG).await;
    let passed = result::pass(&tool, mode, &invoked.result);
    for stated in stated(&case.expected, mode) {
        match (stated["outcome"].as_str(), &passed) {
            (Some("error"), Err(fault)) => error(stated, fault)?,
            (Some("result"), Ok(passed)) => {
                let words = ["outcome", "structured", "structured_json", "text", "repairs"];
                check::known(stated, &words, "expected")?;
                let output = invoked.result.as_ref().map_err(|f| f.message.clone())?;
                let repairs: Vec<String> =
                    passed.adjustments.iter().map(ToString::to_string).collect();
                check::same(
                    "repairs",
                    &json!(repairs),
                    &stated.get("repairs").cloned().unwrap_or(json!([])),
                )?;
                let ignored = repairs.iter().any(|name| name == "ignore_non_object_structured");
                if let Some(want) = stated.get("structured") {
                    let got: Value = serde_json::from_str(passed.result.get()).unwrap();
                    check::same("structured", if ignored { &Value::Null } else { &got }, want)?;
                }
                if let Some(want) = stated.get("structured_json") {
                    check::same_json("structured_json", passed.result.get(), want)?;
                }
                if let Some(want) = stated.get("text") {
                    check::same("text", &json!(texts(output)), want)?;
                    check::same_json("result", passed.result.get(), want)?;
                }
            }
            (want, got) => return Err(format!("outcome: want {want:?}, got {got:?}")),
        }
    }
    Ok(())
}

fn texts(output: &Output) -> String {
    let text = |block: &Content| match block {
        Content::Text { text } => Some(text.to_string()),
        _ => None,
    };
    output.content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// A failure as it is told to the model. That it came here at all is `host_exception: false`.
fn error(stated: &Value, fault: &Fault) -> Verdict {
    let words = [
        "outcome",
        "executed",
        "error",
        "model_sees_text",
        "host_exception",
        "max_wait_ms",
        "calls_sent",
        "sent",
        "late_result_ignored",
        "connection_alive",
    ];
    check::known(stated, &words, "expected")?;
    check::executed(fault.executed, &stated["executed"])?;
    let mut want = stated["error"].clone();
    if let Some(message) = want.as_object_mut().and_then(|want| want.remove("message")) {
        let message = message.as_str().ok_or("message is no text")?;
        if !fault.message.contains(message) {
            return Err(format!("the model is not told {message:?}: {}", fault.message));
        }
    }
    check::fault(fault, "t", &want)
}

async fn lists(case: &Case, mode: Mode) -> Verdict {
    check::known(&case.input, &["tools_list", "pages", "first_cursor"], "input")?;
    let server = Server::play(&case.input);
    let listing = server.client.list().await.map_err(|error| error.to_string())?;
    for stated in stated(&case.expected, mode) {
        let words = ["outcome", "tools", "quarantined", "requests_max", "warning"];
        check::known(stated, &words, "expected")?;
        check::same("outcome", &stated["outcome"], &json!("registry"))?;
        let names: Vec<&str> = listing.tools.iter().map(|tool| &*tool.name).collect();
        check::same("tools", &json!(names), &stated["tools"])?;
        let mut quarantined = json!({});
        let mut warnings = Vec::new();
        for fault in &listing.faults {
            match &fault.tool {
                Some(tool) => {
                    let path = fault.path.strip_prefix("/inputSchema").unwrap_or(&fault.path);
                    quarantined[tool] = path.into();
                }
                None => warnings.push(json!(fault.kind)),
            }
        }
        let want = stated.get("quarantined").cloned().unwrap_or(json!({}));
        check::same("quarantined", &quarantined, &want)?;
        if let Some(want) = stated.get("warning") {
            check::same("warning", &warnings, &vec![want.clone()])?;
        }
        if let Some(most) = stated.get("requests_max").and_then(Value::as_u64) {
            let requests = server.received("tools/list").len();
            if requests as u64 > most {
                return Err(format!("requests: at most {most}, got {requests}"));
            }
        }
    }
    Ok(())
}

/// Servers that die, or answer too late.
async fn scripts(case: &Case, mode: Mode) -> Verdict {
    check::known(&case.input, &["server_script", "limits"], "input")?;
    check::known(&case.input["limits"], &["tool_timeout_ms"], "limits")?;
    let timeout = case.input["limits"]["tool_timeout_ms"].as_u64().ok_or("no tool_timeout_ms")?;
    let server = Server::play(&case.input);
    // The start is not part of what is measured.
    server.client.ping().await.map_err(|error| error.to_string())?;
    let mut waited = Duration::ZERO;
    let mut failure = None;
    // A busy machine may not even write the request in so short a time; then nothing was sent.
    for _ in 0..5 {
        let since = Instant::now();
        let invoked = server.empty_call(Duration::from_millis(timeout)).await;
        waited = since.elapsed();
        let failed = invoked.result.err().ok_or("the call succeeded")?;
        if failure.insert(failed).executed != Executed::No {
            break;
        }
    }
    let failure = failure.ok_or("no call was made")?;
    let fault = Fault::failed(&failure);
    for stated in stated(&case.expected, mode) {
        check::same("outcome", &stated["outcome"], &json!("error"))?;
        error(stated, &fault)?;
        if let Some(most) = stated.get("max_wait_ms").and_then(Value::as_u64)
            && waited > Duration::from_millis(most)
        {
            return Err(format!("waited {waited:?}, at most {most} ms"));
        }
        if let Some(count) = stated.get("calls_sent") {
            check::same("calls_sent", &json!(server.received("tools/call").len()), count)?;
        }
        if let Some(want) = stated.get("sent") {
            let called_off = server.until_received("notifications/cancelled", 1).await;
            let calls = server.received("tools/call");
            let number =
                |id: &Value| calls.iter().position(|call| call["id"] == *id).map(|n| n + 1);
            let mut sent: Vec<String> = calls
                .iter()
                .map(|call| format!("tools/call id={}", number(&call["id"]).unwrap_or_default()))
                .collect();
            sent.extend(called_off.iter().map(|message| {
                let of = number(&message["params"]["requestId"]).unwrap_or_default();
                format!("notifications/cancelled requestId={of}")
            }));
            check::same("sent", &json!(sent), want)?;
        }
        if stated.get("late_result_ignored") == Some(&json!(true)) {
            let next = server.empty_call(LONG).await;
            let text = next.result.map(|output| texts(&output)).map_err(|f| f.message)?;
            check::same("the next call's own answer", &text.as_str(), &"result 2")?;
        }
        if stated.get("connection_alive") == Some(&json!(true)) {
            check::same("restarts", &server.client.health().restarts, &0)?;
        }
    }
    Ok(())
}

/// Bytes on stdout, to calls that wait.
async fn bytes(case: &Case, mode: Mode) -> Verdict {
    check::known(&case.input, &["stdout_b64", "pending_ids"], "input")?;
    let ids = case.input["pending_ids"].as_array().ok_or("no pending_ids")?;
    let server = Server::play(&case.input);
    // On a connection that is there, calls are sent in the order in which they are made.
    server.client.ping().await.map_err(|error| error.to_string())?;
    let calls = ids.iter().map(|_| server.empty_call(LONG));
    let outcomes = futures_util::future::join_all(calls).await;
    for stated in stated(&case.expected, mode) {
        check::known(stated, &["outcome", "answered", "connection_alive"], "expected")?;
        check::same("outcome", &stated["outcome"], &json!("transport"))?;
        for (id, invoked) in ids.iter().zip(&outcomes) {
            let want = &stated["answered"][id.to_string()];
            match &invoked.result {
                Ok(_) => check::same("answered", &json!("ok"), want)?,
                Err(failure) => {
                    check::known(want, &["class", "reason"], "answered")?;
                    check::same("class", &json!(failure.kind), &want["class"])?;
                    check::same("reason", &want["reason"], &json!("invalid_utf8"))?;
                    if !failure.message.contains("not UTF-8") {
                        return Err(format!("the reason is not told: {}", failure.message));
                    }
                }
            }
        }
        check::same("restarts", &server.client.health().restarts, &0)?;
    }
    Ok(())
}

/// A model's call of a tool without parameters, as its server gets it.
async fn arguments(case: &Case, mode: Mode) -> Verdict {
    check::known(&case.input, &["tool_call"], "input")?;
    let call = &case.input["tool_call"];
    check::known(call, &["name", "arguments_raw"], "tool_call")?;
    let name = call["name"].as_str().ok_or("the call has no name")?;
    let tool = tool(&json!({ "name": name, "inputSchema": { "type": "object" } }))?;
    let raw = call["arguments_raw"].as_str().ok_or("the call has no arguments")?;
    let Admission::Admitted { arguments, .. } = tool.admit(raw, mode) else {
        return Err("the gate refuses the arguments".to_owned());
    };
    let server = Server::play(&case.input);
    server.client.call(server.call(name, arguments, LONG)).await.result.map_err(|f| f.message)?;
    for stated in stated(&case.expected, mode) {
        check::known(stated, &["outcome", "params"], "expected")?;
        check::same("outcome", &stated["outcome"], &json!("dispatch"))?;
        let mut params = server.received("tools/call")[0]["params"].clone();
        params.as_object_mut().and_then(|params| params.remove("_meta"));
        check::same("params", &params, &stated["params"])?;
    }
    Ok(())
}
