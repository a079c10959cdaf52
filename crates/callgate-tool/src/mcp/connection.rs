//! From a configuration to a server that has said what it speaks.

use std::{sync::Arc, time::Duration};

use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::{
    ask::{Ask, Told},
    config::{Lifecycle, ServerConfig, Transport},
    era::{self, Known, Next},
    error::McpError,
    health::Era,
    http::{Endpoint, Http},
    hub::Hub,
    link::Link,
    message::Members,
    options::ClientOptions,
    speech::{self, Speech},
    stdio::{Program, Stdio},
    wait::Limits,
};
use crate::{Env, command::INHERITED, secrets::Secrets, template::Template};

/// A server that answers.
pub(super) struct Connection {
    /// Rises with every connection of a client.
    pub(super) number: u64,
    pub(super) link: Arc<Link>,
    pub(super) speech: Speech,
    pub(super) known: Known,
    pub(super) secrets: Arc<Secrets>,
    background: Vec<AbortHandle>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        for task in &self.background {
            task.abort();
        }
    }
}

/// Why there is no connection, and the end of what the program wrote to stderr.
#[derive(Debug, Clone)]
pub(super) struct Unconnected {
    pub(super) why: McpError,
    pub(super) stderr: Option<String>,
}

impl From<McpError> for Unconnected {
    fn from(why: McpError) -> Self {
        Self { why, stderr: None }
    }
}

/// What a connection is made from.
pub(super) struct Plan {
    pub(super) config: ServerConfig,
    pub(super) env: Env,
    pub(super) options: ClientOptions,
    pub(super) hub: Arc<Hub>,
}

/// A server that is there, and has not said anything yet.
struct Opened {
    link: Link,
    secrets: Arc<Secrets>,
}

impl Plan {
    /// Connects. `era` is what the server spoke before.
    pub(super) async fn connect(
        &self,
        number: u64,
        era: Option<Era>,
    ) -> Result<Connection, Unconnected> {
        let opened = self.open()?;
        let met = match (self.config.lifecycle, era) {
            (Lifecycle::Legacy, _) | (Lifecycle::Auto, Some(Era::Legacy)) => {
                self.initialize(opened).await
            }
            (Lifecycle::Modern, _) => self.discover(opened, false).await,
            (Lifecycle::Auto, _) => self.discover(opened, true).await,
        };
        let (Opened { link, secrets }, speech, known) = met?;
        let link = Arc::new(link);
        let background = self.listen(&link, &speech, &known);
        Ok(Connection { number, link, speech, known, secrets, background })
    }

    /// Asks what it speaks. Without `falls_back` only the new protocol will do.
    async fn discover(
        &self,
        mut opened: Opened,
        falls_back: bool,
    ) -> Result<(Opened, Speech, Known), Unconnected> {
        let speech = Speech::modern(self.hub.elicitor());
        let mut asked = 0;
        loop {
            let told = self.first(&opened.link, "server/discover", &Members::new(), &speech).await;
            let next = era::after_discover(&told.reply, opened.link.is_http(), asked);
            match next {
                Next::Modern(known) => return Ok((opened, speech, *known)),
                Next::AskAgain => asked += 1,
                Next::GiveUp(why) => return Err(unconnected(&opened.link, why)),
                Next::Initialize if falls_back => return self.initialize(opened).await,
                Next::InitializeAfresh if falls_back => {
                    // The old process ends here, with whatever it is still about to answer.
                    drop(opened);
                    opened = self.open()?;
                    return self.initialize(opened).await;
                }
                Next::Initialize | Next::InitializeAfresh => match told.reply {
                    // It refuses to introduce itself, which is no reason not to speak with it.
                    Ok(_) | Err(McpError::Rpc(_)) => return Ok((opened, speech, era::unknown())),
                    Err(why) => return Err(unconnected(&opened.link, why)),
                },
            }
        }
    }

    async fn initialize(&self, opened: Opened) -> Result<(Opened, Speech, Known), Unconnected> {
        let version = self.options.legacy_version;
        let speech = Speech::legacy(version);
        let params = speech::initialize(version, self.hub.elicitor());
        let told = self.first(&opened.link, "initialize", &params, &speech).await;
        let known = match told.reply {
            Ok(result) => era::initialized(&result),
            // Neither protocol: what 2024-11-05 had over HTTP began with a GET.
            Err(McpError::Status { status: status @ (400 | 404 | 405), .. }) => {
                Err(McpError::Misconfigured(format!(
                    "the server answers {status} to `initialize`: its url is not that of the MCP endpoint, or it has only the withdrawn HTTP+SSE transport (2024-11-05), which is not supported"
                )))
            }
            Err(error) => Err(error),
        };
        let known = match known {
            Ok(known) => known,
            Err(why) => return Err(unconnected(&opened.link, why)),
        };
        let speech = Speech::legacy(known.server.protocol_version.clone());
        opened.link.tell("notifications/initialized", &Members::new(), &speech).await;
        Ok((opened, speech, known))
    }

    /// The first request on a connection has the time that a start takes.
    async fn first(
        &self,
        link: &Link,
        method: &'static str,
        params: &Members,
        speech: &Speech,
    ) -> Told {
        let start = self.config.timeouts.start;
        let limits = Limits::new(start, start, CancellationToken::new());
        link.ask(&Ask {
            method,
            name: None,
            params,
            meta: &Members::new(),
            headers: &[],
            speech,
            progress: false,
            limits: &limits,
        })
        .await
    }

    /// Has the server tell when its tools change, where it can.
    fn listen(&self, link: &Arc<Link>, speech: &Speech, known: &Known) -> Vec<AbortHandle> {
        let mut background = Vec::new();
        match (&**link, speech.era) {
            (Link::Http(http), Era::Legacy) => {
                let listening = http.clone().listen(speech.clone());
                background.push(tokio::spawn(listening).abort_handle());
            }
            (_, Era::Modern) if known.tells_changes => {
                let subscribed = subscribe(link.clone(), speech.clone(), self.hub.clone());
                background.push(tokio::spawn(subscribed).abort_handle());
            }
            _ => {}
        }
        background
    }

    /// Starts the program, or prepares the requests.
    fn open(&self) -> Result<Opened, McpError> {
        let mut secrets = Secrets::default();
        let options = &self.options;
        match &self.config.transport {
            Transport::Stdio { command, args, env, cwd } => {
                let inherited = INHERITED
                    .iter()
                    .filter_map(|name| Some(((*name).into(), (self.env)(name)?.into())));
                let mut environment: Vec<_> = inherited.collect();
                for (name, value) in env {
                    let value = self.resolve(value, &mut secrets)?;
                    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                        return Err(McpError::Misconfigured(format!(
                            "the environment variable {name:?} cannot be set"
                        )));
                    }
                    environment.push((name.into(), value.into()));
                }
                let words: Result<Vec<_>, _> =
                    args.iter().map(|word| self.resolve(word, &mut secrets)).collect();
                let program = Program {
                    command: self.resolve(command, &mut secrets)?,
                    words: words?,
                    environment,
                    folder: cwd.clone(),
                    secrets: Arc::new(secrets),
                };
                let stdio =
                    Stdio::start(&program, self.hub.clone(), options.max_message, options.grace)?;
                Ok(Opened { link: Link::Stdio(stdio), secrets: program.secrets })
            }
            Transport::Http { url, headers } => {
                let url = self.resolve(url, &mut secrets)?;
                let url = Url::parse(&url)
                    .ok()
                    .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
                    .ok_or_else(|| {
                        McpError::Misconfigured("its url is no http or https URL".to_owned())
                    })?;
                let mut all = HeaderMap::new();
                for (name, value) in headers {
                    let value = self.resolve(value, &mut secrets)?;
                    let parsed = HeaderName::from_bytes(name.as_bytes())
                        .ok()
                        .zip(HeaderValue::from_str(&value).ok());
                    let Some((name, value)) = parsed else {
                        return Err(McpError::Misconfigured(format!(
                            "the header {name:?} cannot be sent: a name is a token, a value has no line breaks"
                        )));
                    };
                    all.insert(name, value);
                }
                let secrets = Arc::new(secrets);
                let endpoint = Endpoint {
                    url,
                    headers: all,
                    secrets: secrets.clone(),
                    authorizer: options.authorizer.clone(),
                };
                let http = Http::new(endpoint, self.hub.clone(), options.max_message)?;
                Ok(Opened { link: Link::Http(http), secrets })
            }
        }
    }

    fn resolve(&self, text: &str, secrets: &mut Secrets) -> Result<String, McpError> {
        let template = Template::parse_variables(text)
            .map_err(|error| McpError::Misconfigured(error.to_string()))?;
        template
            .resolve(&self.env, secrets)
            .map_err(|unset| McpError::Misconfigured(unset.to_string()))
    }
}

fn unconnected(link: &Link, why: McpError) -> Unconnected {
    Unconnected { why, stderr: link.stderr() }
}

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Keeps a `subscriptions/listen` stream open. A server that has none is asked by its `ttlMs`.
async fn subscribe(link: Arc<Link>, speech: Speech, hub: Arc<Hub>) {
    let params = Members::new().raw("notifications", r#"{"toolsListChanged":true}"#);
    let limits = Limits::none();
    let mut wait = FIRST_WAIT;
    loop {
        let began = tokio::time::Instant::now();
        let told = link
            .ask(&Ask {
                method: "subscriptions/listen",
                name: None,
                params: &params,
                meta: &Members::new(),
                headers: &[],
                speech: &speech,
                progress: false,
                limits: &limits,
            })
            .await;
        match told.reply {
            _ if link.ended().is_some() => return,
            Err(McpError::Rpc(_) | McpError::Unauthorized { .. } | McpError::Protocol(_)) => return,
            Err(McpError::Status { status, .. }) if status < 500 => return,
            _ => {}
        }
        // What was said since the stream ended, nobody heard.
        hub.changed();
        wait =
            if began.elapsed() > LONGEST_WAIT { FIRST_WAIT } else { (wait * 2).min(LONGEST_WAIT) };
        tokio::time::sleep(wait).await;
    }
}
