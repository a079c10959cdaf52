//! What the model has read so far, and what of it a value stands in.

use std::{collections::HashMap, sync::Arc};

use callgate_contract::document::{Document, canonical_number, is_json_number};
use serde_json::Value;

use super::{
    From, Leaf, Match, Origin, leaves,
    words::{numbers, plain, position, round, words},
};

/// Everything that was read, in order.
#[derive(Default)]
pub(super) struct Sources {
    texts: Vec<Source>,
    /// Values of results by what they say: the first place of each.
    values: HashMap<String, (usize, String)>,
}

struct Source {
    from: From,
    call: Option<Arc<str>>,
    text: String,
    plain: String,
    is_json: bool,
}

/// A place that holds a value.
struct Place {
    source: usize,
    at: String,
    fit: Match,
}

impl Sources {
    /// Takes a text that people wrote.
    pub(super) fn text(&mut self, from: From, call: Option<Arc<str>>, text: &str) {
        let source =
            Source { from, call, text: text.to_owned(), plain: plain(text), is_json: false };
        self.texts.push(source);
    }

    /// Takes what the model read of a call: an envelope, whose result may hold values and texts.
    pub(super) fn result(&mut self, from: From, call: &Arc<str>, text: &str) {
        let Ok(document) = Document::parse(text) else {
            return self.text(from, Some(call.clone()), text);
        };
        let index = self.texts.len();
        let result = document.pointer("/result").unwrap_or_else(|| document.root());
        leaves(result, &mut String::new(), &mut |path, leaf| {
            let place = || (index, path.to_owned());
            self.values.entry(key(&leaf)).or_insert_with(place);
        });
        let is_json = true;
        let (text, plain) = (result.raw().to_owned(), plain(result.raw()));
        self.texts.push(Source { from, call: Some(call.clone()), text, plain, is_json });
    }

    /// Where a value came from.
    pub(super) fn origin(&self, path: &str, leaf: &Leaf<'_>, definition: Option<&Value>) -> Origin {
        let found = self.place(leaf);
        let tool = || definition.is_some_and(|schema| says(schema, leaf));
        match found {
            // Some words of it stand somewhere, but the tool's definition has it whole.
            Some(place) if place.fit == Match::Parts && tool() => Origin::of_tool(path),
            Some(place) => {
                let source = &self.texts[place.source];
                Origin {
                    path: path.to_owned(),
                    from: source.from,
                    call: source.call.clone().filter(|_| source.from == From::Result),
                    at: Some(place.at),
                    fit: Some(place.fit),
                }
            }
            None if tool() => Origin::of_tool(path),
            None => {
                Origin { path: path.to_owned(), from: From::Model, call: None, at: None, fit: None }
            }
        }
    }

    /// The best place; of equally good ones the first.
    fn place(&self, leaf: &Leaf<'_>) -> Option<Place> {
        let value = self.values.get(&key(leaf)).map(|(source, at)| Place {
            source: *source,
            at: at.clone(),
            fit: Match::Exact,
        });
        let word = self.word(leaf);
        let best = match (value, word) {
            (Some(value), Some(word)) if word.fit == Match::Exact && word.source < value.source => {
                Some(word)
            }
            (Some(value), _) => Some(value),
            (None, word) => word,
        };
        best.or_else(|| self.parts(leaf))
    }

    fn word(&self, leaf: &Leaf<'_>) -> Option<Place> {
        let mut respelled = None;
        for (i, source) in self.texts.iter().enumerate() {
            let exact = match leaf {
                Leaf::Text(text) => position(&source.text, text).map(|at| (at, text.len())),
                Leaf::Number(number) => position(&source.text, number).map(|at| (at, number.len())),
            };
            if let Some((at, length)) = exact {
                return Some(source.place(i, at, length, Match::Exact));
            }
            if respelled.is_some() {
                continue;
            }
            if let Leaf::Text(text) = leaf {
                let wanted = plain(text);
                if let Some(at) = position(&source.plain, &wanted) {
                    let at = round(&source.plain, at, wanted.len());
                    respelled = Some(Place { source: i, at, fit: Match::Respelled });
                    continue;
                }
            }
            // A number may be spelled otherwise, also one in quotes.
            if let Leaf::Text(number) | Leaf::Number(number) = leaf
                && is_json_number(number)
            {
                let wanted = canonical_number(number);
                let found = numbers(&source.text).find(|(_, n)| canonical_number(n) == wanted);
                if let Some((at, digits)) = found {
                    respelled = Some(source.place(i, at, digits.len(), Match::Respelled));
                }
            }
        }
        respelled
    }

    /// The first text that has most of the value's words, where it has several.
    fn parts(&self, leaf: &Leaf<'_>) -> Option<Place> {
        let Leaf::Text(text) = leaf else { return None };
        let wanted: Vec<String> = words(text).into_iter().filter(|word| counts(word)).collect();
        if wanted.len() < 2 {
            return None;
        }
        let mut best: Option<(usize, usize)> = None;
        for (i, source) in self.texts.iter().enumerate() {
            let n = wanted.iter().filter(|word| position(&source.plain, word).is_some()).count();
            if n * 2 > wanted.len() && best.is_none_or(|(_, most)| n > most) {
                best = Some((i, n));
            }
        }
        let (source, _) = best?;
        let word =
            wanted.iter().find(|word| position(&self.texts[source].plain, word).is_some())?;
        let at = position(&self.texts[source].plain, word)?;
        let at = round(&self.texts[source].plain, at, word.len());
        Some(Place { source, at, fit: Match::Parts })
    }
}

impl Source {
    fn place(&self, source: usize, at: usize, length: usize, fit: Match) -> Place {
        let at = if self.is_json { "in a text".to_owned() } else { round(&self.text, at, length) };
        Place { source, at, fit }
    }
}

impl Origin {
    fn of_tool(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            from: From::Tool,
            call: None,
            at: None,
            fit: Some(Match::Exact),
        }
    }
}

/// Words that say something: numbers, and words of more than two letters.
fn counts(word: &str) -> bool {
    word.chars().count() > 2 || word.chars().all(|c| c.is_ascii_digit())
}

/// What two values have in common that say the same.
fn key(leaf: &Leaf<'_>) -> String {
    match leaf {
        Leaf::Text(text) => format!("s{text}"),
        Leaf::Number(number) => format!("n{}", canonical_number(number)),
    }
}

/// Whether a tool's definition names the value: in an enum, as constant, default or example.
fn says(schema: &Value, leaf: &Leaf<'_>) -> bool {
    let is = |value: &Value| match (value, leaf) {
        (Value::String(own), Leaf::Text(text)) => own == text,
        (Value::Number(own), Leaf::Number(number)) => {
            canonical_number(&own.to_string()) == canonical_number(number)
        }
        _ => false,
    };
    match schema {
        Value::Object(members) => members.iter().any(|(name, value)| match (&**name, value) {
            ("enum" | "examples", Value::Array(all)) => all.iter().any(is),
            ("const" | "default" | "example", value) => is(value),
            (_, value) => says(value, leaf),
        }),
        Value::Array(all) => all.iter().any(|one| says(one, leaf)),
        _ => false,
    }
}
