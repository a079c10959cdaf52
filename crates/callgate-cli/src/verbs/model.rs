//! `callgate model`: models that run in this process.

use crate::{cli::ModelVerb, exit::Exit, failure::Failure};

#[cfg(feature = "local")]
pub(super) use local::go;

#[cfg(not(feature = "local"))]
pub(super) fn go(_: &ModelVerb) -> Result<Exit, Failure> {
    Err(Failure::configuration("no_local_model", crate::model::NOT_LOCAL))
}

#[cfg(feature = "local")]
mod local {
    use std::{
        io::{self, IsTerminal as _, Write as _},
        path::Path,
        thread,
        time::Duration,
    };

    use callgate_local::store::{Cancel, Entry, Origin, Progress, Removed, Store, StoreError};
    use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
    use serde_json::{Value, json};

    use super::{Exit, Failure, ModelVerb};
    use crate::{out, signals::Signals, verbs::block_on};

    pub(in crate::verbs) fn go(verb: &ModelVerb) -> Result<Exit, Failure> {
        let store = Store::open().map_err(|error| failure(&error))?;
        match verb {
            ModelVerb::Pull { name } => pull(&store, name.as_deref()),
            ModelVerb::List { json } => list(&store, *json),
            ModelVerb::Rm { name } => rm(&store, name),
            ModelVerb::Add { file } => add(&store, file),
        }
    }

    /// Brings it in a thread of its own, so that a signal can stop it: what has come is kept.
    fn pull(store: &Store, name: Option<&str>) -> Result<Exit, Failure> {
        let name = name.map(|name| name.strip_prefix("local:").unwrap_or(name).to_owned());
        let store = store.clone();
        let cancel = Cancel::default();
        let pulled = block_on(async {
            let mut signals = Signals::listen().map_err(|e| Failure::io("cannot listen", &e))?;
            let (done, outcome) = tokio::sync::oneshot::channel();
            let stop = cancel.clone();
            thread::spawn(move || {
                let mut bar = Bar::new(name.as_deref().unwrap_or("the default model"));
                let mut progress = |progress: Progress<'_>| bar.show(progress);
                let pulled = match &name {
                    Some(name) => store.pull(name, &mut progress, &stop),
                    None => store.pull_default(&mut progress, &stop),
                };
                bar.clear();
                // Nobody waits any more after a second signal.
                let _ = done.send(pulled);
            });
            tokio::pin!(outcome);
            let ended = tokio::select! {
                ended = &mut outcome => ended,
                () = signals.next() => {
                    cancel.cancel();
                    tokio::select! {
                        ended = &mut outcome => ended,
                        () = signals.next() => return Err(failure(&StoreError::Cancelled)),
                    }
                }
            };
            ended.map_err(|_| {
                Failure::new(Exit::Internal, "internal", "the pull ended unexpectedly")
            })
        })?;
        let pulled = pulled.map_err(|error| failure(&error))?;
        if let Some((wanted, why)) = &pulled.instead_of {
            say(&format!("{wanted} could not be had ({why}); {} came instead", pulled.entry.name));
        }
        let how = if pulled.already { "was here already" } else { "is ready" };
        say(&format!("{} {how}: {}", pulled.entry.name, pulled.entry.path.display()));
        out::line(&format!("local:{}", pulled.entry.name))?;
        Ok(Exit::Done)
    }

    fn list(store: &Store, as_json: bool) -> Result<Exit, Failure> {
        let entries = store.list().map_err(|error| failure(&error))?;
        if as_json {
            let entries: Vec<Value> = entries.iter().map(to_json).collect();
            out::line(&Value::from(entries).to_string())?;
            return Ok(Exit::Done);
        }
        let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or_default();
        for entry in &entries {
            let state = match (entry.origin, entry.present) {
                (Origin::Manifest(_), true) => "here",
                (Origin::Manifest(_), false) => "to be pulled",
                (Origin::Added, true) => "added",
                (Origin::Added, false) => "its file is gone",
            };
            let size = megabytes(entry.size);
            let about = about(entry);
            out::line(&format!("local:{:width$}  {size:>8}  {state:16}  {about}", entry.name))?;
        }
        Ok(Exit::Done)
    }

    fn about(entry: &Entry) -> String {
        match entry.origin {
            Origin::Manifest(source) => format!("{} ({})", source.about, source.license),
            Origin::Added => entry.path.display().to_string(),
        }
    }

    fn to_json(entry: &Entry) -> Value {
        let mut value = json!({
            "name": entry.name,
            "model": format!("local:{}", entry.name),
            "path": entry.path,
            "bytes": entry.size,
            "present": entry.present,
            "verified": entry.verified,
        });
        match entry.origin {
            Origin::Manifest(source) => {
                value["about"] = json!(source.about);
                value["license"] = json!(source.license);
                value["sha256"] = json!(source.sha256);
                value["origin"] = json!("manifest");
            }
            Origin::Added => value["origin"] = json!("added"),
        }
        value
    }

    fn rm(store: &Store, name: &str) -> Result<Exit, Failure> {
        let name = name.strip_prefix("local:").unwrap_or(name);
        match store.rm(name).map_err(|error| failure(&error))? {
            Removed::Deleted { path, bytes } => {
                say(&format!("{} deleted, {} freed", path.display(), megabytes(bytes)));
            }
            Removed::Forgotten { path } => {
                say(&format!("{name} forgotten; the file stays at {}", path.display()));
            }
        }
        Ok(Exit::Done)
    }

    fn add(store: &Store, file: &Path) -> Result<Exit, Failure> {
        let (entry, _) = store.add(file).map_err(|error| failure(&error))?;
        say(&format!("{} stays where it is and goes by a name now", entry.path.display()));
        out::line(&format!("local:{}", entry.name))?;
        Ok(Exit::Done)
    }

    fn megabytes(bytes: u64) -> String {
        format!("{} MB", bytes / 1_000_000)
    }

    fn failure(error: &StoreError) -> Failure {
        let text = error.to_string();
        let (exit, code) = match error {
            StoreError::Unknown { .. } => (Exit::Configuration, "unknown_model"),
            StoreError::NotPulled { .. } => (Exit::Configuration, "model_not_pulled"),
            StoreError::NoFile(_) | StoreError::Gone { .. } => (Exit::Configuration, "no_file"),
            StoreError::NameTaken { .. } => (Exit::Configuration, "name_taken"),
            StoreError::Model(_) => (Exit::Configuration, "bad_model_file"),
            StoreError::Cancelled => (Exit::Cancelled, "cancelled"),
            StoreError::Network { .. }
            | StoreError::Missing { .. }
            | StoreError::Pip { .. }
            | StoreError::Wheel { .. }
            | StoreError::Hash { .. } => (Exit::Provider, "model_not_had"),
            _ => (Exit::Internal, "store"),
        };
        Failure::new(exit, code, text)
    }

    fn say(text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// How far a pull is: a bar on a terminal, now and then a line elsewhere.
    struct Bar {
        name: String,
        bar: Option<ProgressBar>,
        told: u64,
        is_waiting: bool,
    }

    impl Bar {
        fn new(name: &str) -> Self {
            let is_terminal = io::stderr().is_terminal();
            let bar = is_terminal.then(|| {
                let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
                let template = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                bar.enable_steady_tick(Duration::from_millis(200));
                bar
            });
            Self { name: name.to_owned(), bar, told: 0, is_waiting: false }
        }

        fn show(&mut self, progress: Progress<'_>) {
            match progress {
                Progress::Waiting if !self.is_waiting => {
                    self.is_waiting = true;
                    self.line("another process brings a model; waiting for it");
                }
                Progress::Waiting => {}
                Progress::Bytes { done, total } => self.at("bringing", done, total),
                Progress::Checking { done, total } => self.at("checking", done, total),
                Progress::Instead { of, comes, reason } => {
                    self.line(&format!(
                        "{of} cannot be had ({reason}); {comes} is brought instead"
                    ));
                    comes.clone_into(&mut self.name);
                    self.told = 0;
                }
            }
        }

        fn at(&mut self, what: &str, done: u64, total: u64) {
            let message = format!("{what} {}", self.name);
            if let Some(bar) = &self.bar {
                bar.set_length(total);
                bar.set_position(done);
                bar.set_message(message);
                return;
            }
            // A line for every tenth that comes. Comparing takes no time worth one.
            let tenth = done.saturating_mul(10) / total.max(1) + 1;
            if what == "bringing" && tenth > self.told {
                self.told = tenth;
                say(&format!("{message}: {} of {}", HumanBytes(done), HumanBytes(total)));
            }
        }

        fn line(&self, text: &str) {
            match &self.bar {
                Some(bar) => bar.suspend(|| say(text)),
                None => say(text),
            }
        }

        fn clear(&self) {
            if let Some(bar) = &self.bar {
                bar.finish_and_clear();
            }
        }
    }
}
