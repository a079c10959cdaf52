//! What runs share: a model, tools, a journal, somebody to ask.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use callgate_contract::{Catalog, tool::hash};
use callgate_machine::{
    Agent, Mount, Run, builtin,
    event::{AnswerSchema, RunStarted},
};
use callgate_model::Model;
use callgate_tool::Backend;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::{
    approver::{Approver, DenyAll},
    clock::Clock,
    journal::{Journal, JournalError, MemoryJournal},
    session::{Observer, Session},
};

/// Everything that runs of one agent share.
pub struct Engine {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) fallbacks: Vec<Arc<dyn Model>>,
    pub(crate) backends: HashMap<Arc<str>, Arc<dyn Backend>>,
    /// Other agents, by the tool they stand behind.
    pub(crate) delegates: HashMap<Arc<str>, Arc<Engine>>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) stream: bool,
    pub(crate) keeps_wire: bool,
    pub(crate) traced: bool,
    agent: Arc<Agent>,
    answer: Option<AnswerSchema>,
    catalog: Arc<Catalog>,
    mount: Mount,
    /// Whether the mount is what the provider takes, or what the caller said.
    own_mount: bool,
    fingerprints: BTreeMap<Arc<str>, String>,
    /// The hash of the catalog's text, once the journal has it; none where it keeps no texts.
    kept: OnceCell<Option<Arc<str>>>,
    /// The catalog's text and its hash, once they were wanted.
    text: OnceLock<(Arc<str>, Arc<str>)>,
    clock: Clock,
}

impl Engine {
    /// An engine for an agent whose tools are those of a catalog, and the built-in ones that it
    /// asks for.
    pub fn new(agent: Agent, model: Arc<dyn Model>, mut catalog: Catalog) -> Self {
        builtin::add(&agent, &mut catalog);
        let mount = Mount::of_models(&agent, model.id(), &[], &catalog, None);
        let fingerprints = builtin::fingerprints(&catalog);
        let mounted = (Arc::new(catalog), mount, fingerprints);
        Self { own_mount: true, ..Self::mounted(Arc::new(agent), model, mounted) }
    }

    /// An engine whose model is offered what the caller says, instead of what its provider takes:
    /// of a catalog, with the fingerprints of its tools.
    pub(crate) fn mounted(
        agent: Arc<Agent>,
        model: Arc<dyn Model>,
        (catalog, mount, fingerprints): (Arc<Catalog>, Mount, BTreeMap<Arc<str>, String>),
    ) -> Self {
        Self {
            model,
            fallbacks: Vec::new(),
            backends: HashMap::new(),
            delegates: HashMap::new(),
            journal: Arc::new(MemoryJournal::new()),
            approver: Arc::new(DenyAll),
            stream: true,
            keeps_wire: false,
            traced: false,
            agent,
            answer: None,
            catalog,
            mount,
            own_mount: false,
            fingerprints,
            kept: OnceCell::new(),
            text: OnceLock::new(),
            clock: Clock::default(),
        }
    }

    /// Who does the work of a tool.
    #[must_use]
    pub fn backend(mut self, tool: &str, backend: Arc<dyn Backend>) -> Self {
        self.backends.insert(tool.into(), backend);
        self
    }

    /// Another agent that does the work of a tool: a run of its own for each call, linked to the
    /// call, within what is left of this run's budget, asking the same people and kept in the same
    /// journal.
    #[must_use]
    pub fn delegate(mut self, tool: &str, agent: Arc<Engine>) -> Self {
        self.delegates.insert(tool.into(), agent);
        self
    }

    /// Where events are kept. Default: in memory.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = journal;
        self.kept = OnceCell::new();
        self
    }

    /// Who is asked for approval. Default: nobody, so every question is a no.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Whether the bytes that go to the provider and come back are kept in the journal, without
    /// headers. Default: no.
    #[must_use]
    pub fn keep_wire(mut self, keep: bool) -> Self {
        self.keeps_wire = keep;
        self
    }

    /// Whether somebody sends the spans of runs, with the ids of [`trace`](crate::trace): models and
    /// tools are told the one that is theirs then (`traceparent`). Default: no; a run that began in
    /// a trace of somebody else's only hands that on.
    #[must_use]
    pub fn traced(mut self, traced: bool) -> Self {
        self.traced = traced;
        self
    }

    /// Structured Output: the final answer's schema.
    #[must_use]
    pub fn answer(mut self, answer: Option<AnswerSchema>) -> Self {
        self.answer = answer;
        self.remount();
        self
    }

    /// Models that stand in, in order, when the one before has an outage or a rate limit. The
    /// transcript goes with them, without what only its own model understands.
    #[must_use]
    pub fn fallbacks(mut self, models: Vec<Arc<dyn Model>>) -> Self {
        self.fallbacks = models;
        self.remount();
        self
    }

    fn remount(&mut self) {
        if self.own_mount {
            let (model, fallbacks) = (self.model.id(), self.fallback_ids());
            let answer = self.answer.as_ref();
            self.mount = Mount::of_models(&self.agent, model, &fallbacks, &self.catalog, answer);
        }
    }

    pub(crate) fn fallback_ids(&self) -> Vec<Arc<str>> {
        self.fallbacks.iter().map(|model| model.id().into()).collect()
    }

    /// Whether replies are streamed when somebody watches. Default: yes.
    #[must_use]
    pub fn stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// The agent.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// The id of the model that thinks.
    pub fn model_id(&self) -> &str {
        self.model.id()
    }

    /// The catalog.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// What the model is offered.
    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    /// The journal.
    pub fn kept_in(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// A new run, not begun yet. `cancel` stops it from anywhere.
    pub fn session(
        self: &Arc<Self>,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Session {
        self.session_as(self.new_id(), observer, cancel)
    }

    /// The same under an id of the caller's, who sees to it that no other run has it: the journal
    /// refuses a second one.
    pub fn session_as(
        self: &Arc<Self>,
        id: impl Into<Arc<str>>,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Session {
        let run = Run::new(id, self.catalog.clone(), self.mount.clone());
        let lease = self.journal.claim_new(run.id());
        Session::new(self.clone(), run, lease, observer, cancel)
    }

    /// A new run that is kept in another journal than the engine's.
    pub fn session_in(
        self: &Arc<Self>,
        journal: Arc<dyn Journal>,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Session {
        let run = Run::new(self.new_id(), self.catalog.clone(), self.mount.clone());
        let lease = journal.claim_new(run.id());
        let approver = self.approver.clone();
        Session::new(self.clone(), run, lease, observer, cancel).among(journal, approver)
    }

    /// The same where somebody else may want to begin a run of that id: only one at a time may.
    ///
    /// # Errors
    /// Somebody else drives such a run, or the journal failed.
    pub async fn session_claimed(
        self: &Arc<Self>,
        id: &str,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Result<Session, JournalError> {
        let lease = self.journal.claim(id).await?;
        let run = Run::new(id, self.catalog.clone(), self.mount.clone());
        Ok(Session::new(self.clone(), run, lease, observer, cancel))
    }

    /// The first event of a run.
    pub fn start(&self, goal: &str, caller: Value) -> RunStarted {
        RunStarted {
            agent: self.agent.clone(),
            model: self.model.id().into(),
            goal: goal.into(),
            caller,
            answer: self.answer.clone(),
            tools: self.fingerprints.clone(),
            shown: self.mount.shown().clone(),
            fallbacks: self.fallback_ids(),
            // Each by name: the default makes an agent, to be thrown away, at every start.
            catalog: None,
            parent: None,
            forked: Vec::new(),
            trace: None,
        }
    }

    /// Leaves the catalog's text with a journal, and gives its hash; nothing where the journal
    /// keeps no texts, so that its runs can only be judged again by whoever has the catalog.
    pub(crate) async fn keep_catalog(
        &self,
        journal: &Arc<dyn Journal>,
    ) -> Result<Option<Arc<str>>, JournalError> {
        let keep = || async {
            // A mount of the caller's is not made again from the catalog.
            if !self.own_mount {
                return Ok(None);
            }
            let (text, hash) = self.text();
            match journal.keep_hashed(text, hash).await {
                Ok(()) => Ok(Some(hash.clone())),
                Err(JournalError::Unsupported { .. }) => Ok(None),
                Err(error) => Err(error),
            }
        };
        if Arc::ptr_eq(journal, &self.journal) {
            return self.kept.get_or_try_init(keep).await.cloned();
        }
        keep().await
    }

    /// The hash that the catalog has in a journal.
    pub(crate) fn catalog_hash(&self) -> &str {
        &self.text().1
    }

    /// The catalog's text and its hash. They are as long as the catalog, and each run begins with
    /// them.
    fn text(&self) -> &(Arc<str>, Arc<str>) {
        self.text.get_or_init(|| {
            let text = self.catalog.to_text();
            let hash = hash(&text).into();
            (text.into(), hash)
        })
    }

    /// An id that sorts by time and is unique on this machine: time, process, count.
    pub fn new_id(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("run-{:011x}-{:x}-{count:x}", self.now(), std::process::id())
    }
}
