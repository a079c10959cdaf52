//! A transcript begun on one provider goes on with each of the others.

use std::{fmt::Write as _, sync::Arc};

use callgate_wire::{Message, Request};

use crate::{Dialect, decode, dialects, requests, shown};

/// The request of the second hop: the dialect's own recorded reply and a result for each call.
pub(crate) fn begun_on(dialect: &Dialect) -> Request {
    let recorded = decode::recorded(dialect);
    let recorded = recorded.iter().find(|one| one.name == "calls.json").unwrap();
    let reply = decode::decode(dialect, recorded, &[]).1.unwrap();
    let results: Vec<_> = reply
        .calls()
        .map(|call| requests::result(&call.id, &call.name, vec![requests::text("fine")]))
        .collect();
    let said = Message::Assistant { content: reply.content };
    let mut messages = vec![requests::user("Who is it, and when?"), Arc::new(said)];
    messages.extend(results);
    Request { messages, tools: requests::tools(), ..Request::default() }
}

#[test]
fn every_pair() {
    for from in dialects().iter().filter(|from| from.name != "compatible") {
        let request = begun_on(from);
        let mut out = String::new();
        for to in dialects() {
            let post = to.codec.encode(&to.addressed(&request), false);
            let body = shown::body(&post);
            let lines = body.lines().filter(|line| {
                ["messages[]", "input[]", "contents[]", "note "]
                    .iter()
                    .any(|part| line.contains(part))
            });
            writeln!(out, "== to {}", to.name).unwrap();
            for line in lines {
                writeln!(out, "{line}").unwrap();
            }
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("continued/{}", from.name), out);
        });
    }
}
