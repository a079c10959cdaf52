//! What happens next? The pure machine of a run
