//! What was recorded, judged again: by other contracts, and by the doctor.

use std::fs;

use serde_json::json;

use super::{json_of, only, runs};
use crate::{
    binary::callgate,
    project::{Project, calls, says},
};

fn echoing() -> (Project, String) {
    let project = Project::new(&json!([
        calls(&[("echo", json!({ "x": "abc" })), ("echo", json!({ "x": "a" }))]),
        says("Done.")
    ]))
    .tool("echo", "cat", &json!({}));
    callgate(project.dir(), &["run", "Go."]).run().with(0);
    let id = only(&project);
    (project, id)
}

#[test]
fn other_contracts_are_tried_on_what_was() {
    let (project, id) = echoing();
    runs(&project, &["replay", "--against", "."], 0);
    fs::create_dir(project.path("exports")).unwrap();
    runs(&project, &["export", &id, "-o", "exports"], 0);
    // The same contract, but for what is too long.
    let text = fs::read_to_string(project.path("tools/echo.json")).unwrap();
    let mut contract: serde_json::Value = serde_json::from_str(&text).unwrap();
    contract["input"]["properties"]["x"]["maxLength"] = json!(2);
    project.write("tools/echo.json", &contract);
    let against = |of: &[&str], by: &str, code| {
        runs(&project, &[&["replay"], of, &["--against", by]].concat(), code)
    };
    for of in [&[id.as_str()][..], &["exports"], &[]] {
        for by in [".", "tools", "tools/echo.json"] {
            let ended = against(of, by, 7).tells_once();
            let ended = ended.says(&["1 of 2 recorded calls would now be refused"]);
            for part in [id.as_str(), "hop 1", "echo (call_0)", "/x maxLength: expected 2"] {
                assert!(ended.out.contains(part), "{part}: {}", ended.out);
            }
        }
    }
    let ended = runs(&project, &["replay", "exports", "--against", ".", "--json"], 7);
    let told = json_of(&ended);
    assert_eq!((&told["calls"], &told["unjudged"]), (&json!(2), &json!([])));
    let refused = &told["refused"][0];
    assert_eq!((&refused["run"], &refused["call"]), (&json!(id), &json!("call_0")));
    assert_eq!(refused["now"]["fault"]["violations"][0]["keyword"], "maxLength");
    // What was is as it was.
    runs(&project, &["replay", "exports"], 0);
    against(&["exports"], "nowhere", 2).tells_once();
    against(&["nowhere.jsonl"], ".", 7);
}

#[test]
fn the_doctor_finds_the_known_ways() {
    let (project, id) = echoing();
    let told = runs(&project, &["doctor", &id, "--strict"], 0).out;
    assert!(told.contains("nothing"), "{told}");

    let wrong = || calls(&[("echo", json!({ "x": "too long" }))]);
    let project =
        Project::new(&json!([wrong(), wrong(), wrong(), wrong()])).tool("echo", "cat", &json!({}));
    callgate(project.dir(), &["run", "Go."]).run().with(4);
    let id = only(&project);
    let told = runs(&project, &["doctor", &id], 0).out;
    for part in ["refused arguments", "hop 1", "echo (call_0)", "try:"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    runs(&project, &["doctor", &id, "--strict"], 7).says(&["finding"]);
    runs(&project, &["export", &id, "-o", "run.jsonl"], 0);
    let told = json_of(&runs(&project, &["doctor", "run.jsonl", "--json"], 0));
    assert!(told["findings"].as_array().is_some_and(|f| !f.is_empty()), "{told}");
    assert_eq!(told["findings"][0]["hop"], 1);
}
