//! A run's events as a task: a fold, so that everybody who listens sees the same.

use std::{collections::HashMap, sync::Arc};

use callgate_contract::{Catalog, Fault, Output};
use callgate_machine::{
    Event, Record,
    event::{Decision, GateVerdict, RunStarted},
};
use callgate_tool::a2a::wire::{
    Artifact, ArtifactUpdate, Content, Message, Part, Role, State, Status, StatusUpdate, Task,
    Update, timestamp,
};
use callgate_wire::Delta;

use super::{
    direct::{self, ASK},
    origin::Origin,
    outcome,
    question::{self, For, IN_DOUBT, PAUSED, Wait},
};

/// A task, as far as its events go.
#[derive(Debug, Clone)]
pub(super) struct View {
    id: Arc<str>,
    origin: Origin,
    catalog: Arc<Catalog>,
    /// A call without a model.
    skill: Option<String>,
    state: State,
    at: u64,
    /// What is said to the state, where that is not a question.
    words: Option<Message>,
    waits: Vec<Wait>,
    /// Waits that a word was left for; what was asked becomes history with the event.
    heard: Vec<Wait>,
    paused: bool,
    history: Vec<Message>,
    artifacts: Vec<Artifact>,
    /// The arguments that the gates admitted, by call.
    admitted: HashMap<Arc<str>, (Arc<str>, Arc<str>)>,
    /// Why the last call of the skill was refused.
    refused: Option<Box<Fault>>,
    brought: Option<Output>,
    /// The hop whose words come in pieces: there is nothing that it could call.
    wordy: Option<u32>,
    /// Whether a piece of that hop's words was told.
    began: bool,
    /// The position of the next event.
    next: u64,
}

impl View {
    /// A task by its first event; nothing where the run is none.
    pub(super) fn begin(first: &Record, catalog: Arc<Catalog>) -> Option<Self> {
        let Event::RunStarted(start) = &first.event else { return None };
        let origin = Origin::of(&start.caller)?;
        let skill = skill_of(start);
        let mut view = Self {
            id: first.run.clone(),
            origin,
            catalog,
            skill: skill.as_ref().map(|(skill, _)| skill.clone()),
            state: State::Submitted,
            at: first.at,
            words: None,
            waits: Vec::new(),
            heard: Vec::new(),
            paused: false,
            history: Vec::new(),
            artifacts: Vec::new(),
            admitted: HashMap::new(),
            refused: None,
            brought: None,
            wordy: None,
            began: false,
            next: first.seq + 1,
        };
        let part = match &skill {
            Some((_, arguments)) => match callgate_tool::a2a::wire::Json::parse(arguments) {
                Some(json) => Part::data(json),
                None => Part::text(arguments),
            },
            None => Part::text(&*start.goal),
        };
        let id = view.origin.message.clone();
        view.hear(id, vec![part]);
        Some(view)
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(super) fn waits(&self) -> &[Wait] {
        &self.waits
    }

    /// The position of the last event that was taken in.
    pub(super) fn last(&self) -> u64 {
        self.next.saturating_sub(1)
    }

    /// The task's state, as others see it.
    pub(super) fn state(&self) -> State {
        if self.state.is_terminal() {
            self.state
        } else if !self.waits.is_empty() || self.paused {
            State::InputRequired
        } else {
            self.state
        }
    }

    /// Whether it is the client's turn, or nobody's any more.
    pub(super) fn turn_is_over(&self) -> bool {
        let state = self.state();
        state.is_terminal() || state.is_interrupted()
    }

    fn hear(&mut self, id: String, parts: Vec<Part>) {
        self.speak(id, Role::User, parts);
    }

    fn speak(&mut self, id: String, role: Role, parts: Vec<Part>) {
        let mut message = Message::new(id, role, parts);
        message.task = Some(self.id.to_string());
        message.context = Some(self.origin.context.clone());
        self.history.push(message);
    }

    /// A question that was answered becomes history, with the answer.
    fn settle(&mut self, call: &str, seq: u64, answer: Vec<Part>) {
        let (asked, waits) = std::mem::take(&mut self.waits)
            .into_iter()
            .chain(std::mem::take(&mut self.heard))
            .partition::<Vec<_>, _>(|wait| *wait.call == *call);
        self.waits = waits;
        if !asked.is_empty() {
            self.history.push(self.asking(&asked));
        }
        let id = format!("{}/said/{seq}", self.id);
        self.hear(id, answer);
    }

    fn question(&self) -> Option<Message> {
        let mut waits = self.waits.clone();
        if waits.is_empty() && self.paused {
            let (run, call) = (self.id.clone(), Arc::from("paused"));
            waits.push(Wait { run, call, on: For::Operator { words: PAUSED } });
        }
        (!waits.is_empty()).then(|| self.asking(&waits))
    }

    fn asking(&self, waits: &[Wait]) -> Message {
        question::message(&self.id, &self.origin.context, waits, &self.catalog)
    }

    fn status(&self) -> Status {
        let state = self.state();
        let message = match state {
            State::InputRequired => self.question(),
            _ => self.words.clone(),
        };
        Status { state, message, timestamp: Some(timestamp(self.at)) }
    }

    /// The task as it is now.
    pub(super) fn task(&self) -> Task {
        Task {
            id: self.id.to_string(),
            context: self.origin.context.clone(),
            status: self.status(),
            artifacts: self.artifacts.clone(),
            history: self.history.clone(),
            metadata: None,
        }
    }

    /// The task's state as an item of a stream.
    pub(super) fn status_update(&self) -> Update {
        Update::Status(StatusUpdate {
            task: self.id.to_string(),
            context: self.origin.context.clone(),
            status: self.status(),
        })
    }

    /// A word was left that is not in the journal's events yet.
    pub(super) fn heard(&mut self, call: &str) {
        let (heard, waits) = std::mem::take(&mut self.waits)
            .into_iter()
            .partition::<Vec<_>, _>(|wait| *wait.call == *call);
        self.waits = waits;
        // Of a delegate's question this run has no event.
        self.heard.extend(heard.into_iter().filter(|wait| wait.run == self.id));
        if self.waits.is_empty() && !self.paused {
            self.state = State::Working;
        }
    }

    /// Runs of delegates wait for something. Whether that is new.
    pub(super) fn delegates_wait(&mut self, waits: Vec<Wait>) -> bool {
        let own = |wait: &Wait| wait.run == self.id;
        let before: Vec<Wait> = self.waits.iter().filter(|wait| !own(wait)).cloned().collect();
        let now: Vec<Wait> = waits.into_iter().filter(|wait| !own(wait)).collect();
        if before == now {
            return false;
        }
        self.waits.retain(|wait| wait.run == self.id);
        self.waits.extend(now);
        true
    }

    /// Takes in an event, and gives what there is to tell.
    pub(super) fn take(&mut self, record: &Record) -> Vec<Update> {
        if record.seq < self.next {
            return Vec::new();
        }
        self.next = record.seq + 1;
        let before = self.state();
        let asked_before = self.waits.clone();
        let mut updates = Vec::new();
        self.fold(record, &mut updates);
        let is_news = self.state() != before || self.waits != asked_before;
        if is_news {
            self.at = record.at;
            updates.push(self.status_update());
        }
        updates
    }

    fn fold(&mut self, record: &Record, updates: &mut Vec<Update>) {
        match &record.event {
            Event::ModelRequested { hop, tools, .. } => {
                self.state = State::Working;
                self.wordy = (tools.is_empty() && self.skill.is_none()).then_some(*hop);
                self.began = false;
            }
            Event::CallGated(gated) => match &gated.verdict {
                GateVerdict::Admitted { arguments, .. } | GateVerdict::Asking { arguments, .. } => {
                    let tool = gated.tool.clone().unwrap_or_else(|| gated.name.clone());
                    self.admitted.insert(gated.call.clone(), (tool, arguments.clone()));
                }
                GateVerdict::Refused { fault } if self.skill.is_some() && &*gated.name != ASK => {
                    self.refused = Some(fault.clone());
                }
                GateVerdict::Refused { .. } | GateVerdict::Answer { .. } => {}
            },
            Event::ApprovalRequested { call, binding, because, .. } => {
                let (tool, arguments) = self.admitted.get(call).cloned().unwrap_or_default();
                let (binding, because) = (binding.clone(), because.clone());
                self.wait(call, For::Approval { tool, arguments, binding, because });
            }
            Event::UserAsked { call, question, choices, .. } => {
                let question = question.clone();
                let on = match &self.skill {
                    Some(skill) => For::Arguments {
                        tool: skill.as_str().into(),
                        question,
                        fault: self.refused.clone(),
                    },
                    None => For::Answer { question, choices: choices.clone() },
                };
                self.wait(call, on);
            }
            Event::CallInDoubt { call, policy: None, .. } => {
                self.wait(call, For::Operator { words: IN_DOUBT });
            }
            Event::ApprovalDecided { call, decision, .. } => {
                self.settle(call, record.seq, vec![Part::text(decided(decision))]);
            }
            Event::UserAnswered { call, text, .. } => {
                let words = text.as_deref().unwrap_or("(no answer in time)");
                self.settle(call, record.seq, vec![Part::text(words)]);
            }
            Event::DoubtResolved { call, .. } => self.waits.retain(|wait| wait.call != *call),
            Event::CallFinished(finished) if self.skill.is_some() => {
                self.brought.clone_from(&finished.output);
            }
            Event::RunPaused { .. } => self.paused = true,
            Event::RunResumed(_) => self.paused = false,
            Event::RunFinished(finish) => {
                self.waits.clear();
                self.paused = false;
                let id = self.wordy.map_or_else(|| "answer".to_owned(), answer_of);
                let end = match &self.skill {
                    Some(_) => outcome::of_call(finish, self.brought.as_ref(), "result"),
                    None => outcome::of_agent(finish, &id),
                };
                self.state = end.state;
                if let Some(artifact) = end.artifact {
                    updates.push(self.brings(artifact.clone(), false, true));
                    self.artifacts = vec![artifact];
                }
                if !end.words.is_empty() {
                    let mut words =
                        Message::new(format!("{}/end", self.id), Role::Agent, end.words);
                    words.task = Some(self.id.to_string());
                    words.context = Some(self.origin.context.clone());
                    self.words = Some(words);
                }
            }
            _ => {}
        }
    }

    /// A piece of a reply. It is told where it can be nothing but the answer; the whole follows at
    /// the end, in its place.
    pub(super) fn piece(&mut self, hop: u32, delta: &Delta) -> Option<Update> {
        let Delta::Text(text) = delta else { return None };
        if self.wordy != Some(hop) || text.is_empty() {
            return None;
        }
        let part = Part::of(Content::Text(text.clone()));
        let append = std::mem::replace(&mut self.began, true);
        Some(self.brings(outcome::whole(&answer_of(hop), "answer", vec![part]), append, false))
    }

    fn brings(&self, artifact: Artifact, append: bool, last: bool) -> Update {
        Update::Artifact(ArtifactUpdate {
            task: self.id.to_string(),
            context: self.origin.context.clone(),
            artifact,
            append,
            last,
        })
    }

    fn wait(&mut self, call: &Arc<str>, on: For) {
        self.waits.retain(|wait| wait.call != *call);
        self.waits.push(Wait { run: self.id.clone(), call: call.clone(), on });
    }
}

fn answer_of(hop: u32) -> String {
    format!("answer-{hop}")
}

/// The skill of a call without a model, and its first arguments.
fn skill_of(start: &RunStarted) -> Option<(String, String)> {
    (*start.model == *callgate_model::Model::id(&direct::Direct))
        .then(|| direct::of_goal(&start.goal))
        .flatten()
}

fn decided(decision: &Decision) -> String {
    match decision {
        Decision::Approve => "approve".to_owned(),
        Decision::Reject { reason: Some(reason) } => format!("reject: {reason}"),
        Decision::Reject { reason: None } => "reject".to_owned(),
        Decision::Edit { arguments } => format!("approve with other arguments: {arguments}"),
        Decision::Expired => "(no answer in time)".to_owned(),
    }
}
