//! Where runs are kept: the project's `.callgate`, unless the command line says otherwise.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use callgate::engine::{Options, SqliteJournal, Synchronous};
use clap::{Args, ValueEnum};

use crate::{cli::InDir, failure::Failure};

/// The folder's name in a project.
const FOLDER: &str = ".callgate";

/// Which journal.
#[derive(Debug, Clone, Args)]
pub(crate) struct InJournal {
    /// The folder that runs are kept in; else .callgate in the project's folder
    #[arg(long, env = "CALLGATE_JOURNAL", value_name = "DIR")]
    pub(crate) journal: Option<PathBuf>,
}

/// Where a run is kept, and how well.
#[derive(Debug, Clone, Args)]
pub(crate) struct Keeping {
    #[command(flatten)]
    pub(crate) place: InJournal,
    /// Keep nothing: the run is gone with the process
    #[arg(long)]
    pub(crate) no_journal: bool,
    /// When an event counts as kept
    #[arg(long, value_enum, default_value_t = Sync::Full, value_name = "WHEN")]
    pub(crate) sync: Sync,
}

/// When an event counts as kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sync {
    /// When the disk has it
    Full,
    /// When the system has it: a power cut may cost the last events, and side effects be repeated
    Normal,
}

impl From<Sync> for Synchronous {
    fn from(sync: Sync) -> Self {
        match sync {
            Sync::Full => Self::Full,
            Sync::Normal => Self::Normal,
        }
    }
}

/// The folder of the journal.
pub(crate) fn folder(project: &InDir, place: &InJournal) -> PathBuf {
    match &place.journal {
        Some(folder) if !folder.as_os_str().is_empty() => folder.clone(),
        _ => project.dir.join(FOLDER),
    }
}

/// What to add to a command so that it finds the same journal.
pub(crate) fn same_place(project: &InDir, place: &InJournal) -> String {
    let quoted = |path: &Path| {
        let text = path.display().to_string();
        let is_plain =
            text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_'));
        if is_plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
    };
    let mut more = String::new();
    if project.dir != Path::new(".") {
        more.push_str(&format!(" -C {}", quoted(&project.dir)));
    }
    // Whoever has set the variable has it set for the next command, too.
    let of_env = std::env::var_os("CALLGATE_JOURNAL").map(PathBuf::from);
    if let Some(folder) = &place.journal
        && of_env.as_ref() != Some(folder)
    {
        more.push_str(&format!(" --journal {}", quoted(folder)));
    }
    more
}

/// The journal that a run is to be kept in, made where there is none; nothing where none is wanted.
pub(crate) fn open(
    project: &InDir,
    keeping: &Keeping,
) -> Result<Option<Arc<SqliteJournal>>, Failure> {
    if keeping.no_journal {
        return Ok(None);
    }
    let folder = folder(project, &keeping.place);
    make(&folder)?;
    let mut options = Options::default();
    options.synchronous = keeping.sync.into();
    Ok(Some(Arc::new(SqliteJournal::open(&folder, options)?)))
}

/// Makes the folder. What is in it is no part of the project: version control leaves it out.
pub(crate) fn make(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() {
        return Ok(());
    }
    let unmade = |error| {
        let what = format!("cannot make {}", folder.display());
        Failure::io(&what, &error).hint("--journal DIR keeps runs elsewhere, --no-journal nowhere.")
    };
    fs::create_dir_all(folder).map_err(unmade)?;
    let ignore = folder.join(".gitignore");
    fs::write(&ignore, "*\n").map_err(unmade)
}

/// Whether there is a journal in a folder.
pub(crate) fn is_there(folder: &Path) -> bool {
    folder.join("journal.db").is_file()
}
