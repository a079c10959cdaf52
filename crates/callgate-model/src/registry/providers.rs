//! The providers, one entry each. To add one is to add an entry.
//!
//! Names of environment variables are those that the ecosystem already uses: the providers' own
//! client libraries, LiteLLM, the AI SDK, LangChain, Pydantic AI.

use callgate_wire::{
    Codec,
    anthropic::Anthropic,
    chat::{Chat, Profile},
    gemini::Gemini,
    ollama::Ollama,
    responses::Responses,
};

/// A provider that can be named in `provider:model`.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// The name to write.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// What people call it.
    pub title: &'static str,
    /// Where it is, unless a variable or the caller says otherwise.
    pub base_url: Option<&'static str>,
    /// Variables for the base URL, the first that is set counts.
    pub base_url_vars: &'static [&'static str],
    /// Variables for the key, the first that is set counts.
    pub key_vars: &'static [&'static str],
    /// Whether nothing goes without a key, at its own base URL.
    pub needs_key: bool,
    /// A model of it, for messages and templates.
    pub example: &'static str,
    /// What a base URL is completed by.
    pub(super) version: Version,
    /// What it speaks.
    pub(super) api: Api,
    /// How it is shown the key.
    pub(super) auth: Auth,
    /// Variables that go out as headers.
    pub(super) header_vars: &'static [(&'static str, &'static str)],
    /// What to do when nobody answers there.
    pub(super) hint: &'static str,
}

/// See [`Provider::api`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// Chat Completions, in this dialect.
    Chat(Profile),
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's own.
    Ollama,
}

impl Api {
    pub(super) fn codec(self) -> Box<dyn Codec> {
        match self {
            Self::Chat(profile) => Box::new(Chat::new(profile)),
            Self::Responses => Box::new(Responses::new()),
            Self::Anthropic => Box::new(Anthropic::new()),
            Self::Gemini => Box::new(Gemini::new()),
            Self::Ollama => Box::new(Ollama::new()),
        }
    }
}

/// See [`Provider::auth`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Auth {
    /// `authorization: Bearer …`.
    Bearer,
    /// A header of its own, with nothing but the key.
    Header(&'static str),
}

/// See [`Provider::version`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// Nothing.
    None,
    /// This, where there is no path at all: `http://gateway:4000`.
    OfBare(&'static str),
    /// This, where no part of the path is a version: the official client libraries add it to
    /// whatever their variable says.
    Missing(&'static str),
    /// Nothing, and a closing `/v1` or `/api` is taken off: the variable is shared with clients of
    /// the compatible API.
    Root,
}

/// The hint for a server of whoever set its base URL.
pub(super) const ELSEWHERE: &str =
    "Is the server up, and is the base URL right? It usually ends in /v1.";

/// A hosted provider with a key of its own.
const HOSTED: Provider = Provider {
    name: "",
    aliases: &[],
    title: "",
    base_url: None,
    base_url_vars: &[],
    key_vars: &[],
    needs_key: true,
    example: "",
    version: Version::None,
    api: Api::Chat(Profile::compatible()),
    auth: Auth::Bearer,
    header_vars: &[],
    hint: "Is this machine online, and does it need a proxy (HTTPS_PROXY)?",
};

/// A server on this machine, usually without a key.
const LOCAL: Provider = Provider { needs_key: false, version: Version::OfBare("/v1"), ..HOSTED };

/// OpenAI, whatever it is spoken to in.
const OPENAI: Provider = Provider {
    title: "OpenAI",
    base_url: Some("https://api.openai.com/v1"),
    base_url_vars: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
    key_vars: &["OPENAI_API_KEY"],
    example: "gpt-5.4",
    version: Version::OfBare("/v1"),
    header_vars: &[
        ("OPENAI_ORG_ID", "openai-organization"),
        ("OPENAI_PROJECT_ID", "openai-project"),
        ("OPENAI_PROJECT", "openai-project"),
    ],
    ..HOSTED
};

/// Ollama, whatever it is spoken to in.
const OLLAMA: Provider = Provider {
    title: "Ollama",
    base_url_vars: &["OLLAMA_BASE_URL", "OLLAMA_API_BASE", "OLLAMA_HOST"],
    key_vars: &["OLLAMA_API_KEY"],
    example: "qwen3:8b",
    hint: "Is Ollama running? Start it with `ollama serve`, or set OLLAMA_BASE_URL.",
    ..LOCAL
};

/// All providers over HTTP that this version knows.
pub const PROVIDERS: &[Provider] = &[
    Provider { name: "openai", api: Api::Responses, ..OPENAI },
    Provider { name: "openai-responses", aliases: &["responses"], api: Api::Responses, ..OPENAI },
    Provider { name: "openai-chat", api: Api::Chat(Profile::openai()), ..OPENAI },
    Provider {
        name: "anthropic",
        aliases: &["claude"],
        title: "Anthropic",
        base_url: Some("https://api.anthropic.com/v1"),
        base_url_vars: &["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"],
        key_vars: &["ANTHROPIC_API_KEY"],
        example: "claude-sonnet-4-5",
        version: Version::Missing("/v1"),
        api: Api::Anthropic,
        auth: Auth::Header("x-api-key"),
        ..HOSTED
    },
    Provider {
        name: "gemini",
        aliases: &["google", "google-gla", "google-genai", "googleai"],
        title: "Gemini",
        base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
        base_url_vars: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_BASE"],
        key_vars: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
        example: "gemini-3-flash",
        version: Version::Missing("/v1beta"),
        api: Api::Gemini,
        auth: Auth::Header("x-goog-api-key"),
        ..HOSTED
    },
    Provider {
        name: "compat",
        aliases: &["openai-compatible", "openai-compat", "compatible"],
        title: "any OpenAI-compatible server",
        base_url_vars: &["OPENAI_COMPATIBLE_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"],
        key_vars: &["OPENAI_COMPATIBLE_API_KEY", "OPENAI_API_KEY"],
        example: "my-model",
        hint: ELSEWHERE,
        ..LOCAL
    },
    Provider {
        name: "ollama",
        base_url: Some("http://127.0.0.1:11434"),
        version: Version::Root,
        api: Api::Ollama,
        ..OLLAMA
    },
    Provider {
        name: "ollama-compat",
        aliases: &["ollama-openai"],
        base_url: Some("http://127.0.0.1:11434/v1"),
        api: Api::Chat(Profile::ollama()),
        ..OLLAMA
    },
    Provider {
        name: "llamacpp",
        aliases: &["llama.cpp", "llama-cpp", "llama_cpp", "llama-server"],
        title: "llama.cpp",
        base_url: Some("http://127.0.0.1:8080/v1"),
        base_url_vars: &["LLAMACPP_BASE_URL", "LLAMACPP_API_BASE_URL"],
        key_vars: &["LLAMACPP_API_KEY", "LLAMA_API_KEY"],
        example: "default",
        api: Api::Chat(Profile::llamacpp()),
        hint: "Is it running? Start it with `llama-server -m MODEL.gguf --jinja`, or set \
               LLAMACPP_BASE_URL.",
        ..LOCAL
    },
    Provider {
        name: "vllm",
        aliases: &["hosted_vllm"],
        title: "vLLM",
        base_url: Some("http://127.0.0.1:8000/v1"),
        base_url_vars: &["VLLM_BASE_URL", "VLLM_API_BASE", "HOSTED_VLLM_API_BASE"],
        key_vars: &["VLLM_API_KEY", "HOSTED_VLLM_API_KEY"],
        example: "Qwen/Qwen3-8B",
        api: Api::Chat(Profile::vllm()),
        hint: "Is it running? Start it with `vllm serve MODEL --enable-auto-tool-choice \
               --tool-call-parser hermes`, or set VLLM_BASE_URL.",
        ..LOCAL
    },
    Provider {
        name: "lmstudio",
        aliases: &["lm-studio", "lm_studio"],
        title: "LM Studio",
        base_url: Some("http://127.0.0.1:1234/v1"),
        base_url_vars: &["LMSTUDIO_BASE_URL", "LM_STUDIO_BASE_URL", "LM_STUDIO_API_BASE"],
        key_vars: &["LMSTUDIO_API_KEY", "LM_STUDIO_API_KEY"],
        example: "qwen3-8b",
        hint: "Is its server running? Start it with `lms server start`, or set LMSTUDIO_BASE_URL.",
        ..LOCAL
    },
    Provider {
        name: "openrouter",
        title: "OpenRouter",
        base_url: Some("https://openrouter.ai/api/v1"),
        base_url_vars: &["OPENROUTER_BASE_URL", "OPENROUTER_API_BASE"],
        key_vars: &["OPENROUTER_API_KEY"],
        example: "openai/gpt-5.4",
        api: Api::Chat(Profile::openrouter()),
        ..HOSTED
    },
    Provider {
        name: "groq",
        title: "Groq",
        base_url: Some("https://api.groq.com/openai/v1"),
        base_url_vars: &["GROQ_BASE_URL", "GROQ_API_BASE"],
        key_vars: &["GROQ_API_KEY"],
        example: "openai/gpt-oss-120b",
        api: Api::Chat(Profile::groq()),
        ..HOSTED
    },
    Provider {
        name: "deepseek",
        title: "DeepSeek",
        base_url: Some("https://api.deepseek.com"),
        base_url_vars: &["DEEPSEEK_BASE_URL", "DEEPSEEK_API_BASE"],
        key_vars: &["DEEPSEEK_API_KEY"],
        example: "deepseek-chat",
        api: Api::Chat(Profile::deepseek()),
        ..HOSTED
    },
    Provider {
        name: "mistral",
        aliases: &["mistralai"],
        title: "Mistral",
        base_url: Some("https://api.mistral.ai/v1"),
        base_url_vars: &["MISTRAL_BASE_URL", "MISTRAL_API_BASE"],
        key_vars: &["MISTRAL_API_KEY"],
        example: "mistral-large-latest",
        api: Api::Chat(Profile::mistral()),
        ..HOSTED
    },
    Provider {
        name: "together",
        aliases: &["togetherai", "together_ai"],
        title: "Together",
        base_url: Some("https://api.together.xyz/v1"),
        base_url_vars: &["TOGETHER_BASE_URL", "TOGETHERAI_API_BASE"],
        key_vars: &["TOGETHER_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY"],
        example: "Qwen/Qwen3-235B-A22B",
        ..HOSTED
    },
    Provider {
        name: "xai",
        aliases: &["x-ai", "grok"],
        title: "xAI",
        base_url: Some("https://api.x.ai/v1"),
        base_url_vars: &["XAI_BASE_URL", "XAI_API_BASE"],
        key_vars: &["XAI_API_KEY", "GROK_API_KEY"],
        example: "grok-4",
        ..HOSTED
    },
    Provider {
        name: "fireworks",
        aliases: &["fireworks_ai"],
        title: "Fireworks",
        base_url: Some("https://api.fireworks.ai/inference/v1"),
        base_url_vars: &["FIREWORKS_BASE_URL", "FIREWORKS_API_BASE"],
        key_vars: &["FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"],
        example: "accounts/fireworks/models/qwen3-235b-a22b",
        // Tools or an answer schema, never both.
        api: Api::Chat(Profile::groq()),
        ..HOSTED
    },
    Provider {
        name: "cerebras",
        title: "Cerebras",
        base_url: Some("https://api.cerebras.ai/v1"),
        base_url_vars: &["CEREBRAS_BASE_URL", "CEREBRAS_API_BASE"],
        key_vars: &["CEREBRAS_API_KEY"],
        example: "gpt-oss-120b",
        ..HOSTED
    },
    Provider {
        name: "moonshot",
        aliases: &["moonshotai", "kimi"],
        title: "Moonshot",
        base_url: Some("https://api.moonshot.ai/v1"),
        base_url_vars: &["MOONSHOT_BASE_URL", "MOONSHOT_API_BASE"],
        key_vars: &["MOONSHOT_API_KEY", "MOONSHOTAI_API_KEY"],
        example: "kimi-k2-thinking",
        // No forced choice, no schema, and reasoning goes back: as DeepSeek.
        api: Api::Chat(Profile::deepseek()),
        ..HOSTED
    },
    Provider {
        name: "huggingface",
        aliases: &["hf"],
        title: "Hugging Face",
        base_url: Some("https://router.huggingface.co/v1"),
        base_url_vars: &["HF_BASE_URL"],
        key_vars: &["HF_TOKEN", "HUGGINGFACE_API_KEY"],
        example: "Qwen/Qwen3-235B-A22B",
        ..HOSTED
    },
];

/// Providers whose own APIs are not spoken yet, by the names people give them, each with the
/// family of its models at OpenRouter.
pub(super) const NOT_YET: &[(&str, Option<&str>)] = &[
    ("google-vertex", Some("google")),
    ("vertex", Some("google")),
    ("vertex_ai", Some("google")),
    ("cohere", Some("cohere")),
    ("azure", None),
    ("bedrock", None),
];

/// By name or alias, however it is cased.
pub(super) fn find(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| {
        provider.name.eq_ignore_ascii_case(name)
            || provider.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    })
}

/// The provider that a model's bare name belongs to.
pub(super) fn guess(model: &str) -> &'static str {
    let model = model.to_ascii_lowercase();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| model.starts_with(prefix));
    if model.ends_with(".json") {
        "script"
    } else if model.ends_with(".gguf") || starts(&["qwen2.5-coder", "smollm2"]) {
        "local"
    } else if starts(&["gpt-oss"]) {
        "ollama"
    } else if starts(&["gpt", "o1", "o3", "o4", "chatgpt"]) {
        "openai"
    } else if starts(&["deepseek"]) {
        "deepseek"
    } else if starts(&["mistral", "codestral", "magistral", "ministral", "devstral"]) {
        "mistral"
    } else if starts(&["grok"]) {
        "xai"
    } else if starts(&["kimi", "moonshot"]) {
        "moonshot"
    } else if starts(&["claude"]) {
        "anthropic"
    } else if starts(&["gemini"]) {
        "gemini"
    } else {
        "ollama"
    }
}
