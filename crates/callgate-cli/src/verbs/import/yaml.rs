//! YAML as JSON text, without a rounded number.
//!
//! Scalars are read by the core schema of YAML 1.2.2 (10.3), numbers keep their digits, keys become
//! texts (`200:` is `"200"`). Aliases are written out, `<<` is merged as YAML 1.1 has it, since
//! documents in the wild use it. What JSON has no word for (`.nan`, `!include`, a key that is a
//! list, two documents) is a fault with its place.
//!
//! The parser is `saphyr-parser`: it gives events with each scalar as it stands. What loads YAML
//! into values would have made `1.10` a float before we could see it.

mod scalar;
mod tree;

use std::{collections::HashMap, fmt, rc::Rc};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use tree::Node;

/// Deeper than any document is, and than our JSON parsers read.
const DEEPEST: usize = 120;
/// The most bytes of JSON. A few lines of aliases can stand for more than any machine holds.
const MOST_BYTES: usize = 64 << 20;

/// Why a text is no YAML that JSON can say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
    /// What is wrong.
    pub(super) why: String,
}

impl Fault {
    fn at(mark: Marker, why: impl Into<String>) -> Self {
        Self { line: mark.line(), column: mark.col() + 1, why: why.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.why)
    }
}

/// The one document of a text as JSON. `texts` are places whose plain scalars are texts whatever
/// they look like: `openapi: 3.0` means no number.
pub(super) fn to_json(text: &str, texts: &[&[&str]]) -> Result<String, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut build = Build::default();
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| Fault::at(*error.marker(), error.info().to_owned()))?;
        build.take(event, span)?;
    }
    let Some(root) = build.root else { return Ok("null".to_owned()) };
    let root = texts.iter().fold(root, |root, path| tree::as_text(&root, path));
    if root.bytes() > MOST_BYTES {
        let why = format!("with its aliases written out it has more than {MOST_BYTES} bytes");
        return Err(Fault { line: 1, column: 1, why });
    }
    let mut out = String::new();
    tree::write(&root, &mut out);
    Ok(out)
}

/// A list or mapping that has not ended.
struct Open {
    anchor: usize,
    mark: Marker,
    what: Inside,
}

enum Inside {
    List(Vec<Rc<Node>>),
    Map(tree::Members, Option<tree::Key>),
}

#[derive(Default)]
struct Build {
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

impl Build {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let mark = span.start;
        match event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => self.put(node.clone(), mark),
                // Within what it names: no JSON has itself in it.
                None => Err(Fault::at(mark, "an alias of what it stands in has no end")),
            },
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                let node = scalar::read(&text, is_plain, tag.as_deref())
                    .map_err(|why| Fault::at(mark, why))?;
                self.done(node, anchor, mark)
            }
            Event::SequenceStart(anchor, tag) => {
                known(tag.as_deref(), "seq", mark)?;
                self.begin(anchor, mark, Inside::List(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                known(tag.as_deref(), "map", mark)?;
                self.begin(anchor, mark, Inside::Map(tree::Members::default(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { anchor, mark, what }) = self.open.pop() else { return Ok(()) };
                let node = match what {
                    Inside::List(items) => Node::list(items),
                    Inside::Map(members, _) => {
                        members.finish().map_err(|why| Fault::at(mark, why))?
                    }
                };
                self.done(node, anchor, mark)
            }
        }
    }

    fn begin(&mut self, anchor: usize, mark: Marker, what: Inside) -> Result<(), Fault> {
        if self.open.len() >= DEEPEST {
            return Err(too_deep(mark));
        }
        self.open.push(Open { anchor, mark, what });
        Ok(())
    }

    fn done(&mut self, node: Node, anchor: usize, mark: Marker) -> Result<(), Fault> {
        let node = Rc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.put(node, mark)
    }

    fn put(&mut self, node: Rc<Node>, mark: Marker) -> Result<(), Fault> {
        if self.open.len() + node.depth() > DEEPEST {
            return Err(too_deep(mark));
        }
        match self.open.last_mut().map(|open| &mut open.what) {
            None if self.root.is_some() => {
                return Err(Fault::at(mark, "a second document begins here; one is read"));
            }
            None => self.root = Some(node),
            Some(Inside::List(items)) => items.push(node),
            Some(Inside::Map(members, key)) => match key.take() {
                None => *key = Some(node.as_key().map_err(|why| Fault::at(mark, why))?),
                Some(key) => members.add(key, node).map_err(|why| Fault::at(mark, why))?,
            },
        }
        Ok(())
    }
}

fn too_deep(mark: Marker) -> Fault {
    Fault::at(mark, format!("it is nested more than {DEEPEST} levels deep"))
}

/// Whether a collection's tag says what it is anyway.
fn known(tag: Option<&saphyr_parser::Tag>, kind: &str, mark: Marker) -> Result<(), Fault> {
    match tag {
        Some(tag) if !(tag.is_yaml_core_schema() && tag.suffix == kind) => {
            Err(Fault::at(mark, scalar::unknown(tag)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(yaml: &str) -> Result<String, String> {
        to_json(yaml, &[]).map_err(|fault| fault.to_string())
    }

    #[test]
    fn scalars_by_the_core_schema() {
        for (yaml, expected) in [
            ("~", "null"),
            ("", "null"),
            ("# nothing\n", "null"),
            ("Null", "null"),
            ("True", "true"),
            ("FALSE", "false"),
            // Words of YAML 1.1.
            ("yes", "\"yes\""),
            ("on", "\"on\""),
            ("1_000", "\"1_000\""),
            ("2020-01-01", "\"2020-01-01\""),
            ("12:30:45", "\"12:30:45\""),
            ("1", "1"),
            ("+5", "5"),
            ("-0", "-0"),
            ("007", "7"),
            ("0", "0"),
            ("0o17", "15"),
            ("0xfF", "255"),
            ("0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175"),
            ("1.10", "1.10"),
            ("1.", "1.0"),
            (".5", "0.5"),
            ("-.5e3", "-0.5e3"),
            ("1e400", "1e400"),
            (
                "12345678901234567890123.000000000000000001",
                "12345678901234567890123.000000000000000001",
            ),
            ("1.2.3", "\"1.2.3\""),
            ("+-5", "\"+-5\""),
            (".", "\".\""),
            ("'1'", "\"1\""),
            ("\"tab\\t \\u263a\"", "\"tab\\t ☺\""),
            ("!!str 1.0", "\"1.0\""),
            ("! 1", "\"1\""),
            ("!!int '3'", "3"),
            ("!!float 3", "3"),
            ("!!null ''", "null"),
            ("|\n  a\n  b\n", "\"a\\nb\\n\""),
            (">-\n  a\n  b\n", "\"a b\""),
        ] {
            assert_eq!(json(yaml).as_deref(), Ok(expected), "{yaml:?}");
        }
    }

    #[test]
    fn collections_keys_aliases_and_merges() {
        for (yaml, expected) in [
            ("[]", "[]"),
            ("{}", "{}"),
            ("- 1\n- [a, {b: c}]\n", r#"[1,["a",{"b":"c"}]]"#),
            (
                "200: ok\n'default': {null: 1.0, true: 2}\n",
                r#"{"200":"ok","default":{"null":1.0,"true":2}}"#,
            ),
            ("a: &x [1]\nb: *x\n", r#"{"a":[1],"b":[1]}"#),
            ("a: &x k\n*x : 1\n", r#"{"a":"k","k":1}"#),
            (
                "b: &b {x: 1, y: 2}\nc:\n  <<: *b\n  y: 3\n",
                r#"{"b":{"x":1,"y":2},"c":{"y":3,"x":1}}"#,
            ),
            ("a:\n  <<: [{x: 1}, {x: 2, y: 2}]\n", r#"{"a":{"x":1,"y":2}}"#),
            ("\"<<\": 1\n", r#"{"<<":1}"#),
            ("a:\nb: 1\n", r#"{"a":null,"b":1}"#),
            ("\u{feff}---\na: 1\n...\n", r#"{"a":1}"#),
            ("!!map {a: !!seq [1]}", r#"{"a":[1]}"#),
            // JSON is YAML.
            (
                "{\"a\": [1.50, \"x\\\"y\"], \"b\": {\"c\": null}}",
                r#"{"a":[1.50,"x\"y"],"b":{"c":null}}"#,
            ),
        ] {
            assert_eq!(json(yaml).as_deref(), Ok(expected), "{yaml:?}");
        }
    }

    #[test]
    fn what_json_cannot_say_has_a_place() {
        for (yaml, place, why) in [
            ("a: .nan", "line 1, column 4", "no number"),
            ("a:\n  - -.inf", "line 2, column 5", "no number"),
            ("a: !include x.yaml", "line 1, column 4", "!include"),
            ("a: !!binary aGk=", "line 1, column 4", "binary"),
            ("!!set {a, b}", "line 1, column 1", "set"),
            ("!!int x", "line 1, column 1", "no int"),
            ("[a]: 1", "line 1", "a key"),
            ("a: 1\nb: 2\na: 3", "line 3", "twice"),
            ("1: a\n'1': b", "line 2", "twice"),
            ("<<: 1", "line 1", "<<"),
            ("a: &x [*x]", "line 1", "no end"),
            ("a: *nobody", "line 1", ""),
            ("--- 1\n--- 2", "line 2", "second document"),
            ("a: [1", "line 2", "flow sequence"),
            ("a: b: c", "line 1", ""),
        ] {
            let fault = json(yaml).unwrap_err();
            assert!(fault.starts_with(place) && fault.contains(why), "{yaml:?}: {fault}");
        }
    }

    #[test]
    fn bombs_do_not_go_off() {
        // The parser has a limit of its own for these.
        assert!(json(&"[".repeat(100_000)).is_err());
        assert!(
            json(&format!("{}{}", "[".repeat(150), "]".repeat(150)))
                .unwrap_err()
                .contains("levels deep")
        );
        assert!(json(&"- ".repeat(100_000)).unwrap_err().contains("levels deep"));
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..12 {
            let all = vec![format!("*a{}", i - 1); 10].join(", ");
            bomb.push_str(&format!("a{i}: &a{i} [{all}]\n"));
        }
        assert!(json(&bomb).unwrap_err().contains("more than"));
    }

    #[test]
    fn places_that_are_texts() {
        let texts: &[&[&str]] = &[&["openapi"], &["info", "version"]];
        let json = to_json("openapi: 3.1\ninfo: {version: 1.10, x: 1.10}\n", texts).unwrap();
        assert_eq!(json, r#"{"openapi":"3.1","info":{"version":"1.10","x":1.10}}"#);
        assert_eq!(to_json("[1]", texts).unwrap(), "[1]");
        assert_eq!(to_json("openapi: [3]", texts).unwrap(), r#"{"openapi":[3]}"#);
    }
}
