//! Writes `docs/lints.md`: the rules, and what they find in real tools and in our own examples.
//!
//! ```sh
//! cargo run -p callgate-contract --example lints > docs/lints.md
//! ```

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, path::PathBuf};

use callgate_contract::lint::{Finding, Level, Paper, Policy, RULES, check};

fn main() {
    match document() {
        Some(document) => print!("{document}"),
        None => {
            eprintln!("error: no tool lists in {}", root().join(LISTS).display());
            std::process::exit(1);
        }
    }
}

const LISTS: &str = "../shared/reference/mcp-tools";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Files of a folder, by name.
fn files(folder: &str) -> Option<Vec<(String, String)>> {
    let mut files: Vec<PathBuf> = fs::read_dir(root().join(folder))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let name = path.file_stem()?.to_string_lossy().into_owned();
            Some((name, fs::read_to_string(path).ok()?))
        })
        .collect()
}

/// How many tools files have, and what is found in them when they are offered together.
fn judged(files: &[(String, String)]) -> Option<(usize, Vec<Finding>)> {
    let papers: Vec<Paper<'_>> =
        files.iter().map(|(name, text)| Paper::read(name, text).ok()?).collect::<Option<_>>()?;
    let tools = papers.iter().map(Paper::len).sum();
    Some((tools, check(&[papers], &Policy::default())))
}

/// The page; nothing where the lists are not at hand.
pub(crate) fn document() -> Option<String> {
    let mut rows = Vec::new();
    for file in files(LISTS)? {
        let (tools, findings) = judged(std::slice::from_ref(&file))?;
        rows.push((file.0.clone(), tools, findings));
    }
    let (tools, findings) = judged(&files("examples/support/tools")?)?;
    rows.push(("examples/support".to_owned(), tools, findings));

    let mut out = INTRODUCTION.to_owned();
    out.push_str("| rule | level | finds |\n|---|---|---|\n");
    for rule in RULES {
        let mends = if rule.fixes { " `--fix` mends it." } else { "" };
        let _ = writeln!(
            out,
            "| [`{0}`](#{0}) | {1} | {2}{mends} |",
            rule.id,
            rule.level,
            cell(rule.finds)
        );
    }
    out.push_str(SETTINGS);
    table(&mut out, &rows);
    by_rule(&mut out, &rows);
    out.push_str("\n## The rules one by one\n");
    for rule in RULES {
        let _ = write!(
            out,
            "\n### {}\n\n{} {}\n\n*Why.* {}\n\n*Instead.* {}\n",
            rule.id,
            match rule.level {
                Level::Error => "An error.",
                Level::Warning => "A warning.",
                Level::Note => "A note.",
            },
            rule.finds,
            rule.why,
            rule.instead
        );
    }
    Some(out)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

type Row = (String, usize, Vec<Finding>);

fn table(out: &mut String, rows: &[Row]) {
    out.push_str(
        "| server | tools | errors | warnings | notes | by rule |\n|---|---:|---:|---:|---:|---|\n",
    );
    let count = |findings: &[Finding], level| findings.iter().filter(|f| f.level == level).count();
    let mut sums = [0; 4];
    for (server, tools, findings) in rows {
        let counts = [Level::Error, Level::Warning, Level::Note].map(|l| count(findings, l));
        for (sum, count) in sums.iter_mut().zip([*tools, counts[0], counts[1], counts[2]]) {
            *sum += count;
        }
        let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in findings {
            *by_rule.entry(finding.rule).or_default() += 1;
        }
        let mut by_rule: Vec<(&str, usize)> = by_rule.into_iter().collect();
        by_rule.sort_by_key(|(rule, count)| (std::cmp::Reverse(*count), *rule));
        let told: Vec<String> =
            by_rule.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        let [errors, warnings, notes] = counts;
        let _ = writeln!(
            out,
            "| {server} | {tools} | {errors} | {warnings} | {notes} | {} |",
            told.join(", ")
        );
    }
    let [tools, errors, warnings, notes] = sums;
    let _ = writeln!(out, "| all | {tools} | {errors} | {warnings} | {notes} | |");
}

/// One finding of each rule, in full.
fn by_rule(out: &mut String, rows: &[Row]) {
    out.push_str("\nOne of each:\n\n");
    for rule in RULES {
        let first = rows
            .iter()
            .flat_map(|(server, _, findings)| findings.iter().map(move |f| (server, f)))
            .find(|(_, finding)| finding.rule == rule.id);
        let Some((server, finding)) = first else { continue };
        let of = finding.tool.as_ref().map_or(server.clone(), |tool| format!("{server}, {tool}"));
        let _ = writeln!(
            out,
            "- `{}` ({of}, line {}): {}. *{}*",
            rule.id, finding.line, finding.message, finding.suggestion
        );
    }
}

const INTRODUCTION: &str = "\
# Lints

Written by `cargo run -p callgate-contract --example lints > docs/lints.md`; a test compares.

`callgate check` finds two kinds of things. *Mistakes* keep a file from being loaded: they are told with line and column,
and nothing runs with them. *Findings* are about what can be loaded and will still go wrong: a description that says
nothing, a schema that no value fits, a secret in a text. Each finding has a rule with a stable id, a level, a place, the
reason why it matters, and what to write instead. `callgate check --explain RULE` says the same as this page.

Rules say only what they can stand for: what is proved from the schemas, or a wording without a second reading. A near
miss is left alone.

It judges contracts, a project (`agent.json`), and what other programs write: an MCP `tools/list` result, arrays of
OpenAI (Chat Completions, Responses), Anthropic or MCP tools, Gemini function declarations. What a project's MCP servers
tell is judged as `callgate.lock` pins it, at its place there and under the catalog's names; nothing is started for it, and
`--fix` leaves the lock alone.

## The rules

";

const SETTINGS: &str = r#"
Errors make `check` exit with 2, as mistakes do; `--deny warnings` and `--deny notes` make the others count too.

## Meant to be so

In the contract, for the tool itself:

```json
"lint": { "allow": [ { "rule": "object-open", "reason": "The search takes any field of the index." } ] }
```

For tools that are discovered, in `callgate.check.json` beside `agent.json` (or `--config FILE`; its schema is
`callgate schema check`):

```json
{
  "levels": { "output-missing": "off", "object-open": "error" },
  "allow": [ { "rule": "description-thin", "tools": "git_*", "reason": "The server is not ours." } ]
}
```

A reason must be given. What allows nothing is found itself (`allow-unused`).

## What is mended

`--fix` mends only what cannot change the meaning: the gates admit the same as before, and every word that a person can
see stays. Names, enum values and patterns are never touched, even where they hold hidden characters, and no object is
closed: that would refuse calls that were admitted.

## What is found in real tools

The tool lists of 13 public MCP servers, as they were captured, and `examples/support`. Many findings are one habit: zod
and pydantic leave objects open, and few servers have output schemas yet.

"#;
