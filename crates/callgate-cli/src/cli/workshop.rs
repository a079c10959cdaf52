//! What can be typed about contracts before any model runs: check, test, compat.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::InDir;

/// `callgate check`.
#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub(crate) struct Check {
    /// Contract files, agent.json files, MCP tools/list results, arrays of OpenAI or Anthropic
    /// tools, or folders of them; else the project
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = ReportFormat::Text, value_name = "FORMAT")]
    pub(crate) format: ReportFormat,
    /// As one JSON object: --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Mend what can be mended without a change of meaning, and write the files
    #[arg(long)]
    pub(crate) fix: bool,
    /// Exit with 2 for warnings too, or for notes too
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) deny: Option<Deny>,
    /// Ask only this rule; may be given several times
    #[arg(long = "rule", value_name = "RULE", value_delimiter = ',')]
    pub(crate) rules: Vec<String>,
    /// Do not ask this rule; may be given several times
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
    /// The least level that is shown; exit codes do not depend on it
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) level: Option<LeastLevel>,
    /// The settings file; else callgate.check.json in the project's folder, where there is one
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Say what a rule finds, why, and what to write instead; without RULE list them all
    #[arg(long, value_name = "RULE", num_args = 0..=1, default_missing_value = "")]
    pub(crate) explain: Option<String>,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a person, by tool
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code hosts
    Sarif,
}

/// What counts beside mistakes and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    /// Warnings
    Warnings,
    /// Warnings and notes
    Notes,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LeastLevel {
    /// All
    Note,
    /// Warnings and errors
    Warning,
    /// Errors
    Error,
}

/// `callgate test`.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The tools, by name; else all
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// Tools from elsewhere: a contract, an MCP tools/list result, an array of a provider's tools,
    /// or a folder of them
    #[arg(long, value_name = "PATH")]
    pub(crate) from: Option<PathBuf>,
    /// Where fixtures are kept; else the folder fixtures of the project
    #[arg(long, value_name = "DIR")]
    pub(crate) fixtures: Option<PathBuf>,
    /// Write the made fixtures anew; those that people wrote stay as they are
    #[arg(long)]
    pub(crate) update: bool,
    /// Call the real tools with the valid fixtures as well, and judge what they bring
    #[arg(long, conflicts_with = "from")]
    pub(crate) live: bool,
    /// With --live: call those that ask for approval or may destroy something as well
    #[arg(long, requires = "live")]
    pub(crate) yes: bool,
    /// With --live: who calls, for rules and tiers: a JSON object, or @FILE
    #[arg(long, requires = "live", value_name = "JSON")]
    pub(crate) caller: Option<String>,
    /// Print an instance to try by hand: of a kind such as valid or wrong-enum, or by its id
    #[arg(long, num_args = 2, value_names = ["TOOL", "KIND"], conflicts_with_all = ["update", "live", "tools"])]
    pub(crate) show: Vec<String>,
    /// List every keyword, and whether a fixture covers it
    #[arg(long)]
    pub(crate) coverage: bool,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = TestFormat::Text, value_name = "FORMAT")]
    pub(crate) format: TestFormat,
}

/// How a test's report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For a person, by tool
    Text,
    /// One JSON object
    Json,
    /// JUnit XML, for CI servers
    Junit,
}

/// `callgate compat`.
#[derive(Debug, Args)]
pub(crate) struct Compat {
    /// The old catalog: a project's folder, a folder of contracts, a contract, an MCP tools/list
    /// result, an array of a provider's tools, a callgate.lock, or mcp:NAME, a server of the
    /// project as it is now
    pub(crate) old: PathBuf,
    /// The new one
    pub(crate) new: PathBuf,
    #[command(flatten)]
    pub(crate) project: InDir,
    /// The largest step that passes
    #[arg(long, value_enum, default_value_t = LargestStep::Minor, value_name = "STEP")]
    pub(crate) max: LargestStep,
    /// Let a larger step pass where the contract's own version says it
    #[arg(long)]
    pub(crate) versions: bool,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// How much may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LargestStep {
    /// Nothing
    None,
    /// Words
    Patch,
    /// What only adds
    Minor,
    /// Anything: report only
    Major,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  callgate check
  callgate check --deny warnings --format sarif > check.sarif
  callgate check tools-list.json --level warning
  callgate check --explain object-open
";

pub(super) const TEST_EXAMPLES: &str = "\
Examples:
  callgate test
  callgate test --update && git diff fixtures/
  callgate test get_ticket --live
  callgate test --from tools-list.json --format junit > test.xml
  callgate tools call get_ticket \"$(callgate test --show get_ticket valid)\"

Exits with 0 when all held, and 7 when one did not.
";

pub(super) const COMPAT_EXAMPLES: &str = "\
Examples:
  callgate compat v1/tools v2/tools
  callgate compat tools-list.old.json tools-list.json --json
  callgate compat --versions --max patch main/ .
  callgate compat callgate.lock mcp:time         # what was accepted, and what the server tells now

Exits with 0 when every change is within the step allowed, and 7 when one is not. What could not be
decided is never compatible.
";
