//! `callgate mcp ping SERVER`: whether it answers, and how fast.

use std::{sync::Arc, time::Instant};

use serde_json::json;

use super::{server, state, unreachable};
use crate::{
    cli::{InDir, Opened},
    exit::Exit,
    failure::Failure,
    out, project,
    show::words,
    signals::Stop,
};

pub(super) fn go(name: &str, dir: &InDir, as_json: bool) -> Result<Exit, Failure> {
    let stop = Arc::new(Stop::default());
    let opened = Opened { project: InDir { dir: dir.dir.clone() }, frozen: false };
    project::unpinned(&opened, &stop, async |project| {
        let server = server(project, name)?;
        let ms = |since: Instant| u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        // The first answer takes the start with it, the second is the server's own.
        let began = Instant::now();
        server.client().ping().await.map_err(|error| unreachable(server, &error))?;
        let connected = ms(began);
        let asked = Instant::now();
        server.client().ping().await.map_err(|error| unreachable(server, &error))?;
        let answered = ms(asked);
        let health = server.client().health();
        if as_json {
            let line = json!({
                "name": name, "ms": answered, "connectMs": connected, "health": health,
            });
            out::line(&line.to_string())?;
        } else {
            out::line(&format!(
                "{name} answered in {}, after {} to connect: {}",
                words::time(answered),
                words::time(connected),
                state(server, &health)
            ))?;
        }
        Ok(Exit::Done)
    })
}
