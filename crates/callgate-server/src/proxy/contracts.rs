//! The tools of a request as contracts, on the surface of whoever is asked (laws 1 and 2).
//!
//! They are read as others write tools: keywords that nobody knows stay. A schema that is none is
//! refused, and nothing is sent: a tool that is offered without a gate would break the one promise
//! there is, in silence.

use std::{fmt::Write as _, sync::Arc};

use callgate_contract::{
    Catalog, Fault, Mode, Verdict,
    listed::{self, Entry},
    surface::Family,
};
use callgate_machine::Mount;
use callgate_wire::{
    ToolCall, ToolChoice, ToolDefinition,
    inbound::{Refusal, RefusalKind},
};

use super::told::Remark;

/// The tools of a request.
#[derive(Debug, Default)]
pub(super) struct Contracts {
    catalog: Catalog,
    mount: Mount,
    /// As they are sent, in the client's order.
    offered: Arc<[ToolDefinition]>,
    remarks: Vec<Remark>,
}

/// What the gate says of a call.
pub(super) enum Judged {
    /// Under the name that the client knows.
    Admitted { call: ToolCall, adjustments: Vec<callgate_contract::Adjustment> },
    /// With what goes back to the model.
    Refused(Box<Fault>),
}

impl Contracts {
    /// Reads definitions for a provider family.
    pub(super) fn read(given: &[ToolDefinition], family: Family) -> Result<Self, Refusal> {
        if given.is_empty() {
            return Ok(Self::default());
        }
        let unusable = |name: &str, why: String| Refusal {
            param: Some("tools".to_owned()),
            ..Refusal::new(
                RefusalKind::BadRequest,
                format!("the tool \"{name}\" cannot be offered: {why}"),
            )
            .with_code("invalid_tool")
        };
        let text = as_list(given);
        let read = listed::entries("tools", &text)
            .map_err(|mistake| unusable(&given[0].name, mistake.message))?;
        let entries = read.map(|read| read.tools).unwrap_or_default();
        let mut catalog = Catalog::default();
        for (at, definition) in given.iter().enumerate() {
            let pointer = format!("/{at}");
            let entry = entries.iter().find(|entry| entry.pointer == pointer);
            let tool = match entry {
                Some(Entry { tool: Ok(tool), .. }) => tool,
                Some(Entry { tool: Err(mistakes), .. }) => {
                    return Err(unusable(&definition.name, told(mistakes, &pointer)));
                }
                None => return Err(unusable(&definition.name, "it is no tool".to_owned())),
            };
            if catalog.get(&tool.name).is_some() {
                let why = "there are two of that name; give one of them another".to_owned();
                return Err(unusable(&tool.name, why));
            }
            catalog.insert(tool.clone());
        }
        let strict = given.iter().any(|tool| tool.strict == Some(true))
            && given.iter().all(|tool| tool.strict != Some(false));
        let mount = Mount::of(&catalog, family, strict, None);
        if let Some((count, limit)) = mount.too_many() {
            let fault = Fault::too_many_tools(count, limit);
            return Err(Refusal {
                param: Some("tools".to_owned()),
                ..Refusal::new(RefusalKind::BadRequest, fault.message).with_code("too_many_tools")
            });
        }
        let offered = given.iter().filter_map(|given| {
            let shown = mount.tools().iter().find(|shown| shown.name == given.name)?;
            // Examples are in the client's form; where the surface has another one, they go.
            let same_form = shown.parameters.get() == given.parameters.get();
            Some(ToolDefinition {
                examples: if same_form { given.examples.clone() } else { shown.examples.clone() },
                defer: given.defer,
                ..shown.clone()
            })
        });
        let offered = offered.collect();
        let remarks = mount.shown().losses.iter();
        let remarks = remarks
            .map(|(name, losses)| Remark::Loosely { name: name.clone(), losses: losses.clone() });
        let remarks = remarks.collect();
        Ok(Self { catalog, offered, remarks, mount })
    }

    /// The definitions as they are sent.
    pub(super) fn offered(&self) -> &Arc<[ToolDefinition]> {
        &self.offered
    }

    /// What the definitions do not hold.
    pub(super) fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// Judges a call: who is meant, may it be called, do its arguments fit.
    pub(super) fn judge(&self, call: &ToolCall, choice: &ToolChoice, mode: Mode) -> Judged {
        let chosen: Option<Vec<&str>> = match choice {
            ToolChoice::One(one) => Some(vec![one]),
            ToolChoice::Subset { names, .. } => Some(names.iter().map(|n| &**n).collect()),
            ToolChoice::Auto | ToolChoice::Some | ToolChoice::None => None,
        };
        let (tool, renamed) = match self.catalog.resolve(&call.name, mode) {
            Ok(found) => found,
            Err(fault) => return Judged::Refused(fault),
        };
        // Not every provider holds a choice among the tools, so the gate does.
        if let Some(chosen) = chosen.filter(|chosen| !chosen.contains(&&*tool.name)) {
            let available = chosen.into_iter().map(str::to_owned).collect();
            return Judged::Refused(Box::new(Fault::unknown_tool(&call.name, available, None)));
        }
        match self.mount.admit(tool, &call.arguments, mode) {
            Verdict::Refused(fault) => Judged::Refused(fault),
            Verdict::Admitted { arguments, adjustments } => Judged::Admitted {
                call: ToolCall {
                    name: tool.name.clone(),
                    arguments: arguments.shared(),
                    ..call.clone()
                },
                adjustments: renamed.into_iter().chain(adjustments).collect(),
            },
        }
    }
}

/// The definitions as a list that is read by its text, every digit of it.
fn as_list(given: &[ToolDefinition]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = String::from("[");
    for (at, tool) in given.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let description = quoted(tool.description.as_deref().unwrap_or_default());
        let schema = match tool.parameters.get() {
            // A tool without arguments, as clients leave its schema out.
            "null" => r#"{"type":"object","properties":{}}"#,
            schema => schema,
        };
        let _ = write!(
            text,
            r#"{comma}{{"name":{},"description":{description},"input_schema":{schema}}}"#,
            quoted(&tool.name),
        );
    }
    text.push(']');
    text
}

/// Mistakes with their places, the schema's counted from its root.
fn told(mistakes: &[callgate_contract::Mistake], tool: &str) -> String {
    let mut text = String::new();
    for mistake in mistakes.iter().take(5) {
        let place = mistake.pointer.strip_prefix(tool).unwrap_or(&mistake.pointer);
        let place = match place.strip_prefix("/input_schema") {
            Some("") => " (at the root of its schema)".to_owned(),
            Some(place) => format!(" (at {place} of its schema)"),
            None if place.is_empty() => String::new(),
            None => format!(" (at {place})"),
        };
        let gap = if text.is_empty() { "" } else { "; " };
        let _ = write!(text, "{gap}{}{place}", mistake.message);
        if let Some(hint) = &mistake.hint {
            let _ = write!(text, ". {hint}");
        }
    }
    if mistakes.len() > 5 {
        let _ = write!(text, "; and {} more", mistakes.len() - 5);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn tool(name: &str, schema: &str) -> ToolDefinition {
        ToolDefinition {
            name: name.into(),
            parameters: RawValue::from_string(schema.to_owned()).unwrap().into(),
            ..ToolDefinition::default()
        }
    }

    fn refused(tools: &[ToolDefinition]) -> Refusal {
        Contracts::read(tools, Family::Compatible).err().unwrap()
    }

    #[test]
    fn what_is_no_schema_is_told_with_its_tool_and_place() {
        let good = tool("a", r#"{"type":"object"}"#);
        let bad = tool("b", r#"{"type":"object","properties":{"x":{"type":"objekt"}}}"#);
        let refusal = refused(&[good.clone(), bad]);
        assert_eq!(
            (refusal.kind, refusal.param.as_deref()),
            (RefusalKind::BadRequest, Some("tools"))
        );
        assert!(refusal.message.contains("\"b\""), "{refusal}");
        assert!(refusal.message.contains("/properties/x/type"), "{refusal}");
        let refusal = refused(&[tool("list", r#"{"type":"array"}"#)]);
        assert!(refusal.message.contains("always an object"), "{refusal}");
        let refusal = refused(&[good.clone(), good]);
        assert!(refusal.message.contains("two of that name"), "{refusal}");
        let refusal = refused(&[tool(&"n".repeat(129), "{}")]);
        assert!(refusal.message.contains("128"), "{refusal}");
        let many: Vec<_> = (0..129).map(|n| tool(&format!("t{n}"), "{}")).collect();
        assert_eq!(refused(&many).code.as_deref(), Some("too_many_tools"));
    }

    #[test]
    fn lists_are_read_as_others_write_them_and_keep_their_order() {
        let tools = [
            tool(
                "z",
                r#"{"type":"object","x-own":1,"properties":{"n":{"type":"integer","example":5}}}"#,
            ),
            tool("none", "null"),
            tool("a.b/c", "{}"),
        ];
        let read = Contracts::read(&tools, Family::OpenAi).unwrap();
        let names: Vec<_> = read.offered().iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["z", "none", "a.b/c"]);
    }
}
