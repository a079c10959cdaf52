//! A parameter as an argument, and its place in the request.

use serde_json::{Map, Value, json};

use super::{Argument, Draft};
use crate::import::openapi::{
    Skipped, document::Notes, members::Shape, parameters::Place, schema::Converter, words,
};

impl Draft {
    pub(super) fn argument<'d>(
        &mut self,
        argument: &Argument<'_, 'd>,
        converter: &mut Converter<'_, 'd>,
        notes: &mut Notes,
    ) -> Result<(), Skipped> {
        let Argument { parameter, property, carried } = argument;
        let at = &*parameter.at.pointer;
        let schema = match &parameter.schema {
            Some(schema) => converter.schema(schema)?,
            None => {
                notes.add(at, format!("`{}` has no schema: a string is taken", parameter.name));
                json!({ "type": "string" })
            }
        };
        let mut schema = match schema {
            Value::Object(schema) => schema,
            // `true` and `false` take no description.
            Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
            _ => Map::new(),
        };
        if let Some(how) = carried.beyond {
            notes.add(at, format!("OpenAPI does not define this: {how}"));
        }
        if let Some(told) = parameter.at.text("description") {
            schema.insert("description".to_owned(), words::cut(told, words::LONGEST).into());
        }
        if parameter.at.is("deprecated") {
            schema.insert("deprecated".to_owned(), json!(true));
        }
        let name = parameter.name.to_owned();
        if parameter.required && carried.style.is_none_or(|(style, _)| style != "json") {
            not_empty(&mut schema, carried.shape);
        }
        match parameter.place {
            Place::Path => {
                in_path(&mut schema);
                if let Some((style, explode)) = carried.style {
                    let mut written = json!({ "style": style });
                    if explode {
                        written["explode"] = json!(true);
                    }
                    if style == "matrix" && *property != name {
                        written["name"] = json!(name);
                    }
                    self.path_styles.insert(property.clone(), written);
                }
                self.path.insert(name, property.clone());
            }
            Place::Query => {
                self.query.insert(name, carried.template(property));
            }
            Place::Header => {
                self.headers.insert(name, carried.template(property));
            }
            Place::Cookie => {
                let is_text = schema.get("type").is_none_or(|t| t == "string");
                // Nothing that would end the value and begin another cookie (RFC 6265 4.1.1).
                if is_text && !schema.contains_key("pattern") {
                    schema.insert("pattern".to_owned(), json!("^[^\\s\",;\\\\]*$"));
                }
                self.cookies.insert(name, carried.template(property));
            }
        }
        if parameter.required {
            self.required.push(property.clone());
        }
        self.properties.insert(property.clone(), Value::Object(schema));
        Ok(())
    }
}

/// An empty segment leads to another place, and the backend refuses it.
fn in_path(schema: &mut Map<String, Value>) {
    let is_text = schema.get("type").is_some_and(|t| t == "string");
    let bounded = ["minLength", "enum", "const", "pattern", "format"];
    if is_text && !bounded.iter().any(|word| schema.contains_key(*word)) {
        schema.insert("minLength".to_owned(), json!(1));
    }
}

/// Of an empty list or object nothing is left outside of JSON, and what is required would be missing.
pub(super) fn not_empty(schema: &mut Map<String, Value>, shape: Shape) {
    let word = match shape {
        Shape::List => "minItems",
        Shape::Object => "minProperties",
        Shape::Other => return,
    };
    if schema.get(word).is_none_or(|least| *least == 0) {
        schema.insert(word.to_owned(), json!(1));
    }
}
