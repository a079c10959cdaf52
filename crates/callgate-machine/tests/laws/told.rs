//! Laws 5 and 11: what the model is told comes from one place, and nothing is dropped in silence.

use std::path::Path;

use callgate_contract::{Content, Envelope, ErrorKind, Failure, Output, shape::Omission};
use callgate_machine::{Agent, Event};
use serde_json::json;

use crate::play::{self, World, calls};

/// Every way for a call to come to nothing ends in an envelope of the contract's.
#[test]
fn law_5_every_refusal_is_an_envelope() {
    let contracts = [
        json!({ "name": "t", "input": { "type": "object", "properties": { "n": { "type": "integer" } } } }),
        json!({ "name": "never", "tier": "block", "input": { "type": "object" } }),
        json!({ "name": "asks", "tier": "approve", "input": { "type": "object" } }),
        json!({ "name": "ruled", "input": { "type": "object" },
                "rules": [{ "id": "no", "check": "false", "message": "Never." }] }),
        json!({ "name": "promises", "input": { "type": "object" }, "output": { "type": "array" } }),
    ];
    let reply = calls(&[
        ("1", "t", "{"),
        ("2", "t", r#"{"n": []}"#),
        ("3", "nobody", "{}"),
        ("4", "never", "{}"),
        ("5", "asks", "{}"),
        ("6", "ruled", "{}"),
        ("7", "promises", "{}"),
        ("8", "t", r#"{"n": 1}"#),
    ]);
    let world = World {
        model: Box::new(play::script(vec![reply])),
        tool: Box::new(|call| match &*call.tool.name {
            "t" => Err(Failure::new(ErrorKind::TransportLost, "the connection broke")),
            _ => Ok(Output::json("{}")),
        }),
        person: Box::new(|question| {
            play::decided(question, callgate_machine::event::Decision::Reject { reason: None })
        }),
        ..World::default()
    };
    let played = play::play(&play::catalog(&contracts), play::start(Agent::default(), "go"), world);
    let kinds: Vec<ErrorKind> = played
        .results()
        .iter()
        .map(|(_, text)| {
            let envelope: Envelope = serde_json::from_str(text).unwrap();
            assert!(!envelope.ok && envelope.result.is_none());
            let fault = envelope.error.unwrap();
            assert!(!fault.message.is_empty());
            fault.kind
        })
        .collect();
    use ErrorKind as K;
    assert_eq!(
        kinds,
        [
            K::JsonSyntax,
            K::SchemaMismatch,
            K::UnknownTool,
            K::PolicyDenied,
            K::ApprovalRejected,
            K::RuleViolation,
            K::OutputMismatch,
            K::TransportLost,
        ]
    );
    // A blocked tool is not even offered.
    assert!(played.requests[0].tools.iter().all(|tool| &*tool.name != "never"));
}

/// No other source of the core writes a fault's words.
#[test]
fn law_5_only_the_envelope_writes_faults() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for package in ["callgate-contract", "callgate-machine", "callgate-wire"] {
        walk(&crates.join(package).join("src"), &mut |file, text| {
            if file.parent().is_some_and(|folder| folder.ends_with("envelope")) {
                return;
            }
            for word in
                ["fault.message =", "fault.hint =", "(Fault {", "= Fault {", "message.replace("]
            {
                let code = text.split("#[cfg(test)]").next().unwrap();
                assert!(!code.contains(word), "{} has {word:?}", file.display());
            }
        });
    }
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, visit);
        } else if path.extension().is_some_and(|e| e == "rs") {
            visit(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn law_11_every_adjustment_and_omission_is_in_an_event() {
    let contracts = [
        json!({ "name": "list", "input": { "type": "object", "properties": { "n": { "type": "integer" } } },
                "output": { "type": "object" }, "result": { "maxItems": 2 } }),
    ];
    let raw = r#"{"n": "3",}"#;
    let world = World {
        model: Box::new(play::script(vec![calls(&[("1", "functions.list", raw)])])),
        // JSON in a text block, and more items than the contract shows.
        tool: Box::new(|_| {
            Ok(Output {
                content: vec![Content::Text { text: r#"{"items": [1, 2, 3]}"#.into() }],
                ..Output::default()
            })
        }),
        ..World::default()
    };
    let played = play::play(&play::catalog(&contracts), play::start(Agent::default(), "go"), world);
    let gated = played.gated().next().unwrap();
    let names: Vec<String> = gated.adjustments.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["strip_namespace:functions.", "trailing_comma", "string_to_number:/n"]);
    assert_eq!(&*gated.raw, raw, "and what the model wrote stands beside it");

    let passed = played.records.iter().find_map(|r| match &r.event {
        Event::ResultPassed { call, adjustments, omissions } => {
            Some((call, adjustments, omissions))
        }
        _ => None,
    });
    let (call, adjustments, omissions) = passed.expect("the gate out told what it did");
    assert_eq!(&**call, "1");
    assert_eq!(adjustments[0].name, "structured_from_text");
    assert_eq!(*omissions, [Omission::Items { path: "/items".into(), kept: 2, total: 3 }]);
    // The model is told what it does not see.
    let (_, told) = &played.results()[0];
    assert!(
        told.contains(r#""omitted":[{"what":"items","path":"/items","kept":2,"total":3}]"#),
        "{told}"
    );
}

/// A tool's own mode holds for its results as for its arguments.
#[test]
fn a_strict_tool_mends_nothing_in_a_lenient_run() {
    let contracts = [
        json!({ "name": "t", "mode": "strict", "input": { "type": "object" }, "output": { "type": "object" } }),
    ];
    let world = World {
        model: Box::new(play::script(vec![calls(&[("1", "t", "{}"), ("2", "t", "{,}")])])),
        tool: Box::new(|_| Ok(Output::text("{}"))),
        ..World::default()
    };
    let played = play::play(&play::catalog(&contracts), play::start(Agent::default(), "go"), world);
    let told = played.results();
    assert!(told[0].1.contains("output_mismatch") && told[1].1.contains("json_syntax"), "{told:?}");
}
