//! The model and the tools, in the process of the test.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{any, post},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    ANSWER, WRITE,
    log::{Effect, Log},
    point::{Point, Stage},
};

/// The longest that a request is held: a test that forgot it fails on its own limit.
const LONGEST: Duration = Duration::from_secs(120);

/// A loopback server that is the scenario's model and all of its tools.
pub struct Server {
    addr: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    log: Log,
    /// What each run is to be stopped at.
    traps: Mutex<HashMap<String, Trap>>,
    /// How long a tool takes before its effect.
    slow: Duration,
}

struct Trap {
    point: Point,
    sprung: oneshot::Sender<Held>,
}

/// A request that is held at its point until this is dropped.
#[derive(Debug)]
pub struct Held {
    _open: oneshot::Sender<()>,
}

impl Server {
    /// Starts on a free port of the loopback. Each tool and model takes `slow` for its work.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start(slow: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared { log: Log::default(), traps: Mutex::default(), slow });
        let router = Router::new()
            .route("/v1/chat/completions", post(model))
            .route("/tools/{tool}", any(tool))
            .with_state(shared.clone());
        let task = tokio::spawn(async move {
            // Ends with the test.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { addr, shared, task })
    }

    /// `http://HOST:PORT`, for `TOOLS_URL`; with `/v1`, the model's base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The books.
    pub fn log(&self) -> &Log {
        &self.shared.log
    }

    /// What comes once a run is at a point: at once held there, where the point is a request that
    /// has no answer yet.
    pub fn hold(&self, run: &str, point: Point) -> oneshot::Receiver<Held> {
        let (sprung, at_point) = oneshot::channel();
        self.shared.traps().insert(run.to_owned(), Trap { point, sprung });
        at_point
    }

    /// What a person finds who looks up whether a run's write had its effect.
    pub fn truth_of_the_write(&self, run: &str) -> bool {
        self.shared.log.of_run(run).iter().any(|(effect, count)| {
            matches!(effect, Effect::Tool { tool, .. } if tool == WRITE) && count.done > 0
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn traps(&self) -> MutexGuard<'_, HashMap<String, Trap>> {
        self.traps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the trap of a run if this is its point, and holds until it is let go.
    async fn pass(&self, run: &str, point: Point) {
        let trap = {
            let mut traps = self.traps();
            match traps.get(run) {
                Some(trap) if trap.point == point => traps.remove(run),
                _ => None,
            }
        };
        let Some(trap) = trap else { return };
        let (open, opened) = oneshot::channel();
        if trap.sprung.send(Held { _open: open }).is_ok() && !is_after(point) {
            // Dropping the other end lets it go.
            let _ = tokio::time::timeout(LONGEST, opened).await;
        }
    }

    /// Makes an effect, with its points before and after. Once an answer is being written nothing
    /// can be held: that point is met as soon as it is.
    async fn make(self: &Arc<Self>, effect: Effect, at: impl Fn(Stage) -> Option<Point>) {
        let run = effect.run().to_owned();
        self.log.asked(&effect);
        if let Some(point) = at(Stage::Come) {
            self.pass(&run, point).await;
        }
        tokio::time::sleep(self.slow).await;
        self.log.done(&effect);
        if let Some(point) = at(Stage::Done) {
            self.pass(&run, point).await;
        }
        if let Some(point) = at(Stage::Answered) {
            let shared = self.clone();
            tokio::spawn(async move {
                // The answer goes out in the meantime.
                tokio::task::yield_now().await;
                shared.pass(&run, point).await;
            });
        }
    }
}

fn is_after(point: Point) -> bool {
    matches!(point, Point::Model(_, Stage::Answered) | Point::Tool(_, _, Stage::Answered))
}

async fn model(State(shared): State<Arc<Shared>>, Json(request): Json<Value>) -> Response {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let says = |role: &str| messages.iter().filter(|m| m["role"] == role).count();
    let goal = messages.iter().find(|m| m["role"] == "user").map(|m| &m["content"]);
    let Some(run) = goal.and_then(run_of) else {
        return (StatusCode::BAD_REQUEST, "the goal names no run").into_response();
    };
    // How far the conversation is, is all that decides: asked again, it says the same again.
    let hop = u32::try_from(says("assistant")).unwrap_or(u32::MAX) + 1;
    shared
        .make(Effect::Model { run: run.clone(), hop }, |stage| Some(Point::Model(hop, stage)))
        .await;
    let message = match hop {
        1 => calls(
            hop,
            &[
                ("read_stock", json!({ "item": "nuts" })),
                ("read_stock", json!({ "item": "bolts" })),
                ("add_note", json!({ "text": "Stock is low." })),
            ],
        ),
        2 => calls(
            hop,
            &[
                ("place_order", json!({ "item": "nuts", "count": 40 })),
                ("send_refund", json!({ "customer": "C-1", "cents": 250 })),
                ("send_coupon", json!({ "customer": "C-2" })),
            ],
        ),
        _ => json!({ "role": "assistant", "content": ANSWER }),
    };
    let reason = if hop < 3 { "tool_calls" } else { "stop" };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    if request["stream"] == true {
        let chunk = |choice: Value, usage: &Value| {
            let body = json!({
                "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
                "choices": [choice], "usage": usage,
            });
            format!("data: {body}\n\n")
        };
        let none = Value::Null;
        let text = [
            chunk(json!({ "index": 0, "delta": indexed(message), "finish_reason": null }), &none),
            chunk(json!({ "index": 0, "delta": {}, "finish_reason": reason }), &usage),
            "data: [DONE]\n\n".to_owned(),
        ];
        return ([(header::CONTENT_TYPE, "text/event-stream")], text.concat()).into_response();
    }
    Json(json!({
        "id": "c", "object": "chat.completion", "created": 0, "model": "scripted",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": usage,
    }))
    .into_response()
}

/// A stream tells calls by their index.
fn indexed(mut message: Value) -> Value {
    for (index, call) in message["tool_calls"].as_array_mut().into_iter().flatten().enumerate() {
        call["index"] = index.into();
    }
    message
}

/// The run that a goal is for: its last word.
fn run_of(goal: &Value) -> Option<String> {
    let text = match goal {
        Value::String(text) => text.as_str(),
        Value::Array(parts) => parts.first()?["text"].as_str()?,
        _ => return None,
    };
    text.split_whitespace().last().map(str::to_owned)
}

fn calls(hop: u32, calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(n, (name, arguments))| {
            json!({
                "id": format!("call_{hop}_{n}"), "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() },
            })
        })
        .collect();
    json!({ "role": "assistant", "content": null, "tool_calls": calls })
}

async fn tool(
    State(shared): State<Arc<Shared>>,
    Path(tool): Path<String>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok());
    let Some(key) = key.map(|key| key.trim_matches('"').to_owned()) else {
        return (StatusCode::BAD_REQUEST, "no Idempotency-Key").into_response();
    };
    let Ok(Value::Object(arguments)) = serde_json::from_str(&body) else {
        return (StatusCode::BAD_REQUEST, "no arguments").into_response();
    };
    let item = arguments.get("item").and_then(Value::as_str);
    let which = item.filter(|_| tool == "read_stock").unwrap_or_default();
    let at = |stage| {
        crate::point::POINTS.into_iter().find(|point| {
            matches!(point, Point::Tool(t, w, s) if *t == tool && *w == which && *s == stage)
        })
    };
    shared.make(Effect::Tool { key: key.clone(), tool: tool.clone() }, at).await;
    Json(json!({ "ok": true, "key": key })).into_response()
}
