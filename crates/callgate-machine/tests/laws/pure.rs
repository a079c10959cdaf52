//! Law 3, the part that a compiler does not see: the pure core depends on no runtime, socket,
//! file, clock or dice.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

const PURE: &[&str] = &["callgate-contract", "callgate-wire", "callgate-machine"];

const FOREIGN_CRATES: &[&str] = &[
    "tokio",
    "hyper",
    "reqwest",
    "rusqlite",
    "rand",
    "fastrand",
    "mio",
    "async-std",
    "socket2",
    "callgate-model",
    "callgate-tool",
    "callgate-engine",
    "callgate-local",
];

const FOREIGN_WORDS: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "SystemTime",
    "Instant::now",
    "rand::",
    "fastrand",
    "thread_rng",
    "Uuid",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn law_3_the_pure_core_depends_on_nothing_that_reaches_outside() {
    for package in PURE {
        let output = Command::new(env!("CARGO"))
            .current_dir(root())
            .args(["tree", "--offline", "-p", package, "--edges", "normal", "--prefix", "none"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let tree = String::from_utf8(output.stdout).unwrap();
        let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(names.contains(package) && names.contains(&"serde"), "{tree}");
        for name in names {
            assert!(!FOREIGN_CRATES.contains(&name), "{package} depends on {name}");
        }
    }
}

#[test]
fn law_3_its_sources_name_no_file_socket_clock_or_dice() {
    let mut seen = 0;
    for package in PURE {
        for file in sources(&root().join("crates").join(package).join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            // Tests may read their data.
            if file.components().any(|c| c.as_os_str() == "tests") {
                continue;
            }
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            seen += 1;
            for (i, line) in code.lines().enumerate() {
                if line.trim_start().starts_with("//") {
                    continue;
                }
                for word in FOREIGN_WORDS {
                    assert!(!line.contains(word), "{}:{}: {word}", file.display(), i + 1);
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} sources were found");
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
    out
}
