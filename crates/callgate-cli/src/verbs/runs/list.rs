//! `callgate runs list`.

use callgate::engine::{Filter, Journal as _, RunState, RunSummary};

use super::{Book, cli::List, time};
use crate::{
    exit::Exit,
    failure::Failure,
    out,
    show::{paint::Paint, words},
};

pub(super) fn go(list: &List) -> Result<Exit, Failure> {
    let filter = Filter {
        states: list.state.clone(),
        agent: list.agent.clone(),
        since: list.since,
        text: list.text.clone(),
        limit: Some(list.limit),
        ..Filter::default()
    };
    let runs = match Book::if_there(&list.within)? {
        None => Vec::new(),
        Some(book) => book.journal.list(&filter)?,
    };
    if list.json {
        let text = serde_json::to_string(&runs).unwrap_or_default();
        out::line(&text)?;
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        eprintln!("no runs");
        return Ok(Exit::Done);
    }
    let paint = Paint::stdout();
    let width = runs.iter().map(|run| run.run.chars().count()).max().unwrap_or_default();
    for run in &runs {
        out::line(&row(run, width, paint))?;
    }
    if runs.len() == list.limit {
        eprintln!("the newest {}; --limit N shows more", list.limit);
    }
    Ok(Exit::Done)
}

fn row(run: &RunSummary, width: usize, paint: Paint) -> String {
    let state = format!("{:9}", run.state.as_str());
    let id = format!("{:width$}", run.run);
    let what = match &run.parent {
        Some(_) => format!("{} ↳", run.agent),
        None => run.agent.clone(),
    };
    let figures = format!(
        "{}, {}",
        words::count(usize::try_from(run.hops).unwrap_or(usize::MAX), "hop"),
        words::count(usize::try_from(run.calls).unwrap_or(usize::MAX), "call")
    );
    let goal = words::short(&run.goal, 60);
    format!(
        "{}  {}  {}  {}  {}  {goal}",
        paint.bold(id),
        of_state(run.state, &state, paint),
        paint.dim(time::stamp(run.started_at)),
        words::short(&what, 24),
        paint.dim(figures),
    )
}

/// A state's word in its colour.
pub(super) fn of_state(state: RunState, word: &str, paint: Paint) -> String {
    match state {
        RunState::Answered => paint.green(word),
        RunState::Failed | RunState::InDoubt => paint.red(word),
        RunState::Running => paint.cyan(word),
        RunState::Waiting | RunState::Paused | RunState::Stopped | RunState::Cancelled => {
            paint.yellow(word)
        }
        RunState::Ended => word.to_owned(),
    }
}
