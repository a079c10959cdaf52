//! Both paths give the same.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json, value::RawValue};

use super::*;

/// Texts that are JSON, and near misses.
const TEXTS: [&str; 58] = [
    r#""""#,
    r#""a""#,
    r#""é\n\"\\\/\b\f\r\t""#,
    r#""\u00e9\ud83d\ude00""#,
    r#""\ud83d""#,
    r#""\ude00""#,
    r#""\ud83dx""#,
    r#""\ud83d\u0041""#,
    r#""\u12g4""#,
    r#""\x""#,
    "\"\n\"",
    r#""open"#,
    r#""\"#,
    "\"\\u+123\"",
    "0",
    "-0",
    "00",
    "01",
    "1",
    "-1",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1.0",
    "1.",
    ".5",
    "1e3",
    "1E-3",
    "1e",
    "-",
    "+1",
    "nul",
    "null",
    "true",
    "false",
    "truee",
    "tru",
    "[]",
    "[1]",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1,[2,[3]]]",
    "{}",
    r#"{"a":1}"#,
    r#"{"a":1,}"#,
    r#"{,"a":1}"#,
    r#"{"a" 1}"#,
    r#"{"a"}"#,
    r#"{a:1}"#,
    r#"{"a":1 "b":2}"#,
    r#" { "a" : [ 1 , null ] , "b" : { } } "#,
    r#"{"a":1,"a":2}"#,
    "[1}",
    "{]",
    "1 2",
    "",
    " ",
];

#[derive(Debug, PartialEq, Deserialize)]
struct Shape<'a> {
    #[serde(borrow)]
    a: Option<std::borrow::Cow<'a, str>>,
    n: Option<u32>,
    signed: Option<i64>,
    flag: Option<bool>,
    list: Option<Vec<String>>,
    map: Option<BTreeMap<String, u8>>,
    word: Option<Word>,
    any: Option<Value>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    One,
    #[serde(other)]
    Other,
}

fn same<'a, T: Deserialize<'a> + PartialEq + fmt::Debug>(text: &'a str) {
    let expected = serde_json::from_str::<T>(text);
    if let Ok(plain) = read::whole::<T>(text) {
        assert_eq!(Some(&plain), expected.as_ref().ok(), "{text}");
    }
    let told = |result: &Result<T, serde_json::Error>| format!("{result:?}");
    assert_eq!(told(&from_str::<T>(text)), told(&expected), "{text}");
}

fn reads(text: &str) {
    same::<Value>(text);
    same::<String>(text);
    same::<u64>(text);
    same::<Option<bool>>(text);
    same::<Vec<Option<i32>>>(text);
    same::<BTreeMap<String, Value>>(text);
    same::<Shape<'_>>(text);
    let raw = |raw: Result<&RawValue, serde_json::Error>| raw.ok().map(|raw| raw.get().to_owned());
    assert_eq!(raw(from_str(text)), raw(serde_json::from_str(text)), "{text}");
    let raw = read::whole::<&RawValue>(text).ok().map(|raw| raw.get().to_owned());
    let expected = serde_json::from_str::<&RawValue>(text).ok().map(|raw| raw.get().to_owned());
    assert!(raw.is_none() || raw == expected, "{text}");
    let is = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    assert_eq!(is_json(text), is, "{text}");
    if let Some(said) = string(text) {
        assert_eq!(said, serde_json::from_str::<String>(text).unwrap(), "{text}");
    }
}

#[test]
fn reads_what_serde_json_reads() {
    for text in TEXTS {
        reads(text);
        reads(&format!("[{text}]"));
        reads(&format!(r#"{{"a":{text},"any":{text}}}"#));
        reads(&format!(r#"{{"n":{text},"list":{text},"word":{text}}}"#));
    }
    for depth in [90, 120, 200] {
        reads(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        reads(&"[".repeat(depth));
    }
}

/// Were `serde_json` to ask for raw values by another name, all would still be right, and slow.
#[test]
fn raw_values_are_plain() {
    let text = r#"{"a": [1.50, "\u00e9"] }"#;
    let raws: BTreeMap<String, &RawValue> = read::whole(text).unwrap();
    assert_eq!(raws["a"].get(), r#"[1.50, "\u00e9"]"#);
    let mut out = Vec::new();
    write::whole(&mut out, &raws).unwrap();
    assert_eq!(out, r#"{"a":[1.50, "\u00e9"]}"#.as_bytes());
}

fn value() -> impl Strategy<Value = Value> {
    let text = r#"[ -~é😀\n\x00\x1f"\\]{0,20}"#;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e6..1e6).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text, inner, 0..5).prop_map(|map| json!(map)),
        ]
    })
}

#[derive(Serialize)]
struct Written<'a> {
    value: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    none: Option<u8>,
    word: Word,
    unit: (),
    pair: (u8, f32),
    shown: Shown<'a>,
    tagged: Tagged<'a>,
    outside: Outside<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tagged<'a> {
    Some { value: &'a Value },
}

#[derive(Serialize)]
enum Outside<'a> {
    Struct { value: &'a Value },
    New(&'a Value),
    Tuple(u8, &'a Value),
}

struct Shown<'a>(&'a Value);

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("<{}>", self.0))
    }
}

proptest! {
    #[test]
    fn writes_and_reads_as_serde_json_does(value in value(), cut in 0usize..60, bad in any::<char>()) {
        for outside in [
            Outside::Struct { value: &value },
            Outside::New(&value),
            Outside::Tuple(1, &value),
        ] {
            let written = Written {
                value: &value,
                none: None,
                word: Word::One,
                unit: (),
                pair: (7, 0.25),
                shown: Shown(&value),
                tagged: Tagged::Some { value: &value },
                outside,
            };
            let mut plain = Vec::new();
            prop_assert!(write::whole(&mut plain, &written).is_ok());
            prop_assert_eq!(plain, serde_json::to_vec(&written).unwrap());
        }
        let text = to_string(&value);
        reads(&text);
        reads(&serde_json::to_string_pretty(&value).unwrap());
        let mut cut = cut.min(text.len());
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        reads(&text[..cut]);
        reads(&format!("{}{bad}{}", &text[..cut], &text[cut..]));
    }

    #[test]
    fn keys_that_are_no_strings_are_spelled(map in prop::collection::btree_map(any::<u8>(), any::<bool>(), 0..4)) {
        prop_assert_eq!(to_string(&map), serde_json::to_string(&map).unwrap());
    }
}
