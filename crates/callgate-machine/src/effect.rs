//! Effects: what the machine asks of the world. Engines perform them and decide nothing.

use std::{sync::Arc, time::Duration};

use callgate_contract::{Admitted, Tool};
use callgate_wire::Request;

use crate::{builtin::OwnCall, event::Event};

/// Something to do.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Record this event and step the machine with it, before any later effect is performed.
    Append(Event),
    /// Ask the model; answer with `ModelReplied`.
    CallModel {
        /// The hop.
        hop: u32,
        /// What to ask.
        request: Box<Request>,
        /// When to give up.
        timeout: Option<Duration>,
    },
    /// Call a tool; answer with `CallFinished`.
    CallTool(Box<ToolCallEffect>),
    /// Work out a call of one of the machine's own tools; answer with
    /// [`OwnCall::finished`](crate::builtin::OwnCall::finished).
    CallOwn(Box<OwnCall>),
    /// Ask a person; answer with `ApprovalDecided`.
    AskPerson(Box<Question>),
    /// Ask the user; answer with `UserAnswered`.
    AskUser(Box<UserQuestion>),
    /// Ask a person what became of a call; answer with `DoubtResolved`.
    AskDoubt(Box<Doubt>),
    /// The run waits to be resumed: withdraw what was asked of model and people, and let go.
    Park,
    /// Stop the model and the tools in flight. Each tool still answers with `CallFinished`.
    Abort,
    /// The run is over; nothing follows.
    End,
}

/// A tool call to perform.
#[derive(Debug, Clone)]
pub struct ToolCallEffect {
    /// The call's id.
    pub call: Arc<str>,
    /// The tool.
    pub tool: Arc<Tool>,
    /// Its arguments.
    pub arguments: Admitted,
    /// From 1.
    pub attempt: u32,
    /// The same for every attempt.
    pub idempotency_key: Arc<str>,
    /// The contract's timeout, or what is left of the run's time.
    pub timeout: Duration,
}

/// A question that the model puts to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserQuestion {
    /// The run.
    pub run: Arc<str>,
    /// The call that asks.
    pub call: Arc<str>,
    /// The question.
    pub question: Arc<str>,
    /// Answers to choose from, where the model gave some.
    pub choices: Vec<Arc<str>>,
    /// When the question lapses, in milliseconds since 1970.
    pub expires_at: Option<u64>,
}

/// A call whose outcome was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The run.
    pub run: Arc<str>,
    /// The call.
    pub call: Arc<str>,
    /// The tool.
    pub tool: Arc<str>,
    /// The admitted arguments.
    pub arguments: Arc<str>,
    /// The key under which the tool may know the call.
    pub idempotency_key: Arc<str>,
    /// The attempt whose outcome is unknown.
    pub attempt: u32,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The run.
    pub run: Arc<str>,
    /// The call.
    pub call: Arc<str>,
    /// The tool.
    pub tool: Arc<str>,
    /// What the tool's contract says it does.
    pub description: Arc<str>,
    /// The admitted arguments.
    pub arguments: Arc<str>,
    /// What a yes is good for; goes back in the decision.
    pub binding: Arc<str>,
    /// The condition that asked for approval, where there is one.
    pub because: Option<Arc<str>>,
    /// Whether the tool may destroy something.
    pub destructive: bool,
    /// When the question lapses, in milliseconds since 1970.
    pub expires_at: Option<u64>,
}
