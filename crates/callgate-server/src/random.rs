//! Randomness that nobody can guess.

use crate::ServeError;

/// Bytes from the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], ServeError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| ServeError::Random(error.to_string()))?;
    Ok(bytes)
}
