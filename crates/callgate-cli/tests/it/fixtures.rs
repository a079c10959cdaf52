//! `callgate test`: fixtures made, kept, written by people, before gates and backends.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    binary::{Ended, callgate},
    project::Project,
};

fn test(project: &Project, arguments: &[&str]) -> Ended {
    callgate(project.dir(), &[&["test"], arguments].concat()).run()
}

/// A project with one tool that prints what it is given.
fn echo(more: &Value) -> Project {
    Project::new(&json!([])).tool("echo", "cat", more)
}

fn report(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
}

#[test]
fn what_is_made_is_kept_and_tells_of_a_change() {
    let project = echo(&json!({}));
    let ended = test(&project, &[]).with(0);
    assert!(ended.out.contains("echo: ") && ended.out.contains(" 0 failed\n"), "{}", ended.out);
    assert!(!project.path("fixtures").exists(), "nothing is written unasked");

    let ended = test(&project, &["--update"]).with(0);
    assert!(ended.out.contains(", written"), "{}", ended.out);
    let kept = project.path("fixtures/echo/generated.json");
    let text = fs::read_to_string(&kept).unwrap();
    // Again: the same bytes, and nothing to say.
    let again = test(&project, &["--update"]).with(0);
    assert!(!again.out.contains("written"), "{}", again.out);
    assert_eq!(fs::read_to_string(&kept).unwrap(), text);

    // Somebody's own, which nobody else writes.
    let own = r#"{"fixtures": [{"id": "five", "instance": {"x": "12345"}, "expect": "admitted"}]}"#;
    fs::write(project.path("fixtures/echo/mine.json"), own).unwrap();
    test(&project, &[]).with(0);

    // The contract takes less now: what was kept says so, and what people wrote.
    let narrower = json!({ "input": { "type": "object",
        "properties": { "x": { "type": "string", "maxLength": 4 } }, "additionalProperties": false } });
    let project = project.tool("echo", "cat", &narrower);
    let ended = test(&project, &[]).with(7);
    for part in
        ["boundary:/x:maxLength:inside: it was to be admitted", "mine.json five", "2 failed"]
    {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
    ended.says(&["the contract gives other fixtures now", "--update"]);
    let ended = test(&project, &["--update"]).with(7);
    assert!(ended.out.contains("1 failed"), "{}", ended.out);
    assert_eq!(fs::read_to_string(project.path("fixtures/echo/mine.json")).unwrap(), own);
}

#[test]
fn a_report_for_programs() {
    let project = echo(&json!({ "output": { "type": "object", "required": ["x"] } }));
    fs::create_dir_all(project.path("fixtures/echo")).unwrap();
    let own = json!({ "fixtures": [
        { "id": "a <b> & \"c\"", "text": "{\"x\": \"\u{1}<&\"}", "expect": "admitted" },
    ] });
    project.write("fixtures/echo/mine.json", &own);
    let told = report(&test(&project, &["--format", "json"]).with(7));
    let tool = &told["tools"][0];
    assert_eq!((&told["failed"], &tool["tool"]), (&json!(1), &json!("echo")));
    let cases = tool["cases"].as_array().unwrap();
    assert_eq!(cases.len() as u64, told["held"].as_u64().unwrap() + 1);
    let failed = cases.iter().find(|case| case["outcome"] == "failed").unwrap();
    assert_eq!(failed["file"], "./fixtures/echo/mine.json".trim_start_matches("./"));
    assert!(failed["why"].as_str().unwrap().contains("json"), "{failed}");
    assert!(cases.iter().any(|case| case["gate"] == "out" && case["kind"] == "missing-field"));
    let coverage = tool["coverage"].as_array().unwrap();
    assert!(coverage.iter().all(|cover| cover["covered"] == "yes"), "{coverage:?}");

    let xml = test(&project, &["--format", "junit"]).with(7).out;
    let count = |what: &str| xml.matches(what).count();
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites"), "{xml}");
    assert_eq!((count("<testcase "), count("<failure "), count("</failure>")), (cases.len(), 1, 1));
    assert!(xml.contains(&format!("tests=\"{}\" failures=\"1\"", cases.len())), "{xml}");
    assert!(xml.contains("a &lt;b&gt; &amp; &quot;c&quot;"), "{xml}");
    assert!(!xml.contains('\u{1}'), "{xml}");
}

#[test]
fn an_instance_to_try_by_hand() {
    let project = echo(&json!({}));
    for (kind, code) in [("valid", 0), ("extra-property", 6), ("too-long", 6), ("wrong-type:/x", 6)]
    {
        let shown = test(&project, &["--show", "echo", kind]).with(0);
        assert!(shown.err.contains("to be "), "{}", shown.err);
        let call = ["tools", "call", "echo", shown.out.trim(), "--mode", "strict"];
        callgate(project.dir(), &call).run().with(code);
    }
    test(&project, &["--show", "echo", "pattern"])
        .with(2)
        .says(&["no fixture of the kind", "valid"]);
    test(&project, &["--show", "ehco", "valid"])
        .with(2)
        .says(&["no tool", "Did you mean \"echo\"?"]);
    test(&project, &["ehco"]).with(2).says(&["no tool \"ehco\""]).tells_once();
}

#[test]
fn mistakes_in_what_people_write_have_a_place() {
    let project = echo(&json!({}));
    fs::create_dir_all(project.path("fixtures/echo")).unwrap();
    project.write_text(
        "fixtures/echo/mine.json",
        "{\"fixtures\": [\n  {\"id\": \"a\", \"expects\": 1}]}",
    );
    let ended = test(&project, &[]).with(2);
    ended.says(&["fixtures/echo/mine.json:2:", "expects"]).tells_once();
    // Ours can be made anew, whatever became of it.
    fs::remove_file(project.path("fixtures/echo/mine.json")).unwrap();
    project.write_text("fixtures/echo/generated.json", "<<<<<<< HEAD");
    test(&project, &[]).with(2).says(&["generated.json:1:1"]).tells_once();
    test(&project, &["--update"]).with(0);
    test(&project, &[]).with(0);
}

#[test]
fn live_calls_real_tools_and_judges_what_they_bring() {
    let answer = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let project = Project::new(&json!([]))
        .tool("good", "echo '{\"n\": 1}'", &json!({ "output": answer }))
        .tool("bad", "echo '{\"n\": \"one\"}'", &json!({ "output": answer }))
        .tool("asks", "touch asked; echo '{}'", &json!({ "tier": "approve", "annotations": {} }))
        .tool(
            "breaks",
            "touch broke; echo '{}'",
            &json!({ "tier": "auto", "annotations": { "destructive": true } }),
        )
        .tool("never", "touch ran; echo '{}'", &json!({ "tier": "block", "annotations": {} }));
    // Without --live nothing is called.
    test(&project, &[]).with(0);
    let ended = test(&project, &["--live"]).with(7);
    assert!(ended.out.contains("the gate out refuses the result"), "{}", ended.out);
    for (tool, why) in
        [("asks", "--yes gives it"), ("breaks", "--yes lets it"), ("never", "never runs")]
    {
        assert!(ended.out.contains(why), "{tool}: {}", ended.out);
    }
    let touched = |name: &str| {
        ["", "tools/"].iter().any(|folder| project.path(&format!("{folder}{name}")).exists())
    };
    assert!(!touched("asked") && !touched("broke") && !touched("ran"));
    let told = report(&test(&project, &["good", "--live", "--format", "json"]).with(0));
    let live = |told: &Value, outcome: &str| {
        let cases = told["tools"][0]["cases"].as_array().unwrap();
        cases.iter().filter(|case| case["live"] == true && case["outcome"] == outcome).count()
    };
    assert!(live(&told, "held") > 0, "{told}");

    test(&project, &["asks", "breaks", "never", "--live", "--yes"]).with(0);
    assert!(touched("asked") && touched("broke") && !touched("ran"));
}

#[test]
fn an_error_of_the_tool_is_a_note_on_what_is_made_up() {
    let project =
        Project::new(&json!([])).tool("find", "echo 'no such thing' >&2; exit 1", &json!({}));
    let ended = test(&project, &["--live"]).with(0);
    assert!(ended.out.contains("the tool reports an error"), "{}", ended.out);
    // Whoever wrote the fixture means it.
    fs::create_dir_all(project.path("fixtures/find")).unwrap();
    let own =
        json!({ "fixtures": [{ "id": "mine", "instance": { "x": "a" }, "expect": "admitted" }] });
    project.write("fixtures/find/mine.json", &own);
    let ended = test(&project, &["--live"]).with(7);
    assert!(ended.out.contains("mine.json mine (live): "), "{}", ended.out);
}

#[test]
fn tools_of_a_list_are_tested_too() {
    let project = echo(&json!({}));
    let list = json!({ "tools": [
        { "name": "a/b", "description": "x", "inputSchema": { "type": "object", "required": ["id"] } },
        { "name": "c", "description": "x", "inputSchema": { "type": "object" } },
    ] });
    project.write("list.json", &list);
    let ended = test(&project, &["--from", "list.json"]).with(0);
    assert!(ended.out.contains("a/b: ") && ended.out.contains("2 tools"), "{}", ended.out);
    let ended = test(&project, &["--from", "list.json", "--coverage", "a/b"]).with(0);
    assert!(ended.out.contains("in /required: refuses 1 fixture"), "{}", ended.out);
    test(&project, &["--from", "list.json", "--update"]).with(2).says(&["--fixtures DIR"]);
    test(&project, &["--from", "list.json", "--update", "--fixtures", "kept"]).with(0);
    assert!(project.path("kept/a%2Fb/generated.json").is_file());
    test(&project, &["--from", "list.json", "--live"]).with(2);
    test(&project, &["--from", "gone.json"]).with(2).says(&["cannot read gone.json"]).tells_once();
}

#[test]
fn the_examples_fixtures_hold_and_are_up_to_date() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/support");
    let ended = callgate(&example, &["test", "--format", "json"]).run().with(0);
    let told = report(&ended);
    for tool in told["tools"].as_array().unwrap() {
        assert_eq!(
            tool["stale"], false,
            "callgate test -C examples/support --update: {}",
            tool["tool"]
        );
    }
    let own = |case: &Value| case["file"].is_string();
    let cases =
        told["tools"].as_array().unwrap().iter().flat_map(|t| t["cases"].as_array().unwrap());
    assert!(cases.into_iter().any(own), "{told}");
}
