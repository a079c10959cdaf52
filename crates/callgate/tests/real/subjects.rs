//! The servers, and what is asked of each.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use crate::peers::{Mark, Peers};

/// A call that is to succeed: the tool, its arguments, a part of what comes back.
pub(crate) type Call = (&'static str, Value, &'static str);

/// A server's configuration for a folder of its own.
pub(crate) type Config = Box<dyn Fn(&Path, &Mark) -> Value + Send + Sync>;

/// A server to be tried.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    /// Its entry under `mcpServers`, for a folder of its own.
    pub(crate) config: Config,
    /// What has to be in the folder.
    pub(crate) prepare: fn(&Path),
    /// How many tools it has at least.
    pub(crate) tools: usize,
    /// The protocol it is spoken to in.
    pub(crate) version: &'static str,
    pub(crate) calls: fn(&Path) -> Vec<Call>,
    /// A call that its schema refuses: tool, arguments, path and keyword.
    pub(crate) wrong: Option<(&'static str, &'static str, &'static str, &'static str)>,
}

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

fn nothing(_: &Path) {}

pub(crate) fn everything(peers: &Peers) -> Subject {
    let config = peers.npm("@modelcontextprotocol/server-everything/dist/index.js", &["stdio"]);
    Subject {
        name: "everything",
        config: Box::new(move |_, mark| {
            let mut config = config.clone();
            config["env"] = mark.env();
            config
        }),
        prepare: nothing,
        tools: 10,
        version: LEGACY,
        calls: |_| {
            vec![
                ("echo", json!({ "message": "über 9007199254740993" }), "über 9007199254740993"),
                ("get-sum", json!({ "a": 2, "b": 40 }), "42"),
                ("get-structured-content", json!({ "location": "Chicago" }), "temperature"),
                ("get-tiny-image", json!({}), "image"),
                (
                    "trigger-long-running-operation",
                    json!({ "duration": 1, "steps": 2 }),
                    "completed",
                ),
            ]
        },
        wrong: Some(("get-structured-content", r#"{"location": "Bergen"}"#, "/location", "enum")),
    }
}

pub(crate) fn filesystem(peers: &Peers) -> Subject {
    let program = peers.npm("@modelcontextprotocol/server-filesystem/dist/index.js", &[]);
    Subject {
        name: "filesystem",
        config: Box::new(move |folder, mark| {
            let mut config = program.clone();
            config["args"].as_array_mut().unwrap().push(json!(folder.join("files")));
            config["env"] = mark.env();
            config
        }),
        prepare: |folder| std::fs::create_dir(folder.join("files")).unwrap(),
        tools: 14,
        version: LEGACY,
        calls: |folder| {
            let file = folder.join("files/note.txt");
            vec![
                (
                    "write_file",
                    json!({ "path": file, "content": "line one\nline two\n" }),
                    "Successfully",
                ),
                ("read_text_file", json!({ "path": file }), "line two"),
                ("list_directory", json!({ "path": folder.join("files") }), "note.txt"),
            ]
        },
        wrong: Some(("read_text_file", r#"{"head": 3}"#, "", "required")),
    }
}

pub(crate) fn memory(peers: &Peers) -> Subject {
    let program = peers.npm("@modelcontextprotocol/server-memory/dist/index.js", &[]);
    Subject {
        name: "memory",
        config: Box::new(move |folder, mark| {
            let mut config = program.clone();
            config["env"] = mark.env_with("MEMORY_FILE_PATH", folder.join("memory.jsonl"));
            config
        }),
        prepare: nothing,
        tools: 9,
        version: LEGACY,
        calls: |_| {
            let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["wrote the first program"] });
            vec![
                ("create_entities", json!({ "entities": [ada] }), "Ada"),
                ("search_nodes", json!({ "query": "program" }), "Ada"),
                ("read_graph", json!({}), "first program"),
            ]
        },
        wrong: Some((
            "create_entities",
            r#"{"entities": [{"name": "Ada", "observations": []}]}"#,
            "/entities/0",
            "required",
        )),
    }
}

pub(crate) fn sequential_thinking(peers: &Peers) -> Subject {
    let program = peers.npm("@modelcontextprotocol/server-sequential-thinking/dist/index.js", &[]);
    Subject {
        name: "sequential-thinking",
        config: Box::new(move |_, mark| {
            let mut config = program.clone();
            config["env"] = mark.env();
            config
        }),
        prepare: nothing,
        tools: 1,
        version: LEGACY,
        calls: |_| {
            let thought = |number: u32| json!({ "thought": "hm", "nextThoughtNeeded": number < 3, "thoughtNumber": number, "totalThoughts": 3 });
            (1..=3).map(|number| ("sequentialthinking", thought(number), "totalThoughts")).collect()
        },
        wrong: Some((
            "sequentialthinking",
            r#"{"thought": "hm", "nextThoughtNeeded": true, "thoughtNumber": 0, "totalThoughts": 3}"#,
            "/thoughtNumber",
            "minimum",
        )),
    }
}

pub(crate) fn time(peers: &Peers) -> Subject {
    let args = ["--local-timezone", "UTC"];
    let program = peers.pypi("servers-python", "mcp-server-time", &args);
    Subject {
        name: "time",
        config: Box::new(move |_, mark| {
            let mut config = program.clone();
            config["env"] = mark.env();
            config
        }),
        prepare: nothing,
        tools: 2,
        version: MODERN,
        calls: |_| {
            let convert = json!({ "source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo" });
            vec![
                ("get_current_time", json!({ "timezone": "Europe/Warsaw" }), "Europe/Warsaw"),
                ("get_current_time", json!({ "timezone": "UTC" }), "UTC"),
                ("convert_time", convert, "21:30"),
            ]
        },
        wrong: Some(("get_current_time", r#"{"tz": "UTC"}"#, "", "required")),
    }
}

pub(crate) fn git(peers: &Peers) -> Subject {
    let program = peers.pypi("servers-python", "mcp-server-git", &[]);
    Subject {
        name: "git",
        config: Box::new(move |folder, mark| {
            let mut config = program.clone();
            config["args"] = json!(["--repository", folder.join("repo")]);
            config["env"] = mark.env();
            config
        }),
        prepare: |folder| {
            let repo = folder.join("repo");
            std::fs::create_dir(&repo).unwrap();
            let git = |args: &[&str]| {
                let made = Command::new("git").args(args).current_dir(&repo).output().unwrap();
                assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            };
            git(&["init", "--quiet"]);
            std::fs::write(repo.join("a.txt"), "a\n").unwrap();
            git(&["add", "a.txt"]);
            git(&[
                "-c",
                "user.name=Ada",
                "-c",
                "user.email=ada@example.invalid",
                "commit",
                "--quiet",
                "-m",
                "The first",
            ]);
            std::fs::write(repo.join("b.txt"), "b\n").unwrap();
        },
        tools: 12,
        version: MODERN,
        calls: |folder| {
            let repo = folder.join("repo");
            vec![
                ("git_status", json!({ "repo_path": repo }), "b.txt"),
                ("git_log", json!({ "repo_path": repo, "max_count": 3 }), "The first"),
                ("git_add", json!({ "repo_path": repo, "files": ["b.txt"] }), "staged"),
            ]
        },
        wrong: Some((
            "git_log",
            r#"{"repo_path": "/x", "max_count": "many"}"#,
            "/max_count",
            "type",
        )),
    }
}

pub(crate) fn sqlite(peers: &Peers) -> Subject {
    let program = peers.pypi("servers-python-legacy", "mcp-server-sqlite", &[]);
    Subject {
        name: "sqlite",
        config: Box::new(move |folder, mark| {
            let mut config = program.clone();
            config["args"] = json!(["--db-path", folder.join("test.db")]);
            config["env"] = mark.env();
            config
        }),
        prepare: nothing,
        tools: 6,
        version: LEGACY,
        calls: |_| {
            vec![
                (
                    "create_table",
                    json!({ "query": "CREATE TABLE t (id INTEGER, name TEXT)" }),
                    "created",
                ),
                (
                    "write_query",
                    json!({ "query": "INSERT INTO t VALUES (9007199254740993, 'Ada')" }),
                    "affected_rows",
                ),
                ("read_query", json!({ "query": "SELECT * FROM t" }), "9007199254740993"),
            ]
        },
        wrong: Some(("read_query", r#"{"sql": "SELECT 1"}"#, "", "required")),
    }
}

pub(crate) fn notion(peers: &Peers) -> Subject {
    let program = peers.npm("@notionhq/notion-mcp-server/bin/cli.mjs", &[]);
    Subject {
        name: "notion",
        config: Box::new(move |_, mark| {
            let mut config = program.clone();
            config["env"] = mark.env_with("NOTION_TOKEN", "x");
            config
        }),
        prepare: nothing,
        tools: 20,
        version: LEGACY,
        calls: |_| Vec::new(),
        wrong: None,
    }
}

pub(crate) fn chrome_devtools(peers: &Peers) -> Subject {
    let args = ["--headless", "--isolated"];
    let program = peers.npm("chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js", &args);
    Subject {
        name: "chrome-devtools",
        config: Box::new(move |_, mark| {
            let mut config = program.clone();
            config["env"] = mark.env();
            config
        }),
        prepare: nothing,
        tools: 25,
        version: LEGACY,
        calls: |_| Vec::new(),
        wrong: None,
    }
}
