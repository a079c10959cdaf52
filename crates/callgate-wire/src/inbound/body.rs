//! The fields of a body, each taken once: what is left over is known, and can be reported.

use std::{borrow::Cow, sync::Arc};

use serde_json::value::RawValue;

use super::Misread;
use crate::{
    Note, json,
    raw::{Fields, Raw, list_of, string},
};

/// A JSON object on its way through a reader.
#[derive(Debug)]
pub(super) struct Object<'a> {
    /// Where it is; empty for the body itself.
    path: String,
    fields: Fields<'a>,
}

impl<'a> Object<'a> {
    /// The body.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self, Misread> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            Misread::new(format!("the body is not UTF-8, which JSON has to be: {error}"))
        })?;
        let text = text.trim_start_matches('\u{feff}');
        let fields = json::from_str(text).map_err(|error| {
            Misread::new(format!("the body is not a JSON object: {error}; send one"))
        })?;
        Ok(Self { path: String::new(), fields })
    }

    /// An object within.
    pub(super) fn of(raw: &'a RawValue, path: impl Into<String>) -> Result<Self, Misread> {
        let path = path.into();
        match Fields::of(raw.get()) {
            Some(fields) => Ok(Self { path, fields }),
            None => Err(wrong(path, "an object", raw)),
        }
    }

    /// The path of one of its fields.
    pub(super) fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// A field, if it is there and not null.
    pub(super) fn take(&mut self, name: &str) -> Raw<'a> {
        let at = self.fields.0.iter().position(|(key, _)| key == name)?;
        let (_, value) = self.fields.0.remove(at);
        Some(value).filter(|value| value.get() != "null")
    }

    /// A field that is not null, left for others to take.
    pub(super) fn get(&self, name: &str) -> Raw<'a> {
        self.fields.get(name).filter(|value| value.get() != "null")
    }

    pub(super) fn string(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, Misread> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        match string(raw) {
            Some(text) => Ok(Some(text)),
            None => Err(wrong(self.at(name), "a string", raw)),
        }
    }

    pub(super) fn need_string(&mut self, name: &str) -> Result<Cow<'a, str>, Misread> {
        self.string(name)?.ok_or_else(|| self.missing(name))
    }

    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>, Misread> {
        self.parsed(name, "true or false")
    }

    pub(super) fn count(&mut self, name: &str) -> Result<Option<u32>, Misread> {
        self.parsed(name, "a whole number below 4294967296")
    }

    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>, Misread> {
        self.parsed(name, "a whole number of 64 bits")
    }

    pub(super) fn number(&mut self, name: &str) -> Result<Option<f64>, Misread> {
        self.parsed(name, "a number")
    }

    fn parsed<T: serde::de::DeserializeOwned>(
        &mut self,
        name: &str,
        wanted: &str,
    ) -> Result<Option<T>, Misread> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        match json::from_str(raw.get()) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(wrong(self.at(name), wanted, raw)),
        }
    }

    /// A list; empty where there is none.
    pub(super) fn list(&mut self, name: &str) -> Result<Vec<&'a RawValue>, Misread> {
        let Some(raw) = self.take(name) else { return Ok(Vec::new()) };
        list(raw).ok_or_else(|| wrong(self.at(name), "a list", raw))
    }

    /// A list of objects; empty where there is none.
    pub(super) fn objects(&mut self, name: &str) -> Result<Vec<Object<'a>>, Misread> {
        let path = self.at(name);
        let list = self.list(name)?;
        list.into_iter()
            .enumerate()
            .map(|(n, raw)| Object::of(raw, format!("{path}[{n}]")))
            .collect()
    }

    pub(super) fn object(&mut self, name: &str) -> Result<Option<Object<'a>>, Misread> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        Object::of(raw, self.at(name)).map(Some)
    }

    /// A JSON object's text.
    pub(super) fn schema(&mut self, name: &str) -> Result<Option<Arc<RawValue>>, Misread> {
        let Some(raw) = self.take(name) else { return Ok(None) };
        if !raw.get().starts_with('{') {
            return Err(wrong(self.at(name), "an object", raw));
        }
        Ok(Some(raw.to_owned().into()))
    }

    pub(super) fn missing(&self, name: &str) -> Misread {
        let path = self.at(name);
        Misread { message: format!("`{path}` is missing"), param: Some(path) }
    }

    /// What nobody took, in order.
    pub(super) fn rest(self) -> impl Iterator<Item = (Cow<'a, str>, &'a RawValue)> {
        self.fields.0.into_iter().filter(|(_, value)| value.get() != "null")
    }

    /// What nobody took is noted as left out.
    pub(super) fn leave(self, notes: &mut Vec<Note>) {
        let prefix = self.path.clone();
        for (name, _) in self.rest() {
            let field = if prefix.is_empty() { name.into() } else { format!("{prefix}.{name}") };
            notes.push(Note::FieldLeftOut { field: field.into() });
        }
    }
}

pub(super) fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    list_of(raw.get())
}

/// A value of another type than it must have.
pub(super) fn wrong(path: impl Into<String>, wanted: &str, raw: &RawValue) -> Misread {
    let path = path.into();
    let got = match raw.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    };
    let article = if got == wanted { "another one" } else { got };
    let message = match raw.get() {
        short if short.len() <= 40 => format!("`{path}` must be {wanted}, not {short}"),
        _ => format!("`{path}` must be {wanted}, not {article}"),
    };
    Misread { message, param: Some(path) }
}

/// Something that cannot be served.
pub(super) fn refused(path: impl Into<String>, why: &str) -> Misread {
    let path = path.into();
    Misread { message: format!("`{path}`: {why}"), param: Some(path) }
}
