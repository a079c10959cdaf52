//! Witnesses: Python packages in environments of their own, for the tests that let others judge
//! what we wrote. The providers' SDKs read what the codecs write; `jsonschema` judges fixtures.

use std::path::PathBuf;

use crate::{failure::Failure, peers, steps::Steps};

/// One environment.
pub(crate) struct Witness {
    /// The variable in which the tests look for its Python.
    pub(crate) variable: &'static str,
    name: &'static str,
    requirements: &'static str,
}

/// All of them.
pub(crate) const ALL: [Witness; 2] = [
    Witness {
        variable: "CALLGATE_WITNESS_PYTHON",
        name: "witness",
        requirements: "crates/callgate-wire/tests/witness/requirements.txt",
    },
    Witness {
        variable: "CALLGATE_JSONSCHEMA_PYTHON",
        name: "witness-jsonschema",
        requirements: "crates/callgate-contract/tests/witness/requirements.txt",
    },
];

/// The environment's Python. Without one (no Python 3.11, no network) the test says that it was
/// left out; CI fails instead.
pub(crate) fn python(steps: &mut Steps, witness: &Witness) -> Result<Option<PathBuf>, Failure> {
    let programs = peers::pypi(steps, witness.name, witness.requirements)?;
    Ok(programs.map(|programs| programs.join("python")))
}
