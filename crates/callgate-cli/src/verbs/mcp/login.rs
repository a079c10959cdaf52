//! `callgate mcp login SERVER` and `logout SERVER`: the only places where a person is sent to a
//! browser. A run never waits for one.

use std::{io::Write as _, sync::Arc, time::Duration};

use callgate::{
    Project, ProjectServer,
    backend::mcp::auth::{Loopback, OAuth, OAuthError},
};
use serde_json::json;

use super::{server, unreachable};
use crate::{
    cli::{InDir, McpLogin, Opened},
    exit::Exit,
    failure::Failure,
    out, project,
    show::{paint::Paint, words},
    signals::Stop,
};

pub(super) fn go(login: &McpLogin) -> Result<Exit, Failure> {
    let stop = Arc::new(Stop::default());
    project::unpinned(&opened(&login.project), &stop, async |project| {
        let server = server(project, &login.server)?;
        let oauth = oauth(project, server)?;
        let port = server.declared().oauth.as_ref().and_then(|oauth| oauth.callback_port);
        let (name, as_json) = (login.server.clone(), login.json);
        let limit = Duration::from_secs(login.wait);
        let show = move |url: &str| tell(&name, url, as_json);
        let browser = Loopback::bind(port.unwrap_or(0), limit, show).await;
        let browser = browser.map_err(|error| failed(server, &error.into()))?;
        let scopes = login.scope.as_deref().unwrap_or_default();
        let scopes: Vec<String> = scopes.split_whitespace().map(str::to_owned).collect();
        let oauth = oauth.with_browser(Arc::new(browser));
        let came = oauth.login(&scopes).await.map_err(|error| failed(server, &error))?;
        // The server has the last word on what the login is good for.
        server.client().ping().await.map_err(|error| unreachable(server, &error))?;

        if login.json {
            let line = json!({
                "name": login.server, "issuer": came.issuer, "scopes": came.scopes,
                "renewable": came.renewable,
            });
            out::line(&line.to_string())?;
            return Ok(Exit::Done);
        }
        let mut told = format!("logged in at {}", words::shown(&login.server));
        if let Some(issuer) = &came.issuer {
            told.push_str(&format!(", by {}", words::shown(issuer)));
        }
        if !came.scopes.is_empty() {
            told.push_str(&format!(", for {}", words::shown(&came.scopes.join(" "))));
        }
        let renewed = if came.renewable { "renewed by itself" } else { "until it expires" };
        out::line(&format!("{told} ({renewed})"))?;
        Ok(Exit::Done)
    })
}

pub(super) fn out(name: &str, dir: &InDir, as_json: bool) -> Result<Exit, Failure> {
    let stop = Arc::new(Stop::default());
    project::unpinned(&opened(dir), &stop, async |project| {
        let server = server(project, name)?;
        let forgotten = oauth(project, server)?.logout().map_err(|error| failed(server, &error))?;
        if as_json {
            out::line(&json!({ "name": name, "forgotten": forgotten }).to_string())?;
        } else {
            let name = words::shown(name);
            let told = if forgotten {
                format!("the login at {name} is forgotten here; the server may still know it")
            } else {
                format!("there was no login at {name}")
            };
            out::line(&told)?;
        }
        Ok(Exit::Done)
    })
}

fn opened(dir: &InDir) -> Opened {
    Opened { project: InDir { dir: dir.dir.clone() }, frozen: false }
}

fn oauth(project: &Project, server: &ProjectServer) -> Result<OAuth, Failure> {
    let none = || {
        let message = format!("there is no login at the MCP server {:?}", server.name());
        Failure::configuration("no_login", message).hint(
            "Logins are for servers with a \"url\" and no Authorization of their own in \"headers\".",
        )
    };
    project.oauth(server).map_err(|error| failed(server, &error))?.ok_or_else(none)
}

/// The link, on standard error: standard output has what came of it.
fn tell(name: &str, url: &str, as_json: bool) {
    let url = words::clean(url);
    let line = if as_json {
        let message = format!("open this page to log in at {name}");
        json!({ "notice": { "code": "login", "message": message, "url": url } }).to_string()
    } else {
        let head = format!("Open this page to log in at {}:", words::shown(name));
        format!("{}\n\n  {url}\n", Paint::stderr().cyan(&head))
    };
    // Whoever closed standard error does not want to know.
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn failed(server: &ProjectServer, error: &OAuthError) -> Failure {
    let message = words::clean(&format!("the MCP server \"{}\": {error}", server.name()));
    match error {
        OAuthError::Unset { .. } | OAuthError::NotAUrl { .. } | OAuthError::NoFolder => {
            Failure::configuration("login_failed", message)
        }
        _ => Failure::new(Exit::Call, "login_failed", message),
    }
}
