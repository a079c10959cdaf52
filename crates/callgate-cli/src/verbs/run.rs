//! `callgate run GOAL`.

use std::sync::{Arc, Mutex, PoisonError};

use callgate::{
    engine::{Notice, Outcome},
    machine::{Finish, Record, Status},
};

use super::{block_on, runs};
use crate::{
    cli::{self, RunOptions},
    exit::Exit,
    failure::Failure,
    input, out, project,
    show::{json, screen::Screen, view::View},
    signals::{Signals, Stop},
};

pub(super) fn go(run: &cli::Run) -> Result<Exit, Failure> {
    #[cfg(feature = "restate")]
    if run.engine.engine == super::restate::cli::Engine::Restate {
        return super::restate::run(run);
    }
    let goal = input::goal(&run.goal)?;
    let options = &run.options;
    let caller = input::caller(options.caller.as_deref())?;
    let screen = screen(options);
    let stop = Arc::new(Stop::default());
    let book = runs::Book::to_write(options)?;
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let opened =
            project::agent(options, book.as_ref(), None, &screen, &stop, &mut signals).await?;
        let (agent, project) = opened;
        let view = view(options, &screen, agent.catalog());
        let watch = Arc::new(Watch::new(view, options.json, stop.clone()));
        let seen = watch.clone();
        let work = agent
            .run(goal)
            .caller(caller)
            .cancel_with(stop.token())
            .on_notice(move |notice| seen.see(notice))
            .outcome();
        let outcome = signals.guard(work, &stop, || again(&screen)).await;
        screen.still();
        let ended = match outcome {
            None => Err(Failure::killed()),
            Some(Err(error)) => Err(error.into()),
            Some(Ok(Outcome::Finished(finish))) => watch.ended(&finish, options),
            Some(Ok(Outcome::Parked(waits))) => {
                runs::parked(book.as_ref(), &waits, options).and_then(Err)
            }
        };
        project::end(&project, &stop, &mut signals).await;
        ended
    })
}

/// Standard error, kept empty where only the answer is wanted.
pub(super) fn screen(options: &RunOptions) -> Arc<Screen> {
    let screen = Screen::stderr();
    if options.answer_only || options.json {
        screen.silence();
    }
    Arc::new(screen)
}

pub(super) fn view(
    options: &RunOptions,
    screen: &Arc<Screen>,
    catalog: &callgate::contract::Catalog,
) -> View {
    let detail = project::detail(&options.loudness, options.answer_only || options.json);
    View::new(screen.clone(), detail, catalog)
}

/// After the first Ctrl-C.
pub(super) fn again(screen: &Screen) {
    if screen.is_live() {
        screen.hint("Ctrl-C again ends it at once");
    }
}

/// Everything that looks at a run.
pub(super) struct Watch {
    view: View,
    as_json: bool,
    stop: Arc<Stop>,
    run: Mutex<Arc<str>>,
}

impl Watch {
    pub(super) fn new(view: View, as_json: bool, stop: Arc<Stop>) -> Self {
        Self { view, as_json, stop, run: Mutex::new("".into()) }
    }

    pub(super) fn see(&self, notice: &Notice) {
        if let Notice::Record(record) = notice {
            self.is_of(&record.run);
        }
        if self.as_json {
            json::see(notice, &self.stop);
        }
        self.view.see(notice);
    }

    /// Takes in what happened before.
    pub(super) fn recall(&self, records: &[Record]) {
        if let Some(record) = records.first() {
            self.is_of(&record.run);
        }
        self.view.recall(records);
    }

    /// The first run that is seen is the one that is watched; others are its delegates'.
    fn is_of(&self, run: &Arc<str>) {
        let mut own = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_empty() {
            *own = run.clone();
        }
    }

    /// Says how it ended: the view's last line, then the answer.
    pub(super) fn ended(&self, finish: &Finish, options: &RunOptions) -> Result<Exit, Failure> {
        self.view.ended(finish);
        let failure = (finish.status != Status::Answered).then(|| Failure::unanswered(finish));
        let exit = failure.as_ref().map_or(Exit::Done, |failure| failure.exit);
        if options.json {
            let run = self.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
            json::result(&run, finish, exit)?;
        } else if let Some(answer) = answer(finish) {
            out::answer(answer)?;
        }
        match failure {
            None => Ok(Exit::Done),
            Some(failure) => Err(failure),
        }
    }
}

/// What goes to standard output: the answer, or as much of it as a limit let through.
fn answer(finish: &Finish) -> Option<&str> {
    let text = finish.text.as_deref().map(str::trim_end);
    match finish.status {
        Status::Answered => Some(finish.value.as_deref().or(text).unwrap_or_default()),
        Status::Stopped => text.filter(|text| !text.is_empty()),
        Status::Failed | Status::Cancelled => None,
    }
}
