//! Which tools are sent, and what is said about choosing among them.
//!
//! Hard rule of every provider: without tools, neither `tools` nor `tool_choice` nor
//! `parallel_tool_calls` may be there. What a provider cannot say is emulated by offering less.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::{
    Request, ToolChoice, ToolDefinition,
    chat::profile::{NoneChoice, OneChoice, ParallelField, Profile, SubsetChoice},
};

/// The tools on offer after emulation.
pub(super) struct Offer<'a> {
    pub(super) profile: &'a Profile,
    request: &'a Request,
}

impl<'a> Offer<'a> {
    pub(super) fn new(profile: &'a Profile, request: &'a Request) -> Self {
        Self { profile, request }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools().next().is_none()
    }

    pub(super) fn tools(&self) -> impl Iterator<Item = &'a ToolDefinition> {
        let Self { profile, request } = *self;
        request.tools.iter().filter(move |tool| match &request.tool_choice {
            ToolChoice::Auto | ToolChoice::Some => true,
            ToolChoice::None => profile.none == NoneChoice::Field,
            ToolChoice::One(name) => profile.one == OneChoice::Object || tool.name == *name,
            // An empty `allowed_tools` is refused: it means that nothing may be called.
            ToolChoice::Subset { names, .. } if names.is_empty() => false,
            ToolChoice::Subset { names, .. } => {
                profile.subset == SubsetChoice::AllowedTools || names.contains(&tool.name)
            }
        })
    }

    /// The value of `tool_choice`; `None` where the default, `auto`, is meant.
    pub(super) fn choice(&self) -> Option<Choice<'a>> {
        let Self { profile, request } = *self;
        let required = profile.required;
        match &request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some(Choice::Word("none")),
            ToolChoice::Some => Some(Choice::Word(required)),
            ToolChoice::One(name) => Some(match profile.one {
                OneChoice::Object => Choice::Object(Object::function(name)),
                OneChoice::Filter => Choice::Word(required),
            }),
            ToolChoice::Subset { names, required: must } => match profile.subset {
                SubsetChoice::AllowedTools => {
                    let mode = if *must { required } else { "auto" };
                    let allowed_tools = Allowed { mode, tools: Names(names) };
                    Some(Choice::Object(Object::AllowedTools { allowed_tools }))
                }
                SubsetChoice::Filter => must.then_some(Choice::Word(required)),
            },
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

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Choice<'a> {
    Word(&'static str),
    Object(Object<'a>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Object<'a> {
    Function { function: Function<'a> },
    AllowedTools { allowed_tools: Allowed<'a> },
}

impl<'a> Object<'a> {
    fn function(name: &'a str) -> Self {
        Self::Function { function: Function { name } }
    }
}

#[derive(Serialize)]
pub(super) struct Function<'a> {
    name: &'a str,
}

#[derive(Serialize)]
pub(super) struct Allowed<'a> {
    mode: &'static str,
    tools: Names<'a>,
}

struct Names<'a>(&'a [Arc<str>]);

impl Serialize for Names<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|name| Object::function(name)))
    }
}
