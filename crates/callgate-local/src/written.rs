//! Calls that a model wrote without a grammar, read as servers read them.
//!
//! What the chat templates of these models ask for is `<tool_call>` around JSON: an object with
//! `name` and `arguments`, or a list of such. Models forget the marks, and put the JSON in a code fence or
//! nowhere at all; servers that go by the same templates read that as well, and so does this.
//!
//! Arguments are text here: whatever stands between their colon and the end of the call, broken or
//! not. Judging and mending it is the gate's work.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Deserializer, value::RawValue};

/// What stands before a call.
pub(crate) const OPEN: &str = "<tool_call>";
/// What stands after one.
pub(crate) const CLOSE: &str = "</tool_call>";

/// A call as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) name: Arc<str>,
    /// Empty where the call has none.
    pub(crate) arguments: Arc<str>,
}

#[derive(Deserialize)]
struct Call<'a> {
    name: String,
    // Llama's templates say `parameters`.
    #[serde(borrow, alias = "parameters")]
    arguments: Option<&'a RawValue>,
}

/// The calls in a reply, in order; none where it is text.
pub(crate) fn calls(reply: &str) -> Vec<Written> {
    let mut blocks = reply.split(OPEN).skip(1).peekable();
    if blocks.peek().is_some() {
        return blocks
            .flat_map(|block| block_calls(block.split(CLOSE).next().unwrap_or(block)))
            .collect();
    }
    let bare = without_fence(reply.trim());
    if bare.starts_with(['{', '[']) { block_calls(bare) } else { Vec::new() }
}

/// The inside of a code fence that is around the whole.
fn without_fence(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.strip_prefix("json").unwrap_or(inside);
    inside.trim_end().strip_suffix("```").unwrap_or(inside).trim()
}

fn block_calls(block: &str) -> Vec<Written> {
    let mut calls = Vec::new();
    for values in Deserializer::from_str(block).into_iter::<&RawValue>() {
        let Ok(value) = values else { return broken(block) };
        let text = value.get();
        let read = match text.starts_with('[') {
            true => serde_json::from_str::<Vec<Call<'_>>>(text),
            false => serde_json::from_str(text).map(|call| vec![call]),
        };
        // JSON that is no call is none.
        calls.extend(read.into_iter().flatten().map(written));
    }
    calls
}

fn written(call: Call<'_>) -> Written {
    let arguments = call.arguments.map_or("", RawValue::get);
    Written { name: call.name.into(), arguments: arguments.into() }
}

/// What can be told of calls whose JSON is broken: each from its `"name"` to the next.
fn broken(block: &str) -> Vec<Written> {
    const NAME: &str = "\"name\"";
    let starts: Vec<usize> = block.match_indices(NAME).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([block.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| {
            let rest = after_colon(&block[start + NAME.len()..end])?;
            let mut name = Deserializer::from_str(rest).into_iter::<String>();
            let found = name.next()?.ok()?;
            let rest = &rest[name.byte_offset()..];
            Some(Written { name: found.into(), arguments: broken_arguments(rest).into() })
        })
        .collect()
}

/// The arguments' whole value where they are whole, else all that is left of the call.
fn broken_arguments(rest: &str) -> &str {
    let key = ["\"arguments\"", "\"parameters\""]
        .iter()
        .find_map(|key| rest.split_once(key).map(|(_, value)| value));
    let Some(value) = key.and_then(after_colon) else { return "" };
    if let Some(Ok(whole)) = Deserializer::from_str(value).into_iter::<&RawValue>().next() {
        return whole.get();
    }
    // The brace of the call itself, the bracket of the list, the beginning of the next call.
    let value = value.trim_end().trim_end_matches('{').trim_end().trim_end_matches(',').trim_end();
    let value = value.strip_suffix(']').unwrap_or(value).trim_end();
    value.strip_suffix('}').unwrap_or(value).trim_end()
}

fn after_colon(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(':').map(str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(reply: &str, expected: &[(&str, &str)]) {
        let read = calls(reply);
        let read: Vec<(&str, &str)> = read.iter().map(|c| (&*c.name, &*c.arguments)).collect();
        assert_eq!(read, expected, "{reply}");
    }

    #[test]
    fn marked_fenced_and_bare_calls_are_read() {
        let one = r#"{"name": "get", "arguments": {"id": 1.10}}"#;
        let read = [("get", r#"{"id": 1.10}"#)];
        reads(&format!("<tool_call>\n{one}\n</tool_call>"), &read);
        reads(&format!("<tool_call>\n[{one}]\n</tool_call>"), &read);
        reads(&format!("Let me see.\n<tool_call>{one}"), &read);
        reads(&format!("```json\n{one}\n```"), &read);
        reads(one, &read);
        reads(r#"{"name": "get", "parameters": {"id": 1.10}}"#, &read);
        let two = [read[0], read[0]];
        reads(&format!("<tool_call>\n{one}\n</tool_call>\n<tool_call>\n{one}\n</tool_call>"), &two);
        reads(&format!("<tool_call>\n[{one}, {one}]\n</tool_call>"), &two);
        reads(&format!("<tool_call>\n{one}\n{one}\n</tool_call>"), &two);
        reads(r#"<tool_call>{"name": "list"}</tool_call>"#, &[("list", "")]);
    }

    #[test]
    fn text_is_no_call() {
        for text in [
            "",
            "Hello!",
            r#"Use {"name": "get", "arguments": {}} for that."#,
            r#"{"city": "Lisbon"}"#,
            "[1, 2]",
            "<tool_call></tool_call>",
        ] {
            reads(text, &[]);
        }
    }

    #[test]
    fn broken_arguments_come_as_they_are() {
        reads(
            r#"<tool_call>{"name": "get", "arguments": {'id': 1}}</tool_call>"#,
            &[("get", "{'id': 1}")],
        );
        reads(
            r#"<tool_call>[{"name": "get", "arguments": {"id": 1,}}]</tool_call>"#,
            &[("get", r#"{"id": 1,}"#)],
        );
        // The call's own brace is missing: its arguments are whole.
        reads(
            r#"<tool_call>[{"name": "get", "arguments": {"id": 1}]</tool_call>"#,
            &[("get", r#"{"id": 1}"#)],
        );
        reads(
            r#"<tool_call>[{"name": "get", "arguments": {"id": 1,}}, {"name": "get", "arguments": {"id": 2}}"#,
            &[("get", r#"{"id": 1,}"#), ("get", r#"{"id": 2}"#)],
        );
        // Cut off.
        reads(
            r#"<tool_call>[{"name": "get", "arguments": {"id": "T-"#,
            &[("get", r#"{"id": "T-"#)],
        );
        reads(r#"<tool_call>[{"name": "ge"#, &[]);
    }
}
