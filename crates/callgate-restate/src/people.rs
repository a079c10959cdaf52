//! Words to a run: decisions, answers, cancellation, pause.
//!
//! Each word keeps a durable promise of the run, and the first one counts. Restate takes a second
//! one without a murmur, so a promise is looked at before and after it is kept: whoever comes
//! second learns what the first one said.

use callgate_machine::event::Decision;
use restate_sdk::prelude::*;

use crate::{
    clock,
    keys::Keys,
    message::{Said, Say, Word},
    names,
    status::{Phase, RunStatus, Waits, WaitsOn},
    worker::Shared,
};

/// The most bytes that a word may bring.
const LIMIT: usize = 1024 * 1024;

/// Says something to a run.
pub(crate) async fn say<'s>(
    worker: &Shared,
    ctx: &'s SharedWorkflowContext<'s>,
    keys: &'s Keys,
    mut said: Say,
) -> HandlerResult<Said> {
    let status = ctx.get::<Json<RunStatus>>(names::STATUS).await?;
    let key = match status {
        None => {
            return Ok(refused(format!(
                "there is no run {} here, or it has not begun yet",
                ctx.key()
            )));
        }
        Some(Json(status)) => match promise(&status, &mut said) {
            Ok(key) => keys.keep(key),
            Err(because) => return Ok(refused(because)),
        },
    };
    if let Some(Json(first)) = ctx.peek_promise::<Json<Word>>(key).await? {
        return Ok(Said::Already { said: first.said, at: first.at });
    }
    let at = ctx.run(|| async { Ok(clock::now()) }).name("now").await?;
    let is_stop = matches!(said, Say::Cancel { .. } | Say::Pause { .. });
    let word = Word { token: ctx.invocation_id().to_owned(), at, said };
    ctx.resolve_promise(key, Json(word.clone()));
    match ctx.peek_promise::<Json<Word>>(key).await? {
        Some(Json(first)) if first.token != word.token => {
            Ok(Said::Already { said: first.said, at: first.at })
        }
        _ => {
            // The promise is kept and safe: only now may the hop be stopped that waits for none.
            if is_stop {
                worker.flights.stop(ctx.key(), key);
            }
            Ok(Said::Taken)
        }
    }
}

fn refused(because: String) -> Said {
    Said::Refused { because }
}

/// The promise that a word keeps, or why there is none.
fn promise(status: &RunStatus, said: &mut Say) -> Result<String, String> {
    if status.phase == Phase::Over {
        return Err(format!("run {} is over", status.run));
    }
    match said {
        Say::Cancel { .. } => Ok(names::CANCEL.to_owned()),
        // While it is paused the promise of the next pause is kept ready: pausing twice is no harm.
        Say::Pause { .. } if status.phase == Phase::Paused => {
            Err(format!("run {} is paused already", status.run))
        }
        Say::Pause { .. } => Ok(names::pause(status.pauses)),
        Say::Resume { .. } if status.phase == Phase::Paused => Ok(names::resume(status.pauses)),
        Say::Resume { .. } => Err(format!(
            "run {} is not paused; where a pause was asked for, calls under way end first",
            status.run
        )),
        Say::Decision { call, binding, decision, .. } => {
            let wait =
                waiting(status, call, "approval", |on| matches!(on, WaitsOn::Approval { .. }))?;
            if let WaitsOn::Approval { binding: open, .. } = &wait.on {
                match binding {
                    None => *binding = Some(open.clone()),
                    Some(seen) if seen == open => {}
                    Some(_) => {
                        return Err(format!(
                            "call {call} now asks about something else than you saw: look again"
                        ));
                    }
                }
            }
            match decision {
                Decision::Expired => Err("only time makes a question expire".to_owned()),
                Decision::Edit { arguments } if arguments.len() > LIMIT => {
                    Err(format!("the arguments are longer than {LIMIT} bytes"))
                }
                _ => Ok(wait.key.to_string()),
            }
        }
        Say::Answer { call, text, .. } => {
            let wait =
                waiting(status, call, "an answer", |on| matches!(on, WaitsOn::Answer { .. }))?;
            if text.len() > LIMIT {
                return Err(format!("the answer is longer than {LIMIT} bytes"));
            }
            Ok(wait.key.to_string())
        }
        Say::Doubt { call, .. } => {
            let wait = waiting(status, call, "a word on what became of it", |on| {
                matches!(on, WaitsOn::Doubt { .. })
            })?;
            Ok(wait.key.to_string())
        }
    }
}

fn waiting<'a>(
    status: &'a RunStatus,
    call: &str,
    what: &str,
    is: impl Fn(&WaitsOn) -> bool,
) -> Result<&'a Waits, String> {
    let found = status.waits.iter().find(|wait| &*wait.call == call && is(&wait.on));
    found.ok_or_else(|| {
        let open: Vec<&str> = status.waits.iter().map(|wait| &*wait.call).collect();
        let open = if open.is_empty() { "none does".to_owned() } else { open.join(", ") };
        format!("no call {call} of run {} waits for {what} (waiting: {open})", status.run)
    })
}

#[cfg(test)]
mod tests {
    use callgate_machine::event::Resolution;

    use super::*;

    fn status(phase: Phase) -> RunStatus {
        let wait = |call: &str, on| Waits {
            call: call.into(),
            key: format!("key-{call}").into(),
            expires_at: None,
            on,
        };
        RunStatus {
            run: "r".into(),
            phase,
            goal: "g".into(),
            agent: "a".into(),
            model: "m".into(),
            build: "b".into(),
            started_at: 0,
            at: 0,
            hop: 1,
            events: 9,
            waits: vec![
                wait(
                    "c1",
                    WaitsOn::Approval {
                        tool: "t".into(),
                        description: "d".into(),
                        arguments: "{}".into(),
                        binding: "b1".into(),
                        because: None,
                        destructive: false,
                    },
                ),
                wait("c2", WaitsOn::Answer { question: "q".into(), choices: vec![] }),
                wait(
                    "c3",
                    WaitsOn::Doubt {
                        tool: "t".into(),
                        arguments: "{}".into(),
                        idempotency_key: "r/c3".into(),
                        attempt: 1,
                    },
                ),
            ],
            pauses: 2,
            ended: None,
            summary: None,
        }
    }

    #[test]
    fn which_promise_a_word_keeps() {
        let yes = |call: &str, binding: Option<&str>| Say::Decision {
            call: call.into(),
            binding: binding.map(Into::into),
            decision: Decision::Approve,
            by: None,
        };
        let answer = |call: &str| Say::Answer { call: call.into(), text: "x".into(), by: None };
        let redo =
            |call: &str| Say::Doubt { call: call.into(), resolution: Resolution::Redo, by: None };
        let (running, paused, over) =
            (status(Phase::Waiting), status(Phase::Paused), status(Phase::Over));
        let edit = Say::Decision {
            call: "c1".into(),
            binding: None,
            decision: Decision::Edit { arguments: "x".repeat(LIMIT + 1).into() },
            by: None,
        };
        let expired = Say::Decision {
            call: "c1".into(),
            binding: None,
            decision: Decision::Expired,
            by: None,
        };
        for (status, mut said, key) in [
            (&running, yes("c1", Some("b1")), Ok("key-c1")),
            (&running, yes("c1", None), Ok("key-c1")),
            (&running, yes("c1", Some("b0")), Err("look again")),
            (&running, yes("c2", None), Err("no call c2 of run r waits for approval")),
            (&running, yes("c9", None), Err("(waiting: c1, c2, c3)")),
            (&running, expired, Err("only time")),
            (&running, edit, Err("longer than")),
            (&running, answer("c2"), Ok("key-c2")),
            (&running, answer("c1"), Err("waits for an answer")),
            (&running, redo("c3"), Ok("key-c3")),
            (&running, Say::Cancel { by: None }, Ok("cancel")),
            (&running, Say::Pause { by: None }, Ok("pause-2")),
            (&running, Say::Resume { by: None }, Err("not paused")),
            (&paused, Say::Resume { by: None }, Ok("resume-2")),
            (&paused, Say::Pause { by: None }, Err("paused already")),
            (&over, Say::Cancel { by: None }, Err("is over")),
        ] {
            let got = promise(status, &mut said);
            match (key, &got) {
                (Ok(key), Ok(got)) => assert_eq!(key, got, "{said:?}"),
                (Err(part), Err(got)) => assert!(got.contains(part), "{said:?}: {got}"),
                _ => panic!("{said:?}: {got:?}"),
            }
        }
    }

    #[test]
    fn a_yes_without_a_binding_is_to_the_open_question() {
        let mut said = Say::Decision {
            call: "c1".into(),
            binding: None,
            decision: Decision::Approve,
            by: None,
        };
        promise(&status(Phase::Waiting), &mut said).unwrap();
        assert!(matches!(said, Say::Decision { binding: Some(b), .. } if &*b == "b1"));
    }
}
