//! Values from the environment, and keeping them from showing.
//!
//! A contract names a secret as `${NAME}`; it is looked up at the moment of use, inside the
//! backend, and every text that leaves the backend has it replaced by its name again (law 9).
//!
//! Two strengths of masking. What people and models read *about* a call (messages, wire, raw
//! bodies) has every resolved value replaced. A tool's own successful output is only changed where
//! a credential would show: a base URL, a path or a number that came from the environment is
//! ordinary data there, and a link in a result should stay a link.

use std::{borrow::Cow, sync::Arc};

use url::Url;

/// Looks up an environment variable. Injected, so that tests and hosts decide what is visible.
pub type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The environment of this process.
pub fn process_env() -> Env {
    Arc::new(|name| std::env::var(name).ok())
}

/// Below this a value is too common a string to look for in a message.
const SHORTEST: usize = 4;
/// Below this a value is too common a string to look for in an output.
const SHORTEST_IN_OUTPUT: usize = 8;

/// The values that one call resolved. Deliberately without `Debug`, `Serialize` or a getter.
#[derive(Default)]
pub(crate) struct Secrets {
    masks: Vec<Mask>,
}

struct Mask {
    value: String,
    shown: String,
    credential: bool,
}

impl Secrets {
    /// Remembers a resolved value in the spellings in which it could come back.
    pub(crate) fn keep(&mut self, name: &str, value: &str, credential: bool) {
        let shown = format!("${{{name}}}");
        let credential = credential && looks_like_a_credential(value);
        let json = serde_json::Value::from(value).to_string();
        let json = &json[1..json.len() - 1];
        for spelling in [value, json, &json.replace('/', "\\/"), &crate::http::encode(value)] {
            self.mask(spelling, &shown, credential);
        }
    }

    /// Remembers a text made from secrets, such as the Base64 of a user name and a password.
    pub(crate) fn mask(&mut self, value: &str, shown: &str, credential: bool) {
        if value.len() < SHORTEST || self.masks.iter().any(|m| m.value == value) {
            return;
        }
        self.masks.push(Mask { value: value.to_owned(), shown: shown.to_owned(), credential });
        // A secret that holds another one is replaced as a whole.
        self.masks.sort_by_key(|m| std::cmp::Reverse(m.value.len()));
    }

    /// For messages, wire and raw texts: every resolved value becomes its name.
    pub(crate) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replace(text, |_| true)
    }

    /// For a successful output: credentials become their names.
    pub(crate) fn scrub_output<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replace(text, |m| m.credential && m.value.len() >= SHORTEST_IN_OUTPUT)
    }

    fn replace<'t>(&self, text: &'t str, which: impl Fn(&Mask) -> bool) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for mask in self.masks.iter().filter(|m| which(m)) {
            if text.contains(&mask.value) {
                text = Cow::Owned(text.replace(&mask.value, &mask.shown));
            }
        }
        text
    }
}

fn looks_like_a_credential(value: &str) -> bool {
    let address = Url::parse(value).is_ok_and(|url| {
        url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
    });
    let path = value.starts_with('/') || value.starts_with("./");
    let number = value.parse::<f64>().is_ok();
    !(address || path || number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolved_values_become_their_names() {
        let mut secrets = Secrets::default();
        secrets.keep("TOKEN", "s3cr\"et/1", true);
        secrets.keep("BASE", "http://127.0.0.1:81", true);
        secrets.keep("PORT", "81", true);
        // text, in a message, in an output
        let rows = [
            ("Bearer s3cr\"et/1", "Bearer ${TOKEN}", "Bearer ${TOKEN}"),
            (r#"{"t":"s3cr\"et/1"}"#, r#"{"t":"${TOKEN}"}"#, r#"{"t":"${TOKEN}"}"#),
            (r#"{"t":"s3cr\"et\/1"}"#, r#"{"t":"${TOKEN}"}"#, r#"{"t":"${TOKEN}"}"#),
            ("?t=s3cr%22et%2F1", "?t=${TOKEN}", "?t=${TOKEN}"),
            ("http://127.0.0.1:81/x", "${BASE}/x", "http://127.0.0.1:81/x"),
            ("81 items", "81 items", "81 items"),
        ];
        for (text, message, output) in rows {
            assert_eq!(secrets.scrub(text), message);
            assert_eq!(secrets.scrub_output(text), output);
        }
    }

    #[test]
    fn a_secret_within_a_secret_leaves_no_rest() {
        let mut secrets = Secrets::default();
        secrets.keep("SHORT", "abcdefgh", true);
        secrets.keep("LONG", "abcdefgh-ijkl", true);
        assert_eq!(secrets.scrub("x abcdefgh-ijkl y abcdefgh"), "x ${LONG} y ${SHORT}");
    }
}
