use callgate_contract::{
    Catalog,
    lint::{Level, Paper, Policy, check},
};
use serde_json::{Value, json};

use crate::{clean, findings_with, list, without};

fn open() -> Value {
    without("/input/additionalProperties")
}

fn ids(document: &Value, policy: &Policy) -> Vec<&'static str> {
    findings_with(&document.to_string(), policy).iter().map(|finding| finding.rule).collect()
}

fn settings(value: &Value) -> Policy {
    Policy::read("callgate.check.json", &value.to_string())
        .unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

#[test]
fn a_contract_allows_itself_what_it_gives_a_reason_for() {
    let mut contract = open();
    assert!(ids(&contract, &Policy::default()).contains(&"object-open"));
    contract["lint"] = json!({"allow": [{"rule": "object-open", "reason": "The backend takes anything."},
        {"rule": "strict-loss", "reason": "It is open."}]});
    assert!(!ids(&contract, &Policy::default()).contains(&"object-open"));
    // The contract loads, and is the same to the model and the gates.
    let text = contract.to_string();
    let catalog = Catalog::load([("tool.json", text.as_str())]).expect("it loads");
    let plain = open().to_string();
    let plain = Catalog::load([("tool.json", plain.as_str())]).expect("it loads");
    let print = |catalog: &Catalog| catalog.get("list_orders").map(|tool| tool.fingerprint());
    assert_eq!(print(&catalog), print(&plain));
}

#[test]
fn a_reason_is_asked_for() {
    for lint in [
        json!({"allow": [{"rule": "object-open"}]}),
        json!({"allow": [{"rule": "object-open", "reason": ""}]}),
        json!({"alow": []}),
    ] {
        let mut contract = open();
        contract["lint"] = lint.clone();
        let text = contract.to_string();
        let mistakes = Catalog::load([("tool.json", text.as_str())]).expect_err("a mistake");
        assert!(mistakes[0].pointer.starts_with("/lint"), "{mistakes:?}");
        assert!(ids(&contract, &Policy::default()).contains(&"object-open"), "{lint}");
    }
}

#[test]
fn settings_allow_by_name_and_set_levels() {
    let tools = list(&["git_log", "git_show", "search"]);
    let mut tools = tools;
    for i in 0..3 {
        tools["tools"][i].as_object_mut().expect("a tool").remove("outputSchema");
    }
    let policy = settings(&json!({"allow": [
        {"rule": "output-missing", "tools": "git_*", "reason": "The server is not ours."}
    ]}));
    let found = findings_with(&tools.to_string(), &policy);
    let left: Vec<_> = found.iter().map(|f| (f.rule, f.tool.as_deref())).collect();
    assert_eq!(left, [("output-missing", Some("search"))]);

    let policy = settings(&json!({"levels": {"output-missing": "error"}}));
    let found = findings_with(&tools.to_string(), &policy);
    assert!(found.iter().all(|finding| finding.level == Level::Error) && found.len() == 3);
    assert_eq!(ids(&tools, &settings(&json!({"levels": {"output-missing": "off"}}))).len(), 0);
}

#[test]
fn what_allows_nothing_is_told_with_its_place() {
    let policy = Policy::read(
        "callgate.check.json",
        "{\"allow\": [\n {\"rule\": \"object-open\", \"tools\": \"list_*\", \"reason\": \"Once it was.\"}]}",
    )
    .expect("settings");
    let found = findings_with(&clean().to_string(), &policy);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rule, "allow-unused");
    assert_eq!(
        (found[0].file.as_str(), found[0].line, found[0].column),
        ("callgate.check.json", 2, 2)
    );
    // For tools that were not judged, or where only some were, nothing is said.
    assert_eq!(findings_with(&clean().to_string(), &policy.clone().partial()), []);
    let others = settings(&json!({"allow": [
        {"rule": "object-open", "tools": "git_*", "reason": "They are not ours."}
    ]}));
    assert_eq!(findings_with(&clean().to_string(), &others), []);
    // A rule that was not asked says nothing of its allowances.
    let policy = policy.without(["object-open".to_owned()]);
    assert_eq!(findings_with(&clean().to_string(), &policy), []);
}

#[test]
fn findings_about_a_catalog_are_allowed_for_all_tools() {
    let names: Vec<String> = (0..21).map(|i| format!("s_tool{i}x")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = list(&names);
    assert!(ids(&many, &Policy::default()).contains(&"too-many-tools"));
    let policy =
        settings(&json!({"allow": [{"rule": "too-many-tools", "reason": "They are searched."}]}));
    assert!(!ids(&many, &policy).contains(&"too-many-tools"));
}

#[test]
fn only_and_without_choose_rules() {
    let mut contract = open();
    contract["description"] = json!("Lists.");
    let only = Policy::default().only(["object-open".to_owned()]);
    assert_eq!(ids(&contract, &only), ["object-open"]);
    let without = Policy::default().without(["object-open".to_owned()]);
    let left = ids(&contract, &without);
    assert!(!left.contains(&"object-open") && left.contains(&"description-thin"), "{left:?}");
}

#[test]
fn contracts_of_one_catalog_are_judged_together() {
    let texts: Vec<(String, String)> = (0..22)
        .map(|i| {
            let mut contract = clean();
            contract["name"] = json!(format!("shop_tool{i}"));
            (format!("tools/{i:02}.json"), contract.to_string())
        })
        .collect();
    let papers = |texts: &'_ [(String, String)]| -> Vec<String> {
        let papers = texts
            .iter()
            .map(|(name, text)| Paper::read(name, text).expect("JSON").expect("a contract"))
            .collect();
        check(&[papers], &Policy::default())
            .into_iter()
            .map(|finding| format!("{} {}", finding.rule, finding.file))
            .collect()
    };
    let found = papers(&texts);
    assert!(found.contains(&"too-many-tools tools/20.json".to_owned()), "{found:?}");
    assert!(found.contains(&"descriptions-alike tools/00.json".to_owned()), "{found:?}");
    assert_eq!(papers(&texts[..1]), Vec::<String>::new());
}
