//! One call through every gate, with no model: a contract tried by hand, or called by a program
//! that has a model of its own.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use callgate_contract::{Catalog, Envelope, Fault, Mode, Output, Tool, rules::Ask};
use callgate_machine::{Agent, Event, Finish, Mount, builtin};
use callgate_model::{Model, OnDelta, ReplyFuture};
use callgate_tool::Backend;
use callgate_wire::{AssistantPart, Message, Part, Reply, Request, Stop, ToolCall, Usage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    approver::Approver,
    engine::Engine,
    outcome::EngineError,
    session::{Notice, Observer},
};

const ID: &str = "call_1";

/// Tools behind their gates: a catalog, who does the work, and how the gates are set. Cheap to
/// clone.
#[derive(Clone)]
pub struct Toolset {
    catalog: Arc<Catalog>,
    backends: Arc<HashMap<Arc<str>, Arc<dyn Backend>>>,
    spec: Arc<Agent>,
    traced: bool,
    /// By the name of the tool that is called.
    near: Arc<RwLock<HashMap<Arc<str>, Arc<Near>>>>,
}

/// What the calls of one tool can touch, and what is made of that once: to hash a definition takes
/// longer than to judge its arguments.
struct Near {
    catalog: Arc<Catalog>,
    mount: Mount,
    fingerprints: BTreeMap<Arc<str>, String>,
}

impl Near {
    fn of(catalog: Arc<Catalog>) -> Self {
        // Nobody reads definitions here.
        let mount = Mount::names_only(&catalog);
        let fingerprints = builtin::fingerprints(&catalog);
        Self { catalog, mount, fingerprints }
    }
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolset").field("tools", &self.catalog.names()).finish_non_exhaustive()
    }
}

impl Toolset {
    /// Tools, and by their names who does the work of each.
    pub fn new(
        catalog: impl Into<Arc<Catalog>>,
        backends: impl IntoIterator<Item = (Arc<str>, Arc<dyn Backend>)>,
    ) -> Self {
        Self {
            catalog: catalog.into(),
            backends: Arc::new(backends.into_iter().collect()),
            spec: Arc::default(),
            traced: false,
            near: Arc::default(),
        }
    }

    /// Gates set as an agent sets them: its name, its mode, how long people are waited for.
    #[must_use]
    pub fn as_agent(mut self, agent: &Agent) -> Self {
        let spec = Arc::make_mut(&mut self.spec);
        spec.name.clone_from(&agent.name);
        spec.mode = agent.mode;
        spec.approvals = agent.approvals.clone();
        self
    }

    /// How much the gates mend by themselves.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        Arc::make_mut(&mut self.spec).mode = mode;
        self
    }

    /// Whether somebody sends the spans of calls ([`Engine::traced`]). Default: no.
    #[must_use]
    pub fn traced(mut self, traced: bool) -> Self {
        self.traced = traced;
        self
    }

    /// The contracts.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The agent's name, mode and approvals; everything else is the default.
    pub fn spec(&self) -> &Agent {
        &self.spec
    }

    /// A call of a tool by its name, with argument text as a model would write it.
    pub fn call(&self, tool: &str, arguments: &str) -> SingleCall {
        SingleCall {
            tools: self.clone(),
            tool: tool.into(),
            arguments: arguments.into(),
            caller: Value::Null,
            approver: None,
            observer: None,
            cancel: CancellationToken::new(),
        }
    }

    /// An engine for a whole agent with these tools; only its own settings count.
    pub fn engine(&self, agent: Agent, model: Arc<dyn Model>) -> Engine {
        let mut engine =
            Engine::new(agent, model, Catalog::clone(&self.catalog)).traced(self.traced);
        for (tool, backend) in &*self.backends {
            engine = engine.backend(tool, backend.clone());
        }
        engine
    }

    /// What a call can touch. Kept for names of the catalog, which resolve in every mode alike.
    fn near(&self, name: &str) -> Arc<Near> {
        let Some(tool) = self.catalog.get(name) else {
            return Arc::new(Near::of(self.around(name)));
        };
        let kept = self.near.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        kept.unwrap_or_else(|| {
            let near = Arc::new(Near::of(self.around(name)));
            let mut all = self.near.write().unwrap_or_else(PoisonError::into_inner);
            all.insert(tool.name.clone(), near.clone());
            near
        })
    }

    /// What a call can touch: its tool, and those that its rules ask. A name that no tool has
    /// meets the whole catalog, whose tools the refusal lists.
    fn around(&self, name: &str) -> Arc<Catalog> {
        let Ok((tool, _)) = self.catalog.resolve(name, self.spec.mode) else {
            return self.catalog.clone();
        };
        let asked = tool.rules.iter().filter_map(|rule| match &rule.ask {
            Ask::Lookup(lookup) => self.catalog.get(&lookup.tool),
            Ask::Check(_) => None,
        });
        Arc::new(asked.chain([tool]).map(|tool| Tool::clone(tool)).collect())
    }
}

/// A call of one tool, not made yet.
///
/// It goes the way of a model's call: parsed, judged by schema, rules and tier, asked about where
/// the tier says so, run, and its result judged. What answers it is the envelope that a model
/// would read.
#[must_use = "a call does nothing until it is made"]
pub struct SingleCall {
    tools: Toolset,
    tool: Arc<str>,
    arguments: Arc<str>,
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
    /// Images beside it: media type and base64 data.
    pub images: Vec<(Arc<str>, Arc<str>)>,
    /// What the backend brought, before the gate out shaped it; absent where it brought nothing.
    pub output: Option<Output>,
    /// How the run around the call ended.
    pub finish: Finish,
}

impl SingleCall {
    /// How much the gates mend by themselves. Default: as the tools say.
    pub fn mode(mut self, mode: Mode) -> Self {
        Arc::make_mut(&mut self.tools.spec).mode = mode;
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
    pub fn on_notice(self, observer: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.observer(Arc::new(observer))
    }

    /// Sees events as they come; must not block.
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = Some(observer);
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
    pub async fn make(self) -> Result<Called, EngineError> {
        let call = ToolCall {
            id: ID.into(),
            name: self.tool.clone(),
            arguments: self.arguments,
            opaque: None,
        };
        let near = self.tools.near(&self.tool);
        let Near { catalog, mount, fingerprints } = &*near;
        let model = Arc::new(OneCall { call });
        let mounted = (catalog.clone(), mount.clone(), fingerprints.clone());
        let mut engine = Engine::mounted(self.tools.spec, model, mounted)
            .stream(false)
            .traced(self.tools.traced);
        for tool in catalog.tools() {
            if let Some(backend) = self.tools.backends.get(&tool.name) {
                engine = engine.backend(&tool.name, backend.clone());
            }
        }
        if let Some(approver) = self.approver {
            engine = engine.approver(approver);
        }
        let engine = Arc::new(engine);
        let brought = Arc::new(Mutex::new(None));
        let observer = watching(brought.clone(), self.observer);
        let start = engine.start(&format!("one call of {}", self.tool), self.caller);
        let mut session = engine.session(Some(observer), self.cancel);
        let finish = session.start(start).await?.finished()?;
        let (text, images) = answer(session.run().messages());
        let envelope = text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        // Cancelled before the call was even made.
        let envelope = envelope.unwrap_or_else(|| {
            Envelope::error(ID.into(), self.tool, Fault::cancelled_before_start())
        });
        let text = text.unwrap_or_else(|| envelope.to_text().into());
        let output = brought.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(Called { text, envelope, images, output, finish })
    }
}

/// An observer that keeps what the backend brought, before another.
fn watching(brought: Arc<Mutex<Option<Output>>>, then: Option<Observer>) -> Observer {
    Arc::new(move |notice| {
        if let Notice::Record(record) = notice
            && let Event::CallFinished(finished) = &record.event
            && &*finished.call == ID
        {
            let mut brought = brought.lock().unwrap_or_else(PoisonError::into_inner);
            brought.clone_from(&finished.output);
        }
        if let Some(then) = &then {
            then(notice);
        }
    })
}

/// Media type and base64 data.
type Image = (Arc<str>, Arc<str>);

/// The text that answers the call, and the images beside it.
fn answer(messages: &[Arc<Message>]) -> (Option<Arc<str>>, Vec<Image>) {
    let found = messages.iter().rev().find_map(|message| match &**message {
        Message::Tool(result) => Some(&result.content),
        _ => None,
    });
    let (mut text, mut images) = (None, Vec::new());
    for part in found.into_iter().flatten() {
        match part {
            Part::Text { text: words } => text = text.or_else(|| Some(words.clone())),
            Part::Image { media_type, data } => images.push((media_type.clone(), data.clone())),
        }
    }
    (text, images)
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
