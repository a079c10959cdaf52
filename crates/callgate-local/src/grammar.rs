//! Grammars: what the next token may be.
//!
//! A tool's name is one of those on offer, arguments are what the schema admits. The model cannot
//! say anything else: tokens outside the grammar are masked before the likeliest is taken.
//!
//! A schema beyond the grammar's means falls back step by step, each told: keywords it does not know
//! are left out, then any JSON object will do. The gate judges by the whole schema in any case.

use std::sync::Arc;

use llguidance::{Matcher, ParserFactory, api::TopLevelGrammar};
use serde_json::{Value, json};

use crate::{LocalError, bound, tokenizer::Vocabulary};

/// Separators as Python's `json.dumps` writes them: what the models were trained on. Escapes without
/// `\u`, which small models fill with nonsense.
const STYLE: &str = r#"{"whitespace_flexible": false, "item_separator": ", ", "key_separator": ": ",
    "coerce_one_of": true, "json_allowed_escapes": "nrbtf\\\""}"#;

pub(crate) struct Grammars {
    factory: ParserFactory,
}

/// What stands around a value.
///
/// Within the grammar, since tokens do not end where the value does: `}}]` is one to models, and one that is
/// held to a single brace goes on with another member instead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Around<'a> {
    pub(crate) before: &'a str,
    /// One of these follows; nothing does where there are none.
    pub(crate) after: &'a [String],
}

/// A grammar about to be followed, and what it left out.
pub(crate) struct Constraint {
    pub(crate) matcher: Matcher,
    pub(crate) notes: Vec<Note>,
}

/// What the grammar does not hold of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Note {
    /// Keywords were left out, in the grammar library's words.
    Loosened(Arc<str>),
    /// Nothing of the schema is held but that it is JSON of this root type.
    AnyJson(Arc<str>),
}

impl Grammars {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Result<Self, LocalError> {
        let mut factory =
            ParserFactory::new_simple(&vocabulary.env()).map_err(LocalError::grammar)?;
        factory.quiet();
        Ok(Self { factory })
    }

    /// One of `choices`, literally, then `end`. The end keeps `get` and `get_all` apart.
    pub(crate) fn choice<'a>(
        &self,
        choices: impl IntoIterator<Item = &'a str>,
        end: &str,
    ) -> Result<Matcher, LocalError> {
        let names: Vec<String> = choices.into_iter().map(escape).collect();
        let pattern = format!("(?:{}){}", names.join("|"), escape(end));
        self.compile(TopLevelGrammar::from_regex(&pattern))
    }

    /// An instance of the schema, and what is around it.
    pub(crate) fn json(&self, schema: &str, around: Around<'_>) -> Result<Constraint, LocalError> {
        let schema: Value = serde_json::from_str(schema)?;
        let root_is_object = schema.get("type").is_none_or(|t| t == "object");
        let schema = bound::bounded(schema);
        let strict = match self.schema(schema.clone(), around, false) {
            Ok(matcher) => return Ok(Constraint { matcher, notes: Vec::new() }),
            Err(error) => error,
        };
        if let Ok(mut matcher) = self.schema(schema, around, true) {
            let mut notes: Vec<Note> = matcher
                .grammar_warnings()
                .into_iter()
                .map(|words| Note::Loosened(words.into()))
                .collect();
            if notes.is_empty() {
                notes.push(Note::Loosened(strict.to_string().into()));
            }
            return Ok(Constraint { matcher, notes });
        }
        let any = if root_is_object { json!({"type": "object"}) } else { json!(true) };
        let matcher = self.schema(any, around, false)?;
        Ok(Constraint { matcher, notes: vec![Note::AnyJson(strict.to_string().into())] })
    }

    fn schema(
        &self,
        mut schema: Value,
        around: Around<'_>,
        lenient: bool,
    ) -> Result<Matcher, LocalError> {
        let mut style: Value = serde_json::from_str(STYLE)?;
        style["lenient"] = json!(lenient);
        match &mut schema {
            Value::Object(object) => drop(object.insert("x-guidance".to_owned(), style)),
            // `true` and `false` have no room for a style.
            other => *other = json!({"allOf": [other.take()], "x-guidance": style}),
        }
        if around == Around::default() {
            return self.compile(TopLevelGrammar::from_json_schema(schema));
        }
        let literal = |text: &str| Value::from(text).to_string();
        let after: Vec<String> = around.after.iter().map(|text| literal(text)).collect();
        let (end, rule) = match after.join(" | ") {
            none if none.is_empty() => ("", none),
            some => ("end", format!("end: {some}\n")),
        };
        let before = literal(around.before);
        self.compile(TopLevelGrammar::from_lark(format!(
            "start: {before} json {end}\njson: %json {schema}\n{rule}"
        )))
    }

    fn compile(&self, grammar: TopLevelGrammar) -> Result<Matcher, LocalError> {
        let matcher = Matcher::new(self.factory.create_parser(grammar));
        match matcher.get_error() {
            Some(error) => Err(LocalError::grammar(error)),
            None => Ok(matcher),
        }
    }
}

/// Says in the log what a grammar leaves out.
pub(crate) fn tell(notes: &[Note], name: &str) {
    for note in notes {
        match note {
            Note::Loosened(words) => tracing::warn!(
                schema = name,
                "the local grammar leaves out part of the schema, the gate does not: {words}"
            ),
            Note::AnyJson(words) => tracing::warn!(
                schema = name,
                "the local grammar cannot hold the schema and takes any JSON, the gate does not: {words}"
            ),
        }
    }
}

fn escape(literal: &str) -> String {
    let mut out = String::with_capacity(literal.len());
    for letter in literal.chars() {
        if letter.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn grammars() -> Grammars {
        Grammars::new(&Vocabulary::read(&testing::content()).unwrap()).unwrap()
    }

    /// Whether a text is a complete sentence of the grammar, in a vocabulary of bytes.
    fn takes(mut matcher: Matcher, text: &str) -> bool {
        let tokens: Vec<u32> = text.bytes().map(u32::from).collect();
        matcher.validate_tokens(&tokens).unwrap() == tokens.len()
            && matcher.consume_tokens(&tokens).is_ok()
            && matcher.is_accepting().unwrap()
    }

    #[test]
    fn a_choice_is_one_of_the_names_and_nothing_else() {
        let grammars = grammars();
        let choice = || grammars.choice(["get", "get_all", "a.b+c"], "\"").unwrap();
        for (text, expected) in [
            ("get\"", true),
            ("get_all\"", true),
            ("a.b+c\"", true),
            ("axb+c\"", false),
            ("get", false),
            ("other\"", false),
        ] {
            assert_eq!(takes(choice(), text), expected, "{text}");
        }
    }

    #[test]
    fn arguments_are_what_the_schema_admits() {
        let grammars = grammars();
        let schema = r##"{"type": "object", "properties": {
            "id": {"type": "string", "pattern": "^T-[0-9]+$"},
            "day": {"type": "string", "format": "date"},
            "who": {"oneOf": [{"type": "integer"}, {"$ref": "#/$defs/name"}]}
        }, "required": ["id"], "$defs": {"name": {"type": "string"}}}"##;
        let json = || {
            let constraint = grammars.json(schema, Around { before: " ", after: &[] }).unwrap();
            assert_eq!(constraint.notes, []);
            constraint.matcher
        };
        for (text, expected) in [
            (r#" {"id": "T-12"}"#, true),
            (r#" {"id": "T-12", "day": "2026-02-28", "who": "Ana"}"#, true),
            (r#" {"id": "T-12", "who": 7}"#, true),
            (r#" {"id": "12"}"#, false),
            (r#" {"id": "T-1", "day": "2026-13-01"}"#, false),
            (r#" {"day": "2026-02-28"}"#, false),
            (r#" {"id": "T-1", "other": 1}"#, false),
            (r#"{"id": "T-1"}"#, false),
        ] {
            assert_eq!(takes(json(), text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_around_a_value_is_part_of_the_sentence() {
        let grammars = grammars();
        let after = ["}]\n".to_owned(), r#"}, {"name": "get""#.to_owned()];
        let schema = r#"{"type": "object", "properties": {"id": {"type": "integer"}}}"#;
        let json = || grammars.json(schema, Around { before: " ", after: &after }).unwrap().matcher;
        for (text, expected) in [
            (" {\"id\": 1}}]\n", true),
            (r#" {"id": 1}}, {"name": "get""#, true),
            (" {}}]\n", true),
            (r#" {"id": 1}"#, false),
            (" {\"id\": 1}}]", false),
            (r#" {"id": 1}}, {"name": "got""#, false),
        ] {
            assert_eq!(takes(json(), text), expected, "{text}");
        }
    }

    #[test]
    fn what_the_grammar_cannot_hold_is_told() {
        let grammars = grammars();
        let unknown = r#"{"type": "object", "properties": {"a": {"type": "integer"}},
            "required": ["a"], "not": {"required": ["b"]}}"#;
        let constraint = grammars.json(unknown, Around::default()).unwrap();
        assert!(matches!(constraint.notes[..], [Note::Loosened(_)]), "{:?}", constraint.notes);
        assert!(takes(constraint.matcher, r#"{"a": 1}"#));

        let impossible =
            r#"{"type": "object", "properties": {"a": {"$ref": "https://example.invalid/s"}}}"#;
        let constraint = grammars.json(impossible, Around::default()).unwrap();
        assert!(matches!(constraint.notes[..], [Note::AnyJson(_)]), "{:?}", constraint.notes);
        assert!(takes(constraint.matcher, r#"{"x": [1]}"#));
    }
}
