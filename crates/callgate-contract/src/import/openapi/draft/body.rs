//! The body as arguments: its members beside the parameters where it has names, else the argument
//! `body`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Draft, free, parameter::not_empty};
use crate::import::openapi::{
    Skipped,
    body::{Body, Form, is_binary},
    document::{At, Doc, Notes},
    media::{essence, is_bytes, is_json, is_one, is_xml},
    members::{Kind, Members, Shape, kind},
    names::property,
    schema::Converter,
    servers::escape,
    style::{style_of, written},
    words, xml,
};

/// The argument that is the whole body.
const BODY: &str = "body";

impl Draft {
    pub(super) fn payload<'d>(
        &mut self,
        doc: &Doc<'d>,
        body: Body<'d>,
        converter: &mut Converter<'_, 'd>,
        taken: &BTreeSet<String>,
        notes: &mut Notes,
    ) -> Result<(), Skipped> {
        let Body { at, schema, required, form } = body;
        match form {
            Form::Json { media, members } => {
                if let Some(media) = media {
                    self.headers.insert("Content-Type".to_owned(), escape(media).into());
                }
                let fits = |members: &Members<'_>| {
                    let mut names = taken.clone();
                    members.all.iter().all(|(name, _)| names.insert(property(name)))
                };
                match members.filter(fits) {
                    Some(members) => self.members(&at, required, members, converter, notes),
                    None => {
                        let name = self.whole(&at, schema.as_ref(), true, converter, taken)?;
                        if !required {
                            notes.add(&*at.pointer, ALWAYS);
                        }
                        self.payload = Some(("body", json!(format!("{{{name}}}"))));
                        Ok(())
                    }
                }
            }
            Form::Fields { is_multipart, members: None, .. } => {
                let name = self.whole(&at, schema.as_ref(), required, converter, taken)?;
                let word = if is_multipart { "multipart" } else { "form" };
                let message = "the fields are the members of the argument `body`: what is no text among them is JSON";
                notes.add(&*at.pointer, message);
                self.payload = Some((word, json!({ (BODY): written(&name, "form", true) })));
                Ok(())
            }
            Form::Fields { is_multipart, members: Some(members), encoding } => {
                let fields = Fields { doc, is_multipart, encoding };
                self.fields(&fields, members, converter, taken, notes)
            }
            Form::Text { media } => {
                self.text(doc, &at, schema.as_ref(), required, media, converter, taken, notes)
            }
            Form::Bytes { media } => {
                let told = format!("The content ({media}), in Base64.");
                let argument = json!({
                    "type": "string", "contentEncoding": "base64", "contentMediaType": essence(media),
                    "description": told,
                });
                self.raw(&at, required, "base64", media, argument, taken);
                Ok(())
            }
            Form::File { media } => {
                self.raw(&at, required, "file", media, file(None, false), taken);
                Ok(())
            }
        }
    }

    /// The argument `body`, and its name.
    fn whole<'d>(
        &mut self,
        at: &At<'d>,
        schema: Option<&At<'d>>,
        required: bool,
        converter: &mut Converter<'_, 'd>,
        taken: &BTreeSet<String>,
    ) -> Result<String, Skipped> {
        let mut schema = match schema {
            Some(schema) => converter.schema(schema)?,
            None => json!({}),
        };
        if let (Some(told), Value::Object(schema)) = (at.text("description"), &mut schema) {
            let told = words::cut(told, words::LONGEST);
            schema.entry("description").or_insert_with(|| told.into());
        }
        Ok(self.body_argument(schema, required, taken))
    }

    fn body_argument(&mut self, schema: Value, required: bool, taken: &BTreeSet<String>) -> String {
        let name = free(BODY.to_owned(), "request", taken);
        if required {
            self.required.push(name.clone());
        }
        self.properties.insert(name.clone(), schema);
        name
    }

    /// The members of a JSON body.
    fn members<'d>(
        &mut self,
        at: &At<'d>,
        required: bool,
        members: Members<'d>,
        converter: &mut Converter<'_, 'd>,
        notes: &mut Notes,
    ) -> Result<(), Skipped> {
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
        if needed && !required {
            notes.add(&*at.pointer, ALWAYS);
        }
        let template = match as_they_come {
            true => json!("arguments"),
            false => Value::Object(template),
        };
        self.payload = Some(("body", template));
        Ok(())
    }

    /// The fields of a form, each an argument.
    fn fields<'d>(
        &mut self,
        fields: &Fields<'_, 'd>,
        members: Members<'d>,
        converter: &mut Converter<'_, 'd>,
        taken: &BTreeSet<String>,
        notes: &mut Notes,
    ) -> Result<(), Skipped> {
        let mut taken = taken.clone();
        let mut template = Map::new();
        for (name, member) in members.all {
            if converter.is_hidden(&member) {
                continue;
            }
            let argument = free(property(name), BODY, &taken);
            taken.insert(argument.clone());
            if argument != name {
                notes.add(&*member.pointer, format!("`{name}` is the argument `{argument}`"));
            }
            let (mut schema, value) = fields.one(name, &member, &argument, converter, notes)?;
            if members.required.contains(&name) {
                self.required.push(argument.clone());
                let is_json = value.get("style").is_some_and(|style| style == "json");
                if let (Value::Object(schema), false) = (&mut schema, is_json) {
                    let shape = match kind(fields.doc, &member) {
                        // Without a style an object is JSON.
                        Kind::Object(_) if value.get("style").is_none() => Shape::Other,
                        kind => kind.shape(),
                    };
                    not_empty(schema, shape);
                }
            }
            template.insert(name.to_owned(), value);
            self.properties.insert(argument, schema);
        }
        let word = if fields.is_multipart { "multipart" } else { "form" };
        self.payload = Some((word, Value::Object(template)));
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one body")]
    fn text<'d>(
        &mut self,
        doc: &Doc<'d>,
        at: &At<'d>,
        schema: Option<&At<'d>>,
        required: bool,
        media: &'d str,
        converter: &mut Converter<'_, 'd>,
        taken: &BTreeSet<String>,
        notes: &mut Notes,
    ) -> Result<(), Skipped> {
        let scalar = schema.filter(|schema| matches!(kind(doc, schema), Kind::Scalar));
        let mut argument = match scalar.map(|schema| converter.schema(schema)).transpose()? {
            Some(Value::Object(argument)) => argument,
            _ => Map::from_iter([("type".to_owned(), json!("string"))]),
        };
        let mut told = match is_xml(media) {
            true => format!("The whole XML document ({media}), written out."),
            false => format!("The whole text ({media})."),
        };
        if let (Some(schema), true) = (schema, is_xml(media)) {
            notes.add(
                &*at.pointer,
                format!("the body is {media}: the model writes it, and it is not checked against its schema"),
            );
            if let Some(outline) = xml::outline(doc, schema) {
                told = format!("{told} Its form: {outline}");
            }
        }
        if let Some(more) = at.text("description") {
            told = format!("{told}\n\n{more}");
        }
        argument.insert("description".to_owned(), words::cut(&told, words::LONGEST).into());
        self.raw(at, required, "text", media, Value::Object(argument), taken);
        Ok(())
    }

    /// A body that is sent as it is.
    fn raw(
        &mut self,
        at: &At<'_>,
        required: bool,
        source: &str,
        media: &str,
        mut argument: Value,
        taken: &BTreeSet<String>,
    ) {
        if let (Some(told), Value::Object(argument)) = (at.text("description"), &mut argument) {
            let told = words::cut(told, words::LONGEST);
            argument.entry("description").or_insert_with(|| told.into());
        }
        let name = self.body_argument(argument, required, taken);
        let raw = json!({ (source): format!("{{{name}}}"), "contentType": escape(media) });
        self.payload = Some(("raw", raw));
    }
}

/// What is said when an optional body is not.
const ALWAYS: &str = "the body is optional in the document; here it is always sent";

/// The fields of one form.
struct Fields<'a, 'd> {
    doc: &'a Doc<'d>,
    is_multipart: bool,
    encoding: Option<At<'d>>,
}

impl<'d> Fields<'_, 'd> {
    /// The argument's schema and the field's template.
    ///
    /// A style counts where the document writes one; in a multipart body since 3.1. Else lists are
    /// repeated, and objects are JSON (OpenAPI 3.0.4 and 3.1.1, 4.8.15).
    fn one(
        &self,
        name: &str,
        member: &At<'d>,
        argument: &str,
        converter: &mut Converter<'_, 'd>,
        notes: &mut Notes,
    ) -> Result<(Value, Value), Skipped> {
        let plain = json!(format!("{{{argument}}}"));
        let encoding = self.encoding.as_ref().and_then(|encoding| encoding.get(name));
        let media = encoding.as_ref().and_then(|encoding| encoding.text("contentType"));
        let media = media.filter(|media| is_one(media));
        if let Some(many) = self.is_multipart.then(|| self.files(member)).flatten() {
            let mut value = json!({ "file": plain });
            if let Some(media) = media {
                value["contentType"] = json!(escape(media));
            }
            return Ok((file(said(self.doc, member).as_deref(), many), value));
        }
        let schema = converter.schema(member)?;
        let styled = encoding.as_ref().filter(|encoding| {
            let words = ["style", "explode", "allowReserved"];
            let says = words.iter().any(|word| encoding.value.get(*word).is_some());
            says && !(self.is_multipart && self.doc.is_3_0)
        });
        let kind = kind(self.doc, member);
        let value = match (styled, kind) {
            (Some(_), Kind::Scalar) => plain,
            (Some(encoding), kind) => {
                let (style, explode) = style_of(encoding, "form");
                match kind {
                    Kind::Array if explode && style != "deepObject" => plain,
                    _ => {
                        if style == "deepObject" && !matches!(kind, Kind::Scalar) {
                            notes.add(&*member.pointer, BEYOND);
                        }
                        written(argument, style, explode)
                    }
                }
            }
            (None, Kind::Object(_)) if media.is_some_and(is_json) => {
                written(argument, "json", false)
            }
            (None, Kind::Array) if media.is_some_and(is_json) && !self.is_multipart => {
                written(argument, "json", false)
            }
            (None, Kind::Scalar) if self.is_multipart => match media {
                Some(media) if is_json(media) => written(argument, "json", false),
                Some(media) if is_bytes(media) && says_base64(self.doc, member) => {
                    json!({ "base64": plain, "contentType": escape(media) })
                }
                Some(media) if essence(media) != "text/plain" => {
                    json!({ "text": plain, "contentType": escape(media) })
                }
                _ => plain,
            },
            (None, _) => plain,
        };
        Ok((schema, value))
    }

    /// Whether a member is a file (`false`) or a list of them (`true`).
    fn files(&self, member: &At<'d>) -> Option<bool> {
        if is_binary(self.doc, member) {
            return Some(false);
        }
        let at = self.doc.resolve(member.clone()).ok()?;
        let items = at.get("items")?;
        is_binary(self.doc, &items).then_some(true)
    }
}

const BEYOND: &str = "below the first level of a `deepObject` OpenAPI defines nothing: sent as `name[member][member]`, lists of scalars as `name[]`, others as `name[0][member]`";

fn said(doc: &Doc<'_>, member: &At<'_>) -> Option<String> {
    let resolved = doc.resolve(At { value: member.value, pointer: member.pointer.clone() }).ok();
    let told = member.text("description").or_else(|| resolved?.text("description"))?;
    Some(words::cut(told, words::LONGEST))
}

fn says_base64(doc: &Doc<'_>, member: &At<'_>) -> bool {
    let at = At { value: member.value, pointer: member.pointer.clone() };
    doc.resolve(at).is_ok_and(|at| {
        at.text("contentEncoding") == Some("base64") || at.text("format") == Some("byte")
    })
}

/// The argument for a file, or for a list of files: what the http backend's `file` takes.
fn file(told: Option<&str>, many: bool) -> Value {
    let one = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "description": "The content, where it is a text." },
            "base64": {
                "type": "string", "contentEncoding": "base64",
                "description": "The content in Base64, where it is no text.",
            },
            "filename": { "type": "string", "minLength": 1, "description": "The file's name." },
            "contentType": {
                "type": "string", "pattern": "^[!-~]+/[ -~]+$",
                "description": "The media type, such as text/csv.",
            },
        },
        "oneOf": [{ "required": ["text"] }, { "required": ["base64"] }],
        "additionalProperties": false,
    });
    let mut schema = if many { json!({ "type": "array", "items": one }) } else { one };
    if let Some(told) = told {
        schema["description"] = json!(told);
    }
    schema
}
