//! A codec's bodies, read back.

use std::sync::Arc;

use callgate_wire::{
    AnswerFormat, AssistantPart, Extra, Message, Part, Prefix, Request, Sampling, ToolCall,
    ToolChoice, ToolDefinition, ToolResult, inbound::Dialect,
};
use proptest::{collection::vec, option, prelude::*, sample::select};

use super::mirror;
use crate::{laws, requests, requests::raw};

/// What a body says is what its reading says: written again, it is the same bytes.
fn same_again(dialect: Dialect, request: &Request) {
    let (codec, model) = mirror(dialect);
    let mut request = Request { model: model.into(), ..request.clone() };
    if let Some(answer) = request.answer.as_mut().filter(|_| dialect == Dialect::Messages) {
        // The API has no loose form: the schema becomes one of several instructions.
        answer.strict = true;
    }
    for stream in [false, true] {
        let body = codec.encode(&request, stream).body;
        let received = dialect.inbound().read(&body).unwrap_or_else(|misread| {
            panic!("{dialect:?}: {misread:?}: {}", String::from_utf8_lossy(&body))
        });
        assert_eq!(received.stream, stream);
        let again = codec.encode(&received.request, stream).body;
        let [body, again] = [body, again].map(|body| String::from_utf8(body.into()).unwrap());
        assert_eq!(again, body, "{dialect:?}");
    }
}

#[test]
fn every_golden_request_comes_back() {
    for (_, request) in requests::all() {
        for dialect in Dialect::ALL {
            same_again(dialect, &request);
        }
    }
}

fn text() -> impl Strategy<Value = Arc<str>> {
    "[ -~é😀\n]{0,12}x".prop_map(Into::into)
}

fn arguments() -> impl Strategy<Value = Arc<str>> {
    select(vec![
        "{}",
        r#"{"id":1234567890123456789,"rate":1.10}"#,
        r#"{ "a" : [1e400, -0.0] , "b":"\u00e9" }"#,
    ])
    .prop_map(Into::into)
}

fn image() -> Part {
    Part::Image { media_type: "image/png".into(), data: "iVBORw==".into() }
}

/// A reply's text and calls, as every dialect orders them, and their results.
fn turn(n: usize) -> impl Strategy<Value = Vec<Message>> {
    let call = (select(vec!["now", "get_customer"]), arguments());
    (option::of(text()), vec(call, 0..3), text(), any::<bool>()).prop_map(
        move |(said, calls, result, is_error)| {
            let mut content: Vec<_> =
                said.into_iter().map(|text| AssistantPart::Text { text }).collect();
            let mut results = Vec::new();
            for (at, (name, arguments)) in calls.into_iter().enumerate() {
                let id: Arc<str> = format!("call_{n}_{at}").into();
                let result = vec![Part::Text { text: result.clone() }];
                results.push(Message::Tool(ToolResult {
                    call_id: id.clone(),
                    name: name.into(),
                    content: result,
                    is_error,
                }));
                let name = name.into();
                content.push(AssistantPart::Call(ToolCall { id, name, arguments, opaque: None }));
            }
            if content.is_empty() {
                // Two messages of the user in a row are one with Anthropic.
                content.push(AssistantPart::Text { text: "ok".into() });
            }
            [vec![Message::Assistant { content }], results].concat()
        },
    )
}

fn user() -> impl Strategy<Value = Message> {
    (text(), any::<bool>()).prop_map(|(text, with_image)| {
        let text = Part::Text { text };
        Message::User { content: if with_image { vec![text, image()] } else { vec![text] } }
    })
}

fn transcript() -> impl Strategy<Value = Vec<Arc<Message>>> {
    let turns = (0..3_usize).map(|n| (user(), turn(n))).collect::<Vec<_>>();
    turns.prop_map(|turns| {
        let messages = turns.into_iter().flat_map(|(user, turn)| [vec![user], turn].concat());
        messages.map(Arc::new).collect()
    })
}

fn choice() -> impl Strategy<Value = ToolChoice> {
    let names = vec!["now".into(), "get_customer".into()];
    select(vec![
        ToolChoice::Auto,
        ToolChoice::Some,
        ToolChoice::None,
        ToolChoice::One("now".into()),
        ToolChoice::Subset { names: names.clone(), required: true },
        ToolChoice::Subset { names, required: false },
    ])
}

fn tools() -> Arc<[ToolDefinition]> {
    let strict = Some(true);
    [
        ToolDefinition { strict, ..requests::tool("now", r#"{"type":"object"}"#) },
        requests::tool("get_customer", r#"{ "type":"object","maximum":1.10 }"#),
    ]
    .into()
}

fn sampling() -> impl Strategy<Value = Sampling> {
    let number = || option::of(select(vec![0.0, 0.5, 1.0]));
    let seed = option::of(any::<i64>());
    (number(), vec(text(), 0..3), seed, number(), number(), option::of(0..100_u32)).prop_map(
        |(top_p, stop, seed, presence_penalty, frequency_penalty, top_k)| Sampling {
            top_p,
            top_k,
            stop,
            seed,
            presence_penalty,
            frequency_penalty,
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    let answer =
        AnswerFormat { name: "answer".into(), schema: raw(r#"{"type":"object"}"#), strict: true };
    let rest = (
        option::of(text()),
        option::of(Just(false)),
        option::of(Just(answer)),
        option::of(1..9999_u32),
        option::of(select(vec![0.0, 0.7])),
        option::of(select(vec!["low", "high"])),
        option::of(Just(r#"{"metadata":{"n":1.10},"service_tier":"flex"}"#)),
    );
    (transcript(), choice(), sampling(), rest).prop_map(
        |(messages, tool_choice, sampling, rest)| {
            let (instructions, parallel_tool_calls, answer, cap, temperature, effort, extra) = rest;
            Request {
                model: "".into(),
                instructions,
                messages,
                tools: tools(),
                tool_choice,
                parallel_tool_calls,
                answer,
                max_output_tokens: cap,
                temperature,
                sampling,
                effort: effort.map(Into::into),
                extra: extra.map(|json| Extra { provider: "".into(), fields: json.into() }),
                trace: None,
                prefix: Prefix::default(),
            }
        },
    )
}

/// What of a request a dialect has no word for, or one word for two.
fn as_the_dialect_says_it(dialect: Dialect, request: &Request) -> Request {
    let (_, model) = mirror(dialect);
    let mut request = Request { model: model.into(), ..request.clone() };
    let sampling = &mut request.sampling;
    match dialect {
        Dialect::Chat => sampling.top_k = None,
        Dialect::Responses => {
            // A model that reasons takes nothing of it.
            *sampling = Sampling::default();
            request.temperature = None;
        }
        Dialect::Messages => {
            (sampling.seed, sampling.presence_penalty, sampling.frequency_penalty) =
                (None, None, None);
            // Required there.
            request.max_output_tokens = request.max_output_tokens.or(Some(20_000));
            // A subset is a smaller offer, of which something must be called or not.
            if let ToolChoice::Subset { required, .. } = request.tool_choice {
                request.tool_choice = if required { ToolChoice::Some } else { ToolChoice::Auto };
            }
            if request.tool_choice == ToolChoice::None {
                // Nothing can be called in parallel.
                request.parallel_tool_calls = None;
            }
        }
    }
    if dialect == Dialect::Responses && request.tool_choice == ToolChoice::None {
        request.parallel_tool_calls = None;
    }
    let tool = |tool: &ToolDefinition| {
        let strict = match dialect {
            // Said always, or the server decides by itself.
            Dialect::Responses => tool.strict.or(Some(false)),
            _ => tool.strict,
        };
        ToolDefinition { strict, ..tool.clone() }
    };
    request.tools = request.tools.iter().map(tool).collect();
    let message = |message: &Arc<Message>| match &**message {
        // Only Anthropic has a mark for errors.
        Message::Tool(result) if dialect != Dialect::Messages => {
            Arc::new(Message::Tool(ToolResult { is_error: false, ..result.clone() }))
        }
        _ => Arc::clone(message),
    };
    request.messages = request.messages.iter().map(message).collect();
    request
}

/// Everything of a request, schemas by their text.
fn shown(request: &Request) -> String {
    let extra = request.extra.as_ref().map(|extra| {
        let fields: serde_json::Value = serde_json::from_str(&extra.fields).unwrap();
        (extra.provider.clone(), fields.to_string())
    });
    format!("{:#?}{extra:?}", Request { extra: None, ..request.clone() })
}

proptest! {
    #[test]
    fn a_request_comes_back_as_it_was(request in request()) {
        for dialect in Dialect::ALL {
            let mut asked = as_the_dialect_says_it(dialect, &request);
            if let Some(extra) = &mut asked.extra {
                extra.provider = dialect.codec().into();
            }
            let (codec, _) = mirror(dialect);
            let body = codec.encode(&asked, false).body;
            let received = dialect.inbound().read(&body).unwrap();
            let mut read = received.request;
            if let Some(extra) = &mut read.extra {
                // What the codec says by itself.
                let mut fields: serde_json::Map<_, _> = serde_json::from_str(&extra.fields).unwrap();
                fields.remove("store");
                extra.fields = serde_json::to_string(&fields).unwrap().into();
            }
            prop_assert_eq!(shown(&read), shown(&asked), "{:?}", dialect);
        }
    }

    #[test]
    fn any_transcript_reads_as_it_is_written(messages in vec(laws::message(), 0..8)) {
        let request = Request { messages, tools: requests::tools(), ..Request::default() };
        for dialect in Dialect::ALL {
            same_again(dialect, &request);
        }
    }

    /// Whatever comes, it is read or refused with a word to it.
    #[test]
    fn no_body_panics(body in vec(any::<u8>(), 0..64), at in any::<prop::sample::Index>()) {
        for dialect in Dialect::ALL {
            if let Err(misread) = dialect.inbound().read(&body) {
                prop_assert!(!misread.message.is_empty());
            }
            let (codec, model) = mirror(dialect);
            let (_, request) = &requests::all()[at.index(requests::all().len())];
            let mut whole = codec.encode(&Request { model: model.into(), ..request.clone() }, true).body;
            whole.truncate(at.index(whole.len()));
            prop_assert!(dialect.inbound().read(&whole).is_err());
        }
    }
}
