//! `callgate run --engine restate`: asks workers for a run, watches it, and answers for it here.

use std::sync::Arc;

use callgate::engine::{Approver, Elsewhere, Notice};
use callgate_restate::{Client, Submit};

use super::failed;
use crate::{
    cli,
    exit::Exit,
    failure::Failure,
    input, out, project,
    show::screen::Screen,
    signals::{Signals, Stop},
    verbs::{
        block_on,
        run::{Watch, again, screen, view},
        runs,
    },
};

pub(crate) fn go(run: &cli::Run) -> Result<Exit, Failure> {
    let (options, engine) = (&run.options, &run.engine);
    refuse_what_is_the_workers(options)?;
    let goal = input::goal(&run.goal)?;
    let caller = input::caller(options.caller.as_deref())?;
    let screen = screen(options);
    let stop = Arc::new(Stop::default());
    let client = Client::new(&engine.ingress).map_err(|e| failed(&e))?;
    let client = client.service(engine.service.clone());
    let book = runs::Book::to_write(options)?;
    let id = engine.id.clone().unwrap_or_else(Client::new_id);
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let submit = Submit::new(goal, caller);
        let sent = client.submit(&id, &submit).await.map_err(|e| failed(&e))?;
        if engine.detach {
            out::line(&sent.run)?;
            return Ok(Exit::Done);
        }
        let project =
            project::open(&options.project, options.json, &screen, &stop, &mut signals).await?;
        let watch =
            Watch::new(view(options, &screen, project.catalog()), options.json, stop.clone());
        let approver: Arc<dyn Approver> = if options.wait {
            Arc::new(Elsewhere)
        } else {
            project::approver(&options.approvals, project.catalog(), &screen, &stop)
        };
        let token = stop.token();
        let work = client.attend(&id, &*approver, &token, |record| {
            watch.see(&Notice::Record(Arc::new(record)));
        });
        let finish = signals.guard(work, &stop, || again(&screen)).await;
        screen.still();
        let ended = match finish {
            Some(Ok(finish)) => {
                keep(&client, &id, book.as_ref(), &screen).await;
                watch.ended(&finish, options)
            }
            Some(Err(error)) => Err(failed(&error)),
            // A second Ctrl-C: nobody watches any more, and the run is being cancelled.
            None => Err(Failure::killed()),
        };
        project::end(&project, &stop, &mut signals).await;
        ended
    })
}

/// Leaves a run that is over in the project's journal too, where `callgate runs` finds it.
async fn keep(client: &Client, id: &str, book: Option<&runs::Book>, screen: &Screen) {
    let Some(book) = book else { return };
    if let Err(error) = client.keep_in(id, &*book.journal).await {
        // The answer is there; only the copy is not.
        screen.hint(&format!("the run is not in this project's journal: {error}"));
    }
}

/// The model, the gates' mode and the bounds are those that the workers were started with.
fn refuse_what_is_the_workers(options: &cli::RunOptions) -> Result<(), Failure> {
    let given = [
        ("--base-url", options.base_url.is_some()),
        ("--max-steps", options.max_steps.is_some()),
        ("--mode", options.mode.is_some()),
        ("--no-stream", options.no_stream),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            let message = format!("{option} is the worker's to say with --engine restate");
            Err(Failure::configuration("workers_option", message)
                .hint("Give it to `callgate worker`, or write it into agent.json."))
        }
    }
}
