//! What can go wrong for a program that uses Callgate.

use callgate_contract::Mistake;
use callgate_engine::EngineError;
use callgate_machine::Finish;

/// Everything that can go wrong, with the data to tell it by.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Contracts, agent or answer schema have mistakes.
    #[error("{}", listed(.0))]
    Contracts(Vec<Mistake>),
    /// The model cannot be had.
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// The project's files cannot be read.
    #[error(transparent)]
    Project(#[from] crate::ProjectError),
    /// Nothing says which model to use.
    #[error("no model: say which with .model(\"provider:model\")")]
    NoModel,
    /// The run could not be kept.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The run ended without an answer.
    #[error("{}", unanswered(.0))]
    Unanswered(Box<Finish>),
    /// The answer fits its schema but not the Rust type.
    #[error("the answer cannot be read as the type asked for: {0}")]
    Answer(#[source] serde_json::Error),
}

fn listed(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Why there is no answer, in a sentence.
fn unanswered(finish: &Finish) -> String {
    let what = match finish.stopped_by {
        Some(stop) => format!("{stop:?}"),
        None => format!("{:?}", finish.status),
    };
    match (&finish.fault, &finish.provider) {
        (Some(fault), _) => {
            format!("the run ended without an answer ({what}): {}", fault.summary())
        }
        (None, Some(error)) => format!("the model could not be asked: {error}"),
        (None, None) => format!("the run ended without an answer ({what})"),
    }
}
