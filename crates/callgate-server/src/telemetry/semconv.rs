//! Names of the OpenTelemetry GenAI semantic conventions, as of 1.41 (status: development).
//!
//! Own constants: the conventions still move, and which version is spoken is ours to say.
//! <https://opentelemetry.io/docs/specs/semconv/gen-ai/>

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(super) const AGENT: &str = "gen_ai.agent.name";
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(super) const OUTPUT_TYPE: &str = "gen_ai.output.type";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
pub(super) const TOOL: &str = "gen_ai.tool.name";
pub(super) const TOOL_CALL: &str = "gen_ai.tool.call.id";
pub(super) const TOOL_TYPE: &str = "gen_ai.tool.type";
pub(super) const ERROR: &str = "error.type";

// What people said and tools brought: only where it was asked for.
pub(super) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(super) const TOOL_RESULT: &str = "gen_ai.tool.call.result";
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub(super) const INSTRUCTIONS: &str = "gen_ai.system_instructions";

// Our own, for what the conventions have no word for.
pub(super) const HOP: &str = "callgate.hop";
pub(super) const ATTEMPT: &str = "callgate.attempt";
pub(super) const STATUS: &str = "callgate.run.status";
pub(super) const STOPPED_BY: &str = "callgate.run.stopped_by";
pub(super) const CALLS: &str = "callgate.run.calls";
pub(super) const VERDICT: &str = "callgate.verdict";
pub(super) const DECISION: &str = "callgate.approval.decision";
pub(super) const LOOKUP: &str = "callgate.lookup_of";

pub(super) const PAST_MISSING: &str = "callgate.run.past_missing";
pub(super) const FIRST_SEQ: &str = "callgate.run.first_seq";
#[cfg(feature = "proxy")]
pub(super) const API: &str = "callgate.proxy.api";
#[cfg(feature = "proxy")]
pub(super) const ATTEMPTS: &str = "callgate.proxy.attempts";
#[cfg(feature = "proxy")]
pub(super) const STREAMED: &str = "callgate.proxy.streamed";

// Of the conventions for HTTP, which are stable.
#[cfg(feature = "proxy")]
pub(super) const HTTP_METHOD: &str = "http.request.method";
#[cfg(feature = "proxy")]
pub(super) const HTTP_ROUTE: &str = "http.route";
#[cfg(feature = "proxy")]
pub(super) const HTTP_STATUS: &str = "http.response.status_code";

/// The conventions' name of a provider of ours.
pub(super) fn provider(ours: &str) -> &str {
    match ours {
        "openai" | "openai-responses" | "openai-chat" => "openai",
        "gemini" => "gcp.gemini",
        "azure" | "azure-openai" => "azure.ai.openai",
        "bedrock" => "aws.bedrock",
        "mistral" => "mistral_ai",
        "xai" => "x_ai",
        other => other,
    }
}

/// `provider:model` as the provider and its own name of the model.
pub(super) fn model(id: &str) -> (&str, &str) {
    match id.split_once(':') {
        Some((ours, model)) => (provider(ours), model),
        None => ("unknown", id),
    }
}
