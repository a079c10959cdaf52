//! The parts of a reply, and what is kept of them to go back.
//!
//! Kept for a call: `{"id":…,"thoughtSignature":…}` as far as the model gave them, so `{}` for one
//! that it left unsigned. Kept after a text that was signed: `{"thoughtSignature":…}`. Any other
//! part that has to go back is kept as it came.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    AssistantPart, Delta, ToolCall,
    finish::Asked,
    json,
    raw::{Fields, Raw, string},
};

/// What was kept, read again.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    pub(super) id: Raw<'a>,
    pub(super) signature: Raw<'a>,
    /// Of a text before: nothing but a signature was kept.
    pub(super) text_signature: Raw<'a>,
}

impl<'a> Kept<'a> {
    pub(super) fn of(json: &'a str) -> Option<Self> {
        let fields = Fields::of(json)?;
        let signature = fields.get("thoughtSignature");
        let alone = fields.0.len() == 1;
        Some(Self { id: fields.get("id"), signature, text_signature: signature.filter(|_| alone) })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    thought: Raw<'a>,
    #[serde(borrow)]
    thought_signature: Raw<'a>,
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Debug, Deserialize)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    args: Raw<'a>,
}

/// A reply's content, as parts come to it.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    parts: Vec<AssistantPart>,
    text: String,
    thought: String,
    calls: usize,
}

impl Gathered {
    pub(super) fn take(
        &mut self,
        raw: &RawValue,
        asked: &Asked<'_>,
        out: &mut Vec<Delta>,
    ) -> Result<(), serde_json::Error> {
        let part: Part<'_> = json::from_str(raw.get())?;
        let signature = part.thought_signature.filter(|raw| !matches!(raw.get(), "null" | "\"\""));
        if let Some(call) = &part.function_call {
            self.flush();
            self.call(call, signature, asked, out);
            return Ok(());
        }
        let Some(text) = part.text.and_then(string) else {
            // An empty part says nothing; others are Google's own tools'.
            if raw.get().trim() != "{}" {
                self.flush();
                self.parts.push(AssistantPart::Opaque(asked.opaque(raw.get())));
            }
            return Ok(());
        };
        if part.thought.is_some_and(|raw| raw.get() == "true") {
            tell(Delta::Reasoning, &text, out);
            match signature {
                None => {
                    self.flush_text();
                    self.thought.push_str(&text);
                }
                Some(_) => {
                    self.flush();
                    let opaque = Some(asked.opaque(raw.get()));
                    self.parts.push(AssistantPart::Reasoning { text: (*text).into(), opaque });
                }
            }
            return Ok(());
        }
        tell(Delta::Text, &text, out);
        self.flush_thought();
        match signature {
            None => self.text.push_str(&text),
            // Signed together with an empty text: nothing to show, but it goes back.
            Some(_) if text.is_empty() => {
                self.flush();
                self.parts.push(AssistantPart::Opaque(asked.opaque(raw.get())));
            }
            Some(signature) => {
                // A signature holds for its own part, so it is not merged with what is around it.
                self.flush();
                self.parts.push(AssistantPart::Text { text: (*text).into() });
                let json = format!(r#"{{"thoughtSignature":{}}}"#, signature.get());
                self.parts.push(AssistantPart::Opaque(asked.opaque(json)));
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        call: &FunctionCall<'_>,
        signature: Raw<'_>,
        asked: &Asked<'_>,
        out: &mut Vec<Delta>,
    ) {
        let id = call.id.filter(|raw| !matches!(raw.get(), "null" | "\"\""));
        let mut kept = Fields::default();
        if let Some(id) = id {
            kept.set("id", id);
        }
        if let Some(signature) = signature {
            kept.set("thoughtSignature", signature);
        }
        let name = call.name.and_then(string).unwrap_or_default().into_owned();
        out.push(Delta::Call { index: self.calls, name: name.clone() });
        self.calls += 1;
        let args = call.args.map(RawValue::get).filter(|args| *args != "null");
        self.parts.push(AssistantPart::Call(ToolCall {
            id: id.and_then(string).unwrap_or_default().into(),
            name: name.into(),
            arguments: args.unwrap_or("{}").into(),
            opaque: Some(asked.opaque(kept.json())),
        }));
    }

    fn flush_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text).into();
            self.parts.push(AssistantPart::Text { text });
        }
    }

    fn flush_thought(&mut self) {
        if !self.thought.is_empty() {
            let text = std::mem::take(&mut self.thought).into();
            self.parts.push(AssistantPart::Reasoning { text, opaque: None });
        }
    }

    fn flush(&mut self) {
        self.flush_thought();
        self.flush_text();
    }

    pub(super) fn finish(mut self) -> Vec<AssistantPart> {
        self.flush();
        self.parts
    }
}

fn tell(delta: fn(String) -> Delta, text: &str, out: &mut Vec<Delta>) {
    if !text.is_empty() {
        out.push(delta(text.to_owned()));
    }
}
