//! `callgate worker --engine restate`.

use std::{sync::Arc, time::Duration};

use callgate::{Project, contract::Mode, machine::agent::ModelNames};
use callgate_restate::{Admin, FileBlobs, Serving};
use serde_json::json;

use super::{cli::Worker, failed, not_started};
use crate::{
    exit::Exit,
    failure::Failure,
    model, out, project,
    show::screen::Screen,
    signals::{Signals, Stop},
    verbs::block_on,
};

pub(crate) fn go(worker: &Worker) -> Result<Exit, Failure> {
    let screen = Screen::stderr();
    if worker.json {
        screen.silence();
    }
    let screen = Arc::new(screen);
    let stop = Arc::new(Stop::default());
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let project =
            project::open(&worker.project, worker.json, &screen, &stop, &mut signals).await?;
        let work = serve(worker, &project, &screen, &stop);
        let done = signals.guard(work, &stop, || {}).await;
        project::end(&project, &stop, &mut signals).await;
        done.ok_or_else(Failure::killed)??;
        Ok(Exit::Done)
    })
}

/// Serves until somebody stops it.
async fn serve(
    worker: &Worker,
    project: &Project,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
) -> Result<(), Failure> {
    let own = project.spec().model.as_ref();
    let chosen = worker.model.as_deref().filter(|chosen| !chosen.trim().is_empty());
    let model = model::open(chosen, own.and_then(ModelNames::first), worker.base_url.as_deref())?;
    let mut builder = project.agent().model(model);
    builder = builder.mode(worker.mode.map_or(project.spec().mode, Mode::from));
    // A model named on the command line is the only one; nobody stands in for it.
    let others = own.map_or(&[][..], ModelNames::all).iter().skip(1);
    for other in others.filter(|_| chosen.is_none()) {
        builder = builder.fallback(model::open(None, Some(other), None)?);
    }
    let agent = builder.build()?;
    let blobs =
        worker.blobs.clone().unwrap_or_else(|| project.dir().join(".callgate").join("blobs"));
    let mut serves = callgate_restate::Worker::new(agent.engine())
        .blobs(Arc::new(FileBlobs::new(blobs)))
        .service(worker.service.clone())
        .retention(Duration::from_secs(worker.keep * 24 * 3600));
    for key in &worker.identity_key {
        serves = serves.identity_key(key);
    }
    let mut serving = serves.listen(worker.listen).await.map_err(|e| not_started(&e))?;
    let url = serving.url(worker.advertise.as_deref());
    let admin = Arc::new(Admin::new(&worker.admin).map_err(|e| failed(&e))?);
    if !worker.no_register {
        admin.register(&url).await.map_err(|e| failed(&e))?;
    }
    serving.watch(admin);
    say(worker, &serving, &url, screen)?;
    stop.token().cancelled().await;
    screen.hint("ending; what is under way goes on in another worker");
    serving.stop().await;
    Ok(())
}

fn say(worker: &Worker, serving: &Serving, url: &str, screen: &Arc<Screen>) -> Result<(), Failure> {
    if worker.json {
        let line = json!({
            "type": "listening", "url": url, "address": serving.addr().to_string(),
            "service": worker.service.as_str(), "registered": !worker.no_register,
        });
        return out::line(&line.to_string());
    }
    let registered = if worker.no_register { "to be registered" } else { "registered" };
    screen.line(format!("drives runs of {} at {url} ({registered})", worker.service));
    Ok(())
}
