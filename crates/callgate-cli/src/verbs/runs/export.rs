//! `callgate runs export ID…`: a run as one file, secrets masked.
//!
//! What is looked for: the values of the variables that the project's files name as `${NAME}`, and
//! of those that hold providers' keys.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate::{
    engine::{
        Journal as _,
        runfile::{self, Header, Mask},
    },
    model::PROVIDERS,
};
use serde_json::{Map, Value};

use super::{
    Book,
    cli::Export,
    recording::{DOCUMENTS, hashes},
};
use crate::{exit::Exit, failure::Failure};

pub(super) fn go(export: &Export) -> Result<Exit, Failure> {
    let book = Book::open(&export.within)?;
    let mut runs: Vec<Arc<str>> = Vec::new();
    for id in &export.ids {
        let run = book.find(id)?;
        if export.with_delegates {
            runs.extend(book.delegates(&run)?.into_iter().map(|child| child.run));
        }
        runs.push(run);
    }
    let to_out = export.output == Path::new("-");
    let is_folder = export.output.is_dir();
    if !is_folder && (export.ids.len() > 1 || (to_out && export.with_delegates)) {
        let message = "several runs are several files";
        return Err(Failure::configuration("several_runs", message)
            .hint("Give a folder that is there: -o exports"));
    }
    let named = secret_names(&book, &runs, &export.within.project.dir)?;
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let keys = PROVIDERS.iter().flat_map(|provider| provider.key_vars.iter().copied());
    let mask = Mask::of_env(named.iter().map(String::as_str).chain(keys), value);
    let last = runs.len().saturating_sub(1);
    for (i, run) in runs.iter().enumerate() {
        let bytes = written(&book, run, &mask)?;
        if to_out {
            use io::Write as _;
            let mut out = io::stdout().lock();
            out.write_all(&bytes).and_then(|()| out.flush()).map_err(|e| match e.kind() {
                io::ErrorKind::BrokenPipe => Failure::unread(),
                _ => Failure::io("cannot write to standard output", &e),
            })?;
            continue;
        }
        let path = match (is_folder, i == last) {
            (true, _) => export.output.join(file_name(run)),
            (false, true) => export.output.clone(),
            (false, false) => export.output.with_file_name(file_name(run)),
        };
        write(&path, &bytes)?;
        eprintln!("{run} is in {}", path.display());
    }
    let unset: Vec<&str> =
        named.iter().map(String::as_str).filter(|name| value(name).is_none()).collect();
    if !unset.is_empty() {
        eprintln!(
            "warning: not set here, so their values were not looked for: {}",
            unset.join(", ")
        );
    }
    if !mask.too_short().is_empty() {
        let names = mask.too_short().join(", ");
        eprintln!("warning: too short to be looked for, so not masked: {names}");
    }
    Ok(Exit::Done)
}

/// Written whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let unwritable = |e| Failure::io(&format!("cannot write {}", path.display()), &e);
    let folder = path.parent().filter(|p| *p != Path::new("")).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    io::Write::write_all(&mut file, bytes).map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(())
}

fn written(book: &Book, run: &str, mask: &Mask) -> Result<Vec<u8>, Failure> {
    let records = book.records(run)?;
    let agent = book.summary(run)?.agent;
    let mut catalog: Vec<Value> = Vec::new();
    let mut documents = Map::new();
    for (i, hash) in hashes(&records).iter().enumerate() {
        let Some(text) = book.journal.kept(hash)? else {
            eprintln!(
                "warning: the contracts {hash} of {run} are gone; it cannot be replayed elsewhere"
            );
            continue;
        };
        let parsed: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        // What stands in the header already is not said twice.
        let is_same = i == 0 && serde_json::to_string(&parsed).is_ok_and(|again| *again == *text);
        if i == 0 {
            catalog = parsed;
        }
        if !is_same {
            documents.insert(hash.to_string(), Value::from(&*text));
        }
    }
    let mut header = Header::new(run, &agent, catalog);
    if !documents.is_empty() {
        header.more.insert(DOCUMENTS.to_owned(), documents.into());
    }
    let lines = book.journal.lines(run)?;
    let mut bytes = Vec::new();
    runfile::write(&mut bytes, header, &lines, mask)
        .map_err(|error| Failure::new(Exit::Internal, "run_file", error.to_string()))?;
    Ok(bytes)
}

/// A file's name for a run: ids of calls may hold anything.
pub(super) fn file_name(run: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    format!("{}.jsonl", run.chars().map(plain).collect::<String>())
}

/// The variables that a project's files name: their values are secrets as far as anybody can know.
fn secret_names(
    book: &Book,
    runs: &[Arc<str>],
    project: &Path,
) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for run in runs {
        for hash in hashes(&book.records(run)?) {
            if let Some(text) = book.journal.kept(&hash)? {
                named_in(&text, &mut names);
            }
        }
    }
    // Servers and agents are told in these; tools stand in the catalogs.
    let mut folders = vec![project.to_owned()];
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        if !seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone())) {
            continue;
        }
        for file in ["agent.json", ".mcp.json", "callgate.lock"] {
            // A project that is gone has no more to say.
            let Ok(text) = fs::read_to_string(folder.join(file)) else { continue };
            named_in(&text, &mut names);
            if let Ok(spec) = serde_json::from_str::<callgate::machine::Agent>(&text) {
                folders.extend(spec.agents.values().map(|agent| folder.join(&agent.spec().path)));
            }
        }
    }
    Ok(names)
}

/// The names in `${NAME}`, and in `${NAME:-default}`.
fn named_in(text: &str, names: &mut BTreeSet<String>) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for part in text.split("${").skip(1) {
        let name: String = part.chars().take_while(|c| is_name(*c)).collect();
        let rest = &part[name.len()..];
        if !name.is_empty() && (rest.starts_with('}') || rest.starts_with(":-")) {
            names.insert(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_variables() {
        let mut names = BTreeSet::new();
        named_in("${A}/${B_2:-x} ${} ${C-x} $D ${É} ${E", &mut names);
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["A", "B_2"]);
    }

    #[test]
    fn names_of_files() {
        assert_eq!(file_name("run-1.call/../é"), "run-1.call_..__.jsonl");
    }
}
