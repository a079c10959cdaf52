//! A body that begins with the last one of its run is the body that is written anew.

use std::sync::Arc;

use callgate_wire::{AssistantPart, Message, Prefix, Request, ToolCall, ToolChoice};
use proptest::prelude::*;

use crate::{dialects, laws, requests};

/// A reply with calls and their results, as runs have them.
fn hop() -> impl Strategy<Value = Vec<Arc<Message>>> {
    let name = prop::sample::select(&["now", "crm.get_customer", "crm_get_customer", "a b"][..]);
    let arguments = prop::sample::select(&["{}", "{\"x\":\"\\\"é\"}"][..]);
    let id = prop::sample::select(&["a", "b", "c", "d", "e", "f", "g", "h", "toolu_1"][..]);
    let said = prop::sample::select(&["", "So: "][..]);
    let call = (id, name, arguments).prop_map(|(id, name, arguments)| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        opaque: None,
    });
    (said, prop::collection::vec(call, 1..3)).prop_map(|(said, calls)| {
        let text = (!said.is_empty()).then(|| AssistantPart::Text { text: said.into() });
        let content = text.into_iter().chain(calls.iter().cloned().map(AssistantPart::Call));
        let said = Arc::new(Message::Assistant { content: content.collect() });
        let result = |call: &ToolCall| {
            requests::result(&call.id, &call.name, vec![requests::text("1\n\"2\"")])
        };
        std::iter::once(said).chain(calls.iter().map(result)).collect()
    })
}

/// What comes between two requests of a run.
fn more() -> impl Strategy<Value = Vec<Arc<Message>>> {
    prop_oneof![
        6 => hop(),
        1 => Just(vec![requests::user("And?")]),
        1 => prop::collection::vec(laws::message(), 0..3),
    ]
}

/// What else may be different at the next request.
fn change() -> impl Strategy<Value = fn(&mut Request)> {
    let changes: Vec<fn(&mut Request)> = vec![
        |request| request.tool_choice = ToolChoice::None,
        |request| request.tools = requests::tools(),
        |request| request.tools = Arc::from([]),
        |request| request.instructions = Some("Be short.".into()),
        |request| request.model = "another".into(),
        |request| request.temperature = Some(0.5),
        |request| drop(request.messages.pop()),
        |request| request.messages.insert(0, requests::user("First.")),
    ];
    prop_oneof![5 => Just((|_| ()) as fn(&mut Request)), 1 => prop::sample::select(changes)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn as_written_anew(hops in prop::collection::vec((more(), change(), any::<bool>()), 1..7)) {
        for dialect in dialects() {
            let messages = vec![requests::user("Who is it, and when?")];
            let mut request = dialect.addressed(&Request { messages, tools: requests::tools(), ..Request::default() });
            request.prefix = Prefix::new();
            for (more, change, again) in &hops {
                request.messages.extend_from_slice(more);
                change(&mut request);
                let anew = Request { prefix: Prefix::default(), ..request.clone() };
                // Once more, as when a request is made again; and streamed, as a watched run is.
                for stream in [false, *again] {
                    let grown = dialect.codec.encode(&request, stream);
                    let anew = dialect.codec.encode(&anew, stream);
                    prop_assert_eq!(grown, anew, "{}", dialect.name);
                }
            }
        }
    }
}
