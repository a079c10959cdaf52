//! Output items, and what becomes of them.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    AssistantPart, ToolCall,
    finish::Asked,
    json,
    raw::{Fields, Raw, string},
};

/// An item, as far as anything of it is ours to know.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow)]
    r#type: Raw<'a>,
    #[serde(borrow)]
    pub(super) id: Raw<'a>,
    #[serde(borrow)]
    status: Raw<'a>,
    // A call.
    #[serde(borrow)]
    pub(super) call_id: Raw<'a>,
    #[serde(borrow)]
    pub(super) name: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
    /// A custom tool's text.
    #[serde(borrow)]
    input: Raw<'a>,
    // A message, or open reasoning.
    #[serde(borrow)]
    content: Option<Vec<Piece<'a>>>,
    // Reasoning.
    #[serde(borrow)]
    summary: Option<Vec<Piece<'a>>>,
}

#[derive(Debug, Deserialize)]
struct Piece<'a> {
    #[serde(borrow)]
    text: Raw<'a>,
    #[serde(borrow)]
    refusal: Raw<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    Call,
    /// Built-in tools and what may come later: echoed as it came.
    Other,
}

impl Item<'_> {
    pub(super) fn kind(&self) -> Kind {
        match self.r#type.and_then(string).as_deref() {
            Some("message") => Kind::Message,
            Some("reasoning") => Kind::Reasoning,
            Some("function_call" | "custom_tool_call") => Kind::Call,
            _ => Kind::Other,
        }
    }

    /// The text of a message or the shown part of reasoning.
    pub(super) fn shown(&self) -> String {
        let pieces = match self.kind() {
            Kind::Reasoning => self.summary.iter().chain(&self.content),
            _ => self.content.iter().chain(&None),
        };
        let texts: Vec<_> = pieces
            .flatten()
            .filter_map(|piece| piece.text.or(piece.refusal).and_then(string))
            .filter(|text| !text.is_empty())
            .collect();
        texts.join(if self.kind() == Kind::Reasoning { "\n\n" } else { "" })
    }

    pub(super) fn refuses(&self) -> bool {
        self.content.iter().flatten().any(|piece| piece.refusal.is_some())
    }

    /// Whether it says that it is not whole.
    pub(super) fn is_cut(&self) -> bool {
        self.status.and_then(string).as_deref() == Some("incomplete")
    }

    fn arguments(&self) -> String {
        let raw = self.arguments.or(self.input).filter(|raw| raw.get() != "null");
        raw.map_or_else(String::new, |raw| match string(raw) {
            Some(text) => text.into_owned(),
            None => raw.get().to_owned(),
        })
    }
}

/// Fields that go back with a message or a call, although the item itself is written anew.
#[derive(Debug, Default)]
pub(super) struct Heading<'a> {
    pub(super) phase: Raw<'a>,
    pub(super) namespace: Raw<'a>,
    pub(super) caller: Raw<'a>,
}

impl<'a> Heading<'a> {
    /// Of the state kept before a message's text; nothing for an item of another kind.
    pub(super) fn of(json: &'a str) -> Option<Self> {
        let fields = Fields::of(json)?;
        let message = fields.get("type").and_then(string).as_deref() == Some("message");
        message.then(|| Self { phase: fields.get("phase"), ..Self::default() })
    }

    /// Of the state kept with a call.
    pub(super) fn of_call(json: &'a str) -> Option<Self> {
        let fields = Fields::of(json)?;
        let (namespace, caller) = (fields.get("namespace"), fields.get("caller"));
        Some(Self { namespace, caller, phase: None })
    }
}

/// A reply's content, as items come to it.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) parts: Vec<AssistantPart>,
    pub(super) refused: bool,
    pub(super) cut: bool,
}

impl Content {
    pub(super) fn take(&mut self, json: &str, asked: &Asked<'_>) -> Result<(), serde_json::Error> {
        let item: Item<'_> = json::from_str(json)?;
        match item.kind() {
            Kind::Message => {
                self.refused |= item.refuses();
                self.parts.extend(heading(json, asked));
                self.text(item.shown());
            }
            Kind::Reasoning => self.parts.push(AssistantPart::Reasoning {
                text: item.shown().into(),
                opaque: Some(asked.opaque(json)),
            }),
            Kind::Call => {
                self.cut |= item.is_cut();
                let text = |raw: Raw<'_>| raw.and_then(string).unwrap_or_default().into_owned();
                let mut call = ToolCall {
                    id: text(item.call_id.or(item.id)).into(),
                    name: text(item.name).into(),
                    arguments: item.arguments().into(),
                    opaque: None,
                };
                if let Some(mut own) = Fields::of(json) {
                    own.keep(&["namespace", "caller"]);
                    call.opaque = (!own.0.is_empty()).then(|| asked.opaque(own.json()));
                }
                self.call(call, asked);
            }
            Kind::Other => self.parts.push(AssistantPart::Opaque(asked.opaque(json))),
        }
        Ok(())
    }

    pub(super) fn text(&mut self, text: String) {
        if !text.is_empty() {
            self.parts.push(AssistantPart::Text { text: text.into() });
        }
    }

    /// Some models pack calls into one of a function that nobody declared,
    /// `multi_tool_use.parallel`; these are the calls that are meant.
    pub(super) fn call(&mut self, call: ToolCall, asked: &Asked<'_>) {
        let packed = matches!(
            &*call.name,
            "multi_tool_use.parallel" | "multi_tool_use_parallel" | "parallel"
        ) && !asked.offers(&call.name);
        match unpacked(&call).filter(|_| packed) {
            Some(calls) => self.parts.extend(calls.into_iter().map(AssistantPart::Call)),
            None => self.parts.push(AssistantPart::Call(call)),
        }
    }
}

/// What of a message goes back with its text: whether it is commentary or the answer.
pub(super) fn heading(json: &str, asked: &Asked<'_>) -> Option<AssistantPart> {
    let mut fields = Fields::of(json)?;
    fields.keep(&["type", "phase"]);
    fields.get("phase")?;
    Some(AssistantPart::Opaque(asked.opaque(fields.json())))
}

fn unpacked(call: &ToolCall) -> Option<Vec<ToolCall>> {
    #[derive(Deserialize)]
    struct Packed<'a> {
        #[serde(borrow)]
        tool_uses: Vec<Use<'a>>,
    }
    #[derive(Deserialize)]
    struct Use<'a> {
        #[serde(borrow)]
        recipient_name: Raw<'a>,
        #[serde(borrow)]
        parameters: Raw<'a>,
    }
    let packed: Packed<'_> = json::from_str(&call.arguments).ok()?;
    let calls = packed.tool_uses.iter().enumerate().map(|(n, one)| {
        let name = one.recipient_name.and_then(string)?;
        Some(ToolCall {
            id: format!("{}_{n}", call.id).into(),
            name: name.strip_prefix("functions.").unwrap_or(&name).into(),
            arguments: one.parameters.map_or("{}", RawValue::get).into(),
            opaque: None,
        })
    });
    calls.collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty())
}
