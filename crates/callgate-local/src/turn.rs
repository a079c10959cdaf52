//! One request, from the question which tool to the last token.

use std::sync::{Arc, atomic::AtomicBool};

use callgate_wire::{AssistantPart, Delta, Message, Reply, Request, Stop, ToolCall, Usage};

use crate::{
    Decoding, LocalError, bound,
    decode::{Decoder, End},
    grammar::{Grammars, tell},
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

/// How much likelier `answer` must be than a tool while nothing was looked up for the question.
///
/// Over 26 requests that were written for it, the 1.5B model's logit of the right tool lay between 0 and
/// 13 above `answer` where a tool was wanted, and between 3 and 10 below where none was: the line is
/// drawn in the middle, not where the numbers happen to be equal.
const LEAN: f32 = 1.5;

/// The same after a call was refused with advice: small models give up rather than correct it.
const LEAN_TO_CORRECT: f32 = 4.0;

/// Everything that turns share.
pub(crate) struct Engine {
    pub(crate) session: Session,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) grammars: Grammars,
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
        let prompt = Calling::new(self.writer()?, self.request)?.turn(&self.writer()?)?;
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
        let calling = Calling::new(self.writer()?, self.request)?;
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
            let (arguments, end) = self.arguments(options, &name, &prompt)?;
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
            if end == End::Length || !many || calls.len() == CALLS_PER_TURN {
                return Ok((calls, end));
            }
            let prompt = calling.after(&self.writer()?, &calls)?;
            match self.next(options, &prompt)? {
                // Another tool may want what this one brings: it is asked again when that is known.
                (Some(next), End::Complete) if next == name => name = next,
                (_, end) => return Ok((calls, end)),
            }
        }
    }

    /// Whether there is another call in this turn, and of which tool.
    fn next(
        &mut self,
        options: &Options<'_>,
        prompt: &Prompt,
    ) -> Result<(Option<String>, End), LocalError> {
        let logits = self.resume(prompt)?;
        let calls = options.tools.iter().map(|tool| format!("{NEXT}{}{NAME_END}", tool.name));
        let choices: Vec<String> = calls.chain([LAST.to_owned()]).collect();
        let matcher = self.grammars.choice(choices.iter().map(String::as_str), "")?;
        let (text, end) = self.decoder.constrained(matcher, logits)?;
        let name = text.strip_prefix(NEXT).and_then(|text| text.strip_suffix(NAME_END));
        Ok((name.map(str::to_owned), end))
    }

    fn name(
        &mut self,
        options: &Options<'_>,
        mut logits: Vec<f32>,
    ) -> Result<(String, End), LocalError> {
        let mut answer = Vec::new();
        self.decoder.vocabulary.data(ANSWER, &mut answer)?;
        if let Some(logit) = answer.first().and_then(|token| logits.get_mut(*token as usize)) {
            *logit -= lean(&self.request.messages);
        }
        let names = options.tools.iter().map(|tool| &*tool.name);
        let matcher =
            self.grammars.choice(names.chain(options.answer.then_some(ANSWER)), NAME_END)?;
        let (text, end) = self.decoder.constrained(matcher, logits)?;
        Ok((text.strip_suffix(NAME_END).unwrap_or(&text).to_owned(), end))
    }

    fn arguments(
        &mut self,
        options: &Options<'_>,
        name: &str,
        prompt: &Prompt,
    ) -> Result<(String, End), LocalError> {
        let Some(tool) = options.tools.iter().find(|tool| &*tool.name == name) else {
            return Err(LocalError::grammar(format_args!("`{name}` is not on offer")));
        };
        let constraint = self.grammars.json(tool.parameters.get(), " ")?;
        tell(&constraint.notes, name);
        let logits = self.resume(prompt)?;
        let (text, end) = self.decoder.constrained(constraint.matcher, logits)?;
        let text = text.trim_start().to_owned();
        let cut = serde_json::from_str(&text).is_ok_and(|value| bound::reached(&value));
        Ok((text, if cut { End::Length } else { end }))
    }

    fn answer(&mut self) -> Result<(Vec<AssistantPart>, End), LocalError> {
        if let Some(format) = &self.request.answer {
            let schema = format.schema.get();
            let opening = prompt::structured(self.writer()?, self.request, schema)?.finish();
            let logits = self.begin(&opening)?;
            let constraint = self.grammars.json(schema, "")?;
            tell(&constraint.notes, &format.name);
            let (text, end) = self.decoder.constrained(constraint.matcher, logits)?;
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

fn lean(messages: &[Arc<Message>]) -> f32 {
    let mut results = messages.iter().rev().map_while(|message| match &**message {
        Message::Tool(result) => Some(result),
        _ => None,
    });
    if matches!(messages.last().map(|m| &**m), Some(Message::User { .. })) {
        LEAN
    } else if results.any(prompt::wants_correction) {
        LEAN_TO_CORRECT
    } else {
        0.0
    }
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
