//! `callgate runs resume ID`: goes on with a run.

use std::sync::Arc;

use callgate::{
    engine::{Outcome, Parked, Pending},
    machine::Run,
};
use serde_json::json;

use super::{Book, pending};
use crate::{
    cli::RunOptions,
    exit::Exit,
    failure::Failure,
    out, project,
    show::screen::Screen,
    signals::{Signals, Stop},
    verbs::{
        block_on,
        run::{Watch, again, screen, view},
    },
};

/// The models that a run goes by: its own, and those that stand in.
pub(crate) struct ModelsOf(Vec<Arc<str>>);

impl ModelsOf {
    /// Those of a run that was begun.
    pub(crate) fn run(run: &Run) -> Self {
        let start = run.start();
        let own = start.map(|start| start.model.clone());
        let others = start.map(|start| start.fallbacks.clone()).unwrap_or_default();
        Self(own.into_iter().chain(others).collect())
    }

    /// Their names, the first one first.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.iter().map(|name| &**name).collect()
    }
}

pub(super) fn go(id: &str, options: &RunOptions) -> Result<Exit, Failure> {
    refuse_what_was_said_at_the_start(options)?;
    let screen = screen(options);
    let stop = Arc::new(Stop::default());
    let book = Book::of_run(options)?;
    let asked = book.find(id)?;
    let run = book.root(&asked)?;
    if run != asked {
        screen.hint(&format!("{asked} was delegated by {run}, which is resumed"));
    }
    block_on(resumed(&book, &run, options, &screen, &stop))
}

async fn resumed(
    book: &Book,
    run: &str,
    options: &RunOptions,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
) -> Result<Exit, Failure> {
    let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
    let (records, folded) = book.folded(run)?;
    if folded.is_over() {
        let over = callgate::engine::EngineError::Over { run: run.into() };
        return Err(callgate::Error::from(over).into());
    }
    let models = ModelsOf::run(&folded);
    let opened =
        project::agent(options, Some(book), Some(&models), screen, stop, &mut signals).await?;
    let (agent, project) = opened;
    let watch =
        Arc::new(Watch::new(view(options, screen, agent.catalog()), options.json, stop.clone()));
    watch.recall(&records);
    for child in book.delegates(run)?.iter().filter(|child| !child.state.is_over()) {
        watch.recall(&book.records(&child.run)?);
    }
    let (seen, engine) = (watch.clone(), agent.engine());
    let observer: callgate::engine::Observer = Arc::new(move |notice: &_| seen.see(notice));
    let work = async {
        let mut session = engine.open(run, Some(observer), stop.token()).await?;
        session.resume(None).await
    };
    let outcome = signals.guard(work, stop, || again(screen)).await;
    screen.still();
    let ended = match outcome {
        None => Err(Failure::killed()),
        Some(Err(error)) => Err(callgate::Error::from(error).into()),
        Some(Ok(Outcome::Finished(finish))) => watch.ended(&finish, options),
        Some(Ok(Outcome::Parked(waits))) => Err(parked(Some(book), &waits, options)?),
    };
    project::end(&project, stop, &mut signals).await;
    ended
}

/// A run that waits: what for, and what to type. With `--json` it is the last line, too.
pub(in crate::verbs) fn parked(
    book: Option<&Book>,
    parked: &Parked,
    options: &RunOptions,
) -> Result<Failure, Failure> {
    let run = &parked.run;
    let Some(book) = book else {
        let message = format!("the run waits for {}, and is not kept", parked.told());
        return Ok(Failure::new(Exit::Waiting, "waiting", message)
            .hint("Without --no-journal it could be answered later, and resumed."));
    };
    let pending = book.pending(run)?;
    let state = if parked.paused { "paused" } else { "waiting" };
    if options.json {
        let (code, waits) = (Exit::Waiting.code(), json!(pending));
        let line = json!({ "type": "result", "run": run, "exitCode": code, "status": state, "waits": waits });
        out::line(&line.to_string())?;
    }
    Ok(waiting(book, run, parked.paused, &pending))
}

fn waiting(book: &Book, run: &str, paused: bool, waits: &[Pending]) -> Failure {
    let mut lines = Vec::new();
    let paint = crate::show::paint::Paint::stderr();
    let what: Vec<String> = waits.iter().map(pending::short).collect();
    let message = match (paused, what.as_slice()) {
        (true, []) => format!("run {run} is paused"),
        (true, what) => format!("run {run} is paused, and waits for {}", what.join(", ")),
        (false, what) => format!("run {run} waits for {}", what.join(", ")),
    };
    lines.push(format!("{} {message}", paint.yellow("waiting:")));
    let resume = book.command("resume", run);
    let mut commands: Vec<String> = waits.iter().map(|wait| pending::command(wait, book)).collect();
    commands.push(resume.clone());
    lines.extend(commands.iter().map(|command| format!("  {command}")));
    Failure::new(Exit::Waiting, "waiting", message)
        .hint(format!("then `{resume}`"))
        .with("run", json!(run))
        .with("waits", json!(waits))
        .with("commands", json!(commands))
        .told(lines.join("\n"))
}

/// What a run was started with stays.
fn refuse_what_was_said_at_the_start(options: &RunOptions) -> Result<(), Failure> {
    let given = [
        ("--caller", options.caller.is_some()),
        ("--max-steps", options.max_steps.is_some()),
        ("--mode", options.mode.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            let message = format!("{option} is said when a run is started; it cannot be changed");
            Err(Failure::configuration("said_at_the_start", message))
        }
    }
}
