//! `cargo xtask conformance`: the official MCP conformance suite against our client and our server.
//!
//! The suite's requirement sets say which scenarios a revision of the protocol asks for; they are
//! frozen in the package, and what they do not score (extensions, later additions) is run and shown
//! but not counted. Stricter than the suite itself, a warning counts as a failure here.
//!
//! Not here: what a scenario does. That is `conformance/`, the two programs that the suite drives.

use std::{collections::BTreeMap, fmt, fs, path::PathBuf, process::Command};

use crate::{
    failure::Failure,
    peers::{self, Npm},
    process::Show,
    root,
    service::Service,
    steps::{Steps, cargo},
};

const MANIFEST: &str = "conformance/package.json";
const EXPECTED: &str = "conformance/expected-failures.yaml";
const PACKAGE: &str = "@modelcontextprotocol/conformance";
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// For one scenario. The suite starts all client scenarios at once, on whatever machine this is.
const SCENARIO_MS: &str = "180000";

/// Who is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Client,
    Server,
}

impl Side {
    const ALL: [Self; 2] = [Self::Client, Self::Server];

    fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// What is left of everything after the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Selection {
    side: Option<Side>,
    revision: Option<&'static str>,
    scenario: Option<String>,
}

impl Selection {
    fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut selection = Self::default();
        let mut arguments = arguments.iter();
        while let Some(option) = arguments.next() {
            let mut value = || {
                arguments.next().ok_or_else(|| Failure::Usage(format!("`{option}` needs a value")))
            };
            match option.as_str() {
                "--side" => {
                    let name = value()?;
                    let side = Side::ALL.into_iter().find(|side| side.name() == name);
                    selection.side = Some(side.ok_or_else(|| {
                        Failure::Usage(format!("`--side` is client or server, not `{name}`"))
                    })?);
                }
                "--revision" => {
                    let name = value()?;
                    let revision = REVISIONS.into_iter().find(|revision| revision == name);
                    selection.revision = Some(revision.ok_or_else(|| {
                        Failure::Usage(format!(
                            "`--revision` is {}, not `{name}`",
                            REVISIONS.join(" or ")
                        ))
                    })?);
                }
                "--scenario" => selection.scenario = Some(value()?.clone()),
                _ => {
                    return Err(Failure::Usage(format!(
                        "`conformance` knows --side, --revision and --scenario, not `{option}`"
                    )));
                }
            }
        }
        Ok(selection)
    }
}

/// Which scenarios a revision asks of a side, and what became of them.
#[derive(Debug)]
struct Score {
    side: Side,
    revision: &'static str,
    passed: Vec<String>,
    failed: Vec<String>,
    /// Failed, and [`EXPECTED`] says why they may.
    expected: Vec<String>,
}

impl Score {
    fn new(side: Side, revision: &'static str) -> Self {
        Self { side, revision, passed: Vec::new(), failed: Vec::new(), expected: Vec::new() }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { side, revision, passed, failed, expected } = self;
        write!(f, "{} {revision}: {} passed, {} failed", side.name(), passed.len(), failed.len())?;
        match expected.len() {
            0 => Ok(()),
            number => write!(f, ", {number} expected to fail"),
        }
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let selection = Selection::parse(arguments)?;
    let mut steps = Steps::default();
    let Some(suite) = peers::npm(&mut steps, "conformance", MANIFEST)? else {
        return Err(Failure::Wrong("the suite could not be installed; see above".to_owned()));
    };
    let build = cargo(&["build", "-p", "callgate-conformance", "--bins"]);
    steps.run("build", 60, build)?;
    let scores = play(&mut steps, &suite, &selection)?;
    let failed: Vec<String> = scores
        .iter()
        .flat_map(|score| {
            let place = format!("{} {}", score.side.name(), score.revision);
            score.failed.iter().map(move |scenario| format!("{place}: {scenario}"))
        })
        .collect();
    for scenario in &failed {
        println!("failed: {scenario}");
    }
    if !failed.is_empty() && selection.scenario.is_none() {
        println!("each check: target/conformance/SIDE-REVISION/SCENARIO-*/checks.json");
    }
    println!("{}", summary(&scores));
    if failed.is_empty() { Ok(()) } else { Err(Failure::Wrong(format!("{} failed", failed.len()))) }
}

/// The suite as a step of `cargo xtask test`, which has built the two programs. Returns its last
/// line, or nothing where it could not be brought.
pub(crate) fn step(steps: &mut Steps) -> Result<Option<String>, Failure> {
    let Some(suite) = peers::npm(steps, "conformance", MANIFEST)? else {
        return Ok(None);
    };
    let scores = play(steps, &suite, &Selection::default())?;
    let line = summary(&scores);
    if scores.iter().all(|score| score.failed.is_empty()) {
        Ok(Some(line))
    } else {
        Err(Failure::Wrong(line))
    }
}

/// The last line: all of it, then by side and revision.
fn summary(scores: &[Score]) -> String {
    let passed: usize = scores.iter().map(|score| score.passed.len()).sum();
    let failed: usize = scores.iter().map(|score| score.failed.len()).sum();
    let parts: Vec<String> = scores.iter().map(ToString::to_string).collect();
    format!("conformance: {passed} scenarios passed, {failed} failed ({})", parts.join("; "))
}

fn play(steps: &mut Steps, suite: &Npm, selection: &Selection) -> Result<Vec<Score>, Failure> {
    let mut scores = Vec::new();
    for side in Side::ALL.into_iter().filter(|side| selection.side.is_none_or(|one| one == *side)) {
        for revision in REVISIONS {
            if selection.revision.is_some_and(|one| one != revision) {
                continue;
            }
            let required = required(suite, side, revision)?;
            if selection.scenario.as_ref().is_none_or(|one| required.contains(one)) {
                scores.push(match &selection.scenario {
                    None => all(steps, suite, side, revision, &required)?,
                    Some(scenario) => one(steps, suite, side, revision, scenario)?,
                });
            }
        }
    }
    match &selection.scenario {
        Some(scenario) if scores.is_empty() => Err(Failure::Usage(format!(
            "no requirement set has a scenario `{scenario}` there; `node {} list` lists them all",
            suite.file(PACKAGE).join("dist/index.js").display()
        ))),
        _ => Ok(scores),
    }
}

/// All that `revision` requires of `side`, in one run. What fails is played once more by itself:
/// the suite starts all clients at once, and some scenarios measure time.
fn all(
    steps: &mut Steps,
    suite: &Npm,
    side: Side,
    revision: &'static str,
    required: &[String],
) -> Result<Score, Failure> {
    let results = format!("target/conformance/{}-{revision}", side.name());
    let (mut command, _service) = command(suite, side)?;
    command.args(["--requirements", revision, "--expected-failures", EXPECTED, "-o", &results]);
    if root().join(&results).exists() {
        fs::remove_dir_all(root().join(&results))?;
    }
    let ended = steps.attempt(side.name(), 30, Show::KeepOut, command)?;
    let seen = verdicts(&ended.kept);
    let may_fail = listed(&fs::read_to_string(root().join(EXPECTED))?, side.name());
    let mut score = Score::new(side, revision);
    let mut again = Vec::new();
    for scenario in required {
        let is_expected = |entry: &String| entry.split(':').next() == Some(scenario);
        if seen.get(scenario.as_str()).is_some_and(|well| *well) {
            score.passed.push(scenario.clone());
        } else if may_fail.iter().any(is_expected) {
            score.expected.push(scenario.clone());
        } else {
            again.push(scenario);
        }
    }
    if again.is_empty() {
        // The suite knows as well what was expected to fail in vain.
        ended.well("the conformance suite")?;
    }
    for scenario in again {
        let alone = one(steps, suite, side, revision, scenario)?;
        score.passed.extend(alone.passed);
        score.failed.extend(alone.failed);
    }
    Ok(score)
}

/// One scenario.
fn one(
    steps: &mut Steps,
    suite: &Npm,
    side: Side,
    revision: &'static str,
    scenario: &str,
) -> Result<Score, Failure> {
    let (mut command, _service) = command(suite, side)?;
    command.args(["--scenario", scenario, "--spec-version", revision]);
    let ended = steps.attempt(side.name(), 10, Show::Both, command)?;
    let mut score = Score::new(side, revision);
    let list = if ended.status.success() { &mut score.passed } else { &mut score.failed };
    list.push(scenario.to_owned());
    Ok(score)
}

/// The suite's command for `side`, with the server it talks to.
fn command(suite: &Npm, side: Side) -> Result<(Command, Option<Service>), Failure> {
    let mut command = Command::new(suite.node());
    command.arg(suite.file(PACKAGE).join("dist/index.js")).arg(side.name());
    let service = match side {
        Side::Client => {
            // A line for the shell, and cut at its spaces before that.
            let program = built("conformance-client")?.display().to_string();
            command.args(["--command", &format!("'{program}'"), "--timeout", SCENARIO_MS]);
            None
        }
        Side::Server => {
            let service = Service::start(&built("conformance-server")?)?;
            command.arg("--url").arg(format!("http://{}/mcp", service.address));
            Some(service)
        }
    };
    Ok((command, service))
}

/// What the frozen set of `revision` asks of `side`: a list under `client:` or `server:`, two
/// levels deep and without quotes, in the package's own YAML.
fn required(suite: &Npm, side: Side, revision: &str) -> Result<Vec<String>, Failure> {
    let path = suite.file(PACKAGE).join(format!("requirements/{revision}.yaml"));
    let names = listed(&fs::read_to_string(&path)?, side.name());
    if names.is_empty() {
        let message = format!("{} lists nothing under {}", path.display(), side.name());
        return Err(Failure::Wrong(message));
    }
    Ok(names)
}

fn listed(yaml: &str, key: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in yaml.lines() {
        if let Some(top) = line.strip_suffix(':').filter(|top| !top.starts_with([' ', '#'])) {
            inside = top == key;
        } else if let Some(name) = line.strip_prefix("  - ").filter(|_| inside) {
            let name = name.split_once(" #").map_or(name, |(name, _)| name);
            names.push(name.trim().to_owned());
        }
    }
    names
}

/// The scenarios of the suite's summary and whether each did well:
/// `✓ tools-list: 3 passed, 0 failed` or `✗ tools_call: 1 passed, 0 failed, 2 warnings`.
fn verdicts(printed: &str) -> BTreeMap<&str, bool> {
    let lines = printed.lines().filter_map(|line| {
        let (mark, rest) = line.trim_end().split_once(' ')?;
        let well = match mark {
            "✓" => true,
            "✗" => false,
            _ => return None,
        };
        let (scenario, counts) = rest.split_once(": ")?;
        counts.contains(" passed, ").then_some((scenario, well))
    });
    lines.collect()
}

/// A binary of the dev profile. It lies beside this one.
fn built(name: &str) -> Result<PathBuf, Failure> {
    let mut path = std::env::current_exe()?;
    path.set_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line() {
        let parse = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            Selection::parse(&words).map_err(|failure| failure.to_string())
        };
        assert_eq!(parse(""), Ok(Selection::default()));
        assert_eq!(
            parse("--side server --revision 2026-07-28 --scenario caching"),
            Ok(Selection {
                side: Some(Side::Server),
                revision: Some("2026-07-28"),
                scenario: Some("caching".to_owned()),
            })
        );
        for wrong in ["--side both", "--revision 2024-11-05", "--scenario", "fast"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_lists_of_a_requirement_set() {
        let yaml = "# server: no\nserver:\n  - ping\n  - caching # why\n\nclient:\n  - auth/iss-normalized\n\
                    \nnot_scored:\n  - scenario: tasks-mrtr\n    leg: server\n";
        assert_eq!(listed(yaml, "server"), ["ping", "caching"]);
        assert_eq!(listed(yaml, "client"), ["auth/iss-normalized"]);
        assert!(listed(yaml, "authorization").is_empty());
    }

    #[test]
    fn what_the_suite_says_of_each_scenario() {
        let printed = "Running requirements\n✓ tools-list: 3 passed, 0 failed\n\
                       ✗ auth/scope-step-up: 9 passed, 0 failed, 1 warnings\n\
                       ✗ caching: 1 passed, 2 failed\n  ✓ tasks (extension)\nTotal: 13 passed, 2 failed";
        let seen: Vec<_> = verdicts(printed).into_iter().collect();
        assert_eq!(seen, [("auth/scope-step-up", false), ("caching", false), ("tools-list", true)]);
    }
}
