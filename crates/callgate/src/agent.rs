//! Agents built in code.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use callgate_contract::{Catalog, Mistake, Mode, Tool, schema::Schema};
use callgate_engine::{
    ApproveAll, Approver, AskWith, Engine, Journal, MemoryJournal, Observer, Session, Word,
};
use callgate_machine::{Agent as Spec, Question, event::AnswerSchema};
use callgate_model::Model;
use callgate_tool::Backend;
use schemars::JsonSchema;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    Error, FunctionTool, IntoTool, Run,
    model::{IntoModel, ModelError},
};

/// An agent: a model with tools, bounds and somebody to ask. Cheap to clone.
#[derive(Clone)]
pub struct Agent {
    parts: Arc<Parts>,
}

pub(crate) struct Parts {
    pub spec: Spec,
    pub model: Arc<dyn Model>,
    pub fallbacks: Vec<Arc<dyn Model>>,
    pub catalog: Catalog,
    pub backends: Vec<(Arc<str>, Arc<dyn Backend>)>,
    pub delegates: Vec<(Arc<str>, Agent)>,
    pub keep_wire: bool,
    pub traced: bool,
    pub approver: Option<Arc<dyn Approver>>,
    pub journal: Option<Arc<dyn Journal>>,
    pub answer: Option<AnswerSchema>,
    pub stream: bool,
    /// The engine of its runs, once one has begun.
    engine: OnceLock<Arc<Engine>>,
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.parts.spec.name)
            .field("model", &self.parts.model.id())
            .field("tools", &self.parts.catalog.names())
            .finish_non_exhaustive()
    }
}

impl Agent {
    /// Begins an agent.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// A run towards a goal: await it for its answer.
    pub fn run(&self, goal: impl Into<String>) -> Run {
        Run::new(self.clone(), goal.into())
    }

    /// The engine behind the agent, for a program that drives sessions itself.
    pub fn engine(&self) -> Arc<Engine> {
        self.engine_with(None)
    }

    /// The agent's specification.
    pub fn spec(&self) -> &Spec {
        &self.parts.spec
    }

    /// The agent's tools.
    pub fn catalog(&self) -> &Catalog {
        &self.parts.catalog
    }

    /// The engine of a run with this answer. What an engine makes of its catalog it makes once.
    pub(crate) fn engine_of(&self, answer: Option<AnswerSchema>) -> Arc<Engine> {
        match answer {
            Some(_) => self.engine_with(answer),
            None => self.parts.engine.get_or_init(|| self.engine()).clone(),
        }
    }

    /// A session of a run. Without a journal of the agent's it is kept for as long as it goes on.
    pub(crate) fn session(
        &self,
        engine: &Arc<Engine>,
        observer: Option<Observer>,
        cancel: CancellationToken,
    ) -> Session {
        match &self.parts.journal {
            Some(_) => engine.session(observer, cancel),
            None => engine.session_in(Arc::new(MemoryJournal::new()), observer, cancel),
        }
    }

    fn engine_with(&self, answer: Option<AnswerSchema>) -> Arc<Engine> {
        let parts = &self.parts;
        let mut engine =
            Engine::new(parts.spec.clone(), parts.model.clone(), parts.catalog.clone())
                .fallbacks(parts.fallbacks.clone())
                .answer(answer.or_else(|| parts.answer.clone()))
                .stream(parts.stream);
        for (tool, backend) in &parts.backends {
            engine = engine.backend(tool, backend.clone());
        }
        for (tool, delegate) in &parts.delegates {
            engine = engine.delegate(tool, delegate.engine());
        }
        engine = engine.keep_wire(parts.keep_wire).traced(parts.traced);
        if let Some(approver) = &parts.approver {
            engine = engine.approver(approver.clone());
        }
        if let Some(journal) = &parts.journal {
            engine = engine.journal(journal.clone());
        }
        Arc::new(engine)
    }
}

/// An agent being put together.
#[derive(Default)]
pub struct AgentBuilder {
    spec: Spec,
    model: Option<Result<Arc<dyn Model>, ModelError>>,
    fallbacks: Vec<Result<Arc<dyn Model>, ModelError>>,
    functions: Vec<FunctionTool>,
    tools: Vec<(Tool, Arc<dyn Backend>)>,
    delegates: Vec<(Tool, AgentBuilder)>,
    keep_wire: bool,
    traced: bool,
    approver: Option<Arc<dyn Approver>>,
    journal: Option<Arc<dyn Journal>>,
    answer: Option<AnswerSchema>,
    no_stream: bool,
}

impl AgentBuilder {
    /// Begins with a specification, such as the one of an `agent.json`.
    #[must_use]
    pub fn spec(mut self, spec: Spec) -> Self {
        self.spec = spec;
        self
    }

    /// The agent's name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.spec.name = name.into();
        self
    }

    /// The model: `"provider:model"`, or one made elsewhere.
    #[must_use]
    pub fn model(mut self, model: impl IntoModel) -> Self {
        self.model = Some(model.into_model());
        self
    }

    /// The model, or why it cannot be had: told when the agent is built.
    pub(crate) fn opened(mut self, model: Result<Arc<dyn Model>, ModelError>) -> Self {
        self.model = Some(model);
        self
    }

    /// The same for a model that stands in.
    pub(crate) fn fallback_opened(mut self, model: Result<Arc<dyn Model>, ModelError>) -> Self {
        self.fallbacks.push(model);
        self
    }

    /// A model that stands in when those before it have an outage or a rate limit.
    #[must_use]
    pub fn fallback(mut self, model: impl IntoModel) -> Self {
        self.fallbacks.push(model.into_model());
        self
    }

    /// System instructions.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<Arc<str>>) -> Self {
        self.spec.instructions = Some(instructions.into());
        self
    }

    /// A tool: the name of a function with [`#[tool]`](macro@crate::tool).
    #[must_use]
    pub fn tool(mut self, tool: impl IntoTool) -> Self {
        self.functions.push(tool.into_tool());
        self
    }

    /// A tool of a contract and a backend.
    #[must_use]
    pub fn contract(mut self, tool: Tool, backend: Arc<dyn Backend>) -> Self {
        self.tools.push((tool, backend));
        self
    }

    /// Another agent behind a tool: each call is a run of its own, linked to the call, within what
    /// is left of this run's budget, asking the same people and kept in the same journal. Without
    /// a model of its own it has this agent's.
    ///
    /// The tool takes the arguments that its contract says; `task`, where there is one, is the
    /// goal. [`Project`](crate::Project) makes such contracts from an `agent.json`.
    #[must_use]
    pub fn delegate(mut self, tool: Tool, agent: AgentBuilder) -> Self {
        self.delegates.push((tool, agent));
        self
    }

    /// Whether the bytes that go to the model's provider and come back are kept in the journal,
    /// without headers. Default: no.
    #[must_use]
    pub fn keep_wire(mut self, keep: bool) -> Self {
        self.keep_wire = keep;
        self
    }

    /// Whether somebody sends the spans of its runs, and of its delegates', so that models and tools
    /// are told the one that is theirs (`traceparent`). Default: no.
    #[must_use]
    pub fn traced(mut self, traced: bool) -> Self {
        self.traced = traced;
        self
    }

    /// The most model replies that may call tools. Default: 8.
    #[must_use]
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.spec.r#loop.max_steps = steps.max(1);
        self
    }

    /// The most tokens, input and output together.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.spec.budget.tokens = Some(tokens);
        self
    }

    /// How much the gates mend by themselves. Default: lenient.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.spec.mode = mode;
        self
    }

    /// Structured Output: every run's answer has this type.
    #[must_use]
    pub fn answer<T: JsonSchema>(mut self) -> Self {
        self.answer = Some(answer_of::<T>());
        self
    }

    /// Structured Output by a schema.
    #[must_use]
    pub fn answer_schema(mut self, answer: Option<AnswerSchema>) -> Self {
        self.answer = answer;
        self
    }

    /// Asks before a call of tier `approve` runs. Default: every such call is refused.
    #[must_use]
    pub fn on_approval<F, Fut>(self, ask: F) -> Self
    where
        F: Fn(Question) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Word> + Send + 'static,
    {
        self.approver(Arc::new(AskWith(ask)))
    }

    /// Lets every call of tier `approve` run.
    #[must_use]
    pub fn approve_all(self) -> Self {
        self.approver(Arc::new(ApproveAll))
    }

    /// Whoever is asked.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Where events are kept. Default: in memory.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Whether replies are streamed when somebody watches. Default: yes.
    #[must_use]
    pub fn stream(mut self, stream: bool) -> Self {
        self.no_stream = !stream;
        self
    }

    /// The agent.
    ///
    /// # Errors
    /// No model, or contracts with mistakes: all of them.
    pub fn build(self) -> Result<Agent, Error> {
        let mut mistakes: Vec<Mistake> = Vec::new();
        let mut catalog = Catalog::default();
        let mut backends = Vec::new();
        let compiled = self.functions.into_iter().filter_map(|f| match f.compile() {
            Ok(pair) => Some(pair),
            Err(found) => {
                mistakes.extend(found);
                None
            }
        });
        let worked =
            compiled.chain(self.tools).map(|(tool, backend)| (tool, Work::Backend(backend)));
        let handed =
            self.delegates.into_iter().map(|(tool, agent)| (tool, Work::Agent(Box::new(agent))));
        let all: Vec<(Tool, Work)> = worked.chain(handed).collect();
        let mut handed = Vec::new();
        for (tool, work) in all {
            if let Some(first) = catalog.get(&tool.name) {
                mistakes.push(Mistake {
                    file: tool.source.to_string(),
                    line: 1,
                    column: 1,
                    pointer: "/name".to_owned(),
                    message: format!("the name {:?} is taken by {}", tool.name, first.source),
                    hint: Some("Give one of them another name.".to_owned()),
                });
                continue;
            }
            match work {
                Work::Backend(backend) => backends.push((tool.name.clone(), backend)),
                Work::Agent(agent) => handed.push((tool.name.clone(), agent)),
            }
            catalog.insert(tool);
        }
        if let Some(answer) = &self.answer
            && let Err(faults) = Schema::compile(answer.schema.clone())
        {
            mistakes.extend(faults.into_iter().map(|fault| Mistake {
                file: "answer schema".to_owned(),
                line: 1,
                column: 1,
                pointer: fault.pointer,
                message: fault.message,
                hint: fault.hint,
            }));
        }
        if !mistakes.is_empty() {
            return Err(Error::Contracts(mistakes));
        }
        let model = self.model.ok_or(Error::NoModel)??;
        let fallbacks: Vec<Arc<dyn Model>> =
            self.fallbacks.into_iter().collect::<Result<_, _>>()?;
        let mut delegates = Vec::new();
        for (tool, agent) in handed {
            let mut agent = *agent;
            if agent.model.is_none() {
                agent.model = Some(Ok(model.clone()));
                agent.fallbacks = fallbacks.iter().cloned().map(Ok).collect();
            }
            agent.keep_wire |= self.keep_wire;
            agent.traced |= self.traced;
            delegates.push((tool, agent.build()?));
        }
        let parts = Parts {
            spec: self.spec,
            model,
            fallbacks,
            catalog,
            backends,
            delegates,
            keep_wire: self.keep_wire,
            traced: self.traced,
            approver: self.approver,
            journal: self.journal,
            answer: self.answer,
            stream: !self.no_stream,
            engine: OnceLock::new(),
        };
        Ok(Agent { parts: Arc::new(parts) })
    }
}

/// Who does a tool's work.
enum Work {
    Backend(Arc<dyn Backend>),
    Agent(Box<AgentBuilder>),
}

/// The answer schema of a type.
pub(crate) fn answer_of<T: JsonSchema>() -> AnswerSchema {
    let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Value::Object(members) = &mut schema {
        members.remove("$schema");
    }
    AnswerSchema { schema, tool: None }
}

#[cfg(test)]
mod tests {
    use callgate_engine::Filter;

    use super::*;

    #[tokio::test]
    async fn runs_share_an_engine_and_leave_nothing_in_it() -> Result<(), Error> {
        let script = r#"{"replies": [{"text": "one"}, {"text": "two"}]}"#;
        let model = crate::model::scripted(script)?;
        let agent = Agent::builder().model(model).build()?;
        assert_eq!(agent.run("first").await?.text(), "one");
        assert_eq!(agent.run("second").await?.text(), "two");
        let engine = agent.engine_of(None);
        assert!(Arc::ptr_eq(&engine, &agent.engine_of(None)));
        assert!(!Arc::ptr_eq(&engine, &agent.engine()), "who asks for one has it alone");
        assert!(engine.kept_in().list(&Filter::default()).unwrap().is_empty());
        Ok(())
    }

    #[tokio::test]
    async fn a_journal_of_the_agents_keeps_every_run() -> Result<(), Error> {
        let script = r#"{"replies": [{"text": "one"}, {"text": "two"}]}"#;
        let model = crate::model::scripted(script)?;
        let journal = Arc::new(MemoryJournal::new());
        let agent = Agent::builder().model(model).journal(journal.clone()).build()?;
        agent.run("first").await?;
        agent.run("second").await?;
        assert_eq!(journal.list(&Filter::default()).unwrap().len(), 2);
        Ok(())
    }
}
