//! `--name value`, and what stands where nothing is said.

use std::str::FromStr;

use crate::Failed;

/// What a peer is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The provider, with the script: `http://127.0.0.1:8099/t3`, without `/v1`.
    pub base: String,
    /// Measured runs.
    pub runs: usize,
    /// Runs before them.
    pub warm: usize,
    /// Runs at a time.
    pub concurrency: usize,
    /// Whether replies are streamed.
    pub stream: bool,
    /// Threads of the runtime.
    pub threads: usize,
    /// Turns of the script, for peers that prepare what they send.
    pub turns: usize,
    /// Tools that are offered; one of them is called.
    pub tools: usize,
    /// Bytes that each result has beside its fields.
    pub result_bytes: usize,
    /// Where events are kept: `memory` or `sqlite`. For the peer that has a journal.
    pub journal: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            base: String::new(),
            runs: 1,
            warm: 0,
            concurrency: 1,
            stream: false,
            threads: 2,
            turns: 3,
            tools: 1,
            result_bytes: 0,
            journal: "memory".to_owned(),
        }
    }
}

impl Options {
    /// From the command line.
    ///
    /// # Errors
    /// A name that is none, or a value that will not do.
    pub fn from_args() -> Result<Self, Failed> {
        Self::read(std::env::args().skip(1))
    }

    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Failed> {
        let mut options = Self::default();
        while let Some(word) = words.next() {
            if word == "--stream" {
                options.stream = true;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} wants a value"))?;
            match word.as_str() {
                "--base" => options.base = value,
                "--runs" => options.runs = number(&word, &value)?,
                "--warm" => options.warm = number(&word, &value)?,
                "--concurrency" => options.concurrency = number(&word, &value)?,
                "--threads" => options.threads = number(&word, &value)?,
                "--turns" => options.turns = number(&word, &value)?,
                "--tools" => options.tools = number(&word, &value)?,
                "--result-bytes" => options.result_bytes = number(&word, &value)?,
                "--journal" => options.journal = value,
                _ => return Err(format!("{word:?} is no option").into()),
            }
        }
        if options.base.is_empty() {
            return Err("--base URL is missing".into());
        }
        Ok(options)
    }

    /// The base URL of the API: with `/v1`.
    #[must_use]
    pub fn api(&self) -> String {
        format!("{}/v1", self.base)
    }
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, Failed> {
    value.parse().map_err(|_| format!("{name}: {value:?} is no number").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read() {
        let read = |line: &str| Options::read(line.split(' ').map(str::to_owned));
        let options = read("--base http://x/t3 --runs 7 --stream --concurrency 64");
        let expected = Options {
            base: "http://x/t3".to_owned(),
            runs: 7,
            stream: true,
            concurrency: 64,
            ..Options::default()
        };
        assert_eq!(options.expect("options"), expected);
        for wrong in ["--runs 7", "--base x --runs many", "--base x --what 1", "--base"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
