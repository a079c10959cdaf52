//! Labelled requests: is the right tool called with the right arguments?

use std::{path::Path, time::Instant};

use callgate_local::LocalModel;
use callgate_model::Model;
use callgate_wire::{Message, Request, ToolDefinition, Usage};
use serde_json::{Value, json, value::to_raw_value};

/// `[language, request, tool, arguments]`; an argument that is a list names what is accepted.
type Labelled = (String, String, String, Value);

pub(crate) fn tool(name: &str, description: &str, parameters: &Value) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        description: Some(description.into()),
        parameters: to_raw_value(parameters).expect("a value is JSON").into(),
        strict: None,
        ..ToolDefinition::default()
    }
}

fn tools() -> Vec<ToolDefinition> {
    let date = |what: &str| json!({"type": "string", "format": "date", "description": what});
    vec![
        tool(
            "get_ticket",
            "Look up one support ticket by its id",
            &json!({"type": "object", "properties": {
                "ticketId": {"type": "string", "pattern": "^T-[0-9]+$", "description": "Ticket id such as T-123"}
            }, "required": ["ticketId"], "additionalProperties": false}),
        ),
        tool(
            "search_invoices",
            "Search invoices in a date range with a payment status",
            &json!({"type": "object", "properties": {
                "startDate": date("First day, YYYY-MM-DD"),
                "endDate": date("Last day, YYYY-MM-DD"),
                "status": {"type": "string", "enum": ["paid", "unpaid", "overdue"]}
            }, "required": ["startDate", "endDate", "status"], "additionalProperties": false}),
        ),
        tool(
            "get_weather",
            "Get the current weather in a city",
            &json!({"type": "object", "properties": {
                "city": {"type": "string", "description": "City name"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]}
            }, "required": ["city", "unit"], "additionalProperties": false}),
        ),
    ]
}

pub(crate) async fn measure(model: &LocalModel, file: &Path) {
    let text = std::fs::read_to_string(file).expect("the requests can be read");
    let requests: Vec<Labelled> = serde_json::from_str(&text).expect("a list of requests");
    let (mut right_tool, mut right_call, mut usage) = (0, 0, Usage::default());
    let started = Instant::now();
    for (_, question, name, arguments) in &requests {
        let request = Request {
            messages: vec![Message::user(question.as_str()).into()],
            tools: tools().into(),
            max_output_tokens: Some(120),
            ..Request::default()
        };
        let reply = match model.reply(&request, None).await {
            Ok(reply) => reply,
            Err(error) => {
                println!("  x {question}: {error}");
                continue;
            }
        };
        usage += reply.usage;
        let calls: Vec<_> = reply.calls().collect();
        let (tool_fits, call_fits) = match calls.as_slice() {
            [] => (name == "answer", name == "answer"),
            [call] => {
                (*call.name == **name, *call.name == **name && fits(arguments, &call.arguments))
            }
            _ => (false, false),
        };
        right_tool += u32::from(tool_fits);
        right_call += u32::from(call_fits);
        if !call_fits {
            let made: Vec<String> =
                calls.iter().map(|c| format!("{} {}", c.name, c.arguments)).collect();
            println!("  x {question} => {} {}", made.join(" + "), reply.text());
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "right tool {right_tool}/{all}, right call {right_call}/{all}; {seconds:.0} s, {read} tokens read, {generated} generated",
        all = requests.len(),
        read = usage.input_tokens - usage.cached_tokens,
        generated = usage.output_tokens,
    );
}

fn fits(wanted: &Value, made: &str) -> bool {
    let Ok(made) = serde_json::from_str::<Value>(made) else { return false };
    wanted.as_object().into_iter().flatten().all(|(key, value)| match value {
        Value::Array(accepted) => accepted.iter().any(|value| {
            let (one, other) = (value.as_str().unwrap_or(""), made[key].as_str().unwrap_or("-"));
            one.eq_ignore_ascii_case(other)
        }),
        value => *value == made[key],
    })
}
