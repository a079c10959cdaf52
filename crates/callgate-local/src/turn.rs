//! One request, from the question which tool to the last token.

use std::sync::{Arc, atomic::AtomicBool};

use callgate_wire::{AssistantPart, Delta, Message, Reply, Request, Stop, ToolCall, Usage};
use serde_json::Value;

use crate::{
    Decoding, LocalError, bound,
    decode::{Decoder, End},
    grammar::{Around, Grammars, tell},
    guidance::Guidance,
    optional::Optional,
    options::{Options, options},
    prompt::{self, ANSWER, Calling, LAST, NAME_END, NEXT, Writer},
    session::{Prompt, Session},
    template::Template,
    tokenizer::Vocabulary,
    written::{self, Written},
};

/// Tokens of a reply whose request sets no limit.
const DEFAULT_OUTPUT: u32 = 1024;

/// Calls in one turn. More at once than this is a model that lost count.
const CALLS_PER_TURN: usize = 8;

/// Everything that turns share.
pub(crate) struct Engine {
    pub(crate) session: Session,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) grammars: Grammars,
    pub(crate) guidance: Guidance,
    pub(crate) template: Template,
    pub(crate) name: String,
}

impl Engine {
    /// Answers one request. `emit` is told what comes, as it comes.
    pub(crate) fn reply(
        &mut self,
        request: &Request,
        decoding: Decoding,
        cancelled: &AtomicBool,
        emit: &mut dyn FnMut(Delta),
    ) -> Result<Reply, LocalError> {
        let left = request.max_output_tokens.unwrap_or(DEFAULT_OUTPUT) as usize;
        let mut turn = Turn {
            decoder: Decoder {
                session: &mut self.session,
                vocabulary: &self.vocabulary,
                cancelled,
                left,
                generated: 0,
            },
            grammars: &self.grammars,
            guidance: self.guidance,
            template: self.template,
            request,
            emit,
            usage: Usage::default(),
        };
        let (content, end) = turn.run(decoding)?;
        let mut usage = turn.usage;
        usage.output_tokens = turn.decoder.generated;
        let stop = match end {
            End::Complete => Stop::End,
            End::Length => Stop::Length,
        };
        Ok(Reply { content, stop, usage, model: Some(self.name.clone()), notes: Vec::new() })
    }
}

struct Turn<'a> {
    decoder: Decoder<'a>,
    grammars: &'a Grammars,
    guidance: Guidance,
    template: Template,
    request: &'a Request,
    emit: &'a mut dyn FnMut(Delta),
    usage: Usage,
}

impl<'a> Turn<'a> {
    fn run(&mut self, decoding: Decoding) -> Result<(Vec<AssistantPart>, End), LocalError> {
        let options = options(self.request);
        if options.tools.is_empty() {
            return self.answer();
        }
        if decoding == Decoding::Free {
            return self.written();
        }
        let (calls, end) = self.calls(&options)?;
        if calls.is_empty() && end == End::Complete {
            return self.answer();
        }
        Ok((calls.into_iter().map(AssistantPart::Call).collect(), end))
    }

    /// Whatever the model writes: calls as they read, or its text where none does.
    fn written(&mut self) -> Result<(Vec<AssistantPart>, End), LocalError> {
        let prompt =
            Calling::new(self.writer()?, self.request, self.guidance)?.turn(&self.writer()?)?;
        let logits = self.begin(&prompt)?;
        let ends = self.ends();
        let (text, end) = self.decoder.free(&ends, Vocabulary::marked, logits, |_| {})?;
        let mut calls = written::calls(&text);
        let wrote_calls = !calls.is_empty();
        calls.retain(|call| &*call.name != ANSWER);
        if calls.is_empty() {
            if wrote_calls && end == End::Complete {
                return self.answer();
            }
            (self.emit)(Delta::Text(text.clone()));
            return Ok((vec![AssistantPart::Text { text: text.into() }], end));
        }
        let first = calls_so_far(&self.request.messages);
        let mut content = Vec::with_capacity(calls.len());
        for (index, Written { name, arguments }) in calls.into_iter().enumerate() {
            (self.emit)(Delta::Call { index, name: name.to_string() });
            let id = format!("call_{}", first + index + 1).into();
            content.push(AssistantPart::Call(ToolCall { id, name, arguments, opaque: None }));
        }
        Ok((content, end))
    }

    /// No call means that the model chose to answer.
    fn calls(&mut self, options: &Options<'_>) -> Result<(Vec<ToolCall>, End), LocalError> {
        let mut calls: Vec<ToolCall> = Vec::new();
        let first = calls_so_far(&self.request.messages);
        let many = self.request.parallel_tool_calls != Some(false);
        let calling = Calling::new(self.writer()?, self.request, self.guidance)?;
        let logits = self.begin(&calling.name(&self.writer()?)?)?;
        let (mut name, end) = self.name(options, logits)?;
        if end == End::Length || (options.answer && name == ANSWER) {
            return Ok((calls, end));
        }
        loop {
            let index = calls.len();
            if index == 0 {
                (self.emit)(Delta::Call { index, name: name.clone() });
            }
            let prompt = calling.arguments(&self.writer()?, &calls, &name)?;
            let may_go_on = many && calls.len() + 1 < CALLS_PER_TURN;
            let (arguments, next, end) = self.arguments(options, &name, &prompt, may_go_on)?;
            if calls.iter().any(|call| *call.name == *name && *call.arguments == *arguments) {
                // It has nothing new to ask for.
                return Ok((calls, End::Complete));
            }
            if index > 0 {
                (self.emit)(Delta::Call { index, name: name.clone() });
            }
            calls.push(ToolCall {
                id: format!("call_{}", first + index + 1).into(),
                name: name.as_str().into(),
                arguments: arguments.into(),
                opaque: None,
            });
            match next {
                // Another tool may want what this one brings: it is asked again when that is known.
                Some(next) if end == End::Complete && next == name => name = next,
                _ => return Ok((calls, end)),
            }
        }
    }

    fn name(
        &mut self,
        options: &Options<'_>,
        mut logits: Vec<f32>,
    ) -> Result<(String, End), LocalError> {
        let mut answer = Vec::new();
        self.decoder.vocabulary.data(ANSWER, &mut answer)?;
        if let Some(logit) = answer.first().and_then(|token| logits.get_mut(*token as usize)) {
            *logit += self.guidance.threshold(wants_correction(&self.request.messages));
        }
        let names = options.tools.iter().map(|tool| &*tool.name);
        let matcher =
            self.grammars.choice(names.chain(options.answer.then_some(ANSWER)), NAME_END)?;
        let (text, end) = self.decoder.constrained(matcher, logits, Optional::Likely)?;
        Ok((text.strip_suffix(NAME_END).unwrap_or(&text).to_owned(), end))
    }

    /// A call's arguments, and the tool of another call in this turn.
    fn arguments(
        &mut self,
        options: &Options<'_>,
        name: &str,
        prompt: &Prompt,
        may_go_on: bool,
    ) -> Result<(String, Option<String>, End), LocalError> {
        let Some(tool) = options.tools.iter().find(|tool| &*tool.name == name) else {
            return Err(LocalError::grammar(format_args!("`{name}` is not on offer")));
        };
        let next = options.tools.iter().filter(|_| may_go_on);
        let next = next.map(|tool| format!("{NEXT}{}{NAME_END}", tool.name));
        let after: Vec<String> = next.chain([LAST.to_owned()]).collect();
        let around = Around { before: " ", after: &after };
        let constraint = self.grammars.json(tool.parameters.get(), around)?;
        tell(&constraint.notes, name);
        let logits = self.resume(prompt)?;
        let (text, end) =
            self.decoder.constrained(constraint.matcher, logits, Optional::ClearlyWanted)?;
        let text = text.trim_start();
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else {
            // Used up before its end.
            return Ok((text.to_owned(), None, End::Length));
        };
        let (arguments, rest) = text.split_at(values.byte_offset());
        let next = rest.strip_prefix(NEXT).and_then(|rest| rest.strip_suffix(NAME_END));
        let end = if bound::reached(&value) { End::Length } else { end };
        Ok((arguments.to_owned(), next.map(str::to_owned), end))
    }

    fn answer(&mut self) -> Result<(Vec<AssistantPart>, End), LocalError> {
        if let Some(format) = &self.request.answer {
            let schema = format.schema.get();
            let opening = prompt::structured(self.writer()?, self.request, schema)?.finish();
            let logits = self.begin(&opening)?;
            let constraint = self.grammars.json(schema, Around::default())?;
            tell(&constraint.notes, &format.name);
            let (text, end) =
                self.decoder.constrained(constraint.matcher, logits, Optional::Likely)?;
            (self.emit)(Delta::Text(text.clone()));
            let cut = serde_json::from_str(&text).is_ok_and(|value| bound::reached(&value));
            let end = if cut { End::Length } else { end };
            return Ok((vec![AssistantPart::Text { text: text.into() }], end));
        }
        let opening = prompt::answering(self.writer()?, self.request)?.finish();
        let logits = self.begin(&opening)?;
        let ends = self.ends();
        let emit = &mut *self.emit;
        let piece = |piece: &str| emit(Delta::Text(piece.to_owned()));
        let (text, end) = self.decoder.free(&ends, Vocabulary::bytes, logits, piece)?;
        Ok((vec![AssistantPart::Text { text: text.into() }], end))
    }

    /// What closes a turn.
    fn ends(&self) -> Vec<u32> {
        let vocabulary = self.decoder.vocabulary;
        [self.template.end_token(), "<|endoftext|>", "<|end_of_text|>"]
            .iter()
            .filter_map(|word| vocabulary.special(word))
            .chain([vocabulary.eos()])
            .collect()
    }

    fn begin(&mut self, prompt: &Prompt) -> Result<Vec<f32>, LocalError> {
        let begun = self.decoder.session.begin(prompt, self.decoder.cancelled)?;
        self.usage.input_tokens += prompt.tokens.len() as u64;
        self.usage.cached_tokens += begun.cached as u64;
        Ok(begun.logits)
    }

    /// The same prompt, further on: nothing that a bill would list again.
    fn resume(&mut self, prompt: &Prompt) -> Result<Vec<f32>, LocalError> {
        Ok(self.decoder.session.begin(prompt, self.decoder.cancelled)?.logits)
    }

    fn writer(&self) -> Result<Writer<'a>, LocalError> {
        Writer::new(self.decoder.vocabulary, self.template)
    }
}

/// Whether a call was just refused that may be made otherwise.
fn wants_correction(messages: &[Arc<Message>]) -> bool {
    let mut results = messages.iter().rev().map_while(|message| match &**message {
        Message::Tool(result) => Some(result),
        _ => None,
    });
    results.any(prompt::wants_correction)
}

fn calls_so_far(messages: &[Arc<Message>]) -> usize {
    messages
        .iter()
        .map(|message| match &**message {
            Message::Assistant { content } => {
                content.iter().filter(|part| matches!(part, AssistantPart::Call(_))).count()
            }
            _ => 0,
        })
        .sum()
}
