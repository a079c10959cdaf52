//! Standard error, shared by the view of a run and the questions to a person.
//!
//! On a terminal a spinner says what is waited for. While a person is asked, lines wait too, so
//! that nothing is written into their answer.

use std::{
    env,
    io::{self, IsTerminal as _, Write as _},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::paint::Paint;

/// Where lines go.
pub(crate) struct Screen {
    paint: Paint,
    is_live: bool,
    /// Whether lines go to standard output: they are what was asked for.
    is_out: bool,
    is_silent: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    spinner: Option<ProgressBar>,
    /// Lines that wait for the end of a question.
    held: Option<Vec<String>>,
}

impl Screen {
    /// Standard error as it is.
    pub(crate) fn stderr() -> Self {
        let is_live = io::stderr().is_terminal() && env::var_os("TERM").is_none_or(|t| t != "dumb");
        Self {
            paint: Paint::stderr(),
            is_live,
            is_out: false,
            is_silent: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Standard output, for a run that is over and told afterwards.
    pub(crate) fn stdout() -> Self {
        Self {
            paint: Paint::stdout(),
            is_live: false,
            is_out: true,
            is_silent: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Whether there is a terminal that lines can be taken back from.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Writes a line for good.
    pub(crate) fn line(&self, line: impl Into<String>) {
        let mut guard = self.state();
        let state = &mut *guard;
        let line = line.into();
        match (&mut state.held, &state.spinner) {
            (Some(held), _) => held.push(line),
            (None, Some(spinner)) => spinner.suspend(|| self.write(&line)),
            (None, None) => self.write(&line),
        }
    }

    /// Writes a line on what to do.
    pub(crate) fn hint(&self, text: &str) {
        if !self.is_silent.load(Ordering::Relaxed) {
            self.line(format!("    {} {text}", self.paint.cyan("hint:")));
        }
    }

    /// Writes nothing from now on, and no spinner: standard error is not wanted.
    pub(crate) fn silence(&self) {
        self.is_silent.store(true, Ordering::Relaxed);
    }

    /// Says what is waited for, until the next of these or [`Self::still`].
    pub(crate) fn wait(&self, message: String) {
        let mut state = self.state();
        if !self.is_live || self.is_silent.load(Ordering::Relaxed) || state.held.is_some() {
            return;
        }
        let spinner = state.spinner.get_or_insert_with(|| {
            let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let dots = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏", " "];
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                spinner.set_style(style.tick_strings(&dots));
            }
            spinner.enable_steady_tick(Duration::from_millis(120));
            spinner
        });
        spinner.set_message(message);
    }

    /// Nothing is waited for.
    pub(crate) fn still(&self) {
        if let Some(spinner) = self.state().spinner.take() {
            spinner.finish_and_clear();
        }
    }

    /// Keeps the screen for a question until the guard goes.
    pub(crate) fn question(&self) -> Question<'_> {
        self.still();
        self.state().held.get_or_insert_default();
        Question(self)
    }

    /// Nobody may be there to see it, which is no reason to stop.
    fn write(&self, line: &str) {
        let _ = if self.is_out {
            writeln!(io::stdout().lock(), "{line}")
        } else {
            writeln!(io::stderr().lock(), "{line}")
        };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that panics is done while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question is on the screen.
pub(crate) struct Question<'s>(&'s Screen);

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let held = self.0.state().held.take().unwrap_or_default();
        for line in held {
            self.0.write(&line);
        }
    }
}
