//! Spans with the conventions' names, attributes and parents.

use std::{sync::Arc, time::Duration};

use callgate_engine::{ApproveAll, Elsewhere, Inbox, JournalError, Notice, Outcome, trace};
use callgate_machine::{Event, event::Decision};
use callgate_server::{
    http::TraceContext,
    telemetry::{History, Telemetry, TelemetryOptions},
};
use opentelemetry_proto::tonic::trace::v1::{span::SpanKind, status::StatusCode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    collector::{Collector, attributes},
    world::{World, calls, clerk, contracts, run},
};

pub(crate) fn sending(endpoint: &str) -> Telemetry {
    let endpoint = Some(endpoint.to_owned());
    Telemetry::new(TelemetryOptions { endpoint, ..TelemetryOptions::default() }).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_models_and_tools_have_their_spans() {
    let (collector, endpoint) = Collector::open().await;
    let telemetry = sending(&endpoint);
    let world = World::new();
    let replies = json!([
        calls("c1", "set_status", &json!({ "status": "payed" })),
        calls("c2", "set_status", &json!({ "status": "sent" })),
        calls("c3", "drop", &json!({})),
        { "text": "done", "usage": { "inputTokens": 7, "outputTokens": 1, "reasoningTokens": 1 } },
    ]);
    let engine = world.engine("support", &replies, &contracts()).approver(Arc::new(ApproveAll));
    let under = TraceContext::read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let (id, _) = trace::within(under.unwrap(), run(engine, telemetry.observer())).await;
    telemetry.close().await;

    let agent = collector.span("invoke_agent support");
    assert_eq!(agent.kind, SpanKind::Internal as i32);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(&agent.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&agent.parent_span_id), "b7ad6b7169203331");
    let told = attributes(&agent.attributes);
    let rows = [
        ("gen_ai.operation.name", json!("invoke_agent")),
        ("gen_ai.provider.name", json!("script")),
        ("gen_ai.agent.name", json!("support")),
        ("gen_ai.conversation.id", json!(&*id)),
        ("gen_ai.request.model", json!("script")),
        ("gen_ai.output.type", json!("text")),
        ("gen_ai.usage.input_tokens", json!(37)),
        ("gen_ai.usage.output_tokens", json!(16)),
        ("gen_ai.usage.cache_read.input_tokens", json!(12)),
        ("gen_ai.usage.reasoning.output_tokens", json!(1)),
        ("callgate.run.status", json!("answered")),
        ("callgate.run.calls", json!(2)),
    ];
    for (name, expected) in rows {
        assert_eq!(told.get(name), Some(&expected), "{name}: {told:?}");
    }
    assert!(!told.contains_key("error.type"), "{told:?}");
    let events: Vec<&str> = agent.events.iter().map(|event| event.name.as_str()).collect();
    let expected =
        ["callgate.call.refused", "callgate.approval.requested", "callgate.approval.decided"];
    assert_eq!(events, expected);
    let refused = attributes(&agent.events[0].attributes);
    assert_eq!(refused["error.type"], "schema_mismatch");
    assert_eq!(refused["gen_ai.tool.call.id"], "c1");

    let chats: Vec<_> = collector.taken(|taken| {
        taken.spans.iter().filter(|span| span.name == "chat script").cloned().collect()
    });
    assert_eq!(chats.len(), 4);
    for chat in &chats {
        assert_eq!(chat.kind, SpanKind::Client as i32);
        assert_eq!((&chat.trace_id, &chat.parent_span_id), (&agent.trace_id, &agent.span_id));
        assert!(chat.start_time_unix_nano >= agent.start_time_unix_nano);
        assert!(chat.end_time_unix_nano <= agent.end_time_unix_nano);
    }
    let told = attributes(&chats[0].attributes);
    let rows = [
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.provider.name", json!("script")),
        ("gen_ai.request.model", json!("script")),
        ("gen_ai.conversation.id", json!(&*id)),
        ("gen_ai.response.finish_reasons", json!(["tool_call"])),
        ("gen_ai.usage.input_tokens", json!(10)),
        ("gen_ai.usage.output_tokens", json!(5)),
    ];
    for (name, expected) in rows {
        assert_eq!(told.get(name), Some(&expected), "{name}: {told:?}");
    }
    let last = attributes(&chats[3].attributes);
    assert_eq!(last["gen_ai.response.finish_reasons"], json!(["stop"]));

    // What was refused did not run, so it has no span.
    let tool = collector.span("execute_tool set_status");
    assert_eq!(tool.kind, SpanKind::Internal as i32);
    assert_eq!(tool.parent_span_id, agent.span_id);
    let told = attributes(&tool.attributes);
    let rows = [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "set_status"),
        ("gen_ai.tool.call.id", "c2"),
        ("gen_ai.tool.type", "function"),
    ];
    for (name, expected) in rows {
        assert_eq!(told.get(name), Some(&json!(expected)), "{name}: {told:?}");
    }
    collector.span("execute_tool drop");
    collector.taken(|taken| {
        assert_eq!(taken.resource["service.name"], "callgate");
        assert!(taken.resource.contains_key("service.version"));
        let mut ids: Vec<_> = taken.spans.iter().map(|span| span.span_id.clone()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), taken.spans.len(), "ids are given once");
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delegates_agent_is_under_the_call_that_began_it() {
    let (collector, endpoint) = Collector::open().await;
    let telemetry = sending(&endpoint);
    let world = World::new();
    let replies = json!([calls("x", "set_status", &json!({ "status": "sent" })), { "text": "ok" }]);
    let child = world.engine("clerk", &replies, &contracts());
    let replies = json!([calls("d", "clerk", &json!({ "task": "see to it" })), { "text": "done" }]);
    let parent = world.engine("planner", &replies, &[clerk()]).delegate("clerk", Arc::new(child));
    run(parent, telemetry.observer()).await;
    telemetry.close().await;
    let (planner, call, agent, tool) = (
        collector.span("invoke_agent planner"),
        collector.span("execute_tool clerk"),
        collector.span("invoke_agent clerk"),
        collector.span("execute_tool set_status"),
    );
    assert!(planner.parent_span_id.is_empty());
    assert_eq!(call.parent_span_id, planner.span_id);
    assert_eq!(agent.parent_span_id, call.span_id);
    assert_eq!(tool.parent_span_id, agent.span_id);
    collector.taken(|taken| {
        assert!(taken.spans.iter().all(|span| span.trace_id == planner.trace_id));
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_wrong_is_an_error_of_its_span() {
    let (collector, endpoint) = Collector::open().await;
    let telemetry = sending(&endpoint);
    let world = World::new();
    let failing = json!({ "name": "fail", "description": "Fails.", "input": { "type": "object" },
        "backend": { "command": ["sh", "-c", "exit 3"] } });
    let replies = json!([
        calls("f", "fail", &json!({})),
        { "error": { "kind": "quota", "retry": "never" } },
    ]);
    let (_, finish) =
        run(world.engine("unlucky", &replies, &[failing]), telemetry.observer()).await;
    telemetry.close().await;
    assert!(finish.provider.is_some());
    let rows = [("execute_tool fail", "tool_error"), ("invoke_agent unlucky", "provider_error")];
    for (name, expected) in rows {
        let span = collector.span(name);
        assert_eq!(attributes(&span.attributes)["error.type"], expected, "{name}");
        assert_eq!(span.status.unwrap().code, StatusCode::Error as i32, "{name}");
    }
    let errors: Vec<Value> = collector.taken(|taken| {
        let chats = taken.spans.iter().filter(|span| span.name == "chat script");
        chats.filter_map(|chat| attributes(&chat.attributes).get("error.type").cloned()).collect()
    });
    assert_eq!(errors, ["quota"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_another_process_takes_up_goes_on_in_its_trace() {
    let world = World::new();
    let replies = || {
        json!([
            calls("s", "set_status", &json!({ "status": "sent" })),
            calls("d", "drop", &json!({})),
            { "text": "done" },
        ])
    };
    let engine = || {
        let engine = world.engine("support", &replies(), &contracts());
        Arc::new(engine.approver(Arc::new(Elsewhere)))
    };
    let (first, endpoint) = Collector::open().await;
    let before = sending(&endpoint);
    let one = engine();
    let mut session = one.session(Some(before.observer()), CancellationToken::new());
    let id = session.run().id().clone();
    let start = one.start("go", Value::Null);
    assert!(matches!(session.start(start).await.unwrap(), Outcome::Parked(_)));
    drop(session);
    assert!(before.metrics().contains("callgate_runs_open 1"), "{}", before.metrics());
    before.close().await;

    let records = world.journal.load(&id).unwrap();
    let binding = records.iter().find_map(|record| match &record.event {
        Event::ApprovalRequested { binding, .. } => Some(binding.clone()),
        _ => None,
    });
    let yes = Inbox::Decision {
        call: "d".into(),
        binding: binding.unwrap(),
        decision: Decision::Approve,
        by: None,
    };
    world.journal.send(&id, yes).await.unwrap();

    let (second, endpoint) = Collector::open().await;
    let journal = world.journal.clone();
    let after = Telemetry::new(TelemetryOptions {
        endpoint: Some(endpoint),
        history: Some(Arc::new(move |run| journal.load(run))),
        ..TelemetryOptions::default()
    })
    .unwrap();
    let mut session =
        engine().open(&id, Some(after.observer()), CancellationToken::new()).await.unwrap();
    session.resume(None).await.unwrap().finished().unwrap();
    let metrics = after.metrics();
    assert!(metrics.contains("callgate_runs_open 0"), "{metrics}");
    after.close().await;

    let tool = first.span("execute_tool set_status");
    let agent = second.span("invoke_agent support");
    assert_eq!(tool.trace_id, agent.trace_id);
    assert_eq!(tool.parent_span_id, agent.span_id);
    assert_eq!(agent.start_time_unix_nano / 1_000_000, records[0].at);
    assert_eq!(attributes(&agent.attributes)["gen_ai.usage.input_tokens"], 20);
    let second_has =
        second.taken(|taken| taken.spans.iter().map(|span| span.name.clone()).collect::<Vec<_>>());
    // What the first process told is not told again.
    assert_eq!(second_has, ["execute_tool drop", "chat script", "invoke_agent support"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_record_the_trace_gets_no_spans() {
    let (collector, endpoint) = Collector::open().await;
    let telemetry = sending(&endpoint);
    let world = World::new();
    let under = TraceContext::read("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
    let replies = json!([{ "text": "done" }]);
    let engine = world.engine("a", &replies, &contracts());
    trace::within(under.unwrap(), run(engine, telemetry.observer())).await;
    telemetry.close().await;
    collector.taken(|taken| assert!(taken.spans.is_empty()));
    assert!(telemetry.metrics().contains("callgate_runs_total{agent=\"a\",status=\"answered\""));
}

/// A collector that takes connections and never answers costs runs nothing but its memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_silent_holds_nobody_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let telemetry = sending(&format!("http://{}", silent.local_addr().unwrap()));
    let world = World::new();
    let replies =
        json!([calls("s", "set_status", &json!({ "status": "sent" })), { "text": "done" }]);
    let (id, _) = run(world.engine("a", &replies, &contracts()), Arc::new(|_: &Notice| {})).await;
    let records = world.journal.load(&id).unwrap();
    // Far more spans than the queue takes (2,048), each record by record.
    let telling = tokio::task::spawn_blocking(move || {
        for n in 0..2_000 {
            for record in &records {
                let mut record = record.clone();
                record.run = format!("run{n}").into();
                telemetry.record(&record);
            }
        }
        telemetry.metrics()
    });
    let told = tokio::time::timeout(Duration::from_secs(100), telling).await.unwrap().unwrap();
    assert!(told.contains("status=\"answered\",stopped_by=\"\"} 2000"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_past_cannot_be_read_says_so() {
    let world = World::new();
    let replies =
        json!([calls("s", "set_status", &json!({ "status": "sent" })), { "text": "done" }]);
    let (id, _) = run(world.engine("a", &replies, &contracts()), Arc::new(|_: &Notice| {})).await;
    let records = world.journal.load(&id).unwrap();
    let begun = records.iter().position(|r| matches!(r.event, Event::CallStarted { .. })).unwrap();
    let harmed = || Err(JournalError::UnknownRun { run: "a journal that is harmed".into() });
    let rows: [(&str, Option<History>); 3] = [
        ("an error", Some(Arc::new(move |_: &str| harmed()))),
        ("nothing", Some(Arc::new(|_: &str| Ok(Vec::new())))),
        ("nobody to ask", None),
    ];
    for (name, history) in rows {
        let (collector, endpoint) = Collector::open().await;
        let telemetry = sending(&endpoint);
        if let Some(history) = history {
            telemetry.remember(history);
        }
        records[begun..].iter().for_each(|record| telemetry.record(record));
        telemetry.close().await;
        let agent = collector.span("invoke_agent unknown");
        let told = attributes(&agent.attributes);
        assert_eq!(told.get("callgate.run.past_missing"), Some(&json!(true)), "{name}: {told:?}");
        let event = agent.events.iter().find(|event| event.name == "callgate.run.past_missing");
        let first = attributes(&event.unwrap().attributes)["callgate.run.first_seq"].clone();
        assert_eq!(first, json!(begun), "{name}");
        // What can be told is told.
        assert_eq!(collector.span("execute_tool unknown").parent_span_id, agent.span_id, "{name}");
    }
}
