//! The witness: the providers' own Python SDKs in an environment of their own, for the test that
//! lets them read what the codecs write.

use std::path::PathBuf;

use crate::{failure::Failure, peers, steps::Steps};

const REQUIREMENTS: &str = "crates/callgate-wire/tests/witness/requirements.txt";

/// The environment's Python. Without one (no Python 3.11, no network) the test says that it was
/// left out; CI fails instead.
pub(crate) fn python(steps: &mut Steps) -> Result<Option<PathBuf>, Failure> {
    Ok(peers::pypi(steps, "witness", REQUIREMENTS)?.map(|programs| programs.join("python")))
}
