//! A model of a few thousand meaningless numbers, in a vocabulary of single bytes.
//!
//! It says nothing sensible, and everything that holds for any model holds for it: its calls fit
//! their schemas, it stops at its limits, it says the same twice.

use std::collections::HashMap;

use candle_core::quantized::gguf_file::{Content, Value, VersionedMagic};

const SPECIAL: [&str; 7] = [
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
];

/// The metadata of such a file.
pub(crate) fn metadata() -> HashMap<String, Value> {
    let texts = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
    let mut tokens: Vec<String> = (0..=255u8).map(|byte| letter(byte).to_string()).collect();
    let mut kinds = vec![1; tokens.len()];
    tokens.extend(SPECIAL.map(str::to_owned));
    kinds.extend(SPECIAL.map(|_| 3));
    let text = |text: &str| Value::String(text.to_owned());
    [
        ("general.architecture", text("llama")),
        ("llama.context_length", Value::U32(8192)),
        ("llama.block_count", Value::U32(2)),
        ("llama.embedding_length", Value::U32(WIDTH)),
        ("llama.attention.head_count", Value::U32(2)),
        ("llama.attention.head_count_kv", Value::U32(1)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("tokenizer.ggml.model", text("gpt2")),
        ("tokenizer.ggml.pre", text("gpt-2")),
        ("tokenizer.ggml.tokens", texts(tokens)),
        ("tokenizer.ggml.token_type", Value::Array(kinds.into_iter().map(Value::I32).collect())),
        ("tokenizer.ggml.merges", texts(Vec::new())),
        ("tokenizer.ggml.eos_token_id", Value::U32(256)),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

/// Numbers in a token.
pub(crate) const WIDTH: u32 = 32;

/// Tokens of the vocabulary.
#[allow(dead_code, reason = "only the whole file needs it")]
pub(crate) const VOCABULARY: usize = 256 + SPECIAL.len();

/// The metadata as a file without tensors.
#[allow(dead_code, reason = "the integration tests write a whole file")]
pub(crate) fn content() -> Content {
    Content {
        magic: VersionedMagic::GgufV3,
        metadata: metadata(),
        tensor_infos: HashMap::new(),
        tensor_data_offset: 0,
    }
}

/// GPT-2's letter for a byte.
fn letter(byte: u8) -> char {
    let printable = |b: u8| matches!(b, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    if printable(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|b| !printable(*b)).count();
    char::from_u32(256 + before as u32).unwrap_or('?')
}
