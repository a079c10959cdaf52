//! `callgate export`: tools in the words of others, and what those words cannot hold.
//!
//! The text goes to standard output or a file; every loss goes to standard error. The gate holds
//! all of the contract either way. Providers' definitions are made by [`provider`], everything else
//! by the exporters of the library.

mod provider;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate::contract::{
    Catalog, Mode, Tool,
    export::{ExportError, Exporter, Loss, Options},
};
use serde_json::{Value, json};

use super::catalogs;
use crate::{
    cli::{DenyExport, Export, ExportTo, InDir, Opened},
    exit::Exit,
    failure::Failure,
    out, project,
    show::{screen::Screen, words},
};

/// The most losses that a person is told; programs get all of them.
const MOST_LOSSES: usize = 100;

pub(super) fn go(export: &Export) -> Result<Exit, Failure> {
    let (all, agent) = catalog(export)?;
    let chosen = chosen(&all, &export.tools)?;
    let made = match export.to {
        ExportTo::Provider(provider) => provider::write(provider, &all, &chosen, export)?,
        ExportTo::Catalog(exporter) => whole(exporter, &chosen, agent, export)?,
    };
    let path = export
        .out
        .as_deref()
        .map(|out| if out.is_dir() { out.join(&*made.file) } else { out.to_owned() });
    if let Some(path) = &path {
        write(path, &made.text)?;
    }
    if export.json {
        out::line(&report(export, &made, path.as_deref(), chosen.len()).to_string())?;
    } else {
        if path.is_none() {
            out::line(made.text.trim_end_matches('\n'))?;
        }
        tell(&made, path.as_deref());
    }
    let is_denied = export.deny == Some(DenyExport::Losses) && !made.losses.is_empty();
    Ok(if is_denied { Exit::Found } else { Exit::Done })
}

/// A text, and what is to be said of it.
struct Made {
    text: String,
    /// What its file is usually called.
    file: String,
    losses: Vec<Loss>,
    /// What is no loss: names on the wire.
    notes: Vec<String>,
    /// Whether losses are told without the tool's name, there being only one.
    is_one: bool,
}

/// The catalog, and the name of the agent that has it.
fn catalog(export: &Export) -> Result<(Catalog, Option<String>), Failure> {
    if let Some(path) = &export.from {
        return Ok((catalogs::read(path)?, None));
    }
    let opened = Opened { project: InDir { dir: export.project.dir.clone() }, frozen: true };
    let project = project::read(&opened, &Arc::new(Screen::stderr()))?;
    let unpinned = project.unpinned();
    project::tell_unpinned(unpinned.iter().map(|server| &**server.name()), export.json);
    Ok((project.catalog().clone(), Some(project.spec().name.clone())))
}

fn chosen(all: &Catalog, names: &[String]) -> Result<Catalog, Failure> {
    if all.is_empty() {
        let failure = Failure::configuration("no_tools", "there are no tools to export");
        return Err(failure.hint(
            "\"tools\" in agent.json names contract files; --from PATH takes tools from elsewhere.",
        ));
    }
    if names.is_empty() {
        return Ok(all.clone());
    }
    names.iter().map(|name| named(all, name).map(|tool| Tool::clone(tool))).collect()
}

fn named<'c>(catalog: &'c Catalog, name: &str) -> Result<&'c Arc<Tool>, Failure> {
    catalog.resolve(name, Mode::Strict).map(|(tool, _)| tool).map_err(|fault| {
        let known = catalog.names().join(", ");
        let message = format!("there is no tool {name:?}; there are: {known}");
        let failure = Failure::configuration("unknown_tool", message);
        match fault.suggestion {
            Some(near) => failure.hint(format!("Did you mean {near:?}?")),
            None => failure,
        }
    })
}

/// What the library's exporters write.
fn whole(
    exporter: &Exporter,
    catalog: &Catalog,
    agent: Option<String>,
    export: &Export,
) -> Result<Made, Failure> {
    if export.strict {
        let message = format!("--strict is for providers, and {} is none", exporter.name);
        return Err(Failure::configuration("usage", message));
    }
    let usual = Options::default();
    let options = Options {
        title: export.title.clone().or(agent).unwrap_or(usual.title),
        description: export.description.clone().unwrap_or(usual.description),
        version: version(exporter, export)?.unwrap_or(usual.version),
        url: export.url.clone(),
        name: export.name.clone(),
        extension: export.extension.clone(),
    };
    let made = exporter.export(catalog, &options).map_err(|error| unusable(&error))?;
    Ok(Made {
        text: made.text,
        file: exporter.file.to_owned(),
        losses: made.losses,
        notes: Vec::new(),
        is_one: false,
    })
}

/// The version of the whole. A registry keeps it for ever, so none is made up for one.
fn version(exporter: &Exporter, export: &Export) -> Result<Option<String>, Failure> {
    if export.package_version.is_none() && exporter.name == "mcp-server-json" {
        let message = format!("{} needs --package-version", exporter.name);
        return Err(Failure::configuration("missing_option", message)
            .hint("An exact version, no range: --package-version 1.4.0"));
    }
    Ok(export.package_version.clone())
}

/// In the words of the command line.
fn unusable(error: &ExportError) -> Failure {
    let flag = |option: &str| match option {
        "version" => "--package-version".to_owned(),
        other => format!("--{other}"),
    };
    match error {
        ExportError::Missing { exporter, option, hint } => {
            let message = format!("{exporter} needs {}", flag(option));
            Failure::configuration("missing_option", message).hint(capital(hint))
        }
        ExportError::Unusable { exporter, option, value, hint } => {
            let message = format!("{exporter}: {} {value:?} cannot be used", flag(option));
            Failure::configuration("bad_option", message).hint(capital(hint))
        }
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Says on standard error what came of it.
fn tell(made: &Made, path: Option<&Path>) {
    use io::Write as _;
    let mut lines: Vec<String> = Vec::new();
    lines.extend(path.map(|path| format!("written to {}", path.display())));
    lines.extend(made.notes.iter().cloned());
    let losses = made.losses.iter().take(MOST_LOSSES);
    lines.extend(
        losses.map(|loss| if made.is_one { provider::alone(loss) } else { loss.to_string() }),
    );
    match made.losses.len() {
        0 if made.notes.is_empty() => lines.push("nothing is lost".to_owned()),
        n if n > MOST_LOSSES => {
            let more = words::count(n - MOST_LOSSES, "loss").replace("losss", "losses");
            lines.push(format!("and {more} more; --json has all of them"));
        }
        _ => {}
    }
    let mut err = io::stderr().lock();
    for line in lines {
        // A closed standard error is nobody's concern.
        let _ = writeln!(err, "{}", words::clean(&line));
    }
}

fn report(export: &Export, made: &Made, path: Option<&Path>, tools: usize) -> Value {
    let mut report = json!({
        "to": export.to.name(),
        "tools": tools,
        "losses": made.losses,
        "notes": made.notes,
    });
    match path {
        Some(path) => report["file"] = json!(path.display().to_string()),
        None => report["text"] = json!(made.text),
    }
    report
}

/// Written whole or not at all. It is made from contracts, so what was there may go.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let unwritable =
        |error: &io::Error| Failure::io(&format!("cannot write {}", path.display()), error);
    let folder: PathBuf = match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&folder).map_err(|error| unwritable(&error))?;
    let mut file = out::temporary(&folder).map_err(|error| unwritable(&error))?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(|error| unwritable(&error))?;
    file.persist(path).map_err(|error| unwritable(&error.error))?;
    Ok(())
}
