use super::*;

fn registry(vars: &'static [(&'static str, &'static str)]) -> Registry {
    Registry::new(|name| {
        let found = vars.iter().find(|(var, _)| *var == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

/// `provider model base_url base_url_from key_from`
fn resolved(
    vars: &'static [(&'static str, &'static str)],
    spec: &str,
    base_url: Option<&str>,
) -> String {
    let resolved = registry(vars).resolve(spec, base_url).unwrap();
    format!(
        "{} {} {} {} {}",
        resolved.provider,
        resolved.model,
        resolved.base_url,
        resolved.base_url_from.unwrap_or("-"),
        resolved.key_from.unwrap_or("-"),
    )
}

#[test]
fn where_a_specification_leads() {
    const OPENAI: &[(&str, &str)] = &[("OPENAI_API_KEY", " sk-1\n")];
    const GATEWAY: &[(&str, &str)] =
        &[("OPENAI_API_BASE", "http://gateway:4000"), ("OPENAI_API_KEY", "sk-1")];
    for (vars, spec, base_url, expected) in [
        (
            OPENAI,
            "openai:gpt-5.4",
            None,
            "openai gpt-5.4 https://api.openai.com/v1 - OPENAI_API_KEY",
        ),
        (
            OPENAI,
            "OpenAI/gpt-5.4",
            None,
            "openai gpt-5.4 https://api.openai.com/v1 - OPENAI_API_KEY",
        ),
        (
            GATEWAY,
            "openai:m",
            None,
            "openai m http://gateway:4000/v1 OPENAI_API_BASE OPENAI_API_KEY",
        ),
        (
            GATEWAY,
            "compat:m",
            None,
            "compat m http://gateway:4000/v1 OPENAI_API_BASE OPENAI_API_KEY",
        ),
        (
            GATEWAY,
            "openai:m",
            Some("http://u:p@127.0.0.1:9/v1/chat/completions?x=secret"),
            "openai m http://127.0.0.1:9/v1 - OPENAI_API_KEY",
        ),
        // No key is needed somewhere else.
        (&[], "openai:m", Some("http://127.0.0.1:9"), "openai m http://127.0.0.1:9/v1 - -"),
        (&[("OPENAI_API_KEY", "")], "openai:m", Some("http://h/x/"), "openai m http://h/x - -"),
        (&[], "ollama:qwen3:8b", None, "ollama qwen3:8b http://127.0.0.1:11434/ - -"),
        (
            &[("OLLAMA_HOST", "0.0.0.0:11434")],
            "ollama/qwen3:8b",
            None,
            "ollama qwen3:8b http://127.0.0.1:11434/ OLLAMA_HOST -",
        ),
        // The variable is shared with clients of the compatible API.
        (
            &[("OLLAMA_BASE_URL", "http://h:1/v1/")],
            "ollama:x",
            None,
            "ollama x http://h:1/ OLLAMA_BASE_URL -",
        ),
        (
            &[("OLLAMA_HOST", "h:1")],
            "ollama-compat:x",
            None,
            "ollama-compat x http://h:1/v1 OLLAMA_HOST -",
        ),
        (
            &[("ANTHROPIC_API_KEY", "k")],
            "claude:claude-sonnet-4-5",
            None,
            "anthropic claude-sonnet-4-5 https://api.anthropic.com/v1 - ANTHROPIC_API_KEY",
        ),
        // The official client libraries add the version to what their variable says.
        (
            &[("ANTHROPIC_BASE_URL", "https://gateway/anthropic")],
            "anthropic:x",
            None,
            "anthropic x https://gateway/anthropic/v1 ANTHROPIC_BASE_URL -",
        ),
        (
            &[("ANTHROPIC_BASE_URL", "https://gateway/v1/messages")],
            "anthropic:x",
            None,
            "anthropic x https://gateway/v1 ANTHROPIC_BASE_URL -",
        ),
        (
            &[("GOOGLE_API_KEY", "k")],
            "google:gemini-3-flash",
            None,
            "gemini gemini-3-flash https://generativelanguage.googleapis.com/v1beta - GOOGLE_API_KEY",
        ),
        (
            &[("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")],
            "gemini:x",
            None,
            "gemini x http://127.0.0.1:9/v1beta GOOGLE_GEMINI_BASE_URL -",
        ),
        (
            &[],
            "gemini:x",
            Some("https://aiplatform.googleapis.com/v1/publishers/google"),
            "gemini x https://aiplatform.googleapis.com/v1/publishers/google - -",
        ),
        (
            OPENAI,
            "openai-chat:gpt-5.4",
            None,
            "openai-chat gpt-5.4 https://api.openai.com/v1 - OPENAI_API_KEY",
        ),
        (
            &[("OPENROUTER_API_KEY", "k")],
            "openrouter/anthropic/claude-x:free",
            None,
            "openrouter anthropic/claude-x:free https://openrouter.ai/api/v1 - OPENROUTER_API_KEY",
        ),
        (
            &[("TOGETHERAI_API_KEY", "k")],
            "together_ai:Qwen/Qwen3",
            None,
            "together Qwen/Qwen3 https://api.together.xyz/v1 - TOGETHERAI_API_KEY",
        ),
        (
            &[("DEEPSEEK_API_KEY", "k")],
            "deepseek:x",
            None,
            "deepseek x https://api.deepseek.com/ - DEEPSEEK_API_KEY",
        ),
        (&[], "llama.cpp:x", None, "llamacpp x http://127.0.0.1:8080/v1 - -"),
    ] {
        assert_eq!(resolved(vars, spec, base_url), expected, "{spec}");
    }
}

#[test]
fn what_is_wrong_and_what_to_do() {
    for (vars, spec, base_url, says) in [
        (&[][..], "gpt-5.4", None, &[r#"perhaps "openai:gpt-5.4""#, "ollama"][..]),
        (&[], "qwen2.5-coder-1.5b", None, &["local:qwen2.5-coder-1.5b"]),
        (&[], "", None, &["names no provider"]),
        (&[], "openia:gpt-5.4", None, &[r#"did you mean "openai:gpt-5.4""#, "compat:MODEL"]),
        (&[], "Olama:x", None, &[r#""ollama:x""#]),
        (&[], "qwen3:8b", None, &[r#"did you mean "ollama:qwen3:8b""#]),
        (&[], "./replies.json", None, &[r#"did you mean "script:./replies.json""#]),
        (&[], "models/x.gguf", None, &[r#"did you mean "local:models/x.gguf""#]),
        (&[], "openai", None, &[r#"write "openai:gpt-5.4""#]),
        (&[], "openai:", None, &[r#"write "openai:gpt-5.4""#]),
        (
            &[],
            "openai:gpt-5.4",
            None,
            &["OpenAI needs a key", "OPENAI_API_KEY", "local:qwen2.5-coder-1.5b"],
        ),
        (&[("GROQ_API_KEY", "  ")], "groq:x", None, &["GROQ_API_KEY"]),
        (
            &[],
            "cohere:command-x",
            None,
            &["cohere is not in this version yet", "openrouter:cohere/command-x with"],
        ),
        (&[], "vertex_ai/x", None, &["vertex_ai is not in this version yet"]),
        (&[], "anthropic:x", None, &["Anthropic needs a key", "ANTHROPIC_API_KEY"]),
        (&[], "gemini:x", None, &["GEMINI_API_KEY or GOOGLE_API_KEY"]),
        (&[], "claude-opus-4-7", None, &[r#"perhaps "anthropic:claude-opus-4-7""#]),
        (&[], "compat:x", None, &["needs its base URL", "OPENAI_BASE_URL"]),
        (&[], "compat:x", Some("ftp://h"), &["base URL", "no http or https URL"]),
        (
            &[("OLLAMA_BASE_URL", "http://")],
            "ollama:x",
            None,
            &["OLLAMA_BASE_URL", "no http or https URL"],
        ),
        (&[("OPENAI_API_KEY", "a\nb")], "openai:x", None, &["OPENAI_API_KEY", "cannot be sent"]),
        (&[], "script:/no/such/file.json", None, &["/no/such/file.json"]),
    ] {
        let error = registry(vars).open(spec, base_url).err().unwrap().to_string();
        for part in says {
            assert!(error.contains(part), "{spec}: {error}");
        }
    }
}

#[test]
fn added_providers() {
    let registry = registry(&[]).with_provider("local", |model| {
        if model == "bad" {
            return Err("no such model".into());
        }
        Ok(Box::new(ScriptedModel::from_json(r#"{"replies":[]}"#)?))
    });
    assert_eq!(registry.names()[0], "local");
    assert!(registry.open("local:x", None).is_ok());
    let error = registry.open("local:bad", None).err().unwrap().to_string();
    assert_eq!(error, "local:bad: no such model");
    let error = registry.open("locl:x", None).err().unwrap().to_string();
    assert!(error.contains("local:x"), "{error}");
}

#[test]
fn keys_that_are_there() {
    let registry = registry(&[("XAI_API_KEY", "k"), ("OLLAMA_API_KEY", "k"), ("GROQ_API_KEY", "")]);
    let found: Vec<_> = registry.with_keys().map(|(provider, var)| (provider.name, var)).collect();
    assert_eq!(found, [("xai", "XAI_API_KEY")]);
}

#[test]
fn every_provider_has_a_valid_base_url_and_an_example() {
    for provider in PROVIDERS {
        assert!(
            !provider.title.is_empty() && !provider.example.is_empty() && !provider.hint.is_empty()
        );
        if let Some(base_url) = provider.base_url {
            Endpoint::new(base_url).unwrap();
        }
        assert_eq!(providers::find(provider.name).unwrap().name, provider.name);
    }
}

#[test]
fn keys_that_several_names_share_are_told_once() {
    let registry = registry(&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]);
    let found: Vec<_> = registry.with_keys().map(|(provider, _)| provider.name).collect();
    assert_eq!(found, ["openai", "anthropic"]);
}

#[test]
fn openais_own_api_is_for_openai() {
    let api = |name, base_url| {
        let registry = registry(&[("OPENAI_API_KEY", "k")]);
        let resolved = registry.resolve(&format!("{name}:x"), base_url).unwrap();
        api(providers::find(name).unwrap(), &resolved)
    };
    let elsewhere = Some("http://127.0.0.1:1/v1");
    assert_eq!(api("openai", None), Api::Responses);
    assert_eq!(api("openai", elsewhere), Api::Chat(Profile::compatible()));
    assert_eq!(api("openai-chat", None), Api::Chat(Profile::openai()));
    assert_eq!(api("openai-chat", elsewhere), Api::Chat(Profile::compatible()));
    assert_eq!(api("openai-responses", elsewhere), Api::Responses);
    assert_eq!(api("anthropic", elsewhere), Api::Anthropic);
}
