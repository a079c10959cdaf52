//! Credentials: never arguments, always references to the environment.
//!
//! | of the document | becomes |
//! |---|---|
//! | `http` bearer, `oauth2`, `openIdConnect` | `"auth": {"bearer": "${API_…}"}` |
//! | `http` basic | `"auth": {"basic": {…_USERNAME, …_PASSWORD}}` |
//! | `apiKey` in header, query or cookie | `${API_…}` there |
//! | a parameter that is a credential by its name | `${API_…}` there where it is required; else left out |
//!
//! Schemes that all want a token in the one `Authorization` header share it: the first has it.
//!
//! Of several alternatives the first that can be met counts, in the document's order; `{}` is met by
//! nothing. Digest and mutual TLS cannot be met. Names are made of the prefix and the scheme's name.

use serde_json::{Value, json};

use super::{
    Skip, Skipped, Variable,
    document::{At, Doc, Notes},
    parameters::{Parameter, Place, is_header_name},
};

/// Where one credential goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Credential {
    Bearer(String),
    Basic { username: String, password: String },
    Key { place: Place, name: String, variable: String },
}

/// What an operation's requests carry.
#[derive(Debug, Default)]
pub(super) struct Auth {
    pub(super) credentials: Vec<Credential>,
    pub(super) variables: Vec<Variable>,
}

impl Auth {
    /// The backend's `auth` member.
    pub(super) fn backend(&self) -> Option<Value> {
        self.credentials.iter().find_map(|credential| match credential {
            Credential::Bearer(variable) => Some(json!({ "bearer": reference(variable) })),
            Credential::Basic { username, password } => Some(json!({
                "basic": { "username": reference(username), "password": reference(password) }
            })),
            Credential::Key { .. } => None,
        })
    }

    /// The keys, where they go.
    pub(super) fn keys(&self) -> impl Iterator<Item = (Place, &str, String)> {
        self.credentials.iter().filter_map(|credential| match credential {
            Credential::Key { place, name, variable } => {
                Some((*place, name.as_str(), reference(variable)))
            }
            _ => None,
        })
    }

    /// Whether a parameter is one of the keys.
    pub(super) fn brings(&self, parameter: &Parameter<'_>) -> bool {
        self.keys().any(|(place, name, _)| {
            let exactly = place != Place::Header;
            place == parameter.place
                && if exactly {
                    name == parameter.name
                } else {
                    name.eq_ignore_ascii_case(parameter.name)
                }
        })
    }

    fn has_authorization(&self) -> bool {
        self.credentials.iter().any(|credential| match credential {
            Credential::Bearer(_) | Credential::Basic { .. } => true,
            Credential::Key { name, .. } => name.eq_ignore_ascii_case("authorization"),
        })
    }

    fn add(&mut self, credential: Credential, holds: &str) -> Result<Added, String> {
        let is_authorization = match &credential {
            Credential::Key { name, .. } => name.eq_ignore_ascii_case("authorization"),
            _ => true,
        };
        let shares = |earlier: &Credential| matches!(earlier, Credential::Bearer(_));
        if matches!(credential, Credential::Bearer(_)) && self.credentials.iter().any(shares) {
            return Ok(Added::Shared);
        }
        if is_authorization && self.has_authorization() {
            return Err("two of its schemes want the Authorization header".to_owned());
        }
        let mut variable = |name: &str, holds: String| {
            self.variables.push(Variable { name: name.to_owned(), holds });
        };
        match &credential {
            Credential::Bearer(name) => variable(name, format!("a token for {holds}")),
            Credential::Basic { username, password } => {
                variable(username, format!("the user name for {holds}"));
                variable(password, format!("the password for {holds}"));
            }
            Credential::Key { variable: name, .. } => {
                variable(name, format!("the key for {holds}"));
            }
        }
        self.credentials.push(credential);
        Ok(Added::Own)
    }
}

/// How a credential goes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Added {
    Own,
    /// As the token of an earlier one.
    Shared,
}

fn reference(variable: &str) -> String {
    format!("${{{variable}}}")
}

/// Names of parameters that are credentials, without `-`, `_` and `X-` and in small letters.
const CREDENTIALS: [&str; 16] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apisecret",
    "apitoken",
    "authorization",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "oauthtoken",
    "ocpapimsubscriptionkey",
    "proxyauthorization",
    "securitytoken",
    "sessiontoken",
    "subscriptionkey",
    "amzsecuritytoken",
];

/// Whether a parameter is a credential by its name.
pub(super) fn is_credential(parameter: &Parameter<'_>) -> bool {
    if parameter.place == Place::Path {
        return false;
    }
    let lower = parameter.name.to_ascii_lowercase();
    let plain: String = lower.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let plain =
        if lower.starts_with("x-") || lower.starts_with("x_") { &plain[1..] } else { &plain };
    CREDENTIALS.contains(&plain)
}

/// The credentials of an operation.
pub(super) fn of<'d>(
    doc: &Doc<'d>,
    operation: &At<'d>,
    parameters: &[Parameter<'d>],
    prefix: &str,
    notes: &mut Notes,
) -> Result<Auth, Skipped> {
    let root = doc.at_root();
    let security = operation.get("security").or_else(|| root.get("security"));
    let mut auth = Auth::default();
    if let Some(security) = security {
        let mut refused: Vec<String> = Vec::new();
        let mut met = None;
        for alternative in security.items() {
            match meet(doc, &alternative, prefix, notes) {
                Ok(auth) => {
                    met = Some(auth);
                    break;
                }
                Err(why) if refused.contains(&why) => {}
                Err(why) => refused.push(why),
            }
        }
        match met {
            Some(first) => auth = first,
            None if refused.is_empty() => {}
            None => return Err(security.skip(Skip::Security { why: refused.join("; ") })),
        }
    }
    for parameter in parameters {
        let name = parameter.name;
        let covered = auth
            .keys()
            .any(|(place, other, _)| place == parameter.place && other.eq_ignore_ascii_case(name))
            || (name.eq_ignore_ascii_case("authorization") && auth.has_authorization());
        let at = &*parameter.at.pointer;
        if covered {
            continue;
        }
        if !parameter.required {
            notes.add(at, format!("`{name}` is a credential, and optional: left out"));
            continue;
        }
        let variable = variable(prefix, name);
        notes.add(at, format!("`{name}` is a credential: taken from ${{{variable}}}"));
        let key = Credential::Key { place: parameter.place, name: name.to_owned(), variable };
        let holds = format!("the {} parameter `{name}`", parameter.place.name());
        // Two of one name differ in place only; the first has it.
        if auth.add(key, &holds).is_err() {
            notes.add(at, format!("`{name}` is given already: left out"));
        }
    }
    Ok(auth)
}

/// One alternative: all of its schemes.
fn meet<'d>(
    doc: &Doc<'d>,
    alternative: &At<'d>,
    prefix: &str,
    notes: &mut Notes,
) -> Result<Auth, String> {
    let mut auth = Auth::default();
    let schemes = doc.at_root().get("components").and_then(|c| c.get("securitySchemes"));
    for (name, at) in alternative.members() {
        let scheme = schemes.as_ref().and_then(|schemes| schemes.get(name));
        let Some(scheme) = scheme.and_then(|scheme| doc.resolve(scheme).ok()) else {
            notes.add(at.pointer, format!("the security scheme `{name}` is not defined: left out"));
            continue;
        };
        let (credential, holds) = read(&scheme, name, prefix)?;
        if auth.add(credential, &holds)? == Added::Shared {
            let message = format!(
                "`{name}` wants a token in the Authorization header as well: one is for both"
            );
            notes.add(scheme.pointer, message);
        }
    }
    Ok(auth)
}

fn read(scheme: &At<'_>, name: &str, prefix: &str) -> Result<(Credential, String), String> {
    let variable = variable(prefix, name);
    let kind = scheme.text("type").unwrap_or_default();
    let credential = match kind {
        "oauth2" | "openIdConnect" => Credential::Bearer(variable),
        "http" => match scheme.text("scheme").unwrap_or_default().to_ascii_lowercase().as_str() {
            "bearer" => Credential::Bearer(variable),
            "basic" => Credential::Basic {
                username: format!("{variable}_USERNAME"),
                password: format!("{variable}_PASSWORD"),
            },
            other => return Err(format!("`{name}` is HTTP {other}")),
        },
        "apiKey" => {
            let place = match scheme.text("in") {
                Some("query") => Place::Query,
                Some("cookie") => Place::Cookie,
                Some("header") => Place::Header,
                _ => return Err(format!("`{name}` does not say where its key goes")),
            };
            match scheme.text("name") {
                Some(key) if place == Place::Query || is_header_name(key) => {
                    Credential::Key { place, name: key.to_owned(), variable }
                }
                _ => return Err(format!("`{name}` has no name for its key")),
            }
        }
        other => {
            return Err(format!(
                "`{name}` is {}",
                if other.is_empty() { "of no type" } else { other }
            ));
        }
    };
    Ok((credential, format!("the security scheme `{name}` ({kind})")))
}

/// `bearerAuth` with `API`: `API_BEARER_AUTH`. What begins with the prefix stays: `API_KEY`.
pub(super) fn variable(prefix: &str, name: &str) -> String {
    let mut out = String::new();
    let mut small = false;
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && small {
                out.push('_');
            }
            small = c.is_ascii_lowercase() || c.is_ascii_digit();
            out.push(c.to_ascii_uppercase());
        } else {
            small = false;
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
        }
    }
    let out = out.trim_end_matches('_');
    match (prefix, out) {
        ("", "") => "CREDENTIAL".to_owned(),
        (_, "") => format!("{prefix}_CREDENTIAL"),
        ("", out) if out.starts_with(|c: char| c.is_ascii_digit()) => format!("_{out}"),
        ("", out) => out.to_owned(),
        (prefix, out) if out.starts_with(&format!("{prefix}_")) => out.to_owned(),
        (prefix, out) => format!("{prefix}_{out}"),
    }
}

#[cfg(test)]
mod tests {
    use super::variable;

    #[test]
    fn names_of_variables() {
        let rows = [
            ("bearerAuth", "API_BEARER_AUTH"),
            ("api_key", "API_KEY"),
            ("X-API-Key", "API_X_API_KEY"),
            ("OAuth2", "API_OAUTH2"),
            ("größe!", "API_GR_E"),
            ("", "API_CREDENTIAL"),
        ];
        for (name, expected) in rows {
            assert_eq!(variable("API", name), expected, "{name}");
        }
        assert_eq!(variable("STRIPE", "basicAuth"), "STRIPE_BASIC_AUTH");
    }
}
