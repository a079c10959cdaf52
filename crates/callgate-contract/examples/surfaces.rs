//! Writes `docs/surfaces.md`: what each surface keeps of real tools, and whether it admits more or
//! less than the contract.
//!
//! ```sh
//! cargo run -p callgate-contract --example surfaces > docs/surfaces.md
//! ```

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf};

use callgate_contract::{
    schema::{
        Schema,
        canonical::{Comparison, Relation, compare},
    },
    surface::{How, Options, Projection, Source, Surface, normalised, project_with},
};
use serde_json::Value;

fn main() {
    match document() {
        Some(document) => print!("{document}"),
        None => {
            eprintln!("error: no tool lists in {}", lists().display());
            std::process::exit(1);
        }
    }
}

fn lists() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference/mcp-tools")
}

/// Real tools as server, name and input schema; nothing where the lists are not at hand.
fn tools() -> Option<Vec<(String, String, Schema)>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(lists())
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let mut tools = Vec::new();
    for file in files {
        let list: Value = serde_json::from_str(&std::fs::read_to_string(&file).ok()?).ok()?;
        let server = file.file_stem()?.to_string_lossy().into_owned();
        let listed = list
            .pointer("/tools_list_response/result/tools")
            .or_else(|| list.pointer("/tools_list_response/tools"))?;
        for tool in listed.as_array()? {
            let schema = Schema::compile(tool["inputSchema"].clone()).ok()?;
            tools.push((server.clone(), tool["name"].as_str()?.to_owned(), schema));
        }
    }
    Some(tools)
}

/// One surface's row.
#[derive(Default)]
struct Row {
    fell_back: usize,
    relations: BTreeMap<&'static str, usize>,
    losses: BTreeMap<(String, &'static str), usize>,
    reasons: BTreeMap<String, usize>,
    witnesses: BTreeMap<&'static str, String>,
}

const RELATIONS: [Relation; 5] =
    [Relation::Equal, Relation::Wider, Relation::Narrower, Relation::Both, Relation::Unknown];

/// The whole document; nothing where the tool lists are not at hand.
pub fn document() -> Option<String> {
    let tools = tools()?;
    let mut out = String::from(HEAD);
    let _ = writeln!(
        out,
        "## What becomes of {} real tools\n\n\
         The tool lists of {} public MCP servers, projected one by one. *Fell back*: told loosely \
         although strict was asked. The other columns say how what can come back from a model lies to what the \
         contract admits, as sets of values, proved by `jsonschema::canonical`; *unknown* proves nothing either way.\n",
        tools.len(),
        servers(&tools),
    );
    out.push_str("| surface | fell back | equal | wider | narrower | both | unknown |\n");
    out.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
    let mut known: BTreeMap<(String, String), Comparison> = BTreeMap::new();
    let mut rows = Vec::new();
    for surface in Surface::ALL {
        let row = row(surface, &tools, &mut known);
        let _ = write!(out, "| {surface} | {} |", row.fell_back);
        for relation in RELATIONS {
            let count = row.relations.get(relation.word()).copied().unwrap_or_default();
            let _ = write!(out, " {count} |");
        }
        out.push('\n');
        rows.push((surface, row));
    }
    out.push_str(
        "\nWider is where a provider's schema cannot hold a constraint: the gate holds it. Narrower is mostly \
         `additionalProperties`: a contract that does not close an object admits any other member, and strict \
         mode has none.\n",
    );
    details(&mut out, &rows);
    Some(out)
}

fn servers(tools: &[(String, String, Schema)]) -> usize {
    let mut names: Vec<&String> = tools.iter().map(|(server, _, _)| server).collect();
    names.dedup();
    names.len()
}

fn row(
    surface: Surface,
    tools: &[(String, String, Schema)],
    known: &mut BTreeMap<(String, String), Comparison>,
) -> Row {
    let mut row = Row::default();
    for (server, name, schema) in tools {
        // Not as an answer: a tool's arguments are never wrapped.
        let projection: Projection =
            project_with(Source::arguments(name, "", schema), surface, Options::default());
        if let Some(reason) = &projection.fell_back {
            row.fell_back += 1;
            *row.reasons.entry(reason.why.clone()).or_default() += 1;
        }
        for loss in &projection.losses {
            *row.losses.entry((loss.keyword.clone(), loss.how.word())).or_default() += 1;
        }
        let contract = normalised(schema);
        // Many tools and surfaces make the same comparison.
        let key = (projection.scope.to_string(), contract.to_string());
        let comparison = known.entry(key).or_insert_with(|| compare(&projection.scope, &contract));
        *row.relations.entry(comparison.relation.word()).or_default() += 1;
        for (side, witness) in [("more", &comparison.only_first), ("less", &comparison.only_second)]
        {
            if let Some(witness) = witness {
                let text = witness.to_string();
                if text.len() <= 100 {
                    row.witnesses
                        .entry(side)
                        .or_insert_with(|| format!("`{text}` ({server}: {name})"));
                }
            }
        }
    }
    row
}

fn details(out: &mut String, rows: &[(Surface, Row)]) {
    out.push_str("\n## What is lost, and how often\n");
    for (surface, row) in rows {
        let _ = writeln!(out, "\n### {surface}\n");
        if row.losses.is_empty() {
            out.push_str("Nothing.\n");
        } else {
            let mut losses: Vec<_> = row.losses.iter().collect();
            losses.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            let told: Vec<String> = losses
                .iter()
                .map(|((keyword, how), count)| format!("`{keyword}` {how} {count}"))
                .collect();
            let _ = writeln!(out, "{}.", told.join(", "));
        }
        for (why, count) in &row.reasons {
            let _ = writeln!(out, "Fell back {count} times: {why}.");
        }
        if let Some(witness) = row.witnesses.get("more") {
            let _ = writeln!(out, "It admits, and the contract does not: {witness}.");
        }
        if let Some(witness) = row.witnesses.get("less") {
            let _ = writeln!(out, "The contract admits, and it cannot say: {witness}.");
        }
    }
    let words: Vec<&str> =
        [How::Dropped, How::Described, How::Widened, How::Narrowed, How::Rewritten, How::Merged]
            .into_iter()
            .map(How::word)
            .collect();
    let _ = writeln!(out, "\nThe words for what becomes of a constraint are {}.", words.join(", "));
}

const HEAD: &str = "\
# Surfaces: one contract in every provider's words

Written by `cargo run -p callgate-contract --example surfaces > docs/surfaces.md`; a test compares.

A tool's schema exists once. Each provider takes another subset of JSON Schema, and some take arguments in another form.
A *surface* is one such subset. `project(tool, surface)` gives the definition as the provider takes it, a list of losses
(each constraint that is not on the wire as it stands, by place, keyword and how) and a `restore` for the model's
arguments. The gate always judges by the contract, never by a projection.

| surface | for | strict | optional | maps | unions | recursion |
|---|---|---|---|---|---|---|
| openai-strict | OpenAI Chat and Responses | `true` | required, null stands for absence | falls back, or pairs where asked | `anyOf` below the root | kept |
| openai | the same | `false` | absent | kept | kept below the root | kept |
| anthropic-strict | Anthropic Messages | `true` | absent | falls back, or pairs where asked | `anyOf` below the root | falls back |
| anthropic | the same | | absent | kept | kept below the root | kept |
| gemini-parameters | Gemini, OpenAPI subset | | absent | JSON text in a string | `anyOf` alone in its node | unrolled twice, then JSON text |
| gemini-json-schema | Gemini, `parametersJsonSchema` | | absent | kept | `anyOf` | unrolled twice, then anything |
| deepseek-strict | DeepSeek beta | `true` | required, null stands for absence | falls back, or pairs where asked | `anyOf` without references | kept outside unions |
| mistral-strict | Mistral | `true` | required, null stands for absence | falls back, or pairs where asked | `anyOf` below the root | kept |
| mistral | the same | | absent | kept | kept below the root | kept |
| ollama | Ollama's native chat | | absent | told as objects | `anyOf` | unrolled twice, then anything |
| compatible | llama.cpp and whoever speaks OpenAI Chat | | absent | kept | `anyOf`, nothing beside it | kept |
| mcp | MCP clients | | absent | kept | kept | kept |

## What comes back

| adjustment | from | to |
|---|---|---|
| `restored:optional_null` | `null` for a property that the contract leaves out but never null | absent |
| `restored:enum` | `\"2\"` where an enum of numbers was told as strings | `2` |
| `restored:map` | `[{\"key\": \"a\", \"value\": 1}]` | `{\"a\": 1}`; a key that comes twice is left to the gate |
| `restored:json_text` | `\"{\\\"a\\\": 1}\"` where a map or any value was told as JSON text | `{\"a\": 1}` |
| `restored:root` | `{\"value\": [1]}` where an answer is no object | `[1]` |
| `restored:integer` | `1.0` for an integer, only where asked | `1` |

Only these places change; every other byte stays. Law 2 holds for every instance that a projection can say: forward and back
is the same value. Two things cannot be said, and are losses: what is *narrowed* away, and, where a property is both
optional and nullable, absence in a mode that has only null: it comes back as null (*merged*).

## Limits of one request

| family | tools | strict tools | optional parameters in strict tools | unions in strict tools |
|---|---:|---:|---:|---:|
| OpenAI, DeepSeek, Mistral, compatible | 128 | | | |
| Anthropic | | 20 | 24 | 16 |
| Gemini | 512 | | | |

One OpenAI strict schema holds at most 5,000 properties, 10 levels, 1,000 enum values, 120,000 characters of names and
values, and 15,000 characters in an enum of more than 250 values. A tool beyond a limit is told loosely, with the reason;
more tools than a request may hold are an error, or left out and told where the caller asks for that.

Names are letters, digits, `_` and `-`, begin with a letter or `_` and have 64 characters at most. A name that is legal
and the only one of its kind stays; another is cleaned and ends in a hash of server and name, whatever the order.

";
