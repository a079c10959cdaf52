//! `callgate export`: whole catalogs in the words of others, and what those cannot hold.

use std::fs;

use serde_json::json;

use crate::{
    binary::{Ended, callgate},
    mcp::parsed,
    project::Project,
};

/// Two tools, one of which no type can hold.
fn project() -> Project {
    Project::new(&json!([])).tool("search", "cat", &json!({})).tool(
        "add",
        "cat",
        &json!({"input": {"type": "object", "properties": {"n": {"type": "integer"}},
                          "required": ["n"], "additionalProperties": false}}),
    )
}

fn export(project: &Project, arguments: &[&str]) -> Ended {
    callgate(project.dir(), &[&["export"], arguments].concat()).run()
}

#[test]
fn every_format_writes_the_catalog() {
    let project = project();
    for (to, more, part) in [
        ("typescript", &[][..], "export interface AddInput {\n  n: number;\n}"),
        ("rust", &[], "pub struct AddInput"),
        ("openapi", &[], "\"/tools/search\""),
        ("gpt-actions", &["--url", "https://t.example"], "\"https://t.example\""),
        ("app-intents", &[], "struct AddIntent: AppIntent"),
        (
            "mcp-server-json",
            &[
                "--url",
                "https://t.example/mcp",
                "--name",
                "example.t/tools",
                "--package-version",
                "1.2.3",
            ],
            "\"version\": \"1.2.3\"",
        ),
        ("a2a-skills", &["--extension", "https://t.example/x"], "\"uri\": \"https://t.example/x\""),
        ("a2a-skills", &["--url", "https://t.example"], "https://t.example/ext/skill-schema/v1"),
        ("openai", &[], "\"function\": {"),
        ("mcp", &[], "\"inputSchema\""),
    ] {
        let ended = export(&project, &[&["--to", to], more].concat()).with(0);
        assert!(ended.out.contains(part), "{to}: {part}: {}", ended.out);
        assert!(!ended.err.is_empty() && !ended.err.contains("error"), "{to}: {}", ended.err);
        // A program gets the same text, and the losses as values.
        let report = export(&project, &[&["--to", to, "--json"], more].concat()).with(0);
        let report = parsed(&report.out);
        assert_eq!((&report["to"], &report["tools"]), (&json!(to), &json!(2)), "{to}");
        assert_eq!(report["text"].as_str().unwrap(), ended.out, "{to}");
        for loss in report["losses"].as_array().unwrap() {
            assert!(
                ended.err.contains(loss["why"].as_str().unwrap()),
                "{to}: {loss}: {}",
                ended.err
            );
        }
    }
    let titled = export(
        &project,
        &["--to", "openapi", "--title", "T", "--description", "D", "--package-version", "9.9.9"],
    );
    let info = &parsed(&titled.with(0).out)["info"];
    assert_eq!(info, &json!({"title": "T", "version": "9.9.9", "description": "D"}));
    let untitled = parsed(&export(&project, &["--to", "openapi"]).with(0).out);
    assert_eq!(untitled["info"]["title"], "test", "the agent's name");
}

#[test]
fn losses_are_told_and_may_be_denied() {
    let project = project();
    let told = export(&project, &["--to", "typescript"]).with(0).err;
    assert_eq!(
        told.lines().collect::<Vec<_>>(),
        ["search/input/properties/x: maxLength: a type cannot say it; the gate holds it"]
    );
    export(&project, &["--to", "typescript", "--deny", "losses"]).with(7);
    let whole = export(&project, &["add", "--to", "typescript", "--deny", "losses"]).with(0);
    assert_eq!(whole.err, "nothing is lost\n");
    assert!(!whole.out.contains("Search"), "{}", whole.out);
    export(&project, &["search", "--to", "openai", "--strict", "--deny", "losses"]).with(7);
    export(&project, &["search", "--to", "mcp", "--deny", "losses"]).with(0);
    let report =
        export(&project, &["--to", "openai", "--strict", "--json", "--deny", "losses"]).with(7);
    let losses = parsed(&report.out)["losses"].clone();
    let loss =
        losses.as_array().unwrap().iter().find(|loss| loss["keyword"] == "maxLength").unwrap();
    assert_eq!((&loss["tool"], &loss["place"]), (&json!("search"), &json!("/input/properties/x")));
}

#[test]
fn lists_as_requests_have_them() {
    let project = project();
    let list = |to: &str| parsed(&export(&project, &["--to", to]).with(0).out);
    assert_eq!(list("openai")[1]["function"]["name"], "search");
    assert_eq!(list("openai-responses")[0]["name"], "add");
    assert_eq!(list("anthropic")[0]["input_schema"]["required"], json!(["n"]));
    assert_eq!(list("ollama")[0]["type"], "function");
    assert_eq!(list("gemini")[0]["functionDeclarations"].as_array().unwrap().len(), 2);
    assert_eq!(list("mcp")["tools"][0]["name"], "add");
    // Several are a list as well, one is its definition.
    let two = export(&project, &["search", "add", "--to", "openai"]).with(0).out;
    assert_eq!(parsed(&two).as_array().unwrap().len(), 2);
    assert_eq!(
        parsed(&export(&project, &["add", "--to", "openai"]).with(0).out)["function"]["name"],
        "add"
    );
}

#[test]
fn files_are_written_whole_and_over() {
    let project = project();
    let text = export(&project, &["--to", "typescript"]).with(0).out;
    let ended = export(&project, &["--to", "typescript", "-o", "src/gen/tools.ts"]).with(0);
    assert_eq!(ended.out, "");
    assert!(ended.err.starts_with("written to src/gen/tools.ts\n"), "{}", ended.err);
    let read = |file: &str| fs::read_to_string(project.path(file)).unwrap();
    assert_eq!(read("src/gen/tools.ts"), text);
    project.write_text("src/gen/tools.ts", "old");
    export(&project, &["--to", "typescript", "--out", "src/gen/tools.ts"]).with(0);
    assert_eq!(read("src/gen/tools.ts"), text);
    // In a folder each has its usual name.
    let report = export(&project, &["--to", "rust", "-o", "src/gen", "--json"]).with(0);
    let report = parsed(&report.out);
    assert_eq!(report["file"], "src/gen/tools.rs");
    assert_eq!(report.get("text"), None);
    export(&project, &["--to", "openai", "-o", "src/gen"]).with(0);
    assert!(parsed(&read("src/gen/openai.json")).is_array());
    let left: Vec<_> =
        fs::read_dir(project.path("src/gen")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
    // Denied, it is written all the same: whoever looks at why has it.
    fs::remove_file(project.path("src/gen/tools.ts")).unwrap();
    export(&project, &["--to", "typescript", "-o", "src/gen/tools.ts", "--deny", "losses"]).with(7);
    assert_eq!(read("src/gen/tools.ts"), text);
    project.write_text("plain", "");
    export(&project, &["--to", "rust", "-o", "plain/x.rs"])
        .with(1)
        .tells_once()
        .says(&["cannot write plain/x.rs"]);
}

#[test]
fn tools_from_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let list = json!({"tools": [{"name": "far", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}]});
    fs::write(folder.path().join("list.json"), list.to_string()).unwrap();
    let ended = callgate(folder.path(), &["export", "--from", "list.json", "--to", "typescript"])
        .run()
        .with(0);
    assert!(ended.out.contains("FarInput"), "{}", ended.out);
    let ended =
        callgate(folder.path(), &["export", "far", "--from", "list.json", "--to", "anthropic"])
            .run();
    assert_eq!(parsed(&ended.with(0).out)["name"], "far");
    callgate(folder.path(), &["export", "--to", "rust"])
        .run()
        .with(2)
        .tells_once()
        .says(&["no agent.json"]);
    callgate(folder.path(), &["export", "--from", "gone", "--to", "rust"])
        .run()
        .with(2)
        .tells_once();
}

#[test]
fn what_is_missing_or_makes_no_sense() {
    let project = project();
    for (arguments, parts) in [
        (&["--to", "gpt-actions"][..], &["gpt-actions needs --url"][..]),
        (&["--to", "a2a-skills"], &["a2a-skills needs --extension", "URI"]),
        (&["--to", "mcp-server-json"], &["needs --package-version"]),
        (
            &["--to", "mcp-server-json", "--package-version", "1.0.0"],
            &["needs --name", "Reverse DNS"],
        ),
        (
            &[
                "--to",
                "mcp-server-json",
                "--package-version",
                "^1",
                "--name",
                "a.b/c",
                "--url",
                "https://x",
            ],
            &["--package-version \"^1\" cannot be used", "no range"],
        ),
        (
            &[
                "--to",
                "mcp-server-json",
                "--package-version",
                "1.0.0",
                "--name",
                "x",
                "--url",
                "https://x",
            ],
            &["--name \"x\" cannot be used"],
        ),
        (&["--to", "typescript", "--strict"], &["--strict is for providers"]),
        (&["--to", "openai", "--url", "https://x"], &["--url says nothing to openai"]),
        (&["serch", "--to", "rust"], &["no tool \"serch\"", "Did you mean \"search\"?"]),
        (&["--to", "cobol"], &["cobol", "typescript", "openai-responses"]),
        (&[], &["--to"]),
    ] {
        let ended = export(&project, arguments).with(2).tells_once();
        assert_eq!(ended.out, "", "{arguments:?}");
        ended.says(parts);
    }
    let told = export(&project, &["--to", "gpt-actions", "--json"]).with(2);
    assert_eq!(parsed(&told.err)["error"]["code"], "missing_option");
    let empty = Project::new(&json!([]));
    export(&empty, &["--to", "rust"]).with(2).tells_once().says(&["no tools to export"]);
    let never = Project::new(&json!([])).tool("never", "cat", &json!({"tier": "block"}));
    export(&never, &["--to", "typescript", "--deny", "losses"]).with(7).says(&["never runs"]);
}

#[test]
fn shells_know_the_formats() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = callgate(folder.path(), &["completion", shell]).run().with(0).out;
        for word in ["mcp-server-json", "openai-responses", "import", "anthropic", "dry-run"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let help = callgate(folder.path(), &["export", "--help"]).run().with(0).out;
    assert!(help.contains("gpt-actions") && help.contains("Examples:"), "{help}");
}
