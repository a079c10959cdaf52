//! What a list of runs shows: a few facts of each, kept up to date as events are appended.
//!
//! The facts are read out of the events' JSON, by name, so that an event or a field that this
//! version does not know changes nothing here. This is for people and lists; what happens next is
//! the machine's to say.

use std::sync::Arc;

use callgate_machine::Record;
use callgate_wire::json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{JournalError, Line, line::kind_of};

/// Characters of a goal, an answer or a reason that a list keeps.
const HEAD: usize = 300;

/// What a run is doing, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It goes on, or would if a process drove it.
    Running,
    /// It waits for an approval or an answer.
    Waiting,
    /// A person put it to rest.
    Paused,
    /// A person has to say what became of a call.
    InDoubt,
    /// There is an answer.
    Answered,
    /// A limit ended it without one.
    Stopped,
    /// Something did not fit, or a loop was seen.
    Failed,
    /// A person cancelled it.
    Cancelled,
    /// It ended in a way that this version does not know.
    Ended,
}

impl RunState {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Running,
        Self::Waiting,
        Self::Paused,
        Self::InDoubt,
        Self::Answered,
        Self::Stopped,
        Self::Failed,
        Self::Cancelled,
        Self::Ended,
    ];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::InDoubt => "in_doubt",
            Self::Answered => "answered",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Ended => "ended",
        }
    }

    /// By its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether nothing follows, unless the user goes on.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Running | Self::Waiting | Self::Paused | Self::InDoubt)
    }
}

impl std::fmt::Display for RunState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Open {
    /// The call.
    pub call: String,
    /// What is wanted.
    pub want: Want,
}

/// What is wanted of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// A yes or no.
    Approval,
    /// An answer.
    Answer,
    /// What became of the call.
    Doubt,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Its id.
    pub run: Arc<str>,
    /// The agent's name; empty where it has none.
    pub agent: String,
    /// The model's id.
    pub model: String,
    /// The head of the goal.
    pub goal: String,
    /// What it is doing.
    pub state: RunState,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Open>,
    /// Whether a person put it to rest.
    #[serde(default)]
    pub paused: bool,
    /// Milliseconds since 1970.
    pub started_at: u64,
    /// Its last event, in milliseconds since 1970.
    pub updated_at: u64,
    /// Events so far.
    pub events: u64,
    /// Model replies asked for.
    pub hops: u64,
    /// Tool calls started, questions of rules not counted.
    pub calls: u64,
    /// Tokens of all replies.
    pub tokens: u64,
    /// The run that delegated to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// In a line, what came of it: the head of the answer, or what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The tools that its model called, each once, in the order of their first calls; at most 32.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Kinds of refusals and failures of its calls, such as `schema_mismatch`, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
}

/// Which runs to list. Newest first.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// In one of these states; any where empty.
    pub states: Vec<RunState>,
    /// Of this agent.
    pub agent: Option<String>,
    /// Delegated by this run.
    pub parent: Option<String>,
    /// Begun at or after this time, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Begun before this time: for the next page.
    pub before: Option<u64>,
    /// After this one in the list, by when it was started and its id: for the next page.
    pub below: Option<(u64, String)>,
    /// That called this tool.
    pub tool: Option<String>,
    /// In which a call was refused or failed in this way.
    pub fault: Option<String>,
    /// With this in id, goal or note, upper and lower case alike (of the letters a to z).
    pub text: Option<String>,
    /// At most so many. Default: all.
    pub limit: Option<usize>,
}

impl Filter {
    /// Whether a run is wanted.
    pub fn admits(&self, run: &RunSummary) -> bool {
        let holds =
            |text: &str, part: &str| text.to_ascii_lowercase().contains(&part.to_ascii_lowercase());
        (self.states.is_empty() || self.states.contains(&run.state))
            && self.agent.as_ref().is_none_or(|agent| *agent == run.agent)
            && self.parent.as_ref().is_none_or(|parent| run.parent.as_ref() == Some(parent))
            && self.since.is_none_or(|since| run.started_at >= since)
            && self.before.is_none_or(|before| run.started_at < before)
            && self
                .below
                .as_ref()
                .is_none_or(|(at, id)| (run.started_at, &*run.run) < (*at, id.as_str()))
            && self.tool.as_ref().is_none_or(|tool| run.tools.contains(tool))
            && self.fault.as_ref().is_none_or(|fault| run.faults.contains(fault))
            && self.text.as_ref().is_none_or(|part| {
                holds(&run.run, part)
                    || holds(&run.goal, part)
                    || run.note.as_ref().is_some_and(|note| holds(note, part))
            })
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Started {
    agent: Named,
    model: String,
    goal: String,
    parent: Option<Parent>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Parent {
    Id(String),
    Call { run: String },
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Usage {
    input_tokens: u64,
    output_tokens: u64,
}

impl Usage {
    fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spent {
    usage: Usage,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Replied {
    reply: Option<Spent>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Call<'a> {
    call: String,
    attempt: Option<u32>,
    #[serde(borrow)]
    lookup: Option<&'a RawValue>,
    #[serde(borrow)]
    policy: Option<&'a RawValue>,
    model: Option<String>,
}

/// Of a verdict or an outcome, whose it is and how it went wrong.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Judged {
    name: Option<String>,
    tool: Option<String>,
    verdict: Option<Faulty>,
    failure: Option<Kinded>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Faulty {
    fault: Option<Kinded>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Kinded {
    kind: String,
}

/// Tools that a list keeps of a run.
const TOOLS: usize = 32;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Paused {
    handover: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Finished {
    status: String,
    text: Option<String>,
    value: Option<String>,
    fault: Option<Worded>,
    provider: Option<Worded>,
    hops: Option<u64>,
    calls: Option<u64>,
    usage: Option<Usage>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Worded {
    message: String,
}

impl RunSummary {
    /// A run without events.
    pub fn new(run: Arc<str>) -> Self {
        Self {
            run,
            agent: String::new(),
            model: String::new(),
            goal: String::new(),
            state: RunState::Running,
            open: Vec::new(),
            paused: false,
            started_at: 0,
            updated_at: 0,
            events: 0,
            hops: 0,
            calls: 0,
            tokens: 0,
            parent: None,
            note: None,
            tools: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Takes in the next event.
    ///
    /// # Errors
    /// It has no JSON: a defect of the machine.
    pub fn take(&mut self, record: &Record) -> Result<(), JournalError> {
        let mut element = String::new();
        Line::of(record)?.push_element(&mut element);
        self.fold(record.at, &element);
        Ok(())
    }

    /// Takes in an event, as `{"at":…,"type":…,…}`. Whether more than times and counts may have
    /// changed.
    pub(crate) fn fold(&mut self, at: u64, element: &str) -> bool {
        let waited = !self.open.is_empty();
        let (tools, faults) = (self.tools.len(), self.faults.len());
        if self.events == 0 {
            self.started_at = at;
        }
        self.events += 1;
        self.updated_at = at;
        let kind = kind_of(element);
        match kind {
            "runStarted" => {
                let started: Started = read(element);
                self.agent = started.agent.name.unwrap_or_default();
                self.model = started.model;
                self.goal = head(&started.goal);
                self.parent = started.parent.map(|parent| match parent {
                    Parent::Id(run) | Parent::Call { run } => run,
                });
            }
            // The user's next words begin a new turn.
            "userSaid" => {
                self.open.clear();
                self.paused = false;
                self.note = None;
                self.state = RunState::Running;
            }
            "modelRequested" => self.hops += 1,
            "modelReplied" => {
                let replied: Replied = read(element);
                self.tokens += replied.reply.map_or(0, |r| r.usage.total());
            }
            "callStarted" => {
                let call: Call<'_> = read(element);
                let is_first = call.attempt.is_none_or(|attempt| attempt <= 1);
                self.calls += u64::from(call.lookup.is_none() && is_first);
                self.close(&call.call);
            }
            "approvalRequested" => self.wait(element, Want::Approval),
            "userAsked" => self.wait(element, Want::Answer),
            "callInDoubt" => self.wait(element, Want::Doubt),
            "callGated" => self.judge(element),
            "callFinished" => {
                self.close_if_open(element);
                self.judge(element);
            }
            "approvalDecided" | "userAnswered" | "doubtResolved" => self.close_if_open(element),
            "runPaused" => {
                let paused: Paused = read(element);
                // One that was handed over goes on with whoever takes it up.
                self.paused = !paused.handover;
            }
            "runResumed" => {
                self.paused = false;
                let resumed: Call<'_> = read(element);
                if let Some(model) = resumed.model {
                    self.model = model;
                }
            }
            "runFinished" => self.finish(element),
            _ => {}
        }
        if !self.state.is_over() {
            self.state = self.doing();
        }
        let counts_only = matches!(
            kind,
            "modelRequested" | "modelReplied" | "callGated" | "callStarted" | "callFinished"
        );
        waited || !counts_only || tools != self.tools.len() || faults != self.faults.len()
    }

    /// Notes which tool was called, and how a call went wrong.
    fn judge(&mut self, element: &str) {
        let judged: Judged = read(element);
        let note = |all: &mut Vec<String>, one: Option<String>| {
            if let Some(one) = one.filter(|one| !one.is_empty() && !all.contains(one)) {
                all.push(one);
            }
        };
        if self.tools.len() < TOOLS {
            note(&mut self.tools, judged.tool.or(judged.name));
        }
        let refused = judged.verdict.and_then(|verdict| verdict.fault);
        note(&mut self.faults, refused.or(judged.failure).map(|fault| fault.kind));
    }

    fn doing(&self) -> RunState {
        if self.open.iter().any(|open| open.want == Want::Doubt) {
            RunState::InDoubt
        } else if self.paused {
            RunState::Paused
        } else if self.open.is_empty() {
            RunState::Running
        } else {
            RunState::Waiting
        }
    }

    fn wait(&mut self, element: &str, want: Want) {
        let call: Call<'_> = read(element);
        // A doubt that a policy decides waits for nobody.
        if call.policy.is_none() {
            self.close(&call.call);
            self.open.push(Open { call: call.call, want });
        }
    }

    fn close_if_open(&mut self, element: &str) {
        if !self.open.is_empty() {
            let call: Call<'_> = read(element);
            self.close(&call.call);
        }
    }

    fn close(&mut self, call: &str) {
        self.open.retain(|open| open.call != call);
    }

    fn finish(&mut self, element: &str) {
        let finished: Finished = read(element);
        self.state = RunState::from_word(&finished.status)
            .filter(|state| state.is_over())
            .unwrap_or(RunState::Ended);
        self.open.clear();
        self.paused = false;
        self.hops = finished.hops.unwrap_or(self.hops);
        self.calls = finished.calls.unwrap_or(self.calls);
        self.tokens = finished.usage.map_or(self.tokens, |usage| usage.total());
        let wrong = finished.fault.or(finished.provider).map(|worded| worded.message);
        let came = finished.value.or(finished.text);
        let note = if self.state == RunState::Answered { came.or(wrong) } else { wrong.or(came) };
        self.note = note.filter(|note| !note.is_empty()).map(|note| head(&note));
    }
}

/// The fields that are wanted, where they have the shape that is known here.
fn read<'a, T: Deserialize<'a> + Default>(element: &'a str) -> T {
    json::from_str(element).unwrap_or_default()
}

fn head(text: &str) -> String {
    match text.char_indices().nth(HEAD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(events: &[&str]) -> RunSummary {
        let mut summary = RunSummary::new("r".into());
        for (at, event) in (1000..).zip(events) {
            summary.fold(at, &format!("{{\"at\":{at},{event}}}"));
        }
        summary
    }

    const START: &str =
        r#""type":"runStarted","agent":{"name":"support"},"model":"a:b","goal":"g""#;

    #[test]
    fn states_follow_the_events() {
        let ask = r#""type":"approvalRequested","call":"c1","binding":"b""#;
        let ask2 = r#""type":"approvalRequested","call":"c2","binding":"b""#;
        let yes = r#""type":"approvalDecided","call":"c1","binding":"b","decision":{}"#;
        let doubt = r#""type":"callInDoubt","call":"c3","attempt":1"#;
        let by_policy =
            r#""type":"callInDoubt","call":"c3","attempt":1,"policy":{"resolution":"redo"}"#;
        let done = r#""type":"doubtResolved","call":"c3","resolution":{"resolution":"redo"}"#;
        let paused = r#""type":"runPaused""#;
        let handed_over = r#""type":"runPaused","handover":true"#;
        let resumed = r#""type":"runResumed","model":"other:m""#;
        let over = r#""type":"runFinished","status":"answered","text":"42","hops":1,"calls":0,"usage":{"inputTokens":3,"outputTokens":4}"#;
        let odd = r#""type":"runFinished","status":"evaporated""#;
        let said = r#""type":"userSaid","text":"and?""#;
        let unknown = r#""type":"moonRose","call":"c1""#;
        let rows: &[(&[&str], RunState)] = &[
            (&[START], RunState::Running),
            (&[START, unknown], RunState::Running),
            (&[START, ask], RunState::Waiting),
            (&[START, ask, unknown], RunState::Waiting),
            (&[START, ask, ask2, yes], RunState::Waiting),
            (&[START, ask, yes], RunState::Running),
            (&[START, r#""type":"userAsked","call":"c9","question":"?""#], RunState::Waiting),
            (&[START, doubt], RunState::InDoubt),
            (&[START, by_policy], RunState::Running),
            (&[START, doubt, paused], RunState::InDoubt),
            (&[START, doubt, paused, done], RunState::Paused),
            (&[START, ask, paused], RunState::Paused),
            (&[START, handed_over], RunState::Running),
            (&[START, ask, paused, resumed], RunState::Waiting),
            (&[START, ask, over], RunState::Answered),
            (&[START, over, unknown], RunState::Answered),
            (&[START, odd], RunState::Ended),
            (&[START, over, said], RunState::Running),
        ];
        for (events, state) in rows {
            assert_eq!(folded(events).state, *state, "{events:?}");
        }
        let end = folded(&[START, over]);
        assert_eq!((end.hops, end.calls, end.tokens), (1, 0, 7));
        assert_eq!(end.note.as_deref(), Some("42"));
        assert_eq!((end.agent.as_str(), end.goal.as_str()), ("support", "g"));
        assert_eq!((end.started_at, end.updated_at, end.events), (1000, 1001, 2));
        assert_eq!(folded(&[START, resumed]).model, "other:m");
    }

    #[test]
    fn a_field_of_another_shape_harms_nothing() {
        let odd = folded(&[r#""type":"runStarted","agent":7,"model":[],"goal":null"#]);
        assert_eq!((odd.state, odd.events), (RunState::Running, 1));
    }

    #[test]
    fn counts_are_of_calls_and_replies() {
        let events = folded(&[
            START,
            r#""type":"modelRequested","hop":1"#,
            r#""type":"modelReplied","hop":1,"reply":{"content":[{"text":"x"}],"usage":{"inputTokens":10,"outputTokens":5}}"#,
            r#""type":"callStarted","call":"q","attempt":1,"lookup":{"of":"c"}"#,
            r#""type":"callStarted","call":"c","attempt":1"#,
            r#""type":"callStarted","call":"c","attempt":2"#,
        ]);
        assert_eq!((events.hops, events.calls, events.tokens), (1, 1, 15));
    }
}
