//! One tool in the making: the input schema and the request that it fills.

mod body;
mod parameter;
mod path;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{
    Skip, Skipped,
    auth::Auth,
    body::Body,
    document::{At, Doc, Notes},
    mend::mended,
    names::property,
    parameters::{Parameter, Place, leave_out},
    schema::{Converter, Direction},
    style::{Carried, carry},
};

type Object = Map<String, Value>;

/// The most bytes of an input schema: 512 KiB. No provider takes as much.
const LIMIT: usize = 512 << 10;

/// What has been gathered.
#[derive(Debug, Default)]
pub(super) struct Draft {
    properties: Map<String, Value>,
    required: Vec<String>,
    definitions: Map<String, Value>,
    /// Path parameters by name: their arguments.
    path: BTreeMap<String, String>,
    query: Map<String, Value>,
    headers: Map<String, Value>,
    cookies: Map<String, Value>,
    /// How placeholders of the path are written.
    path_styles: Map<String, Value>,
    /// The backend's member for it: `body`, `form`, `multipart` or `raw`.
    payload: Option<(&'static str, Value)>,
    auth: Option<Value>,
}

/// A parameter that will be an argument.
struct Argument<'p, 'd> {
    parameter: &'p Parameter<'d>,
    property: String,
    carried: Carried,
}

impl Draft {
    /// Parameters and body as arguments.
    pub(super) fn arguments<'d>(
        &mut self,
        doc: &Doc<'d>,
        operation: &At<'d>,
        parameters: &[Parameter<'d>],
        body: Option<Body<'d>>,
        notes: &mut Notes,
    ) -> Result<(), Skipped> {
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut arguments: Vec<Argument<'_, 'd>> = Vec::new();
        // Of query parameters as they are sent.
        let mut names: BTreeSet<String> = BTreeSet::new();
        for parameter in parameters {
            let property = free(property(parameter.name), parameter.place.name(), &taken);
            match carry(doc, parameter) {
                Ok(carried) if carried.names.iter().any(|name| names.contains(name)) => {
                    leave_out(parameter, "another one has a name that it needs", notes)?;
                }
                Ok(carried) => {
                    names.extend(carried.names.iter().cloned());
                    if property != parameter.name {
                        let message = format!("`{}` is the argument `{property}`", parameter.name);
                        notes.add(&*parameter.at.pointer, message);
                    }
                    taken.insert(property.clone());
                    arguments.push(Argument { parameter, property, carried });
                }
                Err(why) => leave_out(parameter, why, notes)?,
            }
        }
        let roots: Vec<At<'d>> = arguments
            .iter()
            .filter_map(|argument| argument.parameter.schema.clone())
            .chain(body.iter().filter_map(|body| body.schema.clone()))
            .collect();
        let mut converter = Converter::new(doc, Direction::Input, &roots, LIMIT)
            .ok_or_else(|| operation.skip(Skip::TooLarge { limit: LIMIT }))?;
        if converter.brief {
            let message = format!(
                "the titles, descriptions and examples of inner schemas are left out: with them the input would have more than {LIMIT} bytes"
            );
            notes.add(&*operation.pointer, message);
        }
        for argument in &arguments {
            self.argument(argument, &mut converter, notes)?;
        }
        if let Some(body) = body {
            self.payload(doc, body, &mut converter, &taken, notes)?;
        }
        self.definitions = converter.definitions()?;
        notes.append(std::mem::take(&mut converter.notes));
        Ok(())
    }

    /// Credentials where they go.
    pub(super) fn credentials(&mut self, auth: &Auth) {
        self.auth = auth.backend();
        for (place, name, reference) in auth.keys() {
            match place {
                Place::Query => {
                    self.query.insert(name.to_owned(), reference.into());
                }
                Place::Cookie => {
                    self.cookies.insert(name.to_owned(), reference.into());
                }
                Place::Header | Place::Path => {
                    self.headers.insert(name.to_owned(), reference.into());
                }
            }
        }
    }

    /// The input schema and the `http` object.
    pub(super) fn finish(
        mut self,
        operation: &At<'_>,
        method: &str,
        base: &str,
        path: &str,
        notes: &mut Notes,
    ) -> Result<(Object, Object), Skipped> {
        let url = format!("{base}{}", self.fill_path(operation, path, notes));
        let mut input = Map::new();
        input.insert("type".to_owned(), json!("object"));
        input.insert("properties".to_owned(), Value::Object(self.properties));
        if !self.required.is_empty() {
            input.insert("required".to_owned(), json!(self.required));
        }
        // What is not declared has no place in the request.
        input.insert("additionalProperties".to_owned(), json!(false));
        if !self.definitions.is_empty() {
            input.insert("$defs".to_owned(), Value::Object(self.definitions));
        }
        let input = match mended(Value::Object(input), &operation.pointer, notes) {
            Ok(Value::Object(input)) => input,
            Ok(_) => return Err(operation.skip(Skip::NotAnObject { what: "the input schema" })),
            Err(why) => return Err(operation.skip(why)),
        };
        let mut http = Map::new();
        http.insert("method".to_owned(), json!(method));
        http.insert("url".to_owned(), json!(url));
        let maps = [
            ("path", self.path_styles),
            ("query", self.query),
            ("headers", self.headers),
            ("cookies", self.cookies),
        ];
        for (name, map) in maps {
            if !map.is_empty() {
                http.insert(name.to_owned(), Value::Object(map));
            }
        }
        let auth = self.auth.map(|auth| ("auth", auth));
        for (name, value) in auth.into_iter().chain(self.payload) {
            http.insert(name.to_owned(), value);
        }
        Ok((input, http))
    }
}

/// A name that nobody has: itself, or with a word in front, or a number behind.
fn free(name: String, word: &str, taken: &BTreeSet<String>) -> String {
    if !taken.contains(&name) {
        return name;
    }
    let longer = property(&format!("{word}_{name}"));
    let mut candidate = longer.clone();
    let mut next = 2;
    while taken.contains(&candidate) {
        let end = format!("_{next}");
        candidate = longer.chars().take(64 - end.len()).collect::<String>() + &end;
        next += 1;
    }
    candidate
}
