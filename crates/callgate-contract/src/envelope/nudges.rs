//! What the runtime says to the model between replies, in the user's place.

use super::{ErrorKind, Fault, NOT_EXECUTED, words::sentences};

/// A call was due and words came.
pub const CALL_EXPECTED: &str = "Call one of the tools now; this reply cannot be in words.";

/// Words came where the loop goes on.
pub const GO_ON: &str = "Go on.";

/// The provider threw a call away as malformed, after words that the user has seen.
pub const CALL_LOST: &str = "The call that followed was malformed and was lost; nothing was called. \
     Make it again, without repeating what you said.";

/// The final answer did not fit its schema.
pub fn answer_refused(fault: &Fault) -> String {
    let what = match fault.kind {
        ErrorKind::SchemaMismatch => {
            let mut text = String::from("The answer does not fit its schema: ");
            sentences(&mut text, &fault.violations, "the answer");
            text
        }
        ErrorKind::OutputTruncated => {
            "The answer was cut off at the length limit. Make it shorter.".to_owned()
        }
        _ => fault
            .message
            .replace("The arguments are", "The answer is")
            .replace(NOT_EXECUTED, "")
            .trim()
            .to_owned(),
    };
    format!("{what} Answer again with the corrected JSON alone.")
}
