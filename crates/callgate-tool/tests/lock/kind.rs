//! The `mcp` kind: only pinned tools of known servers are backends.

use std::{path::Path, sync::Arc};

use callgate_tool::{
    Backends, Env,
    lock::{Lock, Servers},
    mcp::{Client, ClientOptions, Lifecycle, ServerConfig, Timeouts, Transport},
};
use serde_json::json;

use crate::{listing, tool};

#[test]
fn what_a_contract_may_name() {
    let env: Env = Arc::new(|_| None);
    let config = ServerConfig {
        name: "time".into(),
        transport: Transport::Http { url: "http://127.0.0.1:9/".to_owned(), headers: [].into() },
        timeouts: Timeouts::default(),
        lifecycle: Lifecycle::Auto,
    };
    // A client that is never asked connects to nothing.
    let client = Client::new(config, env.clone(), ClientOptions::default());
    let mut lock = Lock::default();
    lock.accept("time", &listing(&[tool("now", &json!({}))]));
    let pins = lock.server("time").unwrap().clone();
    let backends = Backends::builtin().servers(Servers::new([("time".into(), client, pins)]));
    let build = |spec: serde_json::Value| {
        backends.build(spec.as_object().unwrap(), Path::new("."), env.clone()).err()
    };
    assert!(build(json!({"mcp": {"server": "time", "tool": "now"}})).is_none());
    for (spec, pointer, words) in [
        (json!({"mcp": {"server": "tiem", "tool": "now"}}), "/mcp/server", "did you mean `time`?"),
        (json!({"mcp": {"server": "time", "tool": "nwo"}}), "/mcp/tool", "did you mean `now`?"),
        (json!({"mcp": {"server": "time"}}), "/mcp", "missing field `tool`"),
        (
            json!({"mcp": {"server": "time", "tool": "now", "args": {}}}),
            "/mcp/args",
            "unknown field",
        ),
        (json!({"mcp": "time"}), "/mcp", "expected"),
        (json!({"mpc": {}}), "/mpc", "did you mean `mcp`?"),
    ] {
        let error = build(spec.clone()).unwrap_or_else(|| panic!("{spec} was built"));
        assert_eq!(error.pointer(), pointer, "{spec}: {error}");
        assert!(error.to_string().contains(words), "{spec}: {error}");
    }
}
