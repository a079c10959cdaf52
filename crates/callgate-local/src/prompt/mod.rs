//! What the model reads.
//!
//! Two prompts serve one turn. *Choosing* shows the tools, a few worked examples and the transcript,
//! and ends where a tool's name must follow: `answer` is one of the names. *Answering* shows no
//! tools at all, only the conversation and what the calls brought: small models that see tools
//! answer in JSON, those that see none write sentences.
//!
//! What is the same for every run (our words, the tools, the examples) comes first and never
//! changes its order, so that its evaluation is shared; instructions and transcript follow.

mod answer;
mod choose;
mod examples;
mod results;
mod steps;

use crate::{
    LocalError,
    session::Prompt,
    template::{Role, Template},
    tokenizer::Vocabulary,
};

pub(crate) use answer::{answering, structured};
pub(crate) use choose::{ANSWER, Calling, LAST, NAME_END, NEXT};
pub(crate) use results::wants_correction;

/// Builds a prompt from markup (ours) and data (anybody's), never confusing the two.
pub(crate) struct Writer<'a> {
    vocabulary: &'a Vocabulary,
    template: Template,
    prompt: Prompt,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(vocabulary: &'a Vocabulary, template: Template) -> Result<Self, LocalError> {
        let mut writer = Self { vocabulary, template, prompt: Prompt::default() };
        writer.markup(template.begin())?;
        Ok(writer)
    }

    /// Goes on from a prompt written before.
    fn resume(&self, prompt: Prompt) -> Self {
        Self { vocabulary: self.vocabulary, template: self.template, prompt }
    }

    fn markup(&mut self, text: &str) -> Result<&mut Self, LocalError> {
        self.vocabulary.markup(text, &mut self.prompt.tokens)?;
        Ok(self)
    }

    fn data(&mut self, text: &str) -> Result<&mut Self, LocalError> {
        self.vocabulary.data(text, &mut self.prompt.tokens)?;
        Ok(self)
    }

    fn open(&mut self, role: Role) -> Result<&mut Self, LocalError> {
        self.markup(&self.template.open(role))
    }

    fn close(&mut self) -> Result<&mut Self, LocalError> {
        self.markup(self.template.close())
    }

    fn turn(&mut self, role: Role, text: &str) -> Result<&mut Self, LocalError> {
        self.open(role)?.data(text)?.close()
    }

    /// What was written so far is the same for other runs.
    fn stable(&mut self) -> &mut Self {
        self.prompt.stable.push(self.prompt.tokens.len());
        self
    }

    pub(crate) fn finish(self) -> Prompt {
        self.prompt
    }
}

#[cfg(test)]
mod tests;
