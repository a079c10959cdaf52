//! `callgate serve`: the project for programs that speak HTTP or MCP.
//!
//! - [`cli`], [`config`]: what can be said, on the command line and in a file.
//! - [`door`]: who may come in.
//! - [`hosts`]: who drives runs.
//! - `elsewhere`: runs that workers behind Restate drive.
//! - [`logs`]: what is logged.
//! - [`mounts`]: what is served, one file a part.
//!
//! Over HTTP the URL goes to standard error; over standard input and output nothing but the
//! protocol is written to standard output.

pub(crate) mod cli;
pub(crate) mod config;
mod door;
#[cfg(feature = "restate")]
mod elsewhere;
mod hosts;
mod logs;
mod mounts;

use std::{sync::Arc, time::Duration};

use callgate::{
    Project,
    contract::Mode,
    server::{
        Router, ServeError,
        http::{HttpOptions, HttpServer, Ready},
        mcp::{McpOptions, McpServer, standard_streams},
        runs::RunHost,
        telemetry::{Telemetry, TelemetryOptions},
    },
};
use serde_json::{Value, json};

use self::{
    cli::Serve,
    config::{Approvals, Config},
    mounts::{Mount, World},
};
use super::block_on;
use crate::{
    cli::{InDir, Opened},
    exit::Exit,
    failure::Failure,
    input, out, project,
    show::{screen::Screen, words},
    signals::{Signals, Stop},
};

/// How long calls at work have to end, if nobody says otherwise.
const DRAIN: Duration = Duration::from_secs(10);

/// How often it is looked whether those are there who drive runs elsewhere.
const ATTEND: Duration = Duration::from_secs(5);

pub(super) fn go(serve: &Serve) -> Result<Exit, Failure> {
    if serve.mcp_stdio && serve.caller.as_deref() == Some("-") {
        let message = "--caller - reads standard input, which is the client's with --mcp-stdio";
        return Err(Failure::configuration("bad_caller", message));
    }
    let (mut config, folder) = Config::of(serve)?;
    if serve.yes || serve.deny {
        config.mcp.approvals = if serve.yes { Approvals::Yes } else { Approvals::Deny };
    }
    config.a2a.enabled |= serve.a2a;
    // No model is asked for anything.
    config.proxy.enabled &= !serve.no_runs;
    let caller = match (&serve.caller, &config.caller) {
        (None, Some(caller)) => Value::Object(caller.clone()),
        (given, _) => input::caller(given.as_deref())?,
    };
    // Before anything is started: a door that may not be opened.
    let mut door = door::door(serve, &config, &folder)?;
    logs::start(serve, &config)?;
    let telemetry = telemetry(serve, &config).map_err(|error| door::failure(&error))?;
    door.watch = Some(telemetry.watch());
    let screen = Screen::stderr();
    if serve.json || serve.quiet {
        screen.silence();
    }
    let screen = Arc::new(screen);
    let stop = Arc::new(Stop::default());
    block_on(async {
        let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
        let mut projects = Vec::new();
        for opened in folders(serve, &config, &folder) {
            let opened = project::open(&opened, serve.json, &screen, &stop, &mut signals).await;
            match opened {
                Ok(project) => projects.push(project),
                Err(failure) => {
                    end(&projects, &stop, &mut signals).await;
                    return Err(failure);
                }
            }
        }
        let all = All {
            serve,
            config: &config,
            folder: &folder,
            caller,
            telemetry: &telemetry,
            screen: &screen,
        };
        let work = all.serve(door, &projects, &stop);
        let done = signals.guard(work, &stop, || stopping(&screen)).await;
        telemetry.close().await;
        end(&projects, &stop, &mut signals).await;
        done.ok_or_else(Failure::killed)??;
        Ok(Exit::Done)
    })
}

/// What counts, and sends traces where somebody takes them.
fn telemetry(serve: &Serve, config: &Config) -> Result<Telemetry, ServeError> {
    let (said, set) = (&serve.watching, &config.telemetry);
    let defaults = TelemetryOptions::default();
    Telemetry::new(TelemetryOptions {
        service: set.service.clone().unwrap_or(defaults.service),
        endpoint: said.otlp.clone().or_else(|| set.otlp.clone()),
        content: said.otlp_content || set.content,
        history: None,
    })
}

/// The project, and those of further agents.
fn folders(serve: &Serve, config: &Config, folder: &std::path::Path) -> Vec<Opened> {
    let frozen = serve.project.frozen;
    let own = serve.project.project.dir.clone();
    let more = config.runs.agents.iter().map(|path| folder.join(path));
    let more = more.filter(|_| !serve.mcp_stdio && !serve.no_runs);
    std::iter::once(own).chain(more).map(|dir| Opened { project: InDir { dir }, frozen }).collect()
}

async fn end(projects: &[Project], stop: &Arc<Stop>, signals: &mut Signals) {
    for project in projects {
        project::end(project, stop, signals).await;
    }
}

/// What the server is made of.
struct All<'a> {
    serve: &'a Serve,
    config: &'a Config,
    folder: &'a std::path::Path,
    caller: Value,
    telemetry: &'a Telemetry,
    screen: &'a Arc<Screen>,
}

impl All<'_> {
    /// Serves until somebody stops it, or the client goes away.
    async fn serve(
        &self,
        door: HttpOptions,
        projects: &[Project],
        stop: &Arc<Stop>,
    ) -> Result<(), Failure> {
        let Some(project) = projects.first() else { return Ok(()) };
        let mode = self.serve.mode.map(Mode::from).or(self.config.mode);
        let tools = project.toolset().mode(mode.unwrap_or(project.spec().mode));
        let tools = tools.traced(self.telemetry.sends_spans());
        let is_quiet = self.serve.quiet || self.serve.json;
        if self.serve.mcp_stdio {
            let options = McpOptions {
                name: project.spec().name.clone(),
                caller: self.caller.clone(),
                approvals: mounts::who(self.config.mcp.approvals),
                ..McpOptions::default()
            };
            let gates = mounts::watched(&tools, self.telemetry, self.screen, is_quiet);
            let mcp = McpServer::new(gates, options).map_err(|error| door::failure(&error))?;
            let (input, output) = standard_streams();
            let served = mcp.serve_stdio(input, output, stop.token()).await;
            return served.map_err(|error| door::failure(&error));
        }
        // The port first: whoever cannot have it must not take up runs.
        let http = HttpServer::bind(door).await.map_err(|error| door::failure(&error))?;
        let host = hosts::host(
            self.serve,
            self.config,
            self.folder,
            projects,
            self.telemetry,
            self.screen,
        )?;
        let drain = self.config.drain_seconds.map_or(DRAIN, Duration::from_secs);
        let mounts = mounts::all(&World {
            project,
            config: self.config,
            folder: self.folder,
            http: http.options(),
            address: http.address(),
            tools: &tools,
            caller: &self.caller,
            model: self.serve.model.as_deref().or(self.config.runs.model.as_deref()),
            base_url: self.serve.base_url.as_deref(),
            host: host.as_ref(),
            telemetry: self.telemetry,
            drain,
            screen: self.screen,
            is_quiet,
        })?;
        match &host {
            Some(host) if hosts::is_elsewhere(self.serve, self.config) => {
                self.attend(host, &http.options().ready);
            }
            Some(host) => self.resume(host, &http.options().ready),
            None => http.options().ready.yes(),
        }
        let count = tools.catalog().tools().filter(|tool| !tool.tier.never_runs()).count();
        self.tell(&http, project, count, &mounts)?;
        let (mut router, mut drains) = (Router::new(), Vec::new());
        for mount in mounts {
            router = router.merge(mount.router);
            drains.push(mount.drain);
        }
        let drained = async { drop(futures_util::future::join_all(drains).await) };
        http.run(router, stop.token().cancelled_owned(), drained)
            .await
            .map_err(|error| door::failure(&error))
    }

    /// Takes up what an earlier process left, while others are served already.
    fn resume(&self, host: &Arc<RunHost>, ready: &Ready) {
        let (host, ready, screen) = (host.clone(), ready.clone(), self.screen.clone());
        // Every run that may go on is read.
        tokio::spawn(async move {
            match host.resume_all().await {
                Ok(taken) => {
                    if taken > 0 {
                        screen.line(format!("going on with {}", words::count(taken, "run")));
                    }
                    ready.yes();
                }
                Err(error) => {
                    let error = words::clean(&error.to_string());
                    screen.line(format!("runs of before cannot be taken up: {error}"));
                    ready.no(format!("runs of before cannot be taken up: {error}"));
                }
            }
        });
    }

    /// Tells whether those are there who drive runs, as long as they are served.
    fn attend(&self, host: &Arc<RunHost>, ready: &Ready) {
        let (host, ready, screen) = (host.clone(), ready.clone(), self.screen.clone());
        tokio::spawn(async move {
            let mut was = None;
            while !host.is_draining() {
                let why = host.health().await.err().map(|error| words::clean(&error.to_string()));
                match &why {
                    None => ready.yes(),
                    Some(why) => ready.no(why.clone()),
                }
                // Each change once.
                match (&was, &why) {
                    (_, Some(why)) if was.as_ref() != Some(&Some(why.clone())) => {
                        screen.line(format!("runs are not served for now: {why}"));
                    }
                    (Some(Some(_)), None) => screen.line("runs are served again".to_owned()),
                    _ => {}
                }
                was = Some(why);
                tokio::time::sleep(ATTEND).await;
            }
        });
    }

    fn tell(
        &self,
        http: &HttpServer,
        project: &Project,
        tools: usize,
        mounts: &[Mount],
    ) -> Result<(), Failure> {
        let base = http.url();
        let url = format!("{base}/mcp");
        if self.serve.json {
            let parts: serde_json::Map<String, Value> = mounts
                .iter()
                .map(|mount| (mount.name.to_owned(), format!("{base}{}", mount.path).into()))
                .collect();
            let told = json!({ "type": "listening", "url": url, "base": base, "address": http.address(), "tools": tools, "parts": parts });
            return out::line(&told.to_string());
        }
        let name = &project.spec().name;
        for mount in mounts {
            let what = match mount.name {
                "mcp" => format!("{} of {name:?}", words::count(tools, "tool")),
                "runs" => format!("runs of {name:?}"),
                "proxy" => "the gate proxy, for the base URL of a client's library,".to_owned(),
                other => other.to_owned(),
            };
            self.screen.line(format!("{what} at {base}{}", mount.path));
        }
        Ok(())
    }
}

fn stopping(screen: &Screen) {
    screen.hint("calls at work have ten seconds to end; a second Ctrl-C ends them at once");
}
