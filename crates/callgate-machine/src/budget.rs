//! Budgets: what a run may use up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use callgate_wire::Usage;

/// Bounds of a run. Absent means unbounded, but for those with a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Budget {
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Money, by the agent's `prices`.
    pub usd: Option<f64>,
    /// Seconds from the run's start; waiting for people does not count.
    pub seconds: Option<u64>,
    /// Calls of one tool that start.
    pub calls_per_tool: Option<u32>,
    /// Further tries after a call's arguments were refused; also re-asks for a fitting answer.
    /// Default: 3.
    pub retries_per_call: u32,
    /// How often the same call may fail the same way before the run stops. Default: 3.
    #[schemars(range(min = 1))]
    pub identical_failures: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            tokens: None,
            usd: None,
            seconds: None,
            calls_per_tool: None,
            retries_per_call: 3,
            identical_failures: 3,
        }
    }
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Price {
    /// Input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the provider's cache. Default: as input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

impl Price {
    /// What a usage costs.
    #[allow(clippy::cast_precision_loss)] // token counts are far below 2^52
    pub fn of(&self, usage: &Usage) -> f64 {
        let fresh = usage.input_tokens.saturating_sub(usage.cached_tokens) as f64;
        let cached = usage.cached_tokens as f64 * self.cached.unwrap_or(self.input);
        (fresh * self.input + cached + usage.output_tokens as f64 * self.output) / 1e6
    }
}
