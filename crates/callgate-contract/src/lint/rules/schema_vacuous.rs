//! Schemas that every value fits.

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen};
use crate::{
    lint::reach::{Role, alone},
    schema::canonical,
};

pub(super) const RULE: Rule = Rule {
    id: "schema-vacuous",
    level: Level::Warning,
    finds: "A parameter, an element or a whole result whose schema every value fits, proved.",
    why: "It is judged by nothing, decoders are held to nothing, and strict modes cannot say it.",
    instead: "Write its type; where several are meant, list them in `type` or `anyOf`.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    for part in tool.parts() {
        let root = part.schema.value();
        part.reach(&mut |spot| {
            let what = match spot.role {
                Role::Property(name) => format!("\"{name}\" takes any value at all"),
                Role::Element => "an element may be any value at all".to_owned(),
                Role::Root if part.at != "/input" && is_output(part.at) => {
                    "any result at all fits this schema".to_owned()
                }
                _ => return,
            };
            if spot.negative || spot.beside.is_some() || !may_be_any(spot.value) {
                return;
            }
            // What judges an instance is all that stands around it; one branch of many is not.
            if canonical::is_vacuous(&alone(root, spot.value)) {
                found.push(Draft::new(
                    format!("{}{}", part.at, spot.pointer),
                    format!("{what} (proved): nothing judges it and no strict mode can say it"),
                    "Write its type; where several are meant, list them in \"type\" or \"anyOf\".",
                ));
            }
        });
    }
}

fn is_output(at: &str) -> bool {
    matches!(at, "/output" | "/outputSchema" | "/responseJsonSchema" | "/response")
}

/// Whether it is worth asking: most schemas name one type.
fn may_be_any(schema: &Value) -> bool {
    match schema {
        Value::Bool(any) => *any,
        Value::Object(keywords) => {
            !keywords.contains_key("enum")
                && !keywords.contains_key("const")
                && match keywords.get("type") {
                    None => true,
                    Some(Value::Array(types)) => types.len() > 5,
                    Some(_) => false,
                }
        }
        _ => false,
    }
}
