//! Operations on tasks, whatever binding they come by.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use callgate_contract::{Catalog, Tool};
use callgate_engine::{BookError, JournalError};
use callgate_machine::builtin;
use callgate_tool::a2a::wire::{Kind, Message, Role, SendParams, State, Task, Version, WireError};

use super::{
    A2aOptions, answer,
    direct::{self, Direct},
    feed::{self, Feed, Until},
    ids, numbers,
    origin::Origin,
    route::{Offer, Route},
    view::View,
};
use crate::{
    ServeError,
    http::{Identity, Scope},
    runs::{HostError, HostedAgent, NewRun, RunHost},
};

/// How long a cancelled task may take to be over before it is shown as it is.
const ENDING: Duration = Duration::from_secs(10);

/// Messages to tasks under way that are remembered, so that one that comes twice is heard once.
const REMEMBERED: usize = 4096;

/// An A2A server over a host of runs. Cheap to clone.
#[derive(Clone)]
pub struct A2aServer(pub(super) Arc<Shared>);

pub(super) struct Shared {
    pub(super) host: Arc<RunHost>,
    pub(super) options: A2aOptions,
    /// The tools that can be called directly.
    offered: Option<Arc<Catalog>>,
    /// Since when the card is as it is, as HTTP tells a date.
    pub(super) since: String,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    order: VecDeque<(Arc<str>, String)>,
    seen: HashMap<(Arc<str>, String), ()>,
}

/// What a message led to.
pub(super) enum Sent {
    /// An answer without a task.
    Message(Box<Message>),
    /// A task, to be followed.
    Task(Box<Feed>),
}

impl std::fmt::Debug for A2aServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aServer").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl A2aServer {
    /// A server of agents that a host drives.
    ///
    /// # Errors
    /// An agent that the options name is not hosted, or the one for skills has a model of its own.
    pub fn new(host: Arc<RunHost>, options: A2aOptions) -> Result<Self, ServeError> {
        let named = |name: &Option<Arc<str>>| match name {
            Some(name) => host.agent(Some(name)).map(|_| ()),
            None => Ok(()),
        };
        for name in [&options.agent, &options.skills] {
            named(name).map_err(|error| ServeError::A2a(error.to_string()))?;
        }
        let skills = options.skills.as_deref().and_then(|name| host.agent(Some(name)).ok());
        let offered = skills.map(|agent| Arc::new(offered(agent.engine.catalog())));
        let server = Self(Arc::new(Shared {
            host,
            options,
            offered,
            since: httpdate::fmt_http_date(std::time::SystemTime::now()),
            heard: Mutex::default(),
        }));
        if let Some(agent) = server.skills()
            && agent.engine.model_id() != callgate_model::Model::id(&Direct)
        {
            let words =
                format!("the agent {:?} has a model: skills are called without", agent.name);
            return Err(ServeError::A2a(words));
        }
        Ok(server)
    }

    /// The agent that takes words; none where only skills are served.
    pub(super) fn agent(&self) -> Option<&HostedAgent> {
        let options = &self.0.options;
        let agent = self.0.host.agent(options.agent.as_deref()).ok()?;
        (options.skills.as_deref() != Some(&*agent.name)).then_some(agent)
    }

    /// The agent that makes calls of skills.
    pub(super) fn skills(&self) -> Option<&HostedAgent> {
        let name = self.0.options.skills.as_deref()?;
        self.0.host.agent(Some(name)).ok()
    }

    /// The tools that can be called directly.
    pub(super) fn catalog(&self) -> Option<&Arc<Catalog>> {
        self.0.offered.as_ref()
    }

    /// Whether somebody may do this at all.
    fn may(identity: &Identity, scope: Scope) -> Result<(), WireError> {
        if identity.may(scope) {
            return Ok(());
        }
        let words = format!("this token lacks the scope \"{scope}\"");
        Err(WireError::new(Kind::UnsupportedOperation, words).with("scope", scope.as_str()))
    }

    /// Takes a message: begins a task, or goes on with one.
    pub(super) async fn send(
        &self,
        identity: &Identity,
        params: SendParams,
    ) -> Result<Sent, WireError> {
        Self::may(identity, Scope::Run)?;
        if params.push {
            return Err(no_push());
        }
        if params.message.role != Role::User {
            let words = "a message to an agent has the role ROLE_USER";
            return Err(WireError::new(Kind::InvalidParams, words));
        }
        match params.message.task.clone() {
            Some(task) => self.go_on(identity, &task, &params.message).await,
            None => self.begin(identity, &params.message).await,
        }
    }

    async fn begin(&self, identity: &Identity, message: &Message) -> Result<Sent, WireError> {
        let offer = Offer {
            has_agent: self.agent().is_some(),
            skills: self.catalog().map(|catalog| &**catalog),
        };
        let content = message.write(Version::V1);
        let content = if self.0.options.deduplicate {
            content
        } else {
            ids::nonce().map_err(|error| WireError::new(Kind::Internal, error.to_string()))?
        };
        let owner = &*identity.name;
        let context = message
            .context
            .clone()
            .unwrap_or_else(|| ids::context_of(owner, &message.id, &content));
        let (agent, goal) = match self.0.options.routing.route(message, offer)? {
            Route::Reply(parts) => {
                let id = format!("{}/reply", message.id);
                let mut reply = Message::new(id, Role::Agent, parts);
                reply.context = Some(context);
                return Ok(Sent::Message(Box::new(reply)));
            }
            Route::Agent(goal) => (self.agent(), goal),
            Route::Skill { name, arguments } => {
                let schema = self.catalog().and_then(|catalog| catalog.get(&name));
                let raw = serde_json::from_str::<&serde_json::value::RawValue>(&arguments).ok();
                let whole =
                    raw.zip(schema).map(|(raw, tool)| numbers::whole(raw, tool.input.value()));
                (self.skills(), direct::goal(&name, whole.as_deref().unwrap_or(&arguments)))
            }
        };
        let agent = agent.ok_or_else(|| {
            WireError::new(Kind::UnsupportedOperation, "nobody here takes such messages")
        })?;
        let id: Arc<str> = ids::of_message(owner, &context, &message.id, &content).into();
        let origin = Origin { owner: owner.to_owned(), context, message: message.id.clone() };
        let new = NewRun {
            agent: Some(agent.name.clone()),
            goal,
            caller: origin.in_caller(&identity.caller),
            id: Some(id),
        };
        let given = self.0.host.start(new).await.map_err(|error| refused(&error))?;
        let mut view = self.view(&given.run).await?;
        if !given.is_new {
            self.catch_up(&mut view).await?;
        }
        self.follow(view, Until::Turn).await
    }

    async fn go_on(
        &self,
        identity: &Identity,
        task: &str,
        message: &Message,
    ) -> Result<Sent, WireError> {
        let mut view = self.own(identity, task).await?;
        if let Some(context) = &message.context
            && *context != view.origin().context
        {
            let words = "the task belongs to another contextId";
            return Err(WireError::new(Kind::InvalidParams, words).with("taskId", task));
        }
        let key = (view.id().clone(), message.id.clone());
        if self.0.options.deduplicate && self.was_heard(&key) {
            return self.follow(view, Until::Turn).await;
        }
        if view.state().is_terminal() {
            let words = "the task is over and takes no more messages; send one without taskId";
            return Err(WireError::new(Kind::UnsupportedOperation, words).with("taskId", task));
        }
        let schema = |tool: &str| self.catalog()?.get(tool).map(|tool| tool.input.value().clone());
        let word = answer::word(message, view.waits(), &*self.0.options.routing, schema)
            .map_err(|error| error.with("taskId", task))?;
        if word.decides {
            Self::may(identity, Scope::Approve)?;
        }
        let by = Some(identity.name.clone());
        let call = word.call.clone();
        self.0
            .host
            .say(&word.run, &word.call, word.said, by)
            .await
            .map_err(|error| refused(&error))?;
        self.hear(key);
        view.heard(&call);
        self.follow(view, Until::Turn).await
    }

    async fn follow(&self, view: View, until: Until) -> Result<Sent, WireError> {
        let feed = Feed::new(&self.0.host, view, until).await.map_err(|error| refused(&error))?;
        Ok(Sent::Task(Box::new(feed)))
    }

    /// Waits for the turn to be over, unless that is not wanted, and shows the task.
    pub(super) async fn shown(
        &self,
        feed: &mut Feed,
        immediately: bool,
        history: Option<usize>,
    ) -> Task {
        if !immediately {
            feed.follow().await;
        }
        let mut task = feed.view().task();
        task.keep_history(history);
        task
    }

    /// A task as it is.
    pub(super) async fn get(
        &self,
        identity: &Identity,
        id: &str,
        history: Option<usize>,
    ) -> Result<Task, WireError> {
        let mut task = self.own(identity, id).await?.task();
        task.keep_history(history);
        Ok(task)
    }

    /// Ends a task.
    pub(super) async fn cancel(&self, identity: &Identity, id: &str) -> Result<Task, WireError> {
        let view = self.own(identity, id).await?;
        Self::may(identity, Scope::Run)?;
        let over = || {
            let words = "the task is over; there is nothing to cancel";
            WireError::new(Kind::TaskNotCancelable, words).with("taskId", id)
        };
        if view.state().is_terminal() {
            return Err(over());
        }
        match self.0.host.cancel(view.id(), Some(identity.name.clone())).await {
            Ok(()) => {}
            Err(HostError::Book(BookError::Over { .. })) => return Err(over()),
            Err(error) => return Err(refused(&error)),
        }
        let mut feed =
            Feed::new(&self.0.host, view, Until::End).await.map_err(|error| refused(&error))?;
        // What does not end in time is shown as it is; it will.
        let _ = tokio::time::timeout(ENDING, feed.follow()).await;
        let state = feed.view().state();
        if state.is_terminal() && state != State::Canceled {
            return Err(over());
        }
        Ok(feed.view().task())
    }

    /// Follows a task to its end.
    pub(super) async fn subscribe(
        &self,
        identity: &Identity,
        id: &str,
    ) -> Result<Box<Feed>, WireError> {
        let view = self.own(identity, id).await?;
        if view.state().is_terminal() {
            let words = "the task is over; get it instead";
            return Err(WireError::new(Kind::UnsupportedOperation, words).with("taskId", id));
        }
        let feed = Feed::new(&self.0.host, view, Until::End).await;
        feed.map(Box::new).map_err(|error| refused(&error))
    }

    /// A task of the caller's, up to date.
    pub(super) async fn own(&self, identity: &Identity, id: &str) -> Result<View, WireError> {
        let mut view = self.view(id).await?;
        let is_own = view.origin().owner == *identity.name || identity.may(Scope::Admin);
        if !is_own {
            return Err(WireError::no_task(id));
        }
        self.catch_up(&mut view).await?;
        Ok(view)
    }

    /// A task by its first event.
    async fn view(&self, id: &str) -> Result<View, WireError> {
        let first = match self.0.host.records(id, 0, 1).await {
            Ok(records) => records.into_iter().next(),
            Err(HostError::Book(BookError::Journal(JournalError::UnknownRun { .. }))) => None,
            Err(error) => return Err(refused(&error)),
        };
        let first = first.ok_or_else(|| WireError::no_task(id))?;
        let summary = self.0.host.summary(id).await.map_err(|error| refused(&error))?;
        let agent = self.0.host.agent(Some(&summary.agent));
        let agent = agent.map_err(|_| WireError::no_task(id))?;
        View::begin(&first, agent.engine.catalog().clone()).ok_or_else(|| WireError::no_task(id))
    }

    async fn catch_up(&self, view: &mut View) -> Result<(), WireError> {
        let records = self.0.host.records(view.id(), 0, usize::MAX).await;
        for record in records.map_err(|error| refused(&error))? {
            view.take(&record);
        }
        feed::delegates(&self.0.host, view).await;
        Ok(())
    }

    fn was_heard(&self, key: &(Arc<str>, String)) -> bool {
        self.0.heard.lock().unwrap_or_else(PoisonError::into_inner).seen.contains_key(key)
    }

    fn hear(&self, key: (Arc<str>, String)) {
        let mut heard = self.0.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.seen.insert(key.clone(), ()).is_none() {
            heard.order.push_back(key);
        }
        if heard.order.len() > REMEMBERED
            && let Some(oldest) = heard.order.pop_front()
        {
            heard.seen.remove(&oldest);
        }
    }
}

/// The tools of an agent without those that the machine adds for its model, which are no skills.
fn offered(catalog: &Catalog) -> Catalog {
    let own = |tool: &&Arc<Tool>| !tool.backend.contains_key(builtin::BACKEND);
    catalog.tools().filter(own).map(|tool| Tool::clone(tool)).collect()
}

/// What the four about push notifications are answered with.
pub(super) fn no_push() -> WireError {
    WireError::new(Kind::PushNotSupported, "this agent tells nobody by web hook; subscribe instead")
}

/// What a host's refusal is to a client.
pub(super) fn refused(error: &HostError) -> WireError {
    let kind = match error {
        HostError::Book(BookError::Journal(JournalError::UnknownRun { .. })) => Kind::TaskNotFound,
        HostError::Book(
            BookError::Over { .. }
            | BookError::NotWaiting { .. }
            | BookError::Decided(_)
            | BookError::OtherWord(_),
        ) => Kind::UnsupportedOperation,
        HostError::Book(BookError::OtherBinding { .. } | BookError::EditRefused(_))
        | HostError::OtherRun { .. }
        | HostError::BadId => Kind::InvalidParams,
        _ => Kind::Internal,
    };
    if kind == Kind::Internal && !matches!(error, HostError::Crowded { .. } | HostError::Closing) {
        // Paths and causes are for the log.
        tracing::error!(%error, "an A2A request came to nothing");
        return WireError::new(kind, "something went wrong at the agent's side");
    }
    WireError::new(kind, error.to_string())
}
