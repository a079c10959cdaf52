//! Bodies of a run that were made before it: for peers that parse nothing and validate nothing, and
//! so show what sending and receiving costs by itself.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{INSTRUCTIONS, Options, PROMPT, TOOL, TOOL_ABOUT, other_tools, schema};

/// The request bodies of one run, in order: as large as those of a peer that does the work.
#[must_use]
pub fn bodies(options: &Options) -> Vec<String> {
    let tool = |name: &str| {
        json!({ "type": "function",
            "function": { "name": name, "description": TOOL_ABOUT, "parameters": schema() } })
    };
    let tools: Vec<Value> = std::iter::once(TOOL.to_owned())
        .chain(other_tools(options.tools))
        .map(|name| tool(&name))
        .collect();
    let tools = Value::from(tools).to_string();
    let stream = if options.stream { r#","stream":true"# } else { "" };
    let mut messages = format!(
        "{},{}",
        json!({ "role": "system", "content": INSTRUCTIONS }),
        json!({ "role": "user", "content": PROMPT })
    );
    let mut all = Vec::new();
    for turn in 0..=options.turns {
        all.push(format!(
            r#"{{"model":"gpt-4o","messages":[{messages}],"tools":{tools}{stream}}}"#
        ));
        let id = format!("TCK-{}", 10_400 + turn);
        let arguments = json!({ "ticketId": id, "priority": "high", "includeComments": true,
            "limit": 20, "tags": ["billing", "vip"] });
        let mut result = json!({ "ticketId": id, "status": "open", "assignee": "dana" });
        if options.result_bytes > 0 {
            result["text"] = "x".repeat(options.result_bytes).into();
        }
        let call = format!("call_{turn:012}_0");
        let function = json!({ "name": TOOL, "arguments": arguments.to_string() });
        let calls = json!([{ "id": call, "type": "function", "function": function }]);
        // Writing to a string cannot fail.
        let _ = write!(
            messages,
            ",{},{}",
            json!({ "role": "assistant", "content": null, "tool_calls": calls }),
            json!({ "role": "tool", "tool_call_id": call, "content": result.to_string() })
        );
    }
    all
}

/// Whether a response is the last one of a run. A streamed text comes in pieces, so there the mark
/// of the end has to do.
#[must_use]
pub fn is_last(body: &[u8], stream: bool) -> bool {
    let mark: &[u8] = if stream { b"[DONE]" } else { b"assigned to dana" };
    body.windows(mark.len()).any(|window| window == mark)
}
