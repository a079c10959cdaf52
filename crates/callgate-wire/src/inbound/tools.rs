//! Tools and the choice among them, in what OpenAI's two APIs have in common.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{
    Misread, Received,
    body::{Object, refused, wrong},
};
use crate::{AnswerFormat, ToolChoice, ToolDefinition, raw::string};

/// Why a tool without a schema cannot be had.
pub(super) const NO_SCHEMA: &str = "its calls have no JSON Schema, so they cannot be judged here; \
                                    declare it as a function instead, with a schema for its \
                                    arguments";

/// A tool from the fields of a function.
pub(super) fn function(
    mut function: Object<'_>,
    received: &mut Received,
) -> Result<ToolDefinition, Misread> {
    let tool = ToolDefinition {
        name: function.need_string("name")?.into(),
        description: function.string("description")?.map(Into::into),
        strict: function.boolean("strict")?,
        defer: function.boolean("defer_loading")?.unwrap_or(false),
        ..ToolDefinition::default()
    };
    let parameters = function.schema("parameters")?;
    function.leave(&mut received.notes);
    Ok(ToolDefinition { parameters: parameters.unwrap_or(tool.parameters), ..tool })
}

/// How a function is named in a choice: below `function` in Chat, at once in Responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    Nested,
    Flat,
}

impl Naming {
    fn name(self, object: &mut Object<'_>) -> Result<Arc<str>, Misread> {
        Ok(match self {
            Self::Flat => object.need_string("name")?.into(),
            Self::Nested => {
                let mut function =
                    object.object("function")?.ok_or_else(|| object.missing("function"))?;
                function.need_string("name")?.into()
            }
        })
    }
}

/// What a choice comes to.
#[derive(Debug)]
pub(super) enum Choice {
    Neutral(ToolChoice),
    /// It is about tools that only the provider has: to be sent on as it is.
    Own,
}

/// The value of `tool_choice`.
pub(super) fn choice(raw: &RawValue, naming: Naming) -> Result<Choice, Misread> {
    let path = "tool_choice";
    if let Some(word) = string(raw) {
        return Ok(Choice::Neutral(match &*word {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" | "any" => ToolChoice::Some,
            _ => return Err(wrong(path, "`auto`, `none`, `required` or an object", raw)),
        }));
    }
    let mut object = Object::of(raw, path)?;
    match &*object.need_string("type")? {
        "function" => Ok(Choice::Neutral(ToolChoice::One(naming.name(&mut object)?))),
        "allowed_tools" => allowed(object, naming),
        "custom" => Err(refused(path, NO_SCHEMA)),
        _ => Ok(Choice::Own),
    }
}

fn allowed(mut object: Object<'_>, naming: Naming) -> Result<Choice, Misread> {
    if naming == Naming::Nested {
        object = object.object("allowed_tools")?.ok_or_else(|| object.missing("allowed_tools"))?;
    }
    let mode = object.string("mode")?;
    let required = match mode.as_deref() {
        None | Some("auto") => false,
        Some("required") => true,
        Some(other) => {
            let why = format!("`{other}` is neither `auto` nor `required`");
            return Err(refused(object.at("mode"), &why));
        }
    };
    let mut names = Vec::new();
    for mut tool in object.objects("tools")? {
        if tool.string("type")?.is_some_and(|kind| kind != "function") {
            return Ok(Choice::Own);
        }
        names.push(naming.name(&mut tool)?);
    }
    Ok(Choice::Neutral(ToolChoice::Subset { names, required }))
}

/// The schema of a structured answer, from the object that has its name.
pub(super) fn answer(
    mut format: Object<'_>,
    received: &mut Received,
) -> Result<AnswerFormat, Misread> {
    let schema = format.schema("schema")?.ok_or_else(|| format.missing("schema"))?;
    let answer = AnswerFormat {
        name: format.string("name")?.map_or_else(|| "answer".into(), Into::into),
        schema,
        strict: format.boolean("strict")?.unwrap_or(false),
    };
    format.leave(&mut received.notes);
    Ok(answer)
}

/// Any JSON object at all.
pub(super) fn any_object() -> Result<AnswerFormat, Misread> {
    let schema = RawValue::from_string(r#"{"type":"object"}"#.to_owned());
    let schema = schema.map_err(|error| Misread::new(error.to_string()))?;
    Ok(AnswerFormat { name: "json".into(), schema: schema.into(), strict: false })
}

/// Tools that only the provider has, to be sent on as they are, and the rest of a choice.
#[derive(Debug, Default)]
pub(super) struct Hosted {
    tools: Vec<String>,
    choice: Option<String>,
}

impl Hosted {
    pub(super) fn tool(&mut self, raw: &RawValue) {
        self.tools.push(raw.get().to_owned());
    }

    pub(super) fn choice(&mut self, raw: &RawValue) {
        self.choice = Some(raw.get().to_owned());
    }

    pub(super) fn extra(self, more: &mut Vec<(&'static str, String)>) {
        if !self.tools.is_empty() {
            more.push(("tools", format!("[{}]", self.tools.join(","))));
        }
        more.extend(self.choice.map(|choice| ("tool_choice", choice)));
    }
}
