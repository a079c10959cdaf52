//! The base URL of an operation.
//!
//! The nearest `servers` counts: the operation's, the path's, the document's; in it the first that
//! is an HTTP URL. Its variables get their defaults. A server without host (`/v1`, or none at all)
//! stands below `${API_BASE_URL}`.

use serde_json::Value;

use super::document::{At, Notes};

/// A base URL as a template text, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) text: String,
    /// Whether the environment has to say where it is.
    pub(super) from_env: bool,
}

/// `nearest` are the places where `servers` may stand, the nearest first.
pub(super) fn base(nearest: &[&At<'_>], variable: &str, notes: &mut Notes) -> Base {
    let from_env = |path: &str| Base {
        text: format!("${{{variable}}}{}", escape(path.trim_end_matches('/'))),
        from_env: true,
    };
    for place in nearest {
        let Some(servers) = place.get("servers") else { continue };
        let mut any = false;
        for server in servers.items() {
            any = true;
            let Some(url) = server.text("url") else { continue };
            let Some(url) = filled(url, &server) else {
                notes.add(&*server.pointer, "a variable of the server has no default: passed over");
                continue;
            };
            let lower = url.to_ascii_lowercase();
            let has_host = |rest: &str| !rest.is_empty() && !rest.starts_with('/');
            let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
            if url.contains(['?', '#']) || url.contains(char::is_whitespace) {
                notes.add(&*server.pointer, format!("\"{url}\" is no base URL: passed over"));
            } else if rest.is_some_and(has_host) {
                return Base { text: escape(url.trim_end_matches('/')), from_env: false };
            } else if url.starts_with("//") {
                return Base {
                    text: escape(&format!("https:{}", url.trim_end_matches('/'))),
                    from_env: false,
                };
            } else if lower.contains("://") {
                notes.add(&*server.pointer, format!("\"{url}\" is not HTTP: passed over"));
            } else {
                let path = url.trim_start_matches('.').trim_start_matches('/');
                let path = if path.is_empty() { String::new() } else { format!("/{path}") };
                return from_env(&path);
            }
        }
        if any {
            break;
        }
    }
    from_env("")
}

/// The URL with its variables' defaults.
fn filled(url: &str, server: &At<'_>) -> Option<String> {
    let mut out = String::new();
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        out.push_str(before);
        let variable = server.get("variables")?.get(name)?;
        match variable.value.get("default") {
            Some(Value::String(text)) => out.push_str(text),
            Some(Value::Number(number)) => out.push_str(&number.to_string()),
            _ => return None,
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// Text as it stands in a template of the http backend. `$` before a brace would begin a variable,
/// and in a URL `%24` is the same.
pub(super) fn escape(text: &str) -> String {
    text.replace('$', "%24").replace('{', "{{").replace('}', "}}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn urls() {
        let env = |path: &str| format!("${{API_BASE_URL}}{path}");
        let rows = [
            (json!([{"url": "https://a.example/v1/"}]), "https://a.example/v1".to_owned()),
            (
                json!([{"url": "wss://a.example"}, {"url": "http://b.example"}]),
                "http://b.example".to_owned(),
            ),
            (json!([{"url": "//a.example/x"}]), "https://a.example/x".to_owned()),
            (json!([{"url": "/"}]), env("")),
            (json!([{"url": "/api/v2/"}]), env("/api/v2")),
            (json!([{"url": "../v1"}]), env("/v1")),
            (json!([{"url": "api"}]), env("/api")),
            (json!([{"url": ""}]), env("")),
            (json!([]), env("")),
            (json!(null), env("")),
            (
                json!([{"url": "https://{region}.a.example:{port}", "variables": {
                "region": {"default": "eu"}, "port": {"default": 8443}}}]),
                "https://eu.a.example:8443".to_owned(),
            ),
            (json!([{"url": "https://{region}.a.example"}]), env("")),
            (json!([{"url": "{base}"}]), env("")),
            (json!([{"url": "https://a.example/{"}]), env("")),
            (json!([{"url": 5}, 7, {"url": "https://"}]), env("")),
        ];
        for (servers, expected) in rows {
            let value = json!({"servers": servers});
            let at = At { value: &value, pointer: String::new() };
            let got = base(&[&at], "API_BASE_URL", &mut Notes::default());
            assert_eq!(got.text, expected, "{servers}");
            assert_eq!(got.from_env, got.text.starts_with("${"), "{servers}");
        }
    }
}
