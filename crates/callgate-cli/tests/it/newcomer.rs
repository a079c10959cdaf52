//! What goes wrong for somebody new: one clear message that says what, where, and what to do.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::{
    binary::callgate,
    project::{Project, calls, says},
    server::{Answer, Server},
};

fn hello() -> Project {
    Project::new(&json!([says("Hello.")]))
}

#[test]
fn models_that_cannot_be_had() {
    let project = hello();
    for (model, parts) in [
        ("opnai:gpt-5.4", &["unknown provider \"opnai\"", "did you mean \"openai:gpt-5.4\""][..]),
        ("gpt-5.4", &["names no provider", "openai:gpt-5.4"]),
        ("openai:gpt-5.4", &["needs a key", "OPENAI_API_KEY", "local:qwen2.5-coder-1.5b"]),
        ("groq/llama", &["needs a key", "GROQ_API_KEY"]),
        ("compat:mine", &["base URL", "OPENAI_BASE_URL"]),
        ("openai:", &["names no model"]),
        ("script:nowhere.json", &["cannot read the script nowhere.json"]),
        ("local:qwen2.5-coder-1.5b", LOCAL),
    ] {
        let ended = callgate(project.dir(), &["run", "Go.", "-m", model]).run();
        ended.with(2).tells_once().says(parts);
    }
}

#[cfg(feature = "local")]
const LOCAL: &[&str] = &["is not on this machine yet", "callgate model pull qwen2.5-coder-1.5b"];
#[cfg(not(feature = "local"))]
const LOCAL: &[&str] = &["built without the local model", "--features local"];

#[test]
fn no_model_at_all() {
    let project = hello();
    project.write("agent.json", &json!({ "name": "test" }));
    let ended = callgate(project.dir(), &["run", "Go."]).env("CALLGATE_MODEL", "").run();
    ended.with(2).tells_once().says(&["which model", "--model", "CALLGATE_MODEL", "agent.json"]);
}

#[test]
fn the_model_is_chosen_in_order() {
    let project = hello();
    for name in ["variable", "option"] {
        let script = json!({ "replies": [says(&format!("By {name}."))] });
        project.write(&format!("{name}.json"), &script);
    }
    let run = |arguments: &[&str], variable: &str| {
        callgate(project.dir(), arguments).env("CALLGATE_MODEL", variable).run().with(0).out
    };
    assert_eq!(run(&["run", "Go."], ""), "Hello.\n");
    assert_eq!(run(&["run", "Go."], "script:variable.json"), "By variable.\n");
    let option = ["run", "Go.", "-m", "script:option.json"];
    assert_eq!(run(&option, "script:variable.json"), "By option.\n");
}

#[test]
fn projects_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let ended = callgate(folder.path(), &["run", "Go."]).run();
    ended.with(2).tells_once().says(&["no agent.json in .", "callgate init"]);
    let ended = callgate(folder.path(), &["run", "Go.", "-C", "elsewhere"]).run();
    ended.with(2).tells_once().says(&["no agent.json in elsewhere"]);

    let project = hello();
    project
        .write_text("agent.json", "{\n  \"name\": \"test\",\n  \"model\": \"script:r.json\",\n}\n");
    let ended = callgate(project.dir(), &["run", "Go."]).run();
    ended.with(2).tells_once().says(&["agent.json:4:1:", "comma"]);

    project
        .write_text("agent.json", "{\n  \"name\": \"test\",\n  \"modle\": \"script:r.json\"\n}\n");
    let ended = callgate(project.dir(), &["run", "Go."]).run();
    ended.with(2).tells_once().says(&["agent.json:3:", "\"modle\"", "Did you mean \"model\"?"]);

    let project = hello().with("tools", json!(["tools/*.json"]));
    let ended = callgate(project.dir(), &["run", "Go."]).run();
    ended.with(2).tells_once().says(&["agent.json:", "no file matches \"tools/*.json\""]);
}

#[test]
fn contracts_with_slips() {
    let slip = json!({ "input": { "type": "object", "properties": { "x": { "type": "string", "maxLenght": 5 } } } });
    let project = hello().tool("echo", "cat", &slip);
    let ended = callgate(project.dir(), &["run", "Go."]).run();
    ended.with(2).tells_once().says(&["tools/echo.json:", "maxLenght", "maxLength"]);
    let ended = callgate(project.dir(), &["run", "Go.", "--json"]).run().with(2);
    let error: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(error["error"]["code"], "mistakes");
    assert_eq!(error["error"]["mistakes"][0]["pointer"], "/input/properties/x/maxLenght");
    assert!(error["error"]["mistakes"][0]["line"].as_u64().unwrap() > 1, "{error}");
}

#[test]
fn command_lines_with_slips() {
    let project = hello();
    for (arguments, parts) in [
        (&["chekc"][..], &["chekc", "'check'"][..]),
        (&["run", "Go.", "--jsn"], &["--jsn", "'--json'"]),
        (&["run"], &["<GOAL>", "Usage: callgate run"]),
        (&["run", "Go.", "--mode", "strct"], &["strct", "'strict'"]),
        (&["run", "Go.", "--max-steps", "0"], &["--max-steps", "0"]),
        (&["run", "Go.", "--yes", "--deny"], &["--yes", "--deny", "cannot be used with"]),
        (&["schema", "tols"], &["tols", "'tool'"]),
        (&["run", "  "], &["the goal is empty"]),
        (&["run", "@nowhere.txt"], &["cannot read nowhere.txt", "@@"]),
        (&["run", "Go.", "--caller", "ann"], &["--caller is no JSON object"]),
        (&["run", "Go.", "--caller", "[1]"], &["--caller is no JSON object", "[1]"]),
        (&["run", "Go.", "--caller", "@nowhere.json"], &["cannot read nowhere.json"]),
        (&["tools", "show", "ecko"], &["there is no tool \"ecko\""]),
        (&["tools", "call", "ecko", "@nowhere.json"], &["cannot read nowhere.json"]),
        (&["check", "nowhere.json"], &["nowhere.json"]),
    ] {
        callgate(project.dir(), arguments).run().with(2).tells_once().says(parts);
    }
    let ended = callgate(project.dir(), &["run", "--json"]).run().with(2);
    let error: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(error["error"]["code"], "usage");
    assert!(error["error"]["message"].as_str().unwrap().contains("<GOAL>"), "{error}");
}

#[test]
fn goals_from_elsewhere() {
    let project = hello();
    project.write_text("goal.txt", "From a file.\n");
    for (goal, input, expected) in [
        ("From here.", "", "From here."),
        ("@goal.txt", "", "From a file."),
        ("-", "From a pipe.\n", "From a pipe."),
        ("@@here", "", "@here"),
    ] {
        let ended = callgate(project.dir(), &["run", goal, "--json"]).input(input).run().with(0);
        let first: Value = serde_json::from_str(ended.out.lines().next().unwrap()).unwrap();
        assert_eq!(first["goal"], expected);
    }
}

#[test]
fn a_service_that_is_down() {
    // A port that was free a moment ago, and nobody listens on.
    let url = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let project = Project::support().script(&json!([
        calls(&[("get_ticket", json!({ "ticketId": "T-1042" }))]),
        says("The ticket system cannot be reached.")
    ]));
    let ended = callgate(project.dir(), &["run", "Who has T-1042?", "-m", "script:replies.json"])
        .env("SUPPORT_URL", &url)
        .run()
        .with(0)
        .says(&["get_ticket failed", "transport_lost", "cannot be reached", "answered"]);
    assert_eq!(ended.out, "The ticket system cannot be reached.\n");
}

#[test]
fn providers_that_fail() {
    let project = hello();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/v1");
    let run = |url: &str| {
        callgate(project.dir(), &["run", "Go.", "-m", "compat:m", "--base-url", url])
            .env("OPENAI_API_KEY", "sk-secret-of-a-test")
            .run()
            .with(5)
            .tells_once()
    };
    run(&url).says(&["cannot reach", &url, "refused"]);

    let said =
        json!({ "error": { "message": "Incorrect API key provided", "code": "invalid_api_key" } });
    let server = Server::playing(vec![Answer::status(401, &said)]);
    let ended = run(&format!("{}/v1", server.url)).says(&["Incorrect API key provided"]);
    assert!(!ended.err.contains("sk-secret"), "{}", ended.err);
    assert_eq!(server.seen().len(), 1, "a wrong key is not tried again");

    let said = json!({ "error": { "message": "The model `m` does not exist", "code": "model_not_found" } });
    let server = Server::playing(vec![Answer::status(404, &said)]);
    run(&format!("{}/v1", server.url)).says(&["The model `m` does not exist"]);
}

#[test]
fn a_tool_that_hangs() {
    let shell = "echo $$ > pids; sleep 600 & echo $! >> pids; wait";
    let project = Project::new(&json!([calls(&[("hang", json!({}))]), says("It took too long.")]))
        .tool("hang", shell, &json!({ "timeoutMs": 1500 }));
    let ended = callgate(project.dir(), &["run", "Go."]).run().with(0);
    let ended = ended.says(&["hang failed", "timeout", "answered"]);
    assert_eq!(ended.out, "It took too long.\n");
    crate::cancel::assert_gone(&project.path("tools/pids"));
}

#[test]
fn nobody_to_ask() {
    let project = Project::new(&json!([calls(&[("ask", json!({}))]), says("It was not allowed.")]))
        .tool("ask", "cat", &json!({ "tier": "approve" }));
    let run = |more: &[&str]| {
        let mut arguments = vec!["run", "Go."];
        arguments.extend(more);
        callgate(project.dir(), &arguments).run().with(0)
    };
    run(&[]).says(&["ask waits for approval", "no terminal to ask on", "--yes", "rejected"]);
    run(&["--deny"]).says(&["rejected by The runtime", "--deny"]);
    run(&["--yes"]).says(&["ask approved", "ask gave in"]);
    assert_eq!(run(&["--answer-only"]).err, "");
}
