//! The trace that a call is in.

use callgate_wire::TraceContext;

use super::*;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

async fn call_in(tool: &Http, trace: Option<&TraceContext>) -> Invoked {
    let call = Call {
        run: "run_1",
        call: "call_1",
        arguments: "{}",
        idempotency_key: "key_1",
        attempt: 1,
        timeout: LONG,
        cancel: &CancellationToken::new(),
        trace,
    };
    tool.run(call).await
}

#[tokio::test]
async fn a_call_in_a_trace_says_so() {
    let server = Server::answering(json_response("1")).await;
    let context = TraceContext::read(PARENT).unwrap();
    let with_state = context.clone().with_state("vendor=1");
    let own = json!({ "traceparent": "mine", "tracestate": "mine=1" });
    // the contract's headers, the trace, traceparent, tracestate
    let rows = [
        (json!({}), None, None, None),
        (json!({}), Some(&context), Some(PARENT), None),
        (json!({}), Some(&with_state), Some(PARENT), Some("vendor=1")),
        (own.clone(), None, Some("mine"), Some("mine=1")),
        (own, Some(&with_state), Some("mine"), Some("mine=1")),
        (json!({ "tracestate": "mine=1" }), Some(&context), Some(PARENT), None),
    ];
    for (headers, trace, parent, state) in rows {
        let tool = tool(json!({ "url": server.url("/"), "headers": headers }));
        let invoked = call_in(&tool, trace).await;
        assert!(invoked.result.is_ok(), "{:?}", invoked.result);
        let request = server.last();
        let sent = |name: &str| {
            let mut lines = request.lines().filter_map(|line| line.split_once(": "));
            lines.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        assert_eq!((sent("traceparent"), sent("tracestate")), (parent, state), "{headers}");
    }
}
