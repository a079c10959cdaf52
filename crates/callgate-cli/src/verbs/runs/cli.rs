//! What can be typed after `callgate runs`.

use std::path::PathBuf;

use callgate::engine::RunState;
use clap::{Args, Subcommand};

use crate::{
    cli::{InDir, Opened, RunOptions},
    journal::InJournal,
};

/// `callgate runs`.
#[derive(Debug, Args)]
pub(crate) struct Runs {
    #[command(subcommand)]
    pub(crate) what: RunsVerb,
}

/// Which journal, and how it is told.
#[derive(Debug, Args)]
pub(crate) struct Within {
    #[command(flatten)]
    pub(crate) project: InDir,
    #[command(flatten)]
    pub(crate) place: InJournal,
}

/// What to do with runs. IDs may be cut short, as long as only one run begins so.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsVerb {
    /// List runs, newest first
    List(List),
    /// Tell a run as it was told while it went on, and what it waits for
    Show(Show),
    /// Go on with a run that waits, was paused, or whose process is gone
    Resume(Resume),
    /// Say yes to a call that waits for approval
    Approve(Approve),
    /// Say no to a call that waits for approval
    Reject(Reject),
    /// Answer a question that the model put to the user
    Answer(Answer),
    /// Say what became of a call whose outcome was lost
    Resolve(Resolve),
    /// End a run: calls in flight are told to stop
    Cancel(Stop),
    /// Let a run wait, once the calls under way have ended
    Pause(Stop),
    /// Write a run as one file, secrets masked, to be read elsewhere
    Export(Export),
    /// Take in runs that were exported
    Import(Import),
    /// Forget runs
    Rm(Rm),
    /// Begin a run as another one did, up to a hop
    Fork(Fork),
    /// Derive everything in a run again and compare; or judge its calls by other contracts
    Replay(Replay),
    /// Look for the known ways in which runs go wrong
    Doctor(Doctor),
    /// Read the whole journal and say what is damaged
    Verify(Verify),
}

impl RunsVerb {
    /// Whether whoever typed it wants JSON, errors included.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::List(list) => list.json,
            Self::Show(show) => show.json,
            Self::Resume(resume) => resume.options.json,
            Self::Approve(approve) => approve.word.options.json,
            Self::Reject(reject) => reject.word.options.json,
            Self::Answer(answer) => answer.word.options.json,
            Self::Resolve(resolve) => resolve.word.options.json,
            Self::Cancel(stop) | Self::Pause(stop) => stop.json,
            Self::Import(import) => import.json,
            Self::Rm(rm) => rm.json,
            Self::Fork(fork) => fork.options.json,
            Self::Replay(replay) => replay.json,
            Self::Doctor(doctor) => doctor.json,
            Self::Verify(verify) => verify.json,
            Self::Export(_) => false,
        }
    }
}

/// `callgate runs list`.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// In this state: running, waiting, paused, in_doubt, answered, stopped, failed, cancelled
    #[arg(long, value_parser = state, value_name = "STATE")]
    pub(crate) state: Vec<RunState>,
    /// Of this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Begun since then: 90s, 15m, 2h, 3d ago, or 2026-11-30, or 2026-11-30T08:15 (UTC)
    #[arg(long, value_parser = super::time::since, value_name = "TIME")]
    pub(crate) since: Option<u64>,
    /// With this in id, goal or what came of it
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50, value_name = "N")]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) within: Within,
    /// As a JSON array
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate runs show`.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The run
    pub(crate) id: String,
    /// Only this hop
    #[arg(long, value_name = "N")]
    pub(crate) hop: Option<u32>,
    /// Arguments, results and reasoning whole
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) within: Within,
    /// As one JSON object: summary, what it waits for, events
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate runs resume`.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The run
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// A person's word on a call.
#[derive(Debug, Args)]
pub(crate) struct Word {
    /// Who says so; else the user's name on this machine
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    /// Go on with the run at once; the options of `callgate run` are for that
    #[arg(long)]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// `callgate runs approve`.
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The run
    pub(crate) id: String,
    /// The call
    pub(crate) call: String,
    /// Other arguments: judged by the contract now and by the gates then, and asked about again
    #[arg(long, value_name = "JSON")]
    pub(crate) edit: Option<String>,
    #[command(flatten)]
    pub(crate) word: Word,
}

/// `callgate runs reject`.
#[derive(Debug, Args)]
pub(crate) struct Reject {
    /// The run
    pub(crate) id: String,
    /// The call
    pub(crate) call: String,
    /// Why, for the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) word: Word,
}

/// `callgate runs answer`.
#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The run
    pub(crate) id: String,
    /// The call that asks
    pub(crate) call: String,
    /// The answer: a text, - for standard input, or @FILE
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) word: Word,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Became {
    /// It had its effect
    Done,
    /// It had none: call it again, with the same key
    Redo,
    /// Leave it: the model is told that nobody knows
    Fail,
}

/// `callgate runs resolve`.
#[derive(Debug, Args)]
pub(crate) struct Resolve {
    /// The run
    pub(crate) id: String,
    /// The call
    pub(crate) call: String,
    /// What became of it
    #[arg(value_enum)]
    pub(crate) became: Became,
    /// What a call that was done brought, where that is known
    #[arg(long, value_name = "JSON")]
    pub(crate) result: Option<String>,
    #[command(flatten)]
    pub(crate) word: Word,
}

/// `callgate runs cancel`, `callgate runs pause`.
#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// The run
    pub(crate) id: String,
    /// Who wants it; else the user's name on this machine
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
    #[command(flatten)]
    pub(crate) within: Within,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate runs export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The runs
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// The file, - for standard output, or a folder for a file each, ID.jsonl
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// A page that shows the run, the inspector within it, to be opened without a server
    #[arg(long)]
    pub(crate) html: bool,
    /// The runs of delegates, too, a file each beside it
    #[arg(long)]
    pub(crate) with_delegates: bool,
    #[command(flatten)]
    pub(crate) within: Within,
}

/// `callgate runs import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Run files, or folders of them; - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) within: Within,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate runs rm`.
#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// The runs
    #[arg(value_name = "ID", required_unless_present_any = ["older_than", "state"])]
    pub(crate) ids: Vec<String>,
    /// All that are over and began so long ago: 12h, 30d
    #[arg(long, value_parser = super::time::span, value_name = "AGE", conflicts_with = "ids")]
    pub(crate) older_than: Option<u64>,
    /// All that are in this state
    #[arg(long, value_parser = state, value_name = "STATE", conflicts_with = "ids")]
    pub(crate) state: Vec<RunState>,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) within: Within,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate runs fork`.
#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// The run
    pub(crate) id: String,
    /// The hop to ask the model for again
    #[arg(long, value_name = "HOP")]
    pub(crate) at: u32,
    /// Go on with the new run at once; the options of `callgate run` are for that
    #[arg(long)]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// `callgate runs replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Runs by id, run files, or folders of them; without any, all runs of the journal
    #[arg(value_name = "ID|FILE|FOLDER")]
    pub(crate) of: Vec<String>,
    /// Judge the recorded calls by these contracts instead: a project's folder, or contract files
    #[arg(long, num_args = 1.., value_name = "PATH")]
    pub(crate) against: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) within: Within,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate runs doctor`.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The run by id, or a run file
    #[arg(value_name = "ID|FILE")]
    pub(crate) of: String,
    /// Exit with 7 when something was found
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) within: Within,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `callgate runs verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Put what can still be read into a new journal in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) salvage: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) within: Within,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn state(word: &str) -> Result<RunState, String> {
    RunState::from_word(word).ok_or_else(|| {
        let known = RunState::ALL.map(RunState::as_str).join(", ");
        format!("the states are {known}")
    })
}

impl Within {
    /// Where the options of a run say.
    pub(crate) fn of(options: &RunOptions) -> Self {
        let Opened { project, .. } = &options.project;
        Self {
            project: InDir { dir: project.dir.clone() },
            place: InJournal { journal: options.keeping.place.journal.clone() },
        }
    }
}

pub(crate) const EXAMPLES: &str = "\
Examples:
  callgate run --wait \"Refund order 17\"        # exits with 8 where somebody has to decide
  callgate runs approve run-0198 call_0 --by ann --resume
  callgate runs list --state waiting
  callgate runs export run-0198 -o bug.jsonl && callgate runs doctor bug.jsonl
  callgate runs replay exports/ --against .    # for CI: would our contracts refuse what was done?
";
