//! `--live`: the valid fixtures before the real backends, and what comes back before the gate out.
//!
//! A made instance is right by its schema and made up all the same: there is no ticket of that
//! number. So an error that the tool itself reports is a note there, and a failure only where a
//! person wrote the fixture. What the gate out refuses, a crash, a timeout, is always one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use callgate::{
    Called, Project,
    contract::{
        Catalog, ErrorKind, Facts, Mode, Tool, Verdict,
        fixture::{Expect, Fixture, Gate, Kind},
        tier::Tier,
    },
    engine::ApproveAll,
    machine::Status,
};
use serde_json::Value;

use super::report::{Case, Outcome, Report};
use crate::{
    cli::Test,
    failure::Failure,
    input,
    show::words,
    signals::{Signals, Stop},
    verbs::block_on,
};

pub(super) fn run(
    test: &Test,
    project: &Project,
    catalog: &Catalog,
    report: &mut Report,
) -> Result<(), Failure> {
    let caller = input::caller(test.caller.as_deref())?;
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let done = all(test, project, catalog, &caller, report, &mut signals).await;
        crate::project::end(project, &Arc::new(Stop::default()), &mut signals).await;
        done
    })
}

async fn all(
    test: &Test,
    project: &Project,
    catalog: &Catalog,
    caller: &Value,
    report: &mut Report,
    signals: &mut Signals,
) -> Result<(), Failure> {
    for tested in &mut report.tools {
        let Some(tool) = catalog.get(&tested.tool) else { continue };
        let fixtures: Vec<(Fixture, Option<String>)> = tested
            .cases
            .iter()
            .filter(|case| case.outcome == Outcome::Held && is_for_live(&case.fixture))
            .map(|case| (case.fixture.clone(), case.file.clone()))
            .collect();
        for (fixture, file) in fixtures {
            let caller = fixture.caller.clone().unwrap_or_else(|| caller.clone());
            let started = Instant::now();
            let (outcome, why, note) = match why_not(test, tool, &fixture, &caller) {
                Some(why) => (Outcome::Skipped, Some(why), None),
                None => {
                    let called =
                        call(test, project, &tested.tool, &fixture, caller, signals).await?;
                    if called.finish.status == Status::Cancelled {
                        return Err(Failure::new(
                            crate::exit::Exit::Cancelled,
                            "cancelled",
                            "cancelled",
                        ));
                    }
                    told(&fixture, &called)
                }
            };
            let ms = (outcome != Outcome::Skipped).then(|| millis(started.elapsed()));
            tested.cases.push(Case { fixture, file, outcome, why, note, is_live: true, ms });
        }
    }
    Ok(())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Boundaries say something of the schema. What a tool does is shown by ordinary arguments.
fn is_for_live(fixture: &Fixture) -> bool {
    fixture.gate == Gate::In
        && fixture.expect == Expect::Admitted
        && matches!(fixture.kind, Kind::Valid | Kind::Own)
}

/// Why a fixture is not given to the backend.
fn why_not(test: &Test, tool: &Arc<Tool>, fixture: &Fixture, caller: &Value) -> Option<String> {
    let Verdict::Admitted { arguments, .. } = tool.admit(&fixture.instance, Mode::Strict) else {
        return Some("it is not admitted".to_owned());
    };
    let facts = Facts { caller: caller.clone(), run: Value::Null };
    let (tier, _) = tool.tier.decide(&arguments, &facts);
    match tier {
        Tier::Block => Some("its tier is block: it never runs".to_owned()),
        Tier::Approve if !test.yes => Some("it asks for approval: --yes gives it".to_owned()),
        _ if tool.annotations.destructive && !test.yes => {
            Some("it may destroy something: --yes lets it".to_owned())
        }
        _ => None,
    }
}

async fn call(
    test: &Test,
    project: &Project,
    tool: &str,
    fixture: &Fixture,
    caller: Value,
    signals: &mut Signals,
) -> Result<Called, Failure> {
    let stop = Stop::default();
    let mut work = project
        .call(tool, &fixture.instance)
        .mode(Mode::Strict)
        .caller(caller)
        .cancel_with(stop.token());
    if test.yes {
        work = work.approver(Arc::new(ApproveAll));
    }
    let called = signals.guard(work.make(), &stop, || {}).await;
    Ok(called.ok_or_else(Failure::killed)?.map_err(callgate::Error::from)?)
}

/// What came of a call.
fn told(fixture: &Fixture, called: &Called) -> (Outcome, Option<String>, Option<String>) {
    let Some(fault) = called.envelope.error.as_ref() else { return (Outcome::Held, None, None) };
    let words = words::short(&fault.summary(), 400);
    let is_own = fixture.kind == Kind::Own;
    match fault.kind {
        ErrorKind::ToolError if !is_own => {
            (Outcome::Held, None, Some(format!("the tool reports an error: {words}")))
        }
        ErrorKind::RuleViolation if !is_own => {
            (Outcome::Skipped, Some(format!("a rule refuses it: {words}")), None)
        }
        ErrorKind::OutputMismatch => {
            (Outcome::Failed, Some(format!("the gate out refuses the result: {words}")), None)
        }
        _ => (Outcome::Failed, Some(words), None),
    }
}
