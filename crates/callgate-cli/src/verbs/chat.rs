//! `callgate chat`: one run, many turns.

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    sync::Arc,
};

use callgate::{
    engine::{Engine, Observer, Outcome, Session},
    machine::Record,
};

use super::{
    block_on,
    run::{Watch, again, screen, view},
    runs::{Book, ModelsOf, parked},
};
use crate::{
    ask::Terminal,
    cli,
    exit::Exit,
    failure::Failure,
    input, project,
    show::screen::Screen,
    signals::{Signals, Stop},
};

pub(super) fn go(chat: &cli::Chat) -> Result<Exit, Failure> {
    let options = &chat.options;
    let first = chat.goal.as_deref().map(input::goal).transpose()?;
    let caller = input::caller(options.caller.as_deref())?;
    let screen = screen(options);
    let stop = Arc::new(Stop::default());
    let book = match &chat.resume {
        Some(_) => Some(Book::of_run(options)?),
        None => Book::to_write(options)?,
    };
    let before = before(chat, book.as_ref())?;
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let models = before.as_ref().map(|before| &before.models);
        let opened =
            project::agent(options, book.as_ref(), models, &screen, &stop, &mut signals).await?;
        let (agent, project) = opened;
        let watch = Arc::new(Watch::new(
            view(options, &screen, agent.catalog()),
            options.json,
            stop.clone(),
        ));
        let seen = watch.clone();
        let engine = agent.engine();
        let observer: Observer = Arc::new(move |notice: &_| seen.see(notice));
        let mut session = match &before {
            None => engine.session(Some(observer), stop.token()),
            Some(before) => {
                watch.recall(&before.records);
                match engine.open(&before.run, Some(observer), stop.token()).await {
                    Ok(session) => session,
                    Err(error) => {
                        project::end(&project, &stop, &mut signals).await;
                        return Err(callgate::Error::from(error).into());
                    }
                }
            }
        };
        let mut turns = Turns::open(first, &screen);
        // A run that is not over goes on by itself first.
        let mut next = match &before {
            Some(before) if !before.is_over => Some(Turn::Resume),
            _ => None,
        };
        let mut has_begun = before.is_some();
        let mut last = Ok(Exit::Done);
        loop {
            let turn = match next.take() {
                Some(turn) => turn,
                None => match turns.next(&mut signals).await? {
                    None => break,
                    Some(words) if has_begun => Turn::Say(words),
                    Some(words) => Turn::Start(words),
                },
            };
            session.renew_cancel(stop.renew());
            let work = turn.take(&mut session, &engine, &caller);
            let outcome = signals.guard(work, &stop, || again(&screen)).await;
            screen.still();
            has_begun = true;
            last = match outcome.ok_or_else(Failure::killed)?? {
                Outcome::Finished(finish) => watch.ended(&finish, options),
                // Nobody can say anything to it before it goes on.
                Outcome::Parked(waits) => {
                    project::end(&project, &stop, &mut signals).await;
                    return Err(parked(book.as_ref(), &waits, options)?);
                }
            };
            match &last {
                Err(failure) if failure.exit == Exit::Unread => return last,
                // A person sees what went wrong and goes on.
                Err(failure) if turns.is_person() => failure.tell(options.json),
                Ok(_) | Err(_) => {}
            }
        }
        project::end(&project, &stop, &mut signals).await;
        if turns.is_person() { Ok(Exit::Done) } else { last }
    })
}

/// A run that is gone on with.
struct Before {
    run: Arc<str>,
    records: Vec<Record>,
    models: ModelsOf,
    is_over: bool,
}

fn before(chat: &cli::Chat, book: Option<&Book>) -> Result<Option<Before>, Failure> {
    let (Some(id), Some(book)) = (&chat.resume, book) else { return Ok(None) };
    let run = book.find(id)?;
    if let Some(parent) = book.summary(&run)?.parent {
        let message =
            format!("run {run} answers a call of run {parent}; there is no talking to it");
        return Err(Failure::configuration("delegated", message));
    }
    let (records, folded) = book.folded(&run)?;
    let (models, is_over) = (ModelsOf::run(&folded), folded.is_over());
    Ok(Some(Before { run, records, models, is_over }))
}

/// What is done with the session.
enum Turn {
    Start(String),
    Say(String),
    Resume,
}

impl Turn {
    async fn take(
        self,
        session: &mut Session,
        engine: &Engine,
        caller: &serde_json::Value,
    ) -> Result<Outcome, Failure> {
        let done = match self {
            Self::Start(words) => session.start(engine.start(&words, caller.clone())).await,
            Self::Say(words) => session.say(&words).await,
            Self::Resume => session.resume(None).await,
        };
        done.map_err(|error| Failure::from(callgate::Error::from(error)))
    }
}

/// Where the user's words come from.
struct Turns {
    first: Option<String>,
    terminal: Option<Arc<Terminal>>,
    prompt: String,
}

impl Turns {
    fn open(first: Option<String>, screen: &Screen) -> Self {
        let terminal = if io::stdin().is_terminal() { Terminal::own() } else { None };
        if terminal.is_some() {
            screen.line(screen.paint().dim("/quit or Ctrl-D ends, Ctrl-C cancels a turn"));
        }
        Self { first, terminal, prompt: screen.paint().cyan("> ") }
    }

    fn is_person(&self) -> bool {
        self.terminal.is_some()
    }

    /// The next words; nothing at the end.
    async fn next(&mut self, signals: &mut Signals) -> Result<Option<String>, Failure> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let mut warned = false;
        loop {
            let line = match &self.terminal {
                None => piped()?,
                Some(terminal) => tokio::select! {
                    line = terminal.line(&self.prompt) => {
                        if line.is_none() {
                            terminal.say("\n");
                        }
                        line
                    }
                    () = signals.next() => {
                        if warned {
                            terminal.say("\n");
                            return Err(Failure::new(Exit::Cancelled, "cancelled", "cancelled"));
                        }
                        warned = true;
                        terminal.say("\nCtrl-C again or Ctrl-D ends the chat\n");
                        continue;
                    }
                },
            };
            match line.as_deref().map(str::trim) {
                None | Some("/quit" | "/exit") => return Ok(None),
                Some("") => {}
                Some(words) => return Ok(Some(words.to_owned())),
            }
        }
    }
}

/// A line of standard input that is no terminal.
fn piped() -> Result<Option<String>, Failure> {
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(line)),
        Err(error) => Err(Failure::io("cannot read standard input", &error)),
    }
}
