//! The response's JSON, borrowed from the bytes that came.
//!
//! Whole bodies and stream chunks have one shape. A value that servers are known to spell in
//! several types is kept as its raw text and read when it is needed, so that one odd field never
//! costs the whole chunk.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;
use smallvec::SmallVec;

use super::usage;
use crate::{
    Usage, json,
    raw::{Raw, number, string, text},
};

#[derive(Debug, Default, Deserialize)]
pub(super) struct Body<'a> {
    /// `null` and absent in chunks that carry only usage.
    #[serde(borrow)]
    pub(super) choices: Option<Choices<'a>>,
    #[serde(default, deserialize_with = "usage::sent")]
    usage: Option<Usage>,
    x_groq: Option<XGroq>,
    #[serde(borrow)]
    pub(super) model: Raw<'a>,
    // The rest belongs to error bodies.
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
    #[serde(borrow)]
    pub(super) detail: Raw<'a>,
    #[serde(borrow)]
    pub(super) message: Raw<'a>,
    #[serde(borrow)]
    pub(super) object: Raw<'a>,
    #[serde(borrow)]
    pub(super) r#type: Raw<'a>,
    #[serde(borrow)]
    pub(super) code: Raw<'a>,
}

/// Groq's own place for the usage of a stream.
#[derive(Debug, Deserialize)]
struct XGroq {
    #[serde(default, deserialize_with = "usage::sent")]
    usage: Option<Usage>,
}

/// Of a list of choices the one that is asked for; others are nobody's.
#[derive(Debug, Default)]
pub(super) struct Choices<'a>(Option<Choice<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> de::Visitor<'de> for List<'a> {
            type Value = Choices<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of choices")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<Self::Value, A::Error> {
                while let Some(choice) = list.next_element::<Choice<'a>>()? {
                    if choice.index.and_then(number).unwrap_or(0) == 0 {
                        while list.next_element::<de::IgnoredAny>()?.is_some() {}
                        return Ok(Choices(Some(choice)));
                    }
                }
                Ok(Choices(None))
            }
        }
        deserializer.deserialize_seq(List(PhantomData))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    index: Raw<'a>,
    /// In chunks.
    #[serde(borrow)]
    pub(super) delta: Option<Message<'a>>,
    /// In whole bodies, and in the single chunk of servers that do not really stream. Elsewhere, so
    /// that a chunk is small: it is handed on several times.
    #[serde(borrow)]
    pub(super) message: Option<Box<Message<'a>>>,
    #[serde(borrow)]
    finish_reason: Raw<'a>,
    #[serde(default, deserialize_with = "usage::sent")]
    usage: Option<Usage>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    #[serde(borrow)]
    refusal: Raw<'a>,
    #[serde(borrow)]
    reasoning_content: Raw<'a>,
    #[serde(borrow)]
    reasoning: Raw<'a>,
    #[serde(borrow)]
    pub(super) reasoning_details: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Calls<'a>>,
    /// The predecessor of `tool_calls`.
    #[serde(borrow)]
    pub(super) function_call: Option<Function<'a>>,
}

/// A chunk has one call, or a piece of one, and there are many chunks.
type Calls<'a> = SmallVec<[Option<Call<'a>>; 1]>;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    index: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    /// Google's signatures, through its compatible endpoint.
    #[serde(borrow)]
    pub(super) extra_content: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
}

impl<'a> Body<'a> {
    /// The one choice that is asked for.
    pub(super) fn choice(&self) -> Option<&Choice<'a>> {
        self.choices.as_ref()?.0.as_ref()
    }

    /// The usage, from any of the places where servers put it.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage.or_else(|| self.x_groq.as_ref()?.usage).or_else(|| self.choice()?.usage)
    }
}

impl<'a> Choice<'a> {
    /// Why it ended; `None` while it has not. Some servers send `""` until then.
    pub(super) fn finish_reason(&self) -> Option<Cow<'a, str>> {
        self.finish_reason.and_then(text).filter(|reason| !reason.trim().is_empty())
    }
}

impl<'a> Message<'a> {
    pub(super) fn refusal(&self) -> Option<Cow<'a, str>> {
        self.refusal.and_then(text)
    }

    /// Reasoning in clear. Gateways send the same under two names, so only one is taken.
    pub(super) fn reasoning(&self) -> Option<Cow<'a, str>> {
        self.plain_reasoning().or_else(|| self.detailed_reasoning())
    }

    pub(super) fn plain_reasoning(&self) -> Option<Cow<'a, str>> {
        let filled = |raw: Raw<'a>| raw.and_then(text).filter(|text| !text.is_empty());
        filled(self.reasoning_content).or_else(|| filled(self.reasoning))
    }

    pub(super) fn detailed_reasoning(&self) -> Option<Cow<'a, str>> {
        let mut joined = String::new();
        for detail in self.reasoning_details.iter().flatten() {
            let detail: Detail<'_> = json::from_str(detail.get()).ok()?;
            let shown = detail.text.or(detail.summary).and_then(text);
            joined.push_str(&shown.unwrap_or_default());
        }
        (!joined.is_empty()).then_some(Cow::Owned(joined))
    }
}

/// An entry of OpenRouter's `reasoning_details`.
#[derive(Deserialize)]
struct Detail<'a> {
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    summary: Raw<'a>,
}

impl<'a> Call<'a> {
    pub(super) fn index(&self) -> Option<u64> {
        self.index.and_then(number)
    }

    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        self.id.and_then(text)
    }
}

impl<'a> Function<'a> {
    pub(super) fn name(&self) -> Option<Cow<'a, str>> {
        self.name.and_then(text).filter(|name| !name.trim().is_empty())
    }

    /// The text of a string; of anything else, an object above all, its JSON.
    pub(super) fn arguments(&self) -> Option<Cow<'a, str>> {
        let raw = self.arguments?;
        Some(string(raw).unwrap_or(Cow::Borrowed(raw.get())))
    }
}

/// Content as text and reasoning.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) refusal: String,
}

impl Content {
    /// A list of parts, as Mistral and some gateways send it.
    pub(super) fn from_list(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Part<'a> {
            #[serde(borrow)]
            text: Raw<'a>,
            #[serde(borrow)]
            thinking: Raw<'a>,
            #[serde(borrow)]
            refusal: Raw<'a>,
        }
        let mut out = Self::default();
        let Ok(parts) = json::from_str::<Vec<&RawValue>>(raw.get()) else {
            return out;
        };
        for raw in parts {
            if let Some(text) = string(raw) {
                out.text.push_str(&text);
            } else if let Ok(part) = json::from_str::<Part<'_>>(raw.get()) {
                out.text.push_str(&part.text.and_then(text).unwrap_or_default());
                out.refusal.push_str(&part.refusal.and_then(text).unwrap_or_default());
                if let Some(thinking) = part.thinking {
                    match string(thinking) {
                        Some(thinking) => out.reasoning.push_str(&thinking),
                        None => out.reasoning.push_str(&Self::from_list(thinking).text),
                    }
                }
            }
        }
        out
    }
}
