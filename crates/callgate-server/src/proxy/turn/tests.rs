//! Facts of one answer: replies in, decisions out.

use callgate_contract::surface::Family;
use callgate_wire::{Opaque, Part, Retry, ToolDefinition};
use serde_json::value::RawValue;

use super::*;

fn contracts() -> Arc<Contracts> {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let tool = |name: &str| ToolDefinition {
        name: name.into(),
        parameters: RawValue::from_string(schema.to_owned()).unwrap().into(),
        ..ToolDefinition::default()
    };
    Arc::new(Contracts::read(&[tool("f"), tool("g")], Family::Compatible).unwrap())
}

fn turn(request: Request) -> Turn {
    let bounds = Bounds { attempts: 4, tokens: None, mode: Mode::Lenient };
    Turn::new(contracts(), request, bounds, "seed".into())
}

fn call(id: &str, name: &str, arguments: &str) -> AssistantPart {
    let (id, name) = (id.into(), name.into());
    AssistantPart::Call(ToolCall { id, name, arguments: arguments.into(), opaque: None })
}

fn text(text: &str) -> AssistantPart {
    AssistantPart::Text { text: text.into() }
}

fn thought(text: &str, provider: &str) -> AssistantPart {
    let state = Opaque { provider: provider.into(), json: "{}".into(), model: None };
    AssistantPart::Reasoning { text: text.into(), opaque: Some(state) }
}

fn reply(content: Vec<AssistantPart>) -> Reply {
    let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
    Reply { content, stop: Stop::End, usage, model: None, notes: Vec::new() }
}

#[track_caller]
fn answer(next: Next) -> Reply {
    match next {
        Next::Done(answer) => answer.whole(),
        other => panic!("no answer: {other:?}"),
    }
}

#[track_caller]
fn goes_back(next: &Next) {
    assert!(matches!(next, Next::Again), "{next:?}");
}

#[test]
fn every_call_of_a_reply_that_goes_back_is_answered() {
    let mut turn = turn(Request::default());
    let content =
        vec![call("a", "f", "{\"n\": 1}"), call("b", "g", "{}"), call("a", "f", "{'n': 2}")];
    goes_back(&turn.replied(reply(content)));
    let [said, results @ ..] = &turn.request().messages[..] else { panic!("nothing goes back") };
    let Message::Assistant { content } = &**said else { panic!("{said:?}") };
    let calls: Vec<_> = calls(content).map(|c| (&*c.id, &*c.arguments)).collect();
    // The right ones as the gate took them, the wrong one as it came; ids are one to a call.
    assert_eq!(calls, [("a", "{\"n\": 1}"), ("b", "{}"), ("call_seed0", "{\"n\": 2}")]);
    let told: Vec<_> = results
        .iter()
        .map(|message| {
            let Message::Tool(result) = &**message else { panic!("{message:?}") };
            let [Part::Text { text }] = &result.content[..] else { panic!("{result:?}") };
            let kind = if text.contains("accepted") { "accepted" } else { "refused" };
            (&*result.call_id, result.is_error, kind)
        })
        .collect();
    let expected =
        [("a", false, "accepted"), ("b", true, "refused"), ("call_seed0", false, "accepted")];
    assert_eq!(told, expected);

    // The ones that waited, then the new one, before which they were made.
    let whole = answer(turn.replied(reply(vec![text("Now."), call("c", "g", "{\"n\":3}")])));
    let ids: Vec<_> = whole.calls().map(|call| &*call.id).collect();
    assert_eq!(ids, ["a", "call_seed0", "c"]);
    assert_eq!(whole.usage, Usage { input_tokens: 20, output_tokens: 10, ..Usage::default() });
}

#[test]
fn a_choice_is_relaxed_once_a_call_is_accepted() {
    for (choice, after) in [
        (ToolChoice::Some, ToolChoice::Auto),
        (ToolChoice::Auto, ToolChoice::Auto),
        (
            ToolChoice::Subset { names: vec!["f".into(), "g".into()], required: true },
            ToolChoice::Subset { names: vec!["f".into(), "g".into()], required: false },
        ),
    ] {
        let request = || Request { tool_choice: choice.clone(), ..Request::default() };
        let mut one = turn(request());
        goes_back(&one.replied(reply(vec![call("a", "f", "{}")])));
        assert_eq!(one.request().tool_choice, choice, "nothing is accepted yet");
        let mut two = turn(request());
        goes_back(&two.replied(reply(vec![call("a", "f", "{\"n\":1}"), call("b", "g", "{}")])));
        assert_eq!(two.request().tool_choice, after);
    }
}

#[test]
fn state_goes_to_the_client_where_it_may_stand_alone() {
    // Provider, what comes after the thought, whether its state is handed on.
    for (provider, after, kept) in [
        ("responses", None, false),
        ("responses", Some("Words."), true),
        ("anthropic", None, true),
        ("anthropic", Some("Words."), true),
    ] {
        let mut turn = turn(Request::default());
        let mut content = vec![thought("Hm.", provider)];
        content.extend(after.map(text));
        content.push(call("a", "f", "{}"));
        goes_back(&turn.replied(reply(content.clone())));
        // The model always gets its own state back.
        let said = turn.request().messages[0].clone();
        assert_eq!(*said, Message::Assistant { content });
        let last = vec![thought("So.", provider), call("b", "f", "{\"n\":1}")];
        let whole = answer(turn.replied(reply(last)));
        let states = whole
            .content
            .iter()
            .filter(|part| matches!(part, AssistantPart::Reasoning { opaque: Some(_), .. }));
        assert_eq!(states.count(), if kept { 2 } else { 1 }, "{provider} {after:?}");
        let told = Remark::StateNotHandedOn { count: 1 };
        assert_eq!(turn.told().notes.contains(&told), !kept);
    }
}

#[test]
fn a_filter_in_the_midst_of_a_call() {
    let mut turn = turn(Request::default());
    let content = vec![text("No."), call("a", "f", "{\"n\":1}")];
    let whole = answer(turn.replied(Reply { stop: Stop::Refusal, ..reply(content) }));
    assert_eq!((whole.content, whole.stop), (vec![text("No.")], Stop::Refusal));
    assert!(matches!(turn.told().notes[..], [Remark::CallsLeftOut { .. }]));
}

#[test]
fn a_lost_reply_is_asked_for_again_unless_words_of_it_are_out() {
    let error = |kind| ProviderError::new(kind, "lost", Retry::Backoff);
    let lost = error(ProviderErrorKind::StreamIncomplete);
    let mut one = turn(Request::default());
    goes_back(&one.failed(&lost, ""));
    goes_back(&one.failed(&lost, ""));
    assert!(matches!(one.failed(&lost, ""), Next::Over(_)), "twice is enough");
    assert!(matches!(turn(Request::default()).failed(&lost, "Let"), Next::Over(_)));

    // A call that the provider threw away: what was said stays, and is not said again.
    let malformed = error(ProviderErrorKind::MalformedCall);
    let mut two = turn(Request::default());
    goes_back(&two.failed(&malformed, "Let me see."));
    let messages = &two.request().messages;
    assert_eq!(*messages[0], Message::assistant("Let me see."));
    assert!(matches!(&*messages[1], Message::User { .. }));
    let whole = answer(two.replied(reply(vec![call("b", "f", "{\"n\":1}")])));
    assert_eq!(whole.text(), "Let me see.");

    for kind in
        [ProviderErrorKind::RateLimit, ProviderErrorKind::Transport, ProviderErrorKind::Auth]
    {
        assert!(matches!(turn(Request::default()).failed(&error(kind), ""), Next::Over(_)));
    }
}

#[test]
fn nothing_is_handed_on_when_it_ends_in_a_refusal() {
    let bounds = Bounds { attempts: 2, tokens: None, mode: Mode::Strict };
    let mut turn = Turn::new(contracts(), Request::default(), bounds, "seed".into());
    goes_back(
        &turn.replied(reply(vec![call("a", "f", "{\"n\":1}"), call("b", "f", "{\"n\":\"2\"}")])),
    );
    let Next::Over(refusal) = turn.replied(reply(vec![call("c", "f", "{\"n\":\"2\"}")])) else {
        panic!("that is not strict")
    };
    assert_eq!(
        (refusal.kind, refusal.code.as_deref()),
        (RefusalKind::CallsRefused, Some("calls_refused"))
    );
    assert!(refusal.message.contains("2 times") && refusal.message.contains("\"f\""), "{refusal}");
}
