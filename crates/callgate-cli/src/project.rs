//! The project's agent, as the options want it.

use std::sync::Arc;

use callgate::{
    Agent, AgentFirstUse, FirstUse, Project,
    backend::mcp::{ClientOptions, auth::TokenStore},
    contract::{Catalog, Mode},
    engine::{ApproveAll, Approver, AskWith, Elsewhere, Word},
    machine::agent::ModelNames,
    model::ModelError,
};
use serde_json::json;

use crate::{
    ask::{AtTerminal, ByOption, Elicit},
    cli::{Approvals, Loudness, Opened, RunOptions},
    exit::Exit,
    failure::Failure,
    model,
    show::{paint::Paint, screen::Screen, view::Detail, words},
    signals::{Signals, Stop},
    verbs::{
        block_on,
        runs::{Book, ModelsOf},
    },
};

/// Opens the project, does the work, and ends its MCP servers, whatever came of it. Servers that
/// were never pinned are pinned first. Ctrl-C ends the work.
pub(crate) fn with<T>(
    opened: &Opened,
    as_json: bool,
    stop: &Arc<Stop>,
    work: impl AsyncFnOnce(&Project) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let screen = Arc::new(Screen::stderr());
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let project = open(opened, as_json, &screen, stop, &mut signals).await?;
        let done = cancellable(work(&project), stop, &mut signals).await;
        end(&project, stop, &mut signals).await;
        done
    })
}

/// The same, and nothing is pinned.
pub(crate) fn unpinned<T>(
    opened: &Opened,
    stop: &Arc<Stop>,
    work: impl AsyncFnOnce(&Project) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let screen = Arc::new(Screen::stderr());
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let project = read(opened, &screen)?;
        let done = cancellable(work(&project), stop, &mut signals).await;
        end(&project, stop, &mut signals).await;
        done
    })
}

/// Opens the project, and pins the MCP servers and agents elsewhere that were never pinned: what was trusted at first
/// use is told on standard error, however little else is.
pub(crate) async fn open(
    opened: &Opened,
    as_json: bool,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
    signals: &mut Signals,
) -> Result<Project, Failure> {
    let project = read(opened, screen)?;
    let mut unpinned: Vec<String> =
        project.unpinned().into_iter().map(|server| format!("\"{}\"", server.name())).collect();
    let agents = project.unpinned_agents();
    unpinned.extend(agents.iter().map(|agent| format!("the agent \"{}\"", words::shown(agent))));
    if unpinned.is_empty() {
        return Ok(project);
    }
    if opened.frozen {
        let message = format!(
            "callgate.lock has no entry for {}, and with --frozen nothing is pinned",
            unpinned.join(", ")
        );
        return Err(Failure::configuration("not_pinned", message)
            .hint("Run `callgate lock` and put callgate.lock under version control."));
    }
    screen.wait(format!("asking {} what there is", unpinned.join(", ")));
    let pin = async {
        let (pinned, servers) = project.pin().await?;
        let (pinned, agents) = pinned.pin_agents().await?;
        Ok((pinned, servers, agents))
    };
    let pinned = cancellable(pin, stop, signals).await;
    screen.still();
    match pinned {
        Ok((pinned, servers, agents)) => {
            servers.iter().for_each(|server| first_use(server, as_json));
            agents.iter().for_each(|agent| agents_first_use(agent, as_json));
            Ok(pinned)
        }
        Err(failure) => {
            end(&project, stop, signals).await;
            Err(failure)
        }
    }
}

/// Ends the project's MCP servers. A second Ctrl-C ends them at once.
pub(crate) async fn end(project: &Project, stop: &Arc<Stop>, signals: &mut Signals) {
    // Whoever gave up waiting drops the clients, and with them their programs.
    let _ = signals.guard(project.close(), stop, || {}).await;
}

/// Work that the first Ctrl-C drops where it stands.
async fn cancellable<T>(
    work: impl Future<Output = Result<T, Failure>>,
    stop: &Arc<Stop>,
    signals: &mut Signals,
) -> Result<T, Failure> {
    let token = stop.token();
    let work = async {
        tokio::select! {
            biased;
            () = token.cancelled() => {
                Err(Failure::new(Exit::Cancelled, "cancelled", "cancelled"))
            }
            done = work => done,
        }
    };
    signals.guard(work, stop, || {}).await.ok_or_else(Failure::killed)?
}

/// Opens the project as its files and its lock are. Nothing is started, and nothing pinned.
pub(crate) fn read(opened: &Opened, screen: &Arc<Screen>) -> Result<Project, Failure> {
    let elicitor = Some(Arc::new(Elicit::new(screen)) as _);
    let clients = ClientOptions { elicitor, ..ClientOptions::default() };
    let mut project = Project::builder(&opened.project.dir).clients(clients);
    // Without a folder for logins there are none; `callgate mcp login` says why.
    if let Ok(tokens) = TokenStore::user() {
        project = project.tokens(tokens);
    }
    Ok(project.open()?)
}

/// Says what was trusted at first use, and what of it a person should look at.
fn first_use(told: &FirstUse, as_json: bool) {
    let server = words::shown(&told.server);
    if let Some(error) = &told.error {
        let why = words::short(&error.to_string(), 400);
        let message = format!("the MCP server \"{server}\" has no tools now: {why}");
        return notice("server_failed", &message, as_json);
    }
    let tools = words::count(told.tools.len(), "tool");
    let message = format!(
        "pinned {tools} of the MCP server \"{server}\" in callgate.lock, at first use; `callgate mcp tools {server}` lists them"
    );
    notice("pinned", &message, as_json);
    for unusable in &told.unusable {
        let tool = words::shown(unusable.tool.as_deref().unwrap_or("(no name)"));
        let reason = words::short(&unusable.reason, 300);
        notice("unusable", &format!("{server}/{tool} cannot be used: {reason}"), as_json);
    }
    for (tool, flag) in &told.flags {
        let message = format!("{server}/{}: {}", words::shown(tool), words::flag(flag));
        notice("flagged", &message, as_json);
    }
}

/// The same of an agent elsewhere.
fn agents_first_use(told: &AgentFirstUse, as_json: bool) {
    let agent = words::shown(&told.agent);
    if let Some(error) = &told.error {
        let why = words::short(error, 400);
        let message = format!("the agent at {agent} cannot be asked now: {why}");
        return notice("agent_failed", &message, as_json);
    }
    let name = words::shown(told.name.as_deref().unwrap_or_default());
    let message = format!(
        "pinned the card of the agent \"{name}\" at {agent} in callgate.lock, at first use"
    );
    notice("pinned", &message, as_json);
    for flag in &told.flags {
        notice("flagged", &format!("{agent}: {}", words::flag(flag)), as_json);
    }
}

/// Says of which servers nothing was ever pinned, so that what is done here leaves their tools out.
pub(crate) fn tell_unpinned<'s>(servers: impl IntoIterator<Item = &'s str>, as_json: bool) {
    for server in servers {
        let name = words::shown(server);
        let message = format!(
            "the MCP server \"{name}\" was never pinned, so its tools are left out; `callgate lock` pins them"
        );
        notice("not_pinned", &message, as_json);
    }
}

/// A line on standard error, in the form that is wanted there.
fn notice(code: &str, message: &str, as_json: bool) {
    use std::io::Write as _;
    let line = if as_json {
        json!({ "notice": { "code": code, "message": message } }).to_string()
    } else if code == "pinned" {
        format!("{} {message}", Paint::stderr().cyan("note:"))
    } else {
        format!("{} {message}", Paint::stderr().yellow("warning:"))
    };
    // A closed standard error is nobody's concern.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Opens the project and puts its agent together: kept in a journal, where there is one, and going
/// by the models of the run that it goes on with, where it does.
pub(crate) async fn agent(
    options: &RunOptions,
    book: Option<&Book>,
    models: Option<&ModelsOf>,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
    signals: &mut Signals,
) -> Result<(Agent, Project), Failure> {
    let project = open(&options.project, options.json, screen, stop, signals).await?;
    match built(&project, options, book, models, screen, stop) {
        Ok(agent) => Ok((agent, project)),
        Err(failure) => {
            end(&project, stop, signals).await;
            Err(failure)
        }
    }
}

fn built(
    project: &Project,
    options: &RunOptions,
    book: Option<&Book>,
    models: Option<&ModelsOf>,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
) -> Result<Agent, Failure> {
    if options.loudness.verbose {
        say_where(options, project, screen);
    }
    let chosen = options.model.as_deref();
    let listed = match models {
        Some(models) => models.names(),
        None => {
            let listed = project.spec().model.as_ref().map_or(&[][..], ModelNames::all);
            listed.iter().map(|name| &**name).collect()
        }
    };
    let own = listed.first().copied();
    if chosen.or(own).is_some_and(|spec| spec.starts_with("local")) {
        screen.wait("loading the model".to_owned());
    }
    let model = model::open(chosen, own, options.base_url.as_deref());
    screen.still();
    let mode = options.mode.map_or(project.spec().mode, Mode::from);
    // A model named on the command line is the agent's own; its delegates keep theirs.
    let theirs = |spec: &str| {
        let opened = model::registry().open(spec, None);
        opened.map(Arc::from).map_err(ModelError::from)
    };
    let mut builder =
        project.agent_with(&theirs).model(model?).mode(mode).stream(!options.no_stream).approver(
            if options.wait {
                Arc::new(Elsewhere)
            } else {
                approver(&options.approvals, project.catalog(), screen, stop)
            },
        );
    if let Some(book) = book {
        builder = builder.journal(book.journal.clone()).keep_wire(true);
    }
    // A model named on the command line is the only one; nobody stands in for it.
    let named = chosen.is_some_and(|chosen| !chosen.trim().is_empty());
    for other in listed.into_iter().skip(1).filter(|_| !named) {
        builder = builder.fallback(model::open(None, Some(other), None)?);
    }
    if let Some(steps) = options.max_steps {
        builder = builder.max_steps(steps);
    }
    Ok(builder.build()?)
}

/// Who is asked for approval: by option, else whoever sits at the terminal, else nobody. What no
/// option answers is put to the terminal, where there is one.
pub(crate) fn approver(
    options: &Approvals,
    catalog: &Catalog,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
) -> Arc<dyn Approver> {
    let terminal = AtTerminal::open(catalog, screen, stop);
    let decides: Arc<dyn Approver> = if options.yes {
        Arc::new(ApproveAll)
    } else if options.deny {
        let why = "calls that need a person's approval are denied in this run (--deny)";
        Arc::new(AskWith(move |_| std::future::ready(Word::reject("The runtime", why))))
    } else if let Some(terminal) = terminal {
        return Arc::new(terminal);
    } else {
        let screen = screen.clone();
        Arc::new(AskWith(move |_| {
            screen.hint("there is no terminal to ask on; --yes approves such calls, --wait lets the run wait for a person elsewhere");
            let why = "this call needs a person's approval and nobody can be asked here";
            std::future::ready(Word::reject("The runtime", why))
        }))
    };
    Arc::new(ByOption { decides, terminal })
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
