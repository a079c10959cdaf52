//! The reported streams of `tests/cases/cases.jsonl`.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    Codec, Delta, ProviderError, ProviderErrorKind, Reply, Request, Stop,
    chat::{Chat, assemble},
};

#[derive(Deserialize)]
pub(super) struct Case {
    pub(super) id: String,
    family: String,
    input: Value,
    expected: Value,
}

impl Case {
    /// The network chunks; `None` for a case of another provider's codec.
    pub(super) fn chunks(&self) -> Option<Vec<Vec<u8>>> {
        if let Some(lines) = self.input.get("sse") {
            let lines: Vec<_> =
                lines.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
            return Some(vec![lines.join("\n").into_bytes()]);
        }
        let chunks = self.input.get("sse_chunks_b64")?.as_array().unwrap();
        Some(chunks.iter().map(|chunk| base64(chunk.as_str().unwrap())).collect())
    }

    pub(super) fn max_tokens(&self) -> Option<u32> {
        self.input.pointer("/request/max_tokens").map(|cap| cap.as_u64().unwrap() as u32)
    }
}

pub(super) fn streams() -> Vec<Case> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/cases.jsonl");
    std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Case>(line).unwrap())
        .filter(|case| case.family == "streaming")
        .collect()
}

/// Enough of a decoder for the file's own values.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let digit = DIGITS.iter().position(|known| *known == byte).unwrap();
        bits = bits << 6 | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

/// What the runtime makes of the result, in the words of the cases.
fn outcome(result: &Result<Reply, ProviderError>) -> Value {
    match result {
        Ok(reply) if reply.stop.is_cut() => {
            assert_eq!(reply.stop, Stop::Length);
            serde_json::json!({ "class": "output_truncated", "retryable": true })
        }
        Ok(reply) => {
            let calls = reply.calls().map(|call| {
                serde_json::json!({
                    "id": &*call.id, "name": &*call.name, "arguments_raw": &*call.arguments,
                })
            });
            calls.collect()
        }
        Err(error) => {
            let class = match error.kind {
                ProviderErrorKind::StreamIncomplete => "stream_incomplete",
                ProviderErrorKind::MalformedCall => "provider_malformed_call",
                _ => "provider_error",
            };
            let mut out = serde_json::json!({ "class": class, "retryable": error.is_retryable() });
            if class == "provider_error" {
                out["provider_type"] = error.provider_type.clone().into();
            }
            out
        }
    }
}

#[test]
fn reported_streams() {
    let mut seen = 0;
    for case in streams() {
        let Some(chunks) = case.chunks() else {
            // Gemini's own shape; the finish reason through a compatible endpoint is in `decode`.
            assert_eq!(case.id, "provider-marks-call-malformed");
            continue;
        };
        seen += 1;
        let result = assemble(chunks.iter().map(Vec::as_slice), case.max_tokens());
        let expected = &case.expected["any"];
        let wanted = match expected["outcome"].as_str().unwrap() {
            "assembled" => &expected["tool_calls"],
            _ => &expected["error"],
        };
        assert_eq!(outcome(&result), *wanted, "{}", case.id);
        if let Some(tokens) = expected.pointer("/usage/completion_tokens") {
            assert_eq!(result.unwrap().usage.output_tokens, tokens.as_u64().unwrap());
        }
    }
    assert_eq!(seen, 16);
}

fn run(chunks: &[&[u8]], cap: Option<u32>) -> (Vec<Delta>, Result<Reply, ProviderError>) {
    let request = Request { max_output_tokens: cap, ..Request::default() };
    let mut decoder = Chat::compatible().stream(&request);
    let mut deltas = Vec::new();
    for chunk in chunks {
        decoder.push(chunk, &mut deltas);
    }
    let result = decoder.finish(&mut deltas);
    (deltas, result)
}

/// Law 6, exhaustively: every stream cut at every byte, and at every byte at once.
#[test]
fn every_cut_gives_the_same() {
    let mut streams: Vec<(String, Vec<u8>, Option<u32>)> = streams()
        .iter()
        .filter_map(|case| Some((case.id.clone(), case.chunks()?.concat(), case.max_tokens())))
        .collect();
    for (name, stream) in super::stream::RECORDED {
        streams.push(((*name).to_owned(), stream.as_bytes().to_vec(), None));
    }
    for (id, stream, cap) in streams {
        let whole = run(&[&stream], cap);
        let bytes: Vec<_> = stream.chunks(1).collect();
        assert_eq!(run(&bytes, cap), whole, "{id}, byte by byte");
        for cut in 0..=stream.len() {
            let (head, tail) = stream.split_at(cut);
            assert_eq!(run(&[head, tail], cap), whole, "{id}, cut at {cut}");
        }
    }
}

/// Law 10: whatever a stream loses at its end, no call of it is given out as whole unless the
/// finish reason or the end marker came.
#[test]
fn a_stream_that_ends_early_gives_no_calls() {
    for case in streams() {
        let Some(chunks) = case.chunks() else { continue };
        let stream = chunks.concat();
        let ends = ["\"finish_reason\":\"", "[DONE]"].iter().filter_map(|end| {
            let end = end.as_bytes();
            stream.windows(end.len()).position(|window| window == end)
        });
        let first_end = ends.min().unwrap_or(stream.len());
        for cut in 0..first_end {
            let (_, result) = run(&[&stream[..cut]], case.max_tokens());
            assert!(result.is_err(), "{}, ended at {cut}", case.id);
        }
    }
}

mod any_input {
    use proptest::prelude::*;

    use super::run;
    use crate::{Codec, Request, chat::Chat};

    /// Pieces of which streams are made, and with which they are spoiled.
    const PIECES: &[&str] = &[
        "data: ",
        "{\"choices\":[{\"delta\":",
        "{\"tool_calls\":[{",
        "\"index\":0,",
        "\"index\":1,",
        "\"id\":\"a\",",
        "\"id\":\"b\",",
        "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}",
        "}]}",
        "\"function\":{\"arguments\":\"{\\\"x\\\":\"}",
        "{\"content\":\"<think>\"}",
        "{\"content\":\"é\"}",
        ",\"finish_reason\":\"stop\"",
        "}]}",
        "\n\n",
        "\r\n\r",
        "[DONE]",
        "{\"error\":{\"code\":500}}",
        "null",
        "<",
    ];

    fn fragments() -> impl Strategy<Value = String> {
        let fragment = (
            prop::option::of(0..3u8),
            prop::option::of(prop::sample::select(vec!["", "a", "b", "c"])),
            prop::option::of(prop::sample::select(vec!["", "f", "g", "fg"])),
            prop::option::of(prop::sample::select(vec![
                "",
                "{",
                "{}",
                "{\\\"x\\\":1}",
                ":1}",
                "1",
                "null",
            ])),
        );
        prop::collection::vec(fragment, 0..8).prop_map(|fragments| {
            let mut out = String::new();
            for (index, id, name, arguments) in fragments {
                let index = index.map_or("null".to_owned(), |index| index.to_string());
                let quoted = |text: Option<&str>| {
                    text.map_or("null".to_owned(), |text| format!("\"{text}\""))
                };
                out += &format!(
                    "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":{index},\"id\":{},\"function\":{{\"name\":{},\"arguments\":{}}}}}]}}}}]}}\n\n",
                    quoted(id), quoted(name), quoted(arguments),
                );
            }
            out + "data: [DONE]\n\n"
        })
    }

    proptest! {
        /// No panic, and law 6, whatever comes.
        #[test]
        fn pieces(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..40), cut in 0usize..400) {
            let stream = pieces.concat().into_bytes();
            let (head, tail) = stream.split_at(cut.min(stream.len()));
            prop_assert_eq!(run(&[&stream], Some(1)), run(&[head, tail], Some(1)));
            let _ = Chat::openai().decode(&Request::default(), 200, None, &stream);
            let _ = Chat::openai().decode(&Request::default(), 500, Some(1), &stream);
        }

        #[test]
        fn bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = run(&[&bytes], None);
            let _ = Chat::openai().decode(&Request::default(), 200, None, &bytes);
            let _ = Chat::openai().decode(&Request::default(), 500, None, &bytes);
        }

        /// Whatever fragments come, each call has an id of its own, and was told of if it has a name.
        #[test]
        fn calls_are_whole(stream in fragments()) {
            let (deltas, result) = run(&[stream.as_bytes()], None);
            if let Ok(reply) = result {
                let mut ids: Vec<_> = reply.calls().map(|call| call.id.clone()).collect();
                let count = ids.len();
                ids.sort();
                ids.dedup();
                prop_assert_eq!(ids.len(), count);
                prop_assert!(reply.calls().all(|call| !call.id.is_empty()));
                let named = reply.calls().filter(|call| !call.name.is_empty());
                prop_assert_eq!(deltas.len(), named.count());
            }
        }
    }
}
