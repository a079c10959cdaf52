use super::*;

const MODERN: Terms = Terms { is_modern: true, structured_is_any: true };
const LEGACY: Terms = Terms { is_modern: false, structured_is_any: false };

fn told_of(text: &str, terms: Terms) -> String {
    let raw = RawValue::from_string(text.to_owned()).unwrap();
    match read(&raw, terms) {
        Outcome::InputRequired(input) => format!(
            "input {} {}",
            input.input_requests.map_or(0, |r| r.len()),
            input.request_state.map_or_else(|| "none".to_owned(), |s| s.get().to_owned())
        ),
        Outcome::Task(task) => format!("task {} {}", task.task_id, task.status),
        Outcome::Unusable(why) => format!("unusable: {why}"),
        Outcome::Complete(Complete { result: Err(failure), .. }) => {
            assert_eq!(failure.kind, ErrorKind::ToolError);
            format!("error: {}", failure.message)
        }
        Outcome::Complete(Complete { result: Ok(output), notes }) => {
            let blocks: Vec<String> = output
                .content
                .iter()
                .map(|block| match block {
                    Content::Text { text } => text.to_string(),
                    Content::Image { media_type, .. } => format!("<{media_type}>"),
                    Content::Other { json } => json.to_string(),
                })
                .collect();
            let structured = output.structured.as_deref().unwrap_or("-");
            format!("{} | {structured} | {}", blocks.join(" + "), notes.join("; "))
        }
    }
}

#[test]
fn results() {
    let rows = [
        (r#"{"content":[{"type":"text","text":"hi"}]}"#, "hi | - | "),
        (
            r#"{"content":[{"type":"video","data":"x"},{"type":"text","text":"hi"}]}"#,
            "{\"type\":\"video\",\"data\":\"x\"} + hi | - | a content block is of the unknown type \"video\"",
        ),
        (r#"{"structuredContent":[1,2]}"#, " | [1,2] | "),
        (r#"{"structuredContent":null}"#, " | null | "),
        (
            r#"{"content":[],"structuredContent":{"id":123456789012345678901234567890,"f":1.0}}"#,
            " | {\"id\":123456789012345678901234567890,\"f\":1.0} | ",
        ),
        ("{}", " | - | "),
        (r#"{"content":null}"#, " | - | "),
        (r#"{"content":"plain"}"#, "plain | - | `content` is a string, not a list of blocks"),
        (r#"{"content":{"a":1}}"#, "{\"a\":1} | - | `content` is no list of blocks"),
        (r#"{"content":[7]}"#, "7 | - | a content block cannot be read: `7`"),
        (
            r#"{"content":[{"type":"image","data":"AA=="}]}"#,
            "{\"type\":\"image\",\"data\":\"AA==\"} | - | a content block of the type image lacks a part",
        ),
        (
            r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}"#,
            "<image/png> | - | ",
        ),
        (
            r#"{"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]}"#,
            "{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"a\"} | - | ",
        ),
        (r#"{"isError":true,"content":[{"type":"text","text":"no such"}]}"#, "error: no such"),
        (r#"{"isError":"true","content":[{"type":"text","text":"no such"}]}"#, "error: no such"),
        (r#"{"isError":1,"content":[]}"#, "error: the tool reported an error without words"),
        (r#"{"isError":"false","content":[]}"#, " | - | `isError` is \"false\", not a boolean"),
        (
            r#"{"isError":true,"content":[{"type":"text","text":"no such"}],"structuredContent":{"error":"no such"}}"#,
            "error: no such",
        ),
        (
            r#"{"isError":true,"content":[{"type":"text","text":"no"}],"structuredContent":{"code":12345678901234567890}}"#,
            "error: no\nDetails: {\"code\":12345678901234567890}",
        ),
        (r#"{"isError":true,"structuredContent":{"code":1}}"#, "error: {\"code\":1}"),
        ("null", "unusable: its result is no tool result: `null`"),
        (
            r#"{"resultType":"future","content":[]}"#,
            "unusable: its result is of the type \"future\", which this protocol does not have here",
        ),
        (r#"{"resultType":"complete","content":[{"type":"text","text":"hi"}]}"#, "hi | - | "),
    ];
    for (text, expected) in rows {
        for terms in [MODERN, LEGACY] {
            assert_eq!(told_of(text, terms), expected, "{text}");
        }
    }
}

#[test]
fn results_of_the_new_protocol() {
    let input = r#"{"resultType":"input_required","inputRequests":{"q":{"method":"m"}},"requestState":"a\u0062\/"}"#;
    assert_eq!(told_of(input, MODERN), r#"input 1 "a\u0062\/""#);
    assert!(told_of(input, LEGACY).starts_with("unusable"));
    let task = r#"{"resultType":"task","taskId":"t","status":"working","ttlMs":null}"#;
    assert_eq!(told_of(task, MODERN), "task t working");
    assert!(told_of(task, LEGACY).starts_with("unusable"));
    assert!(told_of(r#"{"resultType":"task"}"#, MODERN).starts_with("unusable"));
}

#[test]
fn a_value_that_is_no_object_is_marked_for_the_gate() {
    let raw = RawValue::from_string(r#"{"structuredContent":[1]}"#.to_owned()).unwrap();
    for (terms, object_only) in [(MODERN, false), (LEGACY, true)] {
        let Outcome::Complete(Complete { result: Ok(output), .. }) = read(&raw, terms) else {
            panic!("it is complete");
        };
        assert_eq!(output.object_only, object_only);
    }
}
