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
        book::Exported,
        runfile::{self, Mask, file_name},
    },
    machine::inspect::inspect,
    model::PROVIDERS,
    server::ui,
};
use serde_json::json;

use super::{Book, cli::Export};
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
    let mut named = variables(&export.within.project.dir);
    for run in &runs {
        named.extend(book.runs.variables(run)?);
    }
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let keys = PROVIDERS.iter().flat_map(|provider| provider.key_vars.iter().copied());
    let mask = Mask::of_env(named.iter().map(String::as_str).chain(keys), value);
    let last = runs.len().saturating_sub(1);
    for (i, run) in runs.iter().enumerate() {
        let Exported { bytes, gone, harmed } = book.runs.export(run, &mask)?;
        for hash in gone {
            eprintln!(
                "warning: the contracts {hash} of {run} are gone; it cannot be replayed elsewhere"
            );
        }
        for hash in harmed {
            eprintln!(
                "warning: the contracts {hash} of {run} are no catalog in the journal; the file has \
                 them as they are kept, and the run cannot be replayed with them \
                 (`callgate runs verify` examines the journal)"
            );
        }
        let bytes = if export.html { page(&book, run, &bytes, &mask)? } else { bytes };
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
            (true, _) => export.output.join(name(export, run)),
            (false, true) => export.output.clone(),
            (false, false) => export.output.with_file_name(name(export, run)),
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

fn name(export: &Export, run: &str) -> PathBuf {
    let name = PathBuf::from(file_name(run));
    if export.html { name.with_extension("html") } else { name }
}

/// The run with the viewer round it, and what the machine works out of it.
fn page(book: &Book, run: &str, bytes: &[u8], mask: &Mask) -> Result<Vec<u8>, Failure> {
    let inspection = match book.runs.folded(run) {
        Ok((records, folded)) => json!(inspect(&records, &folded)),
        Err(error) => {
            // Its events can be looked at all the same.
            eprintln!("warning: {run} cannot be looked into: {error}");
            json!({})
        }
    };
    let inspection = inspection.to_string();
    let goal = json!(book.runs.summary(run)?.goal).to_string();
    let goal: String = serde_json::from_str(&mask.apply(&goal)).unwrap_or_default();
    let title = if goal.is_empty() { run } else { &goal };
    let text = String::from_utf8_lossy(bytes);
    let page = ui::page_of_run(&text, &mask.apply(&inspection), title)
        .map_err(|error| Failure::configuration("no_inspector", error.to_string()))?;
    Ok(page.into_bytes())
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

/// The variables that a project's files name: their values are secrets as far as anybody can know.
pub(crate) fn variables(project: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
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
            runfile::variables(&text, &mut names);
            if let Ok(spec) = serde_json::from_str::<callgate::machine::Agent>(&text) {
                let local =
                    spec.agents.values().filter_map(callgate::machine::agent::Delegate::local);
                folders.extend(local.map(|agent| folder.join(agent.path)));
            }
        }
    }
    names
}
