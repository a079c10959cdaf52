//! Whole runs with tools that are played: several steps, several calls, refusals, answers.

use std::{sync::Arc, time::Instant};

use callgate_local::LocalModel;
use callgate_model::Model;
use callgate_wire::{Message, Part, Request, ToolDefinition, ToolResult};
use serde_json::{Value, json};

use crate::requests::tool;

struct Scene {
    goal: &'static str,
    /// Words that the answer must hold, whatever their case.
    words: &'static [&'static str],
    /// Calls that must have been made with a good result.
    calls: &'static [&'static str],
}

const SCENES: &[Scene] = &[
    Scene {
        goal: "What is the status of ticket T-1042 and who is working on it?",
        words: &["T-1042", "open", "Maria"],
        calls: &["get_ticket"],
    },
    Scene {
        goal: "Which invoices were paid in March 2026? List them with their totals.",
        words: &["INV-2041", "INV-2043", "INV-2047", "1250.00", "89.90", "430.50"],
        calls: &["searchInvoices"],
    },
    Scene {
        goal: "List the draft invoices of April 2026.",
        words: &[
            "INV-3001", "INV-3002", "INV-3003", "INV-3004", "10.00", "20.10", "30.20", "40.30",
        ],
        calls: &["searchInvoices"],
    },
    Scene {
        goal: "What is the weather in Lisbon and in Oslo right now?",
        words: &["Lisbon", "21", "Oslo", "-3"],
        calls: &["get_weather", "get_weather"],
    },
    Scene {
        goal: "Compare the weather in Paris and Tokyo.",
        words: &["Paris", "Tokyo", "18"],
        calls: &["get_weather", "get_weather"],
    },
    Scene {
        goal: "Is it warmer in Rome, Berlin or Madrid today?",
        words: &["Rome", "Berlin", "Madrid"],
        calls: &["get_weather", "get_weather", "get_weather"],
    },
    Scene {
        goal: "Show ticket T-7 and ticket T-9.",
        words: &["T-7", "T-9"],
        calls: &["get_ticket", "get_ticket"],
    },
    Scene { goal: "Show me ticket T-404.", words: &["T-404", "no"], calls: &[] },
    Scene {
        goal: "Find the email address of the customer of ticket T-1042.",
        words: &["ana@northwind.example"],
        calls: &["get_ticket", "get_customer"],
    },
    Scene {
        goal: "Close ticket T-7 if it is still open.",
        words: &["T-7", "closed"],
        calls: &["get_ticket", "close_ticket"],
    },
    Scene {
        goal: "Show the void invoices from 2026-05-31 to 2026-05-01.",
        words: &["INV-5001"],
        calls: &["searchInvoices"],
    },
    Scene { goal: "Thanks, you are great!", words: &[], calls: &[] },
    Scene { goal: "What is the capital of Portugal?", words: &["Lisbon"], calls: &[] },
];

fn tools() -> Vec<ToolDefinition> {
    let ticket = json!({"type": "string", "pattern": "^T-[0-9]+$", "description": "Ticket id, such as T-1042"});
    vec![
        tool(
            "get_ticket",
            "Look up one support ticket by its id",
            &json!({"type": "object", "properties": {"ticketId": ticket}, "required": ["ticketId"], "additionalProperties": false}),
        ),
        tool(
            "close_ticket",
            "Close a support ticket",
            &json!({"type": "object", "properties": {"ticketId": ticket}, "required": ["ticketId"], "additionalProperties": false}),
        ),
        tool(
            "get_customer",
            "Look up a customer, with name and email address, by customer id",
            &json!({"type": "object", "properties": {"customerId": {"type": "string", "pattern": "^C-[0-9]+$"}}, "required": ["customerId"], "additionalProperties": false}),
        ),
        tool(
            "searchInvoices",
            "Search invoices by issue date and status",
            &json!({"type": "object", "properties": {
            "startDate": {"type": "string", "format": "date", "description": "First day, YYYY-MM-DD"},
            "endDate": {"type": "string", "format": "date", "description": "Last day, YYYY-MM-DD"},
            "status": {"type": "string", "enum": ["draft", "sent", "paid", "void"]}
        }, "required": ["startDate", "endDate", "status"], "additionalProperties": false}),
        ),
        tool(
            "get_weather",
            "Get the current weather in a city",
            &json!({"type": "object", "properties": {"city": {"type": "string", "description": "City name"}}, "required": ["city"], "additionalProperties": false}),
        ),
    ]
}

fn ok(result: &str) -> String {
    format!(r#"{{"ok":true,"result":{result}}}"#)
}

fn played(name: &str, arguments: &Value) -> String {
    let text = |key: &str| arguments[key].as_str().unwrap_or("").to_owned();
    match name {
        "get_ticket" | "close_ticket" if text("ticketId") == "T-404" => {
            r#"{"ok":false,"error":{"kind":"tool_error","message":"There is no ticket T-404.","hint":"Check the id, or tell the user.","retryable":false,"executed":true}}"#.to_owned()
        }
        "get_ticket" => ok(&format!(r#"{{"id":"{}","subject":"Cannot log in after update","status":"open","priority":"high","assignee":"Maria Silva","customerId":"C-17","createdAt":"2026-03-02T09:14:00Z"}}"#, text("ticketId"))),
        "close_ticket" => ok(&format!(r#"{{"id":"{}","status":"closed"}}"#, text("ticketId"))),
        "get_customer" => ok(r#"{"id":"C-17","name":"Ana Lopez","email":"ana@northwind.example"}"#),
        "get_weather" => {
            let city = text("city");
            let (degrees, sky) = match city.as_str() {
                "Lisbon" => ("21", "sunny"),
                "Oslo" => ("-3", "snow"),
                "Paris" => ("18", "cloudy"),
                "Tokyo" => ("24", "rain"),
                _ => ("15", "clear"),
            };
            ok(&format!(r#"{{"city":"{city}","temperatureC":{degrees},"sky":"{sky}"}}"#))
        }
        _ if text("startDate") > text("endDate") => {
            r#"{"ok":false,"error":{"kind":"rule_violation","message":"startDate is after endDate","hint":"Swap them or ask the user.","retryable":true,"executed":false,"violations":[{"path":"","keyword":"dates-in-order","expected":"startDate <= endDate"}]}}"#.to_owned()
        }
        _ => match text("status").as_str() {
            "paid" => ok(r#"{"items":[{"id":"INV-2041","customer":"Northwind","total":"1250.00","currency":"EUR","status":"paid","issued":"2026-03-03"},{"id":"INV-2043","customer":"Contoso","total":"89.90","currency":"EUR","status":"paid","issued":"2026-03-11"},{"id":"INV-2047","customer":"Fabrikam","total":"430.50","currency":"EUR","status":"paid","issued":"2026-03-29"}],"count":3}"#),
            "draft" => ok(r#"[{"number":"INV-3001","total":10.00},{"number":"INV-3002","total":20.10},{"number":"INV-3003","total":30.20},{"number":"INV-3004","total":40.30}]"#),
            "void" => ok(r#"{"items":[{"id":"INV-5001","total":"5.00"}],"count":1}"#),
            _ => ok(r#"{"items":[],"count":0}"#),
        },
    }
}

pub(crate) async fn play(model: &LocalModel) {
    let wanted = std::env::var("GOAL").unwrap_or_default();
    let (mut right, mut all) = (0, 0);
    for scene in SCENES.iter().filter(|scene| scene.goal.contains(&wanted)) {
        right += u32::from(scene_is_right(model, scene).await);
        all += 1;
    }
    println!("runs that ended right: {right}/{all}");
}

async fn scene_is_right(model: &LocalModel, scene: &Scene) -> bool {
    println!("\n> {}", scene.goal);
    let started = Instant::now();
    let mut messages = vec![Arc::new(Message::user(scene.goal))];
    let mut made = Vec::new();
    for _ in 0..6 {
        let request =
            Request { messages: messages.clone(), tools: tools().into(), ..Request::default() };
        let reply = match model.reply(&request, None).await {
            Ok(reply) => reply,
            Err(error) => {
                println!("  {error}");
                return false;
            }
        };
        let mut results = Vec::new();
        for call in reply.calls() {
            let arguments = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
            let content = played(&call.name, &arguments);
            println!("  {} {} {}", call.id, call.name, call.arguments);
            let is_error = content.contains("\"ok\":false");
            if !is_error {
                made.push(call.name.to_string());
            }
            let content = vec![Part::Text { text: content.into() }];
            results.push(Arc::new(Message::Tool(ToolResult {
                call_id: Arc::clone(&call.id),
                name: Arc::clone(&call.name),
                content,
                is_error,
            })));
        }
        if results.is_empty() {
            let text = reply.text();
            println!(
                "  = {} ({:?}, {:?}, {:.1} s)",
                text.replace('\n', "\n    "),
                reply.stop,
                reply.usage,
                started.elapsed().as_secs_f64()
            );
            let low = text.to_lowercase();
            let words = scene.words.iter().all(|word| low.contains(&word.to_lowercase()));
            let json = text.trim_start().starts_with(['{', '[', '`']);
            let calls = made == scene.calls;
            if !(words && calls) || json {
                println!(
                    "  WRONG{}{}{}",
                    if words { "" } else { " words" },
                    if calls { "" } else { " calls" },
                    if json { " json" } else { "" }
                );
            }
            return words && calls && !json;
        }
        messages.push(Arc::new(Message::Assistant { content: reply.content }));
        messages.append(&mut results);
    }
    println!("  WRONG endless");
    false
}
