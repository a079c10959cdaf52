//! The name of a build: of a program and of what it was given to drive.
//!
//! A run replays its journal against the code, the agent and the contracts that wrote it. So all
//! of them are in the name, the name is in the worker's URL, and Restate keeps a run at the URL
//! where it began.

use std::{io, sync::Arc};

use callgate_engine::Engine;
use callgate_machine::event::RunStarted;
use serde_json::Value;

use crate::blob::hash;

/// The name of this program driving this engine.
pub(crate) async fn of(engine: &Engine) -> io::Result<Arc<str>> {
    let start = engine.start("", Value::Null);
    let program = tokio::task::spawn_blocking(|| {
        let path = std::env::current_exe()?;
        Ok::<_, io::Error>(hash(&std::fs::read(path)?))
    });
    let program = program.await.map_err(io::Error::other)??;
    name(&program, &start)
}

fn name(program: &str, start: &RunStarted) -> io::Result<Arc<str>> {
    let start = serde_json::to_string(start).map_err(io::Error::other)?;
    let both = hash(format!("{program}\n{start}").as_bytes());
    Ok(format!("b{}", &both[..12]).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_and_project_are_in_the_name() {
        let start = RunStarted { model: "script:a".into(), ..RunStarted::default() };
        let other = RunStarted { model: "script:b".into(), ..RunStarted::default() };
        let a = name("p", &start).unwrap();
        assert_eq!(a, name("p", &start).unwrap());
        assert_ne!(a, name("q", &start).unwrap());
        assert_ne!(a, name("p", &other).unwrap());
        assert_eq!(a.len(), 13);
    }
}
