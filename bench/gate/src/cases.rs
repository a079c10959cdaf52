//! The schemas and instances that everybody judges.
//!
//! Three are made for this: a typical tool of five properties, one that nests, one of two hundred
//! properties. The rest is real: the tools of public MCP servers, each with the instances that its
//! contract implies (`callgate_contract::fixture`), right and wrong in one thing. Left out are those
//! about `format` and `content…`: whether these are asserted is every validator's own choice.

use std::path::{Path, PathBuf};

use callgate_contract::{
    fixture::{Expect, Gate, Kind, of_schema},
    schema::Schema,
};
use serde_json::{Map, Value, json};

use crate::{
    Refusal,
    work::{Case, Instance, Listed, Work},
};

pub(crate) fn all(folder: &Path) -> Result<Work, Refusal> {
    Ok(Work { cases: vec![typical(), nested(), wide()], tools: tools(folder)? })
}

/// 101 bytes of arguments; the wrong one has a word that is not in the list.
fn typical() -> Case {
    let valid = r#"{"ticketId":"TCK-10423","priority":"high","includeComments":true,"limit":20,"tags":["billing","vip"]}"#;
    Case {
        name: "typical".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "ticketId": {"type": "string", "pattern": "^TCK-[0-9]{4,8}$", "description": "id of the ticket"},
                "priority": {"type": "string", "enum": ["low", "normal", "high", "urgent"]},
                "includeComments": {"type": "boolean"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10}
            },
            "required": ["ticketId", "priority"],
            "additionalProperties": false
        }),
        valid: valid.to_owned(),
        wrong: valid.replace("high", "hgih"),
    }
}

/// Objects in lists in objects; the wrong one orders nothing of its last item.
fn nested() -> Case {
    let address = json!({
        "type": "object",
        "properties": {
            "street": {"type": "string", "minLength": 1, "maxLength": 120},
            "city": {"type": "string", "minLength": 1, "maxLength": 80},
            "zip": {"type": "string", "pattern": "^[0-9]{5}$"},
            "country": {"type": "string", "enum": ["DE", "FR", "NO", "US"]}
        },
        "required": ["street", "city", "country"],
        "additionalProperties": false
    });
    let item = json!({
        "type": "object",
        "properties": {
            "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{3}$"},
            "quantity": {"type": "integer", "minimum": 1, "maximum": 999},
            "price": {"type": "number", "minimum": 0},
            "note": {"type": ["string", "null"], "maxLength": 200}
        },
        "required": ["sku", "quantity"],
        "additionalProperties": false
    });
    let shipping = |kind: &str, name: &str, more: Value| {
        json!({
            "type": "object",
            "properties": {"kind": {"type": "string", "const": kind}, name: more},
            "required": ["kind", name],
            "additionalProperties": false
        })
    };
    let order = |quantity: u32| {
        json!({
            "customer": {
                "name": "Ana Example",
                "email": "ana@example.org",
                "address": {"street": "Hauptstraße 5", "city": "Köln", "zip": "50667", "country": "DE"}
            },
            "items": [
                {"sku": "ABC-123", "quantity": 2, "price": 19.99, "note": null},
                {"sku": "XYZ-001", "quantity": 1, "price": 5, "note": "gift wrap, \"please\""},
                {"sku": "QQQ-777", "quantity": quantity, "price": 0.5}
            ],
            "shipping": {"kind": "parcel", "carrier": "dhl"},
            "urgent": false
        })
        .to_string()
    };
    Case {
        name: "nested".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "customer": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": 80},
                        "email": {"type": "string", "pattern": "^[^@ ]+@[^@ ]+$"},
                        "address": address
                    },
                    "required": ["name", "address"],
                    "additionalProperties": false
                },
                "items": {"type": "array", "items": item, "minItems": 1, "maxItems": 20},
                "shipping": {"anyOf": [
                    shipping("pickup", "store", json!({"type": "integer", "minimum": 1})),
                    shipping("parcel", "carrier", json!({"type": "string", "enum": ["dhl", "ups"]}))
                ]},
                "urgent": {"type": "boolean"}
            },
            "required": ["customer", "items", "shipping"],
            "additionalProperties": false
        }),
        valid: order(12),
        wrong: order(0),
    }
}

/// Two hundred properties, 5 kB of arguments; the wrong one's last integer is out of range.
fn wide() -> Case {
    const COUNT: usize = 200;
    let name = |i: usize| format!("field_{i:03}");
    let schema = |i: usize| match i % 5 {
        0 => {
            json!({"type": "string", "minLength": 1, "maxLength": 200, "description": "a text field"})
        }
        1 => json!({"type": "integer", "minimum": 0, "maximum": 100_000}),
        2 => json!({"type": "string", "enum": ["alpha", "beta", "gamma", "delta"]}),
        3 => json!({"type": "array", "items": {"type": "string"}, "maxItems": 20}),
        _ => json!({
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "boolean"}},
            "required": ["a"],
            "additionalProperties": false
        }),
    };
    let value = |i: usize| match i % 5 {
        0 => json!("some text value"),
        1 => json!(4711),
        2 => json!("gamma"),
        3 => json!(["x", "y", "z"]),
        _ => json!({"a": 1.5, "b": true}),
    };
    let properties: Map<String, Value> = (0..COUNT).map(|i| (name(i), schema(i))).collect();
    let mut instance: Map<String, Value> = (0..COUNT).map(|i| (name(i), value(i))).collect();
    let valid = Value::Object(instance.clone()).to_string();
    instance[&name(COUNT - 4)] = json!(100_001);
    Case {
        name: "wide".to_owned(),
        schema: json!({
            "type": "object",
            "properties": properties,
            "required": [name(0), name(1), name(2)],
            "additionalProperties": false
        }),
        valid,
        wrong: Value::Object(instance).to_string(),
    }
}

/// The tools of the lists in a folder, by file name; none where there is no such folder.
fn tools(folder: &Path) -> Result<Vec<Listed>, Refusal> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    let mut tools = Vec::new();
    for file in files {
        let place = file.display();
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{place}: {error}"))?;
        let list: Value =
            serde_json::from_str(&text).map_err(|error| format!("{place}: {error}"))?;
        let server = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let listed = ["/tools_list_response/result/tools", "/tools_list_response/tools"]
            .iter()
            .find_map(|at| list.pointer(at)?.as_array())
            .ok_or_else(|| format!("{place}: there is no list of tools"))?;
        for tool in listed {
            tools.push(read(&server, tool).map_err(|error| format!("{place}: {error}"))?);
        }
    }
    Ok(tools)
}

fn read(server: &str, tool: &Value) -> Result<Listed, String> {
    let text = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
    let (name, schema) = (text("name"), tool["inputSchema"].clone());
    let compiled = Schema::compile_as_given(schema.clone())
        .map_err(|faults| format!("the schema of {name}: {faults:?}"))?;
    let instances = of_schema(&compiled, Gate::In)
        .fixtures
        .into_iter()
        .filter(|fixture| !matches!(fixture.kind, Kind::Format | Kind::Content))
        .map(|fixture| Instance {
            kind: fixture.kind.word().to_owned(),
            text: fixture.instance.to_string(),
            admitted: fixture.expect == Expect::Admitted,
        })
        .collect();
    Ok(Listed {
        server: server.to_owned(),
        name,
        description: text("description"),
        schema,
        instances,
    })
}
