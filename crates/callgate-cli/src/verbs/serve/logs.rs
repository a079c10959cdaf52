//! What the server logs, on standard error.
//!
//! Requests by their route, never by what a client wrote into them; no header, no body. Other
//! people's crates speak up from `warn` only: at `debug` they tell of every byte.

use std::io;

use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
};

use super::{
    cli::{LogFormat, LogLevel, Serve},
    config::Config,
};
use crate::{exit::Exit, failure::Failure};

/// Logs from now on.
pub(super) fn start(serve: &Serve, config: &Config) -> Result<(), Failure> {
    let level = serve.watching.log_level.or(config.log.level).unwrap_or(LogLevel::Warn);
    let level = LevelFilter::from(level);
    let targets =
        Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("callgate", level);
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false);
    let registry = tracing_subscriber::registry().with(targets);
    let format = serve.watching.log_format.or(config.log.format).unwrap_or(LogFormat::Text);
    let set = match format {
        LogFormat::Text => tracing::subscriber::set_global_default(registry.with(layer)),
        LogFormat::Json => {
            let layer = layer.json().flatten_event(true).with_current_span(false);
            tracing::subscriber::set_global_default(registry.with(layer))
        }
    };
    set.map_err(|error| Failure::new(Exit::Internal, "log", error.to_string()))
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}
