//! Single facts of an answer: choices, ids, digits, what goes on to the provider.

use std::collections::HashSet;

use callgate_model::ScriptedModel;
use callgate_server::proxy::{Opened, ProxyOptions};
use callgate_wire::inbound::Dialect;
use serde_json::{Value, json};

use crate::{
    client::{Ask, Served},
    provider::{Api, Provider, SECRET, Say, say},
};

#[tokio::test]
async fn digits_and_spacing_are_the_models() {
    let schema = json!({ "type": "object", "properties": { "id": { "type": "integer" }, "x": { "type": "number" }, "s": { "type": "string" } } });
    let raw = r#"{"id": 9007199254740993,  "x": 1.10, "s": "größe \u00e9"}"#;
    for api in Api::ALL {
        for streamed in [false, true] {
            for dialect in Dialect::ALL {
                let provider = Provider::start(vec![say("", &[("c1", "f", raw)])]).await;
                let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
                let ask =
                    Ask { tools: vec![("f", schema.clone())], ..Ask::of(api.model(), streamed) };
                let got = proxy.ask(dialect, &ask).await;
                assert_eq!(got.made(), [("f", raw)], "{api:?} {dialect:?} {streamed}: {}", got.raw);
            }
        }
    }
}

#[tokio::test]
async fn one_call_at_a_time_where_that_is_asked() {
    let w = |id| (id, "get_weather", r#"{"city":"Oslo"}"#);
    let bad = ("b", "get_weather", "{}");
    for streamed in [false, true] {
        for dialect in Dialect::ALL {
            let script = vec![say("", &[w("a"), w("b"), w("c")])];
            let provider = Provider::start(script).await;
            let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
            let ask = Ask { parallel: false, ..Ask::of("gemini:m", streamed) };
            let got = proxy.ask(dialect, &ask).await;
            assert_eq!((got.calls.len(), got.attempts()), (1, 1), "{}", got.raw);
            let told = got.comment.map_or_else(
                || got.headers.iter().map(|(_, v)| v.clone()).collect(),
                |c| c.to_string(),
            );
            assert!(told.contains("callsLeftOut"), "{told}");

            // The first is what counts, and what is to be made again.
            let provider = Provider::start(vec![say("", &[bad, w("c")]), say("", &[w("d")])]).await;
            let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
            let got = proxy.ask(dialect, &ask).await;
            assert_eq!(
                got.calls.iter().map(|c| c.0.as_str()).collect::<Vec<_>>(),
                ["d"],
                "{}",
                got.raw
            );
            assert_eq!(got.attempts(), 2);
        }
    }
}

#[tokio::test]
async fn a_choice_is_held_whatever_the_provider_makes_of_it() {
    let weather = ("w", "get_weather", r#"{"city":"Oslo"}"#);
    let room = ("r", "book_room", r#"{"room":"1","nights":1}"#);
    // Choice, what the model says, the calls that the client gets, attempts.
    type Row = (&'static str, Vec<Say>, &'static [&'static str], u64);
    let rows: Vec<Row> = vec![
        ("required", vec![say("Hm.", &[]), say("", &[weather])], &["get_weather"], 2),
        ("required", vec![say("Hm.", &[]); 4], &[], 4),
        ("book_room", vec![say("", &[weather]), say("", &[room])], &["book_room"], 2),
        ("none", vec![say("", &[weather]), say("It rains.", &[])], &[], 2),
    ];
    for (choice, script, calls, attempts) in rows {
        for dialect in Dialect::ALL {
            for streamed in [false, true] {
                // Ollama cannot force anything.
                let provider = Provider::start(script.clone()).await;
                let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
                let ask = Ask { choice, ..Ask::of("ollama:m", streamed) };
                let got = proxy.ask(dialect, &ask).await;
                let row = format!("{choice} {dialect:?} {streamed}: {}", got.raw);
                assert_eq!(got.status, 200, "{row}");
                assert_eq!(
                    got.calls.iter().map(|c| c.1.as_str()).collect::<Vec<_>>(),
                    calls,
                    "{row}"
                );
                assert_eq!(got.attempts(), attempts, "{row}");
            }
        }
    }
}

#[tokio::test]
async fn ids_are_one_to_a_call_in_the_whole_conversation() {
    let w = ("same", "get_weather", r#"{"city":"Oslo"}"#);
    let o = ("same", "get_weather", r#"{"city":"Rome"}"#);
    for dialect in Dialect::ALL {
        let provider = Provider::start(vec![say("", &[w, o])]).await;
        let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
        let ask = Ask::of(Api::Chat.model(), false);
        let mut body = ask.body(dialect);
        // The id is taken by a call of before.
        let before = match dialect {
            Dialect::Chat => (
                "messages",
                json!([
                { "role": "assistant", "content": null, "tool_calls": [{ "id": "same", "type": "function", "function": { "name": "get_weather", "arguments": "{\"city\":\"Bern\"}" } }] },
                { "role": "tool", "tool_call_id": "same", "content": "rain: 1.10" } ]),
            ),
            Dialect::Responses => (
                "input",
                json!([
                { "type": "function_call", "call_id": "same", "name": "get_weather", "arguments": "{\"city\":\"Bern\"}" },
                { "type": "function_call_output", "call_id": "same", "output": "rain: 1.10" } ]),
            ),
            Dialect::Messages => (
                "messages",
                json!([
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "same", "name": "get_weather", "input": { "city": "Bern" } }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "same", "content": "rain: 1.10" }] } ]),
            ),
        };
        body[before.0].as_array_mut().unwrap().extend(before.1.as_array().unwrap().clone());
        let response = proxy.post(dialect.path(), &[], body.to_string()).await;
        let got = crate::client::Got::read(dialect, false, response).await;
        let ids: HashSet<&str> = got.calls.iter().map(|call| call.0.as_str()).collect();
        assert_eq!(ids.len(), 2, "{}", got.raw);
        assert!(!ids.contains("same"), "{ids:?}");
        for id in ids {
            assert!(
                id.len() <= 40
                    && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
                "{id}"
            );
        }
        // The result went on as it is.
        let seen = provider.seen();
        let tool =
            seen[0]["messages"].as_array().unwrap().iter().find(|m| m["role"] == "tool").unwrap();
        assert_eq!(
            (&tool["tool_call_id"], &tool["content"]),
            (&json!("same"), &json!("rain: 1.10"))
        );
    }
}

#[tokio::test]
async fn the_providers_key_is_the_servers_own_and_nobody_elses() {
    for (dialect, api) in [
        (Dialect::Chat, Api::Chat),
        (Dialect::Messages, Api::Anthropic),
        (Dialect::Responses, Api::Gemini),
    ] {
        let failure = format!(
            r#"{{"error":{{"type":"authentication_error","message":"wrong key {SECRET}"}}}}"#
        );
        let refused = Say { fails: Some((401, Vec::new(), failure)), ..Say::default() };
        let provider = Provider::start(vec![say("Hi.", &[]), refused]).await;
        let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
        let headers = vec![
            ("authorization", "Bearer the-clients"),
            ("x-api-key", "the-clients"),
            ("cookie", "the-clients"),
        ];
        let ask = Ask { headers, ..Ask::of(api.model(), false) };
        let got = proxy.ask(dialect, &ask).await;
        assert_eq!(got.text, "Hi.");
        let head = format!("{:?}", provider.heads());
        assert!(head.contains(SECRET) && !head.contains("the-clients"), "{head}");
        // A wrong key of the server's is not told as a wrong token of the client's.
        let got = proxy.ask(dialect, &ask).await;
        assert_eq!(got.status, 403, "{}", got.raw);
        assert!(!got.raw.contains(SECRET), "{}", got.raw);
    }
}

#[tokio::test]
async fn a_tool_that_is_no_contract_is_refused_before_anything_is_sent() {
    for dialect in Dialect::ALL {
        for streamed in [false, true] {
            let provider = Provider::start(Vec::new()).await;
            let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
            let bad = json!({ "type": "object", "properties": { "x": { "type": "objekt" } } });
            let ask = Ask {
                tools: vec![("good", json!({ "type": "object" })), ("bad", bad)],
                ..Ask::of("openai:m", streamed)
            };
            let got = proxy.ask(dialect, &ask).await;
            assert_eq!(got.status, 400, "{}", got.raw);
            assert!(
                got.message().contains("\"bad\"") && got.message().contains("/properties/x/type"),
                "{}",
                got.message()
            );
            assert_eq!(provider.seen().len(), 0);
        }
    }
}

#[tokio::test]
async fn tools_are_told_as_the_provider_takes_them_and_come_back_as_the_client_has_them() {
    // A name that no provider takes, and a schema that OpenAI's strict mode cannot say as it is.
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "integer" } }, "required": ["a"], "additionalProperties": false });
    for dialect in [Dialect::Chat, Dialect::Responses] {
        let provider =
            Provider::repeating(vec![say("", &[("c", "NAME", r#"{"a":"x","b":null}"#)])]).await;
        let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
        let ask = Ask {
            tools: vec![("files/read.all", schema.clone())],
            ..Ask::of("openai-chat:m", false)
        };
        let mut body = ask.body(dialect);
        match dialect {
            Dialect::Chat => body["tools"][0]["function"]["strict"] = true.into(),
            _ => body["tools"][0]["strict"] = true.into(),
        }
        let headers = [("x-callgate-attempts", "1")];
        let response = proxy.post(dialect.path(), &headers, body.to_string()).await;
        assert_eq!(response.status(), 422);
        let sent = provider.seen()[0]["tools"][0]["function"].clone();
        let name = sent["name"].as_str().unwrap();
        assert!(
            name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
            "{name}"
        );
        assert_eq!(sent["parameters"]["required"], json!(["a", "b"]), "{sent}");

        let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
        let provider =
            Provider::start(vec![say("", &[("c", name, r#"{"a":"x","b":null}"#)])]).await;
        let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
        let response = proxy.post(dialect.path(), &headers, body.to_string()).await;
        let got = crate::client::Got::read(dialect, false, response).await;
        assert_eq!(got.calls.len(), 1, "{}", got.raw);
        assert_eq!(got.calls[0].1, "files/read.all");
        assert_eq!(serde_json::from_str::<Value>(&got.calls[0].2).unwrap(), json!({ "a": "x" }));
    }
}

#[tokio::test]
async fn a_model_without_a_provider() {
    let script = r#"{ "replies": [
        { "text": "Let me see.", "calls": [ { "name": "get_weather", "arguments": { "town": "Oslo" } } ] },
        { "calls": [ { "name": "get_weather", "arguments": { "city": "Oslo" } } ] } ], "repeatLast": true }"#;
    for dialect in Dialect::ALL {
        for streamed in [false, true] {
            let opener = move |_: &str| -> Opened {
                Ok(std::sync::Arc::new(ScriptedModel::from_json(script)?))
            };
            let proxy = Served::start(opener, ProxyOptions::default()).await;
            let got = proxy.ask(dialect, &Ask::of("local:any", streamed)).await;
            assert_eq!(got.made(), [("get_weather", r#"{ "city": "Oslo" }"#)], "{}", got.raw);
            assert_eq!((got.text.as_str(), got.attempts()), ("Let me see.", 2), "{}", got.raw);
        }
    }
}

#[tokio::test]
async fn what_was_done_is_told() {
    let script = vec![
        say("", &[("a", "book_room", r#"{"room":"1","nights":0}"#)]),
        say("", &[("b", "book_room", r#"{"room":"1","nights":"3"}"#)]),
    ];
    for streamed in [false, true] {
        let provider = Provider::start(script.clone()).await;
        let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
        let got = proxy.ask(Dialect::Chat, &Ask::of("openai-chat:m", streamed)).await;
        assert_eq!(got.made(), [("book_room", r#"{"room": "1", "nights": 3}"#)]);
        assert_eq!(got.header("x-callgate-model"), Some("openai-chat:m"));
        assert!(got.header("x-request-id").unwrap().starts_with("req_"));
        let refused = json!([{ "name": "book_room", "kind": "schema_mismatch" }]);
        let repaired = json!([{ "name": "book_room", "by": ["string_to_number:/nights"] }]);
        if streamed {
            let comment = got.comment.unwrap();
            assert_eq!(
                (&comment["refused"], &comment["adjusted"]),
                (&refused, &repaired),
                "{comment}"
            );
        } else {
            let header =
                |name: &str| serde_json::from_str::<Value>(got.header(name).unwrap()).unwrap();
            assert_eq!(header("x-callgate-refused"), refused);
            assert_eq!(header("x-callgate-repaired"), repaired);
        }
    }
}
