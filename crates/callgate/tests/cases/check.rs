//! Comparing what came about with what a case states.

use callgate_contract::{Executed, Fault, Violation, document::Document};
use serde_json::{Value, json};

use crate::{Verdict, play::Played};

/// Fails unless the two are equal.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, want: &T) -> Verdict {
    if got == want { Ok(()) } else { Err(format!("{what}: want {want:?}, got {got:?}")) }
}

/// Fails on a word that nobody asserts.
pub(crate) fn known(object: &Value, words: &[&str], place: &str) -> Verdict {
    let members = object.as_object().ok_or_else(|| format!("{place} is no object"))?;
    match members.keys().find(|key| !words.contains(&key.as_str())) {
        Some(key) => Err(format!("{place} has {key:?}, which this test does not know")),
        None => Ok(()),
    }
}

/// JSON text without insignificant white space, every digit kept.
pub(crate) fn compact(text: &str) -> Result<String, String> {
    let doc = Document::parse(text).map_err(|e| format!("{text:?} is no JSON: {e:?}"))?;
    let mut out = String::new();
    let mut in_string = false;
    let mut escaped = false;
    for c in doc.root().raw().chars() {
        if in_string || !c.is_ascii_whitespace() {
            out.push(c);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ => {}
        }
    }
    Ok(out)
}

/// JSON texts, white space aside.
pub(crate) fn same_json(what: &str, got: &str, want: &Value) -> Verdict {
    let want = want.as_str().ok_or_else(|| format!("{what} is no text"))?;
    same(what, &compact(got)?, &compact(want)?)
}

/// `"*"` stands for any text.
pub(crate) fn fits(got: &str, want: &str) -> bool {
    want == "*" || got == want
}

pub(crate) fn texts(list: &Value) -> Result<Vec<String>, String> {
    let items = list.as_array().ok_or_else(|| format!("{list} is no list"))?;
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| format!("{item} is no text")))
        .collect()
}

pub(crate) fn executed(got: Executed, want: &Value) -> Verdict {
    same("executed", &json!(got), want)
}

/// Everything that a case may state of an error.
const WORDS: &[&str] = &[
    "class",
    "path",
    "offset",
    "reason",
    "retryable",
    "values",
    "got",
    "keyword",
    "expected",
    "property",
    "unexpected",
    "suggestion",
    "branch",
    "sent",
    "name",
    "available",
    "count",
    "provider_type",
    "max_retries",
];

/// Of a violation rather than of the fault as a whole.
const OF_VIOLATION: &[&str] =
    &["path", "keyword", "expected", "got", "property", "unexpected", "suggestion", "branch"];

/// A fault as its case states it. `name` is the call's.
pub(crate) fn fault(got: &Fault, name: &str, want: &Value) -> Verdict {
    known(want, WORDS, "error")?;
    let want = want.as_object().ok_or("error is no object")?;
    let by_schema = want.contains_key("keyword")
        || want.get("class").is_some_and(|c| c == "schema_mismatch" || c == "output_mismatch");
    let mut of_violation = serde_json::Map::new();
    for (word, value) in want {
        if by_schema && OF_VIOLATION.contains(&word.as_str()) {
            of_violation.insert(word.clone(), value.clone());
            continue;
        }
        match word.as_str() {
            "class" => same(word, &json!(got.kind), value)?,
            "path" => same(word, &json!(got.path.as_deref().unwrap_or_default()), value)?,
            "offset" => same(word, &json!(got.offset), value)?,
            "reason" => same(word, &json!(got.reason), value)?,
            "retryable" => same(word, &json!(got.retryable), value)?,
            "values" => same(word, &json!(got.values), value)?,
            "got" => same(word, &json!(got.got), value)?,
            "suggestion" => same(word, &json!(got.suggestion), value)?,
            "name" => {
                same(word, &json!(name), value)?;
                if !got.message.contains(name) {
                    return Err(format!("the message does not name {name:?}: {}", got.message));
                }
            }
            "available" => {
                // A set: the order is the catalog's.
                let (mut have, mut want) = (got.available.clone(), texts(value)?);
                have.sort();
                want.sort();
                same(word, &have, &want)?;
            }
            "count" => {
                let count = format!(" {value} times");
                if !got.message.contains(&count) {
                    return Err(format!("the message does not say{count}: {}", got.message));
                }
            }
            "sent" => {
                let sent = got.message.split("Sent was: ").nth(1).unwrap_or_default();
                let sent: Value = serde_json::from_str(sent).map_err(|_| {
                    format!("the message does not show what was sent: {}", got.message)
                })?;
                same(word, &sent, value)?;
            }
            other => return Err(format!("{other:?} is nothing that this error tells")),
        }
    }
    if of_violation.is_empty() {
        return Ok(());
    }
    let shown: Vec<Value> = got.violations.iter().map(shown).collect();
    let fits =
        |shown: &Value| of_violation.iter().all(|(word, want)| shown.get(word) == Some(want));
    if shown.iter().any(fits) {
        return Ok(());
    }
    Err(format!("violations: want {}, got {}", Value::Object(of_violation), json!(shown)))
}

fn shown(violation: &Violation) -> Value {
    let mut value = json!(violation);
    if violation.keyword == "type" && violation.got.is_null() {
        value["got"] = json!("null");
    }
    value
}

/// Words kept out of the text for the model.
pub(crate) fn told(expected: &Value, played: &Played) -> Verdict {
    let Some(forbidden) = expected.get("message_must_not_contain") else { return Ok(()) };
    for word in texts(forbidden)? {
        for (name, text) in played.results() {
            if text.contains(&word) {
                return Err(format!("the model is told {word:?} about {name}: {text}"));
            }
        }
    }
    Ok(())
}

/// `history_pairs`: the calls answered, in order.
pub(crate) fn pairs(played: &Played, want: &Value) -> Verdict {
    let got = played.results();
    let want = want.as_array().ok_or("history_pairs is no list")?;
    let fits = got.len() == want.len()
        && got.iter().zip(want).all(|((name, text), pair)| {
            pair[0].as_str().is_some_and(|want| fits(name, want))
                && pair[1].as_str().is_some_and(|want| fits(text, want))
        });
    if fits { Ok(()) } else { Err(format!("history_pairs: want {}, got {got:?}", json!(want))) }
}
