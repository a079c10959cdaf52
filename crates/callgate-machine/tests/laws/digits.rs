//! Law 7 through a run: arguments keep their digits on the way to the tool and back in history.

use callgate_contract::Output;
use callgate_machine::Agent;
use callgate_wire::{AssistantPart, Message};
use serde_json::json;

use crate::play::{self, World, calls};

#[test]
fn law_7_digits_reach_the_tool_the_history_and_the_model() {
    let contracts = [json!({ "name": "t", "input": { "type": "object", "properties": {
        "id": { "type": "integer" }, "price": { "type": "number" }, "n": { "type": "integer" } } } })];
    for (raw, sent) in [
        (
            r#"{"id": 1234567890123456789, "price": 1.10}"#,
            r#"{"id": 1234567890123456789, "price": 1.10}"#,
        ),
        (r#"{ "price":1e400,"id":-0 }"#, r#"{ "price":1e400,"id":-0 }"#),
        // Mended elsewhere in the object.
        (
            r#"{"id": 12345678901234567890, "price": 1.10, "n": "7"}"#,
            r#"{"id": 12345678901234567890, "price": 1.10, "n": 7}"#,
        ),
        (
            r#"{"id": 12345678901234567890, "price": 1.10,}"#,
            r#"{"id": 12345678901234567890, "price": 1.10}"#,
        ),
    ] {
        let world = World {
            model: Box::new(play::script(vec![calls(&[("1", "t", raw)])])),
            tool: Box::new(|call| Ok(Output::json(call.arguments.text()))),
            ..World::default()
        };
        let played =
            play::play(&play::catalog(&contracts), play::start(Agent::default(), "go"), world);
        assert_eq!(played.sent(), [("t", sent)]);
        let (_, told) = &played.results()[0];
        assert!(told.contains(sent), "{told}");
        let Message::Assistant { content } = &*played.run.messages()[1] else { panic!() };
        let AssistantPart::Call(call) = &content[0] else { panic!() };
        assert_eq!(&*call.arguments, sent);
    }
}
