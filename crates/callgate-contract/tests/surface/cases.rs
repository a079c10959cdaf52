//! The reported failures of the family provider-projection, from their own file.
//!
//! `CALLGATE_CASES` names another file of the same form.

use std::sync::Arc;

use callgate_contract::{
    Mode, Verdict,
    surface::{Family, Offer, Plan, PlanError, PlanOptions, plan},
};
use serde_json::{Value, json};

use crate::support::{admits, project_root, schema, tool};

#[test]
fn reported_projection_failures_do_not_happen_here() {
    let path = std::env::var_os("CALLGATE_CASES")
        .map_or_else(|| project_root().join("tests/cases/cases.jsonl"), Into::into);
    let text = std::fs::read_to_string(&path).expect("the cases");
    let mut played = 0;
    let mut failed = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        if case["family"] != "provider-projection" {
            continue;
        }
        played += 1;
        let id = case["id"].as_str().unwrap_or_default();
        for (mode, expected) in case["expected"].as_object().into_iter().flatten() {
            let mode = if mode == "strict" { Mode::Strict } else { Mode::Lenient };
            if let Err(why) = play(&case["input"], expected, mode) {
                failed.push(format!("{id}: {why}"));
            }
        }
    }
    println!("{played} cases, {} failed", failed.len());
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(played > 0 || std::env::var_os("CALLGATE_CASES").is_some());
}

fn family(provider: &str) -> Result<Family, String> {
    Ok(match provider {
        "openai" | "openai-responses" => Family::OpenAi,
        "anthropic" => Family::Anthropic,
        "gemini" => Family::GeminiParameters,
        "deepseek" => Family::DeepSeek,
        "mistral" => Family::Mistral,
        "ollama" => Family::Ollama,
        "llama.cpp" | "llamacpp" | "vllm" | "compatible" => Family::Compatible,
        other => return Err(format!("unknown provider {other}")),
    })
}

fn offers(input: &Value) -> Vec<Offer> {
    if let Some(schema) = input.get("schema") {
        return vec![tool("the_tool", schema).into()];
    }
    let mut listed: Vec<(String, String)> = Vec::new();
    for tool in input["tools"].as_array().into_iter().flatten() {
        let server = tool["server"].as_str().unwrap_or_default();
        listed.push((server.to_owned(), tool["name"].as_str().unwrap_or_default().to_owned()));
    }
    let generated = &input["tools_generate"];
    for n in 0..generated["count"].as_u64().unwrap_or_default() {
        let server = generated["server"].as_str().unwrap_or_default();
        listed.push((
            server.to_owned(),
            format!("{}{n}", generated["prefix"].as_str().unwrap_or_default()),
        ));
    }
    let naming = input["naming"].as_str();
    listed
        .into_iter()
        .map(|(server, name)| {
            let name = match naming {
                Some(naming) => naming.replace("{server}", &server).replace("{name}", &name),
                None => name,
            };
            Offer {
                tool: tool(&name, &json!({"type": "object", "properties": {}})),
                server: Some(Arc::from(server.as_str())),
            }
        })
        .collect()
}

fn play(input: &Value, expected: &Value, mode: Mode) -> Result<(), String> {
    let provider = input["provider"].as_str().unwrap_or_default();
    let options = PlanOptions {
        strict: input["strict"].as_bool().unwrap_or_default(),
        ..PlanOptions::default()
    };
    let offers = offers(input);
    let outcome = plan(offers.clone(), family(provider)?, &options);
    let plan = match outcome {
        Ok(plan) => plan,
        Err(PlanError::TooManyTools { count, limit }) => {
            let told = json!({"class": "too_many_tools", "count": count, "limit": limit});
            return equal("error", &told, &expected["error"]);
        }
    };
    if expected["outcome"] != "request" {
        return Err(format!("a plan was made, expected {expected}"));
    }
    for (key, wanted) in expected.as_object().into_iter().flatten() {
        match key.as_str() {
            "outcome" | "provider" | "request_sent" => {}
            "parameters" | "input_schema" => {
                equal(key, &plan.tools[0].projection.parameters, wanted)?;
            }
            "strict" => {
                equal(key, &json!(plan.tools[0].projection.strict == Some(true)), wanted)?;
            }
            "note_to_host" => {
                let reason = plan.tools[0].projection.fell_back.as_ref();
                let reason = reason.ok_or("no reason for falling back")?;
                equal(key, &json!({"class": reason.class, "path": reason.path}), wanted)?;
            }
            "dispatched_arguments" => {
                let raw = input["model_arguments_raw"].as_str().unwrap_or_default();
                let planned = &plan.tools[0];
                match planned.projection.restore.admit(&planned.tool, raw, mode) {
                    Verdict::Admitted { arguments, .. } => {
                        equal(key, &arguments.to_value(), wanted)?;
                    }
                    Verdict::Refused(fault) => return Err(format!("refused: {}", fault.message)),
                }
            }
            "local_validation" => {
                let raw = input["then_arguments_raw"].as_str().unwrap_or_default();
                let planned = &plan.tools[0];
                let Verdict::Refused(fault) =
                    planned.projection.restore.admit(&planned.tool, raw, mode)
                else {
                    return Err("admitted".to_owned());
                };
                let first = fault.violations.first().ok_or("no violation")?;
                let told = json!({
                    "class": fault.kind, "path": first.path, "keyword": first.keyword,
                });
                equal(key, &told, wanted)?;
            }
            "names" => names(&plan, &offers, provider, &options, wanted)?,
            "dispatch_uses_original_name" => {
                for (planned, offer) in plan.tools.iter().zip(&offers) {
                    if planned.tool.name != offer.tool.name {
                        return Err(format!("{} is dispatched elsewhere", offer.tool.name));
                    }
                }
            }
            "routes" => {
                for (position, server) in wanted.as_object().into_iter().flatten() {
                    let position: usize = position.parse().map_err(|_| "a position")?;
                    let wire = &plan.tools[position].projection.name;
                    let routed = plan.by_wire(wire).and_then(|p| p.server.as_deref());
                    equal("routes", &json!(routed), server)?;
                }
            }
            "body_must_not_have" => {
                if !plan.tools.is_empty() {
                    return Err("tools are left".to_owned());
                }
            }
            other => return Err(format!("this test does not know {other}")),
        }
    }
    Ok(())
}

fn names(
    plan: &Plan,
    offers: &[Offer],
    provider: &str,
    options: &PlanOptions,
    wanted: &Value,
) -> Result<(), String> {
    let names: Vec<&str> = plan.tools.iter().map(|p| p.projection.name.as_str()).collect();
    let pattern = schema(&json!({"type": "string", "pattern": wanted["pattern"]}));
    if let Some(odd) = names.iter().find(|name| !admits(&pattern, &json!(name).to_string())) {
        return Err(format!("{odd} does not match"));
    }
    equal("count", &json!(names.len()), &wanted["count"])?;
    let mut distinct = names.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() != names.len() {
        return Err(format!("not unique: {names:?}"));
    }
    for (name, offer) in names.iter().zip(offers) {
        let back = plan.by_wire(name).ok_or("no way back")?;
        if !Arc::ptr_eq(&back.tool, &offer.tool) {
            return Err(format!("{name} leads to another tool"));
        }
    }
    let mut reversed = offers.to_vec();
    reversed.reverse();
    let again = callgate_contract::surface::plan(reversed, family(provider)?, options)
        .map_err(|e| e.to_string())?;
    for (name, planned) in names.iter().rev().zip(&again.tools) {
        if *name != planned.projection.name {
            return Err(format!("{name} depends on the order"));
        }
    }
    Ok(())
}

fn equal(what: &str, got: &Value, wanted: &Value) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what}: got {got}, expected {wanted}")) }
}
