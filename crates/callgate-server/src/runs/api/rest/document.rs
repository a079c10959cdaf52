//! The document that describes the routes: OpenAPI 3.1.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{Problem, route::Route};

/// A route's description, being written.
pub(in crate::runs::api) struct Operation<'d> {
    schemas: &'d mut SchemaGenerator,
    parameters: Vec<Value>,
    body: Value,
    answers: Map<String, Value>,
}

impl Operation<'_> {
    /// Parameters: the members of a type.
    pub(super) fn parameters<T: JsonSchema>(&mut self, place: &str) {
        let of = self.schemas.clone().into_root_schema_for::<T>().to_value();
        let required: Vec<&str> = of["required"]
            .as_array()
            .map(|all| all.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        // What its members refer to is said with everything else.
        let _ = self.schemas.subschema_for::<T>();
        for (name, schema) in of["properties"].as_object().into_iter().flatten() {
            let mut schema = schema.clone();
            let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            // A parameter that is not given is not null.
            present(&mut schema);
            let is_required = place == "path" || required.contains(&name.as_str());
            let mut parameter =
                json!({ "name": name, "in": place, "required": is_required, "schema": schema });
            if let Some(about) = about {
                parameter["description"] = about;
            }
            if place == "query" && parameter["schema"]["type"] == "array" {
                parameter["style"] = "form".into();
                parameter["explode"] = true.into();
            }
            self.parameters.push(parameter);
        }
    }

    /// The body; in one of several forms, where it is said again.
    pub(super) fn body<T: JsonSchema>(&mut self, kind: &str) {
        let schema = self.schemas.subschema_for::<T>();
        if self.body.is_null() {
            self.body = json!({ "required": true, "content": {} });
        }
        self.body["content"][kind] = json!({ "schema": schema });
    }

    /// An answer; several types of one status may be chosen from.
    pub(in crate::runs::api) fn answer<T: JsonSchema>(
        &mut self,
        status: u16,
        kind: &str,
        about: &str,
    ) {
        let schema = self.schemas.subschema_for::<T>();
        let answer = self
            .answers
            .entry(status.to_string())
            .or_insert_with(|| json!({ "description": about, "content": {} }));
        answer["content"][kind] = json!({ "schema": schema });
    }

    /// An answer without a body.
    pub(in crate::runs::api) fn nothing(&mut self, status: u16, about: &str) {
        self.answers.insert(status.to_string(), json!({ "description": about }));
    }
}

/// Takes the null out of an optional parameter's schema.
fn present(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            schema.extend(only);
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
}

/// The document of routes. `has_tokens`: whether callers have to present one.
pub(in crate::runs::api) fn document(routes: &[Route], has_tokens: bool) -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut schemas = settings.into_generator();
    let _ = schemas.subschema_for::<Problem>();
    let mut paths = Map::new();
    for route in routes {
        let mut operation = Operation {
            schemas: &mut schemas,
            parameters: Vec::new(),
            body: Value::Null,
            answers: Map::new(),
        };
        (route.describe)(&mut operation);
        let Operation { parameters, body, mut answers, .. } = operation;
        for status in route.info.problems {
            let problem = json!({ "$ref": "#/components/responses/Problem" });
            answers.entry(status.to_string()).or_insert(problem);
        }
        answers.insert("default".to_owned(), json!({ "$ref": "#/components/responses/Problem" }));
        let mut told = json!({
            "operationId": route.info.id,
            "tags": [route.info.tag],
            "summary": route.info.summary,
            "description": format!("{}\n\nScope: `{}`.", route.info.about, route.scope).trim(),
            "responses": answers,
        });
        if !parameters.is_empty() {
            told["parameters"] = parameters.into();
        }
        if !body.is_null() {
            told["requestBody"] = body;
        }
        let method = route.method.as_str().to_ascii_lowercase();
        paths.entry(route.path).or_insert_with(|| json!({}))[method] = told;
    }
    let mut all: Map<String, Value> = schemas.take_definitions(true);
    all.sort_keys();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Callgate",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Runs of agents whose tool calls are right: begin, watch, answer, move and examine them.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": all,
            "responses": { "Problem": {
                "description": "A problem (RFC 9457).",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            } },
        },
    });
    if has_tokens {
        document["components"]["securitySchemes"] =
            json!({ "token": { "type": "http", "scheme": "bearer" } });
        document["security"] = json!([{ "token": [] }]);
    }
    document
}
