//! What is said about choosing among the tools.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::{
    Unforced,
    chat::profile::{NoneChoice, OneChoice, ParallelField, Profile, SubsetChoice},
    offer::{Can, Choice},
};

impl Profile {
    /// What this server has words for.
    pub(super) fn can(&self) -> Can {
        let subset = self.subset == SubsetChoice::AllowedTools;
        Can {
            some: if self.forces { Ok(()) } else { Err(Unforced::Api) },
            one: self.one == OneChoice::Object,
            none: self.none == NoneChoice::Field,
            subset,
            subset_required: subset,
            one_call: self.parallel != ParallelField::Never,
            defer: false,
            max_tools: self.max_tools,
        }
    }
}

impl ParallelField {
    pub(super) fn field(self, asked: Option<bool>) -> Option<bool> {
        match self {
            Self::Never => None,
            Self::OnlyFalse => asked.filter(|parallel| !parallel),
            Self::Always => asked,
        }
    }
}

/// The value of `tool_choice`; `None` where the default, `auto`, is meant.
pub(super) fn spelled<'a>(profile: &Profile, choice: &'a Choice<'_>) -> Option<Word<'a>> {
    let required = profile.required;
    match choice {
        Choice::Auto => None,
        Choice::None => Some(Word::Plain("none")),
        Choice::Some => Some(Word::Plain(required)),
        Choice::One(name) => Some(Word::Object(Object::Function { function: Function { name } })),
        Choice::Allowed { names, required: must } => {
            let mode = if *must { required } else { "auto" };
            let allowed_tools = Allowed { mode, tools: Listed(names) };
            Some(Word::Object(Object::AllowedTools { allowed_tools }))
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Word<'a> {
    Plain(&'static str),
    Object(Object<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Object<'a> {
    Function { function: Function<'a> },
    AllowedTools { allowed_tools: Allowed<'a> },
}

#[derive(Serialize)]
pub(super) struct Function<'a> {
    name: &'a str,
}

#[derive(Serialize)]
pub(super) struct Allowed<'a> {
    mode: &'static str,
    tools: Listed<'a>,
}

struct Listed<'a>(&'a [Cow<'a, str>]);

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = |name| Object::Function { function: Function { name } };
        serializer.collect_seq(self.0.iter().map(|name| entry(name)))
    }
}
