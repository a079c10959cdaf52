//! What tools and models are told of the trace, and that it is what the collector has.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Json, Router, extract::State, http::HeaderMap, routing::post};
use callgate_engine::{Engine, Notice, Toolset, trace};
use callgate_machine::Event;
use callgate_server::{
    http::{HttpOptions, HttpServer, TraceContext},
    mcp::{McpOptions, McpServer},
};
use callgate_tool::mcp::{Client, ClientOptions, Lifecycle, McpTool, ServerConfig, Transport};
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    collector::{Collector, attributes},
    spans::sending,
    world::{GOAL, World, calls, run},
};

const CLIENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const UNRECORDED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

/// A service and an MCP server that keep what they are told.
#[derive(Clone, Default)]
struct Service(Arc<Mutex<Vec<Option<TraceContext>>>>);

impl Service {
    async fn open() -> (Self, String) {
        let service = Self::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/tool", post(tool))
            .route("/mcp", post(mcp))
            .with_state(service.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (service, url)
    }

    fn told(&self) -> Vec<Option<TraceContext>> {
        self.0.lock().unwrap().clone()
    }
}

fn read(headers: &HeaderMap) -> Option<TraceContext> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap());
    let context = TraceContext::read(text("traceparent")?)?;
    Some(text("tracestate").map_or(context.clone(), |state| context.with_state(state)))
}

/// Gives no answer to who is the first to ask for a slow one.
async fn tool(
    State(service): State<Service>,
    headers: HeaderMap,
    Json(arguments): Json<Value>,
) -> Json<Value> {
    let count = {
        let mut told = service.0.lock().unwrap();
        told.push(read(&headers));
        told.len()
    };
    if count == 1 && arguments["slow"] == true {
        std::future::pending::<()>().await;
    }
    Json(json!({ "done": true }))
}

async fn mcp(
    State(service): State<Service>,
    headers: HeaderMap,
    Json(message): Json<Value>,
) -> Json<Value> {
    let result = match message["method"].as_str().unwrap() {
        "server/discover" => json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {} } }),
        "tools/list" => json!({ "resultType": "complete", "ttlMs": 60_000,
            "tools": [{ "name": "look", "inputSchema": { "type": "object" } }] }),
        _ => {
            let meta = &message["params"]["_meta"];
            let context = meta["traceparent"].as_str().and_then(TraceContext::read);
            let context = context.map(|context| match meta["tracestate"].as_str() {
                Some(state) => context.with_state(state),
                None => context,
            });
            assert_eq!(context, read(&headers), "_meta and headers say the same");
            service.0.lock().unwrap().push(context);
            json!({ "resultType": "complete", "content": [{ "type": "text", "text": "seen" }] })
        }
    };
    Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

fn http_tool(url: &str) -> Value {
    json!({ "name": "fetch", "description": "Fetches.", "input": { "type": "object" },
        "annotations": { "idempotent": true },
        "backend": { "http": { "method": "POST", "url": format!("{url}/tool"), "body": "arguments" } } })
}

/// The tool without a model, traced.
fn toolset(world: &World, url: &str) -> Toolset {
    let engine = world.engine("tools", &json!([]), &[http_tool(url)]);
    let tool = engine.catalog().get("fetch").unwrap().clone();
    let made = callgate_tool::Backends::builtin()
        .build_for(&tool, std::path::Path::new("."), Arc::new(|_| None))
        .unwrap();
    let backends: Vec<(Arc<str>, Arc<dyn callgate_tool::Backend>)> = vec![("fetch".into(), made)];
    Toolset::new(engine.catalog().clone(), backends).traced(true)
}

fn mcp_client(url: String) -> Arc<Client> {
    let config = ServerConfig {
        name: "looks".into(),
        transport: Transport::Http { url, headers: Default::default() },
        timeouts: Default::default(),
        lifecycle: Lifecycle::default(),
    };
    Client::new(config, Arc::new(|_| None), ClientOptions::default())
}

/// Whether a collector's span is the one that somebody was told of.
fn is_told(span: &Span, told: &TraceContext) -> bool {
    (span.trace_id.as_slice(), span.span_id.as_slice()) == (&told.trace[..], &told.span[..])
}

async fn in_trace(engine: Engine, observer: callgate_engine::Observer, parent: &str) -> Arc<str> {
    let context = TraceContext::read(parent).unwrap().with_state("vendor=1");
    trace::within(context, run(engine, observer)).await.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_are_told_the_span_that_the_collector_gets() {
    let (collector, endpoint) = Collector::open().await;
    let telemetry = sending(&endpoint);
    let (service, url) = Service::open().await;
    let world = World::new();
    let replies = json!([
        calls("c1", "fetch", &json!({})),
        calls("c2", "look", &json!({})),
        calls("c3", "shell", &json!({})),
        { "text": "done" },
    ]);
    let client = mcp_client(format!("{url}/mcp"));
    let contracts = [
        http_tool(&url),
        json!({ "name": "look", "description": "Looks.", "input": { "type": "object" } }),
        json!({ "name": "shell", "description": "Says.", "input": { "type": "object" },
            "backend": { "command": ["sh", "-c", "printf %s \"$TRACEPARENT\""] } }),
    ];
    let engine = world
        .engine("support", &replies, &contracts)
        .backend("look", Arc::new(McpTool::new(client.clone(), "look", true, None)))
        .traced(true);
    let id = in_trace(engine, telemetry.observer(), CLIENT).await;
    client.close().await;
    telemetry.close().await;

    let told: Vec<TraceContext> = service.told().into_iter().map(Option::unwrap).collect();
    let [fetch, look] = told.as_slice() else { panic!("{told:?}") };
    let under = TraceContext::read(CLIENT).unwrap();
    for context in &told {
        assert_eq!((context.trace, context.sampled), (under.trace, true));
    }
    assert_eq!(fetch.tracestate(), Some("vendor=1"));
    for (name, told) in [("execute_tool fetch", fetch), ("execute_tool look", look)] {
        assert!(is_told(&collector.span(name), told), "{name}: {told}");
    }
    // What a program was told is its result here.
    let records = world.journal.load(&id).unwrap();
    let said = records.iter().find_map(|record| match &record.event {
        Event::CallFinished(finished) if &*finished.call == "c3" => finished.output.clone(),
        _ => None,
    });
    let said = serde_json::to_string(&said.unwrap()).unwrap();
    let shell = collector.span("execute_tool shell");
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let expected = format!("00-{}-{}-01", hex(&shell.trace_id), hex(&shell.span_id));
    assert!(said.contains(&expected), "{expected}: {said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_told_of_a_span_that_is_not_sent() {
    let (service, url) = Service::open().await;
    let world = World::new();
    let replies = json!([calls("c1", "fetch", &json!({})), { "text": "done" }]);
    let engine = || world.engine("support", &replies, &[http_tool(&url)]);
    let nobody: callgate_engine::Observer = Arc::new(|_: &Notice| {});
    let under = |parent| Some(TraceContext::read(parent).unwrap().with_state("vendor=1"));
    // No telemetry and no trace: nothing.
    run(engine(), nobody.clone()).await;
    assert_eq!(service.told(), [None]);
    // A trace that came in and telemetry that is off: it is handed on as it came.
    in_trace(engine(), nobody.clone(), CLIENT).await;
    assert_eq!(service.told()[1..], [under(CLIENT)]);
    // One that its caller does not record is not recorded here.
    in_trace(engine().traced(true), nobody.clone(), UNRECORDED).await;
    assert_eq!(service.told()[2..], [under(UNRECORDED)]);
    // And a trace of its own, where there is a collector.
    let (id, _) = run(engine().traced(true), nobody).await;
    let own = TraceContext::new(trace::of_run(&id), trace::of_call(&id, "c1", 1), true);
    assert_eq!(service.told()[3..], [Some(own)]);
}

/// Also where the run began in a trace of somebody else's, which the journal knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_begun_again_elsewhere_is_in_the_same_trace() {
    let (service, url) = Service::open().await;
    let world = World::new();
    let replies = json!([calls("c1", "fetch", &json!({ "slow": true })), { "text": "done" }]);
    let engine = || Arc::new(world.engine("support", &replies, &[http_tool(&url)]).traced(true));
    let one = engine();
    let mut session = one.session(None, CancellationToken::new());
    let id = session.run().id().clone();
    let start = one.start(GOAL, Value::Null);
    // The process dies while the tool is at work.
    tokio::select! {
        _ = trace::within(TraceContext::read(CLIENT).unwrap(), session.start(start)) => {
            panic!("the tool gives no answer");
        }
        () = async {
            while service.told().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        } => {}
    }
    drop(session);

    let (collector, endpoint) = Collector::open().await;
    let telemetry = sending(&endpoint);
    let journal = world.journal.clone();
    telemetry.remember(Arc::new(move |run| journal.load(run)));
    let opened = engine().open(&id, Some(telemetry.observer()), CancellationToken::new()).await;
    opened.unwrap().resume(None).await.unwrap().finished().unwrap();
    telemetry.close().await;
    let agent = collector.span("invoke_agent support");
    let under = TraceContext::read(CLIENT).unwrap();
    assert_eq!((&*agent.trace_id, &*agent.parent_span_id), (&under.trace[..], &under.span[..]));
    let told: Vec<TraceContext> = service.told().into_iter().map(Option::unwrap).collect();
    let expected = [1, 2].map(|attempt| under.at(trace::of_call(&id, "c1", attempt)));
    assert_eq!(told, expected);
    let again = collector.span("execute_tool fetch");
    assert!(is_told(&again, &told[1]));
    assert_eq!(attributes(&again.attributes)["callgate.attempt"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn single_calls_and_delegates_tell_their_tools_as_well() {
    let (collector, endpoint) = Collector::open().await;
    let telemetry = sending(&endpoint);
    let (service, url) = Service::open().await;
    let world = World::new();
    let replies = json!([calls("x", "fetch", &json!({})), { "text": "ok" }]);
    let child = world.engine("clerk", &replies, &[http_tool(&url)]);
    let replies = json!([calls("d", "clerk", &json!({ "task": "see to it" })), { "text": "done" }]);
    let parent = world.engine("planner", &replies, &[crate::world::clerk()]);
    // The child is traced because its parent is.
    let parent = parent.delegate("clerk", Arc::new(child)).traced(true);
    run(parent, telemetry.observer()).await;

    let tools = toolset(&world, &url);
    let call = tools.call("fetch", "{}").observer(telemetry.observer()).make();
    let called = trace::within(TraceContext::read(CLIENT).unwrap(), call).await.unwrap();
    assert!(called.envelope.ok, "{}", called.text);
    telemetry.close().await;

    let told: Vec<TraceContext> = service.told().into_iter().map(Option::unwrap).collect();
    let [first, single] = told.as_slice() else { panic!("{told:?}") };
    let planner = collector.span("invoke_agent planner");
    assert_eq!(first.trace, *planner.trace_id);
    collector.taken(|taken| {
        for context in [first, single] {
            let found = taken.spans.iter().filter(|span| is_told(span, context));
            let names: Vec<&str> = found.map(|span| span.name.as_str()).collect();
            assert_eq!(names, ["execute_tool fetch"], "{context}");
        }
        let single = taken.spans.iter().find(|span| is_told(span, single)).unwrap();
        let under = TraceContext::read(CLIENT).unwrap();
        assert_eq!(
            (&*single.trace_id, &*single.parent_span_id),
            (&under.trace[..], &under.span[..])
        );
    });
}

/// Two servers of ours, one calling the other's tool over MCP.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_over_mcp_goes_on_in_its_callers_trace() {
    let (collector, endpoint) = Collector::open().await;
    let telemetry = sending(&endpoint);
    let (service, url) = Service::open().await;
    let world = World::new();
    let mcp = McpServer::new(toolset(&world, &url), McpOptions::default()).unwrap();
    let http = HttpServer::bind(HttpOptions::default()).await.unwrap();
    let client = mcp_client(format!("{}/mcp", http.url()));
    let router = mcp.router(http.options());
    let stop = CancellationToken::new();
    let served = tokio::spawn(http.run(router, stop.clone().cancelled_owned(), async {}));

    let replies = json!([calls("c1", "fetch", &json!({})), { "text": "done" }]);
    let engine = world
        .engine("support", &replies, &[http_tool(&url)])
        .backend("fetch", Arc::new(McpTool::new(client.clone(), "fetch", true, None)))
        .traced(true);
    in_trace(engine, telemetry.observer(), CLIENT).await;
    client.close().await;
    telemetry.close().await;
    stop.cancel();
    served.await.unwrap().unwrap();

    // The first server's span of the call is sent; the tool behind the second is told one below it.
    let call = collector.span("execute_tool fetch");
    let told: Vec<TraceContext> = service.told().into_iter().map(Option::unwrap).collect();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((&told.trace[..], told.sampled), (&*call.trace_id, true));
    assert_ne!(told.span[..], *call.span_id, "the second server has a span of its own");
    assert_eq!(told.tracestate(), Some("vendor=1"));
}
