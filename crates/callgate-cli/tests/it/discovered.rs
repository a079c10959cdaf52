//! `check`, `test` and `compat` on tools that MCP servers tell: judged as the lock pins them, compared
//! with what a server tells now, called where they are.

use serde_json::{Value, json};

use crate::{
    mcp::{lines, parsed, project, run, tells, tool},
    project::Project,
};

/// A server with one tool that is pinned, and its report.
fn pinned(tools: &[Value]) -> Project {
    let project = project(tools);
    run(&project, &["lock"]).with(0);
    project
}

fn findings(project: &Project, arguments: &[&str], code: i32) -> Vec<Value> {
    let ended = run(project, &[&["check", "--json"], arguments].concat()).with(code);
    parsed(&ended.out)["findings"].as_array().unwrap().clone()
}

#[test]
fn discovered_tools_are_judged_at_their_place_in_the_lock() {
    let mut open = tool("store");
    open["inputSchema"].as_object_mut().unwrap().remove("additionalProperties");
    open["description"] =
        json!("Stores\u{200b} a note. Use it when asked to keep something, only once.");
    let project = project(&[open, tool("read")]);
    // Of a server that was never pinned nothing is known, and that is said.
    run(&project, &["check"]).with(0).says(&["\"notes\" was never pinned", "callgate lock"]);
    assert!(!project.path("server/starts").exists(), "nothing is started to judge");
    run(&project, &["lock"]).with(0);
    let starts = lines(&project, "server/starts");

    let found = findings(&project, &[], 2);
    let of = |rule: &str| found.iter().find(|finding| finding["rule"] == rule);
    let hidden = of("hidden-characters").unwrap();
    assert_eq!(hidden["tool"], "notes__store");
    assert_eq!(hidden["file"], "callgate.lock");
    assert_eq!(hidden["pointer"], "/servers/notes/tools/store/definition/description");
    let lock = std::fs::read_to_string(project.path("callgate.lock")).unwrap();
    let line = lock.lines().nth(hidden["line"].as_u64().unwrap() as usize - 1).unwrap();
    assert!(line.contains("\"description\": \"Stores"), "{line}");
    assert_eq!(of("object-open").unwrap()["tool"], "notes__store");

    // The lock is nobody's to mend.
    assert!(found.iter().all(|finding| finding.get("fix").is_none()), "{found:?}");
    run(&project, &["check", "--fix"]).with(2);
    assert_eq!(std::fs::read_to_string(project.path("callgate.lock")).unwrap(), lock);

    // Their names are the catalog's in the settings as well.
    let rules: Vec<&str> = found.iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
    let allow: Vec<Value> = rules
        .iter()
        .map(|rule| json!({"rule": rule, "tools": "notes__*", "reason": "Not ours to change."}))
        .collect();
    project.write("callgate.check.json", &json!({ "allow": allow }));
    let left = findings(&project, &[], 0);
    assert_eq!(left, Vec::<Value>::new());
    assert_eq!(lines(&project, "server/starts"), starts, "nothing is started to judge");

    // By itself the file is judged as well, and refused where somebody changed it by hand.
    std::fs::remove_file(project.path("callgate.check.json")).unwrap();
    assert_eq!(findings(&project, &["callgate.lock", "--rule", "hidden-characters"], 2).len(), 1);
    project.write_text("callgate.lock", &lock.replace("Does read", "Does more"));
    run(&project, &["check", "callgate.lock"]).with(2);
    run(&project, &["compat", "callgate.lock", "callgate.lock"]).with(2).says(&["this hash"]);
}

#[test]
fn a_contract_in_the_place_of_a_discovered_tool_is_judged_instead_of_it() {
    let mut open = tool("store");
    open["inputSchema"].as_object_mut().unwrap().remove("additionalProperties");
    let project = pinned(&[open]).with("tools", json!([]));
    let is_open = |finding: &Value| finding["rule"] == "object-open";
    assert!(findings(&project, &[], 0).iter().any(is_open));
    std::fs::create_dir(project.path("tools")).unwrap();
    let project = project.with("tools", json!(["tools/*.json"]));
    project.write(
        "tools/store.json",
        &json!({
            "name": "store",
            "description": "Stores a note under a name of five letters at most.",
            "input": {"type": "object", "properties": {"to": {"type": "string", "maxLength": 5}},
                      "required": ["to"], "additionalProperties": false},
            "backend": {"mcp": {"server": "notes", "tool": "store"}},
        }),
    );
    let report = run(&project, &["check", "--json"]).with(0);
    let report = parsed(&report.out);
    assert!(!report["findings"].as_array().unwrap().iter().any(is_open), "{report}");
    assert_eq!((&report["contracts"], &report["tools"]), (&json!(1), &json!(0)));
}

#[test]
fn what_was_accepted_is_compared_with_what_a_server_tells_now() {
    let project = pinned(&[tool("store"), tool("read")]);
    let compat = |arguments: &[&str], code: i32| {
        let ended = run(&project, &[&["compat", "--json"], arguments].concat()).with(code);
        parsed(&ended.out)
    };
    assert_eq!(compat(&["callgate.lock", "mcp:notes"], 0)["step"], "none");
    // A project's catalog is compared with a server by what it has of it.
    assert_eq!(compat(&[".", "mcp:notes"], 0)["step"], "none");
    assert_eq!(compat(&[".", "callgate.lock"], 0)["step"], "none");

    let before = std::fs::read(project.path("callgate.lock")).unwrap();
    let mut narrower = tool("store");
    narrower["inputSchema"]["properties"]["to"]["maxLength"] = json!(3);
    tells(&project, &[narrower, tool("read"), tool("new")]);
    let report = compat(&["callgate.lock", "mcp:notes"], 7);
    assert_eq!(report["step"], "major");
    let changes = report["changes"].as_array().unwrap();
    let told: Vec<_> = changes.iter().map(|c| (c["tool"].as_str(), c["fate"].as_str())).collect();
    assert_eq!(told, [(Some("new"), Some("added")), (Some("store"), Some("changed"))]);
    assert_eq!(changes[1]["reasons"][0]["relation"], "narrower");
    // Looking accepts nothing.
    assert_eq!(std::fs::read(project.path("callgate.lock")).unwrap(), before);

    // From elsewhere, and a server that is none.
    run(&project, &["compat", "mcp:note", "callgate.lock"])
        .with(2)
        .says(&["there is no MCP server \"note\"", "Did you mean \"notes\"?"])
        .tells_once();
    tells(&project, &[json!({"name": "broken", "inputSchema": {"type": "objekt"}})]);
    run(&project, &["compat", "callgate.lock", "mcp:notes"]).with(2).says(&["broken"]).tells_once();
}

#[test]
fn discovered_tools_are_tested_and_called() {
    let mut safe = tool("store");
    safe["annotations"] = json!({"readOnlyHint": true});
    let project = project(&[safe]);
    run(&project, &["test"]).with(0).says(&["\"notes\" was never pinned"]);
    run(&project, &["lock"]).with(0);
    let starts = lines(&project, "server/starts");

    let gates = parsed(&run(&project, &["test", "--format", "json"]).with(0).out);
    assert_eq!(gates["tools"][0]["tool"], "notes__store", "{gates}");
    assert_eq!(lines(&project, "server/starts"), starts, "the gates need no server");

    run(&project, &["test", "--update"]).with(0);
    assert!(project.path("fixtures/notes__store/generated.json").is_file());

    // The server is ended with the verb: `run` looks after that.
    run(&project, &["test", "notes__store", "--live"]).with(0);
    assert_eq!(lines(&project, "server/starts"), starts + 1);
    assert!(lines(&project, "server/calls") > 0);
}
