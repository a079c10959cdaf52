//! The tools that scenarios are made of.

use std::{error::Error, sync::Arc, time::Duration};

use callgate_contract::{Catalog, Content, Output};
use callgate_tool::{Backend, Backends, Function, ToolError, process_env};
use serde_json::{Value, json};

/// A tool with its backend.
type Made = Vec<(Arc<str>, Arc<dyn Backend>)>;

/// Twice the time that the suite waits for an item of a stream, and a little.
const LONG: Duration = Duration::from_secs(5);

/// The contracts, and who does the work.
pub(super) fn all() -> Result<(Catalog, Made), Box<dyn Error>> {
    let texts: Vec<(String, String)> = contracts()
        .into_iter()
        .map(|contract| (contract["name"].to_string(), contract.to_string()))
        .collect();
    let named = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let catalog = Catalog::load(named)
        .map_err(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let backends = backends();
    let made = catalog.tools().map(|tool| {
        let backend = backends.build_for(tool, ".".as_ref(), process_env())?;
        Ok((tool.name.clone(), backend))
    });
    let made = made.collect::<Result<Made, Box<dyn Error>>>()?;
    Ok((catalog, made))
}

fn contracts() -> Vec<Value> {
    let nothing = json!({ "type": "object", "additionalProperties": false });
    let one = |name: &str| {
        json!({ "type": "object", "properties": { (name): { "type": "string" } },
            "required": [name], "additionalProperties": false })
    };
    let contract = |name: &str, does: &str, input: Value| {
        json!({ "name": name, "description": does, "input": input, "annotations": { "readOnly": true },
            "backend": { "function": name } })
    };
    let mut never = contract("never", "May not be called.", nothing.clone());
    never["tier"] = "block".into();
    let add = json!({ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "b"], "additionalProperties": false });
    let mut pay = contract("pay", "Pays, once a person said yes.", one("to"));
    pay["tier"] = "approve".into();
    pay["annotations"] = json!({ "destructive": true });
    vec![
        contract("say", "Gives a text back.", one("text")),
        contract("file", "Gives a file.", nothing.clone()),
        contract("link", "Gives the address of a file.", nothing.clone()),
        contract("data", "Gives data.", nothing.clone()),
        contract("ask", "Needs an answer.", one("answer")),
        contract("wait", "Takes its time.", nothing),
        contract("add", "Adds two integers.", add),
        pay,
        never,
    ]
}

fn backends() -> Backends {
    let text = |name: &'static str| {
        Function::new(move |call| async move {
            let given: Value = serde_json::from_str(call.arguments.text()).unwrap_or_default();
            Ok(Output::text(given[name].as_str().unwrap_or_default()))
        })
    };
    let block = |block: Value| {
        let json: Arc<str> = block.to_string().into();
        Function::new(move |_| {
            let content = vec![Content::Other { json: json.clone() }];
            async move { Ok(Output { content, ..Output::default() }) }
        })
    };
    let file = json!({ "type": "resource", "resource": { "uri": "file:///output.txt",
        "mimeType": "text/plain", "text": "Generated file content" } });
    let link = json!({ "type": "resource_link", "uri": "https://example.com/output.txt",
        "name": "output.txt", "mimeType": "text/plain" });
    let add = Function::new(|call| async move {
        let given: Value = serde_json::from_str(call.arguments.text()).unwrap_or_default();
        let sum = given["a"].as_i64().zip(given["b"].as_i64());
        let sum = sum
            .and_then(|(a, b)| a.checked_add(b))
            .ok_or_else(|| ToolError::new("the sum is too large"))?;
        Ok(Output::json(json!({ "sum": sum }).to_string()))
    });
    Backends::builtin()
        .function("say", text("text"))
        .function("ask", text("answer"))
        .function("file", block(file))
        .function("link", block(link))
        .function(
            "data",
            Function::new(|_| async { Ok(Output::json(r#"{"key":"value","count":42}"#)) }),
        )
        .function("add", add)
        .function("pay", text("to"))
        .function("never", Function::new(|_| async { Ok(Output::text("")) }))
        .function(
            "wait",
            Function::new(|_| async {
                tokio::time::sleep(LONG).await;
                Ok(Output::text("at last"))
            }),
        )
}
