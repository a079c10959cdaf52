//! JSON between texts and the wire's shapes, at little cost.
//!
//! What providers send and are sent is plain: objects, lists, strings, whole numbers. That is read
//! and written here, by serde's own traits, in a fraction of the instructions that `serde_json`
//! takes. Whatever is not plain (a float, a deep nest, half a surrogate pair, any mistake) is left
//! to `serde_json`, from the beginning: results and errors are always the ones it gives.

mod cursor;
mod read;
mod scan;
mod verbatim;
mod write;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use self::read::{is_json, string};

/// The name by which `serde_json::value::RawValue` asks for a value's text, and gives it. Should it
/// ever be another, raw values are not plain, and a test says so.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// There is something that is not read or written here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NotPlain;

type Plain<T> = Result<T, NotPlain>;

impl fmt::Display for NotPlain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not plain JSON")
    }
}

impl std::error::Error for NotPlain {}

/// As `serde_json::from_str`.
///
/// # Errors
/// Those of `serde_json`.
#[inline]
pub fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    match read::whole(text) {
        Ok(value) => Ok(value),
        Err(NotPlain) => serde_json::from_str(text),
    }
}

/// As `serde_json::to_writer`, after what is in `out`.
///
/// # Errors
/// Those of `serde_json`: a value that has no JSON. What was written of it stays.
pub fn try_write(out: &mut Vec<u8>, value: &impl Serialize) -> Result<(), serde_json::Error> {
    let start = out.len();
    write::whole(out, value).or_else(|NotPlain| {
        out.truncate(start);
        serde_json::to_writer(&mut *out, value)
    })
}

/// As [`try_write`], for what always has a text: our own shapes with string keys.
pub(crate) fn write(out: &mut Vec<u8>, value: &impl Serialize) {
    try_write(out, value).expect("JSON with string keys can be written to memory");
}

/// As [`write`], into memory of its own.
pub(crate) fn to_vec(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    write(&mut out, value);
    out
}

/// As [`write`], as a text.
pub(crate) fn to_string(value: &impl Serialize) -> String {
    let mut out = Vec::with_capacity(64);
    write(&mut out, value);
    String::from_utf8(out).expect("what is written here is UTF-8")
}

#[cfg(test)]
mod tests;
