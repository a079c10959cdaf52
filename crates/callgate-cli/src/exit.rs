//! What the process ends with. One table, read by the code, the help and `docs/cli.md`.

/// How a verb ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// An answer, or what else was asked for.
    Done,
    /// A defect, or a machine that does not do its part.
    Internal,
    /// A command line, a project or a contract that cannot be meant.
    Configuration,
    /// A limit ended the run.
    Limit,
    /// Something did not fit, or a loop was seen.
    Refused,
    /// The provider failed.
    Provider,
    /// `tools call`, `mcp`: the call, or the server, did not do what it was to do.
    Call,
    /// `lock`, `test`, `compat`, `export --deny`, `runs replay|doctor|verify`: a check found
    /// something.
    Found,
    /// The run waits for a person, and nothing of it is under way.
    Waiting,
    /// Cancelled by a person.
    Cancelled,
    /// Nobody reads the output any more.
    Unread,
}

impl Exit {
    pub(crate) const ALL: [Self; 11] = [
        Self::Done,
        Self::Internal,
        Self::Configuration,
        Self::Limit,
        Self::Refused,
        Self::Provider,
        Self::Call,
        Self::Found,
        Self::Waiting,
        Self::Cancelled,
        Self::Unread,
    ];

    /// The number.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::Internal => 1,
            Self::Configuration => 2,
            Self::Limit => 3,
            Self::Refused => 4,
            Self::Provider => 5,
            Self::Call => 6,
            Self::Found => 7,
            Self::Waiting => 8,
            // As shells have it: 128 and the signal's number.
            Self::Cancelled => 130,
            Self::Unread => 141,
        }
    }

    /// What it means.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Done => "answered, or done",
            Self::Internal => "something of Callgate or of this machine failed",
            Self::Configuration => "bad command line, project, contract or model name",
            Self::Limit => "a limit ended the run: steps, tokens, money, time, reply length",
            Self::Refused => "arguments or answer failed their schema, a loop, a refusal",
            Self::Provider => "the model's provider failed, or the place that models come from",
            Self::Call => "`tools call`, `mcp`: the call was refused or failed, or the server",
            Self::Found => {
                "a check found something: drift, a failed fixture, an incompatible change"
            }
            Self::Waiting => {
                "the run waits for a person: approve, answer or resolve it, then resume"
            }
            Self::Cancelled => "cancelled: Ctrl-C, SIGTERM, or abort at a question",
            Self::Unread => "nobody read the output any more (broken pipe)",
        }
    }

    /// The table for `--help`.
    pub(crate) fn table() -> String {
        let rows = Self::ALL.map(|exit| format!("  {:>3}  {}\n", exit.code(), exit.meaning()));
        format!("Exit codes:\n{}", rows.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_documented_table_is_this_one() {
        let docs = include_str!("../../../docs/cli.md");
        for exit in Exit::ALL {
            let row = format!("| {} | {} |", exit.code(), exit.meaning());
            assert!(docs.contains(&row), "docs/cli.md lacks {row}");
        }
    }

    #[test]
    fn each_number_means_one_thing() {
        let mut codes: Vec<i32> = Exit::ALL.map(Exit::code).to_vec();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Exit::ALL.len());
    }
}
