//! The live view of a run: what was asked, what the gates said, what came of it.
//!
//! A line is written once what it says is final. What is still coming (streamed text, a tool at
//! work) is only shown on a terminal, below the lines, and is gone again when it is there.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use callgate::{
    contract::{Catalog, Content, Mode, Output, result, tier::Tier},
    engine::Notice,
    machine::{
        Event, Finish, Record, Status, StoppedBy,
        event::{CallFinished, CallGated, Decision, GateVerdict, Resolution, RunStarted, Why},
    },
    wire::{AssistantPart, Delta, Reply, Stop},
};

use super::{screen::Screen, words};

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Nothing.
    Nothing,
    /// How it ended.
    Summary,
    /// Hops, gates and results, shortened.
    Hops,
    /// The same, whole.
    All,
}

/// Characters of an argument or a result that are shown unless all are wanted.
const SHORT: usize = 160;

/// Sees a run and shows it.
pub(crate) struct View {
    screen: Arc<Screen>,
    detail: Detail,
    /// Whether a model is at work, or only one call is made.
    is_run: bool,
    catalog: Catalog,
    state: Mutex<States>,
    /// How far the run being told is below the one that is watched.
    depth: AtomicUsize,
    /// Whether nothing is written: what is told now was told before.
    is_mute: AtomicBool,
}

/// A run, and the runs of its delegates.
#[derive(Default)]
struct States {
    root: Option<Arc<str>>,
    own: State,
    delegates: HashMap<Arc<str>, State>,
}

#[derive(Default)]
struct State {
    mode: Mode,
    started_at: u64,
    ended_at: u64,
    asked_at: u64,
    goal: String,
    streamed: String,
    /// Calls of the last reply by name: those that have a number need one.
    wanted: HashMap<Arc<str>, usize>,
    seen: HashMap<Arc<str>, usize>,
    calls: HashMap<Arc<str>, Shown>,
    results: usize,
    running: Vec<Arc<str>>,
    /// The call whose own line was the last one written.
    last: Option<Arc<str>>,
    /// Figures of earlier turns of a chat.
    before: Option<Finish>,
}

/// A call that is on the screen.
struct Shown {
    label: String,
    tool: Option<Arc<str>>,
    started_at: u64,
    is_lookup: bool,
}

impl View {
    /// A view of runs with these tools.
    pub(crate) fn new(screen: Arc<Screen>, detail: Detail, catalog: &Catalog) -> Self {
        let catalog = catalog.clone();
        Self {
            screen,
            detail,
            is_run: true,
            catalog,
            state: Mutex::default(),
            depth: AtomicUsize::new(0),
            is_mute: AtomicBool::new(false),
        }
    }

    /// A view of one call that no model made.
    pub(crate) fn of_one_call(mut self, mode: Mode) -> Self {
        self.is_run = false;
        self.states().own.mode = mode;
        self
    }

    /// Shows what happened.
    pub(crate) fn see(&self, notice: &Notice) {
        let mut states = self.states();
        match notice {
            Notice::Record(record) => self.record(self.of(&mut states, &record.run), record),
            Notice::Delta { run, delta, .. } => {
                if self.detail >= Detail::Hops {
                    self.delta(self.of(&mut states, run), delta);
                }
            }
        }
    }

    /// Takes in what was told before, so that what follows can be told as it would have been.
    pub(crate) fn recall(&self, records: &[Record]) {
        self.mute(true);
        let mut states = self.states();
        for record in records {
            self.record(self.of(&mut states, &record.run), record);
        }
        let is_own = records.first().map(|record| &record.run) == states.root.as_ref();
        if let Some(finish) = records.iter().rev().find_map(finish_of).filter(|_| is_own) {
            states.own.before = Some(finish.clone());
        }
        self.mute(false);
    }

    /// Whether what is told from now on is only taken in.
    pub(crate) fn mute(&self, mute: bool) {
        self.is_mute.store(mute, Ordering::Relaxed);
    }

    /// The state of a run; a delegate's lines stand further to the right.
    fn of<'s>(&self, states: &'s mut States, run: &Arc<str>) -> &'s mut State {
        let States { root, own, delegates } = states;
        let root = root.get_or_insert_with(|| run.clone());
        // A delegate's run has its parent's id before its own.
        let is_below = |of: &str| run.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'));
        let depth =
            usize::from(is_below(root)) + delegates.keys().filter(|of| is_below(of)).count();
        self.depth.store(depth, Ordering::Relaxed);
        if root == run { own } else { delegates.entry(run.clone()).or_default() }
    }

    /// Writes a line of the run that is being told.
    fn line(&self, line: impl Into<String>) {
        if self.is_mute.load(Ordering::Relaxed) {
            return;
        }
        let line: String = line.into();
        match self.depth.load(Ordering::Relaxed) {
            0 => self.screen.line(line),
            depth => self.screen.line(format!("{}{line}", "      ".repeat(depth))),
        }
    }

    /// Says what is waited for.
    fn wait(&self, message: String) {
        if !self.is_mute.load(Ordering::Relaxed) {
            self.screen.wait(message);
        }
    }

    /// The line that says how a run ended.
    pub(crate) fn ended(&self, finish: &Finish) {
        self.screen.still();
        let mut states = self.states();
        let state = &mut states.own;
        self.depth.store(0, Ordering::Relaxed);
        if self.detail >= Detail::Summary {
            let paint = self.screen.paint();
            let word = match (finish.status, finish.stopped_by) {
                (Status::Answered, Some(StoppedBy::MaxSteps)) => {
                    paint.yellow("answered at the step limit")
                }
                (Status::Answered, _) => paint.green("answered"),
                (Status::Cancelled, _) => paint.yellow("cancelled"),
                (Status::Stopped, _) => paint.yellow("stopped"),
                (Status::Failed, _) => paint.red("failed"),
            };
            let took = state.ended_at.saturating_sub(state.started_at);
            let this = this_turn(finish, state.before.as_ref());
            self.line(words::summary(&this, &word, took));
            if !finish.skipped.is_empty() {
                let names = finish.skipped.join(", ");
                self.line(paint.dim(format!("not run: {}", words::clean(&names))));
            }
        }
        state.before = Some(finish.clone());
    }

    fn states(&self) -> MutexGuard<'_, States> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, state: &mut State, record: &Record) {
        match &record.event {
            Event::RunStarted(start) => {
                state.started_at = record.at;
                if self.is_run {
                    state.mode = start.agent.mode;
                }
                state.goal = words::short(&start.goal, SHORT);
            }
            Event::UserSaid { text } => {
                state.started_at = record.at;
                state.goal = words::short(text, SHORT);
                state.results = 0;
            }
            Event::ModelRequested { .. } => state.asked_at = record.at,
            Event::RunFinished(_) => state.ended_at = record.at,
            _ => {}
        }
        if self.detail >= Detail::Hops {
            self.show(state, record);
        }
    }

    fn show(&self, state: &mut State, record: &Record) {
        let paint = self.screen.paint();
        // A verdict right below its call needs no name.
        let last = state.last.take();
        match &record.event {
            Event::RunStarted(start) if self.is_run => self.started(&record.run, start),
            Event::RunStarted(_) | Event::UserSaid { .. } => {}
            Event::ModelRequested { hop, why, .. } => self.requested(state, *hop, *why),
            Event::ModelReplied { reply, error, by, passed_over, .. } => {
                self.screen.still();
                state.streamed.clear();
                for failed in passed_over {
                    let line = format!("  ! {}: {}", failed.model, failed.error.message);
                    self.line(paint.yellow(words::clean(&line)));
                }
                if let Some(by) = by {
                    self.line(paint.yellow(format!("  {by} stands in")));
                }
                if let Some(reply) = reply {
                    self.replied(state, record.at, reply);
                }
                if let (Some(error), Detail::All) = (error, self.detail) {
                    self.line(format!("  {}", paint.red(words::clean(&error.message))));
                }
            }
            Event::CallGated(gated) => self.gated(state, gated, last.as_ref()),
            Event::ApprovalRequested { call, because, .. } => {
                let label = state.label(call);
                let because = because.as_ref().map_or_else(String::new, |b| format!(" ({b})"));
                let line = format!("? {label} waits for approval{because}");
                self.line(format!("    {}", paint.yellow(words::clean(&line))));
            }
            Event::ApprovalDecided { call, decision, by, .. } => {
                let label = state.label(call);
                let who = by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
                let line = match decision {
                    Decision::Approve => paint.green(format!("✓ {label} approved{who}")),
                    Decision::Reject { reason } => {
                        let why = reason.as_ref().map_or_else(String::new, |r| format!(": {r}"));
                        paint.red(words::clean(&format!("✗ {label} rejected{who}{why}")))
                    }
                    Decision::Edit { .. } => paint.yellow(format!("✎ {label} edited{who}")),
                    Decision::Expired => paint.red(format!("✗ {label}: nobody answered in time")),
                };
                self.line(format!("    {line}"));
            }
            Event::CallStarted { call, lookup, .. } => {
                let shown = match lookup {
                    None => state.calls.get_mut(call),
                    Some(lookup) => {
                        let label = state.label(&lookup.of);
                        let arguments = self.text(&lookup.arguments);
                        let line =
                            format!("… {label} has a rule that asks {} {arguments}", lookup.tool);
                        self.line(format!("    {}", paint.dim(line)));
                        let shown = Shown {
                            label: lookup.tool.to_string(),
                            tool: Some(lookup.tool.clone()),
                            started_at: record.at,
                            is_lookup: true,
                        };
                        state.calls.insert(call.clone(), shown);
                        None
                    }
                };
                if let Some(shown) = shown {
                    shown.started_at = record.at;
                }
                state.running.push(call.clone());
                self.wait_for_tools(state);
            }
            Event::CallFinished(finished) => self.finished(state, record.at, finished),
            Event::CancelRequested { .. } => {
                self.line(paint.yellow("cancelling: tools are told to stop"));
            }
            Event::UserAsked { call, question, .. } => {
                let line = format!("? {} asks: {question}", state.label(call));
                self.line(format!("    {}", paint.yellow(words::clean(&line))));
            }
            Event::UserAnswered { text, by, .. } => {
                let who = by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
                let line = match text {
                    Some(text) => paint.green(words::clean(&format!("✓ answered{who}: {text}"))),
                    None => paint.red("✗ nobody answered in time"),
                };
                self.line(format!("    {line}"));
            }
            Event::CallInDoubt { call, attempt, policy } => {
                let label = state.label(call);
                let then = match policy {
                    None => "a person has to say what became of it",
                    Some(Resolution::Redo) => "it is called again, with the same key",
                    Some(Resolution::Done { .. }) => "it counts as done",
                    Some(Resolution::Fail) => "the model is told that nobody knows",
                };
                let line =
                    format!("? {label} was begun (attempt {attempt}), its outcome is lost: {then}");
                self.line(format!("    {}", paint.yellow(words::clean(&line))));
            }
            Event::DoubtResolved { call, resolution, by } => {
                let label = state.label(call);
                let who = by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
                let what = match resolution {
                    Resolution::Done { .. } => "was done",
                    Resolution::Redo => "is to be called again",
                    Resolution::Fail => "is left as it is",
                };
                self.line(format!(
                    "    {}",
                    paint.green(words::clean(&format!("✓ {label} {what}{who}")))
                ));
            }
            Event::PauseRequested { handover: true, .. }
            | Event::RunPaused { handover: true, .. } => {
                self.line(paint.yellow("left to whoever takes it up next"));
            }
            Event::PauseRequested { .. } => {
                self.line(paint.yellow("pausing: calls under way end first"));
            }
            Event::RunPaused { .. } => self.line(paint.yellow("paused")),
            Event::RunResumed(resumed) => {
                let with =
                    resumed.model.as_ref().map_or_else(String::new, |m| format!(" with {m}"));
                self.line(paint.dim(format!("resumed{with}")));
            }
            Event::RunFinished(_) => self.screen.still(),
            // Shown with the result itself.
            Event::ResultPassed { .. } => {}
        }
    }

    fn started(&self, run: &str, start: &RunStarted) {
        let paint = self.screen.paint();
        let tools = words::count(start.tools.len(), "tool");
        let line = format!(" · {} · {tools}", start.model);
        self.line(format!("{}{}", paint.bold(&start.agent.name), paint.dim(line)));
        self.line(paint.dim(format!("run {run}")));
    }

    fn requested(&self, state: &mut State, hop: u32, why: Why) {
        state.calls.clear();
        if !self.is_run {
            return;
        }
        let results = std::mem::take(&mut state.results);
        let asked = match why {
            Why::Turn if results > 0 => words::count(results, "result"),
            Why::Turn => state.goal.clone(),
            Why::AnswerRefused => "the answer did not fit its schema; asked again".to_owned(),
            Why::CallExpected => "a call is due; asked again".to_owned(),
            Why::GoOn => "told to go on".to_owned(),
            Why::ReplyLost => "the last reply was lost; asked again".to_owned(),
            Why::WrapUp => "the step limit is reached; one last reply without calls".to_owned(),
        };
        let paint = self.screen.paint();
        self.line(format!(
            "{} {}",
            paint.cyan(format!("hop {hop}")),
            paint.dim(format!("· {asked}"))
        ));
        self.wait("thinking".to_owned());
    }

    fn delta(&self, state: &mut State, delta: &Delta) {
        if !self.screen.is_live() || !self.is_run {
            return;
        }
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) => {
                state.streamed.push_str(&words::clean(text));
                let paint = self.screen.paint();
                self.wait(paint.dim(tail(&state.streamed)));
            }
            Delta::Call { name, .. } => {
                self.wait(format!("writing a call of {}", words::short(name, 80)));
            }
            Delta::State(_) => {}
        }
    }

    fn replied(&self, state: &mut State, at: u64, reply: &Reply) {
        state.wanted.clear();
        state.seen.clear();
        for call in reply.calls() {
            *state.wanted.entry(call.name.clone()).or_default() += 1;
        }
        state.results = reply.calls().count();
        if !self.is_run {
            return;
        }
        let paint = self.screen.paint();
        let has_calls = state.results > 0;
        for part in &reply.content {
            let text = match part {
                AssistantPart::Text { text } if has_calls => text,
                AssistantPart::Reasoning { text, .. } if self.detail == Detail::All => text,
                _ => continue,
            };
            for line in self.text_block(text).lines() {
                self.line(format!("  {}", paint.dim(line)));
            }
        }
        let took = words::time(at.saturating_sub(state.asked_at));
        let tokens = words::tokens(&reply.usage).map_or_else(String::new, |t| format!(" · {t}"));
        self.line(format!("  {}", paint.dim(format!("replied in {took}{tokens}"))));
        let cut = match reply.stop {
            Stop::Length => "the reply was cut off at the token limit: none of its calls runs",
            Stop::Incomplete => "the reply broke off: none of its calls runs",
            Stop::End | Stop::Refusal | Stop::Paused => return,
        };
        self.line(format!("  {}", paint.yellow(cut)));
    }

    fn gated(&self, state: &mut State, gated: &CallGated, last: Option<&Arc<str>>) {
        let paint = self.screen.paint();
        let mut is_below = last == Some(&gated.call);
        if !state.calls.contains_key(&gated.call) {
            let label = state.new_label(&gated.name);
            let arguments = self.text(&gated.raw);
            self.line(format!("  → {} {arguments}", paint.bold(words::clean(&label))));
            let tool = gated.tool.clone();
            let shown = Shown { label, tool, started_at: 0, is_lookup: false };
            state.calls.insert(gated.call.clone(), shown);
            is_below = true;
        }
        let label = if is_below { String::new() } else { format!("{} ", state.label(&gated.call)) };
        let mended = match gated.adjustments.as_slice() {
            [] => String::new(),
            some => format!(", repaired: {}", words::adjustments(some)),
        };
        match &gated.verdict {
            GateVerdict::Admitted { arguments, tier, .. } => {
                let edited = if gated.edited { " as edited" } else { "" };
                let line = format!("✓ {label}admitted{edited}{mended}");
                let line = if mended.is_empty() { paint.green(line) } else { paint.yellow(line) };
                self.line(format!("    {line}"));
                if !mended.is_empty() && self.detail == Detail::All {
                    self.line(format!("      {}", self.text(arguments)));
                }
                debug_assert!(*tier != Tier::Block, "a blocked call is refused");
            }
            // The question itself comes next.
            GateVerdict::Asking { .. } => state.last = Some(gated.call.clone()),
            GateVerdict::Answer { .. } => {
                self.line(format!(
                    "    {}",
                    paint.green(format!("✓ accepted as the answer{mended}"))
                ));
            }
            GateVerdict::Refused { fault } => {
                let lines = words::fault(fault);
                for (i, line) in lines.iter().enumerate() {
                    let line = match i {
                        0 => paint.red(format!("✗ {label}refused: {line}")),
                        _ => format!("  {line}"),
                    };
                    self.line(format!("    {line}"));
                }
            }
        }
    }

    fn finished(&self, state: &mut State, at: u64, finished: &CallFinished) {
        state.running.retain(|call| *call != finished.call);
        let Some(shown) = state.calls.get(&finished.call) else { return };
        let paint = self.screen.paint();
        let took = words::time(at.saturating_sub(shown.started_at));
        let label = words::clean(&shown.label);
        let outcome = match (&finished.output, &finished.failure) {
            (Some(output), None) => Ok(output.clone()),
            (_, Some(failure)) => Err(failure.clone()),
            (None, None) => return,
        };
        if let (Some(wire), Detail::All) = (&finished.wire, self.detail) {
            self.line(format!("    {}", paint.dim(format!("sent {}", words::clean(wire)))));
        }
        // What the model gets is what the gate out makes of it; the event holds what came.
        // A delegate's tools are its own: what they bring is shown as it came.
        let own = self.depth.load(Ordering::Relaxed) == 0;
        let tool = shown.tool.as_ref().filter(|_| own).and_then(|name| self.catalog.get(name));
        let passed = tool.map(|tool| result::pass(tool, state.mode, &outcome));
        match passed {
            Some(Ok(passed)) => {
                let mended = match passed.adjustments.as_slice() {
                    [] => String::new(),
                    some => format!(" (unwrapped: {})", words::adjustments(some)),
                };
                let text = self.text(passed.result.get());
                let line = format!("✓ {label} gave in {took}{mended}:");
                self.line(format!("    {} {text}", paint.green(line)));
                for omission in &passed.omissions {
                    let what = serde_json::to_string(omission).unwrap_or_default();
                    self.line(format!("      {}", paint.yellow(format!("left out: {what}"))));
                }
            }
            Some(Err(fault)) if shown.is_lookup => {
                let line = format!("✗ {label} found nothing in {took}: {}", fault.summary());
                self.line(format!("    {}", paint.red(words::short(&line, 400))));
            }
            Some(Err(fault)) => {
                for (i, line) in words::fault(&fault).iter().enumerate() {
                    let line = match i {
                        0 => paint.red(format!("✗ {label} failed in {took}: {line}")),
                        _ => format!("  {line}"),
                    };
                    self.line(format!("    {line}"));
                }
            }
            None => {
                let line = match &outcome {
                    Ok(output) => {
                        let text = self.text(&as_it_came(output));
                        format!("{} {text}", paint.green(format!("✓ {label} gave in {took}:")))
                    }
                    Err(failure) => {
                        let why = words::short(&failure.message, 400);
                        paint.red(format!("✗ {label} failed in {took}: {}: {why}", failure.kind))
                    }
                };
                self.line(format!("    {line}"));
            }
        }
        self.wait_for_tools(state);
    }

    fn wait_for_tools(&self, state: &State) {
        let names: Vec<String> = state.running.iter().map(|call| state.label(call)).collect();
        if names.is_empty() {
            self.screen.still();
        } else {
            self.wait(words::short(&format!("running {}", names.join(", ")), 100));
        }
    }

    /// Arguments or a result, as much of them as is wanted.
    fn text(&self, text: &str) -> String {
        words::short(text, if self.detail == Detail::All { usize::MAX } else { SHORT })
    }

    /// Words of a model.
    fn text_block(&self, text: &str) -> String {
        let text = words::clean(text.trim());
        let lines = if self.detail == Detail::All { usize::MAX } else { 6 };
        let mut kept: Vec<&str> = text.lines().take(lines).collect();
        if text.lines().count() > kept.len() {
            kept.push("…");
        }
        kept.join("\n")
    }
}

impl State {
    /// A call's name, with a number where the reply calls that tool more than once.
    fn new_label(&mut self, name: &Arc<str>) -> String {
        if self.is_alone(name) {
            return name.to_string();
        }
        let number = self.seen.entry(name.clone()).or_default();
        *number += 1;
        format!("{name}#{number}")
    }

    fn is_alone(&self, name: &str) -> bool {
        self.wanted.get(name).is_none_or(|wanted| *wanted < 2)
    }

    fn label(&self, call: &str) -> String {
        self.calls.get(call).map_or_else(|| call.to_owned(), |shown| words::clean(&shown.label))
    }
}

fn finish_of(record: &Record) -> Option<&Finish> {
    match &record.event {
        Event::RunFinished(finish) => Some(finish),
        _ => None,
    }
}

/// A tool's output without a contract to shape it by.
fn as_it_came(output: &Output) -> String {
    if let Some(structured) = &output.structured {
        return structured.to_string();
    }
    let texts = output.content.iter().map(|content| match content {
        Content::Text { text } => text.to_string(),
        other => serde_json::to_string(other).unwrap_or_default(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The end of a text that is still coming: what fits below the lines.
fn tail(text: &str) -> String {
    const WIDTH: usize = 76;
    const LINES: usize = 4;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let chars: Vec<char> = line.chars().collect();
        lines.extend(chars.chunks(WIDTH).map(|chunk| chunk.iter().collect::<String>()));
    }
    let from = lines.len().saturating_sub(LINES);
    lines[from..].join("\n  ")
}

/// A chat's figures add up; a turn's own are the difference.
fn this_turn(finish: &Finish, before: Option<&Finish>) -> Finish {
    let mut this = finish.clone();
    if let Some(before) = before {
        this.hops -= before.hops.min(this.hops);
        this.calls -= before.calls.min(this.calls);
        this.usage.input_tokens -= before.usage.input_tokens.min(this.usage.input_tokens);
        this.usage.output_tokens -= before.usage.output_tokens.min(this.usage.output_tokens);
        this.usage.cached_tokens -= before.usage.cached_tokens.min(this.usage.cached_tokens);
        this.usd = this.usd.map(|usd| usd - before.usd.unwrap_or_default());
    }
    this
}
