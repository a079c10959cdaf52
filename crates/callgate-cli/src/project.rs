//! The project's agent, as the options want it.

use std::sync::Arc;

use callgate::{
    Agent, Project,
    contract::{Catalog, Mode},
    engine::{ApproveAll, Approver, AskWith, Word},
    machine::agent::ModelNames,
};

use crate::{
    ask::AtTerminal,
    cli::{Approvals, Loudness, RunOptions},
    failure::Failure,
    model,
    show::{screen::Screen, view::Detail},
    signals::Stop,
};

/// Opens the project and puts its agent together.
pub(crate) fn agent(
    options: &RunOptions,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
) -> Result<Agent, Failure> {
    let project = Project::open(&options.project.dir)?;
    if options.loudness.verbose {
        say_where(options, &project, screen);
    }
    let chosen = options.model.as_deref();
    let own = project.spec().model.as_ref().and_then(ModelNames::first);
    if chosen.or(own).is_some_and(|spec| spec.starts_with("local")) {
        screen.wait("loading the model".to_owned());
    }
    let model = model::open(chosen, own, options.base_url.as_deref());
    screen.still();
    let mode = options.mode.map_or(project.spec().mode, Mode::from);
    let mut builder = project
        .agent()
        .model(model?)
        .mode(mode)
        .stream(!options.no_stream)
        .approver(approver(&options.approvals, project.catalog(), screen, stop));
    // A model named on the command line is the only one; nobody stands in for it.
    let named = chosen.is_some_and(|chosen| !chosen.trim().is_empty());
    let others = project.spec().model.as_ref().map_or(&[][..], ModelNames::all).iter().skip(1);
    for other in others.filter(|_| !named) {
        builder = builder.fallback(model::open(None, Some(other), None)?);
    }
    if let Some(steps) = options.max_steps {
        builder = builder.max_steps(steps);
    }
    Ok(builder.build()?)
}

/// Who is asked: by option, else whoever sits at the terminal, else nobody.
pub(crate) fn approver(
    options: &Approvals,
    catalog: &Catalog,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
) -> Arc<dyn Approver> {
    if options.yes {
        return Arc::new(ApproveAll);
    }
    if options.deny {
        let why = "calls that need a person's approval are denied in this run (--deny)";
        return Arc::new(AskWith(move |_| std::future::ready(Word::reject("The runtime", why))));
    }
    if let Some(terminal) = AtTerminal::open(catalog, screen, stop) {
        return Arc::new(terminal);
    }
    let screen = screen.clone();
    Arc::new(AskWith(move |_| {
        screen.hint("there is no terminal to ask on; --yes approves such calls");
        let why = "this call needs a person's approval and nobody can be asked here";
        std::future::ready(Word::reject("The runtime", why))
    }))
}

/// How much a run shows.
pub(crate) fn detail(loudness: &Loudness, is_silent: bool) -> Detail {
    match loudness {
        _ if is_silent => Detail::Nothing,
        Loudness { verbose: true, .. } => Detail::All,
        Loudness { quiet: true, .. } => Detail::Summary,
        Loudness { .. } => Detail::Hops,
    }
}

/// Which settings decided where the model is. No secret is among them.
fn say_where(options: &RunOptions, project: &Project, screen: &Screen) {
    let own = project.spec().model.as_ref().and_then(ModelNames::first);
    let spec = options.model.as_deref().filter(|m| !m.is_empty()).or(own).unwrap_or_default();
    let Ok(found) = model::registry().resolve(spec, options.base_url.as_deref()) else { return };
    let from = found.base_url_from.map_or_else(String::new, |var| format!(" ({var})"));
    let key = found.key_from.map_or_else(|| "no key".to_owned(), |var| format!("key of {var}"));
    let line = format!("{} at {}{from}, {key}", found.model, found.base_url);
    screen.line(screen.paint().dim(line));
}
