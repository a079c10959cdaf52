//! The worked examples that every choosing prompt holds.
//!
//! Their tools are nobody's: the grammar never lets them be called. They show when to call, when
//! to call again, how to go on from a result or an error, and when to answer.

use super::steps::Step;

/// Tools of the examples, in the shape of the real ones.
pub(super) const TOOLS: [&str; 2] = [
    r#"{"type":"function","function":{"name":"convert_currency","description":"Convert an amount of money from one currency to another","parameters":{"type":"object","properties":{"amount":{"type":"number"},"from":{"type":"string"},"to":{"type":"string"}},"required":["amount","from","to"],"additionalProperties":false}}}"#,
    r#"{"type":"function","function":{"name":"create_event","description":"Put an event in the calendar","parameters":{"type":"object","properties":{"title":{"type":"string"},"date":{"type":"string","format":"date"},"kind":{"type":"string","enum":["meeting","reminder"]}},"required":["title","date","kind"],"additionalProperties":false}}}"#,
];

const fn user(text: &'static str) -> Step<'static> {
    Step::User(std::borrow::Cow::Borrowed(text))
}

const fn call(
    name: &'static str,
    arguments: &'static str,
    response: &'static str,
) -> Step<'static> {
    Step::Call { name, arguments, response: std::borrow::Cow::Borrowed(response) }
}

const ANSWER: Step<'static> = Step::Answer(None);

pub(super) const STEPS: &[Step<'static>] = &[
    user("Good morning"),
    ANSWER,
    user("How much is 20 euros in yen?"),
    call(
        "convert_currency",
        r#"{"amount": 20, "from": "EUR", "to": "JPY"}"#,
        r#"{"amount": 3412.6}"#,
    ),
    ANSWER,
    user("remind me on 5 May 2024 to call Ana"),
    call(
        "create_event",
        r#"{"title": "call Ana", "date": "2024-05-05", "kind": "reminder"}"#,
        r#"{"id": 81}"#,
    ),
    ANSWER,
    user("Tell me a joke about cats"),
    ANSWER,
    user("35 GBP to USD and CAD"),
    call(
        "convert_currency",
        r#"{"amount": 35, "from": "GBP", "to": "USD"}"#,
        r#"{"amount": 44.1}"#,
    ),
    call(
        "convert_currency",
        r#"{"amount": 35, "from": "GBP", "to": "CAD"}"#,
        r#"{"amount": 60.3}"#,
    ),
    ANSWER,
    user("merci beaucoup"),
    ANSWER,
    user("Please set a meeting called Budget on 2024-06-11"),
    call(
        "create_event",
        r#"{"title": "Budget", "date": "2024-06-11", "kind": "meeting"}"#,
        r#"{"id": 82}"#,
    ),
    ANSWER,
    user("Who wrote Hamlet?"),
    ANSWER,
];
