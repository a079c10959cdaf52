//! Replies, written as a provider would, and read by the codec that speaks to that provider.

use std::sync::Arc;

use callgate_wire::{
    AssistantPart, Delta, Opaque, Reply, Request, Stop, ToolCall, inbound::Dialect,
};
use proptest::{collection::vec, option, prelude::*, sample::select};

use super::{mirror, reply, stamp};
use crate::requests;

/// State of the dialect's own provider, as its codec keeps it.
fn own(dialect: Dialect, text: &str, n: usize) -> AssistantPart {
    let quoted = serde_json::to_string(text).unwrap();
    let json = match dialect {
        Dialect::Chat => format!(r#"[{{"type":"reasoning.text","text":{quoted}}}]"#),
        Dialect::Responses => format!(
            r#"{{"id":"rs_{n}","type":"reasoning","summary":[{{"type":"summary_text","text":{quoted}}}],"encrypted_content":"e{n}"}}"#
        ),
        Dialect::Messages => {
            format!(r#"{{"type":"thinking","thinking":{quoted},"signature":"s{n}"}}"#)
        }
    };
    let opaque = Opaque { provider: dialect.codec().into(), json: json.into(), model: None };
    AssistantPart::Reasoning { text: text.into(), opaque: Some(opaque) }
}

/// What the provider's own tools did.
fn hosted(dialect: Dialect, n: usize) -> Option<AssistantPart> {
    let json = match dialect {
        Dialect::Chat => return None,
        Dialect::Responses => {
            format!("{{\"type\":\"web_search_call\",\n\"id\":\"ws_{n}\",\"n\":1.10}}")
        }
        Dialect::Messages => format!(
            "{{\"type\":\"server_tool_use\",\n\"id\":\"srvtoolu_{n}\",\"name\":\"web_search\",\"input\":{{\"n\":1.10}}}}"
        ),
    };
    let opaque = Opaque { provider: dialect.codec().into(), json: json.into(), model: None };
    Some(AssistantPart::Opaque(opaque))
}

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Reasoning(String),
    Hosted,
    Call(&'static str, &'static str),
}

fn piece() -> impl Strategy<Value = Piece> {
    let arguments = select(vec![
        "{}",
        r#"{"id":1234567890123456789,"rate":1.10}"#,
        r#"{"a":[1e400,-0.0],"b":"\u00e9"}"#,
    ]);
    prop_oneof![
        "[ -~é😀\n]{0,12}x".prop_map(Piece::Text),
        "[ -~é😀\n]{0,12}x".prop_map(Piece::Reasoning),
        Just(Piece::Hosted),
        (select(vec!["now", "crm.get_customer"]), arguments)
            .prop_map(|(name, arguments)| Piece::Call(name, arguments)),
    ]
}

/// A reply of the provider's, as its codec would give it.
fn made(dialect: Dialect, pieces: &[Piece], stop: Stop) -> Reply {
    let mut content: Vec<AssistantPart> = Vec::new();
    for (n, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => match content.last_mut() {
                // Text in a row is one.
                Some(AssistantPart::Text { text: before }) => {
                    *before = format!("{before}{text}").into();
                }
                _ => content.push(AssistantPart::Text { text: text.as_str().into() }),
            },
            Piece::Reasoning(text) => content.push(own(dialect, text, n)),
            Piece::Hosted => content.extend(hosted(dialect, n)),
            Piece::Call(name, arguments) => {
                let id = format!("call_{n}").into();
                let (name, arguments) = ((*name).into(), (*arguments).into());
                content.push(AssistantPart::Call(ToolCall { id, name, arguments, opaque: None }));
            }
        }
    }
    if dialect == Dialect::Chat {
        content = in_chat(content);
    }
    reply(content, stop)
}

/// There a message has one of each: its reasoning, its text, its calls.
fn in_chat(content: Vec<AssistantPart>) -> Vec<AssistantPart> {
    let (mut thoughts, mut details, mut text) = (String::new(), Vec::new(), String::new());
    let mut calls = Vec::new();
    for part in content {
        match part {
            AssistantPart::Reasoning { text, opaque } => {
                thoughts.push_str(&text);
                let list: Vec<Box<serde_json::value::RawValue>> =
                    serde_json::from_str(&opaque.unwrap().json).unwrap();
                details.extend(list.iter().map(|raw| raw.get().to_owned()));
            }
            AssistantPart::Text { text: more } => text.push_str(&more),
            part => calls.push(part),
        }
    }
    let mut content = Vec::new();
    if !details.is_empty() {
        let json = format!("[{}]", details.join(",")).into();
        let opaque = Some(Opaque { provider: "chat".into(), json, model: None });
        content.push(AssistantPart::Reasoning { text: thoughts.into(), opaque });
    }
    if !text.is_empty() {
        content.push(AssistantPart::Text { text: text.into() });
    }
    content.extend(calls);
    content
}

fn asked(dialect: Dialect) -> Request {
    let (_, model) = mirror(dialect);
    Request { model: model.into(), tools: requests::tools(), ..Request::default() }
}

/// Without the model that state is marked with, and in a stream without the ids of reasoning that
/// was begun under another.
fn unmarked(reply: &Reply, without_ids: bool) -> Reply {
    let mut reply = reply.clone();
    for part in &mut reply.content {
        if let AssistantPart::Reasoning { opaque: Some(opaque), .. }
        | AssistantPart::Opaque(opaque) = part
        {
            opaque.model = None;
            // A stream's data is one line.
            opaque.json = opaque.json.replace('\n', " ").into();
            if without_ids && let Some(at) = opaque.json.find(r#""id":"rs_"#) {
                let end = at + 6 + opaque.json[at + 6..].find('"').unwrap();
                opaque.json = format!("{}{}", &opaque.json[..at], &opaque.json[end..]).into();
            }
        }
    }
    reply
}

fn received(dialect: Dialect) -> callgate_wire::inbound::Received {
    let (codec, model) = mirror(dialect);
    let messages = vec![requests::user("Hi")];
    let body = codec.encode(&Request { model: model.into(), messages, ..Request::default() }, true);
    dialect.inbound().read(&body.body).unwrap()
}

fn decoded(dialect: Dialect, chunks: &[&[u8]]) -> Reply {
    let mut decoder = mirror(dialect).0.stream(&asked(dialect));
    let mut deltas = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut deltas);
    }
    let reply = decoder.finish(&mut deltas).unwrap();
    // All that is to be shown comes as deltas too, and all state.
    let texts = deltas.iter().filter_map(|delta| match delta {
        Delta::Text(text) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(texts.collect::<String>(), reply.text());
    let states = deltas.iter().filter(|delta| matches!(delta, Delta::State(_))).count();
    let kept = |part: &&AssistantPart| {
        matches!(part, AssistantPart::Reasoning { opaque: Some(_), .. } | AssistantPart::Opaque(_))
    };
    assert_eq!(states, reply.content.iter().filter(kept).count());
    reply
}

fn stop() -> impl Strategy<Value = Stop> {
    select(vec![Stop::End, Stop::Length, Stop::Refusal])
}

proptest! {
    #[test]
    fn a_whole_reply_comes_back(pieces in vec(piece(), 0..7), stop in stop()) {
        for dialect in Dialect::ALL {
            let reply = made(dialect, &pieces, stop);
            let body = dialect.inbound().reply(&received(dialect), &reply, &stamp());
            let (codec, _) = mirror(dialect);
            let read = codec.decode(&asked(dialect), 200, None, &body).unwrap();
            prop_assert_eq!(unmarked(&read, false), unmarked(&reply, false), "{:?}", dialect);
        }
    }

    #[test]
    fn a_streamed_reply_comes_back(
        pieces in vec(piece(), 0..7),
        stop in stop(),
        cut in option::of(any::<prop::sample::Index>()),
    ) {
        for dialect in Dialect::ALL {
            let reply = made(dialect, &pieces, stop);
            let mut out = Vec::new();
            dialect.inbound().stream(&received(dialect), &stamp()).whole(&reply, &mut out);
            let read = match &cut {
                None => decoded(dialect, &out.chunks(1).collect::<Vec<_>>()),
                Some(cut) => {
                    let (head, tail) = out.split_at(cut.index(out.len()));
                    decoded(dialect, &[head, tail])
                }
            };
            prop_assert_eq!(unmarked(&read, true), unmarked(&reply, true), "{:?}", dialect);
        }
    }

    /// Cut into ever so small deltas, with pauses between, it is the same reply.
    #[test]
    fn deltas_of_any_size(text in "[ -~é😀\n]{1,30}x", thought in "[ -~é]{1,9}x", size in 1..9_usize) {
        for dialect in Dialect::ALL {
            let received = received(dialect);
            let inbound = dialect.inbound();
            let mut writer = inbound.stream(&received, &stamp());
            let mut out = Vec::new();
            writer.keep_alive(&mut out);
            let pieces = |text: &str| {
                let chars: Vec<char> = text.chars().collect();
                chars.chunks(size).map(|piece| piece.iter().collect()).collect::<Vec<String>>()
            };
            for piece in pieces(&thought) {
                writer.delta(&Delta::Reasoning(piece), &mut out);
                writer.keep_alive(&mut out);
            }
            for piece in pieces(&text) {
                writer.delta(&Delta::Text(piece), &mut out);
            }
            writer.delta(&Delta::Call { index: 0, name: "now".into() }, &mut out);
            let call = ToolCall {
                id: "c".into(),
                name: "now".into(),
                arguments: r#"{"x":1.10}"#.into(),
                opaque: None,
            };
            writer.call(&call, &mut out);
            writer.finish(&reply(Vec::new(), Stop::End), &mut out);
            let mut decoder = mirror(dialect).0.stream(&asked(dialect));
            let mut deltas = Vec::new();
            decoder.push(&out, &mut deltas);
            let read = decoder.finish(&mut deltas).unwrap();
            prop_assert_eq!(read.text(), text.as_str());
            prop_assert_eq!(read.calls().collect::<Vec<_>>(), [&call]);
            let thoughts = read.content.iter().filter_map(|part| match part {
                AssistantPart::Reasoning { text, .. } => Some(Arc::clone(text)),
                _ => None,
            });
            prop_assert_eq!(thoughts.map(|text| text.to_string()).collect::<String>(), thought.as_str());
        }
    }
}
