//! Single effects, for an engine that keeps runs elsewhere.
//!
//! A durable engine steps the machine itself and journals in its own way; asking a model and
//! calling a tool are the same everywhere, so it has them from here.

use std::{sync::Arc, time::Duration};

use callgate_contract::{ErrorKind, Executed, Failure};
use callgate_machine::{Event, ToolCallEffect, event::CallFinished};
use callgate_wire::Request;
use tokio_util::sync::CancellationToken;

use crate::{
    engine::Engine,
    flight::{self, Asking},
    session::Observer,
    trace::TraceContext,
};

/// A request to the model, as [`callgate_machine::Effect::CallModel`] asks for it.
pub struct ModelCall {
    /// The run.
    pub run: Arc<str>,
    /// The hop.
    pub hop: u32,
    /// What to ask.
    pub request: Box<Request>,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// Sees deltas as they come; must not block.
    pub observer: Option<Observer>,
    /// The body of the run's previous request, where bodies are kept.
    pub previous: Option<Arc<str>>,
    /// The span that the provider is told of ([`Engine::trace_of_hop`]).
    pub trace: Option<TraceContext>,
}

impl Engine {
    /// Asks the model, or one that stands in: gives the `modelReplied` that answers the effect.
    pub async fn ask_model(&self, call: ModelCall) -> Event {
        let ModelCall { run, hop, request, timeout, observer, previous, trace } = call;
        let asking = Asking { run, hop, request, timeout, observer, previous, trace };
        let nothing = Event::ModelReplied {
            hop,
            reply: None,
            error: None,
            by: None,
            passed_over: Vec::new(),
            exchange: None,
        };
        flight::ask_model(self, asking).await.unwrap_or(nothing)
    }

    /// Calls a tool: gives the `callFinished` that answers the effect. `trace` is the span that the
    /// tool is told of ([`Engine::trace_of_call`]).
    pub async fn call_tool(
        &self,
        run: &Arc<str>,
        effect: ToolCallEffect,
        trace: Option<TraceContext>,
        cancel: &CancellationToken,
    ) -> Event {
        let (call, attempt) = (effect.call.clone(), effect.attempt);
        let ended = flight::call_tool(self, run, effect, trace, cancel).await;
        ended.unwrap_or_else(|| {
            let failure = Failure::new(ErrorKind::ToolException, "The tool gave no outcome.")
                .executed(Executed::Unknown);
            let failure = Some(failure);
            let finished = CallFinished { call, attempt, failure, ..CallFinished::default() };
            Event::CallFinished(Box::new(finished))
        })
    }

    /// The tools that other agents do the work of.
    pub fn delegates(&self) -> impl Iterator<Item = &Arc<str>> {
        self.delegates.keys()
    }
}
