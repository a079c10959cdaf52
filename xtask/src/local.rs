//! The binary with the local model in it, and the model itself, for chores that ask it something.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    failure::Failure,
    process::Show,
    steps::{Steps, cargo},
};

/// The model that the examples' projects name.
const MODEL: &str = "qwen2.5-coder-1.5b";

/// A built `callgate`, and the model that is there.
pub(crate) struct Local {
    /// The binary.
    pub(crate) callgate: PathBuf,
    /// What to give as `--model`; nothing where the project's own is there.
    pub(crate) model: Option<String>,
}

impl Local {
    /// Builds the binary and brings the model.
    pub(crate) fn ready(steps: &mut Steps) -> Result<Self, Failure> {
        // The dev profile, where the crates that run the model are optimised anyway: the tests need
        // the same build, and a release build would take minutes more. The service of the support
        // example comes along in every case: alone, each would choose other features for what they
        // share and compile it again.
        let mut build = cargo(&["build", "-p", "callgate-cli", "-p", "support-service"]);
        build.args(["--features", "callgate-cli/local"]);
        steps.run("build", 90, build)?;
        let callgate = built("callgate")?;

        let mut pull = Command::new(&callgate);
        pull.args(["model", "pull", MODEL]);
        let pulled = steps.attempt("model", 90, Show::KeepOut, pull)?.well("model")?;
        Ok(Self { callgate, model: ready_model(&pulled) })
    }

    /// `callgate VERB -C PROJECT`, with the model where the verb takes one.
    pub(crate) fn run(&self, project: &str, goal: &str) -> Command {
        let mut command = Command::new(&self.callgate);
        command.args(["run", "-C", project]);
        command.args(self.model.iter().flat_map(|model| ["--model", model])).arg(goal);
        command
    }
}

/// `callgate model pull` prints the model that is ready, which is a smaller one when the wanted
/// one could not be brought. Nothing when it is the project's own.
fn ready_model(printed: &str) -> Option<String> {
    let ready = printed.lines().rev().map(str::trim).find(|line| line.starts_with("local:"))?;
    (ready.strip_prefix("local:") != Some(MODEL)).then(|| ready.to_owned())
}

/// A binary of the dev profile. This one lies in `target/debug`, wherever that is.
pub(crate) fn built(name: &str) -> Result<PathBuf, Failure> {
    let here = std::env::current_exe()?;
    let target = here.parent().and_then(Path::parent).unwrap_or(&here);
    Ok(target.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_that_is_ready() {
        let table = [
            ("local:qwen2.5-coder-1.5b\n", None),
            ("local:qwen2.5-coder-0.5b\n", Some("local:qwen2.5-coder-0.5b")),
            ("", None),
            ("already there\n", None),
        ];
        for (printed, wanted) in table {
            assert_eq!(ready_model(printed).as_deref(), wanted, "{printed}");
        }
    }
}
