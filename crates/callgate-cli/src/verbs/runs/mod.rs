//! `callgate runs`: what was run, is running, waits, and what became of it.
//!
//! One file a verb, or two verbs that do the same. [`book`] is the journal as they all need it,
//! [`pending`] what a run waits for, [`recording`] a run from the journal or from a file.

mod book;
mod cancel;
pub(crate) mod cli;
mod doctor;
mod export;
mod fork;
mod import;
mod list;
mod pending;
mod recording;
mod replay;
mod resume;
mod rm;
mod show;
mod time;
mod verify;
mod word;

pub(in crate::verbs) use self::resume::parked;
pub(crate) use self::{book::Book, export::variables, resume::ModelsOf};
use crate::{exit::Exit, failure::Failure};

pub(super) fn go(what: cli::RunsVerb) -> Result<Exit, Failure> {
    use cli::RunsVerb;
    match what {
        RunsVerb::List(list) => list::go(&list),
        RunsVerb::Show(show) => show::go(&show),
        RunsVerb::Resume(resume) => resume::go(&resume.id, &resume.options),
        RunsVerb::Approve(approve) => word::approve(&approve),
        RunsVerb::Reject(reject) => word::reject(&reject),
        RunsVerb::Answer(answer) => word::answer(&answer),
        RunsVerb::Resolve(resolve) => word::resolve(&resolve),
        RunsVerb::Cancel(stop) => cancel::cancel(&stop),
        RunsVerb::Pause(stop) => cancel::pause(&stop),
        RunsVerb::Export(export) => export::go(&export),
        RunsVerb::Import(import) => import::go(&import),
        RunsVerb::Rm(rm) => rm::go(&rm),
        RunsVerb::Fork(fork) => fork::go(&fork),
        RunsVerb::Replay(replay) => replay::go(&replay),
        RunsVerb::Doctor(doctor) => doctor::go(&doctor),
        RunsVerb::Verify(verify) => verify::go(&verify),
    }
}

/// Who says so: by option, else the user's name on this machine.
fn who(by: Option<&str>) -> std::sync::Arc<str> {
    let named = by.map(str::to_owned).filter(|by| !by.trim().is_empty());
    let user = || {
        ["USER", "LOGNAME", "USERNAME"]
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    };
    named.or_else(user).unwrap_or_else(|| "The user".to_owned()).into()
}
