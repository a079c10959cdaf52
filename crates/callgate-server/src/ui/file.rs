//! A run as a page: the viewer and the run in one file, to be attached to a bug report.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::Files;

/// The page with room for a run in it.
pub(super) const TEMPLATE: &str = "single.html";

/// The page is not in this binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this binary was built without the inspector: run `cargo xtask ui build` in Callgate's sources and build it again"
)]
pub struct NotBuilt;

/// One HTML page that shows a run, and asks nothing of anybody.
///
/// `run_file` is the run as it is exported, `inspection` what was worked out of it, as JSON. Both are
/// written as Base64, so that nothing in them can end the element they stand in. `title` is text.
///
/// # Errors
/// The page is not in this binary.
pub fn page_of_run(run_file: &str, inspection: &str, title: &str) -> Result<String, NotBuilt> {
    let template = Files::get(TEMPLATE).ok_or(NotBuilt)?;
    let template = String::from_utf8_lossy(&template.data);
    // From the end to the beginning: what is put in is not looked through again.
    let (head, rest) = template.split_once("%TITLE%").ok_or(NotBuilt)?;
    let (middle, rest) = rest.split_once("%RUN-FILE%").ok_or(NotBuilt)?;
    let (next, tail) = rest.split_once("%RUN-INSPECTION%").ok_or(NotBuilt)?;
    let (run, inspection) = (STANDARD.encode(run_file), STANDARD.encode(inspection));
    Ok([head, &escaped(title), middle, &run, next, &inspection, tail].concat())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
