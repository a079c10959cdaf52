//! Adjustments: what was changed between the model's text and the admitted arguments.

use std::{borrow::Cow, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One repair or coercion, by name. None happens without being recorded (law 11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Adjustment {
    /// Such as `trailing_comma` or `string_to_number`; all names are in `docs/adjustments.md`.
    pub name: Cow<'static, str>,
    /// JSON Pointer of the value, for those that concern one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// JSON Pointer of its new place, for renames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl Adjustment {
    /// One that concerns the text as a whole.
    pub fn text(name: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), path: None, to: None }
    }

    /// One that concerns the value at a pointer.
    pub fn at(name: &'static str, path: impl Into<String>) -> Self {
        Self { name: Cow::Borrowed(name), path: Some(path.into()), to: None }
    }

    /// A member under another name.
    pub fn rename(path: impl Into<String>, to: impl Into<String>) -> Self {
        Self { name: Cow::Borrowed("rename"), path: Some(path.into()), to: Some(to.into()) }
    }
}

/// `name`, `name:/pointer` or `rename:/old->/new`.
impl fmt::Display for Adjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(path) = &self.path {
            write!(f, ":{path}")?;
        }
        if let Some(to) = &self.to {
            write!(f, "->{to}")?;
        }
        Ok(())
    }
}
