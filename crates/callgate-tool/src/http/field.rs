//! One value of a query, a header, a form or a part: a text with holes, or an argument in a style.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    fill::{Fill, Filled, Unfilled},
    style::{self, Escape, How, Style},
};
use crate::{
    registry::{BackendError, Problem, known_fields_of},
    template::{Piece, Pointer, Template},
};

/// `{"value": "{ids}", "style": "pipeDelimited"}`: an argument written in one of OpenAPI's styles.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Styled {
    /// One placeholder.
    pub value: String,
    /// How a list or an object is written.
    pub style: Style,
    /// Whether each item or member stands for itself. It does in `form` when absent, in the others
    /// it does not.
    #[serde(default)]
    pub explode: Option<bool>,
}

/// What may stand in a query, a header or a form. For the published schema only: [`Field::read`]
/// tells the place of a mistake.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "it stands for its schema")]
pub(crate) enum Written {
    /// A text with placeholders.
    Text(String),
    Number(f64),
    Flag(bool),
    /// An argument in a style.
    Styled(Styled),
}

/// [`Written`], once or several times.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "it stands for its schema")]
pub(crate) enum Repeated {
    One(Written),
    Several(Vec<Written>),
}

/// A value with its template read.
#[derive(Debug, Clone)]
pub(crate) enum Field {
    /// A sole argument that is a list is repeated where things can be.
    Text(Template),
    Styled(Pointer, How),
}

impl Field {
    /// A text, number or boolean, or an object with a style that goes there.
    pub(crate) fn read(
        value: &Value,
        pointer: &str,
        styles: &'static [Style],
    ) -> Result<Self, BackendError> {
        match value {
            Value::String(text) => {
                Ok(Self::Text(Template::parse(text).map_err(BackendError::template(pointer))?))
            }
            Value::Number(_) | Value::Bool(_) => {
                Ok(Self::Text(Template(vec![Piece::Text(value.to_string())])))
            }
            Value::Object(object)
                if object.contains_key("value") || object.contains_key("style") =>
            {
                Self::styled(object, pointer, styles)
            }
            _ => Err(BackendError::invalid(pointer, Problem::QueryValue)),
        }
    }

    fn styled(
        object: &Map<String, Value>,
        pointer: &str,
        styles: &'static [Style],
    ) -> Result<Self, BackendError> {
        let styled: Styled = shaped("styled value", object, pointer)?;
        let template = Template::parse(&styled.value)
            .map_err(BackendError::template(format!("{pointer}/value")))?;
        let Some(argument) = template.sole_argument() else {
            let problem = Problem::NoSoleArgument { found: styled.value };
            return Err(BackendError::invalid(format!("{pointer}/value"), problem));
        };
        goes_there(styled.style, &format!("{pointer}/style"), styles)?;
        Ok(Self::Styled(argument.clone(), How::new(styled.style, styled.explode)))
    }

    /// One, or several of a list.
    pub(crate) fn read_several(
        value: &Value,
        pointer: &str,
        styles: &'static [Style],
    ) -> Result<Vec<Self>, BackendError> {
        match value {
            Value::Array(values) => values
                .iter()
                .enumerate()
                .map(|(i, value)| Self::read(value, &format!("{pointer}/{i}"), styles))
                .collect(),
            value => Ok(vec![Self::read(value, pointer, styles)?]),
        }
    }

    pub(crate) fn arguments(&self) -> Vec<&Pointer> {
        match self {
            Self::Text(template) => template.arguments().collect(),
            Self::Styled(pointer, _) => vec![pointer],
        }
    }

    /// Names and values; nothing where an argument is absent.
    pub(crate) fn fill(
        &self,
        name: &str,
        fill: &mut Fill<'_>,
        escape: Escape,
    ) -> Result<Vec<(String, Filled)>, Unfilled> {
        let (pointer, how) = match self {
            Self::Styled(pointer, how) => (pointer, Some(*how)),
            Self::Text(template) => match template.sole_argument() {
                Some(pointer) => (pointer, None),
                None => {
                    let value = fill.text(template, |text| escape.text(text))?;
                    return Ok(value.into_iter().map(|value| (name.to_owned(), value)).collect());
                }
            },
        };
        let Some(json) = fill.argument(pointer) else { return Ok(Vec::new()) };
        let fields = style::fields(name, json, how, escape)?;
        Ok(fields.into_iter().map(|(name, value)| (name, Filled::plain(&value))).collect())
    }

    /// One text for a header or a cookie.
    pub(crate) fn fill_text(
        &self,
        name: &str,
        fill: &mut Fill<'_>,
    ) -> Result<Option<Filled>, Unfilled> {
        match self {
            Self::Text(template) => fill.text(template, str::to_owned),
            // Of an empty list there is nothing to write.
            Self::Styled(pointer, how) => fill
                .argument(pointer)
                .filter(|json| how.style == Style::Json || !style::is_empty(json))
                .map(|json| style::text(name, json, *how, Escape::None))
                .transpose()
                .map(|text| text.map(|text| Filled::plain(&text))),
        }
    }
}

/// An object of the contract, its members known.
pub(crate) fn shaped<S: JsonSchema + serde::de::DeserializeOwned>(
    kind: &'static str,
    object: &Map<String, Value>,
    pointer: &str,
) -> Result<S, BackendError> {
    known_fields_of::<S>(kind, object).map_err(|error| error.below(pointer))?;
    serde_json::from_value(Value::Object(object.clone()))
        .map_err(|source| BackendError::Shape { pointer: pointer.to_owned(), source })
}

pub(crate) fn goes_there(
    style: Style,
    pointer: &str,
    styles: &'static [Style],
) -> Result<(), BackendError> {
    if styles.contains(&style) {
        return Ok(());
    }
    let known = styles.iter().map(|style| style.name()).collect();
    Err(BackendError::invalid(pointer, Problem::Style { style: style.name(), known }))
}
