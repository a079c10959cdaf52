//! Text to tokens and back, from the vocabulary inside the GGUF file.
//!
//! Two kinds of text never mix: *markup* is ours and may hold the model's control tokens
//! (`<|im_end|>`), *data* comes from users, tools and catalogs and may not. Data is tokenized with
//! every special token switched off, so a tool result that contains `<|im_end|>` is read as those
//! letters and cannot end its turn or open one in another's name.

use std::sync::Arc;

use candle_core::quantized::{
    gguf_file::{Content, Value},
    tokenizer::TokenizerFromGguf,
};
use llguidance::toktrie::{TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};
use tokenizers::{
    Tokenizer,
    pre_tokenizers::{
        PreTokenizerWrapper, byte_level::ByteLevel, digits::Digits, sequence::Sequence,
    },
};

use crate::{
    LocalError,
    model::{number, text},
    written,
};

/// What a token is for, by `tokenizer.ggml.token_type`. All but normal ones are control tokens here.
const NORMAL: usize = 1;

pub(crate) struct Vocabulary {
    trie: Arc<Canonical>,
    /// Markup's control tokens, longest first so that no one hides behind its own beginning.
    special: Vec<(String, u32)>,
    eos: u32,
}

struct Canonical {
    text: Tokenizer,
    trie: TokTrie,
}

impl TokenizerEnv for Canonical {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.tokenize_with_greedy_fallback(bytes, |text| {
            match self.text.encode_fast(text, false) {
                Ok(encoding) => encoding.get_ids().to_vec(),
                // The trait has no way to say no; bytes always have tokens of their own.
                Err(_) => self.trie.greedy_tokenize(text.as_bytes()),
            }
        })
    }
}

impl Vocabulary {
    pub(crate) fn read(content: &Content) -> Result<Self, LocalError> {
        let kind = text(content, "tokenizer.ggml.model").unwrap_or("none");
        if kind != "gpt2" {
            return Err(LocalError::Tokenizer(kind.to_owned()));
        }
        let mut tokenizer = Tokenizer::from_gguf(content)?;
        let pre = text(content, "tokenizer.ggml.pre").unwrap_or("default");
        if let Some(rule) = pre_tokenizer(pre)? {
            tokenizer.with_pre_tokenizer(Some(rule));
        }
        tokenizer.set_encode_special_tokens(true);

        let tokens = array(content, "tokenizer.ggml.tokens")?;
        let kinds = array(content, "tokenizer.ggml.token_type")?;
        let eos = content
            .metadata
            .get("tokenizer.ggml.eos_token_id")
            .and_then(|v| v.to_u32().ok())
            .filter(|id| (*id as usize) < tokens.len())
            .ok_or(LocalError::Metadata("tokenizer.ggml.eos_token_id"))?;
        let byte_of = byte_alphabet();
        let mut words = Vec::with_capacity(tokens.len());
        let mut special = Vec::new();
        for (id, (token, kind)) in (0u32..).zip(tokens.iter().zip(kinds)) {
            let word =
                token.to_string().map_err(|_| LocalError::Metadata("tokenizer.ggml.tokens"))?;
            if number(kind) == Some(NORMAL) {
                let bytes: Option<Vec<u8>> = word.chars().map(&byte_of).collect();
                words.push(bytes.ok_or(LocalError::Metadata("tokenizer.ggml.tokens"))?);
            } else {
                special.push((word.clone(), id));
                let mut bytes = vec![TokTrie::SPECIAL_TOKEN_MARKER];
                bytes.extend_from_slice(word.as_bytes());
                words.push(bytes);
            }
        }
        special.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        let size = u32::try_from(words.len())
            .map_err(|_| LocalError::Metadata("tokenizer.ggml.tokens"))?;
        let trie = TokTrie::from(&TokRxInfo::new(size, eos), &words);
        Ok(Self { trie: Arc::new(Canonical { text: tokenizer, trie }), special, eos })
    }

    /// Text that other people wrote: no control token can come of it.
    pub(crate) fn data(&self, text: &str, out: &mut Vec<u32>) -> Result<(), LocalError> {
        if !text.is_empty() {
            let encoding = self.trie.text.encode_fast(text, false).map_err(LocalError::Tokenize)?;
            out.extend_from_slice(encoding.get_ids());
        }
        Ok(())
    }

    /// Text of our own, control tokens and all.
    pub(crate) fn markup(&self, text: &str, out: &mut Vec<u32>) -> Result<(), LocalError> {
        let mut rest = text;
        let mut plain = 0;
        while let Some(tail) = rest.get(plain..) {
            let Some(at) = tail.find('<') else { break };
            let start = plain + at;
            match self.special.iter().find(|(word, _)| rest[start..].starts_with(word.as_str())) {
                Some((word, id)) => {
                    self.data(&rest[..start], out)?;
                    out.push(*id);
                    rest = &rest[start + word.len()..];
                    plain = 0;
                }
                None => plain = start + 1,
            }
        }
        self.data(rest, out)
    }

    /// The id of a control token.
    pub(crate) fn special(&self, word: &str) -> Option<u32> {
        self.special.iter().find(|(w, _)| w == word).map(|(_, id)| *id)
    }

    /// What the token adds to the text; nothing for control tokens.
    pub(crate) fn bytes(&self, token: u32) -> &[u8] {
        match self.trie.trie.token(token) {
            [TokTrie::SPECIAL_TOKEN_MARKER, ..] => &[],
            bytes => bytes,
        }
    }

    /// What the token adds to a text that calls are read from: there, the marks of calls count. Other
    /// control tokens add nothing, as with servers: Qwen2.5-Coder likes to put `<|im_start|>` where
    /// its template wants a mark.
    pub(crate) fn marked(&self, token: u32) -> &[u8] {
        match (self.bytes(token), self.word(token)) {
            ([], mark @ (written::OPEN | written::CLOSE)) => mark.as_bytes(),
            (bytes, _) => bytes,
        }
    }

    /// The control token's own spelling.
    pub(crate) fn word(&self, token: u32) -> &str {
        self.special.iter().find(|(_, id)| *id == token).map_or("", |(word, _)| word)
    }

    pub(crate) fn eos(&self) -> u32 {
        self.eos
    }

    pub(crate) fn env(&self) -> TokEnv {
        Arc::clone(&self.trie) as TokEnv
    }
}

/// What candle gets wrong: it knows `qwen2` and `llama3` and gives everything else a rule that
/// glues a space to the text's beginning, which shifts every id. `None` keeps candle's.
fn pre_tokenizer(pre: &str) -> Result<Option<PreTokenizerWrapper>, LocalError> {
    let words = || ByteLevel::new(false, false, true);
    Ok(match pre {
        "qwen2" | "llama3" | "smaug-bpe" => None,
        "smollm" => Some(Sequence::new(vec![Digits::new(true).into(), words().into()]).into()),
        "default" | "gpt-2" | "gpt2" => Some(words().into()),
        // The name llama.cpp writes; the rule is candle's `llama3`.
        "llama-bpe" => Some(llama3()?),
        other => return Err(LocalError::Tokenizer(other.to_owned())),
    })
}

fn llama3() -> Result<PreTokenizerWrapper, LocalError> {
    use tokenizers::{
        SplitDelimiterBehavior,
        pre_tokenizers::split::{Split, SplitPattern},
    };
    const WORDS: &str = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
    let split =
        Split::new(SplitPattern::Regex(WORDS.to_owned()), SplitDelimiterBehavior::Isolated, false)
            .map_err(LocalError::Tokenize)?;
    Ok(Sequence::new(vec![split.into(), ByteLevel::new(false, true, false).into()]).into())
}

fn array<'a>(content: &'a Content, key: &'static str) -> Result<&'a [Value], LocalError> {
    match content.metadata.get(key) {
        Some(Value::Array(values)) => Ok(values),
        _ => Err(LocalError::Metadata(key)),
    }
}

/// GPT-2's vocabulary files spell every byte as a printable letter; this reads them back.
fn byte_alphabet() -> impl Fn(char) -> Option<u8> {
    let printable = |b: u8| matches!(b, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    let hidden: Vec<u8> = (0..=255).filter(|b| !printable(*b)).collect();
    move |letter| {
        let code = u32::from(letter);
        match u8::try_from(code) {
            Ok(byte) if printable(byte) => Some(byte),
            Ok(_) => None,
            Err(_) => hidden.get((code - 256) as usize).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_letter_of_its_own() {
        let byte_of = byte_alphabet();
        let letters = (0u32..0x200).filter_map(char::from_u32);
        let mut bytes: Vec<u8> = letters.filter_map(byte_of).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, (0..=255).collect::<Vec<u8>>());
    }

    #[test]
    fn an_unknown_rule_is_refused_not_guessed() {
        assert!(matches!(pre_tokenizer("tekken"), Err(LocalError::Tokenizer(t)) if t == "tekken"));
        assert!(pre_tokenizer("smollm").unwrap().is_some());
        assert!(pre_tokenizer("qwen2").unwrap().is_none());
    }
}
