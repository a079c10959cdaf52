//! Lists and objects where JSON does not stand: the styles of OpenAPI 3.1.1 (4.8.12.2, and RFC 6570
//! under them).
//!
//! | style | `["a","b"]` | `{"r":1,"g":2}` |
//! |---|---|---|
//! | `form`, exploded | `n=a&n=b` | `r=1&g=2` |
//! | `form` | `n=a,b` | `n=r,1,g,2` |
//! | `spaceDelimited`, `pipeDelimited` | `n=a%20b`, `n=a%7Cb` | `n=r%201%20g%202` … |
//! | `deepObject` | `n[]=a&n[]=b` | `n[r]=1&n[g]=2` |
//! | `simple`; exploded | `a,b`; `a,b` | `r,1,g,2`; `r=1,g=2` |
//! | `label`; exploded | `.a,b`; `.a.b` | `.r,1,g,2`; `.r=1.g=2` |
//! | `matrix`; exploded | `;n=a,b`; `;n=a;n=b` | `;n=r,1,g,2`; `;r=1;g=2` |
//! | `json` | `["a","b"]` | `{"r":1,"g":2}` |
//!
//! - Numbers keep their digits. `null` counts as absent, also within lists and objects.
//! - OpenAPI leaves `deepObject` open below the first level. Objects in objects become `n[a][b]`,
//!   lists of scalars `n[a][]`, other lists `n[a][0][b]`: what PHP, Rack and `qs` read. In the other
//!   styles a list or object within another is written as its JSON.
//! - A value that holds the separator itself, where encoding does not tell the two apart, is refused:
//!   the service would read two values.

use schemars::JsonSchema;
use serde::Deserialize;

use super::fill::Unfilled;
use crate::arguments::{as_text, items, members};

/// How a list or an object is written. See `docs/import.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Style {
    /// `n=a&n=b`, or with `explode: false` `n=a,b`.
    Form,
    /// `n=a%20b`.
    SpaceDelimited,
    /// `n=a%7Cb`.
    PipeDelimited,
    /// `n[r]=1&n[g]=2`.
    DeepObject,
    /// `a,b`: paths and headers.
    Simple,
    /// `.a.b`: paths.
    Label,
    /// `;n=a;n=b`: paths.
    Matrix,
    /// The value's JSON, strings with their quotes.
    Json,
}

impl Style {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::SpaceDelimited => "spaceDelimited",
            Self::PipeDelimited => "pipeDelimited",
            Self::DeepObject => "deepObject",
            Self::Simple => "simple",
            Self::Label => "label",
            Self::Matrix => "matrix",
            Self::Json => "json",
        }
    }
}

/// A style with its `explode` decided: of `form` it is the default, of the others it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct How {
    pub(crate) style: Style,
    pub(crate) explode: bool,
}

impl How {
    pub(crate) fn new(style: Style, explode: Option<bool>) -> Self {
        Self { style, explode: explode.unwrap_or(style == Style::Form) }
    }
}

/// How characters are made harmless where a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// Percent-encoded: URLs and forms.
    Percent,
    /// As they are: headers, cookies and parts of a multipart body.
    None,
}

impl Escape {
    pub(crate) fn text(self, text: &str) -> String {
        match self {
            Self::Percent => super::encode(text),
            Self::None => text.to_owned(),
        }
    }
}

enum Shape<'a> {
    Scalar(&'a str),
    List(Vec<&'a str>),
    Object(Vec<(String, &'a str)>),
}

fn shape(json: &str) -> Shape<'_> {
    let is_there = |json: &&str| json.trim() != "null";
    match json.trim_start().as_bytes().first() {
        Some(b'[') => match items(json) {
            Some(items) => Shape::List(items.into_iter().filter(is_there).collect()),
            None => Shape::Scalar(json),
        },
        Some(b'{') => match members(json) {
            Some(all) => Shape::Object(all.into_iter().filter(|(_, v)| is_there(v)).collect()),
            None => Shape::Scalar(json),
        },
        _ => Shape::Scalar(json),
    }
}

/// Whether nothing of a value is left outside of JSON.
pub(crate) fn is_empty(json: &str) -> bool {
    match shape(json) {
        Shape::Scalar(_) => false,
        Shape::List(items) => items.is_empty(),
        Shape::Object(members) => members.is_empty(),
    }
}

/// The fields of a query or form that a value becomes: names as they are, values escaped. `None`
/// for `how`: a list is repeated, anything else is one text.
pub(crate) fn fields(
    name: &str,
    json: &str,
    how: Option<How>,
    escape: Escape,
) -> Result<Vec<(String, String)>, Unfilled> {
    let text = |json: &str| escape.text(&as_text(json));
    let one = |value: String| Ok(vec![(name.to_owned(), value)]);
    let Some(how) = how else {
        return Ok(match shape(json) {
            Shape::List(items) => items.iter().map(|i| (name.to_owned(), text(i))).collect(),
            _ => vec![(name.to_owned(), text(json))],
        });
    };
    match (how.style, shape(json)) {
        (Style::Json, _) => one(escape.text(json.trim())),
        (Style::DeepObject, _) => {
            let mut out = Vec::new();
            deep(name.to_owned(), json, escape, &mut out);
            Ok(out)
        }
        (_, Shape::Scalar(json)) => one(text(json)),
        (_, Shape::List(items)) if how.explode => {
            Ok(items.iter().map(|item| (name.to_owned(), text(item))).collect())
        }
        (_, Shape::Object(members)) if how.explode => {
            Ok(members.into_iter().map(|(member, json)| (member, text(json))).collect())
        }
        (style, shape) => {
            let separator = match style {
                Style::SpaceDelimited => " ",
                Style::PipeDelimited => "|",
                _ => ",",
            };
            let flat = flat(shape);
            // Nothing is to be sent of nothing.
            if flat.is_empty() { Ok(Vec::new()) } else { one(joined(&flat, separator, escape)?) }
        }
    }
}

/// A value in a path or a header. `name` is what `matrix` writes.
pub(crate) fn text(name: &str, json: &str, how: How, escape: Escape) -> Result<String, Unfilled> {
    let (first, between) = match how.style {
        Style::Json => return Ok(escape.text(json.trim())),
        Style::Label => (".", if how.explode { "." } else { "," }),
        Style::Matrix => (";", if how.explode { ";" } else { "," }),
        _ => ("", ","),
    };
    let named = |value: &str| match how.style {
        Style::Matrix => format!("{}={value}", escape.text(name)),
        _ => value.to_owned(),
    };
    let body = match shape(json) {
        Shape::Scalar(json) => named(&escape.text(&as_text(json))),
        Shape::List(items) if how.explode && how.style == Style::Matrix => {
            let all = items.iter().map(|item| named(&escape.text(&as_text(item))));
            all.collect::<Vec<_>>().join(between)
        }
        Shape::Object(members) if how.explode => {
            let mut all = Vec::new();
            for (member, json) in members {
                let (member, value) = (member, as_text(json));
                told_apart(&member, "=", escape)?;
                told_apart(&member, between, escape)?;
                told_apart(&value, between, escape)?;
                all.push(format!("{}={}", escape.text(&member), escape.text(&value)));
            }
            all.join(between)
        }
        shape => named(&joined(&flat(shape), between, escape)?),
    };
    Ok(format!("{first}{body}"))
}

/// A list's items, or an object's names and values in turn.
fn flat(shape: Shape<'_>) -> Vec<String> {
    match shape {
        Shape::Scalar(json) => vec![as_text(json).into_owned()],
        Shape::List(items) => items.iter().map(|item| as_text(item).into_owned()).collect(),
        Shape::Object(members) => members
            .into_iter()
            .flat_map(|(name, json)| [name, as_text(json).into_owned()])
            .collect(),
    }
}

fn joined(values: &[String], separator: &'static str, escape: Escape) -> Result<String, Unfilled> {
    if values.len() > 1 {
        values.iter().try_for_each(|value| told_apart(value, separator, escape))?;
    }
    // RFC 6570 writes commas as they are; blanks and bars no URL takes.
    let between = if separator == "," { separator.to_owned() } else { escape.text(separator) };
    let values: Vec<String> = values.iter().map(|value| escape.text(value)).collect();
    Ok(values.join(&between))
}

/// Refuses a value in which a separator could not be told from its own characters.
fn told_apart(value: &str, separator: &'static str, escape: Escape) -> Result<(), Unfilled> {
    let is_escaped = escape == Escape::Percent && matches!(separator, "," | ";" | "=");
    if is_escaped || !value.contains(separator) {
        return Ok(());
    }
    Err(Unfilled::Separator { value: value.to_owned(), separator })
}

fn deep(name: String, json: &str, escape: Escape, out: &mut Vec<(String, String)>) {
    match shape(json) {
        Shape::Scalar(json) => out.push((name, escape.text(&as_text(json)))),
        Shape::Object(members) => {
            for (member, json) in members {
                deep(format!("{name}[{member}]"), json, escape, out);
            }
        }
        Shape::List(items) => {
            let scalars = items.iter().all(|item| matches!(shape(item), Shape::Scalar(_)));
            for (i, item) in items.iter().enumerate() {
                let name = match scalars {
                    true if name.ends_with("[]") => name.clone(),
                    true => format!("{name}[]"),
                    false => format!("{}[{i}]", name.trim_end_matches("[]")),
                };
                deep(name, item, escape, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"["a b", 1.10, "c,d"]"#;
    const OBJECT: &str = r#"{"r": 100, "g": null, "b x": "y&z"}"#;

    fn in_query(json: &str, style: Style, explode: bool) -> Result<String, Unfilled> {
        let how = How { style, explode };
        let pairs = fields("n", json, Some(how), Escape::Percent)?;
        Ok(pairs.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join("&"))
    }

    #[test]
    fn fields_of_queries_and_forms() {
        use Style::{DeepObject, Form, Json, PipeDelimited, SpaceDelimited};
        let deep = r#"{"a": {"b": [1, 2]}, "l": [{"x": 1}, {"x": [2.0]}], "e": [], "s": ""}"#;
        let rows = [
            (LIST, Form, true, "n=a%20b&n=1.10&n=c%2Cd"),
            (LIST, Form, false, "n=a%20b,1.10,c%2Cd"),
            (LIST, PipeDelimited, false, "n=a%20b%7C1.10%7Cc%2Cd"),
            (r#"["a", "b"]"#, SpaceDelimited, false, "n=a%20b"),
            (r#"["a", "b"]"#, SpaceDelimited, true, "n=a&n=b"),
            (OBJECT, Form, true, "r=100&b x=y%26z"),
            (OBJECT, Form, false, "n=r,100,b%20x,y%26z"),
            (OBJECT, PipeDelimited, false, "n=r%7C100%7Cb%20x%7Cy%26z"),
            (OBJECT, DeepObject, true, "n[r]=100&n[b x]=y%26z"),
            (LIST, DeepObject, true, "n[]=a%20b&n[]=1.10&n[]=c%2Cd"),
            (deep, DeepObject, true, "n[a][b][]=1&n[a][b][]=2&n[l][0][x]=1&n[l][1][x][]=2.0&n[s]="),
            (r#""a""#, DeepObject, true, "n=a"),
            (r#""a""#, Form, false, "n=a"),
            (r#""a""#, Json, false, "n=%22a%22"),
            ("[]", Form, false, ""),
            (r#"[{"x":1}]"#, Form, true, "n=%7B%22x%22%3A1%7D"),
        ];
        for (json, style, explode, expected) in rows {
            assert_eq!(in_query(json, style, explode).unwrap(), expected, "{json} {style:?}");
        }
        let refused = in_query(LIST, SpaceDelimited, false).unwrap_err();
        assert_eq!(refused, Unfilled::Separator { value: "a b".into(), separator: " " });
        let pairs = fields("x[]", r#"["a"]"#, Some(How::new(DeepObject, None)), Escape::None);
        assert_eq!(pairs.unwrap(), [("x[]".to_owned(), "a".to_owned())]);
    }

    #[test]
    fn texts_of_paths_and_headers() {
        use Style::{Label, Matrix, Simple};
        let list = r#"["blue", "black"]"#;
        let object = r#"{"R": 100, "G": 200}"#;
        // The table of RFC 6570 3.2.5 to 3.2.8 and OpenAPI 4.8.12.4.
        let rows = [
            (r#""blue""#, Simple, false, "blue"),
            (list, Simple, false, "blue,black"),
            (list, Simple, true, "blue,black"),
            (object, Simple, false, "R,100,G,200"),
            (object, Simple, true, "R=100,G=200"),
            (r#""blue""#, Label, false, ".blue"),
            (list, Label, false, ".blue,black"),
            (list, Label, true, ".blue.black"),
            (object, Label, false, ".R,100,G,200"),
            (object, Label, true, ".R=100.G=200"),
            (r#""blue""#, Matrix, false, ";n=blue"),
            (list, Matrix, false, ";n=blue,black"),
            (list, Matrix, true, ";n=blue;n=black"),
            (object, Matrix, false, ";n=R,100,G,200"),
            (object, Matrix, true, ";R=100;G=200"),
            (r#"["a/b", "c,d"]"#, Simple, false, "a%2Fb,c%2Cd"),
        ];
        for (json, style, explode, expected) in rows {
            let got = text("n", json, How { style, explode }, Escape::Percent).unwrap();
            assert_eq!(got, expected, "{json} {style:?}");
        }
        let simple = How::new(Simple, None);
        assert!(text("n", r#"["a,b", "c"]"#, simple, Escape::None).is_err());
        assert!(text("n", r#"["a.b"]"#, How::new(Label, Some(true)), Escape::Percent).is_ok());
        assert!(
            text("n", r#"["a.b", "c"]"#, How::new(Label, Some(true)), Escape::Percent).is_err()
        );
    }
}
