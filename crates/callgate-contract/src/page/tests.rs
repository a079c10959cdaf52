//! Pages as a table of facts, and what holds for every reading from front to end.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(text: &str, select: Option<&str>, offset: usize, limit: Option<usize>) -> Page {
    page(text, Wanted { select, offset, limit }, 16 * 1024).unwrap()
}

#[test]
fn a_page_of_each_kind() {
    let text = r#"{"items": [{"id": 1.10}, {"id": 12345678901234567890}, {"id": 3}], "name": "Zoë \"Z\"", "n": null}"#;
    let ids = "$.items[*].id";
    for (select, offset, limit, unit, total, told, next) in [
        (None, 0, None, Unit::Members, 3, text, None),
        (None, 1, Some(1), Unit::Members, 3, r#"{"name": "Zoë \"Z\""}"#, Some(2)),
        (Some("$.items"), 0, Some(1), Unit::Elements, 3, r#"[{"id": 1.10}]"#, Some(1)),
        (
            Some("$.items"),
            1,
            None,
            Unit::Elements,
            3,
            r#"[{"id": 12345678901234567890}, {"id": 3}]"#,
            None,
        ),
        (Some(ids), 0, None, Unit::Values, 3, "[1.10, 12345678901234567890, 3]", None),
        (Some(ids), 2, None, Unit::Values, 3, "[3]", None),
        (
            Some("$.items[?@.id > 2].id"),
            0,
            Some(1),
            Unit::Values,
            2,
            "[12345678901234567890]",
            Some(1),
        ),
        (Some("$.items[0].id"), 0, None, Unit::Values, 1, "1.10", None),
        (Some("$.name"), 0, Some(3), Unit::Characters, 7, r#""Zoë""#, Some(3)),
        (Some("$.name"), 3, None, Unit::Characters, 7, r#"" \"Z\"""#, None),
        (Some("$.n"), 0, None, Unit::Values, 1, "null", None),
    ] {
        let page = read(text, select, offset, limit);
        let what = format!("{select:?} {offset} {limit:?}");
        assert_eq!((page.unit, page.total, page.offset), (unit, total, offset), "{what}");
        assert_eq!((page.text.as_str(), page.next), (told, next), "{what}");
    }
    assert_eq!(read("[]", None, 0, None).text, "[]");
    assert_eq!(read("\"\"", None, 0, None).text, "\"\"");
}

#[test]
fn what_cannot_be_read() {
    let text = r#"{"items": [1, 2], "more": {}}"#;
    let error = |select, offset| {
        page(text, Wanted { select, offset, limit: None }, 4096).unwrap_err().to_string()
    };
    assert!(error(Some("items["), 0).starts_with("\"items[\" is no JSONPath: "));
    assert_eq!(
        error(Some("$.item"), 0),
        "\"$.item\" selects nothing; the result is an object with items, more"
    );
    assert_eq!(error(Some("$.items"), 2), "offset 2 is beyond the end: there are 2 elements");
    assert_eq!(error(None, 9), "offset 9 is beyond the end: there are 2 members");
}

#[test]
fn what_fits_on_no_page_stands_there_as_a_stub() {
    let long = "x".repeat(5000);
    let text = json!({"a's": [1, long, 2]}).to_string();
    let page =
        page(&text, Wanted { select: Some("$[\"a's\"]"), ..Wanted::default() }, 1000).unwrap();
    let told: Value = serde_json::from_str(&page.text).unwrap();
    assert_eq!(told[0], 1);
    assert_eq!(told[2], 2);
    let select = told[1]["tooLarge"]["select"].as_str().unwrap();
    assert_eq!(select, r"$['a\'s'][1]");
    assert_eq!(told[1]["tooLarge"]["is"], "a string of 5000 characters");
    let inside =
        super::page(&text, Wanted { select: Some(select), ..Wanted::default() }, 1000).unwrap();
    assert_eq!((inside.unit, inside.total), (Unit::Characters, 5000));
    assert!(inside.text.len() <= 1000 && inside.next.is_some());
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "[a-zäöü\"\\\\\n\u{1}😀]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-z/~'\\\\]{0,6}", inner, 0..8)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Reading on from page to page ends, keeps within the bytes, and brings everything, in order.
    #[test]
    fn pages_put_together_are_the_whole(value in json(), limit in prop::option::of(1usize..5)) {
        let text = value.to_string();
        let (mut whole, mut offset, mut pages) = (String::new(), 0, 0);
        let mut parts: Vec<Value> = Vec::new();
        let mut members = serde_json::Map::new();
        let total = loop {
            let page = page(&text, Wanted { select: None, offset, limit }, 512).unwrap();
            prop_assert!(page.text.len() <= 512 + 300, "{} bytes", page.text.len());
            match serde_json::from_str(&page.text).unwrap() {
                Value::Array(more) if page.unit == Unit::Elements => parts.extend(more),
                Value::Object(more) if page.unit == Unit::Members => members.extend(more),
                Value::String(more) if page.unit == Unit::Characters => whole.push_str(&more),
                other => parts.push(other),
            }
            pages += 1;
            match page.next {
                Some(next) => {
                    prop_assert!(next > offset, "it does not go on");
                    offset = next;
                }
                None => break page.total,
            }
        };
        prop_assert!(pages <= total.max(1));
        // Stubs stand for parts that are larger than a page.
        let fits = |v: &Value| v.to_string().len() < 200;
        match &value {
            Value::String(letters) => prop_assert_eq!(&whole, letters),
            Value::Array(all) => {
                prop_assert_eq!(parts.len(), all.len());
                for (part, own) in parts.iter().zip(all).filter(|(_, own)| fits(own)) {
                    prop_assert_eq!(part, own);
                }
            }
            Value::Object(all) => {
                prop_assert_eq!(members.len(), all.len());
                for (name, own) in all.iter().filter(|(_, own)| fits(own)) {
                    prop_assert_eq!(&members[name], own);
                }
            }
            other => prop_assert_eq!(&*parts, std::slice::from_ref(other)),
        }
    }

    /// A normalized path names what its pointer does.
    #[test]
    fn a_normalized_path_selects_what_the_pointer_names(value in json()) {
        let text = value.to_string();
        let doc = Document::parse(&text).unwrap();
        let every = JsonPath::parse("$..*").unwrap();
        for pointer in every.query_located(&value).locations().map(|l| l.to_json_pointer()) {
            let path = normalized(&doc, &pointer);
            let parsed = JsonPath::parse(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
            let found = parsed.query(&value).all();
            prop_assert_eq!(found, vec![value.pointer(&pointer).unwrap()], "{}", path);
        }
    }
}
