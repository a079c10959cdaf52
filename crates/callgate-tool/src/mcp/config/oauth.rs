//! What an HTTP server's `oauth` member says, as people write it.
//!
//! Nothing of it is needed for a server that lets clients register themselves.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    registry::{nearest, pointer_to},
    template::Template,
};

/// How to log in at an HTTP server, beyond what the server itself tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OAuthSettings {
    /// A client that was registered by hand.
    #[serde(default)]
    pub client_id: Option<String>,
    /// Its secret, `${VAR}` as a rule: looked up when it is used, never stored.
    #[serde(default)]
    pub client_secret: Option<String>,
    /// An https URL where a metadata document of this client is published (SEP-991).
    #[serde(default)]
    pub client_metadata_url: Option<String>,
    /// Scopes to ask for at the first login, instead of those that the server names.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The port of 127.0.0.1 that a login comes back to, where the client's registration names one;
    /// any free one otherwise.
    #[serde(default)]
    pub callback_port: Option<u16>,
}

/// What is wrong with it.
#[derive(Debug)]
pub(super) struct Fault {
    /// Where: a JSON Pointer into the member.
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

const KNOWN: [&str; 5] =
    ["callbackPort", "clientId", "clientMetadataUrl", "clientSecret", "scopes"];

impl OAuthSettings {
    pub(super) fn read(value: &Value) -> Result<Self, Fault> {
        let fault = |pointer: String, message: String, hint: Option<String>| Fault {
            pointer,
            message,
            hint,
        };
        let Value::Object(members) = value else {
            return Err(fault(String::new(), format!("expected an object, not {value}"), None));
        };
        if let Some(unknown) = members.keys().find(|name| !KNOWN.contains(&name.as_str())) {
            let hint = match nearest(unknown, KNOWN) {
                Some(near) => format!("Did you mean \"{near}\"?"),
                None => format!("Known are: {}.", KNOWN.join(", ")),
            };
            let message = format!("unknown field \"{unknown}\"");
            return Err(fault(pointer_to(unknown), message, Some(hint)));
        }
        let settings: Self = serde_path_to_error::deserialize(value).map_err(|error| {
            let pointer = error.path().iter().map(|segment| match segment {
                serde_path_to_error::Segment::Map { key } => pointer_to(key),
                serde_path_to_error::Segment::Seq { index } => format!("/{index}"),
                _ => String::new(),
            });
            fault(pointer.collect(), error.inner().to_string(), None)
        })?;
        if let Some(secret) = &settings.client_secret {
            let at = "/clientSecret".to_owned();
            if settings.client_id.is_none() {
                let hint = "Write the client's id beside it, or leave both out.";
                let message = "a secret without \"clientId\" is nobody's".to_owned();
                return Err(fault(at, message, Some(hint.to_owned())));
            }
            if let Err(error) = Template::parse_variables(secret) {
                return Err(fault(at, error.to_string(), None));
            }
        }
        if let Some(url) = &settings.client_metadata_url
            && !url.starts_with("https://")
        {
            let message = "a client metadata document is published at an https URL".to_owned();
            return Err(fault("/clientMetadataUrl".to_owned(), message, None));
        }
        if let Some(at) = settings.scopes.iter().position(|scope| !is_scope(scope)) {
            let message = "a scope is one word".to_owned();
            let hint = "Write each scope as a text of its own.".to_owned();
            return Err(fault(format!("/scopes/{at}"), message, Some(hint)));
        }
        Ok(settings)
    }
}

/// RFC 6749, section 3.3.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written() {
        let all = json!({
            "clientId": "c", "clientSecret": "${SECRET}", "scopes": ["a", "b:c"],
            "clientMetadataUrl": "https://h.example/client.json", "callbackPort": 8765,
        });
        let settings = OAuthSettings::read(&all).unwrap();
        assert_eq!(settings.client_secret.as_deref(), Some("${SECRET}"));
        assert_eq!((settings.scopes.len(), settings.callback_port), (2, Some(8765)));
        assert_eq!(OAuthSettings::read(&json!({})).unwrap(), OAuthSettings::default());
    }

    #[test]
    fn what_is_wrong() {
        let table = [
            (json!(true), "", "expected an object"),
            (json!({ "client_id": "c" }), "/client_id", "unknown field"),
            (json!({ "clientId": 7 }), "/clientId", "invalid type"),
            (json!({ "clientSecret": "s" }), "/clientSecret", "nobody's"),
            (json!({ "clientId": "c", "clientSecret": "${S" }), "/clientSecret", "does not end"),
            (json!({ "clientMetadataUrl": "http://h/" }), "/clientMetadataUrl", "https"),
            (json!({ "scopes": "a b" }), "/scopes", "invalid type"),
            (json!({ "scopes": ["a", "b c"] }), "/scopes/1", "one word"),
            (json!({ "callbackPort": 70000 }), "/callbackPort", "u16"),
        ];
        for (value, pointer, words) in table {
            let fault = OAuthSettings::read(&value).unwrap_err();
            assert_eq!(fault.pointer, pointer, "{value}");
            assert!(fault.message.contains(words), "{value}: {}", fault.message);
        }
    }
}
