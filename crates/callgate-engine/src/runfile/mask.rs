//! Values that must not leave the house.

use std::{borrow::Cow, collections::BTreeSet};

/// Below this a value is too common a string to look for.
const SHORTEST: usize = 4;

/// The names of variables that a text has as `${NAME}` and as `${NAME:-default}`.
pub fn variables(text: &str, names: &mut BTreeSet<String>) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for part in text.split("${").skip(1) {
        let name: String = part.chars().take_while(|c| is_name(*c)).collect();
        let rest = &part[name.len()..];
        if !name.is_empty() && (rest.starts_with('}') || rest.starts_with(":-")) {
            names.insert(name);
        }
    }
}

/// Secret values and the names that stand in for them.
///
/// A value is found in JSON strings, keys among them, in these spellings: as it is, as JSON text
/// (also within JSON text in a string, as arguments are), and percent-encoded. Not found is what a
/// tool made of it: a Base64 of a user name and a password, a hash. Deliberately without `Debug`.
#[derive(Default)]
pub struct Mask {
    names: Vec<String>,
    too_short: Vec<String>,
    /// What is looked for and what takes its place, as they stand inside a JSON string.
    spellings: Vec<(String, String)>,
}

impl Mask {
    /// Nothing is masked.
    pub fn none() -> Self {
        Self::default()
    }

    /// The values of variables, where they are set.
    pub fn of_env<N: AsRef<str>>(
        names: impl IntoIterator<Item = N>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let mut mask = Self::default();
        for name in names {
            if let Some(value) = env(name.as_ref()) {
                mask.hide(name.as_ref(), &value);
            }
        }
        mask
    }

    /// Hides a value: `${NAME}` will stand in its place. A value of fewer than four bytes is not
    /// looked for; [`too_short`](Self::too_short) has its name then.
    pub fn hide(&mut self, name: &str, value: &str) {
        if value.len() < SHORTEST {
            self.too_short.push(name.to_owned());
            return;
        }
        self.names.push(name.to_owned());
        let shown = format!("${{{name}}}");
        let once = escaped(value);
        let slashes = once.replace('/', "\\/");
        let encoded = percent_encoded(value);
        for spelling in [
            value.to_owned(),
            escaped(&once),
            escaped(&slashes),
            escaped(&escaped(&once)),
            slashes,
            encoded.to_ascii_lowercase(),
            encoded,
            once,
        ] {
            // Inside a JSON string the stand-in needs no escape: names of variables have none.
            let found = self.spellings.iter().any(|(known, _)| *known == spelling);
            if spelling.len() >= SHORTEST && !found {
                self.spellings.push((spelling, escaped(&shown)));
            }
        }
        // A secret that holds another one is replaced as a whole.
        self.spellings.sort_by_key(|(spelling, _)| std::cmp::Reverse(spelling.len()));
    }

    /// The names of the values that are looked for.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The names whose values are too short to be looked for.
    pub fn too_short(&self) -> &[String] {
        &self.too_short
    }

    /// JSON with the values replaced, in its strings only: a number that happens to be one stays a
    /// number.
    pub fn apply<'t>(&self, json: &'t str) -> Cow<'t, str> {
        if !self.spellings.iter().any(|(spelling, _)| json.contains(spelling.as_str())) {
            return Cow::Borrowed(json);
        }
        let mut out = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(start) = rest.find('"') {
            let end = string_end(rest, start + 1);
            out.push_str(&rest[..=start]);
            out.push_str(&self.replaced(&rest[start + 1..end]));
            rest = &rest[end..];
            if !rest.is_empty() {
                out.push('"');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    fn replaced<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (spelling, shown) in &self.spellings {
            if text.contains(spelling.as_str()) {
                text = Cow::Owned(text.replace(spelling.as_str(), shown));
            }
        }
        text
    }
}

/// Where the string ends that begins at `from`: at its closing quote.
fn string_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// As it stands inside a JSON string.
fn escaped(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json[1..json.len() - 1].to_owned()
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_wherever_they_stand() {
        let mut mask = Mask::none();
        mask.hide("TOKEN", "s3cr\"et/1");
        mask.hide("PORT", "8080");
        mask.hide("PIN", "123");
        let rows = [
            (r#"{"a":"Bearer s3cr\"et/1"}"#, r#"{"a":"Bearer ${TOKEN}"}"#),
            (r#"{"a":"s3cr\"et\/1"}"#, r#"{"a":"${TOKEN}"}"#),
            (r#"{"a":"{\"t\":\"s3cr\\\"et/1\"}"}"#, r#"{"a":"{\"t\":\"${TOKEN}\"}"}"#),
            (r#"{"a":"?t=s3cr%22et%2F1&u"}"#, r#"{"a":"?t=${TOKEN}&u"}"#),
            (
                r#"{"s3cr\"et/1":["x","s3cr\"et/1s3cr\"et/1"]}"#,
                r#"{"${TOKEN}":["x","${TOKEN}${TOKEN}"]}"#,
            ),
            (r#"{"n":8080,"s":"at 8080","m":18080}"#, r#"{"n":8080,"s":"at ${PORT}","m":18080}"#),
            (r#"{"pin":"123","a":"\\"}"#, r#"{"pin":"123","a":"\\"}"#),
        ];
        for (line, masked) in rows {
            assert_eq!(mask.apply(line), masked);
            assert!(serde_json::from_str::<serde_json::Value>(masked).is_ok());
        }
        assert_eq!(mask.too_short(), ["PIN"]);
        assert_eq!(mask.names().collect::<Vec<_>>(), ["TOKEN", "PORT"]);
    }
}
