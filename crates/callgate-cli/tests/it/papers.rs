//! docs/cli.md says what `--help` says.

use std::{collections::BTreeSet, fs, path::Path};

use crate::binary::callgate;

const VERBS: [&[&str]; 55] = [
    &[],
    &["init"],
    &["run"],
    &["chat"],
    &["runs"],
    &["runs", "list"],
    &["runs", "show"],
    &["runs", "resume"],
    &["runs", "approve"],
    &["runs", "reject"],
    &["runs", "answer"],
    &["runs", "resolve"],
    &["runs", "cancel"],
    &["runs", "pause"],
    &["runs", "export"],
    &["runs", "import"],
    &["runs", "rm"],
    &["runs", "fork"],
    &["runs", "replay"],
    &["runs", "doctor"],
    &["runs", "verify"],
    &["tools"],
    &["tools", "list"],
    &["tools", "show"],
    &["tools", "call"],
    &["mcp"],
    &["mcp", "list"],
    &["mcp", "tools"],
    &["mcp", "call"],
    &["mcp", "login"],
    &["mcp", "logout"],
    &["mcp", "ping"],
    &["lock"],
    &["serve"],
    &["token"],
    &["token", "new"],
    &["token", "list"],
    &["token", "revoke"],
    &["check"],
    &["test"],
    &["compat"],
    &["schema"],
    &["import"],
    &["import", "openapi"],
    &["import", "mcp"],
    &["import", "openai"],
    &["import", "anthropic"],
    &["import", "gemini"],
    &["export"],
    &["model"],
    &["model", "pull"],
    &["model", "list"],
    &["model", "rm"],
    &["model", "add"],
    &["completion"],
];

fn options(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .filter(|word| word.len() > 3 && word.starts_with("--") && !word.starts_with("---"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_page_and_the_help_name_the_same_options() {
    let folder = tempfile::tempdir().unwrap();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let docs = fs::read_to_string(docs).unwrap();
    let mut help = String::new();
    for verb in VERBS {
        help.push_str(&callgate(folder.path(), &[verb, &["--help"]].concat()).run().with(0).out);
        for word in verb {
            assert!(docs.contains(word), "docs/cli.md does not name {verb:?}");
        }
    }
    let ours = |text: &str| {
        let mut all = options(text);
        // Cargo's, clap's, and an example's of another program.
        for other in ["--help", "--version", "--features", "--path"] {
            all.remove(other);
        }
        all
    };
    assert_eq!(ours(&docs), ours(&help));
    for variable in
        ["CALLGATE_MODEL", "CALLGATE_JOURNAL", "CALLGATE_TOKENS_FILE", "NO_COLOR", "CLICOLOR"]
    {
        assert!(docs.contains(variable) && help.contains(variable), "{variable}");
    }
}

#[test]
fn the_exit_codes_are_in_the_help() {
    let folder = tempfile::tempdir().unwrap();
    for verb in [&["--help"][..], &["run", "--help"]] {
        let help = callgate(folder.path(), verb).run().with(0).out;
        for code in [
            "  0  answered",
            "  3  a limit",
            "  6  `tools call`",
            "  7  a check found something",
            "  8  the run waits",
            "130  cancelled",
        ] {
            assert!(help.contains(code), "{verb:?}: {code}");
        }
    }
}
