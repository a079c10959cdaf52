use super::*;

fn told(line: &[u8]) -> String {
    match read(line) {
        Ok(Incoming::Answer { id, body }) => {
            let id = match id {
                Id::Ours { number, exact: true } => number.to_string(),
                Id::Ours { number, exact: false } => format!("about {number}"),
                Id::None => "none".to_owned(),
                Id::Foreign(id) => format!("foreign {id}"),
            };
            match body {
                Ok(result) => format!("{id}: {result}"),
                Err(error) => format!("{id}: error {error}"),
            }
        }
        Ok(Incoming::Request { id, method, .. }) => format!("request {id} {method}"),
        Ok(Incoming::Notification { method, .. }) => format!("notification {method}"),
        Err(broken) => {
            let whose = broken.id.map_or_else(|| "nobody".to_owned(), |id| id.to_string());
            let what = if broken.is_answer { "answer" } else { "other" };
            format!("broken {what} of {whose}: {}", broken.fault)
        }
    }
}

#[test]
fn lines() {
    let rows: &[(&str, &str)] = &[
        (r#"{"jsonrpc":"2.0","id":3,"result":{"a":1.0}}"#, r#"3: {"a":1.0}"#),
        ("\u{feff}{\"id\":3,\"result\":{}}\r", "3: {}"),
        (r#"{"id":3.0,"result":1}"#, "about 3: 1"),
        (r#"{"id":"3","result":1}"#, "about 3: 1"),
        (r#"{"id":3.5,"result":1}"#, "foreign 3.5: 1"),
        (r#"{"id":-3,"result":1}"#, "foreign -3: 1"),
        (r#"{"id":3,"result":null}"#, "3: null"),
        (r#"{"id":3,"result":{},"error":null}"#, "3: {}"),
        (r#"{"id":3,"result":null,"error":{"code":-1,"message":"x"}}"#, "3: error x (-1)"),
        (r#"{"id":null,"error":{"code":-32700,"message":"Parse"}}"#, "none: error Parse (-32700)"),
        (r#"{"id":3,"error":"boom"}"#, "3: error \"boom\" (0)"),
        (r#"{"id":3,"error":{"code":-32601.0}}"#, "3: error without words (-32601)"),
        (r#"{"id":"e1","method":"ping"}"#, "request \"e1\" ping"),
        (r#"{"method":"notifications/x","params":null}"#, "notification notifications/x"),
        (r#"{"id":null,"method":"notifications/x"}"#, "notification notifications/x"),
        (
            r#"{"id":3,"result":{},"error":{"code":1,"message":"x"}}"#,
            "broken answer of 3: its answer holds a result and an error at once",
        ),
        (
            r#"{"id":3}"#,
            "broken answer of 3: it sent something that is neither request, notification nor answer: `{\"id\":3}`",
        ),
        (
            "Traceback: boom",
            "broken other of nobody: it wrote `Traceback: boom` where only messages may stand (logs go to stderr)",
        ),
        (
            "[1]",
            "broken other of nobody: it sent something that is neither request, notification nor answer: `[1]`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"result":{"a":"#,
            "broken answer of 4: it sent a message that is not JSON: `{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"a\":`",
        ),
    ];
    for (line, expected) in rows {
        assert_eq!(told(line.as_bytes()), *expected, "{line}");
    }
    let code_page = b"{\"id\":1,\"result\":{\"t\":\"a \x97 b\"}}";
    assert!(told(code_page).starts_with("broken answer of 1: it sent a message that is not UTF-8"));
}

#[test]
fn whose_answer_it_was() {
    let rows: &[(&str, Option<u64>)] = &[
        (r#"{"jsonrpc": "2.0", "id": 5, "result": {"content"#, Some(5)),
        (r#"{"id":7,"result":{"id":9}"#, Some(7)),
        (r#"{"result":{"content":[]],"jsonrpc":"2.0","id":8}"#, Some(8)),
        (r#"{"result":{"id":9"#, None),
        (r#"{"result":{"rows":[{"id":9}"#, None),
        (r#"{"jsonrpc":"2.0","id":"x","result""#, None),
        (r#"{"a\"id":3,"result":"#, None),
        ("", None),
    ];
    for (text, expected) in rows {
        assert_eq!(sniff_id(text.as_bytes()), *expected, "{text}");
    }
}

#[test]
fn what_we_write_is_one_line() {
    let params = Members::new().string("name", "a\"b\n").raw("arguments", "{\n \"n\": 1.0 }");
    let line = request(3, "tools/call", &params.object());
    assert_eq!(
        line,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a\"b\n","arguments":{  "n": 1.0 }}}"#
    );
}
