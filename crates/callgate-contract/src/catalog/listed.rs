//! Tools as others list them, read as contracts: MCP's `tools/list`, and the arrays that providers
//! take.
//!
//! | form | told by | schema |
//! |---|---|---|
//! | contract | `name`, `input` | `input`, `output` |
//! | MCP | `inputSchema` | `inputSchema`, `outputSchema`, hints of `annotations` |
//! | Anthropic | `input_schema` | `input_schema` |
//! | OpenAI | `type: function` | `function.parameters`, or `parameters` |
//! | Gemini | `parametersJsonSchema` or `parameters` | that |

use serde_json::{Map, Value, json};

use super::{Catalog, Mistake, Source};

/// Where lists are kept: a bare result, a JSON-RPC response, a capture of a session.
const LISTS: &[&str] =
    &["/tools", "/result/tools", "/tools_list_response/result/tools", "/tools_list_response/tools"];

/// A definition as a contract, and where its parts came from.
struct Listed {
    at: String,
    contract: Map<String, Value>,
    /// A pointer in the contract, to the one below `at`.
    from: Vec<(&'static str, &'static str)>,
}

impl Catalog {
    /// Reads files of tools in any form that is known: contracts, `tools/list` results, arrays of
    /// provider definitions. What is right is in the catalog, every mistake in the rest is told.
    pub fn read_any<'t>(
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> (Self, Vec<Mistake>) {
        let mut catalog = Self::default();
        let mut mistakes = Vec::new();
        let mut contracts = Vec::new();
        for (name, text) in files {
            let source = match Source::parse(name, text) {
                Ok(source) => source,
                Err(mistake) => {
                    mistakes.push(mistake);
                    continue;
                }
            };
            let value = source.doc.root().to_value();
            let listed = listed(&value);
            if listed.is_empty() {
                // A contract, or what is told as one that is wrong.
                contracts.push((name, text));
                continue;
            }
            for listed in listed {
                listed.load(&source, &mut catalog, &mut mistakes);
            }
        }
        let (own, found) = Self::load_what_is_right(contracts);
        mistakes.extend(found);
        for tool in own.tools.into_values() {
            catalog.tools.entry(tool.name.clone()).or_insert(tool);
        }
        (catalog, mistakes)
    }
}

impl Listed {
    fn load(self, source: &Source<'_>, catalog: &mut Catalog, mistakes: &mut Vec<Mistake>) {
        let text = Value::Object(self.contract.clone()).to_string();
        match Catalog::load([(source.file, text.as_str())]) {
            Ok(loaded) => {
                for tool in loaded.tools.into_values() {
                    if catalog.get(&tool.name).is_some() {
                        let message = format!("the name \"{}\" is listed twice", tool.name);
                        mistakes.push(source.mistake(&format!("{}/name", self.at), message, None));
                    } else {
                        catalog.tools.insert(tool.name.clone(), tool);
                    }
                }
            }
            Err(found) => mistakes.extend(found.into_iter().map(|mistake| {
                let below = self.from.iter().find_map(|(to, from)| {
                    mistake.pointer.strip_prefix(to).map(|rest| format!("{from}{rest}"))
                });
                let pointer = format!("{}{}", self.at, below.unwrap_or_default());
                source.mistake(&pointer, mistake.message, mistake.hint)
            })),
        }
    }
}

fn listed(root: &Value) -> Vec<Listed> {
    if let Some(one) = definition(root, String::new()) {
        return vec![one];
    }
    let lists = LISTS.iter().filter_map(|at| Some((*at, root.pointer(at)?.as_array()?)));
    let lists = lists.chain(root.as_array().map(|list| ("", list)));
    for (at, list) in lists {
        let mut found = Vec::new();
        for (i, element) in list.iter().enumerate() {
            let declared = ["functionDeclarations", "function_declarations"]
                .into_iter()
                .find_map(|key| Some((key, element.get(key)?.as_array()?)));
            match declared {
                Some((key, inner)) => found.extend(
                    inner
                        .iter()
                        .enumerate()
                        .filter_map(|(j, one)| definition(one, format!("{at}/{i}/{key}/{j}"))),
                ),
                None => found.extend(definition(element, format!("{at}/{i}"))),
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// A definition in one of the forms that are no contracts, or a contract within a list.
fn definition(value: &Value, at: String) -> Option<Listed> {
    let fields = value.as_object()?;
    let is_function = fields.get("type").is_some_and(|kind| kind == "function");
    let (inner, schema): (&'static str, &'static str) = if fields.contains_key("inputSchema") {
        ("", "inputSchema")
    } else if fields.contains_key("input_schema") {
        ("", "input_schema")
    } else if is_function && fields.contains_key("function") {
        ("/function", "parameters")
    } else if fields.contains_key("parametersJsonSchema") {
        ("", "parametersJsonSchema")
    } else if fields.contains_key("parameters") && fields.contains_key("name") {
        ("", "parameters")
    } else if !at.is_empty() && fields.contains_key("input") && fields.contains_key("name") {
        return Some(Listed { at, contract: fields.clone(), from: vec![("", "")] });
    } else {
        return None;
    };
    let body = value.pointer(inner)?;
    let mut contract = Map::new();
    contract.insert("name".to_owned(), body.get("name")?.clone());
    let description = body.get("description").filter(|text| text.is_string());
    contract.insert("description".to_owned(), description.cloned().unwrap_or_else(|| json!("")));
    // No parameters at all: an object of any kind.
    let input = body.get(schema).filter(|schema| !schema.is_null()).cloned();
    contract.insert("input".to_owned(), input.unwrap_or_else(|| json!({"type": "object"})));
    if let Some(output) = body.get("outputSchema").filter(|schema| !schema.is_null()) {
        contract.insert("output".to_owned(), output.clone());
    }
    if let Some(Value::Object(hints)) = body.get("annotations") {
        let mut annotations = Map::new();
        for (theirs, ours) in [
            ("readOnlyHint", "readOnly"),
            ("idempotentHint", "idempotent"),
            ("destructiveHint", "destructive"),
            ("openWorldHint", "openWorld"),
        ] {
            if let Some(Value::Bool(hint)) = hints.get(theirs) {
                annotations.insert(ours.to_owned(), json!(hint));
            }
        }
        contract.insert("annotations".to_owned(), annotations.into());
    }
    let from = match (inner, schema) {
        ("/function", _) => vec![("/input", "/function/parameters"), ("", "/function")],
        (_, "inputSchema") => {
            vec![("/input", "/inputSchema"), ("/output", "/outputSchema"), ("", "")]
        }
        (_, "input_schema") => vec![("/input", "/input_schema"), ("", "")],
        (_, "parametersJsonSchema") => vec![("/input", "/parametersJsonSchema"), ("", "")],
        _ => vec![("/input", "/parameters"), ("", "")],
    };
    Some(Listed { at, contract, from })
}
