//! Every reported failure of arguments: the client gets calls that their schema admits, or one
//! clear error.

use callgate_contract::{document::Document, schema::Schema};
use callgate_server::proxy::ProxyOptions;
use callgate_wire::inbound::Dialect;
use serde_json::Value;

use crate::{
    client::{Ask, Served},
    provider::{Api, Provider, Say},
};

#[tokio::test]
async fn reported_failures() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/cases.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    let provider = Provider::start(Vec::new()).await;
    let proxy = Served::start(provider.registry(), ProxyOptions::default()).await;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).unwrap();
        if !matches!(case["family"].as_str(), Some("malformed-json" | "schema-mismatch")) {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let input = &case["input"];
        let schema: &'static Value = Box::leak(Box::new(input["schema"].clone()));
        let raw: &'static str =
            Box::leak(input["arguments_raw"].as_str().unwrap().to_owned().into_boxed_str());
        let cut = input["finish_reason"] == "length";
        let reply = Say { calls: vec![("call_1", "tool", raw)], cut, ..Say::default() };
        for mode in ["strict", "lenient"] {
            let stated = [&case["expected"]["any"], &case["expected"][mode]];
            let stated = stated.into_iter().find(|stated| !stated.is_null());
            // A client has no place for other names of arguments.
            let outcome = stated.filter(|_| mode == "strict" || input.get("aliases").is_none());
            let outcome = outcome.map(|stated| stated["outcome"] == "execute");
            for streamed in [false, true] {
                for dialect in Dialect::ALL {
                    let row = format!("{id}, {mode}, {dialect:?}, streamed: {streamed}");
                    provider.play(vec![reply.clone(); 2]);
                    let ask = Ask {
                        tools: vec![("tool", schema.clone())],
                        headers: vec![
                            (
                                "x-callgate-mode",
                                if mode == "strict" { "strict" } else { "lenient" },
                            ),
                            ("x-callgate-attempts", "2"),
                        ],
                        ..Ask::of(Api::Chat.model(), streamed)
                    };
                    let got = proxy.ask(dialect, &ask).await;
                    // Whatever is handed on, its schema admits.
                    let compiled = Schema::compile_as_given(schema.clone()).unwrap();
                    for (_, arguments) in got.made() {
                        let doc = Document::parse(arguments)
                            .unwrap_or_else(|e| panic!("{row}: {e:?}: {arguments}"));
                        assert!(compiled.admits(doc.root()), "{row}: {arguments}");
                        *counts.entry("admitted").or_default() += 1;
                    }
                    let (Some(runs), Some(stated)) = (outcome, stated) else {
                        // What comes of it is not stated; that it is one of the two is.
                        assert_ne!(got.calls.is_empty(), got.status == 200, "{row}: {}", got.raw);
                        continue;
                    };
                    if runs {
                        assert_eq!(
                            (got.status, got.calls.len(), got.attempts()),
                            (200, 1, 1),
                            "{row}: {}",
                            got.raw
                        );
                        let arguments = &got.calls[0].2;
                        if let Some(expected) = stated.get("arguments_json") {
                            assert_eq!(
                                arguments.replace(' ', ""),
                                expected.as_str().unwrap().replace(' ', ""),
                                "{row}"
                            );
                        } else {
                            let arguments: Value = serde_json::from_str(arguments).unwrap();
                            assert_eq!(arguments, stated["arguments"], "{row}");
                        }
                        continue;
                    }
                    assert_eq!(got.calls, [], "{row}: {}", got.raw);
                    assert_eq!(provider.seen().len(), 2, "{row}");
                    if cut {
                        assert_eq!((got.status, got.stop), (200, "length"), "{row}: {}", got.raw);
                    } else {
                        // Nothing was said before, so the error has its status.
                        assert_eq!(got.status, 422, "{row}: {}", got.raw);
                        let kind = stated["error"]["class"].as_str().unwrap_or("schema_mismatch");
                        assert!(got.message().contains(kind), "{row}: {}", got.message());
                    }
                    *counts.entry("refused").or_default() += 1;
                }
            }
        }
    }
    println!("{counts:?}");
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), ["admitted", "refused"]);
}
