//! Witnesses: Python packages in environments of their own, for the tests that let others judge
//! what we wrote. The providers' SDKs read what the codecs write; `jsonschema` judges fixtures.
//!
//! An environment lies under `target/` and is made anew when its pinned requirements change.

use std::{fs, path::PathBuf, process::Command};

use crate::{failure::Failure, process::Show, root, steps::Steps};

/// One environment.
pub(crate) struct Witness {
    /// The variable in which the tests look for its Python.
    pub(crate) variable: &'static str,
    name: &'static str,
    folder: &'static str,
    requirements: &'static str,
}

/// All of them.
pub(crate) const ALL: [Witness; 2] = [
    Witness {
        variable: "CALLGATE_WITNESS_PYTHON",
        name: "witness",
        folder: "target/witness",
        requirements: "crates/callgate-wire/tests/witness/requirements.txt",
    },
    Witness {
        variable: "CALLGATE_JSONSCHEMA_PYTHON",
        name: "jsonschema",
        folder: "target/witness-jsonschema",
        requirements: "crates/callgate-contract/tests/witness/requirements.txt",
    },
];

/// The environment's Python. Without one (no Python 3.11, no network) the test says that it was
/// left out; CI fails instead.
pub(crate) fn python(steps: &mut Steps, witness: &Witness) -> Result<Option<PathBuf>, Failure> {
    let Witness { name, requirements, .. } = *witness;
    let venv = root().join(witness.folder);
    let python = venv.join("bin/python");
    let marker = venv.join("requirements.txt");
    let wanted = fs::read_to_string(root().join(requirements))?;
    if fs::read_to_string(&marker).is_ok_and(|have| have == wanted) && python.is_file() {
        return Ok(Some(python));
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&venv);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--no-deps", "--only-binary", ":all:", "-r", requirements]);
    let made = steps.attempt("venv", 5, Show::Both, make).and_then(|ended| ended.well("venv"));
    let ready = made.and_then(|_| {
        steps.attempt(name, 10, Show::Both, install).and_then(|ended| ended.well(name))
    });
    match ready {
        Ok(_) => {
            fs::write(&marker, wanted)?;
            Ok(Some(python))
        }
        Err(Failure::Interrupted) => Err(Failure::Interrupted),
        Err(failure) if std::env::var("CI").as_deref() == Ok("true") => Err(failure),
        Err(failure) => {
            eprintln!("\n── {name}: left out, its packages could not be installed ({failure})");
            Ok(None)
        }
    }
}
