//! Which models a client may name, and what its names mean.

use callgate_wire::inbound::{Refusal, RefusalKind};

use super::ProxyOptions;

/// What a model's name ends in where the server's own tools are wanted.
const CATALOG: &str = "+catalog";

/// Which models may be asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Allow {
    /// Any that the opener knows, but for `script:`, which reads a file that the client names.
    #[default]
    Any,
    /// These, each `provider:model`, or a beginning of it and `*`: `openai:*`.
    Only(Vec<String>),
}

impl Allow {
    /// Whether a model may be asked for.
    pub fn admits(&self, spec: &str) -> bool {
        let spec = spelled(spec);
        match self {
            Self::Any => !spec.starts_with("script:"),
            Self::Only(patterns) => patterns.iter().any(|pattern| {
                let pattern = spelled(pattern);
                match pattern.strip_suffix('*') {
                    Some(start) => spec.starts_with(start),
                    None => spec == pattern,
                }
            }),
        }
    }
}

/// `provider/model` as `provider:model`: the first of the two is what divides.
fn spelled(spec: &str) -> String {
    let spec = spec.trim();
    match spec.find([':', '/']) {
        Some(at) => format!("{}:{}", spec[..at].to_ascii_lowercase(), &spec[at + 1..]),
        None => spec.to_owned(),
    }
}

/// The model that a request means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// `provider:model`.
    pub(super) spec: String,
    /// Whether the server's own tools are wanted, by the name's ending.
    pub(super) catalog: bool,
}

/// What a client's name for a model means.
pub(super) fn named(options: &ProxyOptions, name: &str) -> Result<Named, Refusal> {
    let (name, catalog) = match name.trim().strip_suffix(CATALOG) {
        Some(name) => (name, true),
        None => (name.trim(), false),
    };
    let named = |spec: &str| Named { spec: spec.to_owned(), catalog };
    if name.is_empty() {
        let unset = || {
            let message = "`model` is not given, and this server has no default model: name one as \
                           provider:model, such as openai:gpt-5.4";
            Refusal {
                param: Some("model".to_owned()),
                ..Refusal::new(RefusalKind::BadRequest, message)
            }
        };
        return options.default_model.as_deref().map(named).ok_or_else(unset);
    }
    if let Some(spec) = options.aliases.get(name) {
        return Ok(named(spec));
    }
    if options.default_model.as_deref().is_some_and(|own| spelled(own) == spelled(name)) {
        return Ok(named(name));
    }
    if !name.contains([':', '/'])
        && let Some(spec) = options.aliases.get("*")
    {
        return Ok(named(spec));
    }
    if options.aliases.values().any(|spec| spelled(spec) == spelled(name))
        || options.allow.admits(name)
    {
        return Ok(named(name));
    }
    Err(unknown(name))
}

/// No model of that name may be asked for.
pub(super) fn unknown(name: &str) -> Refusal {
    let message =
        format!("the model \"{name}\" may not be asked for here; GET /v1/models lists what may");
    Refusal {
        param: Some("model".to_owned()),
        ..Refusal::new(RefusalKind::NotFound, message).with_code("model_not_found")
    }
}

/// The names that `/v1/models` tells.
pub(super) fn listed(options: &ProxyOptions) -> Vec<String> {
    let allowed = match &options.allow {
        Allow::Any => &[][..],
        Allow::Only(patterns) => patterns,
    };
    let default = options.default_model.iter();
    let aliases = options.aliases.keys().filter(|name| *name != "*");
    let exact = allowed.iter().filter(|pattern| !pattern.ends_with('*'));
    let mut names: Vec<String> = Vec::new();
    for name in default.chain(aliases).chain(exact).chain(&options.listed) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(allow: Allow) -> ProxyOptions {
        ProxyOptions {
            default_model: Some("openai:gpt-5.4".to_owned()),
            aliases: [("gpt-4o", "anthropic:claude-opus-5-5"), ("quick", "local:qwen")]
                .map(|(name, spec)| (name.to_owned(), spec.to_owned()))
                .into(),
            allow,
            ..ProxyOptions::default()
        }
    }

    #[test]
    fn names() {
        let some = Allow::Only(vec!["ollama:*".to_owned(), "gemini:pro".to_owned()]);
        let rows = [
            ("", Some("openai:gpt-5.4"), Some("openai:gpt-5.4")),
            ("gpt-4o", Some("anthropic:claude-opus-5-5"), Some("anthropic:claude-opus-5-5")),
            ("openai:gpt-5.4", Some("openai:gpt-5.4"), Some("openai:gpt-5.4")),
            ("openai/gpt-5.4", Some("openai/gpt-5.4"), Some("openai/gpt-5.4")),
            ("openai:other", Some("openai:other"), None),
            ("local:qwen", Some("local:qwen"), Some("local:qwen")),
            ("ollama:qwen3", Some("ollama:qwen3"), Some("ollama:qwen3")),
            ("Ollama/qwen3:4b", Some("Ollama/qwen3:4b"), Some("Ollama/qwen3:4b")),
            ("gemini:pro", Some("gemini:pro"), Some("gemini:pro")),
            ("gemini:pro-2", Some("gemini:pro-2"), None),
            ("script:/etc/passwd", None, None),
            ("SCRIPT/x", None, None),
            // What it may mean is the registry's to say.
            ("gpt-5", Some("gpt-5"), None),
        ];
        for (name, by_any, by_some) in rows {
            for (allow, expected) in [(Allow::Any, by_any), (some.clone(), by_some)] {
                let found = named(&options(allow.clone()), name);
                assert_eq!(found.ok().map(|n| n.spec).as_deref(), expected, "{name} {allow:?}");
            }
        }
    }

    #[test]
    fn every_other_name() {
        let mut options = options(Allow::Only(Vec::new()));
        options.aliases.insert("*".to_owned(), "ollama:qwen3".to_owned());
        assert_eq!(named(&options, "claude-3").unwrap().spec, "ollama:qwen3");
        assert!(named(&options, "openai:other").is_err());
        assert_eq!(listed(&options), ["openai:gpt-5.4", "gpt-4o", "quick"]);
    }

    #[test]
    fn the_servers_own_tools() {
        let options = options(Allow::Any);
        let quick = named(&options, "quick+catalog").unwrap();
        assert_eq!((quick.spec.as_str(), quick.catalog), ("local:qwen", true));
        let default = named(&options, "+catalog").unwrap();
        assert_eq!((default.spec.as_str(), default.catalog), ("openai:gpt-5.4", true));
        assert!(!named(&options, "quick").unwrap().catalog);
    }
}
