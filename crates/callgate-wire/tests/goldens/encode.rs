//! Requests to bytes: one snapshot a request, a section a dialect.

use std::fmt::Write as _;

use crate::{dialects, requests, shown};

#[test]
fn every_request_on_every_dialect() {
    for (name, request) in requests::all() {
        let mut out = String::new();
        for dialect in dialects() {
            let post = dialect.codec.encode(&dialect.addressed(&request), false);
            // Bytes are the same from the same request, or no prompt cache holds.
            assert_eq!(dialect.codec.encode(&dialect.addressed(&request), false), post);
            let mut body = shown::body(&post);
            if name == "tools_130" {
                let tools = body.matches("\"tool_").count();
                body = body.lines().filter(|line| !line.contains("tools[]")).fold(
                    format!("({tools} names)\n"),
                    |all, line| {
                        let line = if line.len() > 400 { &line[..400] } else { line };
                        all + line + "\n"
                    },
                );
            }
            writeln!(out, "== {}: {body}", dialect.name).unwrap();
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("encode/{name}"), out);
        });
    }
}

/// Asked to stream, a body says so in one place and is otherwise the same.
#[test]
fn streamed() {
    let (_, request) = &requests::all()[0];
    let mut out = String::new();
    for dialect in dialects() {
        let [whole, streamed] = [false, true].map(|stream| {
            let post = dialect.codec.encode(&dialect.addressed(request), stream);
            shown::body(&post)
        });
        writeln!(out, "== {}", dialect.name).unwrap();
        for line in streamed.lines().filter(|line| !whole.contains(line)) {
            writeln!(out, "{line}").unwrap();
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("encode/streamed", out);
    });
}

/// Law 7: digits go through as they are, in arguments and in schemas.
#[test]
fn digits() {
    let requests = requests::all();
    let (_, request) = requests.iter().find(|(name, _)| *name == "parallel_results").unwrap();
    for dialect in dialects() {
        let post = dialect.codec.encode(&dialect.addressed(request), false);
        let body = String::from_utf8(post.body.into()).unwrap();
        let arguments = r#"{"id":1234567890123456789,"rate":1.10}"#;
        let quoted = serde_json::to_string(arguments).unwrap();
        assert!(body.contains(arguments) || body.contains(&quoted), "{}: {body}", dialect.name);
        assert!(body.contains(r#""minimum":1.10"#), "{}: {body}", dialect.name);
    }
}
