//! From a contract's `backend` object to the backend it describes.
//!
//! To add a kind is to add its file and its line in [`KINDS`].

mod error;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate_contract::Tool;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    Backend, Env, Function,
    a2a::{self, A2aBackendSpec},
    command::{self, CommandSpec},
    function::{self, FunctionSpec},
    guard::{Resolver, SystemResolver},
    http::{self, HttpBackendSpec},
    lock::{self, Cards, McpSpec, PinnedCard, Servers},
};

pub(crate) use error::pointer_to;
pub use error::{BackendError, Problem};

/// The kinds that are built in.
const KINDS: [Kind; 5] = [a2a::KIND, command::KIND, function::KIND, http::KIND, lock::KIND];

/// The `backend` object of a contract: what does the work.
///
/// This is the published form; [`Backends::build`] reads it kind by kind, so that a mistake is
/// told in the words of the kind that was meant.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BackendSpec {
    /// A program.
    Command(CommandSpec),
    /// A Rust function of this program.
    Function(FunctionSpec),
    /// An HTTP request.
    Http(Box<HttpBackendSpec>),
    /// A tool of an MCP server.
    Mcp(McpSpec),
    /// An agent elsewhere.
    A2a(A2aBackendSpec),
}

/// One kind of backend.
pub(crate) struct Kind {
    /// The member that tells it from the others.
    name: &'static str,
    /// Its members, from the same type that reads them.
    fields: fn() -> Vec<String>,
    build: BuildKind,
}

type BuildKind = fn(Map<String, Value>, &Build<'_>) -> Result<Arc<dyn Backend>, BackendError>;

impl Kind {
    pub(crate) const fn new<S: JsonSchema>(name: &'static str, build: BuildKind) -> Self {
        Self { name, fields: fields_of::<S>, build }
    }
}

fn fields_of<S: JsonSchema>() -> Vec<String> {
    let schema = schemars::schema_for!(S);
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|p| p.keys().cloned().collect()).unwrap_or_default()
}

/// What a kind is given to build from.
pub(crate) struct Build<'a> {
    pub(crate) base_dir: PathBuf,
    pub(crate) env: Env,
    pub(crate) functions: &'a BTreeMap<String, Arc<Function>>,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) servers: &'a Servers,
    pub(crate) cards: &'a Cards,
    /// Whether the contract says that a call may be made twice.
    pub(crate) repeatable: bool,
}

impl Build<'_> {
    /// Reads a kind's own type, saying where it does not fit.
    pub(crate) fn read<S: DeserializeOwned>(
        &self,
        spec: Map<String, Value>,
    ) -> Result<S, BackendError> {
        serde_path_to_error::deserialize(Value::Object(spec)).map_err(|error| BackendError::Shape {
            pointer: pointer(error.path()),
            source: error.into_inner(),
        })
    }
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let segment = |segment: &Segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } | Segment::Enum { variant: key } => pointer_to(key),
        Segment::Unknown => String::new(),
    };
    path.iter().map(segment).collect()
}

/// Makes backends out of contracts.
#[derive(Clone)]
pub struct Backends {
    functions: BTreeMap<String, Arc<Function>>,
    resolver: Arc<dyn Resolver>,
    servers: Servers,
    cards: Cards,
}

impl std::fmt::Debug for Backends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Backends")
            .field("functions", &self.functions.keys())
            .finish_non_exhaustive()
    }
}

impl Default for Backends {
    fn default() -> Self {
        Self::builtin()
    }
}

impl Backends {
    /// The built-in kinds: a2a, command, function, http, mcp.
    pub fn builtin() -> Self {
        Self {
            functions: BTreeMap::new(),
            resolver: Arc::new(SystemResolver),
            servers: Servers::default(),
            cards: Cards::default(),
        }
    }

    /// A function that contracts reach as `{"function": name}`.
    #[must_use]
    pub fn function(mut self, name: impl Into<String>, function: Function) -> Self {
        self.functions.insert(name.into(), Arc::new(function));
        self
    }

    /// Another resolver of host names than the system's. What it answers is judged all the same.
    #[must_use]
    pub fn resolver(mut self, resolver: impl Resolver + 'static) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// The servers that contracts reach as `{"mcp": {"server": …, "tool": …}}`.
    #[must_use]
    pub fn servers(mut self, servers: Servers) -> Self {
        self.servers = servers;
        self
    }

    /// The cards that agents elsewhere (`{"a2a": {"url": …}}`) are held to. Default: any will do.
    #[must_use]
    pub fn cards(mut self, cards: Cards) -> Self {
        self.cards = cards;
        self
    }

    /// The card that the agent of a contract's `backend` object has now, whatever was accepted.
    ///
    /// # Errors
    /// Why there is none, in words for people.
    pub async fn card(&self, spec: &Map<String, Value>, env: Env) -> Result<PinnedCard, String> {
        a2a::look(spec, env, self.resolver.clone()).await
    }

    /// Builds the backend of a contract, which also says whether a call may be made twice.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_for(
        &self,
        tool: &Tool,
        base_dir: &Path,
        env: Env,
    ) -> Result<Arc<dyn Backend>, BackendError> {
        self.build_with(&tool.backend, base_dir, env, tool.is_repeatable())
    }

    /// Builds the backend that a contract's `backend` object describes.
    ///
    /// `base_dir` is the contract's folder: relative programs and folders start there. `env` is
    /// asked when the backend is used, not now: a missing secret is a failure of the call that
    /// needs it.
    ///
    /// ```
    /// use callgate_tool::{Backends, process_env};
    /// use serde_json::json;
    ///
    /// let build = |spec: serde_json::Value| {
    ///     Backends::builtin().build(spec.as_object().unwrap(), ".".as_ref(), process_env())
    /// };
    /// assert!(build(json!({ "command": ["python3", "weather.py"] })).is_ok());
    /// let error = build(json!({ "http": { "url": "http://h/", "methd": "GET" } })).err().unwrap();
    /// assert_eq!(error.pointer(), "/http/methd");
    /// assert!(error.to_string().contains("did you mean `method`"));
    /// ```
    pub fn build(
        &self,
        spec: &Map<String, Value>,
        base_dir: &Path,
        env: Env,
    ) -> Result<Arc<dyn Backend>, BackendError> {
        self.build_with(spec, base_dir, env, false)
    }

    fn build_with(
        &self,
        spec: &Map<String, Value>,
        base_dir: &Path,
        env: Env,
        repeatable: bool,
    ) -> Result<Arc<dyn Backend>, BackendError> {
        let kinds: Vec<&Kind> = KINDS.iter().filter(|k| spec.contains_key(k.name)).collect();
        let kind = match kinds.as_slice() {
            [kind] => kind,
            [] => {
                let names = KINDS.iter().map(|k| k.name).collect::<Vec<_>>();
                let near = |key: &String| Some((key.clone(), nearest(key, &names)?));
                let (found, suggestion) = spec.keys().find_map(near).unzip();
                let found = found.or_else(|| spec.keys().next().cloned());
                return Err(BackendError::NoKind { found, kinds: names, suggestion });
            }
            several => {
                let kinds = several.iter().map(|k| k.name).collect();
                return Err(BackendError::SeveralKinds { kinds });
            }
        };
        known_fields(kind.name, spec, (kind.fields)())?;
        let build = Build {
            // A relative folder means another one after a change of directory.
            base_dir: std::path::absolute(base_dir).unwrap_or_else(|_| base_dir.to_owned()),
            env,
            functions: &self.functions,
            resolver: self.resolver.clone(),
            servers: &self.servers,
            cards: &self.cards,
            repeatable,
        };
        (kind.build)(spec.clone(), &build)
    }
}

/// Refuses members that `S` does not have, naming the nearest.
pub(crate) fn known_fields_of<S: JsonSchema>(
    kind: &'static str,
    object: &Map<String, Value>,
) -> Result<(), BackendError> {
    known_fields(kind, object, fields_of::<S>())
}

fn known_fields(
    kind: &'static str,
    object: &Map<String, Value>,
    known: Vec<String>,
) -> Result<(), BackendError> {
    match object.keys().find(|key| !known.contains(key)) {
        None => Ok(()),
        Some(field) => Err(BackendError::UnknownField {
            pointer: pointer_to(field),
            kind,
            suggestion: nearest(field, &known),
            field: field.clone(),
            known,
        }),
    }
}

/// The name that was probably meant: a typing slip away, letter case and separators aside.
pub(crate) fn nearest<S: AsRef<str>>(
    found: &str,
    names: impl IntoIterator<Item = S>,
) -> Option<String> {
    let plain = |s: &str| s.to_lowercase().replace(['_', '-'], "");
    let found = plain(found);
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&found, &plain(name.as_ref())), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 1 + name.as_ref().len() / 4)
        .map(|(_, name)| name.as_ref().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn build(spec: &Value) -> Result<Arc<dyn Backend>, BackendError> {
        let echo = Function::new(|_| async { Ok(callgate_contract::Output::json("1")) });
        let env: Env = Arc::new(|_| None);
        let backends = Backends::builtin().function("get_weather", echo);
        backends.build(spec.as_object().unwrap(), Path::new("."), env)
    }

    #[test]
    fn what_describes_a_backend() {
        let rows = [
            json!({ "command": ["true"] }),
            json!({ "command": ["./x", "-v"], "env": { "A": "${B:-c}" }, "cwd": "..", "maxOutputBytes": 10 }),
            json!({ "function": "get_weather" }),
            json!({ "http": { "url": "http://h/" } }),
            json!({ "http": { "url": "{url}" } }),
            json!({ "http": { "method": "post", "url": "${B}/x/{id}", "body": "arguments",
                "headers": { "X": "{x}" }, "query": { "a": 1, "b": ["{x}", true] },
                "auth": { "bearer": "${T}" }, "allow": ["127.0.0.1:8080", "*.internal"],
                "maxBytes": 100, "followRedirects": false } }),
        ];
        for spec in rows {
            if let Err(error) = build(&spec) {
                panic!("{spec}: {error}");
            }
            let published: Result<BackendSpec, _> = serde_json::from_value(spec.clone());
            assert!(published.is_ok(), "{spec}");
        }
    }

    #[test]
    fn placeholders_are_told_with_their_place() {
        let spec = json!({ "http": { "method": "POST", "url": "http://h/{id}", "query": { "a/b": ["{x}", "1"] },
            "headers": { "X-Y": "v {o/p}" }, "body": { "a": ["{q}", "{{lit}} {r}"] } } });
        let reads = build(&spec).map(|backend| backend.reads()).unwrap_or_default();
        let told: Vec<_> = reads.iter().map(|r| (r.at.as_str(), r.argument.as_str())).collect();
        let expected = [
            ("/http/url", "/id"),
            ("/http/query/a~1b", "/x"),
            ("/http/headers/X-Y", "/o/p"),
            ("/http/body/a/0", "/q"),
            ("/http/body/a/1", "/r"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn the_published_schema_is_closed_and_in_camel_case() {
        let schema = serde_json::to_value(schemars::schema_for!(BackendSpec)).unwrap();
        let text = schema.to_string();
        for name in
            ["maxOutputBytes", "followRedirects", "maxBytes", "bearer", "command", "function"]
        {
            assert!(text.contains(&format!("\"{name}\"")), "{name}: {text}");
        }
        assert_eq!(schema["anyOf"].as_array().map(Vec::len), Some(5), "{text}");
        // Every object with members of its own refuses others.
        fn closed(schema: &Value) -> bool {
            let here =
                schema.get("properties").is_none() || schema["additionalProperties"] == false;
            here && match schema {
                Value::Object(members) => members.values().all(closed),
                Value::Array(items) => items.iter().all(closed),
                _ => true,
            }
        }
        assert!(closed(&schema), "{text}");
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        // spec, pointer, words of the message
        let rows = [
            (json!({}), "", "one of `a2a`, `command`, `function`, `http`"),
            (json!({ "comand": ["x"] }), "/comand", "did you mean `command`?"),
            (json!({ "grpc": {} }), "/grpc", "one of"),
            (json!({ "command": ["x"], "http": {} }), "", "exactly one kind"),
            (json!({ "command": "python3 x.py" }), "/command", "expected a sequence"),
            (json!({ "command": [] }), "/command", "needs a program"),
            (json!({ "command": ["x", 1] }), "/command/1", "expected a string"),
            (json!({ "command": ["x"], "envs": {} }), "/envs", "did you mean `env`?"),
            (
                json!({ "command": ["x"], "max_output_bytes": 1 }),
                "/max_output_bytes",
                "`maxOutputBytes`?",
            ),
            (json!({ "command": ["x"], "env": { "A": "${B" } }), "/env/A", "does not end"),
            (json!({ "command": ["x"], "env": { "A=": "" } }), "/env/A=", "cannot be the name"),
            (json!({ "function": "getweather" }), "/function", "did you mean `get_weather`?"),
            (json!({ "http": {} }), "/http", "missing field `url`"),
            (json!({ "http": [] }), "/http", "expected an object"),
            (json!({ "http": { "url": "http://h/", "header": {} } }), "/http/header", "`headers`?"),
            (json!({ "http": { "url": "ftp://h/" } }), "/http/url", "does not begin with"),
            (json!({ "http": { "url": "http://h/{a b}" } }), "/http/url", "no placeholder"),
            (
                json!({ "http": { "url": "http://h/", "method": "GTE" } }),
                "/http/method",
                "no method",
            ),
            (json!({ "http": { "url": "http://h/", "body": {} } }), "/http/body", "have no body"),
            (
                json!({ "http": { "url": "http://h/", "query": { "a": {} } } }),
                "/http/query/a",
                "a query parameter, a header",
            ),
            (
                json!({ "http": { "url": "http://h/", "headers": { "Host": "x" } } }),
                "/http/headers/Host",
                "client itself",
            ),
            (
                json!({ "http": { "url": "http://h/", "headers": { "a b": "x" } } }),
                "/http/headers/a b",
                "name of a header",
            ),
            (
                json!({ "http": { "url": "http://h/", "method": "POST", "body": { "a": ["{"] } } }),
                "/http/body/a/0",
                "does not end",
            ),
            (
                json!({ "http": { "url": "http://h/", "allow": ["http://x/"] } }),
                "/http/allow/0",
                "names no destination",
            ),
            (
                json!({ "http": { "url": "http://h/", "auth": { "token": "x" } } }),
                "/http/auth",
                "unknown",
            ),
        ];
        for (spec, pointer, words) in rows {
            let Err(error) = build(&spec) else { panic!("{spec} was built") };
            assert_eq!(error.pointer(), pointer, "{spec}: {error}");
            assert!(error.to_string().contains(words), "{spec}: {error}");
        }
    }
}
