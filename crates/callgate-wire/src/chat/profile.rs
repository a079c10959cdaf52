//! What one server of the Chat Completions family does differently from the next.

/// The dialect of one server. Each field is a fact about it, with the safest reading as default.
///
/// Sources: the providers' API references; for the compatible servers their source and issue
/// trackers. A server that is not known gets [`Profile::compatible`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// The field that caps generated tokens.
    pub cap: CapField,
    /// The role of the instructions.
    pub instructions: InstructionsRole,
    /// Whether `stream_options: {include_usage: true}` is understood.
    pub stream_usage: bool,
    /// When `parallel_tool_calls` is sent.
    pub parallel: ParallelField,
    /// The word for "at least one call": `required`, or `any` with Mistral.
    pub required: &'static str,
    /// Whether a choice that requires a call is heeded at all.
    pub forces: bool,
    /// How one tool is forced.
    pub one: OneChoice,
    /// How calls are forbidden.
    pub none: NoneChoice,
    /// How the choice is narrowed to some of the tools.
    pub subset: SubsetChoice,
    /// Whether a tool's `strict` is sent.
    pub strict: bool,
    /// How Structured Output is asked for.
    pub answer: AnswerMode,
    /// Whether that may go together with tools.
    pub answer_with_tools: bool,
    /// In what form reasoning goes back.
    pub reasoning: ReasoningEcho,
    /// Whether a tool message carries the tool's `name`.
    pub tool_message_name: bool,
    /// Which call ids the server takes.
    pub ids: CallIds,
    /// The most tools in one request.
    pub max_tools: usize,
    /// Models, by how their names begin, that take tools only with `reasoning_effort: "none"`.
    pub effort_none: &'static [&'static str],
}

/// See [`Profile::cap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapField {
    /// `max_tokens`: everyone but OpenAI's reasoning models.
    MaxTokens,
    /// `max_completion_tokens`: OpenAI. DeepSeek ignores it, so it is no safe default.
    MaxCompletionTokens,
}

/// See [`Profile::instructions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionsRole {
    /// `system`.
    System,
    /// `developer`: OpenAI. Chat templates of open models do not know it.
    Developer,
}

/// See [`Profile::parallel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParallelField {
    /// Not understood; the run has to keep to one call by itself.
    Never,
    /// Only to switch it off. Some OpenAI models refuse the field, whatever its value.
    OnlyFalse,
    /// Whenever the request says something; llama.cpp has it off by default.
    Always,
}

/// See [`Profile::one`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OneChoice {
    /// `{"type":"function","function":{"name":…}}`.
    Object,
    /// Only this tool is offered, and some call required: llama.cpp reads the object as `auto`.
    Filter,
}

/// See [`Profile::none`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoneChoice {
    /// `"none"`; the tools stay, and with them the provider's prompt cache.
    Field,
    /// The tools are left out: Mistral garbles its text otherwise, Ollama knows no choice.
    OmitTools,
}

/// See [`Profile::subset`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubsetChoice {
    /// `allowed_tools`: OpenAI; keeps the provider's prompt cache.
    AllowedTools,
    /// Only these tools are offered. Most other servers refuse `allowed_tools`.
    Filter,
}

/// See [`Profile::answer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerMode {
    /// `response_format` of type `json_schema`.
    Schema,
    /// The same, and the schema in the instructions: the servers of open models decode under it,
    /// but do not show it to the model.
    SchemaTold,
    /// `response_format` of type `json_object`, with the schema in the instructions: DeepSeek.
    Object,
    /// Only the schema in the instructions.
    Instructions,
}

/// See [`Profile::reasoning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningEcho {
    /// Not at all.
    Omit,
    /// As `reasoning_content`, on every message with calls even if empty: DeepSeek refuses the
    /// transcript otherwise.
    Content,
    /// As the `reasoning_details` that came, unchanged: OpenRouter.
    Details,
}

/// See [`Profile::ids`]. An id that does not fit is replaced by a hash of it, alike in call and
/// result, so that a transcript can move from one provider to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallIds {
    /// Any; Moonshot expects its own `functions.name:0` back.
    Any,
    /// At most 40 of `[A-Za-z0-9_-]`: OpenAI.
    Max40,
    /// Exactly 9 of `[A-Za-z0-9]`: Mistral, error code 3280.
    Alnum9,
}

impl Profile {
    /// OpenAI itself.
    pub const fn openai() -> Self {
        Self {
            cap: CapField::MaxCompletionTokens,
            instructions: InstructionsRole::Developer,
            stream_usage: true,
            parallel: ParallelField::OnlyFalse,
            required: "required",
            forces: true,
            one: OneChoice::Object,
            none: NoneChoice::Field,
            subset: SubsetChoice::AllowedTools,
            strict: true,
            answer: AnswerMode::Schema,
            answer_with_tools: true,
            reasoning: ReasoningEcho::Omit,
            tool_message_name: false,
            ids: CallIds::Max40,
            max_tools: 128,
            // By public reports; their reasoning with tools is for the Responses API.
            effort_none: &["gpt-5.6", "gpt-6-sol", "gpt-6-luna"],
        }
    }

    /// Any server that says it is compatible: what the known ones have in common.
    pub const fn compatible() -> Self {
        Self {
            cap: CapField::MaxTokens,
            instructions: InstructionsRole::System,
            stream_usage: true,
            parallel: ParallelField::OnlyFalse,
            required: "required",
            forces: true,
            one: OneChoice::Object,
            none: NoneChoice::Field,
            subset: SubsetChoice::Filter,
            strict: true,
            answer: AnswerMode::Schema,
            answer_with_tools: true,
            reasoning: ReasoningEcho::Omit,
            tool_message_name: false,
            ids: CallIds::Any,
            max_tools: usize::MAX,
            effort_none: &[],
        }
    }

    /// llama.cpp's `llama-server`. Its grammar serves either tools or an answer schema.
    pub const fn llamacpp() -> Self {
        Self {
            parallel: ParallelField::Always,
            one: OneChoice::Filter,
            answer: AnswerMode::SchemaTold,
            answer_with_tools: false,
            reasoning: ReasoningEcho::Content,
            ..Self::compatible()
        }
    }

    /// Ollama's `/v1`, which ignores `tool_choice`.
    pub const fn ollama() -> Self {
        Self {
            parallel: ParallelField::Never,
            forces: false,
            one: OneChoice::Filter,
            none: NoneChoice::OmitTools,
            answer: AnswerMode::SchemaTold,
            // A format suppresses calls on many of its models.
            answer_with_tools: false,
            ..Self::compatible()
        }
    }

    /// vLLM.
    pub const fn vllm() -> Self {
        Self {
            parallel: ParallelField::Always,
            answer: AnswerMode::SchemaTold,
            ..Self::compatible()
        }
    }

    /// OpenRouter.
    pub const fn openrouter() -> Self {
        Self { reasoning: ReasoningEcho::Details, ..Self::compatible() }
    }

    /// Groq. It takes no `response_format` beside tools.
    pub const fn groq() -> Self {
        Self { answer_with_tools: false, ..Self::compatible() }
    }

    /// DeepSeek. `strict` is understood below its `/beta` URL only.
    pub const fn deepseek() -> Self {
        Self {
            parallel: ParallelField::Never,
            strict: false,
            answer: AnswerMode::Object,
            answer_with_tools: false,
            reasoning: ReasoningEcho::Content,
            max_tools: 128,
            ..Self::compatible()
        }
    }

    /// Mistral.
    pub const fn mistral() -> Self {
        Self {
            // Usage comes on the last chunk without being asked for.
            stream_usage: false,
            required: "any",
            none: NoneChoice::OmitTools,
            answer_with_tools: false,
            tool_message_name: true,
            ids: CallIds::Alnum9,
            ..Self::compatible()
        }
    }
}
