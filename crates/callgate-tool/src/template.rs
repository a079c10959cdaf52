//! Texts in a contract that are filled at the moment of use.
//!
//! - `{name}`: an argument. `{a/b}` and `{/a/b}`: the argument at that JSON Pointer (RFC 6901).
//! - `${NAME}`: an environment variable; unset or empty is an error that names it.
//! - `${NAME:-default}`: with a default for unset or empty, as in the shell.
//! - `{{`, `}}` and `$${NAME}` stand for `{`, `}` and `${NAME}`.
//!
//! Anything else in braces is refused when the contract is loaded: a mistyped placeholder must not
//! travel to a server as text.

use std::fmt;

use thiserror::Error;

use crate::secrets::{Env, Secrets};

/// A template as its pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template(pub(crate) Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Variable(Variable),
    Argument(Pointer),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    default: Option<String>,
}

/// A place in the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer(pub(crate) Vec<String>);

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|s| write!(f, "/{}", s.replace('~', "~0").replace('/', "~1")))
    }
}

/// A template that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// A brace without its partner.
    #[error("`{found}` opens a placeholder that does not end; write `{{{{` for a brace")]
    Unclosed {
        /// From the brace on.
        found: String,
    },
    /// A closing brace without its partner.
    #[error("`}}` closes nothing; write `}}}}` for a brace")]
    Unopened,
    /// Braces around something that is no placeholder.
    #[error(
        "`{{{found}}}` is no placeholder: write `{{name}}`, `{{a/b}}` or `{{/json/pointer}}` for an argument, `{{{{` for a brace"
    )]
    Placeholder {
        /// What stands between the braces.
        found: String,
    },
    /// Not the name of an environment variable.
    #[error(
        "`${{{found}}}` names no environment variable: letters, digits and `_` only, then `}}` or `:-default}}`"
    )]
    Variable {
        /// What stands between the braces.
        found: String,
    },
}

/// A variable that the environment does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the environment variable {name} is not set")]
pub(crate) struct Unset {
    pub(crate) name: String,
}

impl Template {
    /// Reads arguments and variables.
    pub(crate) fn parse(text: &str) -> Result<Self, TemplateError> {
        parse(text, true)
    }

    /// Reads variables only; braces are plain characters.
    pub(crate) fn parse_variables(text: &str) -> Result<Self, TemplateError> {
        parse(text, false)
    }

    /// The arguments in it.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Pointer> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Argument(pointer) => Some(pointer),
            _ => None,
        })
    }

    /// The argument that is the whole template, if it is.
    pub(crate) fn sole_argument(&self) -> Option<&Pointer> {
        match self.0.as_slice() {
            [Piece::Argument(pointer)] => Some(pointer),
            _ => None,
        }
    }

    /// The text of a template without arguments, its variables looked up.
    pub(crate) fn resolve(&self, env: &Env, secrets: &mut Secrets) -> Result<String, Unset> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Variable(variable) => out.push_str(&variable.resolve(env, secrets, true)?),
                Piece::Argument(_) => {}
            }
        }
        Ok(out)
    }
}

impl Variable {
    /// The value; a value of the environment (not a default, which is in the contract) is kept.
    pub(crate) fn resolve(
        &self,
        env: &Env,
        secrets: &mut Secrets,
        credential: bool,
    ) -> Result<String, Unset> {
        match (env(&self.name).filter(|v| !v.is_empty()), &self.default) {
            (Some(value), _) => {
                secrets.keep(&self.name, &value, credential);
                Ok(value)
            }
            (None, Some(default)) => Ok(default.clone()),
            (None, None) => Err(Unset { name: self.name.clone() }),
        }
    }

    /// As it is shown.
    pub(crate) fn shown(&self) -> String {
        format!("${{{}}}", self.name)
    }
}

fn parse(text: &str, arguments: bool) -> Result<Template, TemplateError> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("$${") {
            let (inner, after) = until_brace(after, rest)?;
            plain.push_str(&format!("${{{inner}}}"));
            rest = after;
        } else if let Some(after) = rest.strip_prefix("${") {
            let (inner, after) = until_brace(after, rest)?;
            flush(&mut pieces, &mut plain);
            pieces.push(Piece::Variable(variable(inner)?));
            rest = after;
        } else if arguments && (rest.starts_with("{{") || rest.starts_with("}}")) {
            plain.push(c);
            rest = &rest[2..];
        } else if arguments && c == '{' {
            let (inner, after) = until_brace(&rest[1..], rest)?;
            flush(&mut pieces, &mut plain);
            pieces.push(Piece::Argument(pointer(inner)?));
            rest = after;
        } else if arguments && c == '}' {
            return Err(TemplateError::Unopened);
        } else {
            plain.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    flush(&mut pieces, &mut plain);
    Ok(Template(pieces))
}

fn flush(pieces: &mut Vec<Piece>, plain: &mut String) {
    if !plain.is_empty() {
        pieces.push(Piece::Text(std::mem::take(plain)));
    }
}

fn until_brace<'t>(inner: &'t str, whole: &str) -> Result<(&'t str, &'t str), TemplateError> {
    inner.split_once('}').ok_or_else(|| TemplateError::Unclosed { found: whole.to_owned() })
}

fn variable(inner: &str) -> Result<Variable, TemplateError> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (inner, None),
    };
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    if first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        Ok(Variable { name: name.to_owned(), default })
    } else {
        Err(TemplateError::Variable { found: inner.to_owned() })
    }
}

fn pointer(inner: &str) -> Result<Pointer, TemplateError> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "{\"',:".contains(c);
    let path = inner.strip_prefix('/').unwrap_or(inner);
    if path.is_empty() || inner.contains(odd) {
        return Err(TemplateError::Placeholder { found: inner.to_owned() });
    }
    let unescape = |s: &str| s.replace("~1", "/").replace("~0", "~");
    Ok(Pointer(path.split('/').map(unescape).collect()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn pieces() {
        let text = |t: &str| Piece::Text(t.into());
        let argument = |p: &[&str]| Piece::Argument(Pointer(p.iter().map(|&s| s.into()).collect()));
        let variable = |n: &str, d: Option<&str>| {
            Piece::Variable(Variable { name: n.into(), default: d.map(Into::into) })
        };
        let rows = [
            ("", vec![]),
            ("plain", vec![text("plain")]),
            ("{id}", vec![argument(&["id"])]),
            ("a{id}b", vec![text("a"), argument(&["id"]), text("b")]),
            ("{a/b}", vec![argument(&["a", "b"])]),
            ("{/a~1b/0}", vec![argument(&["a/b", "0"])]),
            ("{$filter}", vec![argument(&["$filter"])]),
            ("${A}/x", vec![variable("A", None), text("/x")]),
            ("${A:-http://h}", vec![variable("A", Some("http://h"))]),
            ("${A:-}", vec![variable("A", Some(""))]),
            ("{{x}} $${A} $5", vec![text("{x} ${A} $5")]),
        ];
        for (template, expected) in rows {
            assert_eq!(Template::parse(template), Ok(Template(expected)), "{template}");
        }
    }

    #[test]
    fn mistakes_are_found_when_the_contract_is_read() {
        let rows = [
            ("{id", "does not end"),
            ("id}", "closes nothing"),
            ("{}", "no placeholder"),
            ("{customer id}", "no placeholder"),
            ("{ user }", "no placeholder"),
            ("${}", "names no environment variable"),
            ("${A-B}", "names no environment variable"),
            ("${A", "does not end"),
        ];
        for (template, expected) in rows {
            let error = Template::parse(template).unwrap_err().to_string();
            assert!(error.contains(expected), "{template}: {error}");
        }
    }

    #[test]
    fn variables_are_looked_up_when_used() {
        let env: Env = Arc::new(|name| match name {
            "SET" => Some("value".into()),
            "EMPTY" => Some(String::new()),
            _ => None,
        });
        let rows = [
            ("x ${SET}", Ok("x value".to_owned())),
            ("${EMPTY:-d}", Ok("d".to_owned())),
            ("${UNSET:-}", Ok(String::new())),
            ("${EMPTY}", Err(Unset { name: "EMPTY".into() })),
            ("${UNSET}", Err(Unset { name: "UNSET".into() })),
        ];
        for (template, expected) in rows {
            let template = Template::parse_variables(template).unwrap();
            assert_eq!(template.resolve(&env, &mut Secrets::default()), expected);
        }
    }
}
