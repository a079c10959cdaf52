use std::time::Duration;

use super::*;

fn rpc(code: i64, data: Option<&str>) -> Result<Box<RawValue>, McpError> {
    let data = data.map(Into::into);
    Err(McpError::Rpc(RpcError { code, message: "no".into(), data }))
}

fn result(text: &str) -> Result<Box<RawValue>, McpError> {
    Ok(RawValue::from_string(text.to_owned()).unwrap())
}

fn word(next: &Next) -> &'static str {
    match next {
        Next::Modern(_) => "modern",
        Next::AskAgain => "ask again",
        Next::Initialize => "initialize",
        Next::InitializeAfresh => "initialize afresh",
        Next::GiveUp(_) => "give up",
    }
}

#[test]
fn what_real_servers_answer() {
    let timeout = || McpError::Timeout { after: Duration::from_secs(30), sent: true, note: None };
    let lost = || McpError::Lost { why: "exit".into(), sent: true };
    let status = |status| McpError::Status { status, text: None, retry_after_ms: None };
    let discover = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    // answer, over HTTP, asked before, next
    let rows = [
        (result(discover), false, 0, "modern"),
        (result(r#"{"supportedVersions":["2025-11-25"]}"#), false, 0, "initialize afresh"),
        (result(r#"{"supportedVersions":["2031-01-01"]}"#), false, 0, "give up"),
        (result("{}"), false, 0, "initialize"),
        // TypeScript SDK 1.x, Python SDK 1.x, TypeScript over HTTP
        (rpc(-32601, None), false, 0, "initialize"),
        (rpc(-32602, None), false, 0, "initialize"),
        (rpc(-32000, None), true, 0, "initialize"),
        (Err(status(400)), true, 0, "initialize"),
        (Err(status(404)), true, 0, "initialize"),
        (Err(status(405)), true, 0, "initialize"),
        (Err(status(503)), true, 0, "give up"),
        // The conformance suite refuses the right version once.
        (rpc(-32022, Some(r#"{"supported":["2026-07-28"]}"#)), true, 0, "ask again"),
        (rpc(-32022, Some(r#"{"supported":["2026-07-28"]}"#)), true, 2, "give up"),
        (rpc(-32022, Some(r#"{"supported":["2025-11-25"]}"#)), true, 0, "initialize afresh"),
        (rpc(-32022, None), true, 0, "give up"),
        (rpc(-32021, None), true, 0, "ask again"),
        (rpc(-32021, None), true, 1, "modern"),
        (rpc(-32020, None), true, 0, "ask again"),
        // Silent, slow, gone
        (Err(timeout()), false, 0, "initialize afresh"),
        (Err(timeout()), true, 0, "initialize"),
        (Err(lost()), false, 0, "initialize afresh"),
        (Err(lost()), true, 0, "give up"),
        (Err(McpError::NotReached("x".into())), true, 0, "give up"),
        (Err(McpError::Unauthorized { status: 401, why: None }), true, 0, "give up"),
    ];
    for (reply, is_http, asked, expected) in rows {
        let next = after_discover(&reply, is_http, asked);
        assert_eq!(word(&next), expected, "{reply:?}");
    }
}

#[test]
fn introductions() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    let known = initialized(&raw(
        r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"n","version":"1"},"instructions":"i"}"#,
    ))
    .unwrap();
    assert_eq!(known.server.protocol_version, "2025-06-18");
    assert_eq!(known.server.name.as_deref(), Some("n"));
    assert!(known.tools && known.tells_changes);

    let known = initialized(&raw(r#"{"protocolVersion":"2024-11-05","capabilities":{}}"#)).unwrap();
    assert!(!known.tools && !known.tells_changes);

    let newer = initialized(&raw(r#"{"protocolVersion":"2031-01-01"}"#)).unwrap_err();
    assert!(newer.to_string().contains("2031-01-01"), "{newer}");
    assert!(initialized(&raw("{}")).is_err());
}
