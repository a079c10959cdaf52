//! `callgate serve`: the project's tools for clients that have a model of their own.
//!
//! Over HTTP the URL goes to standard error; over standard input and output nothing but the
//! protocol is written to standard output.

use std::{sync::Arc, time::Instant};

use callgate::{
    Project, Toolset,
    contract::{Catalog, Mode},
    engine::{ApproveAll, AskWith, Called, Word},
    server::{
        ServeError,
        http::{HttpOptions, HttpServer, Token},
        mcp::{Approvals, CalledFuture, GateCall, Gates, McpOptions, McpServer},
    },
};
use serde_json::{Value, json};

use super::block_on;
use crate::{
    cli::Serve,
    exit::Exit,
    failure::Failure,
    input, out, project,
    show::{screen::Screen, words},
    signals::{Signals, Stop},
};

pub(super) fn go(serve: &Serve) -> Result<Exit, Failure> {
    if serve.mcp_stdio && serve.caller.as_deref() == Some("-") {
        let message = "--caller - reads standard input, which is the client's with --mcp-stdio";
        return Err(Failure::configuration("bad_caller", message));
    }
    let caller = input::caller(serve.caller.as_deref())?;
    // Before anything is started: a door that may not be opened.
    let door = door(serve)?;
    let screen = Screen::stderr();
    if serve.json || serve.quiet {
        screen.silence();
    }
    let screen = Arc::new(screen);
    let stop = Arc::new(Stop::default());
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let project =
            project::open(&serve.project, serve.json, &screen, &stop, &mut signals).await?;
        let work = served(serve, door, caller, &project, &screen, &stop);
        let done = signals.guard(work, &stop, || stopping(&screen)).await;
        project::end(&project, &stop, &mut signals).await;
        done.ok_or_else(Failure::killed)??;
        Ok(Exit::Done)
    })
}

/// Serves until somebody stops it, or the client goes away.
async fn served(
    serve: &Serve,
    door: HttpOptions,
    caller: Value,
    project: &Project,
    screen: &Arc<Screen>,
    stop: &Arc<Stop>,
) -> Result<(), Failure> {
    let mode = serve.mode.map_or(project.spec().mode, Mode::from);
    let tools = project.toolset().mode(mode);
    let count = tools.catalog().tools().filter(|tool| !tool.tier.never_runs()).count();
    let gates = Watched { tools, screen: screen.clone(), is_quiet: serve.quiet || serve.json };
    let options = McpOptions {
        name: project.spec().name.clone(),
        caller,
        approvals: approvals(serve),
        private_lists: door.token.is_some(),
        ..McpOptions::default()
    };
    let mcp = McpServer::new(gates, options).map_err(|error| failure(&error))?;
    if serve.mcp_stdio {
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        return mcp.serve_stdio(input, output, stop.token()).await.map_err(|error| failure(&error));
    }
    let http = HttpServer::bind(door).await.map_err(|error| failure(&error))?;
    let url = format!("http://{}/mcp", http.address());
    if serve.json {
        let started =
            json!({ "type": "listening", "url": url, "address": http.address(), "tools": count });
        out::line(&started.to_string())?;
    } else {
        let tools = words::count(count, "tool");
        screen.line(format!("{tools} of {:?} at {url}", project.spec().name));
    }
    let router = mcp.router(http.options());
    http.run(router, stop.token().cancelled_owned(), mcp.drain())
        .await
        .map_err(|error| failure(&error))
}

fn stopping(screen: &Screen) {
    screen.hint("calls at work have ten seconds to end; a second Ctrl-C ends them at once");
}

fn approvals(serve: &Serve) -> Approvals {
    if serve.yes {
        return Approvals::By(Arc::new(ApproveAll));
    }
    if serve.deny {
        let why = "calls that need a person's approval are denied by this server (--deny)";
        let no = AskWith(move |_| std::future::ready(Word::reject("The runtime", why)));
        return Approvals::By(Arc::new(no));
    }
    Approvals::Client
}

fn door(serve: &Serve) -> Result<HttpOptions, Failure> {
    let token = serve.token_env.as_deref().map(token).transpose()?;
    let options = HttpOptions {
        listen: serve.listen,
        token,
        allowed_hosts: serve.allow_host.clone(),
        allowed_origins: serve.allow_origin.clone(),
        ..HttpOptions::default()
    };
    options.check().map_err(|error| failure(&error))?;
    Ok(options)
}

fn token(variable: &str) -> Result<Token, Failure> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty()).ok_or_else(|| {
        let message = format!("the variable {variable} that --token-env names is not set");
        Failure::configuration("missing_token", message)
    })?;
    Token::new(&text).map_err(|error| failure(&error))
}

fn failure(error: &ServeError) -> Failure {
    let message = error.to_string();
    match error {
        ServeError::Listen { .. } => Failure::configuration("cannot_listen", message)
            .hint("Another program may have the port: --listen 127.0.0.1:0 takes any free one."),
        ServeError::Unprotected { .. } => Failure::configuration("unprotected", message)
            .hint("Put a long random token in a variable and name it: --token-env CALLGATE_TOKEN."),
        ServeError::WeakToken(_) => Failure::configuration("weak_token", message)
            .hint("For example: export CALLGATE_TOKEN=$(openssl rand -hex 32)."),
        ServeError::Origin(_) => Failure::configuration("bad_origin", message),
        _ => Failure::new(Exit::Internal, "serve", message),
    }
}

/// The project's tools, with a line on standard error for each call.
struct Watched {
    tools: Toolset,
    screen: Arc<Screen>,
    is_quiet: bool,
}

impl Gates for Watched {
    fn catalog(&self) -> Arc<Catalog> {
        self.tools.catalog().clone()
    }

    fn call(&self, call: GateCall) -> CalledFuture<'_> {
        Box::pin(async move {
            let (began, tool) = (Instant::now(), call.tool.clone());
            let called = Gates::call(&self.tools, call).await?;
            if !self.is_quiet {
                self.screen.line(told(&tool, &called, began));
            }
            Ok(called)
        })
    }
}

fn told(tool: &str, called: &Called, began: Instant) -> String {
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let what = called.envelope.error.as_ref().map_or("ok", |fault| fault.kind.as_str());
    format!("{}  {what}  {}", words::shown(tool), words::time(ms))
}
