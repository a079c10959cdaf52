//! What was imported and what was not, as a table and as JSON.

use std::env;

use callgate::contract::import::openapi::Note;
use serde_json::{Value, json};

use super::{
    Item, Made,
    plan::{Plan, Planned, State, shown},
};
use crate::{
    cli::Writing,
    failure::Failure,
    out,
    show::{paint::Paint, words},
};

/// The most rows of a kind that a person is shown; programs get all of them.
const MOST_ROWS: usize = 200;
/// The most notes.
const MOST_NOTES: usize = 40;

pub(super) fn say(made: &Made, plan: &Plan<'_>, writing: &Writing) -> Result<(), Failure> {
    if writing.json {
        return out::line(&to_json(made, plan, writing).to_string());
    }
    let paint = Paint::stdout();
    let (imported, all) = (plan.files().len(), made.items.len());
    let would = if writing.dry_run { "would be imported" } else { "imported" };
    out::line(&format!(
        "{}: {} of {} {would} into {}",
        paint.bold(words::clean(&made.title)),
        words::figure(imported as u64),
        words::count(all, made.noun),
        plan.folder()
    ))?;
    files(made, plan, writing)?;
    let skipped: Vec<String> = made
        .items
        .iter()
        .filter_map(|item| Some((item, item.outcome.as_ref().err()?)))
        .map(|(item, why)| {
            format!("{}: {}", words::short(&item.of, 100), words::short(&words::shown(why), 400))
        })
        .collect();
    section("Not imported", &skipped, MOST_ROWS)?;
    let mut notes: Vec<String> = plan
        .clashes()
        .iter()
        .map(|clash| format!("{} is the name of {} as well", clash.name, clash.taken_by))
        .collect();
    notes.extend(made.items.iter().flat_map(|item| {
        item.notes.iter().map(|note| format!("{}: {}", words::short(&item.of, 100), told(note)))
    }));
    notes.extend(made.notes.iter().map(told));
    section("Notes", &notes, MOST_NOTES)?;
    let width = made.environment.iter().map(|variable| variable.name.len()).max().unwrap_or(0);
    let environment: Vec<String> = made
        .environment
        .iter()
        .map(|variable| {
            let is_set = if is_set(&variable.name) { "  (is set here)" } else { "" };
            format!("{:width$}  {}{is_set}", variable.name, words::clean(&variable.holds))
        })
        .collect();
    section("Set where the tools run", &environment, MOST_ROWS)?;
    section("Next", &next(made, plan, writing), MOST_ROWS)
}

/// A row for each contract.
fn files(made: &Made, plan: &Plan<'_>, writing: &Writing) -> Result<(), Failure> {
    let rows = &plan.files()[..plan.files().len().min(MOST_ROWS)];
    let width = |of: &dyn Fn(&Planned<'_>) -> String| {
        rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0).min(48)
    };
    let name = |row: &Planned<'_>| words::short(&words::shown(&row.draft.name), 64);
    let of = |row: &Planned<'_>| words::short(&made.items[row.item].of, 64);
    let (names, froms) = (width(&name), width(&of));
    for row in rows {
        let state = match (row.state, writing.force) {
            (State::New, _) => "",
            (State::Unchanged, _) => "  (unchanged)",
            (State::Differs, true) => "  (written over)",
            (State::Differs, false) => "  (differs)",
        };
        out::line(&format!(
            "  {:names$}  {:froms$}  {}{state}",
            name(row),
            of(row),
            shown(&row.path)
        ))?;
    }
    more(plan.files().len(), MOST_ROWS)
}

fn section(title: &str, rows: &[String], most: usize) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    out::line(&format!("\n{}", Paint::stdout().bold(title)))?;
    for row in rows.iter().take(most) {
        out::line(&format!("  {row}"))?;
    }
    more(rows.len(), most)
}

fn more(rows: usize, most: usize) -> Result<(), Failure> {
    match rows.checked_sub(most) {
        None | Some(0) => Ok(()),
        Some(more) => {
            out::line(&format!("  and {} more; --json has all of them", words::figure(more as u64)))
        }
    }
}

fn told(note: &Note) -> String {
    let message = words::short(&words::shown(&note.message), 400);
    if note.pointer.is_empty() {
        message
    } else {
        format!("{message} (at {})", words::short(&words::shown(&note.pointer), 200))
    }
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn next(made: &Made, plan: &Plan<'_>, writing: &Writing) -> Vec<String> {
    if plan.files().is_empty() {
        return Vec::new();
    }
    let mut next = made.todo.clone();
    if writing.dry_run {
        return next;
    }
    if plan.is_unread(&writing.project.dir) {
        next.push(format!(
            "name them in agent.json: \"tools\": [\"{}/*.json\"], as seen from its folder",
            plan.folder()
        ));
    }
    next.push(format!("callgate check {}", plan.folder()));
    next
}

fn to_json(made: &Made, plan: &Plan<'_>, writing: &Writing) -> Value {
    let contracts: Vec<Value> = plan
        .files()
        .iter()
        .map(|file| {
            let Item { of, pointer, notes, .. } = &made.items[file.item];
            json!({
                "name": file.draft.name,
                "file": shown(&file.path),
                "state": match file.state {
                    State::New => "new",
                    State::Unchanged => "unchanged",
                    State::Differs => "differs",
                },
                "from": of,
                "pointer": pointer,
                "notes": notes,
            })
        })
        .collect();
    let skipped: Vec<Value> = made
        .items
        .iter()
        .filter_map(|item| Some((item, item.outcome.as_ref().err()?)))
        .map(|(item, why)| json!({ "from": item.of, "pointer": item.pointer, "why": why }))
        .collect();
    let clashes: Vec<Value> = plan.clashes().iter().map(|clash| clash.to_json()).collect();
    let environment: Vec<Value> = made
        .environment
        .iter()
        .map(|v| json!({ "name": v.name, "holds": v.holds, "isSet": is_set(&v.name) }))
        .collect();
    let mut report = json!({ "kind": made.kind });
    if let Value::Object(members) = &mut report {
        members.extend(made.about.clone());
        for (name, value) in [
            ("out", json!(plan.folder())),
            ("written", json!(!writing.dry_run)),
            ("contracts", contracts.into()),
            ("skipped", skipped.into()),
            ("notes", json!(made.notes)),
            ("clashes", clashes.into()),
            ("environment", environment.into()),
            ("next", json!(next(made, plan, writing))),
        ] {
            members.insert(name.to_owned(), value);
        }
    }
    report
}
