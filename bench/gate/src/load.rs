//! A catalog of very many tools: how long until it can judge, and how much memory it keeps.
//!
//! The tools are the real ones over and over, under names of their own. `contracts` reads contract
//! files, `list` the elements of a server's `tools/list`, both to whole contracts; `jsonschema` is
//! what a program does that only wants to validate: parse, compile, keep both.

use std::hint::black_box;

use callgate_contract::{Catalog, Tool, definition::Definition};
use serde_json::{Value, json};

use crate::{Refusal, clock, peers::Jsonschema, work::Work};

pub(crate) fn run(how: &str, work: &Work, count: usize) -> Result<Value, Refusal> {
    let member = if how == "contracts" { "input" } else { "inputSchema" };
    let texts = texts(work, member, count);
    let before = memory("VmRSS")?;
    let started = clock::now();
    let kept = match how {
        "contracts" => contracts(&texts)?,
        "list" => list(&texts)?,
        "jsonschema" => plain(&texts)?,
        _ => return Err(format!("{how} is none of contracts, list, jsonschema").into()),
    };
    let took = clock::now() - started;
    let after = memory("VmRSS")?;
    let peak = memory("VmHWM")?;
    if kept.len() != count {
        return Err(format!("{} of {count} tools were loaded", kept.len()).into());
    }
    black_box(&kept);
    Ok(json!({
        "how": how,
        "tools": count,
        "bytes": texts.iter().map(String::len).sum::<usize>(),
        "millis": took / 1e6,
        "keptKb": after.saturating_sub(before),
        "peakKb": peak.saturating_sub(before),
    }))
}

/// What was loaded, whoever loaded it.
enum Kept {
    Catalog(Catalog),
    Plain(Vec<(Value, jsonschema::Validator)>),
}

impl Kept {
    fn len(&self) -> usize {
        match self {
            Self::Catalog(catalog) => catalog.len(),
            Self::Plain(all) => all.iter().filter(|(tool, _)| tool.get("name").is_some()).count(),
        }
    }
}

fn texts(work: &Work, member: &str, count: usize) -> Vec<String> {
    let made = work.cases.iter().map(|case| (case.name.as_str(), "Does it.", &case.schema));
    let listed =
        work.tools.iter().map(|tool| (tool.name.as_str(), tool.description.as_str(), &tool.schema));
    let chosen: Vec<_> = if work.tools.is_empty() { made.collect() } else { listed.collect() };
    let text = |(i, (name, description, schema)): (usize, &(&str, &str, &Value))| {
        let name = format!("{name}_{i}");
        json!({"name": name, "description": description, member: schema}).to_string()
    };
    chosen.iter().cycle().enumerate().take(count).map(text).collect()
}

fn contracts(texts: &[String]) -> Result<Kept, Refusal> {
    let names: Vec<String> = (0..texts.len()).map(|i| format!("tools/{i}.json")).collect();
    let files = names.iter().zip(texts).map(|(name, text)| (name.as_str(), text.as_str()));
    let catalog = Catalog::load(files).map_err(|mistakes| format!("{:?}", mistakes.first()))?;
    Ok(Kept::Catalog(catalog))
}

fn list(texts: &[String]) -> Result<Kept, Refusal> {
    let tools: Result<Vec<Tool>, Refusal> = texts
        .iter()
        .map(|text| {
            let told = Definition::read(text)?;
            Ok(told.tool(told.name().clone(), "server", "callgate.lock", None))
        })
        .collect();
    Ok(Kept::Catalog(tools?.into_iter().collect()))
}

fn plain(texts: &[String]) -> Result<Kept, Refusal> {
    let tools: Result<Vec<_>, Refusal> = texts
        .iter()
        .map(|text| {
            let tool: Value = serde_json::from_str(text)?;
            let validator = Jsonschema::build(&tool["inputSchema"])?;
            Ok((tool, validator))
        })
        .collect();
    Ok(Kept::Plain(tools?))
}

/// A figure of this process in KiB (`proc_pid_status(5)`).
fn memory(name: &str) -> Result<u64, Refusal> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let figure = line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no such figure")?;
    Ok(figure.parse()?)
}
