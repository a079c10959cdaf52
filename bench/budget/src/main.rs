//! Fixed work whose instructions are counted: `callgate-bench-budget WORK TIMES`.
//!
//! `cargo xtask bench budget` runs it under callgrind with two counts and takes the difference, so
//! that starting up cancels out, and compares what one of each costs with `bench/budget.json`.
//!
//! | work | once is |
//! |---|---|
//! | `admitted` | a call that the gate admits as it stands |
//! | `refused` | one that it refuses, with the message that the model reads |
//! | `mended` | one with a number in quotes, which the lenient gate coerces |
//! | `loop` | a run: three tool turns and an answer, gates on, a model in this process, its journal in memory |
//! | `contract` | a contract file read and compiled |

mod turns;

use std::{hint::black_box, process::ExitCode};

use callgate_contract::{Catalog, Mode, Tool, Verdict};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [work, times] = arguments.as_slice() else {
        return refused("WORK and TIMES are needed");
    };
    let Ok(times) = times.parse() else { return refused("TIMES is no number") };
    let right = r#"{"ticketId": "T-1042", "priority": "high", "limit": 5, "tags": ["a", "b"]}"#;
    match work.as_str() {
        "admitted" => judge(times, right, Mode::Strict, "admitted"),
        "refused" => judge(times, &right.replace("high", "hgih"), Mode::Strict, "refused"),
        "mended" => judge(times, &right.replace('5', "\"5\""), Mode::Lenient, "mended"),
        "contract" => (0..times).for_each(|_| drop(black_box(catalog()))),
        "loop" => return turns::run(times),
        other => return refused(&format!("there is no work {other}")),
    }
    ExitCode::SUCCESS
}

fn refused(why: &str) -> ExitCode {
    eprintln!("callgate-bench-budget WORK TIMES: {why}");
    ExitCode::FAILURE
}

/// One call, judged over and over; what comes of it has to be what the work is called.
fn judge(times: usize, text: &str, mode: Mode, expected: &str) {
    let catalog = catalog();
    let tool: &Tool = catalog.get("get_ticket").expect("the tool is in its catalog");
    for _ in 0..times {
        let verdict = tool.admit(black_box(text), mode);
        let word = match &verdict {
            Verdict::Admitted { adjustments, .. } if adjustments.is_empty() => "admitted",
            Verdict::Admitted { .. } => "mended",
            Verdict::Refused(_) => "refused",
        };
        assert_eq!(word, expected, "{text}");
        drop(black_box(verdict));
    }
}

/// The contract that all work is about.
fn catalog() -> Catalog {
    const CONTRACT: &str = r#"{
        "name": "get_ticket",
        "description": "Looks up a ticket.",
        "input": {
            "type": "object",
            "properties": {
                "ticketId": {"type": "string", "pattern": "^T-[0-9]+$"},
                "priority": {"enum": ["low", "normal", "high"]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
                "verbose": {"type": "boolean"}
            },
            "required": ["ticketId"],
            "additionalProperties": false
        },
        "output": {
            "type": "object",
            "properties": {"ticketId": {"type": "string"}, "status": {"type": "string"}},
            "required": ["ticketId", "status"]
        },
        "annotations": {"readOnly": true}
    }"#;
    Catalog::load([("get_ticket.json", black_box(CONTRACT))]).expect("the contract is right")
}
