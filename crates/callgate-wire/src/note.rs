//! What a codec had to do that the request did not say (law 11).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ToolChoice;

/// One departure of a body from its request, returned beside the body.
///
/// Those that a reply must be checked for by the run say so: [`Note::is_unforced`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Note {
    /// The choice has no word with this provider; only these tools are offered instead.
    ChoiceByFilter {
        /// The choice asked for.
        choice: ToolChoice,
        /// What is offered.
        offered: Vec<Arc<str>>,
    },
    /// A call cannot be forced here; the model is told to make it, and may not.
    ChoiceNotForced {
        /// The choice asked for.
        choice: ToolChoice,
        /// Why not.
        reason: Unforced,
    },
    /// That more than one call comes cannot be prevented here.
    OneCallNotForced,
    /// The provider takes no more tools; these are not offered.
    ToolsLeftOut {
        /// How many it takes.
        limit: usize,
        /// Their names.
        names: Vec<Arc<str>>,
    },
    /// Two tools of one name; only the first is offered.
    DuplicateTool {
        /// The name.
        name: Arc<str>,
    },
    /// The name has characters, a beginning or a length that the provider does not take.
    ToolRenamed {
        /// Its name in the request, and again in the reply.
        name: Arc<str>,
        /// Its name on the wire.
        wire: Arc<str>,
    },
    /// Strict decoding of a tool's arguments is asked for, and not to be had here.
    StrictNotForced {
        /// The tool.
        tool: Arc<str>,
    },
    /// The answer's schema is told to the model, and not enforced by the provider.
    AnswerTold,
    /// A field that this model refuses is left out.
    FieldLeftOut {
        /// Its neutral name, such as `temperature`.
        field: Arc<str>,
    },
    /// Reasoning is switched off for this request.
    ThinkingOff {
        /// Why.
        reason: Arc<str>,
    },
    /// A call had no result; the model is told that it was cancelled.
    ResultMissing {
        /// The call.
        call_id: Arc<str>,
    },
    /// A result without its call, or a second one for it; it is left out.
    ResultLeftOut {
        /// The id that it answers.
        call_id: Arc<str>,
        /// Whether the call has another result.
        duplicate: bool,
    },
    /// A call id was used before, or the provider does not take it.
    CallRenamed {
        /// The id in the transcript.
        call_id: Arc<str>,
        /// The id on the wire.
        wire: Arc<str>,
    },
    /// Arguments in the transcript that are no JSON object, replaced by a stand-in.
    ArgumentsReplaced {
        /// The call, by its id in the transcript.
        call_id: Arc<str>,
    },
    /// Reasoning without a form in which it could go back.
    ReasoningLeftOut {
        /// How many parts.
        count: usize,
    },
    /// State of another provider or another model.
    StateLeftOut {
        /// Where it came from.
        provider: Arc<str>,
        /// How many parts.
        count: usize,
    },
    /// Images of results have no place in a result here; they follow as the user's.
    ImagesMoved {
        /// How many.
        count: usize,
    },
    /// Images that have no place here at all.
    ImagesLeftOut {
        /// How many.
        count: usize,
    },
    /// The transcript does not begin with the user; a short message does now.
    OpeningAdded,
    /// Instructions within a transcript have no place; they follow the first ones.
    InstructionsMoved {
        /// How many.
        count: usize,
    },
}

/// Why a call cannot be forced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Unforced {
    /// The provider's API has no word for it.
    Api,
    /// The model refuses it.
    Model,
    /// Not while the model is thinking.
    Thinking,
}

impl Note {
    /// Whether the reply may break the request's tool choice or number of calls, so that the run
    /// has to look.
    pub fn is_unforced(&self) -> bool {
        matches!(self, Self::ChoiceNotForced { .. } | Self::OneCallNotForced)
    }
}
