//! How a family of models marks who is speaking.

use candle_core::quantized::gguf_file::Content;

use crate::{LocalError, model::text};

/// A chat template: a fixed way to open and close a turn.
///
/// The Jinja in the file is not run: it would decide where tools and results go, and where they
/// go is what `prompt` has tried and settled. Only its markers are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// `<|im_start|>role … <|im_end|>`: Qwen, SmolLM2 and most llama look-alikes.
    ChatMl,
    /// `<|start_header_id|>role<|end_header_id|> … <|eot_id|>`.
    Llama3,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Template {
    /// From the markers in the file's own template; ChatML where it has none.
    ///
    /// # Errors
    /// A template with neither marker.
    pub fn of(content: &Content) -> Result<Self, LocalError> {
        match text(content, "tokenizer.chat_template") {
            None => Ok(Self::ChatMl),
            Some(jinja) if jinja.contains("<|im_start|>") => Ok(Self::ChatMl),
            Some(jinja) if jinja.contains("<|start_header_id|>") => Ok(Self::Llama3),
            Some(_) => Err(LocalError::Template),
        }
    }

    /// What stands before everything.
    pub(crate) fn begin(self) -> &'static str {
        match self {
            Self::ChatMl => "",
            Self::Llama3 => "<|begin_of_text|>",
        }
    }

    /// What opens a turn.
    pub(crate) fn open(self, role: Role) -> String {
        match self {
            Self::ChatMl => format!("<|im_start|>{}\n", role.word()),
            Self::Llama3 => format!("<|start_header_id|>{}<|end_header_id|>\n\n", role.word()),
        }
    }

    /// What closes one.
    pub(crate) fn close(self) -> &'static str {
        match self {
            Self::ChatMl => "<|im_end|>\n",
            Self::Llama3 => "<|eot_id|>",
        }
    }

    /// The control token that ends a turn.
    pub(crate) fn end_token(self) -> &'static str {
        match self {
            Self::ChatMl => "<|im_end|>",
            Self::Llama3 => "<|eot_id|>",
        }
    }
}
