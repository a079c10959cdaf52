//! Law 10: a cut reply runs nothing.

use callgate_contract::{ErrorKind, Mode};
use callgate_machine::{Agent, event::GateVerdict};
use callgate_wire::{ProviderError, ProviderErrorKind, Retry, Stop};
use serde_json::json;

use crate::play::{self, World, call, reply};

#[test]
fn law_10_a_cut_reply_runs_nothing_however_whole_it_looks() {
    let contracts = [json!({ "name": "rm", "input": { "type": "object" } })];
    for mode in [Mode::Strict, Mode::Lenient] {
        for (stop, kind) in [
            (Stop::Length, ErrorKind::OutputTruncated),
            (Stop::Incomplete, ErrorKind::StreamIncomplete),
        ] {
            for arguments in ["{\"path\": \"x\"}", "{\"path\": \"x\"", "", "{}", "not json"] {
                let parts = vec![call("1", "rm", "{}"), call("2", "rm", arguments)];
                let world = World {
                    model: Box::new(play::script(vec![reply(parts, stop)])),
                    ..World::default()
                };
                let agent = Agent { mode, ..Agent::default() };
                let played =
                    play::play(&play::catalog(&contracts), play::start(agent, "go"), world);
                assert!(played.tools.is_empty(), "{stop:?} {arguments}");
                for gated in played.gated() {
                    let GateVerdict::Refused { fault } = &gated.verdict else {
                        panic!("{gated:?}")
                    };
                    assert_eq!(fault.kind, kind, "{stop:?} {arguments}");
                    assert!(gated.adjustments.is_empty(), "never mended");
                }
            }
        }
    }
}

/// A final answer that was cut is no answer either, by tool or by text.
#[test]
fn law_10_a_cut_answer_is_none() {
    let schema = json!({ "type": "object" });
    for stop in [Stop::Length, Stop::Incomplete] {
        let start =
            play::answering(play::start(Agent::default(), "go"), schema.clone(), Some("final"));
        let mut first = Some(reply(vec![call("1", "final", "{}")], stop));
        let second = play::calls(&[("2", "final", r#"{"second": true}"#)]);
        let world = World {
            model: Box::new(move |_| Ok(first.take().unwrap_or_else(|| second.clone()))),
            ..World::default()
        };
        let played = play::play(&play::catalog(&[]), start, world);
        assert_eq!(played.finish().value.as_deref(), Some(r#"{"second": true}"#), "{stop:?}");

        let text = callgate_wire::AssistantPart::Text { text: "{}".into() };
        let start = play::answering(play::start(Agent::default(), "go"), schema.clone(), None);
        let mut first = Some(reply(vec![text], stop));
        let world = World {
            model: Box::new(move |_| {
                Ok(first.take().unwrap_or_else(|| play::says(r#"{"second": 1}"#)))
            }),
            ..World::default()
        };
        let played = play::play(&play::catalog(&[]), start, world);
        assert_eq!(played.finish().value.as_deref(), Some(r#"{"second": 1}"#), "{stop:?}");
    }
}

#[test]
fn law_10_a_reply_that_never_came_is_asked_for_again_within_bounds() {
    for (kind, asked) in [
        (ProviderErrorKind::MalformedCall, 3),
        (ProviderErrorKind::StreamIncomplete, 3),
        (ProviderErrorKind::Auth, 1),
    ] {
        let world = World {
            model: Box::new(move |_| Err(ProviderError::new(kind, "lost", Retry::Backoff))),
            ..World::default()
        };
        let played = play::play(&play::catalog(&[]), play::start(Agent::default(), "go"), world);
        assert_eq!(played.requests.len(), asked, "{kind:?}");
        assert_eq!(played.finish().provider.as_ref().unwrap().kind, kind);
    }
}
