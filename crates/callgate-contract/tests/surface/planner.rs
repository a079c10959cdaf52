//! The planner: what one request may hold.

use std::sync::Arc;

use callgate_contract::{
    Tool,
    surface::{Family, Limits, Overflow, PlanError, PlanOptions, Surface, plan},
};
use serde_json::{Value, json};

use crate::support::{schema, tool};

fn tools(count: usize, input: &Value) -> Vec<Arc<Tool>> {
    (0..count).map(|n| tool(&format!("tool_{n}"), input)).collect()
}

fn strict() -> PlanOptions {
    PlanOptions { strict: true, ..PlanOptions::default() }
}

#[test]
fn too_many_tools_are_refused_or_told() {
    let many = tools(130, &json!({"type": "object"}));
    for family in [Family::OpenAi, Family::DeepSeek, Family::Mistral, Family::Compatible] {
        let refused = plan(&many, family, &PlanOptions::default()).map(|plan| plan.tools.len());
        assert_eq!(refused, Err(PlanError::TooManyTools { count: 130, limit: 128 }));
        let options = PlanOptions { overflow: Overflow::Drop, ..PlanOptions::default() };
        let plan = plan(&many, family, &options).expect("a plan");
        assert_eq!((plan.tools.len(), plan.dropped.len()), (128, 2));
        assert_eq!(&*plan.dropped[0].tool.name, "tool_128");
    }
    assert!(plan(&many, Family::Anthropic, &PlanOptions::default()).is_ok());
    let many = tools(513, &json!({"type": "object"}));
    assert!(plan(&many, Family::Gemini, &PlanOptions::default()).is_err());
    assert!(plan(&many, Family::Ollama, &PlanOptions::default()).is_ok());
}

#[test]
fn no_tools_are_no_tools() {
    let none: [Arc<Tool>; 0] = [];
    assert!(plan(&none, Family::OpenAi, &strict()).expect("a plan").tools.is_empty());
}

/// How many of the tools are strict, and why the first other one is not.
fn count(family: Family, tools: &[Arc<Tool>], options: &PlanOptions) -> (usize, Option<String>) {
    let plan = plan(tools, family, options).expect("a plan");
    let strict = plan.tools.iter().take_while(|p| p.projection.strict == Some(true)).count();
    let why =
        plan.tools.get(strict).and_then(|p| Some(p.projection.fell_back.as_ref()?.why.clone()));
    for planned in &plan.tools[strict..] {
        assert_ne!(planned.projection.strict, Some(true), "only the last ones fall back");
        assert_eq!(planned.projection.surface, family.surface(false));
    }
    (strict, why)
}

#[test]
fn anthropic_counts_over_the_request() {
    let plain =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let (strict_tools, why) = count(Family::Anthropic, &tools(25, &plain), &strict());
    assert_eq!(strict_tools, 20);
    assert_eq!(why.as_deref(), Some("a request may hold 20 strict tools, and this would be 21"));
    let five = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"},
        "d": {"type": "string"}, "e": {"type": "string"}}, "additionalProperties": false});
    assert_eq!(count(Family::Anthropic, &tools(6, &five), &strict()).0, 4);
    let union = json!({"type": "object", "properties": {
        "a": {"type": ["string", "null"]},
        "b": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}, "required": ["a", "b"]});
    assert_eq!(count(Family::Anthropic, &tools(10, &union), &strict()).0, 8);
    // The answer shares the allowance.
    let answer = schema(&json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}}}));
    let options = PlanOptions { answer: Some(answer), ..strict() };
    assert_eq!(count(Family::Anthropic, &tools(6, &five), &options).0, 4);
    let answer = schema(&json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"},
        "d": {"type": "string"}, "e": {"type": "string"}}}));
    let options = PlanOptions { answer: Some(answer), ..strict() };
    assert_eq!(count(Family::Anthropic, &tools(6, &five), &options).0, 3);
    // Other limits than the provider's.
    let limits = Limits { tools: None, strict: Some(1), optional: None, unions: None };
    let options = PlanOptions { limits: Some(limits), ..strict() };
    assert_eq!(count(Family::Anthropic, &tools(6, &five), &options).0, 1);
}

#[test]
fn one_schema_beyond_the_limits_falls_back_alone() {
    let wide: serde_json::Map<String, Value> =
        (0..5_001).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let mut deep = json!({"type": "string"});
    for _ in 0..11 {
        deep = json!({"type": "object", "properties": {"x": deep}, "required": ["x"]});
    }
    let many: Vec<String> = (0..1_001).map(|n| format!("v{n}")).collect();
    let long: Vec<String> = (0..251).map(|n| format!("{n}{}", "x".repeat(60))).collect();
    for (input, why) in [
        (json!({"type": "object", "properties": wide}), "5001 properties, 5000 are allowed"),
        (deep, "11 levels, 10 are allowed"),
        (
            json!({"type": "object", "properties": {"e": {"enum": many}}}),
            "1001 enum values, 1000 are allowed",
        ),
        (
            json!({"type": "object", "properties": {"e": {"enum": long}}}),
            "15703 characters in one enum, 15000 are allowed",
        ),
    ] {
        let fine = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let offered = [tool("large", &input), tool("small", &fine)];
        let plan = plan(&offered, Family::OpenAi, &strict()).expect("a plan");
        let reason = plan.tools[0].projection.fell_back.as_ref().expect("a reason");
        assert_eq!((reason.class, reason.why.as_str()), ("strict_unavailable", why));
        assert_eq!(plan.tools[0].projection.surface, Surface::OpenAiLoose);
        assert_eq!(plan.tools[1].projection.strict, Some(true));
    }
}

#[test]
fn a_plan_is_the_same_every_time() {
    let input = json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": ["integer", "null"]}}});
    let offered = [tool("x.y", &input), tool("b", &input), tool("c d", &input)];
    let bytes = || {
        let plan = plan(&offered, Family::OpenAi, &strict()).expect("a plan");
        let told: Vec<String> = plan
            .tools
            .iter()
            .map(|p| format!("{} {}", p.projection.name, p.projection.parameters))
            .collect();
        assert!(plan.tools[0].is_renamed() && !plan.tools[1].is_renamed());
        assert_eq!(&*plan.by_name("x.y").expect("it").tool.name, "x.y");
        told.join("\n")
    };
    assert_eq!(bytes(), bytes());
}
