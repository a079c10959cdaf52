//! One text for equal values, to compare and to key caches by. Never what is sent.

use super::{Kind, NodeRef, number::canonical_number};

/// The same text for values that are the same: members sorted, numbers by value and with every
/// digit, so that two long ids never become one.
pub fn canonical(node: NodeRef<'_>) -> String {
    let mut out = String::new();
    write(node, &mut out);
    out
}

fn write(node: NodeRef<'_>, out: &mut String) {
    match node.kind() {
        Kind::Number => out.push_str(&canonical_number(node.raw())),
        Kind::String => out.push_str(&quoted(node.string().unwrap_or_default())),
        Kind::Array => {
            out.push('[');
            for (i, element) in node.elements().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(element, out);
            }
            out.push(']');
        }
        Kind::Object => {
            let mut members: Vec<_> = node.members().collect();
            members.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (i, (name, value)) in members.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&quoted(name));
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Kind::Null | Kind::True | Kind::False => out.push_str(node.raw()),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    #[test]
    fn equal_values_have_one_text_and_others_do_not() {
        let text = |json: &str| canonical(Document::parse(json).unwrap().root());
        for (a, b) in [
            (r#"{"a": 1, "b": [true, null]}"#, r#"{ "b":[true,null],"a":1.0 }"#),
            (r#""\u00e9\n""#, "\"é\\n\""),
            ("1e2", "100"),
            ("-0", "0"),
        ] {
            assert_eq!(text(a), text(b));
        }
        for (a, b) in [
            ("90071992547409930001", "90071992547409930002"),
            (r#""1""#, "1"),
            ("[1,2]", "[2,1]"),
            ("1e400", "1e401"),
        ] {
            assert_ne!(text(a), text(b));
        }
    }
}
