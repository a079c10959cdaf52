//! Messages of ours. One line each: JSON texts that pass through lose their line breaks.

use std::borrow::Cow;

use serde_json::value::RawValue;

/// Members of an object, as JSON texts.
#[derive(Debug, Clone, Default)]
pub(in crate::mcp) struct Members {
    text: String,
}

impl Members {
    pub(in crate::mcp) fn new() -> Self {
        Self::default()
    }

    /// A member whose value is JSON already.
    #[must_use]
    pub(in crate::mcp) fn raw(mut self, key: &str, json: &str) -> Self {
        self.push(key, json);
        self
    }

    /// A member that is a string.
    #[must_use]
    pub(in crate::mcp) fn string(self, key: &str, value: &str) -> Self {
        let json = quoted(value);
        self.raw(key, &json)
    }

    pub(in crate::mcp) fn push(&mut self, key: &str, json: &str) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        self.text.push_str(&quoted(key));
        self.text.push(':');
        self.text.push_str(&one_line(json));
    }

    /// These after ours.
    pub(in crate::mcp) fn append(&mut self, other: &Self) {
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push(',');
        }
        self.text.push_str(&other.text);
    }

    pub(in crate::mcp) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The object.
    pub(in crate::mcp) fn object(&self) -> String {
        format!("{{{}}}", self.text)
    }
}

pub(in crate::mcp) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, quoted(method))
}

pub(in crate::mcp) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":{},"params":{params}}}"#, quoted(method))
}

/// Our answer to a request of the server.
pub(in crate::mcp) fn response(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, one_line(id.get()), one_line(result))
}

/// Our refusal of a request of the server.
pub(in crate::mcp) fn refusal(id: &RawValue, code: i64, message: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":{}}}}}"#,
        one_line(id.get()),
        quoted(message)
    )
}

pub(in crate::mcp) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// JSON without line breaks. Within strings they are escaped, so these are white space.
fn one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) {
        Cow::Owned(json.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(json)
    }
}
