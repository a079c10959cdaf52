//! OpenAPI 3.1: one POST path a tool, its input as the body, its output as the answer.
//!
//! A 3.1 schema is JSON Schema 2020-12 (OAS 3.1.0, section 4.8.24), so a contract's schemas stand
//! there as they are, in 2020-12's words; only references are led to where the schema now is.

use serde_json::{Map, Value, json};

use super::{Export, ExportError, Exporter, Losses, Options, offered, pretty};
use crate::{
    Catalog, Tool,
    document::push_token,
    surface::{Names, names::Named, normalised},
};

pub(super) const EXPORTER: Exporter = Exporter {
    name: "openapi",
    file: "openapi.json",
    about: "an OpenAPI 3.1 document, one POST path a tool",
    make,
};

fn make(catalog: &Catalog, options: &Options) -> Result<Export, ExportError> {
    let mut losses = Losses::default();
    let mut document = Document::new(options);
    let tools = offered(catalog, &mut losses);
    for (tool, id) in tools.iter().zip(operation_ids(&tools)) {
        let mut operation = Map::new();
        operation.insert("operationId".to_owned(), id.as_str().into());
        if !tool.description.is_empty() {
            operation.insert("description".to_owned(), (&*tool.description).into());
        }
        if !tool.rules.is_empty() {
            let why = "a rule between members has no place in a schema; the gate holds it";
            losses.add(&tool.name, "/rules", "rules", why);
        }
        let output = tool.output.as_ref().map(normalised);
        document.add(tool, &id, operation, normalised(&tool.input), output);
    }
    Ok(losses.with(pretty(&document.finish())))
}

/// A legal id for every tool, one to a tool, in their order.
pub(super) fn operation_ids(tools: &[&Tool]) -> Vec<String> {
    let named: Vec<Named> =
        tools.iter().map(|tool| Named { server: None, name: tool.name.clone() }).collect();
    Names::of(&named).all().to_vec()
}

/// A document as it grows.
pub(super) struct Document {
    info: Value,
    servers: Option<Value>,
    paths: Map<String, Value>,
    schemas: Map<String, Value>,
}

impl Document {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            info: json!({
                "title": options.title,
                "description": options.description,
                "version": options.version,
            }),
            servers: options.url.as_ref().map(|url| json!([{ "url": url }])),
            paths: Map::new(),
            schemas: Map::new(),
        }
    }

    /// Adds a tool: what else its operation says, and its schemas, in 2020-12's words.
    pub(super) fn add(
        &mut self,
        tool: &Tool,
        id: &str,
        mut operation: Map<String, Value>,
        input: Value,
        output: Option<Value>,
    ) {
        let answer = match output {
            Some(output) => self.schema(format!("{id}_output"), output),
            None => json!({}),
        };
        let arguments = self.schema(format!("{id}_input"), input);
        let mut request = json!({
            "required": true,
            "content": { "application/json": { "schema": arguments } },
        });
        let examples: Map<String, Value> = tool
            .examples
            .iter()
            .enumerate()
            .map(|(i, example)| {
                let mut told = json!({ "value": example.input });
                if let Some(request) = &example.request {
                    told["summary"] = request.as_str().into();
                }
                (format!("example{}", i + 1), told)
            })
            .collect();
        if !examples.is_empty() {
            request["content"]["application/json"]["examples"] = examples.into();
        }
        operation.insert("requestBody".to_owned(), request);
        operation.insert(
            "responses".to_owned(),
            json!({
                "200": {
                    "description": "The tool's result.",
                    "content": { "application/json": { "schema": answer } },
                },
                "default": { "description": "The call was refused, or the tool failed." },
            }),
        );
        self.paths
            .insert(format!("/tools/{}", path_segment(&tool.name)), json!({ "post": operation }));
    }

    fn schema(&mut self, name: String, mut schema: Value) -> Value {
        let mut prefix = String::from("#/components/schemas");
        push_token(&mut prefix, &name);
        lead(&mut schema, &prefix);
        let reference = json!({ "$ref": prefix });
        self.schemas.insert(name, schema);
        reference
    }

    pub(super) fn finish(self) -> Value {
        let mut document = json!({
            "openapi": "3.1.0",
            "info": self.info,
            "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        });
        if let Some(servers) = self.servers {
            document["servers"] = servers;
        }
        document["paths"] = self.paths.into();
        document["components"] = json!({ "schemas": self.schemas });
        document
    }
}

/// Leads references within a schema to where the schema is in the document.
fn lead(schema: &mut Value, prefix: &str) {
    let mut targets = Vec::new();
    crate::schema::walk(schema, &mut |pointer, node| {
        if node.get("$ref").is_some_and(Value::is_string) {
            targets.push(pointer.to_owned());
        }
    });
    for pointer in targets {
        let Some(target) = schema.pointer_mut(&pointer).and_then(|node| node.get_mut("$ref"))
        else {
            continue;
        };
        if let Some(fragment) = target.as_str().and_then(|target| target.strip_prefix('#')) {
            *target = format!("{prefix}{fragment}").into();
        }
    }
}

/// A name as one segment of a path (RFC 3986, section 3.3: unreserved characters as they are).
fn path_segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
