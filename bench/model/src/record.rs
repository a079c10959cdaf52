//! What came of a request: one line of the results file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// One model on one request, in every way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) model: String,
    pub(crate) id: String,
    pub(crate) seconds: f64,
    pub(crate) ways: Ways,
}

/// The four ways in which the model is let call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ways {
    /// Calls as the model writes them, run as plain JSON reads them.
    pub(crate) off: Way,
    /// The same calls at gates that mend nothing.
    pub(crate) strict: Way,
    /// The same calls at gates that mend what cannot change the meaning.
    pub(crate) lenient: Way,
    /// Calls decoded by the grammar, at the same gates.
    pub(crate) grammar: Way,
}

/// One way through a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Way {
    pub(crate) ended: Ended,
    /// Replies of the model.
    pub(crate) hops: u32,
    /// Tokens of all prompts, read anew or not; none counted of a reply that is text.
    pub(crate) input_tokens: u64,
    /// Tokens of all replies that are calls.
    pub(crate) output_tokens: u64,
    /// All calls, in order.
    pub(crate) made: Vec<Made>,
    /// How the text began that it ended with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) said: String,
}

/// How a way ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Ended {
    /// Every call of the last reply ran.
    Called,
    /// The model wrote to the user.
    Said,
    /// Gates off: a call could not be run at all.
    Broken,
    /// The last reply allowed was refused as well.
    Refused,
    /// The engine failed, in its words.
    Failed(String),
}

/// A call of the model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Made {
    /// The reply it came in, from 1.
    pub(crate) hop: u32,
    pub(crate) name: String,
    /// Argument text as written.
    pub(crate) raw: String,
    /// Whether it is of a tool on offer and fits its schema, after what the gate mended.
    pub(crate) valid: bool,
    /// Whether its reply was cut in it: nothing runs of such a call, and the grammar did not get to its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
    /// Why the contract refuses it, also where nobody asks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    /// Argument text that ran; nothing where the call did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ran: Option<String>,
    /// What the gate mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) mended: Vec<String>,
}

impl Way {
    /// The calls that ran, by name and argument text.
    pub(crate) fn ran(&self) -> impl Iterator<Item = (&str, &str)> {
        self.made.iter().filter_map(|made| Some((made.name.as_str(), made.ran.as_deref()?)))
    }
}

/// A results file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}, line {line}: {source}; remove the line, and its request is run again")]
    Json { path: PathBuf, line: usize, source: serde_json::Error },
}

/// All lines; none where there is no file yet.
pub(crate) fn read(path: &Path) -> Result<Vec<Record>, RecordError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(RecordError::Read { path: path.to_owned(), source }),
    };
    text.lines()
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|source| RecordError::Json {
                path: path.to_owned(),
                line: index + 1,
                source,
            })
        })
        .collect()
}
