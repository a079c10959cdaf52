//! What the gate proxy costs: CPU a request, beside the same request straight to the provider, in
//! one run. Provider, proxy and client are in this process, on one thread, so that the difference
//! of the process's CPU time is the proxy's.
//!
//! `cargo bench -p callgate-server --features proxy --bench proxy`
#![allow(clippy::unwrap_used, reason = "a failure ends the run")]

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use callgate_model::Registry;
use callgate_server::{
    http::{HttpOptions, HttpServer},
    proxy::{Proxy, ProxyOptions},
};
use http::{Request, Response, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

const ROUNDS: usize = 12;
const REQUESTS: u32 = 200;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let provider = provider().await;
        let proxy = proxy(&provider).await;
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        println!(
            "{:<34} {:>12} {:>12} {:>12} {:>12}",
            "CPU a request, median of rounds", "direct", "proxy", "added", "added time"
        );
        for (what, tools, streamed) in [
            ("one tool, whole", 1, false),
            ("one tool, streamed", 1, true),
            ("fifty tools, whole", 50, false),
            ("fifty tools, streamed", 50, true),
        ] {
            let direct = body("m", tools, streamed);
            let through = body("openai-chat:m", tools, streamed);
            let (mut alone, mut gated) = (Vec::new(), Vec::new());
            for round in 0..ROUNDS {
                let a = measure(&client, &provider, &direct).await;
                let b = measure(&client, &proxy, &through).await;
                // The first round warms up: connections, and the tools' schemas.
                if round > 0 {
                    alone.push(a);
                    gated.push(b);
                }
            }
            let cpu = |rounds: &[Cost]| median(rounds.iter().map(|cost| cost.cpu));
            let wall = |rounds: &[Cost]| median(rounds.iter().map(|cost| cost.wall));
            let (a, b) = (cpu(&alone), cpu(&gated));
            println!(
                "{what:<34} {:>9.1} µs {:>9.1} µs {:>9.1} µs {:>9.1} µs",
                a,
                b,
                b - a,
                wall(&gated) - wall(&alone)
            );
        }
    });
}

/// Of one request, in microseconds.
struct Cost {
    cpu: f64,
    wall: f64,
}

async fn measure(client: &reqwest::Client, url: &str, body: &str) -> Cost {
    let (cpu, wall) = (cpu_time(), std::time::Instant::now());
    for _ in 0..REQUESTS {
        let request = client.post(format!("{url}/v1/chat/completions"));
        let request = request.header("content-type", "application/json").body(body.to_owned());
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let answer = response.bytes().await.unwrap();
        assert!(memchr::memmem::find(&answer, b"get_weather_0").is_some());
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(REQUESTS);
    Cost { cpu: each(cpu_time().saturating_sub(cpu)), wall: each(wall.elapsed()) }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The CPU time of this process.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// A request with tools, as applications send them.
fn body(model: &str, tools: usize, streamed: bool) -> String {
    let tool = |n: usize| {
        json!({ "type": "function", "function": {
            "name": format!("get_weather_{n}"),
            "description": "The weather of a city in the next days, hour by hour or day by day.",
            "parameters": { "type": "object", "additionalProperties": false, "required": ["city"], "properties": {
                "city": { "type": "string", "description": "Its name and country.", "minLength": 1 },
                "days": { "type": "integer", "minimum": 1, "maximum": 14 },
                "unit": { "enum": ["celsius", "fahrenheit"] },
                "places": { "type": "array", "items": { "type": "object", "properties": {
                    "lat": { "type": "number" }, "lon": { "type": "number" } }, "required": ["lat", "lon"] } } } } } })
    };
    json!({ "model": model, "stream": streamed, "tools": (0..tools).map(tool).collect::<Vec<_>>(),
        "messages": [
            { "role": "system", "content": "You are a helpful assistant that answers in a sentence." },
            { "role": "user", "content": "How will the weather be in Oslo in the next three days?" } ] })
    .to_string()
}

async fn proxy(provider: &str) -> String {
    let base = format!("{provider}/v1");
    let registry = Registry::new(move |name| match name {
        "OPENAI_BASE_URL" => Some(base.clone()),
        "OPENAI_API_KEY" => Some("none".to_owned()),
        _ => None,
    });
    let proxy = Proxy::new(registry, ProxyOptions::default());
    let http = HttpServer::bind(HttpOptions::default()).await.unwrap();
    let url = format!("http://{}", http.address());
    let router = proxy.router(http.options());
    tokio::spawn(http.run(router, std::future::pending(), std::future::ready(())));
    url
}

/// A provider that always says the same, whole or streamed.
async fn provider() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (whole, stream) = (Bytes::from(whole()), Bytes::from(stream()));
    tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            connection.set_nodelay(true).unwrap();
            let (whole, stream) = (whole.clone(), stream.clone());
            let service = service_fn(move |request: Request<Incoming>| {
                let (whole, stream) = (whole.clone(), stream.clone());
                async move {
                    let body = request.into_body().collect().await.unwrap().to_bytes();
                    let streamed = memchr::memmem::find(&body, b"\"stream\":true").is_some();
                    let (kind, body) = match streamed {
                        true => ("text/event-stream", stream),
                        false => ("application/json", whole),
                    };
                    let response = Response::builder().header(header::CONTENT_TYPE, kind);
                    Ok::<_, Infallible>(response.body(Full::new(body)).unwrap())
                }
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(connection), service),
            );
        }
    });
    url
}

const ARGUMENTS: &str =
    r#"{"city":"Oslo, Norway","days":3,"unit":"celsius","places":[{"lat":59.91,"lon":10.75}]}"#;

fn whole() -> String {
    let function = json!({ "name": "get_weather_0", "arguments": ARGUMENTS });
    json!({ "id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{ "index": 0, "finish_reason": "tool_calls",
        "message": { "role": "assistant", "content": "Let me look that up.", "tool_calls": [{ "id": "call_1", "type": "function", "function": function }] } }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 30, "total_tokens": 130 } })
    .to_string()
}

fn stream() -> String {
    let chunk = |delta: Value, end: Value| {
        let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] });
        format!("data: {chunk}\n\n")
    };
    let mut text = chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
    for word in "Let me look that up for you, it will not take long.".split_inclusive(' ') {
        text += &chunk(json!({ "content": word }), Value::Null);
    }
    let begun = json!([{ "index": 0, "id": "call_1", "type": "function", "function": { "name": "get_weather_0", "arguments": "" } }]);
    text += &chunk(json!({ "tool_calls": begun }), Value::Null);
    for piece in ARGUMENTS.as_bytes().chunks(6) {
        let piece = std::str::from_utf8(piece).unwrap();
        let more = json!([{ "index": 0, "function": { "arguments": piece } }]);
        text += &chunk(json!({ "tool_calls": more }), Value::Null);
    }
    text += &chunk(json!({}), "tool_calls".into());
    text + "data: [DONE]\n\n"
}
