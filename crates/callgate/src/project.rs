//! An agent in files: `agent.json` and the contracts it names.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate_contract::{Catalog, Mistake, Tool, catalog::Source, schema::Schema};
use callgate_machine::{Agent as Spec, agent::AnswerRef, event::AnswerSchema};
use callgate_tool::{Backend, Backends, Env, process_env};
use serde_json::Value;

use crate::{Agent, AgentBuilder, Error};

/// A project as it stands on disk, read and judged.
#[derive(Clone)]
pub struct Project {
    dir: PathBuf,
    spec: Spec,
    catalog: Catalog,
    backends: Vec<(Arc<str>, Arc<dyn Backend>)>,
    answer: Option<AnswerSchema>,
}

/// Why a project's files cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// There is no `agent.json`.
    #[error("no agent.json in {}: run `callgate init` there, or name another folder with -C", .0.display())]
    NoAgent(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Project {
    /// Reads the project in a folder, with the process's environment for its tools.
    ///
    /// # Errors
    /// No `agent.json`, or mistakes in any of the files: all of them.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(dir, &Backends::builtin(), &process_env())
    }

    /// Reads the project with other backends or another environment.
    ///
    /// # Errors
    /// No `agent.json`, or mistakes in any of the files: all of them.
    pub fn open_with(dir: impl AsRef<Path>, backends: &Backends, env: &Env) -> Result<Self, Error> {
        let dir = dir.as_ref().to_path_buf();
        let path = dir.join("agent.json");
        if !path.is_file() {
            return Err(ProjectError::NoAgent(dir).into());
        }
        let text = read(&path)?;
        let shown = shown(&path);
        let mut mistakes = Vec::new();
        let spec = Spec::read(&shown, &text).unwrap_or_else(|found| {
            mistakes.extend(found);
            // What can be read of it is enough to judge the other files as well.
            serde_json::from_str(&text).unwrap_or_default()
        });
        let at = |pointer: &str, message: String, hint: Option<String>| {
            Source::parse(&shown, &text)
                .map_or_else(|mistake| mistake, |source| source.mistake(pointer, message, hint))
        };
        let mut files = Vec::new();
        for (i, pattern) in spec.tools.iter().enumerate() {
            match matching(&dir, pattern) {
                Ok(found) if found.is_empty() => mistakes.push(at(
                    &format!("/tools/{i}"),
                    format!("no file matches \"{pattern}\""),
                    Some("Paths are relative to agent.json.".to_owned()),
                )),
                Ok(found) => files.extend(found),
                Err(why) => mistakes.push(at(&format!("/tools/{i}"), why, None)),
            }
        }
        files.sort();
        files.dedup();
        let loaded = load_tools(&files, backends, env)?;
        mistakes.extend(loaded.mistakes);
        let answer = match &spec.answer {
            None => None,
            Some(reference) => match answer_schema(&dir, reference) {
                Ok(schema) => Some(AnswerSchema { schema, tool: None }),
                Err(AnswerFault::Here(message)) => {
                    mistakes.push(at("/answer", message, None));
                    None
                }
                Err(AnswerFault::There(found)) => {
                    mistakes.extend(found);
                    None
                }
            },
        };
        if !mistakes.is_empty() {
            return Err(Error::Contracts(mistakes));
        }
        Ok(Self { dir, spec, catalog: loaded.catalog, backends: loaded.backends, answer })
    }

    /// The contract files that a folder's `agent.json` names, whether they can be loaded or not.
    ///
    /// # Errors
    /// No `agent.json`, or one that cannot be read.
    pub fn contract_files(dir: impl AsRef<Path>) -> Result<Vec<PathBuf>, Error> {
        let dir = dir.as_ref();
        let path = dir.join("agent.json");
        if !path.is_file() {
            return Err(ProjectError::NoAgent(dir.to_owned()).into());
        }
        let named: Value = serde_json::from_str(&read(&path)?).unwrap_or_default();
        let patterns = named.get("tools").and_then(Value::as_array);
        let patterns = patterns.into_iter().flatten().filter_map(Value::as_str);
        let mut files: Vec<PathBuf> =
            patterns.filter_map(|pattern| matching(dir, pattern).ok()).flatten().collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The agent's specification.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The contracts.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Who does the work of a tool.
    pub fn backend(&self, tool: &str) -> Option<&Arc<dyn Backend>> {
        self.backends.iter().find(|(name, _)| &**name == tool).map(|(_, backend)| backend)
    }

    /// The answer's schema, resolved.
    pub fn answer(&self) -> Option<&AnswerSchema> {
        self.answer.as_ref()
    }

    /// The project as an agent to be completed with a model.
    pub fn agent(&self) -> AgentBuilder {
        let mut builder =
            Agent::builder().spec(self.spec.clone()).answer_schema(self.answer.clone());
        for (name, backend) in &self.backends {
            if let Some(tool) = self.catalog.get(name) {
                builder = builder.contract(Tool::clone(tool), backend.clone());
            }
        }
        builder
    }
}

/// Contracts read from files, and what is wrong with the others.
pub(crate) struct Loaded {
    pub catalog: Catalog,
    pub backends: Vec<(Arc<str>, Arc<dyn Backend>)>,
    pub mistakes: Vec<Mistake>,
}

/// Reads contract files and makes their backends.
pub(crate) fn load_tools(
    files: &[PathBuf],
    builtin: &Backends,
    env: &Env,
) -> Result<Loaded, Error> {
    let mut texts = Vec::new();
    for file in files {
        texts.push((shown(file), read(file)?, file.parent().unwrap_or(Path::new(".")).to_owned()));
    }
    let named = texts.iter().map(|(name, text, _)| (name.as_str(), text.as_str()));
    let (catalog, mut mistakes) = Catalog::load_what_is_right(named);
    let mut backends = Vec::new();
    for tool in catalog.tools() {
        let Some((name, text, folder)) = texts.iter().find(|(name, _, _)| *name == *tool.source)
        else {
            continue;
        };
        match builtin.build(&tool.backend, folder, env.clone()) {
            Ok(backend) => {
                if let Ok(source) = Source::parse(name, text) {
                    mistakes.extend(misread(tool, &*backend, &source));
                }
                backends.push((tool.name.clone(), backend));
            }
            Err(error) => {
                if let Ok(source) = Source::parse(name, text) {
                    let pointer = format!("/backend{}", error.pointer());
                    mistakes.push(source.mistake(&pointer, error.to_string(), None));
                }
            }
        }
    }
    Ok(Loaded { catalog, backends, mistakes })
}

/// Placeholders of a backend that no argument could ever fill: a slip that would drop the
/// parameter at every call without a word.
fn misread(tool: &Tool, backend: &dyn Backend, source: &Source<'_>) -> Vec<Mistake> {
    let schema = tool.input.value();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    backend
        .reads()
        .into_iter()
        .filter_map(|read| {
            let name = read.argument.trim_start_matches('/').split('/').next()?.to_owned();
            let near = callgate_contract::nearest(&name, &known);
            if properties.contains_key(&name) || (!is_closed && near.is_none()) {
                return None;
            }
            let hint = match near {
                Some(near) => format!("Did you mean \"{{{near}}}\"?"),
                None => format!("The input has: {}.", known.join(", ")),
            };
            let message = format!("the input has no property \"{name}\"");
            Some(source.mistake(&format!("/backend{}", read.at), message, Some(hint)))
        })
        .collect()
}

impl Project {
    /// Judges contract files by themselves, as `callgate check` does.
    ///
    /// # Errors
    /// A file cannot be read, or has mistakes: all of them.
    pub fn check(files: &[PathBuf]) -> Result<Catalog, Error> {
        let loaded = load_tools(files, &Backends::builtin(), &process_env())?;
        if loaded.mistakes.is_empty() {
            Ok(loaded.catalog)
        } else {
            Err(Error::Contracts(loaded.mistakes))
        }
    }
}

enum AnswerFault {
    Here(String),
    There(Vec<Mistake>),
}

fn answer_schema(dir: &Path, reference: &AnswerRef) -> Result<Value, AnswerFault> {
    match reference {
        AnswerRef::Inline(schema) => {
            let schema = Value::Object(schema.clone());
            Schema::compile(schema.clone()).map_err(|faults| {
                let told: Vec<String> =
                    faults.iter().map(|f| format!("{} (at {})", f.message, f.pointer)).collect();
                AnswerFault::Here(told.join("; "))
            })?;
            Ok(schema)
        }
        AnswerRef::Path(path) => {
            let path = dir.join(path);
            let text = fs::read_to_string(&path)
                .map_err(|e| AnswerFault::Here(format!("cannot read {}: {e}", path.display())))?;
            let name = shown(&path);
            let source = Source::parse(&name, &text).map_err(|m| AnswerFault::There(vec![m]))?;
            let schema = source.doc.root().to_value();
            Schema::compile(schema.clone()).map_err(|faults| {
                AnswerFault::There(
                    faults
                        .into_iter()
                        .map(|f| source.mistake(&f.pointer, f.message, f.hint))
                        .collect(),
                )
            })?;
            Ok(schema)
        }
    }
}

fn matching(dir: &Path, pattern: &str) -> Result<Vec<PathBuf>, String> {
    let joined = dir.join(pattern);
    let Some(pattern) = joined.to_str() else {
        return Err(format!("\"{pattern}\" is no readable path"));
    };
    let found = glob::glob(pattern).map_err(|e| e.to_string())?;
    Ok(found.filter_map(Result::ok).filter(|path| path.is_file()).collect())
}

fn read(path: &Path) -> Result<String, ProjectError> {
    fs::read_to_string(path).map_err(|source| ProjectError::Read { path: path.to_owned(), source })
}

/// A path as people see it: without a leading `./`.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.strip_prefix("./").map(str::to_owned).unwrap_or(text)
}
