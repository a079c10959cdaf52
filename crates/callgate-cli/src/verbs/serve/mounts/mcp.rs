//! `/mcp`: the tools for clients that have a model of their own.

use std::{sync::Arc, time::Instant};

use callgate::{
    Toolset,
    contract::Catalog,
    engine::{ApproveAll, AskWith, Called, Observer, Word},
    server::{
        mcp::{CalledFuture, GateCall, Gates, McpOptions, McpServer},
        telemetry::Telemetry,
    },
};

use super::{Mount, World};
use crate::{
    failure::Failure,
    show::{screen::Screen, words},
    verbs::serve::{config::Approvals, door},
};

pub(super) fn mount(world: &World<'_>) -> Result<Option<Mount>, Failure> {
    if !world.config.mcp.enabled {
        return Ok(None);
    }
    let options = McpOptions {
        private_lists: world.http.token.is_some() || world.http.tokens_file.is_some(),
        drain: world.drain,
        ..options(world, world.config.mcp.approvals)
    };
    let gates = watched(world.tools, world.telemetry, world.screen, world.is_quiet);
    let mcp = McpServer::new(gates, options).map_err(|error| door::failure(&error))?;
    let (router, drain) = (mcp.router(world.http), Box::pin(mcp.drain()));
    Ok(Some(Mount { name: "mcp", path: "/mcp", router, drain }))
}

fn options(world: &World<'_>, approvals: Approvals) -> McpOptions {
    McpOptions {
        name: world.project.spec().name.clone(),
        caller: world.caller.clone(),
        approvals: who(approvals),
        ..McpOptions::default()
    }
}

/// Who answers.
pub(in crate::verbs::serve) fn who(approvals: Approvals) -> callgate::server::mcp::Approvals {
    use callgate::server::mcp::Approvals as Answers;
    match approvals {
        Approvals::Client => Answers::Client,
        Approvals::Yes => Answers::By(Arc::new(ApproveAll)),
        Approvals::Deny => {
            let why = "calls that need a person's approval are denied by this server";
            let no = AskWith(move |_| std::future::ready(Word::reject("The runtime", why)));
            Answers::By(Arc::new(no))
        }
    }
}

/// The tools, with a line on standard error for each call.
pub(in crate::verbs::serve) fn watched(
    tools: &Toolset,
    telemetry: &Telemetry,
    screen: &Arc<Screen>,
    is_quiet: bool,
) -> impl Gates {
    let (tools, telemetry) = (tools.clone(), telemetry.observer());
    Watched { tools, telemetry, screen: screen.clone(), is_quiet }
}

struct Watched {
    tools: Toolset,
    telemetry: Observer,
    screen: Arc<Screen>,
    is_quiet: bool,
}

impl Gates for Watched {
    fn catalog(&self) -> Arc<Catalog> {
        self.tools.catalog().clone()
    }

    fn call(&self, mut call: GateCall) -> CalledFuture<'_> {
        let (counts, then) = (self.telemetry.clone(), call.observer.take());
        call.observer = Some(Arc::new(move |notice| {
            counts(notice);
            if let Some(then) = &then {
                then(notice);
            }
        }));
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
