//! The witness: the providers' own Python SDKs in an environment of their own, for the test that
//! lets them read what the codecs write.
//!
//! The environment lies under `target/` and is made anew when the pinned requirements change.

use std::{fs, path::PathBuf, process::Command};

use crate::{failure::Failure, process::Show, root, steps::Steps};

const REQUIREMENTS: &str = "crates/callgate-wire/tests/witness/requirements.txt";

/// The environment's Python. Without one (no Python 3.11, no network) the test says that it was
/// left out; CI fails instead.
pub(crate) fn python(steps: &mut Steps) -> Result<Option<PathBuf>, Failure> {
    let venv = root().join("target/witness");
    let python = venv.join("bin/python");
    let marker = venv.join("requirements.txt");
    let wanted = fs::read_to_string(root().join(REQUIREMENTS))?;
    if fs::read_to_string(&marker).is_ok_and(|have| have == wanted) && python.is_file() {
        return Ok(Some(python));
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&venv);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--no-deps", "--only-binary", ":all:", "-r", REQUIREMENTS]);
    let made = steps.attempt("venv", 5, Show::Both, make).and_then(|ended| ended.well("venv"));
    let ready = made.and_then(|_| {
        steps.attempt("witness", 10, Show::Both, install).and_then(|ended| ended.well("witness"))
    });
    match ready {
        Ok(_) => {
            fs::write(&marker, wanted)?;
            Ok(Some(python))
        }
        Err(Failure::Interrupted) => Err(Failure::Interrupted),
        Err(failure) if std::env::var("CI").as_deref() == Ok("true") => Err(failure),
        Err(failure) => {
            eprintln!("\n── witness: left out, the SDKs could not be installed ({failure})");
            Ok(None)
        }
    }
}
