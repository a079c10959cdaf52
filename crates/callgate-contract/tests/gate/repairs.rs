//! Repairs, from outside: JSON that was damaged in a known way comes back as what it was.

use callgate_contract::{Mode, Verdict, schema::Schema};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use crate::{admitted, arbitrary, judge};

/// The ways in which models write JSON that is none, without leaving open what is meant.
#[derive(Debug, Clone)]
enum Damage {
    TrailingCommas,
    SingleQuotes,
    PythonLiterals,
    BareKeys,
    Comments,
    RawControls,
    Fence(&'static str),
    Bom,
    TrailingText(&'static str),
    Repeated(usize),
}

impl Damage {
    fn name(&self) -> &'static str {
        match self {
            Self::TrailingCommas => "trailing_comma",
            Self::SingleQuotes => "single_quotes",
            Self::PythonLiterals => "python_literals",
            Self::BareKeys => "quote_keys",
            Self::Comments => "drop_comments",
            Self::RawControls => "escape_control_characters",
            Self::Fence(_) => "strip_code_fence",
            Self::Bom => "strip_bom",
            Self::TrailingText(_) => "drop_trailing_text",
            Self::Repeated(_) => "collapse_identical_values",
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::TrailingCommas),
        Just(Damage::SingleQuotes),
        Just(Damage::PythonLiterals),
        Just(Damage::BareKeys),
        Just(Damage::Comments),
        Just(Damage::RawControls),
        prop::sample::select(vec!["```json\n", "```\n", "```JSON\r\n", "```json5 "])
            .prop_map(Damage::Fence),
        Just(Damage::Bom),
        prop::sample::select(vec![" done", "}", "\n\nI called it.", "]}", "</tool_call>"])
            .prop_map(Damage::TrailingText),
        (1usize..4).prop_map(Damage::Repeated),
    ]
}

struct Writer<'d>(&'d [Damage]);

impl Writer<'_> {
    fn has(&self, which: &Damage) -> bool {
        self.0.iter().any(|d| d.name() == which.name())
    }

    fn value(&self, value: &Value, out: &mut String) {
        match value {
            Value::Object(members) => {
                out.push('{');
                for (i, (name, value)) in members.iter().enumerate() {
                    self.separate(i, out);
                    let bare = name.starts_with(|c: char| c.is_ascii_alphabetic())
                        && name.chars().all(|c| c.is_ascii_alphanumeric());
                    if bare && self.has(&Damage::BareKeys) {
                        out.push_str(name);
                    } else {
                        self.string(name, out);
                    }
                    out.push_str(": ");
                    self.value(value, out);
                }
                self.close(members.is_empty(), out);
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    self.separate(i, out);
                    self.value(item, out);
                }
                self.close(items.is_empty(), out);
                out.push(']');
            }
            Value::String(text) => self.string(text, out),
            Value::Bool(true) if self.has(&Damage::PythonLiterals) => out.push_str("True"),
            Value::Bool(false) if self.has(&Damage::PythonLiterals) => out.push_str("False"),
            Value::Null if self.has(&Damage::PythonLiterals) => out.push_str("None"),
            other => out.push_str(&other.to_string()),
        }
    }

    fn separate(&self, i: usize, out: &mut String) {
        if i > 0 {
            out.push_str(", ");
        }
        if self.has(&Damage::Comments) {
            out.push_str(if i.is_multiple_of(2) { "/* \"note\": 1 */" } else { "// it's, {\n" });
        }
    }

    fn close(&self, is_empty: bool, out: &mut String) {
        if !is_empty && self.has(&Damage::TrailingCommas) {
            out.push_str(" ,\n");
        }
    }

    fn string(&self, text: &str, out: &mut String) {
        let quote = if self.has(&Damage::SingleQuotes) { '\'' } else { '"' };
        out.push(quote);
        for c in text.chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                c if c == quote => {
                    out.push('\\');
                    out.push(c);
                }
                c if c < ' ' && !self.has(&Damage::RawControls) => {
                    out.push_str(&format!("\\u{:04x}", c as u32));
                }
                c => out.push(c),
            }
        }
        out.push(quote);
    }

    fn text(&self, value: &Value) -> String {
        let mut one = String::new();
        self.value(value, &mut one);
        let mut text = one.clone();
        for damage in self.0 {
            match damage {
                Damage::Repeated(times) => text.push_str(&format!("\n{one}").repeat(*times)),
                Damage::TrailingText(more) => text.push_str(more),
                _ => {}
            }
        }
        for damage in self.0 {
            if let Damage::Fence(open) = damage {
                text = format!("{open}{text}\n```");
            }
        }
        if self.has(&Damage::Bom) {
            text.insert(0, '\u{feff}');
        }
        text
    }
}

fn anything() -> Schema {
    Schema::compile(json!({ "type": "object" })).unwrap()
}

/// Damages that go together: a text is repeated or followed by words, not both, and either alone
/// tells what came after the value.
fn damages() -> impl Strategy<Value = Vec<Damage>> {
    vec(damage(), 1..4).prop_map(|all| {
        let mut out: Vec<Damage> = Vec::new();
        for damage in all {
            let after = |d: &Damage| matches!(d, Damage::TrailingText(_) | Damage::Repeated(_));
            let twice = out.iter().any(|d| d.name() == damage.name());
            let clash = after(&damage) && out.iter().any(after);
            if !twice && !clash {
                out.push(damage);
            }
        }
        out
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn what_was_damaged_comes_back(value in arbitrary::object(), damages in damages()) {
        let schema = anything();
        let text = Writer(&damages).text(&value);
        // A fenced text with words after its value inside the fence is still one value.
        match judge(&schema, Mode::Lenient, &text) {
            Verdict::Admitted { arguments, adjustments } => {
                prop_assert_eq!(arguments.to_value(), value, "{}", text);
                let names: Vec<&str> = damages.iter().map(Damage::name).collect();
                for adjustment in &adjustments {
                    prop_assert!(names.contains(&&*adjustment.name), "{adjustment} in {text}");
                }
            }
            Verdict::Refused(fault) => prop_assert!(false, "{}: {}", fault.message, text),
        }
        // Strict mends nothing: what is admitted was no damage to begin with.
        if let Ok((same, mended)) = admitted(judge(&schema, Mode::Strict, &text)) {
            prop_assert_eq!((same, mended), (text, vec![]));
        }
    }

    #[test]
    fn what_is_json_is_not_looked_at(value in arbitrary::object(), pretty in any::<bool>(), space in "[ \n\r\t]{0,3}") {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let text = format!("{space}{text}{space}");
        for mode in [Mode::Strict, Mode::Lenient] {
            let (got, mended) = admitted(judge(&anything(), mode, &text)).unwrap();
            prop_assert_eq!((got.as_str(), mended.len()), (text.as_str(), 0));
        }
    }
}
