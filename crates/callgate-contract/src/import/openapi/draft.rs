//! One tool in the making: the input schema and the request that it fills.

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
    servers::escape,
    style::{Carried, carry},
    words,
};

type Object = Map<String, Value>;

/// The most bytes of an input schema: 512 KiB. No provider takes as much.
const LIMIT: usize = 512 << 10;

/// The argument that is the whole body.
const BODY: &str = "body";

/// What has been gathered.
#[derive(Debug, Default)]
pub(super) struct Draft {
    properties: Map<String, Value>,
    required: Vec<String>,
    definitions: Map<String, Value>,
    /// Path parameters by name: the argument, and the template's text.
    path: BTreeMap<String, (String, String)>,
    query: Map<String, Value>,
    headers: Map<String, Value>,
    cookies: Vec<String>,
    body: Option<Value>,
    auth: Option<Value>,
}

/// A parameter that will be an argument.
struct Argument<'p, 'd> {
    parameter: &'p Parameter<'d>,
    property: String,
    carried: Carried<'d>,
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
        let mut optional_cookie = false;
        for parameter in parameters {
            // A header `Cookie` with a hole in it is left out as a whole.
            if parameter.place == Place::Cookie && !parameter.required {
                let others = parameters.iter().filter(|p| p.place == Place::Cookie).count();
                if others > 1 || optional_cookie {
                    leave_out(parameter, "it is one of several cookies, and optional", notes)?;
                    continue;
                }
                optional_cookie = true;
            }
            let property = free(property(parameter.name), parameter.place.name(), &taken);
            match carry(doc, parameter, &property) {
                Ok(carried) if carried.query.iter().any(|(name, _)| names.contains(name)) => {
                    leave_out(parameter, "another one has a name that it needs", notes)?;
                }
                Ok(carried) => {
                    names.extend(carried.query.iter().map(|(name, _)| name.clone()));
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
            .filter_map(|a| a.carried.instead.clone().or_else(|| a.parameter.schema.clone()))
            .chain(body.iter().filter_map(|body| body.schema.clone()))
            .collect();
        let mut converter = Converter::new(doc, Direction::Input, &roots, LIMIT)
            .ok_or_else(|| operation.skip(Skip::TooLarge { limit: LIMIT }))?;
        for argument in &arguments {
            self.argument(argument, &mut converter, notes)?;
        }
        if let Some(body) = body {
            self.whole_body(body, &mut converter, &taken, notes)?;
        }
        self.definitions = converter.definitions()?;
        notes.append(std::mem::take(&mut converter.notes));
        Ok(())
    }

    fn argument<'d>(
        &mut self,
        argument: &Argument<'_, 'd>,
        converter: &mut Converter<'_, 'd>,
        notes: &mut Notes,
    ) -> Result<(), Skipped> {
        let Argument { parameter, property, carried } = argument;
        let at = &*parameter.at.pointer;
        let schema = match carried.instead.as_ref().or(parameter.schema.as_ref()) {
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
        let mut told = parameter.at.text("description").map(str::to_owned);
        if let Some(separator) = carried.separator {
            let (text, how) = as_one_text(&schema, separator);
            let message =
                format!("`{}` is one text, its items separated by `{separator}`", parameter.name);
            notes.add(at, message);
            schema = text;
            told = Some(told.map_or_else(|| how.clone(), |told| format!("{told}\n\n{how}")));
        }
        if carried.closed {
            let word = if schema.contains_key("allOf") {
                "unevaluatedProperties"
            } else {
                "additionalProperties"
            };
            schema.insert(word.to_owned(), json!(false));
        }
        if let Some(how) = carried.beyond {
            notes.add(at, format!("OpenAPI does not define this: {how}"));
        }
        if let Some(told) = told {
            schema.insert("description".to_owned(), words::cut(&told, words::LONGEST).into());
        }
        if parameter.at.is("deprecated") {
            schema.insert("deprecated".to_owned(), json!(true));
        }
        match parameter.place {
            Place::Path => {
                let is_text = schema.get("type").is_some_and(|t| t == "string");
                let bounded = ["minLength", "enum", "const", "pattern", "format"];
                // An empty segment leads to another place, and the backend refuses it.
                if is_text && !bounded.iter().any(|word| schema.contains_key(*word)) {
                    schema.insert("minLength".to_owned(), json!(1));
                }
                let template = (property.clone(), carried.text.clone());
                self.path.insert(parameter.name.to_owned(), template);
            }
            Place::Query => {
                for (name, template) in &carried.query {
                    self.query.insert(name.clone(), json!(template));
                }
            }
            Place::Header => {
                self.headers.insert(parameter.name.to_owned(), json!(carried.text));
            }
            Place::Cookie => {
                let is_text = schema.get("type").is_none_or(|t| t == "string");
                // Nothing that would end the value and begin another cookie (RFC 6265 4.1.1).
                if is_text && !schema.contains_key("pattern") {
                    schema.insert("pattern".to_owned(), json!("^[^\\s\",;\\\\]*$"));
                }
                self.cookies.push(carried.text.clone());
            }
        }
        if parameter.required {
            self.required.push(property.clone());
        }
        self.properties.insert(property.clone(), Value::Object(schema));
        Ok(())
    }

    fn whole_body<'d>(
        &mut self,
        body: Body<'d>,
        converter: &mut Converter<'_, 'd>,
        taken: &BTreeSet<String>,
        notes: &mut Notes,
    ) -> Result<(), Skipped> {
        if let Some(media) = body.media {
            self.headers.insert("Content-Type".to_owned(), escape(media).into());
        }
        let at = &*body.at.pointer;
        let mut names: BTreeSet<String> = taken.clone();
        let fits = body.members.as_ref().is_some_and(|members| {
            members.all.iter().all(|(name, _)| names.insert(property(name)))
        });
        let Some(members) = body.members.filter(|_| fits) else {
            if !body.required {
                notes.add(at, "the body is optional in the document; here it is always sent");
            }
            let name = free(BODY.to_owned(), "request", taken);
            let mut schema = match &body.schema {
                Some(schema) => converter.schema(schema)?,
                None => json!({}),
            };
            if let (Some(told), Value::Object(schema)) = (body.at.text("description"), &mut schema)
            {
                let told = words::cut(told, words::LONGEST);
                schema.entry("description").or_insert_with(|| told.into());
            }
            self.body = Some(json!(format!("{{{name}}}")));
            self.required.push(name.clone());
            self.properties.insert(name, schema);
            return Ok(());
        };
        let mut template = Map::new();
        let mut as_they_come = self.properties.is_empty();
        let mut needed = false;
        for (name, member) in members.all {
            if converter.is_hidden(&member) {
                continue;
            }
            let argument = property(name);
            if argument != name {
                as_they_come = false;
                notes.add(&*member.pointer, format!("`{name}` is the argument `{argument}`"));
            }
            let schema = converter.schema(&member)?;
            if members.required.contains(&name) {
                needed = true;
                self.required.push(argument.clone());
            }
            template.insert(name.to_owned(), json!(format!("{{{argument}}}")));
            self.properties.insert(argument, schema);
        }
        if needed && !body.required {
            notes.add(at, "the body is optional in the document; here it is always sent");
        }
        self.body = Some(match as_they_come {
            true => json!("arguments"),
            false => Value::Object(template),
        });
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
                Place::Cookie => self.cookies.insert(0, format!("{}={reference}", escape(name))),
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
        if !self.cookies.is_empty() {
            self.headers.insert("Cookie".to_owned(), json!(self.cookies.join("; ")));
        }
        for (name, map) in [("query", self.query), ("headers", self.headers)] {
            if !map.is_empty() {
                http.insert(name.to_owned(), Value::Object(map));
            }
        }
        for (name, value) in [("auth", self.auth), ("body", self.body)] {
            if let Some(value) = value {
                http.insert(name.to_owned(), value);
            }
        }
        Ok((input, http))
    }

    /// With one more argument that is no member, the argument object is no body any more.
    fn spell_body(&mut self) {
        if self.body.as_ref().is_some_and(|body| body == "arguments") {
            let members = self.properties.keys();
            let members = members.map(|name| (name.clone(), json!(format!("{{{name}}}"))));
            self.body = Some(Value::Object(members.collect()));
        }
    }

    /// The path as a template. A placeholder that no parameter declares becomes an argument.
    fn fill_path(&mut self, operation: &At<'_>, path: &str, notes: &mut Notes) -> String {
        let at = &*operation.pointer;
        let whole = path;
        let path = path.split('#').next().unwrap_or_default();
        if path != whole {
            notes.add(at, "a fragment is never sent: left out of the path");
        }
        let mut out = if path.starts_with('/') { String::new() } else { "/".to_owned() };
        let mut used: BTreeSet<String> = BTreeSet::new();
        let mut rest = path;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { break };
            out.push_str(&escape(before));
            let plain = name.trim_start_matches(['+', '*']).trim_end_matches(['+', '*']);
            let name = if self.path.contains_key(name) { name } else { plain };
            used.insert(name.to_owned());
            match self.path.get(name) {
                Some((_, template)) => out.push_str(template),
                None => {
                    let taken = self.properties.keys().cloned().collect();
                    let argument = free(property(name), "path", &taken);
                    notes.add(at, format!("no parameter declares `{{{name}}}`: a string is taken"));
                    out.push_str(&format!("{{{argument}}}"));
                    let template = (argument.clone(), format!("{{{argument}}}"));
                    self.path.insert(name.to_owned(), template);
                    self.spell_body();
                    self.required.push(argument.clone());
                    self.properties.insert(argument, json!({ "type": "string", "minLength": 1 }));
                }
            }
            rest = after;
        }
        out.push_str(&escape(rest));
        let unused: Vec<String> =
            self.path.keys().filter(|name| !used.contains(*name)).cloned().collect();
        for name in unused {
            notes.add(at, format!("the path has no `{{{name}}}`: that parameter is left out"));
            if let Some((argument, _)) = self.path.remove(&name) {
                self.properties.shift_remove(&argument);
                self.required.retain(|other| *other != argument);
            }
        }
        out
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

/// A list that is written as one text, and the words for it.
fn as_one_text(schema: &Map<String, Value>, separator: &str) -> (Map<String, Value>, String) {
    let mut how = match separator {
        " " => "Several values are separated by a space.".to_owned(),
        other => format!("Several values are separated by `{other}`."),
    };
    let values = schema.get("items").and_then(|items| items.get("enum")).and_then(Value::as_array);
    if let Some(values) = values {
        let values: Vec<String> = values
            .iter()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            .collect();
        how = format!("{how} Each is one of: {}.", values.join(", "));
    }
    let mut text = Map::new();
    text.insert("type".to_owned(), json!("string"));
    for word in ["title", "description", "deprecated"] {
        if let Some(value) = schema.get(word) {
            text.insert(word.to_owned(), value.clone());
        }
    }
    (text, how)
}
