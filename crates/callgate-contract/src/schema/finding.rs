//! What validation found, in values of our own.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as K},
};
use serde_json::Value;

/// One keyword that refused one value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    /// JSON Pointer into the instance.
    pub path: String,
    /// JSON Pointer into the schema, to the keyword.
    pub schema_path: String,
    /// The way that validation took to the keyword, through references.
    pub evaluation_path: String,
    /// The keyword.
    pub keyword: String,
    /// What would have been right.
    pub expect: Expect,
}

/// What a keyword wanted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expect {
    /// One of these types.
    Type(Vec<&'static str>),
    /// One of these values.
    OneOfValues(Vec<Value>),
    /// A member of this name.
    Member(String),
    /// No members or elements but those declared; these are too many.
    Unexpected(Vec<String>),
    /// A branch that fits: what each one found.
    Branch(Vec<Vec<Finding>>),
    /// Fewer branches that fit.
    OneBranchOnly,
    /// A bound, a count, a pattern, a format: the keyword's own value.
    Limit(Value),
    /// Nothing at all may stand here.
    Nothing,
    /// Whatever the keyword says; its value is in the schema.
    Keyword,
}

impl Finding {
    pub(crate) fn of(error: &ValidationError<'_>) -> Self {
        let mut path = error.instance_path().as_str().to_owned();
        let schema_path = error.schema_path().as_str().to_owned();
        let evaluation_path = error.evaluation_path().as_str().to_owned();
        let mut keyword = error.kind().keyword().to_owned();
        let expect = match error.kind() {
            K::Type { kind } => Expect::Type(match kind {
                TypeKind::Single(t) => vec![type_name(*t)],
                TypeKind::Multiple(types) => types.iter().map(type_name).collect(),
            }),
            K::Enum { options } => Expect::OneOfValues(match &**options {
                Value::Array(values) => values.clone(),
                other => vec![other.clone()],
            }),
            K::Constant { expected_value } => {
                Expect::OneOfValues(vec![Value::clone(expected_value)])
            }
            K::Required { property } => {
                Expect::Member(property.as_str().unwrap_or_default().to_owned())
            }
            K::AdditionalProperties { unexpected }
            | K::UnevaluatedProperties { unexpected }
            | K::UnevaluatedItems { unexpected } => Expect::Unexpected(unexpected.clone()),
            K::AdditionalItems { limit } => Expect::Limit(Value::from(*limit)),
            K::AnyOf { context } | K::OneOfNotValid { context } => Expect::Branch(
                context.iter().map(|branch| branch.iter().map(Self::of).collect()).collect(),
            ),
            K::OneOfMultipleValid { .. } => Expect::OneBranchOnly,
            K::ExclusiveMaximum { limit }
            | K::ExclusiveMinimum { limit }
            | K::Maximum { limit }
            | K::Minimum { limit } => Expect::Limit(limit.clone()),
            K::MaxItems { limit }
            | K::MaxLength { limit }
            | K::MaxProperties { limit }
            | K::MinItems { limit }
            | K::MinLength { limit }
            | K::MinProperties { limit } => Expect::Limit(Value::from(*limit)),
            K::MultipleOf { multiple_of } => Expect::Limit(Value::from(*multiple_of)),
            K::Format { format } => Expect::Limit(Value::from(format.as_str())),
            K::Pattern { pattern } => Expect::Limit(Value::from(pattern.as_str())),
            K::ContentEncoding { content_encoding } => {
                Expect::Limit(Value::from(content_encoding.as_str()))
            }
            K::ContentMediaType { content_media_type } => {
                Expect::Limit(Value::from(content_media_type.as_str()))
            }
            K::FalseSchema => Expect::Nothing,
            K::PropertyNames { error: inner } => {
                // The name itself is at fault; the object is where it stands.
                let inner = Self::of(inner);
                keyword = "propertyNames".to_owned();
                if let Some(name) = error_name(error) {
                    crate::document::push_token(&mut path, &name);
                }
                inner.expect
            }
            _ => Expect::Keyword,
        };
        Self { path, schema_path, evaluation_path, keyword, expect }
    }
}

fn error_name(error: &ValidationError<'_>) -> Option<String> {
    match error.kind() {
        K::PropertyNames { error: inner } => inner.instance().as_str().map(str::to_owned),
        _ => None,
    }
}

fn type_name(t: JsonType) -> &'static str {
    match t {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer => "integer",
        JsonType::Null => "null",
        JsonType::Number => "number",
        JsonType::Object => "object",
        JsonType::String => "string",
    }
}
