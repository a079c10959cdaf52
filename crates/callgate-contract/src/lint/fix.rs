//! Fixes: a file's text with findings mended and every other byte as it was.
//!
//! Only what cannot change a contract's meaning is ever mended: what the gates admit stays the
//! same, and so does every word that a person can see. All the rest is a suggestion.

use super::{Edit, Finding};

/// The text with the fixes of these findings made, and how many were made. A fix that overlaps one
/// made before it is left for the next time. The text is the file's, with or without a byte order
/// mark.
pub fn fixed<'f>(text: &str, findings: impl IntoIterator<Item = &'f Finding>) -> (String, usize) {
    let (mark, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let mut edits: Vec<&Edit> = Vec::new();
    let mut made = 0;
    for fix in findings.into_iter().filter_map(|finding| finding.fix.as_ref()) {
        let is_sound = |edit: &Edit| {
            text.get(edit.start..edit.end).is_some()
                && edits.iter().all(|other| edit.end <= other.start || other.end <= edit.start)
        };
        if fix.edits.iter().all(is_sound) {
            edits.extend(&fix.edits);
            made += 1;
        }
    }
    edits.sort();
    let mut out = String::with_capacity(text.len() + mark.len());
    out.push_str(mark);
    let mut from = 0;
    for edit in edits {
        out.push_str(&text[from..edit.start]);
        out.push_str(&edit.text);
        from = edit.end;
    }
    out.push_str(&text[from..]);
    (out, made)
}
