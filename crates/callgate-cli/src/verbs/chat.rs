//! `callgate chat`: one run, many turns.

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    sync::Arc,
};

use callgate::{
    engine::{Outcome, Session},
    machine::Finish,
};

use super::{
    block_on,
    run::{Watch, again, screen, view},
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
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let (agent, project) = project::agent(options, &screen, &stop, &mut signals).await?;
        let watch = Arc::new(Watch::new(
            view(options, &screen, agent.catalog()),
            options.json,
            stop.clone(),
        ));
        let seen = watch.clone();
        let engine = agent.engine();
        let observer = Arc::new(move |notice: &_| seen.see(notice));
        let mut session = engine.session(Some(observer), stop.token());
        let mut turns = Turns::open(first, &screen);
        let mut has_begun = false;
        let mut last = Ok(Exit::Done);
        while let Some(words) = turns.next(&mut signals).await? {
            session.renew_cancel(stop.renew());
            let work = turn(&mut session, has_begun, &engine, &words, &caller);
            let finish = signals.guard(work, &stop, || again(&screen)).await;
            screen.still();
            let finish = finish.ok_or_else(Failure::killed)??;
            has_begun = true;
            last = watch.ended(&finish, options);
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

async fn turn(
    session: &mut Session,
    has_begun: bool,
    engine: &callgate::engine::Engine,
    words: &str,
    caller: &serde_json::Value,
) -> Result<Finish, Failure> {
    let done = if has_begun {
        session.say(words).await
    } else {
        session.start(engine.start(words, caller.clone())).await
    };
    done.and_then(Outcome::finished).map_err(|error| Failure::from(callgate::Error::from(error)))
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
