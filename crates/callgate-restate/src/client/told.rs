//! What the rows of Restate's tables say of a run.

use std::sync::Arc;

use callgate_engine::{RunState, RunSummary};
use callgate_machine::finish::Status;
use serde::Deserialize;

use super::{ClientError, places::Place};
use crate::status::{Phase, RunStatus, WaitsOn};

/// A run, as Restate has it now.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Its facts. It was started when Restate took it.
    pub summary: RunSummary,
    /// What it wrote down last; nothing where no worker has begun it.
    pub status: Option<RunStatus>,
    /// Why it does not go on for now: no worker has begun it, or the attempts of those that have
    /// fail.
    pub trouble: Option<String>,
    /// Whether Restate paused it, after too many failed attempts.
    pub given_up: bool,
}

/// How the handler of a run stands.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Handler {
    #[serde(default)]
    status: String,
    #[serde(default)]
    completion_result: Option<String>,
    #[serde(default)]
    completion_failure: Option<String>,
    #[serde(default)]
    retry_count: Option<u64>,
    #[serde(default)]
    last_failure: Option<String>,
}

pub(super) fn read_status(run: &str, text: &str) -> Result<RunStatus, ClientError> {
    serde_json::from_str(text).map_err(|e| ClientError::Answer {
        url: format!("the status of run {run}"),
        detail: e.to_string(),
    })
}

/// What the tables say of a run.
pub(super) fn looked(
    run: Arc<str>,
    place: &Place,
    handler: &Handler,
    status: Option<RunStatus>,
) -> Look {
    let mut summary = match &status {
        Some(status) => summary_of(status),
        None => RunSummary { updated_at: place.at, ..RunSummary::new(run) },
    };
    // The order of the list is that of Restate's own clock.
    summary.started_at = place.at;
    let failed = handler.completion_result.as_deref() == Some("failure");
    if failed && !summary.state.is_over() {
        let because = handler.completion_failure.as_deref().unwrap_or("its handler failed");
        // What was withdrawn before a worker began it.
        let is_withdrawn = status.is_none() && because.contains("kill");
        summary.state = if is_withdrawn { RunState::Cancelled } else { RunState::Failed };
        summary.note = Some(because.to_owned());
        summary.open.clear();
        summary.paused = false;
    }
    let trouble = match (&handler.last_failure, &status) {
        _ if summary.state.is_over() => None,
        (Some(failure), _) if matches!(handler.status.as_str(), "backing-off" | "paused") => {
            let tries = handler.retry_count.unwrap_or(0);
            let then = if handler.status == "paused" {
                "Restate has paused it: resume the invocation there"
            } else {
                "Restate tries again"
            };
            Some(format!("{then} after {tries} attempts: {failure}"))
        }
        (_, None) => Some("Restate has it, and no worker has begun it yet".to_owned()),
        _ => None,
    };
    let given_up = handler.status == "paused";
    Look { summary, status, trouble, given_up }
}

/// The facts of a run; what can be told of them where an older build did not write them down.
fn summary_of(status: &RunStatus) -> RunSummary {
    if let Some(summary) = &status.summary {
        return summary.clone();
    }
    let in_doubt = status.waits.iter().any(|wait| matches!(wait.on, WaitsOn::Doubt { .. }));
    let state = match (&status.ended, status.phase) {
        (Some(ended), _) => match ended.status {
            Status::Answered => RunState::Answered,
            Status::Stopped => RunState::Stopped,
            Status::Failed => RunState::Failed,
            Status::Cancelled => RunState::Cancelled,
        },
        (None, Phase::Over) => RunState::Ended,
        (None, Phase::Paused) => RunState::Paused,
        (None, Phase::Waiting) if in_doubt => RunState::InDoubt,
        (None, Phase::Waiting) => RunState::Waiting,
        (None, Phase::Running) => RunState::Running,
    };
    RunSummary {
        agent: status.agent.to_string(),
        model: status.model.to_string(),
        goal: status.goal.to_string(),
        state,
        paused: status.phase == Phase::Paused,
        started_at: status.started_at,
        updated_at: status.at,
        events: status.events,
        hops: status.hop.into(),
        note: status.ended.as_ref().and_then(|ended| ended.text.as_deref().map(str::to_owned)),
        ..RunSummary::new(status.run.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(phase: Phase) -> RunStatus {
        let summary = RunSummary {
            state: if phase == Phase::Over { RunState::Answered } else { RunState::Running },
            events: 7,
            started_at: 999,
            ..RunSummary::new("r".into())
        };
        RunStatus {
            run: "r".into(),
            phase,
            goal: "g".into(),
            agent: "a".into(),
            model: "m".into(),
            build: "b".into(),
            started_at: 999,
            at: 1001,
            hop: 1,
            events: 7,
            waits: Vec::new(),
            pauses: 0,
            ended: None,
            summary: Some(summary),
        }
    }

    #[test]
    fn what_the_tables_say_of_a_run() {
        let place = Place { partition_key: u64::MAX, id: "inv_1".into(), at: 1000 };
        let handler = |json: &str| serde_json::from_str::<Handler>(json).unwrap();
        let running = handler(r#"{"status":"running"}"#);
        let failing =
            handler(r#"{"status":"backing-off","retry_count":3,"last_failure":"refused"}"#);
        let paused = handler(r#"{"status":"paused","retry_count":9,"last_failure":"refused"}"#);
        let ended = handler(r#"{"status":"completed","completion_result":"success"}"#);
        let fallen = handler(
            r#"{"status":"completed","completion_result":"failure","completion_failure":"[500] halted"}"#,
        );
        let killed = handler(
            r#"{"status":"completed","completion_result":"failure","completion_failure":"[409] killed"}"#,
        );
        let none = None::<Phase>;
        for (handler, phase, state, note, trouble) in [
            (&running, Some(Phase::Running), RunState::Running, None, None),
            (&running, none, RunState::Running, None, Some("no worker has begun it")),
            (
                &failing,
                none,
                RunState::Running,
                None,
                Some("tries again after 3 attempts: refused"),
            ),
            (&failing, Some(Phase::Running), RunState::Running, None, Some("refused")),
            (&paused, Some(Phase::Running), RunState::Running, None, Some("has paused it")),
            (&ended, Some(Phase::Over), RunState::Answered, None, None),
            (&fallen, Some(Phase::Running), RunState::Failed, Some("halted"), None),
            // What it says of itself counts, once it has said it.
            (&fallen, Some(Phase::Over), RunState::Answered, None, None),
            (&killed, none, RunState::Cancelled, Some("killed"), None),
            (&killed, Some(Phase::Running), RunState::Failed, Some("killed"), None),
        ] {
            let look = looked("r".into(), &place, handler, phase.map(status));
            let told = format!("{handler:?} {phase:?}: {look:?}");
            assert_eq!((look.summary.state, look.summary.started_at), (state, 1000), "{told}");
            for (got, wanted) in [(&look.summary.note, note), (&look.trouble, trouble)] {
                match (got, wanted) {
                    (None, None) => {}
                    (Some(got), Some(part)) => assert!(got.contains(part), "{told}"),
                    _ => panic!("{told}"),
                }
            }
            assert_eq!(look.given_up, handler.status == "paused", "{told}");
        }
    }

    #[test]
    fn statuses_of_older_builds_are_told_too() {
        let waits =
            |on| crate::status::Waits { call: "c".into(), key: "k".into(), expires_at: None, on };
        let question = WaitsOn::Answer { question: "q".into(), choices: Vec::new() };
        let doubt = WaitsOn::Doubt {
            tool: "t".into(),
            arguments: "{}".into(),
            idempotency_key: "r/c".into(),
            attempt: 1,
        };
        for (phase, on, state) in [
            (Phase::Running, None, RunState::Running),
            (Phase::Waiting, Some(question), RunState::Waiting),
            (Phase::Waiting, Some(doubt), RunState::InDoubt),
            (Phase::Paused, None, RunState::Paused),
            (Phase::Over, None, RunState::Ended),
        ] {
            let mut old = RunStatus { summary: None, ..status(phase) };
            old.waits.extend(on.map(waits));
            let summary = summary_of(&old);
            assert_eq!((summary.state, summary.events), (state, 7), "{old:?}");
        }
    }
}
