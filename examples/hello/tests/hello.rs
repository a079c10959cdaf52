//! The example runs as the README shows it.
#![allow(clippy::unwrap_used)]

use std::{path::Path, process::Command};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn the_example_answers_with_the_scripted_model() {
    let script = root().join("examples/hello/replies.json");
    let output = Command::new(env!("CARGO_BIN_EXE_callgate-example-hello"))
        .arg(format!("script:{}", script.display()))
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert_eq!(stdout, "Yes: it is raining in Oslo, at 4 °C.\n");
}

#[test]
fn the_readme_shows_the_example_as_it_is() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let source = std::fs::read_to_string(root().join("examples/hello/src/main.rs")).unwrap();
    // The file's own doc comment says how to run it; the README says that in its text.
    let code = source.split_once("\n\n").unwrap().1.trim_end();
    assert!(
        readme.contains(&format!("```rust,ignore\n{code}\n```")),
        "the README's example is not examples/hello/src/main.rs"
    );
}
