//! The door to the network, as the settings want it.

use std::{net::SocketAddr, path::Path};

use callgate::server::{
    ServeError,
    a2a::A2aServer,
    http::{HttpOptions, Rate, Ready, TlsFiles, Token},
    ui,
};

use super::{cli::Serve, config::Config};
use crate::{exit::Exit, failure::Failure};

/// Where it listens if nobody says otherwise.
const LISTEN: &str = "127.0.0.1:7600";

/// The door. Checked before anything is started.
pub(super) fn door(serve: &Serve, config: &Config, folder: &Path) -> Result<HttpOptions, Failure> {
    let listen = match serve.listen {
        Some(listen) => listen,
        None => address(config.listen.as_deref().unwrap_or(LISTEN))?,
    };
    let variable = serve.token_env.as_deref().or(config.token_env.as_deref());
    let defaults = HttpOptions::default();
    let options = HttpOptions {
        listen,
        token: variable.map(token).transpose()?,
        tokens_file: serve
            .tokens_file
            .clone()
            .or_else(|| config.tokens_file.as_ref().map(|path| folder.join(path))),
        rate: config.rate.map_or(defaults.rate, |rate| {
            Some(Rate { per_second: rate.per_second, burst: rate.burst })
        }),
        tls: tls(serve, config, folder),
        public_paths: public(config),
        max_bodies: config
            .proxy
            .max_body_bytes
            .map(|most| ("/v1/".to_owned(), most))
            .into_iter()
            .chain(defaults.max_bodies)
            .collect(),
        ready: Ready::not_yet("runs are being taken up"),
        allowed_hosts: [&*serve.allow_host, &*config.allow_hosts].concat(),
        allowed_origins: [&*serve.allow_origin, &*config.allow_origins].concat(),
        ..defaults
    };
    options.check().map_err(|error| failure(&error))?;
    Ok(options)
}

/// What is read without a token: the inspector's page, and the agent's card.
fn public(config: &Config) -> Vec<String> {
    let mut paths = if config.ui.enabled { ui::paths() } else { Vec::new() };
    if config.a2a.enabled {
        paths.push(A2aServer::CARD.to_owned());
    }
    paths
}

fn tls(serve: &Serve, config: &Config, folder: &Path) -> Option<TlsFiles> {
    if let (Some(cert), Some(key)) = (&serve.tls_cert, &serve.tls_key) {
        return Some(TlsFiles { cert: cert.clone(), key: key.clone() });
    }
    let tls = config.tls.as_ref()?;
    Some(TlsFiles { cert: folder.join(&tls.cert), key: folder.join(&tls.key) })
}

fn address(text: &str) -> Result<SocketAddr, Failure> {
    text.parse().map_err(|_| {
        let message = format!("\"listen\" is {text:?}, which is no address:port");
        Failure::configuration("bad_address", message).hint("For example 127.0.0.1:7600.")
    })
}

fn token(variable: &str) -> Result<Token, Failure> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty()).ok_or_else(|| {
        let message = format!("the variable {variable} that --token-env names is not set");
        Failure::configuration("missing_token", message)
    })?;
    Token::new(&text).map_err(|error| failure(&error))
}

/// What went wrong, and what to do.
pub(super) fn failure(error: &ServeError) -> Failure {
    let message = error.to_string();
    match error {
        ServeError::Listen { .. } => Failure::configuration("cannot_listen", message)
            .hint("Another program may have the port: --listen 127.0.0.1:0 takes any free one."),
        ServeError::Unprotected { .. } => Failure::configuration("unprotected", message)
            .hint("Put a long random token in a variable and name it: --token-env CALLGATE_TOKEN."),
        ServeError::WeakToken(_) => Failure::configuration("weak_token", message)
            .hint("For example: export CALLGATE_TOKEN=$(openssl rand -hex 32)."),
        ServeError::Origin(_) => Failure::configuration("bad_origin", message),
        ServeError::Tokens(_) => Failure::configuration("bad_tokens", message)
            .hint("callgate token new NAME --scope run makes a token, and the file with it."),
        ServeError::Tls { .. } => Failure::configuration("bad_certificate", message),
        ServeError::Telemetry(_) => Failure::configuration("bad_collector", message)
            .hint("For example --otlp http://localhost:4318."),
        _ => Failure::new(Exit::Internal, "serve", message),
    }
}
