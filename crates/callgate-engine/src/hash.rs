//! Names for bytes.

use std::fmt::Write as _;

#[cfg(feature = "sqlite")]
use sha2::{Digest, Sha256};

/// SHA-256 in hex.
#[cfg(feature = "sqlite")]
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
