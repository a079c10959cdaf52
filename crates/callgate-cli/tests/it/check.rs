//! `check` as a linter: what it reads, how it reports, what it ends with, what it mends.

use std::{fs, path::Path};

use callgate::contract::{document::Document, schema::Schema};
use serde_json::{Value, json};

use crate::{binary::callgate, project::Project};

/// A `tools/list` result with one warning (`object-open`), one note (`output-missing`) and, where
/// asked, an error.
fn list(name: &str, hidden: bool) -> Value {
    let hidden = if hidden { "\u{200b}" } else { "" };
    json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{
        "name": name,
        "description": format!("Opens the file{hidden} for reading. Use it when asked, only once."),
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string", "description": "The file."}}}
    }]}})
}

fn folder(files: &[(&str, &Value)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, value) in files {
        fs::write(folder.path().join(name), format!("{value:#}")).unwrap();
    }
    folder
}

fn report(dir: &Path, arguments: &[&str], code: i32) -> Value {
    let all = [&["check", "--format", "json"], arguments].concat();
    serde_json::from_str(&callgate(dir, &all).run().with(code).out).unwrap()
}

fn rules(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect()
}

#[test]
fn findings_are_told_by_tool() {
    let folder = folder(&[("list.json", &list("file_open", false))]);
    let out = callgate(folder.path(), &["check", "list.json"]).run().with(0).out;
    for part in [
        "file_open list.json\n",
        "warning 9:24 object-open: it takes any member",
        "-> Add \"additionalProperties\": false",
        "note    6:7 output-missing:",
        "1 tool, no mistakes; 1 warning and 1 note\n",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!out.contains('\u{1b}'), "{out:?}");
    let painted = ["check", "list.json", "--color", "always"];
    assert!(callgate(folder.path(), &painted).run().with(0).out.contains('\u{1b}'));
}

#[test]
fn what_counts_decides_the_exit_code() {
    let right = folder(&[("list.json", &list("file_open", false))]);
    let wrong = folder(&[("list.json", &list("file_open", true))]);
    for (folder, more, code) in [
        (&right, &[][..], 0),
        (&right, &["--deny", "warnings"], 2),
        (&right, &["--deny", "warnings", "--allow", "object-open"], 0),
        (&right, &["--deny", "notes", "--allow", "object-open"], 2),
        (&right, &["--deny", "notes", "--rule", "description-thin"], 0),
        // What is not shown counts all the same.
        (&right, &["--deny", "warnings", "--level", "error"], 2),
        (&wrong, &[], 2),
        (&wrong, &["--rule", "object-open,output-missing"], 0),
        (&wrong, &["--allow", "hidden-characters"], 0),
    ] {
        let all = [&["check", "list.json"], more].concat();
        callgate(folder.path(), &all).run().with(code);
    }
    let shown = report(wrong.path(), &["list.json", "--level", "error"], 2);
    assert_eq!(rules(&shown), ["hidden-characters"]);
}

#[test]
fn a_rule_that_does_not_exist_is_told() {
    let folder = folder(&[("list.json", &list("file_open", false))]);
    for option in ["--rule", "--allow", "--explain"] {
        let ended = callgate(folder.path(), &["check", "list.json", option, "object-opn"]).run();
        ended.with(2).tells_once().says(&["\"object-opn\"", "\"object-open\"?"]);
    }
}

#[test]
fn rules_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let all = callgate(folder.path(), &["check", "--explain"]).run().with(0).out;
    assert!(all.lines().count() >= 30, "{all}");
    for line in all.lines() {
        let id = line.split_whitespace().next().unwrap();
        assert!(line.ends_with('.'), "{line}");
        if id.starts_with('o') {
            let one = callgate(folder.path(), &["check", "--explain", id]).run().with(0).out;
            for part in [id, "Why:", "Instead:", "\"reason\""] {
                assert!(one.contains(part), "{part}: {one}");
            }
        }
    }
}

#[test]
fn sarif_is_valid_by_its_own_schema() {
    // OASIS, SARIF 2.1.0, as Microsoft's packages carry it.
    // Its pattern for languages has a bracket too many, which no validator of ours takes.
    let schema = include_str!("sarif-2.1.0.json").replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    let schema = Schema::compile(serde_json::from_str(&schema).unwrap()).unwrap();
    let folder = folder(&[
        ("a list.json", &list("file_open", true)),
        ("mistake.json", &json!({"name": "a", "input": {"type": "object", "requird": []}})),
    ]);
    let files = ["check", "a list.json", "mistake.json", "--format", "sarif"];
    let out = callgate(folder.path(), &files).run().with(2).out;
    let document = Document::parse(&out).unwrap();
    assert!(schema.admits(document.root()), "{out}");
    let mut log: Value = serde_json::from_str(&out).unwrap();

    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let ids: Vec<&str> = results.iter().map(|r| r["ruleId"].as_str().unwrap()).collect();
    assert_eq!(ids[..4], ["mistake", "output-missing", "hidden-characters", "object-open"]);
    assert_eq!(ids[4..], ["description-missing", "output-missing"]);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        assert_eq!(result["partialFingerprints"]["callgate/v1"].as_str().unwrap().len(), 64);
    }
    let place = &results[2]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20list.json");
    assert_eq!(place["region"], json!({"startLine": 8, "startColumn": 24}));
    // The fix names the very bytes.
    let text = fs::read_to_string(folder.path().join("a list.json")).unwrap();
    let region = &results[2]["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"];
    let start = usize::try_from(region["byteOffset"].as_u64().unwrap()).unwrap();
    assert_eq!(&text[start..start + 3], "\u{200b}");
    assert_eq!(region["byteLength"], 3);

    // The schema refuses what is no log: the assertion above can fail.
    log["runs"][0]["results"][0]["level"] = json!("fatal");
    let text = log.to_string();
    assert!(!schema.admits(Document::parse(&text).unwrap().root()));
}

#[test]
fn fix_writes_what_cannot_change_the_meaning() {
    let mut tools = list("file_open", true);
    tools["result"]["tools"][0]["inputSchema"]["$defs"] = json!({"unused": {"type": "string"}});
    let folder = folder(&[("list.json", &tools), ("other.json", &list("file_close", false))]);
    let path = folder.path().join("list.json");
    let untouched = fs::read_to_string(folder.path().join("other.json")).unwrap();
    let files = ["check", "list.json", "other.json"];
    let out = callgate(folder.path(), &files).run().with(2).out;
    assert!(out.contains("(--fix mends it)") && out.contains("--fix mends 2"), "{out}");

    let out = callgate(folder.path(), &[&files[..], &["--fix"]].concat()).run().with(0).out;
    assert!(out.contains("mended 2 findings in 1 file\n"), "{out}");
    let now: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(now, list("file_open", false));
    assert_eq!(fs::read_to_string(folder.path().join("other.json")).unwrap(), untouched);
    let again = report(folder.path(), &["list.json", "other.json", "--fix"], 0);
    assert_eq!(again["fixed"], json!({"findings": 0, "files": 0}));
    assert_eq!(again["counts"]["fixable"], 0);
}

#[test]
fn a_contract_and_the_project_allow_with_a_reason() {
    let project = Project::support();
    let path = project.dir().join("tools/get_weather.json");
    let mut contract: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    contract["input"].as_object_mut().unwrap().remove("additionalProperties");
    let write = |contract: &Value| fs::write(&path, format!("{contract:#}")).unwrap();
    write(&contract);
    let found = report(project.dir(), &[], 0);
    assert!(rules(&found).contains(&"object-open"), "{found}");
    assert_eq!(found["findings"][0]["file"], "tools/get_weather.json");

    contract["lint"] = json!({"allow": [
        {"rule": "object-open", "reason": "The service takes more than is listed."}
    ]});
    write(&contract);
    let out = callgate(project.dir(), &["check"]).run().with(0).out;
    assert_eq!(out, "5 contracts, no mistakes\n");

    contract.as_object_mut().unwrap().remove("lint");
    write(&contract);
    let settings = |value: &Value| {
        fs::write(project.dir().join("callgate.check.json"), value.to_string()).unwrap();
    };
    settings(&json!({"allow": [
        {"rule": "object-open", "tools": "get_*", "reason": "The service takes more."}
    ]}));
    let out = callgate(project.dir(), &["check"]).run().with(0).out;
    assert_eq!(out, "5 contracts, no mistakes\n");
    settings(&json!({"levels": {"object-open": "error"}}));
    callgate(project.dir(), &["check"]).run().with(2);
    settings(&json!({"allow": [{"rule": "object-open"}]}));
    let ended = callgate(project.dir(), &["check"]).run().with(2).tells_once();
    ended.says(&["callgate.check.json:1:", "reason"]);
    // The settings' own schema is published.
    let schema = callgate(project.dir(), &["schema", "check"]).run().with(0).out;
    let schema = Schema::compile(serde_json::from_str(&schema).unwrap()).unwrap();
    let judge = |text: &str| schema.admits(Document::parse(text).unwrap().root());
    assert!(judge(r#"{"allow": [{"rule": "a", "reason": "b"}]}"#));
    assert!(!judge(r#"{"allow": [{"rule": "a"}]}"#));
}

#[test]
fn mistakes_and_findings_stand_together() {
    let project = Project::support();
    project.write_text("tools/a.json", "{\"name\": \"a\", \"description\": \"Does.\", \"input\": {\"type\": \"object\"}, \"output\": true, \"tier\": \"never\"}");
    let found = report(project.dir(), &[], 2);
    assert_eq!(found["mistakes"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(rules(&found), ["description-thin", "strict-loss", "schema-vacuous"], "{found}");
    let ended = callgate(project.dir(), &["check"]).run().with(2);
    assert!(ended.out.starts_with("tools/a.json:1:"), "{}", ended.out);
    assert!(ended.out.contains("\na tools/a.json\n"), "{}", ended.out);
    ended.says(&["1 mistake; 2 warnings and 1 note"]);
}

#[test]
fn lists_are_catalogs_of_their_own() {
    // The same name in two servers' lists is no duplicate; in one list it is.
    let folder = folder(&[
        ("a.json", &list("file_open", false)),
        ("b.json", &list("file_open", false)),
        ("callgate.check.json", &json!({"levels": {"output-missing": "off"}})),
    ]);
    let found = report(folder.path(), &["."], 0);
    assert_eq!(rules(&found), ["object-open", "object-open"]);
    assert_eq!((&found["tools"], &found["contracts"]), (&json!(2), &json!(0)));
    let again = callgate(folder.path(), &["check", "."]).run().with(0).out;
    assert_eq!(callgate(folder.path(), &["check", "."]).run().with(0).out, again);
    assert!(again.contains("2 tools, no mistakes; 2 warnings"), "{again}");

    let mut twice = list("file_open", false);
    let tool = twice["result"]["tools"][0].clone();
    twice["result"]["tools"].as_array_mut().unwrap().push(tool);
    fs::write(folder.path().join("a.json"), twice.to_string()).unwrap();
    let found = report(folder.path(), &["a.json"], 2);
    assert!(rules(&found).contains(&"name-duplicate"), "{found}");
}

#[test]
fn a_terminal_is_not_moved_by_what_is_found() {
    let mut tools = list("file_open", false);
    tools["result"]["tools"][0]["name"] = json!("a\u{1b}[2J\u{202e}b");
    let folder = folder(&[("list.json", &tools)]);
    let out = callgate(folder.path(), &["check", "list.json"]).run().with(2).out;
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}'), "{out:?}");
}
