//! Business rules and tier conditions: CEL over what is being asked, by whom, and when.
//!
//! An expression sees `input` (the admitted arguments), `caller` (who started the run) and `run`
//! (`id`, `step`, `calls`, `now`). It must yield a boolean. What cannot be evaluated, such as a
//! member that is not there, counts as refused: guard optional members with `has(input.x)`.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock},
};

use cel::{Context, Env, Program, Value as Cel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Admitted,
    document::{Document, Kind, NodeRef},
};

/// Who and when, for rules and tiers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Who started the run: an object with `id`, `roles`, claims.
    pub caller: Value,
    /// The run so far: an object with `id`, `step`, `calls`, `now` (milliseconds since 1970).
    pub run: Value,
}

/// A compiled expression.
#[derive(Clone)]
pub struct Condition {
    source: Arc<str>,
    program: Arc<Program>,
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Condition").field(&self.source).finish()
    }
}

/// Why an expression cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// It does not parse.
    #[error("not a CEL expression: {0}")]
    Syntax(String),
    /// It uses a variable that is not there.
    #[error("unknown variable {name:?}: an expression sees input, caller and run")]
    UnknownVariable {
        /// The variable.
        name: String,
    },
}

static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| {
    let mut env = Env::stdlib();
    // Only a clash of names could fail, and the standard library is all there is.
    let _ = env.add_extension(cel::extensions::strings);
    Arc::new(env)
});

impl Condition {
    /// Compiles an expression.
    ///
    /// # Errors
    /// It does not parse, or names a variable other than `input`, `caller` and `run`.
    pub fn compile(source: &str) -> Result<Self, ConditionError> {
        let program =
            ENV.compile(source).map_err(|e| ConditionError::Syntax(in_a_line(&e.to_string())))?;
        let unknown = program
            .references()
            .variables()
            .into_iter()
            .find(|name| !matches!(*name, "input" | "caller" | "run"))
            .map(str::to_owned);
        match unknown {
            Some(name) => Err(ConditionError::UnknownVariable { name }),
            None => Ok(Self { source: source.into(), program: Arc::new(program) }),
        }
    }

    /// The expression as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Evaluates to a boolean, or to why it could not be.
    ///
    /// # Errors
    /// The words of the evaluator, or that the value is no boolean.
    pub fn holds(&self, arguments: &Admitted, facts: &Facts) -> Result<bool, String> {
        let mut context = Context::with_env(ENV.clone());
        let input = Document::parse(arguments.text()).map_or(Cel::Null, |doc| of_node(doc.root()));
        context.add_variable_from_value("input", input);
        context.add_variable_from_value("caller", of_value(&facts.caller));
        context.add_variable_from_value("run", of_value(&facts.run));
        match self.program.execute(&context) {
            Ok(Cel::Bool(holds)) => Ok(holds),
            Ok(other) => {
                Err(format!("{} gives {:?}, not true or false", self.source, other.type_of()))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The first fault that the parser reports, without its picture of the line and its list of all that
/// could stand there.
fn in_a_line(report: &str) -> String {
    let first = report.trim().lines().next().unwrap_or_default();
    let Some((_, place)) = first.split_once("<input>:1:") else { return first.to_owned() };
    let (column, words) = place.split_once(": ").unwrap_or(("1", place));
    let words = words.trim_start_matches("Syntax error: ");
    let words = words.split(" expecting ").next().unwrap_or(words);
    format!("{words} at character {column}").replace("'<EOF>'", "end")
}

fn of_node(node: NodeRef<'_>) -> Cel {
    match node.kind() {
        Kind::Null => Cel::Null,
        Kind::True => Cel::Bool(true),
        Kind::False => Cel::Bool(false),
        Kind::Number => of_number(node.raw()),
        Kind::String => Cel::from(node.string().unwrap_or_default()),
        Kind::Array => Cel::from(node.elements().map(of_node).collect::<Vec<_>>()),
        Kind::Object => Cel::from(
            node.members().map(|(k, v)| (k.to_owned(), of_node(v))).collect::<HashMap<_, _>>(),
        ),
    }
}

/// An integral value is an `int` in CEL, however it is written, so that `input.n <= 10` compares.
fn of_number(text: &str) -> Cel {
    if let Ok(n) = text.parse::<i64>() {
        return Cel::Int(n);
    }
    if let Ok(n) = text.parse::<u64>() {
        return Cel::UInt(n);
    }
    Cel::Float(text.parse().unwrap_or(f64::NAN))
}

fn of_value(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(b) => Cel::Bool(*b),
        Value::Number(n) => of_number(&n.to_string()),
        Value::String(s) => Cel::from(s.as_str()),
        Value::Array(items) => Cel::from(items.iter().map(of_value).collect::<Vec<_>>()),
        Value::Object(members) => Cel::from(
            members.iter().map(|(k, v)| (k.clone(), of_value(v))).collect::<HashMap<_, _>>(),
        ),
    }
}

/// A business rule of a contract.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name in the contract and in refusals.
    pub id: Arc<str>,
    /// What it asks.
    pub ask: Ask,
    /// What the model is told when it does not hold.
    pub message: Arc<str>,
    /// What the model is told to do then.
    pub hint: Option<Arc<str>>,
}

/// What a rule asks.
#[derive(Debug, Clone)]
pub enum Ask {
    /// An expression that must hold.
    Check(Condition),
    /// A read-only tool that must find something.
    Lookup(Lookup),
}

/// A question to a read-only tool: it must succeed, and must not bring `null` or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lookup {
    /// The tool asked, by its name in the catalog. It must be annotated `readOnly`.
    pub tool: String,
    /// Its arguments; a string that is exactly `{name}` or `{/json/pointer}` is filled with that
    /// value of the input.
    pub input: serde_json::Map<String, Value>,
}

impl Lookup {
    /// The argument text for the tool, filled from admitted arguments with their digits. A
    /// placeholder for an absent optional value leaves the lookup out: `None`.
    pub fn arguments(&self, arguments: &Admitted) -> Option<String> {
        let doc = Document::parse(arguments.text()).ok()?;
        let mut out = String::new();
        fill(&Value::Object(self.input.clone()), &doc, &mut out)?;
        Some(out)
    }
}

fn fill(template: &Value, doc: &Document<'_>, out: &mut String) -> Option<()> {
    match template {
        Value::Object(members) => {
            out.push('{');
            for (i, (name, value)) in members.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push_str(": ");
                fill(value, doc, out)?;
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                fill(item, doc, out)?;
            }
            out.push(']');
        }
        Value::String(text) => match placeholder(text) {
            Some(pointer) => out.push_str(doc.pointer(&pointer)?.raw()),
            None => out.push_str(&template.to_string()),
        },
        other => out.push_str(&other.to_string()),
    }
    Some(())
}

/// The JSON Pointer in a string that is exactly one placeholder.
pub(crate) fn placeholder(text: &str) -> Option<String> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    if inner.is_empty() || inner.contains(['{', '}']) {
        return None;
    }
    Some(if inner.starts_with('/') { inner.to_owned() } else { format!("/{inner}") })
}
