//! Doc comments.

use std::fmt::Write as _;

use crate::export::words::comment;

/// Writes a doc comment: `///` or `//!`. What rustdoc would take for a Rust example is not one.
pub(super) fn write(out: &mut String, mark: &str, pad: &str, text: &str) {
    let mut fenced = false;
    for line in comment(text).lines() {
        let bare = line.trim_start();
        let mut line = line.to_owned();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            if !fenced {
                line = format!("{}text", &bare[..3]);
            }
            fenced = !fenced;
        } else if !fenced && (line.len() - bare.len() >= 4 || line.starts_with('\t')) {
            // An indented block is an example too.
            line = bare.to_owned();
        }
        let _ = writeln!(out, "{}", format!("{pad}{mark} {line}").trim_end());
    }
    if fenced {
        let _ = writeln!(out, "{pad}{mark} ```");
    }
}
