//! The worked examples that every choosing prompt holds.
//!
//! Their tools are nobody's: the grammar never lets them be called. They show when to call, when
//! to call twice, how to go on from a result or a refusal, and when to answer; and that what may be
//! left out is left out unless somebody asked for it.

use super::steps::{Call, Outcome, Step};

/// Tools of the examples, in the shape of the real ones.
pub(super) const TOOLS: [&str; 2] = [
    r#"{"type":"function","function":{"name":"convert_currency","description":"Convert an amount of money from one currency to another","parameters":{"type":"object","properties":{"amount":{"type":"number"},"from":{"type":"string"},"to":{"type":"string"}},"required":["amount","from","to"],"additionalProperties":false}}}"#,
    r#"{"type":"function","function":{"name":"create_event","description":"Put an event in the calendar","parameters":{"type":"object","properties":{"title":{"type":"string"},"date":{"type":"string","format":"date"},"kind":{"type":"string","enum":["meeting","reminder"]},"place":{"type":"string","minLength":1}},"required":["title","date","kind"],"additionalProperties":false}}}"#,
];

const ANSWER: Step<'static> = Step::Answer(None);

fn user(text: &'static str) -> Step<'static> {
    Step::User(text.into())
}

fn calls<const N: usize>(list: [Call<'static>; N]) -> Step<'static> {
    Step::Calls(Vec::from(list))
}

fn convert(arguments: &'static str, response: &'static str) -> Call<'static> {
    Call { name: "convert_currency", arguments, response: response.into(), outcome: Outcome::Fine }
}

fn event(arguments: &'static str, response: &'static str) -> Call<'static> {
    Call { name: "create_event", arguments, response: response.into(), outcome: Outcome::Fine }
}

pub(super) fn steps() -> Vec<Step<'static>> {
    vec![
        user("Good morning"),
        ANSWER,
        user("How much is 20 euros in yen?"),
        calls([convert(r#"{"amount": 20, "from": "EUR", "to": "JPY"}"#, r#"{"amount": 3412.6}"#)]),
        ANSWER,
        user("Who wrote Hamlet?"),
        ANSWER,
        user("remind me to call Ana on 5 May 2024 and to pay the rent on the 9th"),
        calls([
            event(
                r#"{"title": "call Ana", "date": "2024-05-05", "kind": "reminder"}"#,
                r#"{"id": 81}"#,
            ),
            event(
                r#"{"title": "pay the rent", "date": "2024-05-09", "kind": "reminder"}"#,
                r#"{"id": 82}"#,
            ),
        ]),
        ANSWER,
        user("Tell me a joke about cats"),
        ANSWER,
        user("Convert 35 GBP to USD and put the result in my calendar for 2024-07-01"),
        calls([convert(r#"{"amount": 35, "from": "GBP", "to": "USD"}"#, r#"{"amount": 44.1}"#)]),
        calls([event(
            r#"{"title": "35 GBP = 44.1 USD", "date": "2024-07-01", "kind": "reminder"}"#,
            r#"{"id": 83}"#,
        )]),
        ANSWER,
        user("merci beaucoup"),
        ANSWER,
        user("Please set a meeting called Budget in room 4 on 2024-06-08"),
        calls([Call {
            outcome: Outcome::Refused,
            ..event(
                r#"{"title": "Budget", "date": "2024-06-08", "kind": "meeting", "place": "room 4"}"#,
                r#"{"error": {"kind": "rule_violation", "message": "2024-06-08 is a Saturday", "hint": "Use the next working day, 2024-06-10.", "retryable": true, "executed": false}}"#,
            )
        }]),
        calls([event(
            r#"{"title": "Budget", "date": "2024-06-10", "kind": "meeting", "place": "room 4"}"#,
            r#"{"id": 84}"#,
        )]),
        ANSWER,
        user("Please remind me of the dentist on 3 September 2024"),
        calls([Call {
            outcome: Outcome::Refused,
            ..event(
                r#"{"title": "Dentist", "date": "2024-09-03", "kind": "reminder", "place": ""}"#,
                r#"{"error": {"kind": "schema_mismatch", "message": "The arguments do not fit the tool's schema: /place must have at least 1 characters, got \"\". The tool was not called.", "hint": "Correct what is named above and call again; the same arguments would be refused again.", "retryable": true, "executed": false}}"#,
            )
        }]),
        calls([event(
            r#"{"title": "Dentist", "date": "2024-09-03", "kind": "reminder"}"#,
            r#"{"id": 85}"#,
        )]),
        ANSWER,
    ]
}
