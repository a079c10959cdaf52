//! The end of a reply, whole or streamed, of any provider: the same judgement.

use std::{borrow::Cow, sync::Arc};

use crate::{
    AssistantPart, Delta, Message, ProviderError, ProviderErrorKind, Reply, Request, Retry, Stop,
    ToolCall, Usage, ids,
    json::is_json,
    names::{NameRule, Names, Restore},
};

/// What a reply's end needs of its request, kept while a stream is running.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    codec: &'static str,
    model: Arc<str>,
    cap: Option<u32>,
    messages: Cow<'a, [Arc<Message>]>,
    restore: Restore,
    tools: Arc<[crate::ToolDefinition]>,
}

/// All that came.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) content: Vec<AssistantPart>,
    pub(crate) stop: Stop,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<String>,
}

impl<'a> Asked<'a> {
    pub(crate) fn new(request: &'a Request, codec: &'static str, rule: NameRule) -> Self {
        Self {
            codec,
            model: Arc::clone(&request.model),
            cap: request.max_output_tokens,
            messages: request.messages.as_slice().into(),
            restore: Names::back(rule, request.tools.iter().map(|tool| &*tool.name)),
            tools: Arc::clone(&request.tools),
        }
    }

    /// The same, for as long as a stream runs.
    pub(crate) fn kept(self) -> Asked<'static> {
        Asked { messages: self.messages.into_owned().into(), ..self }
    }

    /// Whether a tool of this name is on offer.
    pub(crate) fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| &*tool.name == self.restore.name(name))
    }

    /// Gives the calls that deltas tell of their own names.
    pub(crate) fn restore(&self, deltas: &mut [Delta]) {
        self.restore.deltas(deltas);
    }

    /// The reply: names and ids made right, and a cut admitted. A call without a name stays one: it
    /// is the gate that tells the model which names there are.
    pub(crate) fn reply(&self, ended: Ended) -> Reply {
        let Ended { mut content, mut stop, usage, model } = ended;
        let usage = usage.unwrap_or_default();
        // Servers relabel a cut reply: the cap was reached, and a call is not whole.
        let at_cap = self.cap.is_some_and(|cap| usage.output_tokens >= u64::from(cap));
        if at_cap && calls(&content).any(|call| !is_json(&call.arguments)) {
            stop = Stop::Length;
        }
        let mut made: Vec<&mut ToolCall> = content
            .iter_mut()
            .filter_map(|part| match part {
                AssistantPart::Call(call) => Some(call),
                _ => None,
            })
            .collect();
        ids::complete(&mut made, &self.messages);
        for call in made {
            let name = self.restore.name(&call.name);
            if *name != *call.name {
                call.name = name.into();
            }
        }
        for part in &mut content {
            let opaque = match part {
                AssistantPart::Reasoning { opaque, .. } => opaque.as_mut(),
                AssistantPart::Call(call) => call.opaque.as_mut(),
                AssistantPart::Opaque(opaque) => Some(opaque),
                AssistantPart::Text { .. } => None,
            };
            if let Some(opaque) = opaque
                && !self.model.is_empty()
            {
                opaque.model = Some(Arc::clone(&self.model));
            }
        }
        Reply { content, stop, usage, model, notes: Vec::new() }
    }

    /// State of this codec.
    pub(crate) fn opaque(&self, json: impl Into<Arc<str>>) -> crate::Opaque {
        let model = (!self.model.is_empty()).then(|| Arc::clone(&self.model));
        crate::Opaque { provider: self.codec.into(), json: json.into(), model }
    }
}

fn calls(content: &[AssistantPart]) -> impl Iterator<Item = &ToolCall> {
    content.iter().filter_map(|part| match part {
        AssistantPart::Call(call) => Some(call),
        _ => None,
    })
}

/// More text, as one part with what came before it.
pub(crate) fn push_text(content: &mut Vec<AssistantPart>, more: &str) {
    if more.is_empty() {
        return;
    }
    if let Some(AssistantPart::Text { text }) = content.last_mut() {
        *text = format!("{text}{more}").into();
    } else {
        content.push(AssistantPart::Text { text: more.into() });
    }
}

/// State that was not told of where it came is told of at the end.
#[derive(Debug, Default)]
pub(crate) struct Told(Vec<AssistantPart>);

impl Told {
    /// What these deltas tell.
    pub(crate) fn note(&mut self, deltas: &[Delta]) {
        self.0.extend(deltas.iter().filter_map(|delta| match delta {
            Delta::State(part) => Some(part.clone()),
            _ => None,
        }));
    }

    /// The rest of a reply's state.
    pub(crate) fn rest(&self, reply: &Reply, out: &mut Vec<Delta>) {
        let has_state = |part: &&AssistantPart| {
            let reasoning = matches!(part, AssistantPart::Reasoning { opaque: Some(_), .. });
            reasoning || matches!(part, AssistantPart::Opaque(_))
        };
        let untold = reply.content.iter().filter(has_state).filter(|part| !self.0.contains(part));
        out.extend(untold.cloned().map(Delta::State));
    }
}

/// A stream that closed before the reply had ended.
pub(crate) fn incomplete() -> ProviderError {
    ProviderError::new(
        ProviderErrorKind::StreamIncomplete,
        "the stream ended before the reply did",
        Retry::Backoff,
    )
}
