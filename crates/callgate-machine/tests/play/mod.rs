//! Plays a whole run through `step`, as an engine would: no runtime, a clock that only the script
//! moves, replies and outcomes from closures. After each run the laws that hold for every run are
//! checked, so a test that plays one need not.
//!
//! Also compiled into the table test of `crates/callgate/tests/cases`.
#![allow(dead_code, unreachable_pub)] // each test uses its own part

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use callgate_contract::{Admitted, Catalog, Failure, Output, surface};
use callgate_machine::{
    Agent, Doubt, Effect, Event, Finish, Mount, OwnCall, Question, Record, Run, ToolCallEffect,
    UserQuestion,
    event::{
        AnswerSchema, CallFinished, CallGated, Decision, GateVerdict, Resolution, RunResumed,
        RunStarted,
    },
    fold,
    replay::replay,
    step,
};
use callgate_wire::{
    AssistantPart, Message, ProviderError, Reply, Request, Stop, ToolCall, ToolDefinition, Usage,
};
use serde_json::Value;

/// Answers what it is asked.
pub type Role<'w, Asked, Says> = Box<dyn FnMut(&Asked) -> Says + 'w>;

/// Who plays the world.
pub struct World<'w> {
    /// The model.
    pub model: Role<'w, Request, Result<Reply, ProviderError>>,
    /// The tools.
    pub tool: Role<'w, ToolCallEffect, Result<Output, Failure>>,
    /// The person who is asked.
    pub person: Role<'w, Question, Event>,
    /// The user whom the model asks.
    pub user: Role<'w, UserQuestion, Option<String>>,
    /// The person who is asked what became of a call.
    pub doubt: Role<'w, Doubt, Resolution>,
    /// What happens next of what is in flight.
    pub next: Role<'w, [InFlight], Next>,
}

impl Default for World<'_> {
    fn default() -> Self {
        Self {
            model: Box::new(|_| Ok(says("done"))),
            tool: Box::new(|_| Ok(Output::json("{}"))),
            person: Box::new(approve),
            user: Box::new(|_| Some("yes".to_owned())),
            doubt: Box::new(|_| Resolution::Fail),
            next: Box::new(|_| Next::Answer(0)),
        }
    }
}

/// An effect that was performed and has not answered.
#[derive(Debug, Clone)]
pub enum InFlight {
    Model(u32, Box<Request>),
    Tool(Box<ToolCallEffect>),
    Own(Box<OwnCall>),
    Person(Box<Question>),
    User(Box<UserQuestion>),
    Doubt(Box<Doubt>),
}

/// What the world does.
#[derive(Debug, Clone)]
pub enum Next {
    /// One of those in flight answers.
    Answer(usize),
    /// An event that nobody asked for comes in.
    Input(Box<Event>),
    /// Milliseconds pass.
    Wait(u64),
    /// The process dies; another one takes the run up from its journal.
    Crash,
}

/// A run that was played.
pub struct Played {
    pub run: Run,
    pub records: Vec<Record>,
    pub requests: Vec<Request>,
    /// Tool calls performed, in order.
    pub tools: Vec<ToolCallEffect>,
    now: u64,
    catalog: Arc<Catalog>,
    mount: Mount,
}

/// What starts a run, with the rest as usual.
pub fn start(agent: Agent, goal: &str) -> RunStarted {
    RunStarted {
        agent: Arc::new(agent),
        model: "scripted:model".into(),
        goal: goal.into(),
        ..RunStarted::default()
    }
}

/// With an answer that has a schema, by a final tool where one is named.
pub fn answering(mut start: RunStarted, schema: Value, tool: Option<&str>) -> RunStarted {
    start.answer = Some(AnswerSchema { schema, tool: tool.map(Into::into) });
    start
}

pub fn catalog(contracts: &[Value]) -> Arc<Catalog> {
    let texts: Vec<(String, String)> = contracts
        .iter()
        .map(|c| (format!("{}.json", c["name"].as_str().unwrap_or("?")), c.to_string()))
        .collect();
    let files = texts.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    match Catalog::load(files) {
        Ok(catalog) => Arc::new(catalog),
        Err(mistakes) => {
            let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            panic!("the contracts do not load:\n{}", told.join("\n"))
        }
    }
}

pub fn offer(catalog: &Catalog) -> Arc<[ToolDefinition]> {
    catalog
        .tools()
        .filter(|tool| !tool.tier.never_runs())
        .map(|tool| {
            let definition = surface::project(&**tool, surface::Surface::OpenAiLoose);
            ToolDefinition {
                name: definition.name.into(),
                description: Some(definition.description.into()),
                parameters: serde_json::value::to_raw_value(&definition.parameters).unwrap().into(),
                strict: None,
                ..ToolDefinition::default()
            }
        })
        .collect()
}

pub fn approve(question: &Question) -> Event {
    decided(question, Decision::Approve)
}

pub fn decided(question: &Question, decision: Decision) -> Event {
    Event::ApprovalDecided {
        call: question.call.clone(),
        binding: question.binding.clone(),
        decision,
        by: Some("ada".into()),
    }
}

pub fn reply(content: Vec<AssistantPart>, stop: Stop) -> Reply {
    let usage = Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() };
    Reply { content, stop, usage, model: None, notes: Vec::new() }
}

pub fn says(text: &str) -> Reply {
    reply(vec![AssistantPart::Text { text: text.into() }], Stop::End)
}

pub fn call(id: &str, name: &str, arguments: &str) -> AssistantPart {
    AssistantPart::Call(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
        opaque: None,
    })
}

pub fn calls(calls: &[(&str, &str, &str)]) -> Reply {
    reply(calls.iter().map(|(id, name, args)| call(id, name, args)).collect(), Stop::End)
}

/// Replies in order, then a closing word.
pub fn script(replies: Vec<Reply>) -> impl FnMut(&Request) -> Result<Reply, ProviderError> {
    let mut replies = VecDeque::from(replies);
    move |_| Ok(replies.pop_front().unwrap_or_else(|| says("done")))
}

/// More inputs than any run of these tests needs; beyond it the machine does not come to an end.
const MOST_INPUTS: usize = 2000;

pub fn play(catalog: &Arc<Catalog>, start: RunStarted, world: World<'_>) -> Played {
    play_on(catalog, offer(catalog).into(), start, world)
}

/// With the catalog as one model's surface shows it.
pub fn play_on(
    catalog: &Arc<Catalog>,
    mount: Mount,
    start: RunStarted,
    world: World<'_>,
) -> Played {
    let mut played = Played {
        run: Run::new("run_1", catalog.clone(), mount.clone()),
        records: Vec::new(),
        requests: Vec::new(),
        tools: Vec::new(),
        now: 1_000_000,
        catalog: catalog.clone(),
        mount,
    };
    drive(&mut played, Event::RunStarted(start.into()), world);
    played
}

fn drive(played: &mut Played, input: Event, mut world: World<'_>) {
    let mut in_flight: Vec<InFlight> = Vec::new();
    let mut input = Some(input);
    for _ in 0..MOST_INPUTS {
        if let Some(event) = input.take() {
            for effect in played.record(event) {
                match effect {
                    Effect::Append(_) => {}
                    Effect::CallModel { hop, request, .. } => {
                        played.requests.push((*request).clone());
                        in_flight.push(InFlight::Model(hop, request));
                    }
                    Effect::CallTool(effect) => {
                        played.tools.push((*effect).clone());
                        in_flight.push(InFlight::Tool(effect));
                    }
                    Effect::CallOwn(own) => in_flight.push(InFlight::Own(own)),
                    Effect::AskPerson(question) => in_flight.push(InFlight::Person(question)),
                    Effect::AskUser(question) => in_flight.push(InFlight::User(question)),
                    Effect::AskDoubt(doubt) => in_flight.push(InFlight::Doubt(doubt)),
                    Effect::Park => {
                        let tools = in_flight
                            .iter()
                            .any(|f| matches!(f, InFlight::Tool(_) | InFlight::Own(_)));
                        assert!(!tools, "parked with a tool under way");
                        in_flight.clear();
                    }
                    // Tools still answer; the model and people do not.
                    Effect::Abort => {
                        in_flight.retain(|f| matches!(f, InFlight::Tool(_) | InFlight::Own(_)));
                    }
                    Effect::End => {
                        played.check();
                        return;
                    }
                }
            }
        }
        if in_flight.is_empty() && played.run.is_paused() {
            played.now += 1;
            input = Some(Event::RunResumed(Box::default()));
            continue;
        }
        assert!(!in_flight.is_empty(), "halted without an end: {:#?}", played.records.last());
        played.now += 1;
        input = match (world.next)(&in_flight) {
            Next::Wait(ms) => {
                played.now += ms;
                None
            }
            Next::Input(event) => Some(*event),
            Next::Crash => {
                in_flight.clear();
                played.reopen();
                Some(Event::RunResumed(Box::new(RunResumed {
                    by: Some("a new process".into()),
                    ..RunResumed::default()
                })))
            }
            Next::Answer(at) => Some(match in_flight.remove(at % in_flight.len()) {
                InFlight::Model(hop, request) => match (world.model)(&request) {
                    Ok(reply) => replied(hop, Some(reply), None),
                    Err(error) => replied(hop, None, Some(error)),
                },
                InFlight::Tool(effect) => finished(&effect, (world.tool)(&effect)),
                InFlight::Own(own) => own.finished(),
                InFlight::Person(question) => (world.person)(&question),
                InFlight::User(question) => Event::UserAnswered {
                    call: question.call.clone(),
                    text: (world.user)(&question).map(Into::into),
                    by: None,
                },
                InFlight::Doubt(doubt) => Event::DoubtResolved {
                    call: doubt.call.clone(),
                    resolution: (world.doubt)(&doubt),
                    by: Some("ada".into()),
                },
            }),
        };
    }
    panic!("no end after {MOST_INPUTS} inputs");
}

pub fn replied(hop: u32, reply: Option<Reply>, error: Option<ProviderError>) -> Event {
    Event::ModelReplied {
        hop,
        reply: reply.map(Arc::new),
        error: error.map(Box::new),
        by: None,
        passed_over: Vec::new(),
        exchange: None,
    }
}

pub fn finished(effect: &ToolCallEffect, outcome: Result<Output, Failure>) -> Event {
    let (output, failure) = match outcome {
        Ok(output) => (Some(output), None),
        Err(failure) => (None, Some(failure)),
    };
    Event::CallFinished(Box::new(CallFinished {
        call: effect.call.clone(),
        attempt: effect.attempt,
        output,
        failure,
        ..CallFinished::default()
    }))
}

impl Played {
    /// Records an input and all that follows from it, in the order of an engine.
    fn record(&mut self, input: Event) -> Vec<Effect> {
        let at = self.now;
        let mut queue = VecDeque::from([input]);
        let mut effects = Vec::new();
        while let Some(event) = queue.pop_front() {
            let seq = self.records.len() as u64;
            let record = Record { run: self.run.id().clone(), seq, at, event };
            let was_over = self.run.is_over();
            for effect in step(&mut self.run, &record) {
                let goes_on = matches!(record.event, Event::UserSaid { .. });
                assert!(!was_over || goes_on, "an effect after the end: {effect:?}");
                if let Effect::CallTool(call) = &effect {
                    let intent = matches!(&record.event, Event::CallStarted { call: id, idempotency_key, .. }
                        if *id == call.call && *idempotency_key == call.idempotency_key);
                    assert!(intent, "law 4: {} is called without its own intent", call.call);
                }
                if let Effect::CallOwn(own) = &effect {
                    let intent = matches!(&record.event, Event::CallStarted { call, attempt, .. }
                        if call == own.call() && *attempt == own.attempt());
                    assert!(intent, "law 4: {} is called without its own intent", own.call());
                }
                match effect {
                    Effect::Append(event) => {
                        assert!(event.is_derived(), "the machine made an input: {event:?}");
                        queue.push_back(event);
                    }
                    other => effects.push(other),
                }
            }
            self.records.push(record);
        }
        effects
    }

    /// The run as another process finds it: folded from its events.
    fn reopen(&mut self) {
        let mut run = Run::new(self.run.id().clone(), self.catalog.clone(), self.mount.clone());
        for record in &self.records {
            fold(&mut run, record);
        }
        assert_eq!(run.digest(), self.run.digest(), "law 3: a fold ends elsewhere");
        self.run = run;
    }

    /// Goes on after the end with the user's next words.
    pub fn say(&mut self, text: &str, world: World<'_>) {
        drive(self, Event::UserSaid { text: text.into() }, world);
    }

    pub fn finish(&self) -> &Finish {
        self.run.finish().unwrap()
    }

    pub fn gated(&self) -> impl Iterator<Item = &CallGated> {
        self.records.iter().filter_map(|r| match &r.event {
            Event::CallGated(gated) => Some(&**gated),
            _ => None,
        })
    }

    pub fn verdict(&self, call: &str) -> &GateVerdict {
        &self.gated().filter(|g| &*g.call == call).last().unwrap().verdict
    }

    /// The tool of each call that began by itself, with what was on offer when the model made it.
    pub fn calls_with_offers(&self) -> Vec<(Arc<str>, Vec<Arc<str>>)> {
        let (mut offered, mut of_call) = (Vec::new(), HashMap::new());
        let mut began = Vec::new();
        for record in &self.records {
            match &record.event {
                Event::ModelRequested { tools, .. } => offered.clone_from(tools),
                Event::CallGated(gated) => {
                    let tool = gated.tool.clone().unwrap_or_else(|| gated.name.clone());
                    of_call.entry(gated.call.clone()).or_insert((tool, offered.clone()));
                }
                Event::CallStarted { call, lookup: None, .. } => {
                    began.extend(of_call.get(call).cloned());
                }
                _ => {}
            }
        }
        began
    }

    /// Arguments of the calls performed.
    pub fn sent(&self) -> Vec<(&str, &str)> {
        self.tools.iter().map(|t| (&*t.tool.name, t.arguments.text())).collect()
    }

    /// What the model reads of each call, in order.
    pub fn results(&self) -> Vec<(&str, String)> {
        self.run
            .messages()
            .iter()
            .filter_map(|message| match &**message {
                Message::Tool(result) => Some((&*result.name, text_of(&result.content))),
                _ => None,
            })
            .collect()
    }

    /// What holds for every run.
    pub fn check(&self) {
        self.check_replay();
        self.check_records();
        self.check_journal();
        transcript_is_valid(self.run.messages())
            .unwrap_or_else(|e| panic!("{e}: {:#?}", self.run.messages()));
        for request in &self.requests {
            transcript_is_valid(&request.messages).unwrap_or_else(|e| panic!("{e}, in a request"));
        }
    }

    fn check_replay(&self) {
        let again = replay(self.catalog.clone(), self.mount.clone(), &self.records);
        let again = again.unwrap_or_else(|difference| panic!("law 3: {difference}"));
        assert_eq!(again.digest(), self.run.digest(), "law 3: a replay ends elsewhere");
    }

    fn check_records(&self) {
        for record in &self.records {
            let text = serde_json::to_string(record).unwrap();
            let back: Record =
                serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert_eq!(back, *record, "a record does not survive its own JSON");
            assert_eq!(serde_json::to_string(&back).unwrap(), text);
        }
    }

    /// Law 4 in memory, read off the journal alone.
    fn check_journal(&self) {
        let mut admitted: HashMap<&str, &str> = HashMap::new();
        let mut open: HashSet<&str> = HashSet::new();
        let mut keys: HashMap<&str, &str> = HashMap::new();
        // Begun before a crash, without an outcome; and what may be begun again.
        let mut lost: HashSet<&str> = HashSet::new();
        let mut redo: HashSet<&str> = HashSet::new();
        let mut over = false;
        for record in &self.records {
            assert!(!over || !record.event.is_derived(), "recorded after the end: {record:?}");
            match &record.event {
                Event::CallGated(gated) => match &gated.verdict {
                    GateVerdict::Admitted { arguments, .. } => {
                        admitted.insert(&gated.call, arguments);
                    }
                    _ => {
                        admitted.remove(&*gated.call);
                    }
                },
                Event::CallStarted { call, idempotency_key, lookup, .. } => {
                    assert!(
                        lookup.is_some() || admitted.contains_key(&**call),
                        "{call} started unadmitted"
                    );
                    assert!(open.insert(call), "{call} started twice at once");
                    if lost.remove(&**call) {
                        let tool = lookup
                            .as_ref()
                            .map_or_else(|| name_of(&self.records, call), |l| l.tool.clone());
                        let repeatable = self.catalog.get(&tool).is_some_and(|t| t.is_repeatable());
                        assert!(
                            repeatable || redo.remove(&**call),
                            "law 4: {call} was begun twice and nobody said that it may be"
                        );
                    }
                    let first = keys.entry(call).or_insert(idempotency_key);
                    assert_eq!(*first, &**idempotency_key, "another key for {call}");
                }
                Event::CallFinished(finished) => {
                    open.remove(&*finished.call);
                }
                Event::RunResumed(_) => lost.extend(open.drain()),
                Event::CallInDoubt { call, policy: Some(Resolution::Redo), .. }
                | Event::DoubtResolved { call, resolution: Resolution::Redo, .. } => {
                    redo.insert(call);
                }
                Event::CallInDoubt { call, policy: Some(_), .. }
                | Event::DoubtResolved { call, .. } => {
                    lost.remove(&**call);
                }
                Event::ModelRequested { .. } => {
                    assert!(lost.is_empty(), "asked on while nobody knows of {lost:?}");
                    assert!(open.is_empty(), "asked on while {open:?} had no outcome");
                }
                Event::RunFinished(_) => {
                    over = true;
                    open.clear();
                    lost.clear();
                }
                Event::UserSaid { .. } => over = false,
                _ => {}
            }
        }
        let distinct: HashSet<&&str> = keys.values().collect();
        assert_eq!(distinct.len(), keys.len(), "two calls share an idempotency key");
        for effect in &self.tools {
            let _: &Admitted = &effect.arguments;
            if let Some(arguments) = admitted.get(&*effect.call) {
                assert_eq!(effect.arguments.text(), *arguments, "sent is not what was admitted");
            }
        }
    }
}

/// The tool of a call.
fn name_of(records: &[Record], call: &str) -> Arc<str> {
    let gated = records.iter().rev().find_map(|record| match &record.event {
        Event::CallGated(gated) if *gated.call == *call => gated.tool.clone(),
        _ => None,
    });
    gated.unwrap_or_else(|| Arc::from(""))
}

pub fn text_of(content: &[callgate_wire::Part]) -> String {
    content
        .iter()
        .filter_map(|part| match part {
            callgate_wire::Part::Text { text } => Some(&**text),
            callgate_wire::Part::Image { .. } => None,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every call is answered exactly once, right after its assistant message, and no id comes twice.
pub fn transcript_is_valid(messages: &[Arc<Message>]) -> Result<(), String> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut due: VecDeque<&str> = VecDeque::new();
    for message in messages {
        match &**message {
            Message::Tool(result) => match due.pop_front() {
                Some(id) if id == &*result.call_id => {}
                other => {
                    return Err(format!("a result for {} where {other:?} is due", result.call_id));
                }
            },
            other => {
                if !due.is_empty() {
                    return Err(format!("{due:?} not answered"));
                }
                let Message::Assistant { content } = other else { continue };
                for part in content {
                    if let AssistantPart::Call(call) = part {
                        if call.id.is_empty() || !seen.insert(&call.id) {
                            return Err(format!("the id {:?} comes twice", call.id));
                        }
                        due.push_back(&call.id);
                    }
                }
            }
        }
    }
    if due.is_empty() { Ok(()) } else { Err(format!("{due:?} not answered")) }
}
