//! The scenario's project: an agent and its contracts, as files.

use std::{fs, io, path::Path};

use serde_json::{Value, json};

use crate::LAPSE_SECONDS;

/// The model, by the name that `compat` takes: the server is its base URL.
pub const MODEL: &str = "compat:scripted";

/// The variables that the project's process needs, given the server's URL.
pub fn env(server: &str) -> [(&'static str, String); 3] {
    [
        ("TOOLS_URL", server.to_owned()),
        ("OPENAI_COMPATIBLE_BASE_URL", format!("{server}/v1")),
        ("OPENAI_COMPATIBLE_API_KEY", "none".to_owned()),
    ]
}

/// The goal of a run.
pub fn goal(run: &str) -> String {
    format!("Restock what is low, refund C-1 and send C-2 a coupon. This is run {run}")
}

/// Writes the project into a folder.
///
/// # Errors
/// The folder cannot be written.
pub fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("tools"))?;
    let agent = json!({
        "name": "crash",
        "model": MODEL,
        "instructions": "You keep a shop in stock.",
        "tools": ["tools/*.json"],
        "approvals": { "timeoutSeconds": LAPSE_SECONDS },
        // A kill takes its time on a slow machine; a run's own time is no part of the test.
        "budget": { "seconds": 3600 },
    });
    save(&folder.join("agent.json"), &agent)?;
    let reads = json!({ "readOnly": true, "idempotent": true });
    let repeats = json!({ "readOnly": false, "idempotent": true });
    let once = json!({ "readOnly": false, "idempotent": false, "destructive": true });
    let text = json!({ "type": "string", "minLength": 1 });
    let count = json!({ "type": "integer", "minimum": 1 });
    for (name, about, properties, annotations, tier) in [
        (
            "read_stock",
            "Says how many of an item are in stock.",
            json!({ "item": text }),
            &reads,
            "auto",
        ),
        (
            "add_note",
            "Writes a note into the shop's book.",
            json!({ "text": text }),
            &repeats,
            "auto",
        ),
        (
            "place_order",
            "Orders items from the supplier; each call is another order.",
            json!({ "item": text, "count": count }),
            &once,
            "auto",
        ),
        (
            "send_refund",
            "Sends a customer money; asked again with the same key it is sent once.",
            json!({ "customer": text, "cents": count }),
            &repeats,
            "approve",
        ),
        (
            "send_coupon",
            "Sends a customer a coupon.",
            json!({ "customer": text }),
            &repeats,
            "approve",
        ),
    ] {
        let required: Vec<&String> =
            properties.as_object().into_iter().flatten().map(|(k, _)| k).collect();
        let tool = json!({
            "name": name,
            "version": "1.0.0",
            "description": about,
            "input": {
                "type": "object", "properties": properties, "required": required,
                "additionalProperties": false,
            },
            "annotations": annotations,
            "tier": tier,
            "timeoutMs": 120_000,
            "backend": { "http": {
                "method": "POST",
                "url": format!("${{TOOLS_URL}}/tools/{name}"),
                "body": "arguments",
            } },
        });
        save(&folder.join(format!("tools/{name}.json")), &tool)?;
    }
    Ok(())
}

fn save(path: &Path, value: &Value) -> io::Result<()> {
    fs::write(path, serde_json::to_string_pretty(value).map_err(io::Error::other)?)
}
