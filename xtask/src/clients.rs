//! `cargo xtask clients`: the official libraries and three frameworks, unmodified, through the gate
//! proxy, against a provider that is wrong on purpose.
//!
//! The programs are in `crates/callgate-cli/tests/clients/`: a loop over each library, agents of
//! the frameworks, and the provider, which plays every malformed-json and schema-mismatch case of
//! `tests/cases/cases.jsonl` in all three APIs. What a client receives is judged there, by
//! `jsonschema` and `ajv`. Through the proxy every call has to be admitted by its schema and every
//! loop has to come to its answer; what the same loops do without it is shown beside.

mod room;
mod row;

use std::process::Command;

use self::{
    room::{Room, Through},
    row::{Row, table},
};
use crate::{
    failure::Failure,
    local::Local,
    process::Show,
    steps::{Steps, cargo},
};

const DIALECTS: [&str; 3] = ["chat", "responses", "messages"];
const MODES: [&str; 2] = ["whole", "streamed"];
/// The providers as the proxy names them, each of another API.
const UPSTREAMS: [&str; 3] = ["openai-chat:", "openai-responses:", "anthropic:"];

/// Who runs a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Node,
}

impl Language {
    const ALL: [Self; 2] = [Self::Python, Self::Node];

    fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Node => "Node",
        }
    }
}

/// Cases of a loop of a real model, unless told otherwise: a case is two replies.
const REAL_CASES: usize = 20;

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let usage = "`clients` takes nothing, or `--model local:NAME` for a model that is there, and \
                 `--cases N` for fewer than 20 of them in each of the six loops";
    let usage = || Failure::Usage(usage.to_owned());
    let (model, cases) = match words[..] {
        [] => (None, REAL_CASES),
        ["--model", model] => (Some(model), REAL_CASES),
        ["--model", model, "--cases", cases] => {
            (Some(model), cases.parse().ok().filter(|cases| *cases > 0).ok_or_else(usage)?)
        }
        _ => return Err(usage()),
    };
    let mut steps = Steps::default();
    let callgate = match model {
        Some(_) => Local::ready(&mut steps)?.callgate,
        None => {
            let build = cargo(&["build", "-p", "callgate-cli"]);
            steps.run("build", 60, build)?;
            crate::local::built("callgate")?
        }
    };
    let Some(room) = Room::open(&mut steps, callgate)? else {
        return Err(Failure::Wrong("the clients could not be installed; see above".to_owned()));
    };
    if let Some(model) = model {
        let rows = real(&mut steps, &room, model, cases)?;
        println!("\n{}", table(&rows));
        return held(&rows, false).map(|line| println!("{line}"));
    }
    let rows = every(&mut steps, &room)?;
    let agents = frameworks(&mut steps, &room, &UPSTREAMS)?;
    println!("\n{}", table(&rows));
    let through: Vec<Row> =
        rows.into_iter().filter(|row| row.through != Through::Nothing).collect();
    println!("{}; {agents} agents of frameworks", held(&through, true)?);
    Ok(())
}

/// A bounded part, as a step of `cargo xtask test`: each library in each API, through the proxy to
/// a provider of another API; and the frameworks. Returns its last line, or nothing where the
/// clients could not be brought.
pub(crate) fn step(steps: &mut Steps) -> Result<Option<String>, Failure> {
    let Some(room) = Room::open(steps, crate::local::built("callgate")?)? else {
        return Ok(None);
    };
    let mut rows = Vec::new();
    for language in Language::ALL {
        for (at, dialect) in DIALECTS.into_iter().enumerate() {
            for (shift, mode) in MODES.into_iter().enumerate() {
                let upstream = UPSTREAMS[(at + shift + 1) % UPSTREAMS.len()];
                rows.push(room.tried(steps, language, dialect, mode, Some(upstream))?);
            }
        }
    }
    let line = held(&rows, true)?;
    let agents = frameworks(steps, &room, &UPSTREAMS[..1])?;
    Ok(Some(format!("{line}; {agents} agents of frameworks")))
}

/// Everything, with and without the proxy.
fn every(steps: &mut Steps, room: &Room) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for language in Language::ALL {
        for dialect in DIALECTS {
            for mode in MODES {
                for upstream in std::iter::once(None).chain(UPSTREAMS.map(Some)) {
                    rows.push(room.tried(steps, language, dialect, mode, upstream)?);
                }
            }
        }
    }
    Ok(rows)
}

/// Loops of a real model: few cases, since it has to think.
fn real(steps: &mut Steps, room: &Room, model: &str, cases: usize) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for dialect in DIALECTS {
        for (language, mode) in Language::ALL.into_iter().zip(MODES) {
            rows.push(room.asked(steps, language, dialect, mode, (model, cases))?);
        }
    }
    Ok(rows)
}

/// What holds of what came through the proxy. With `all`, every loop has come to its answer.
fn held(rows: &[Row], all: bool) -> Result<String, Failure> {
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let (received, admitted) = (sum(|row| row.received), sum(|row| row.admitted));
    let (cases, answered) = (sum(|row| row.cases), sum(|row| row.answered));
    let line = format!(
        "clients: {admitted} of {received} calls that {cases} loops in {} rows received are \
         admitted by their schemas, and {answered} of the loops came to an answer",
        rows.len()
    );
    let complaints: Vec<&str> = rows.iter().filter_map(|row| row.complaint.as_deref()).collect();
    let crashed = sum(|row| row.crashed);
    let well = received > 0 && admitted == received && crashed == 0 && (!all || answered == cases);
    if well {
        return Ok(line);
    }
    Err(Failure::Wrong(format!("{line}; {crashed} crashed; {}", complaints.join("; "))))
}

/// Agents of the frameworks through the proxy, streamed. Returns how many there were.
fn frameworks(steps: &mut Steps, room: &Room, upstreams: &[&str]) -> Result<usize, Failure> {
    let mut agents = 0;
    for upstream in upstreams {
        for language in Language::ALL {
            let saw = room.agents(steps, language, &format!("{upstream}errand"))?;
            for agent in &saw {
                let well = agent["calls"] == serde_json::json!([{ "city": "Oslo", "days": 2 }])
                    && agent["words"] == "It rains in Oslo for two days."
                    && agent["deltas"].as_u64() > Some(1);
                if !well {
                    return Err(Failure::Wrong(format!("through {upstream} an agent saw {agent}")));
                }
            }
            agents += saw.len();
        }
    }
    Ok(agents)
}

/// Runs a client to its end; what it prints is shown.
fn client(steps: &mut Steps, name: &'static str, command: Command) -> Result<(), Failure> {
    steps.attempt(name, 20, Show::Both, command)?.well(name).map(drop)
}
