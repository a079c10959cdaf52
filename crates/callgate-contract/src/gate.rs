//! The gate in: raw argument text to a verdict.
//!
//! Order: parse, repair (lenient, only what failed to parse), schema, coerce (lenient, only what
//! failed the schema). Rules and the tier come after, with facts of the run
//! ([`crate::rules`], [`crate::tier`]). Whether the reply that carried the call was whole is the
//! machine's to know: a call from a cut reply never gets here (law 10).

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Adjustment, Admitted, Fault,
    coerce::coerce,
    document::{Document, Kind, Syntax, SyntaxReason},
    repair::repair,
    schema::Schema,
    violation,
};

/// How much the gate mends by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Nothing: every fault goes back to the model.
    Strict,
    /// What cannot change the meaning, each mend recorded by name.
    #[default]
    Lenient,
}

/// What the gate says of a call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// They are an instance of the schema, perhaps after the adjustments named.
    Admitted {
        /// The arguments.
        arguments: Admitted,
        /// Repairs and coercions, in the order made.
        adjustments: Vec<Adjustment>,
    },
    /// They are not. Boxed: the common case is the other one.
    Refused(Box<Fault>),
}

impl Verdict {
    fn refused(fault: Fault) -> Self {
        Self::Refused(Box::new(fault))
    }
}

/// Judges raw argument text.
pub fn judge(
    schema: &Schema,
    aliases: &BTreeMap<String, String>,
    mode: Mode,
    raw: &str,
) -> Verdict {
    // The one parse of the common case: the document is validated where it lies.
    match Document::parse(raw) {
        Ok(doc) if doc.root().kind() == Kind::Object => {
            if schema.admits(doc.root()) {
                return Verdict::Admitted {
                    arguments: Admitted::new(raw.into()),
                    adjustments: Vec::new(),
                };
            }
            refuse_or_coerce(schema, aliases, mode, &doc, Vec::new())
        }
        Ok(doc) => {
            let kind = doc.root().type_name();
            let inner = doc.root().string().map(str::to_owned);
            not_an_object(schema, aliases, mode, kind, inner)
        }
        Err(error) => {
            if error.fault == Syntax::Malformed(SyntaxReason::Empty) {
                return mended(
                    schema,
                    aliases,
                    mode,
                    "{}",
                    vec![Adjustment::text("empty_to_object")],
                );
            }
            match (mode, repair(raw)) {
                (Mode::Lenient, Some((text, adjustments))) => {
                    mended(schema, aliases, mode, &text, adjustments)
                }
                _ => Verdict::refused(Fault::syntax(raw, &error)),
            }
        }
    }
}

/// Judges the text of an answer: as [`judge`], but the value may be of any type.
pub fn judge_value(
    schema: &Schema,
    aliases: &BTreeMap<String, String>,
    mode: Mode,
    raw: &str,
) -> Verdict {
    let (text, adjustments) = match Document::parse(raw) {
        Ok(doc) => return refuse_or_coerce(schema, aliases, mode, &doc, Vec::new()),
        Err(error) => match (mode, repair(raw)) {
            (Mode::Lenient, Some(mended)) => mended,
            _ => return Verdict::refused(Fault::syntax(raw, &error)),
        },
    };
    match Document::parse(&text) {
        Ok(doc) => refuse_or_coerce(schema, aliases, mode, &doc, adjustments),
        Err(error) => Verdict::refused(Fault::syntax(&text, &error)),
    }
}

/// Judges a mended text; a mend that did not lead to a document is our fault and told as syntax.
fn mended(
    schema: &Schema,
    aliases: &BTreeMap<String, String>,
    mode: Mode,
    text: &str,
    adjustments: Vec<Adjustment>,
) -> Verdict {
    match Document::parse(text) {
        Ok(doc) if doc.root().kind() == Kind::Object => {
            refuse_or_coerce(schema, aliases, mode, &doc, adjustments)
        }
        Ok(doc) => Verdict::refused(Fault::not_object(doc.root().type_name())),
        Err(error) => Verdict::refused(Fault::syntax(text, &error)),
    }
}

/// How often an object may be wrapped in a JSON string.
const WRAPPINGS: usize = 2;

fn not_an_object(
    schema: &Schema,
    aliases: &BTreeMap<String, String>,
    mode: Mode,
    kind: &'static str,
    string: Option<String>,
) -> Verdict {
    if mode == Mode::Lenient {
        if kind == "null" {
            let adjustments = vec![Adjustment::text("null_to_object")];
            return mended(schema, aliases, mode, "{}", adjustments);
        }
        let mut inner = string;
        for _ in 0..WRAPPINGS {
            let Some(text) = inner.take() else { break };
            let Ok(doc) = Document::parse(&text) else { break };
            match doc.root().kind() {
                Kind::Object => {
                    let adjustments = vec![Adjustment::text("unwrap_json_string")];
                    return refuse_or_coerce(schema, aliases, mode, &doc, adjustments);
                }
                Kind::String => inner = doc.root().string().map(str::to_owned),
                _ => break,
            }
        }
    }
    Verdict::refused(Fault::not_object(kind))
}

fn refuse_or_coerce(
    schema: &Schema,
    aliases: &BTreeMap<String, String>,
    mode: Mode,
    doc: &Document<'_>,
    mut adjustments: Vec<Adjustment>,
) -> Verdict {
    let findings = schema.findings(doc.root());
    if findings.is_empty() {
        return Verdict::Admitted {
            arguments: Admitted::new(doc.text().trim().into()),
            adjustments,
        };
    }
    if mode == Mode::Lenient
        && let Some((text, made)) = coerce(schema, aliases, doc.text())
    {
        adjustments.extend(made);
        let text: Arc<str> = text.trim().into();
        return Verdict::Admitted { arguments: Admitted::new(text), adjustments };
    }
    let violations = violation::tell(schema, doc, &findings);
    Verdict::refused(Fault::schema_mismatch(violations, doc.root().raw()))
}
