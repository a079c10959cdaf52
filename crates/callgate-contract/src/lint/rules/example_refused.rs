//! Examples that their own schema refuses.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::{
    document::Document,
    lint::{Form, reach::alone, texts::short},
    schema::Schema,
    violation,
};

pub(super) const RULE: Rule = Rule {
    id: "example-refused",
    level: Level::Error,
    finds: "An example in a schema, or beside it, that the schema refuses.",
    why: "Models copy examples; each such call is refused, although it did as it was shown.",
    instead: "Write an example that fits, or let the schema take this one.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    for part in tool.parts() {
        let root = part.schema.value();
        part.reach(&mut |spot| {
            if spot.negative {
                return;
            }
            let several = spot.get("examples").and_then(Value::as_array).into_iter().flatten();
            let several = several.enumerate().map(|(i, value)| (format!("/examples/{i}"), value));
            let one = spot.get("example").map(|value| ("/example".to_owned(), value));
            for (at, example) in several.chain(one) {
                if let Some(why) = refusal(root, spot.value, example) {
                    let at = format!("{}{}{at}", part.at, spot.pointer);
                    found.push(told(at, example, &why));
                }
            }
        });
    }
    // A contract's own examples are judged when it is loaded.
    if let (Form::Anthropic, Some(input)) = (tool.form, &tool.input) {
        let examples = tool.node.get("input_examples");
        for (i, node) in examples.into_iter().flat_map(|list| list.elements()).enumerate() {
            let example = node.to_value();
            if let Some(why) = refusal(input.schema.value(), input.schema.value(), &example) {
                found.push(told(format!("/input_examples/{i}"), &example, &why));
            }
        }
    }
}

fn told(at: String, example: &Value, why: &str) -> Draft {
    Draft::new(
        at,
        format!(
            "the example {} does not fit its own schema: {why}; a model that copies it is refused",
            short(&example.to_string(), 60)
        ),
        "Write an example that fits, or let the schema take this one.",
    )
}

/// Why a subschema refuses a value; nothing where it takes it, or cannot be judged alone.
pub(super) fn refusal(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let schema = Schema::compile(alone(root, schema)).ok()?;
    let text = value.to_string();
    let doc = Document::parse(&text).ok()?;
    let findings = schema.findings(doc.root());
    let told = violation::tell(&schema, &doc, &findings);
    let first = told.first()?;
    Some(crate::envelope::describe(first, "it").trim_end_matches('.').to_owned())
}
