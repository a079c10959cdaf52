//! Contracts from text to result: nothing here can reach a backend but through the gate.
#![allow(clippy::unwrap_used)]

use std::{path::Path, sync::Arc, time::Duration};

use callgate_contract::{Catalog, ErrorKind, Executed, Mode, Output, Tool, Verdict};
use callgate_tool::{Backends, CallContext, Env, Function, Invocation, Invoked, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_util::sync::CancellationToken;

const LONG: Duration = Duration::from_secs(120);

fn contract(backend: &serde_json::Value) -> Arc<Tool> {
    let text = json!({
        "name": "order", "description": "Orders something.",
        "input": { "type": "object", "properties": { "id": { "type": "integer" }, "price": { "type": "number" } } },
        "backend": backend,
    });
    let catalog = Catalog::load([("order.json", text.to_string().as_str())]).unwrap();
    catalog.get("order").unwrap().clone()
}

async fn call(backends: &Backends, backend: &serde_json::Value, raw: &str) -> Invoked {
    let tool = contract(backend);
    let env: Env = Arc::new(|name| std::env::var(name).ok());
    let backend = backends.build(&tool.backend, Path::new("."), env).unwrap();
    let Verdict::Admitted { arguments, .. } = tool.admit(raw, Mode::Strict) else {
        panic!("{raw} was refused")
    };
    let invocation = Invocation {
        run: "run_1".into(),
        call: "call_1".into(),
        tool: tool.name.clone(),
        arguments,
        idempotency_key: "key_1".into(),
        attempt: 3,
        timeout: LONG,
        cancel: CancellationToken::new(),
        trace: None,
    };
    backend.invoke(invocation).await
}

/// Every placeholder of the example's contracts names a property of its input schema.
#[test]
fn placeholders_of_the_example() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/support/tools");
    let mut checked = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let catalog = Catalog::load([(name, text.as_str())]).unwrap_or_default();
        for tool in catalog.tools() {
            let env: Env = Arc::new(|_| None);
            let backend = Backends::builtin().build(&tool.backend, &folder, env).unwrap();
            for reads in backend.reads() {
                let property = reads.argument.trim_start_matches('/');
                assert!(
                    tool.input.value()["properties"].get(property).is_some(),
                    "{name}: {} names no argument: {}",
                    reads.at,
                    reads.argument
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 0);
}

const RAW: &str = r#"{"id": 1234567890123456789, "price": 1.10}"#;

#[tokio::test]
async fn digits_reach_a_program() {
    let invoked = call(&Backends::builtin(), &json!({ "command": ["cat"] }), RAW).await;
    assert_eq!(invoked.result, Ok(Output::json(RAW)));
    assert_eq!(invoked.wire.as_deref(), Some(RAW));
}

#[tokio::test]
async fn digits_reach_a_server() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/orders/{{id}}?price={{price}}", listener.local_addr().unwrap());
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = String::new();
        // The body is the last thing to come, and ends in a brace.
        while !request.ends_with('}') {
            let mut chunk = [0; 4096];
            let count = stream.read(&mut chunk).await.unwrap();
            assert!(count > 0, "cut: {request}");
            request.push_str(std::str::from_utf8(&chunk[..count]).unwrap());
        }
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"sum\": 1.10}";
        stream.write_all(answer.as_bytes()).await.unwrap();
        request
    };
    let backend = json!({ "http": { "method": "POST", "url": url, "body": "arguments" } });
    let backends = Backends::builtin();
    let (invoked, request) = tokio::join!(call(&backends, &backend, RAW), server);
    assert!(
        request.starts_with("POST /orders/1234567890123456789?price=1.10 HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(request.ends_with(&format!("\r\n\r\n{RAW}")), "{request}");
    assert_eq!(invoked.result, Ok(Output::json(r#"{"sum": 1.10}"#)));
    assert!(invoked.wire.unwrap().contains(RAW));
}

#[derive(Deserialize)]
struct Order {
    id: u64,
}

#[derive(Serialize)]
struct Ordered {
    id: u64,
    attempt: u32,
}

#[tokio::test]
async fn functions() {
    let typed = Function::typed_with(async |order: Order, context: CallContext| match order.id {
        0 => Err(ToolError::new("no such order").hint("Search first.").permanent()),
        1 => panic!("boom"),
        id => Ok(Ordered { id, attempt: context.attempt }),
    });
    let raw =
        Function::new(async |invocation: Invocation| Ok(Output::text(invocation.arguments.text())));
    let backends = Backends::builtin().function("typed", typed).function("raw", raw);
    let (typed, raw) = (json!({ "function": "typed" }), json!({ "function": "raw" }));

    let result = call(&backends, &typed, RAW).await.result;
    assert_eq!(result, Ok(Output::json(r#"{"id":1234567890123456789,"attempt":3}"#)));
    assert_eq!(call(&backends, &raw, RAW).await.result, Ok(Output::text(RAW)));

    let failure = call(&backends, &typed, r#"{"id": 0}"#).await.result.unwrap_err();
    assert_eq!((failure.kind, failure.executed), (ErrorKind::ToolError, Executed::Yes));
    assert_eq!(failure.hint.as_deref(), Some("Search first."));
    assert!(!failure.retryable);

    let failure = call(&backends, &typed, r#"{"id": 1}"#).await.result.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::ToolException);
    assert_eq!(failure.message, "the tool's own code failed: boom");

    // The schema admits what the type cannot hold.
    let failure = call(&backends, &typed, r#"{"id": -1}"#).await.result.unwrap_err();
    assert_eq!((failure.kind, failure.executed), (ErrorKind::ToolError, Executed::No));
}
