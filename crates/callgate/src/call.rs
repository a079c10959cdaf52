//! One call through every gate, with no model: a contract tried by hand.

use std::sync::Arc;

use callgate_contract::{Envelope, Fault, Mode};
use callgate_engine::{Approver, Engine, Notice, Observer};
use callgate_machine::{Agent as Spec, Finish};
use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_wire::{AssistantPart, Message, Part, Reply, Request, Stop, ToolCall, Usage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Error, Project};

const ID: &str = "call_1";

/// A call of one of a project's tools, not made yet.
///
/// It goes the way of a model's call: parsed, judged by schema, rules and tier, asked about where
/// the tier says so, run, and its result judged. What answers it is the envelope that a model
/// would read.
#[must_use = "a call does nothing until it is made"]
pub struct SingleCall {
    project: Project,
    tool: Arc<str>,
    arguments: Arc<str>,
    spec: Spec,
    caller: Value,
    approver: Option<Arc<dyn Approver>>,
    observer: Option<Observer>,
    cancel: CancellationToken,
}

/// What a single call came to.
#[derive(Debug, Clone)]
pub struct Called {
    /// The envelope's text: what a model would read, digits as the tool wrote them.
    pub text: Arc<str>,
    /// The same, taken apart.
    pub envelope: Envelope,
    /// How the run around the call ended.
    pub finish: Finish,
}

impl Project {
    /// A call of a tool by its name, with argument text as a model would write it.
    pub fn call(&self, tool: &str, arguments: &str) -> SingleCall {
        let spec = Spec {
            name: self.spec().name.clone(),
            mode: self.spec().mode,
            approvals: self.spec().approvals.clone(),
            ..Spec::default()
        };
        SingleCall {
            project: self.clone(),
            tool: tool.into(),
            arguments: arguments.into(),
            spec,
            caller: Value::Null,
            approver: None,
            observer: None,
            cancel: CancellationToken::new(),
        }
    }
}

impl SingleCall {
    /// How much the gates mend by themselves. Default: as the project says.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.spec.mode = mode;
        self
    }

    /// Who calls, for rules and tiers: an object with `id`, `roles`, claims.
    pub fn caller(mut self, caller: Value) -> Self {
        self.caller = caller;
        self
    }

    /// Whoever is asked before a call of tier `approve` runs. Default: nobody, so it does not.
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Sees events as they come; must not block.
    pub fn on_notice(mut self, observer: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// A token that cancels the call from anywhere.
    pub fn cancel_with(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Makes the call.
    ///
    /// # Errors
    /// Events could not be kept. A refusal or a failure of the tool is no error here: it is in the
    /// envelope.
    pub async fn make(self) -> Result<Called, Error> {
        let call = ToolCall {
            id: ID.into(),
            name: self.tool.clone(),
            arguments: self.arguments,
            opaque: None,
        };
        let model = Arc::new(OneCall { call });
        let mut engine = Engine::new(self.spec, model, self.project.catalog().clone());
        for tool in self.project.catalog().tools() {
            if let Some(backend) = self.project.backend(&tool.name) {
                engine = engine.backend(&tool.name, backend.clone());
            }
        }
        if let Some(approver) = self.approver {
            engine = engine.approver(approver);
        }
        let engine = Arc::new(engine);
        let goal = format!("one call of {}", self.tool);
        let start = engine.start(&goal, self.caller);
        let mut session = engine.session(self.observer, self.cancel);
        let finish = session.start(start).await?;
        let text = answer(session.run().messages());
        let envelope = text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        // Cancelled before the call was even made.
        let envelope = envelope.unwrap_or_else(|| {
            Envelope::error(ID.into(), self.tool, Fault::cancelled_before_start())
        });
        let text = text.unwrap_or_else(|| envelope.to_text().into());
        Ok(Called { text, envelope, finish })
    }
}

/// The text that answers the call.
fn answer(messages: &[Arc<Message>]) -> Option<Arc<str>> {
    messages.iter().rev().find_map(|message| match &**message {
        Message::Tool(result) => result.content.iter().find_map(|part| match part {
            Part::Text { text } => Some(text.clone()),
            Part::Image { .. } => None,
        }),
        _ => None,
    })
}

/// In a model's place: makes the call, and has nothing to say about what came of it.
struct OneCall {
    call: ToolCall,
}

impl Model for OneCall {
    fn id(&self) -> &str {
        "none:one-call"
    }

    fn reply<'a>(&'a self, request: &'a Request, _: Option<OnDelta<'a>>) -> ReplyFuture<'a> {
        let answered = request.messages.iter().any(|m| matches!(**m, Message::Tool(_)));
        let content = if answered {
            vec![AssistantPart::Text { text: "".into() }]
        } else {
            vec![AssistantPart::Call(self.call.clone())]
        };
        let reply = Reply {
            content,
            stop: Stop::End,
            usage: Usage::default(),
            model: None,
            notes: Vec::new(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}
