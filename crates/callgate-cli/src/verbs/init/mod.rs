//! `callgate init`: a project that works at once, to be edited.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    cli,
    exit::Exit,
    failure::Failure,
    model::{self, LOCAL},
    out,
};

const AGENT: &str = include_str!("agent.json");
const README: &str = include_str!("README.md");
const IGNORED: &str = ".callgate/";

/// The files that make a project: where, and what is in them.
const PROJECT: [(&str, &str); 3] = [
    ("agent.json", AGENT),
    ("tools/get_time.json", include_str!("get_time.json")),
    ("tools/get_time.py", include_str!("get_time.py")),
];

pub(super) fn go(init: &cli::Init) -> Result<Exit, Failure> {
    let dir = &init.dir;
    let there: Vec<&str> =
        PROJECT.iter().map(|(path, _)| *path).filter(|path| dir.join(path).exists()).collect();
    if !there.is_empty() && !init.force {
        let listed = there.join(", ");
        let message = format!("{} holds {listed} already; nothing was written", dir.display());
        return Err(Failure::configuration("exists", message)
            .hint("Choose another folder, or write over these files with --force."));
    }
    let name = name_of(dir);
    let (spec, why) = model_for_here();
    for (path, text) in PROJECT {
        let text = text.replace("{NAME}", &name).replace("{MODEL}", &spec);
        write(&dir.join(path), &text)?;
        let how = if there.contains(&path) { "  (was there, written over)" } else { "" };
        out::line(&format!("  {}{how}", shown(dir, path)))?;
    }
    // Not ours alone: what is there stays.
    if dir.join("README.md").exists() {
        out::line(&format!("  {}  (was there, left as it is)", shown(dir, "README.md")))?;
    } else {
        write(&dir.join("README.md"), &README.replace("{NAME}", &name))?;
        out::line(&format!("  {}", shown(dir, "README.md")))?;
    }
    if ignore(&dir.join(".gitignore"))? {
        out::line(&format!("  {}", shown(dir, ".gitignore")))?;
    }
    out::line(&format!("\nModel: {spec} ({why}). Change it in agent.json or with --model."))?;
    out::line("\nNext:")?;
    if dir != Path::new(".") {
        out::line(&format!("  cd {}", dir.display()))?;
    }
    if let Some(local) = spec.strip_prefix("local:") {
        out::line(&format!("  callgate model pull {local}"))?;
    }
    out::line("  callgate tools call get_time '{\"zone\": \"UTC\"}'")?;
    out::line("  callgate run \"What time is it in UTC?\"")?;
    Ok(Exit::Done)
}

/// By the keys that are set, else the model that needs none.
fn model_for_here() -> (String, String) {
    match model::registry().with_keys().next() {
        Some((provider, var)) => {
            (format!("{}:{}", provider.name, provider.example), format!("{var} is set"))
        }
        None => (LOCAL.to_owned(), "no provider's key is set, and this needs none".to_owned()),
    }
}

/// The folder's own name, as an agent's.
fn name_of(dir: &Path) -> String {
    let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let name = whole.file_name().map(|name| name.to_string_lossy().into_owned());
    let name: String = name
        .unwrap_or_default()
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "agent".to_owned() } else { name.to_owned() }
}

fn shown(dir: &Path, path: &str) -> String {
    if dir == Path::new(".") { path.to_owned() } else { dir.join(path).display().to_string() }
}

fn write(path: &PathBuf, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.map_err(|error| Failure::io(&format!("cannot write {}", path.display()), &error))
}

/// Adds the line that keeps runs out of the repository, where it is missing. Says whether it did.
fn ignore(path: &PathBuf) -> Result<bool, Failure> {
    let mut text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Failure::io(&format!("cannot read {}", path.display()), &error)),
    };
    if text.lines().any(|line| line.trim().trim_start_matches('/') == IGNORED) {
        return Ok(false);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(IGNORED);
    text.push('\n');
    write(path, &text)?;
    Ok(true)
}
