//! Edits: what is not edited keeps its bytes, and what is edited is what was asked for.

use callgate_contract::document::{Change, Document, Edits};
use proptest::prelude::*;
use serde_json::Value;

use crate::arbitrary;

/// Every pointer of a value.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let token = name.replace('~', "~0").replace('/', "~1");
                pointers(value, &format!("{at}/{token}"), out);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{i}"), out);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn only_the_edited_place_changes(
        value in arbitrary::object(),
        to in arbitrary::value(),
        at in any::<prop::sample::Index>(),
        pretty in any::<bool>(),
    ) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        let pointer = at.get(&all);
        let doc = Document::parse(&text).unwrap();
        let mut edits = Edits::default();
        edits.add(pointer.clone(), Change::Replace(to.to_string()));
        let edited = edits.apply(doc.root());

        let mut want = value.clone();
        *want.pointer_mut(pointer).unwrap() = to;
        prop_assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), want);
        let after = Document::parse(&edited).unwrap();
        for other in &all {
            let related = other.starts_with(pointer.as_str()) || pointer.starts_with(other.as_str());
            if !related {
                prop_assert_eq!(after.pointer(other).unwrap().raw(), doc.pointer(other).unwrap().raw());
            }
        }
    }

    #[test]
    fn nothing_edited_is_nothing_changed(value in arbitrary::value()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let doc = Document::parse(&text).unwrap();
        prop_assert_eq!(Edits::default().apply(doc.root()), text.as_str());
        prop_assert_eq!(doc.root().to_value(), value);
    }
}
