//! A tool's contract, ready for the gates.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc, time::Duration};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    Admitted, Fault, Mode, Verdict,
    catalog::ToolFile,
    gate,
    rules::{Ask, Facts, Lookup, Rule},
    schema::Schema,
    shape::Shape,
    tier::TierPolicy,
};

pub use crate::catalog::{Annotations, Example};

/// One tool: what it takes, what it gives, who may call it, who does the work.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name in the catalog: 1 to 128 characters.
    pub name: Arc<str>,
    /// The contract's own version.
    pub version: Arc<str>,
    /// What the model reads.
    pub description: Arc<str>,
    /// The canonical input schema; its root is an object.
    pub input: Schema,
    /// The canonical output schema, of any root type.
    pub output: Option<Schema>,
    /// Worked examples.
    pub examples: Vec<Example>,
    /// What it does to the world.
    pub annotations: Annotations,
    /// Whether calls run by themselves.
    pub tier: TierPolicy,
    /// Business rules, in order.
    pub rules: Vec<Rule>,
    /// How much of a result the model sees.
    pub shape: Shape,
    /// The backend's own description, by kind; read by whoever does the work.
    pub backend: serde_json::Map<String, Value>,
    /// How long one call may take.
    pub timeout: Duration,
    /// Whether it is offered only after a search.
    pub defer: bool,
    /// Overrides the run's mode.
    pub mode: Option<Mode>,
    /// Other names of arguments, to the right ones.
    pub aliases: BTreeMap<String, String>,
    /// The contract file's name, for errors.
    pub source: Arc<str>,
    /// The file form without its schemas, which are kept once, compiled.
    file: Arc<ToolFile>,
}

/// What rules say about admitted arguments.
#[derive(Debug)]
pub enum RuleVerdict<'t> {
    /// All hold.
    Hold,
    /// One does not.
    Broken(Box<Fault>),
    /// One needs a read-only tool to be asked first.
    Ask {
        /// The rule's position.
        index: usize,
        /// The rule.
        rule: &'t Rule,
        /// Whom to ask what.
        lookup: &'t Lookup,
        /// The question's argument text.
        arguments: String,
    },
}

impl Tool {
    /// Judges raw argument text: parse, repair, schema, coerce.
    pub fn admit(&self, raw: &str, mode: Mode) -> Verdict {
        gate::judge(&self.input, &self.aliases, self.mode.unwrap_or(mode), raw)
    }

    /// Judges the rules from the `from`th on, up to the first that does not hold or has to ask.
    pub fn check_rules(&self, arguments: &Admitted, facts: &Facts, from: usize) -> RuleVerdict<'_> {
        for (index, rule) in self.rules.iter().enumerate().skip(from) {
            match &rule.ask {
                Ask::Check(condition) => match condition.holds(arguments, facts) {
                    Ok(true) => {}
                    Ok(false) => return RuleVerdict::Broken(Box::new(rule_fault(rule))),
                    Err(why) => {
                        let message = format!(
                            "{} (it could not be checked: {why})",
                            rule.message.trim_end_matches('.')
                        );
                        let fault = Fault::rule(&rule.id, &message, rule.hint.as_deref());
                        return RuleVerdict::Broken(Box::new(fault));
                    }
                },
                Ask::Lookup(lookup) => {
                    if let Some(arguments) = lookup.arguments(arguments) {
                        return RuleVerdict::Ask { index, rule, lookup, arguments };
                    }
                }
            }
        }
        RuleVerdict::Hold
    }

    /// Whether it may run again after an unknown outcome without asking anybody.
    pub fn is_repeatable(&self) -> bool {
        self.annotations.read_only || self.annotations.idempotent
    }

    /// A hash of what the model and the gates go by: name, description and both schemas.
    ///
    /// Key order does not count; anything else does.
    pub fn fingerprint(&self) -> String {
        let definition = serde_json::json!({
            "name": &*self.name,
            "description": &*self.description,
            "input": self.input.value(),
            "output": self.output.as_ref().map(Schema::value),
        });
        hash(&canonical(&definition))
    }

    /// The contract as its file would say it. References to the environment stay references.
    pub fn to_file(&self) -> ToolFile {
        let mut file = ToolFile::clone(&self.file);
        if let Value::Object(input) = self.input.value() {
            file.input.clone_from(input);
        }
        file.output = self.output.as_ref().map(|schema| schema.value().clone());
        file
    }

    /// A contract from its file form.
    pub(crate) fn from_file(mut file: ToolFile, parts: Parts, source: Arc<str>) -> Self {
        file.input = serde_json::Map::new();
        file.output = None;
        Self {
            name: file.name.as_str().into(),
            version: file.version.as_deref().unwrap_or("0.0.0").into(),
            description: file.description.as_deref().unwrap_or_default().into(),
            input: parts.input,
            output: parts.output,
            examples: file.examples.clone(),
            annotations: file.annotations,
            tier: parts.tier,
            rules: parts.rules,
            shape: parts.shape,
            backend: file.backend.clone(),
            timeout: Duration::from_millis(file.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS)),
            defer: file.defer,
            mode: file.mode,
            aliases: file.aliases.clone(),
            source,
            file: Arc::new(file),
        }
    }
}

/// How long a call may take where the contract does not say.
pub const DEFAULT_TIMEOUT_MS: u64 = 60_000;

/// The compiled parts of a contract file.
pub(crate) struct Parts {
    pub input: Schema,
    pub output: Option<Schema>,
    pub tier: TierPolicy,
    pub rules: Vec<Rule>,
    pub shape: Shape,
}

/// The refusal of a rule that does not hold.
pub(crate) fn rule_fault(rule: &Rule) -> Fault {
    Fault::rule(&rule.id, &rule.message, rule.hint.as_deref())
}

impl Rule {
    /// The refusal when the tool that it asks gave no answer.
    pub fn unchecked(&self, tool: &str) -> Fault {
        Fault::rule_unchecked(&self.id, tool)
    }

    /// The refusal when it does not hold.
    pub fn fault(&self) -> Fault {
        rule_fault(self)
    }
}

/// JSON with sorted keys and no white space.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            out.push('{');
            for (i, name) in names.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write_canonical(&members[name], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// SHA-256 in hexadecimal.
pub fn hash(text: &str) -> String {
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
