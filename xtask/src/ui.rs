//! `cargo xtask ui`: the inspector, built, checked and driven in a real browser.
//!
//! Its page is built from `ui/` into `ui/dist`, before the binary that carries it. What builds it is
//! pinned in `ui/package-lock.json`; install scripts are not run. The stories (`ui/e2e`) start the
//! real binary with real runs and look at it with Chromium, which is found, or brought from Debian
//! where we may. Without Node or Chromium they are left out with a word; where `CI=true`, that fails.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    apt,
    failure::Failure,
    peers,
    process::Show,
    root,
    steps::{Steps, announce, cargo},
};

const FOLDER: &str = "ui";
/// The copy of the lock file that was installed from.
const MARK: &str = "node_modules/.installed-from";
/// Where a browser is, or is brought to.
const BROWSERS: [&str; 4] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
];

/// `cargo xtask ui [build | NAME…]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let outcome = all(&mut steps, arguments);
    eprint!("\n{}", steps.table());
    outcome
}

fn all(steps: &mut Steps, arguments: &[String]) -> Result<(), Failure> {
    let missing = |what: &str| Err(Failure::Wrong(format!("{what}; see above")));
    if !build(steps)? {
        return missing("the page could not be built");
    }
    if arguments.first().is_some_and(|word| word == "build") {
        return Ok(());
    }
    check(steps)?;
    steps.run("build", 60, cargo(&["build", "-p", "callgate-cli", "--bins"]))?;
    match stories(steps, &crate::local::built("callgate")?, arguments)? {
        true => Ok(()),
        false => missing("the stories were not told"),
    }
}

/// Brings what builds the page, and builds it. Whether it could be had.
pub(crate) fn build(steps: &mut Steps) -> Result<bool, Failure> {
    if !has_node() || !answers("npm", "--version") {
        let why = "there is no Node 20 or newer with npm; the binary serves a page that says so";
        return left_out("ui", why);
    }
    if let Err(failure) = install(steps) {
        if peers::required() || matches!(failure, Failure::Interrupted) {
            return Err(failure);
        }
        return left_out("ui", &format!("its packages could not be installed ({failure})"));
    }
    steps.run("ui build", 5, node(&["build.mjs"]))?;
    Ok(true)
}

/// Types, lints and unit tests.
pub(crate) fn check(steps: &mut Steps) -> Result<(), Failure> {
    steps.run("ui check", 5, npm(&["run", "--silent", "check"]))?;
    steps.run("ui tests", 5, node(&["test.mjs"]))
}

/// The stories, those of these names or all. Whether there was a browser to tell them in.
pub(crate) fn stories(
    steps: &mut Steps,
    callgate: &Path,
    names: &[String],
) -> Result<bool, Failure> {
    let Some(browser) = browser(steps)? else {
        return left_out("stories", "there is no Chromium, and it could not be installed");
    };
    let mut tell = node(&["e2e/run.mjs"]);
    tell.args(names).env("CALLGATE_BINARY", callgate).env("CALLGATE_CHROMIUM", browser);
    steps.run("stories", 15, tell)?;
    Ok(true)
}

/// Installs by the lock file, where that changed since.
fn install(steps: &mut Steps) -> Result<(), Failure> {
    let folder = root().join(FOLDER);
    let wanted = fs::read(folder.join("package-lock.json"))?;
    let mark = folder.join(MARK);
    if fs::read(&mark).is_ok_and(|have| have == wanted) {
        return Ok(());
    }
    let mut install = npm(&["ci"]);
    install.args(["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    steps.attempt("ui npm", 10, Show::Both, install)?.well("ui npm")?;
    fs::write(mark, wanted)?;
    Ok(())
}

/// Chromium: there, or brought from Debian where we may.
fn browser(steps: &mut Steps) -> Result<Option<PathBuf>, Failure> {
    let named = std::env::var_os("CALLGATE_CHROMIUM").map(PathBuf::from);
    let known = || BROWSERS.iter().map(PathBuf::from).find(|path| path.is_file());
    if let Some(found) = named.filter(|path| path.is_file()).or_else(known) {
        return Ok(Some(found));
    }
    apt::install(steps, "chromium", &["chromium", "fonts-dejavu-core"])?;
    Ok(known())
}

fn left_out(name: &str, why: &str) -> Result<bool, Failure> {
    if peers::required() {
        return Err(Failure::Wrong(format!("{name}: {why}")));
    }
    announce(name, &format!("left out: {why}"));
    Ok(false)
}

/// Node 20 or newer: its test runner tells the stories.
fn has_node() -> bool {
    let version = Command::new("node").arg("--version").output();
    version.is_ok_and(|told| {
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        let major = told.trim_start_matches('v').split('.').next().unwrap_or_default();
        major.parse::<u32>().is_ok_and(|major| major >= 20)
    })
}

fn answers(program: &str, question: &str) -> bool {
    Command::new(program).arg(question).output().is_ok_and(|answer| answer.status.success())
}

/// A script of the page's folder. It finds its files by its own place.
fn node(arguments: &[&str]) -> Command {
    let mut node = Command::new("node");
    let (script, rest) = arguments.split_first().unwrap_or((&"", &[]));
    node.arg(format!("{FOLDER}/{script}")).args(rest);
    node
}

fn npm(arguments: &[&str]) -> Command {
    let mut npm = Command::new("npm");
    npm.args(["--prefix", FOLDER]).args(arguments);
    npm
}
