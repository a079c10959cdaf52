//! The public suites, read from `<project>/../shared/suites`: JSONTestSuite for the parser,
//! JSON-Schema-Test-Suite for schema and document together. Absent data is said, and fails in CI.
#![allow(clippy::unwrap_used)]

mod json;
mod schema;

use std::path::{Path, PathBuf};

/// A folder of shared test data; `None` where it is not there, which CI does not accept.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing", path.display());
    println!("left out: {} is not there", path.display());
    None
}

/// The JSON files of a folder, by name.
pub(crate) fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut out: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path))
        .collect();
    out.sort();
    out
}
