//! What clients send and what it is read as; replies, and the bytes that clients hear.

use std::fmt::Write as _;

use callgate_wire::{
    AssistantPart, Message, Part, Reply, Stop, ToolCall,
    inbound::{Dialect, Refusal, RefusalKind},
};

use super::{reply, stamp};

/// Bodies as clients' libraries send them, by what is special about them.
const BODIES: &[(Dialect, &str, &str)] = &[
    (
        Dialect::Chat,
        "loop",
        r#"{"model":"openai:gpt-5.4","messages":[{"role":"system","content":"Be brief."},{"role":"user","name":"zoe","content":[{"type":"text","text":"Who?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO","detail":"low"}}]},{"role":"assistant","content":null,"refusal":null,"annotations":[],"audio":null,"function_call":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"crm.get","arguments":"{\"id\":1234567890123456789,\"rate\":1.10}"}},{"id":"call_2","type":"function","function":{"name":"now","arguments":"{\"cut"}}]},{"role":"tool","tool_call_id":"call_1","content":"Zoë"},{"role":"tool","tool_call_id":"call_2","content":[{"type":"text","text":"12:00"}]}],"tools":[{"type":"function","function":{"name":"crm.get","description":"Gets.","parameters":{"type":"object","properties":{"id":{"type":"integer","minimum":1.0}}},"strict":true}},{"type":"function","function":{"name":"now"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"now"}}]}},"parallel_tool_calls":false,"response_format":{"type":"json_schema","json_schema":{"name":"out","schema":{"type":"object"},"strict":true,"description":"It."}},"max_completion_tokens":99,"temperature":0.5,"top_p":0.9,"stop":"END","seed":7,"presence_penalty":0.1,"reasoning_effort":"low","user":"u1","metadata":{"k":"v"},"stream":true,"stream_options":{"include_usage":true}}"#,
    ),
    (
        Dialect::Chat,
        "legacy functions",
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"function_call":{"name":"now","arguments":"{}"}},{"role":"function","name":"now","content":"12:00"}],"functions":[{"name":"now","parameters":{"type":"object"}}],"function_call":{"name":"now"},"max_tokens":5}"#,
    ),
    (
        Dialect::Chat,
        "instructions within",
        r#"{"model":"m","messages":[{"role":"developer","content":[{"type":"text","text":"One."}]},{"role":"user","content":"Hi"},{"role":"system","content":"Two."},{"role":"assistant","content":[{"type":"text","text":"Yes."}],"reasoning_content":"Hm."}],"response_format":{"type":"json_object"},"n":1,"logprobs":false}"#,
    ),
    (
        Dialect::Chat,
        "hosted",
        r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"web_search_options":{}}"#,
    ),
    (Dialect::Chat, "several choices", r#"{"model":"m","messages":[],"n":2}"#),
    (Dialect::Chat, "probabilities", r#"{"model":"m","messages":[],"logprobs":true}"#),
    (
        Dialect::Chat,
        "custom tool",
        r#"{"model":"m","messages":[],"tools":[{"type":"custom","custom":{"name":"patch"}}]}"#,
    ),
    (
        Dialect::Chat,
        "image elsewhere",
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]}"#,
    ),
    (
        Dialect::Chat,
        "a file",
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}]}"#,
    ),
    (Dialect::Chat, "no model", r#"{"messages":[]}"#),
    (Dialect::Chat, "wrong type", r#"{"model":"m","messages":[{"role":"user","content":7}]}"#),
    (Dialect::Chat, "no JSON", r#"{"model":"m","#),
    (
        Dialect::Responses,
        "loop",
        r#"{"model":"openai:gpt-5.4","instructions":"Be brief.","input":[{"role":"user","content":[{"type":"input_text","text":"Who?"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,iVBO"}]},{"id":"rs_0123","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"gAAA"},{"id":"rs_01ABCDEF_1","type":"reasoning","summary":[],"encrypted_content":"gBBB"},{"id":"rs_9","type":"reasoning","summary":[{"type":"summary_text","text":"Lost."}]},{"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Let me look.","annotations":[],"logprobs":[]}]},{"id":"fc_1","type":"function_call","call_id":"call_1","name":"crm_get","arguments":"{\"id\":1234567890123456789,\"rate\":1.10}","status":"completed","namespace":"crm"},{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"See."},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}],"tools":[{"type":"function","name":"crm_get","description":"Gets.","parameters":{"type":"object","properties":{"rate":{"maximum":1.10}}},"strict":false},{"type":"function","name":"now","parameters":null,"strict":null,"defer_loading":true},{"type":"tool_search"}],"tool_choice":{"type":"function","name":"crm_get"},"parallel_tool_calls":false,"reasoning":{"effort":"high","summary":"auto"},"text":{"format":{"type":"json_schema","name":"out","schema":{"type":"object"},"strict":true},"verbosity":"low"},"max_output_tokens":99,"temperature":1,"top_p":0.5,"store":false,"include":["reasoning.encrypted_content"],"metadata":{"k":"v"},"truncation":"auto","stream":true}"#,
    ),
    (Dialect::Responses, "plain", r#"{"model":"m","input":"Hi","store":true}"#),
    (
        Dialect::Responses,
        "hosted",
        r#"{"model":"m","input":[{"role":"user","content":"Hi"},{"type":"web_search_call","id":"ws_1","status":"completed"}],"tools":[{"type":"web_search"},{"type":"function","name":"now"}],"tool_choice":{"type":"web_search"},"include":["web_search_call.action.sources"]}"#,
    ),
    (
        Dialect::Responses,
        "stored before",
        r#"{"model":"m","input":"Hi","previous_response_id":"resp_1"}"#,
    ),
    (
        Dialect::Responses,
        "a reference",
        r#"{"model":"m","input":[{"type":"item_reference","id":"fc_1"}]}"#,
    ),
    (
        Dialect::Responses,
        "the client's own tool",
        r#"{"model":"m","input":"Hi","tools":[{"type":"local_shell"}]}"#,
    ),
    (Dialect::Responses, "no input", r#"{"model":"m"}"#),
    (
        Dialect::Messages,
        "loop",
        r#"{"model":"anthropic:claude-sonnet-4-5","max_tokens":1024,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Be kind."}],"messages":[{"role":"user","content":[{"type":"text","text":"Who?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"EqQB"},{"type":"redacted_thinking","data":"EmwK"},{"type":"thinking","thinking":"Unsigned.","signature":""},{"type":"text","text":"Let me look."},{"type":"tool_use","id":"toolu_01","name":"get","input":{"id":1234567890123456789,"rate":1.10}},{"type":"tool_use","id":"toolu_02","name":"get","input":{"INVALID_JSON":"{\"cut"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":"Zoë"},{"type":"tool_result","tool_use_id":"toolu_02","is_error":true,"content":[{"type":"text","text":"cut off"}]},{"type":"text","text":"And?"}]}],"tools":[{"name":"get","description":"Gets.","input_schema":{"type":"object","properties":{"rate":{"maximum":1.10}}},"input_examples":[{"id":1}]}],"tool_choice":{"type":"any","disable_parallel_tool_use":true},"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}},"thinking":{"type":"enabled","budget_tokens":2048},"metadata":{"user_id":"u"},"stop_sequences":["END"],"top_k":5,"temperature":1.0,"stream":true}"#,
    ),
    (
        Dialect::Messages,
        "hosted",
        r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}]}],"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3},{"name":"now","input_schema":{"type":"object"}}]}"#,
    ),
    (
        Dialect::Messages,
        "the client's own tool",
        r#"{"model":"m","max_tokens":9,"messages":[],"tools":[{"type":"bash_20250124","name":"bash"}]}"#,
    ),
    (Dialect::Messages, "no cap", r#"{"model":"m","messages":[]}"#),
    (
        Dialect::Messages,
        "a document",
        r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"x"}}]}]}"#,
    ),
];

#[test]
fn what_clients_send() {
    for dialect in Dialect::ALL {
        let mut out = String::new();
        for (_, name, body) in BODIES.iter().filter(|(of, ..)| *of == dialect) {
            writeln!(out, "== {name}").unwrap();
            let read = dialect.inbound().read(body.as_bytes());
            let received = match read {
                Ok(received) => received,
                Err(misread) => {
                    let param = misread.param.as_deref().unwrap_or("-");
                    writeln!(out, "misread at {param}: {misread}").unwrap();
                    continue;
                }
            };
            let request = &received.request;
            writeln!(out, "model {} stream {}", request.model, received.stream).unwrap();
            writeln!(out, "instructions {:?}", request.instructions).unwrap();
            request.messages.iter().for_each(|message| show(message, &mut out));
            for tool in request.tools.iter() {
                let examples: Vec<_> = tool.examples.iter().map(|raw| raw.get()).collect();
                writeln!(
                    out,
                    "tool {} {:?} {} strict {:?} defer {} examples {examples:?}",
                    tool.name, tool.description, tool.parameters, tool.strict, tool.defer
                )
                .unwrap();
            }
            writeln!(
                out,
                "choice {:?} parallel {:?}",
                request.tool_choice, request.parallel_tool_calls
            )
            .unwrap();
            if let Some(answer) = &request.answer {
                writeln!(out, "answer {} {} strict {}", answer.name, answer.schema, answer.strict)
                    .unwrap();
            }
            writeln!(
                out,
                "cap {:?} temperature {:?} effort {:?} {:?}",
                request.max_output_tokens, request.temperature, request.effort, request.sampling
            )
            .unwrap();
            if let Some(extra) = &request.extra {
                writeln!(out, "extra for {}: {}", extra.provider, extra.fields).unwrap();
            }
            for note in &received.notes {
                writeln!(out, "note {}", serde_json::to_string(note).unwrap()).unwrap();
            }
            if let Err(misread) = received.check("gemini") {
                writeln!(out, "elsewhere: {misread}").unwrap();
            }
        }
        snapshot(&format!("inbound/read_{}", dialect.codec()), &out);
    }
}

fn show(message: &Message, out: &mut String) {
    let parts = |content: &[Part]| -> String { format!("{content:?}") };
    match message {
        Message::User { content } => writeln!(out, "user {}", parts(content)).unwrap(),
        Message::Tool(result) => writeln!(
            out,
            "result {} {} error {} {}",
            result.call_id,
            result.name,
            result.is_error,
            parts(&result.content)
        )
        .unwrap(),
        Message::Assistant { content } => {
            writeln!(out, "assistant").unwrap();
            for part in content {
                writeln!(out, "  {part:?}").unwrap();
            }
        }
    }
}

fn snapshot(name: &str, text: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

fn replies() -> Vec<(&'static str, Reply)> {
    let text = |text: &str| AssistantPart::Text { text: text.into() };
    let call = |id: &str, arguments: &str| {
        let (name, arguments) = ("crm.get".into(), arguments.into());
        AssistantPart::Call(ToolCall { id: id.into(), name, arguments, opaque: None })
    };
    vec![
        ("text", reply(vec![text("Hello \"you\"\n")], Stop::End)),
        (
            "calls",
            reply(
                vec![
                    AssistantPart::Reasoning { text: "Hm.".into(), opaque: None },
                    text("Let me look."),
                    call("call_1", r#"{"id":1234567890123456789,"rate":1.10}"#),
                    call("call_2", "{}"),
                ],
                Stop::End,
            ),
        ),
        ("cut", reply(vec![text("So")], Stop::Length)),
        ("refused", reply(vec![text("No.")], Stop::Refusal)),
        ("nothing", reply(Vec::new(), Stop::End)),
    ]
}

#[test]
fn what_clients_hear() {
    for dialect in Dialect::ALL {
        let inbound = dialect.inbound();
        let body = BODIES.iter().find(|(of, ..)| *of == dialect).unwrap().2;
        let received = inbound.read(body.as_bytes()).unwrap();
        let mut out = String::new();
        for (name, reply) in replies() {
            let whole = inbound.reply(&received, &reply, &stamp());
            writeln!(out, "== {name}\n{}", String::from_utf8(whole).unwrap()).unwrap();
            let mut streamed = Vec::new();
            inbound.stream(&received, &stamp()).whole(&reply, &mut streamed);
            writeln!(out, "-- streamed\n{}", String::from_utf8(streamed).unwrap()).unwrap();
        }
        let refusal = Refusal::new(RefusalKind::CallsRefused, "No call that fits.");
        let (status, body) = inbound.refuse(&refusal);
        writeln!(out, "== refusal {status}\n{}", String::from_utf8(body).unwrap()).unwrap();
        let mut streamed = Vec::new();
        let mut writer = inbound.stream(&received, &stamp());
        writer.keep_alive(&mut streamed);
        writer.fail(&refusal, &mut streamed);
        writeln!(out, "-- streamed\n{}", String::from_utf8(streamed).unwrap()).unwrap();
        snapshot(&format!("inbound/write_{}", dialect.codec()), &out);
    }
}

/// A client of the predecessor of tools hears it, too.
#[test]
fn legacy_functions() {
    let inbound = Dialect::Chat.inbound();
    let body = BODIES.iter().find(|(_, name, _)| *name == "legacy functions").unwrap().2;
    let received = inbound.read(body.as_bytes()).unwrap();
    let (_, reply) = &replies()[1];
    let whole = String::from_utf8(inbound.reply(&received, reply, &stamp())).unwrap();
    let mut streamed = Vec::new();
    inbound.stream(&received, &stamp()).whole(reply, &mut streamed);
    let streamed = String::from_utf8(streamed).unwrap();
    snapshot("inbound/legacy", &format!("{whole}\n-- streamed\n{streamed}"));
}
