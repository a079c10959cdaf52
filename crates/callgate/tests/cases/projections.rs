//! Family `provider-projection`: what a provider is sent of a catalog, and what comes back of it.
//!
//! Each case is a run: the catalog is mounted as an engine would, the request is written by the
//! provider's codec, the model calls each tool under the name that it read in the body, and the
//! codec's reply goes through restore, gate and dispatch.

use std::sync::Arc;

use callgate_contract::{
    Catalog, Mode,
    document::Document,
    schema::Schema,
    surface::{Family, Offer, PlanOptions, Surface, plan, project},
};
use callgate_machine::{Agent, Mount, event::GateVerdict};
use callgate_wire::{Request, ToolDefinition};
use serde_json::{Value, json};

use crate::{
    Case, Verdict, check,
    dialects::{self, Defined, Dialect},
    play, stated,
};

/// A tool of a case: the server it is on, its name there, its name in the catalog.
struct Tool {
    server: Option<String>,
    own: String,
    name: String,
    schema: Value,
}

/// What one API is sent, and what comes of the calls that it answers by.
struct Shown {
    body: Option<Value>,
    defined: Vec<Defined>,
    mount: Mount,
    played: play::Played,
}

pub(crate) fn run(case: &Case, mode: Mode) -> Verdict {
    let input = &case.input;
    check::known(
        input,
        &[
            "provider",
            "strict",
            "schema",
            "model_arguments_raw",
            "then_arguments_raw",
            "tools",
            "naming",
            "tools_generate",
            "limit",
        ],
        "input",
    )?;
    let tools = tools(input)?;
    let strict = input.get("strict").and_then(Value::as_bool).unwrap_or_default();
    for dialect in dialects::of(input.get("provider").and_then(Value::as_str))? {
        let catalog = catalog(&tools);
        let shown = show(&dialect, &catalog, strict, arguments(input), mode);
        for stated in stated(&case.expected, mode) {
            let verdict = match stated["outcome"].as_str() {
                Some("host_error") => refused(stated, input, &dialect, &shown),
                Some("request") => sent(stated, input, &tools, &dialect, &shown),
                other => Err(format!("the outcome {other:?} is not known to this test")),
            };
            verdict.map_err(|why| format!("{}: {why}", dialect.name))?;
        }
    }
    Ok(())
}

fn tools(input: &Value) -> Result<Vec<Tool>, String> {
    let word = |value: &Value, key: &str| {
        value[key].as_str().map(str::to_owned).ok_or_else(|| format!("no {key} in {value}"))
    };
    if let Some(schema) = input.get("schema") {
        let (own, name) = ("the_tool".to_owned(), "the_tool".to_owned());
        return Ok(vec![Tool { server: None, own, name, schema: schema.clone() }]);
    }
    let mut listed = Vec::new();
    for tool in input.get("tools").and_then(Value::as_array).into_iter().flatten() {
        check::known(tool, &["server", "name"], "a tool")?;
        listed.push((word(tool, "server")?, word(tool, "name")?));
    }
    if let Some(generate) = input.get("tools_generate") {
        check::known(generate, &["server", "prefix", "count"], "tools_generate")?;
        let (server, prefix) = (word(generate, "server")?, word(generate, "prefix")?);
        let count = generate["count"].as_u64().ok_or("no count")?;
        listed.extend((0..count).map(|n| (server.clone(), format!("{prefix}{n}"))));
    }
    // Servers share one catalog, so the server is a part of the name there.
    let naming = input.get("naming").and_then(Value::as_str).unwrap_or("{server}.{name}");
    let tool = |(server, own): (String, String)| Tool {
        name: naming.replace("{server}", &server).replace("{name}", &own),
        server: Some(server),
        own,
        schema: json!({ "type": "object" }),
    };
    Ok(listed.into_iter().map(tool).collect())
}

fn catalog(tools: &[Tool]) -> Arc<Catalog> {
    let contract =
        |tool: &Tool| json!({ "name": tool.name, "description": "Does it.", "input": tool.schema });
    play::catalog(&tools.iter().map(contract).collect::<Vec<_>>())
}

/// What the model gives each tool.
fn arguments(input: &Value) -> &str {
    let word = |key: &str| input.get(key).and_then(Value::as_str);
    word("model_arguments_raw").or_else(|| word("then_arguments_raw")).unwrap_or("{}")
}

fn show(
    dialect: &Dialect,
    catalog: &Arc<Catalog>,
    strict: bool,
    arguments: &str,
    mode: Mode,
) -> Shown {
    let mount = Mount::of(catalog, dialect.family, strict, None);
    let mut body = None;
    let world = play::World {
        model: Box::new(|request| {
            if body.is_some() {
                return Ok(play::says("done"));
            }
            let sent = dialect.body(request).0;
            let defined = dialect.defined(&sent);
            body = Some(sent);
            if defined.is_empty() {
                return Ok(play::says("done"));
            }
            let calls: Vec<_> = defined.iter().map(|tool| (&*tool.name, arguments)).collect();
            let response = dialect.form.calling(&calls);
            dialect.codec.decode(&dialect.addressed(request), 200, None, response.as_bytes())
        }),
        ..play::World::default()
    };
    let start = play::start(Agent { mode, strict, ..Agent::default() }, "go");
    let played = play::play_on(catalog, mount.clone(), start, world);
    let defined = body.as_ref().map(|body| dialect.defined(body)).unwrap_or_default();
    Shown { body, defined, mount, played }
}

/// Nothing was sent, and the host knows why.
fn refused(stated: &Value, input: &Value, dialect: &Dialect, shown: &Shown) -> Verdict {
    // `or` is another way of being right; ours is the first.
    check::known(stated, &["outcome", "error", "request_sent", "or"], "expected")?;
    check::same("request_sent", &json!(shown.body.is_some()), &stated["request_sent"])?;
    let fault = shown.played.finish().fault.as_ref().ok_or("the run ended without a fault")?;
    let (count, limit) = shown.mount.too_many().ok_or("the mount is not too large")?;
    let told = json!({ "class": fault.kind, "count": count, "limit": limit });
    check::same("error", &told, &stated["error"])?;
    check::same("limit", &json!(dialect.family.limits().tools), &input["limit"])?;
    let says = |n: usize| fault.message.contains(&n.to_string());
    if says(count) && says(limit) { Ok(()) } else { Err(format!("it says: {}", fault.message)) }
}

fn sent(
    stated: &Value,
    input: &Value,
    tools: &[Tool],
    dialect: &Dialect,
    shown: &Shown,
) -> Verdict {
    let body = shown.body.as_ref().ok_or("nothing was sent")?;
    check::same("tools", &shown.defined.len(), &tools.len())?;
    let first = || shown.defined.first().ok_or("no tool is in the body");
    for (word, want) in stated.as_object().ok_or("expected is no object")? {
        match word.as_str() {
            "outcome" => {}
            "provider" => check::same(word, &json!(dialect.name), want)?,
            "parameters" | "input_schema" => {
                check::same(word, &parameters(dialect, input, first()?)?, want)?;
            }
            "strict" => check::same(word, &json!(first()?.strict), want)?,
            "note_to_host" => {
                check::known(want, &["class", "path"], word)?;
                let told = shown.mount.shown().fell_back.get("the_tool");
                let told = told.ok_or("no reason is given")?;
                let (class, path) = (want["class"].as_str(), want["path"].as_str());
                let begins = format!("{} at {}: ", class.unwrap_or("?"), path.unwrap_or("?"));
                if !told.starts_with(&begins) {
                    return Err(format!("{word}: want {want}, got {told:?}"));
                }
            }
            "dispatched_arguments" => {
                let call = shown.played.tools.first().ok_or("the call was not dispatched")?;
                check::same(word, &call.arguments.to_value(), want)?;
            }
            "local_validation" => {
                let gated = shown.played.gated().next().ok_or("no call was judged")?;
                let GateVerdict::Refused { fault } = &gated.verdict else {
                    return Err("the call was admitted".to_owned());
                };
                check::fault(fault, &gated.name, want)?;
                check::same("calls dispatched", &shown.played.tools.len(), &0)?;
            }
            "names" => {
                let wire: Vec<&str> = shown.defined.iter().map(|tool| &*tool.name).collect();
                names(&wire, want)?;
                if want["stable"] == true {
                    let owned: Vec<String> = wire.iter().map(|&name| name.to_owned()).collect();
                    check::same("names in another order", &reversed(dialect, shown), &owned)?;
                }
                // The way back is the run's: each call reached the tool that it was meant for.
                dispatched(shown, tools)?;
                planned(tools, dialect.family, want)?;
            }
            "dispatch_uses_original_name" => {
                check::same(word, want, &json!(true))?;
                dispatched(shown, tools)?;
            }
            "routes" => {
                for (at, server) in want.as_object().ok_or("routes is no object")? {
                    let tool = tools.get(at.parse::<usize>().map_err(|e| e.to_string())?);
                    let tool = tool.ok_or("no such tool")?;
                    check::same(word, &json!(tool.server), server)?;
                }
                dispatched(shown, tools)?;
            }
            "body_must_not_have" => {
                for field in check::texts(want)? {
                    if body.get(&field).is_some() {
                        return Err(format!("the body has {field}"));
                    }
                }
            }
            other => return Err(format!("{other:?} is not known to this test")),
        }
    }
    Ok(())
}

/// The schema as the provider is told it.
///
/// Gemini is sent `parametersJsonSchema`, which says more; what the file states is its older
/// `parameters`, a surface of its own.
fn parameters(dialect: &Dialect, input: &Value, sent: &Defined) -> Result<Value, String> {
    if dialect.family != Family::Gemini {
        return Ok(sent.parameters.clone());
    }
    let schema = Schema::compile(input["schema"].clone()).map_err(|e| format!("{e:?}"))?;
    let source = || callgate_contract::surface::Source::arguments("the_tool", "", &schema);
    let newer = project(source(), Surface::GeminiJsonSchema).parameters;
    check::same("parametersJsonSchema", &sent.parameters, &newer)?;
    if sent.parameters.to_string().contains("\"$schema\"") {
        return Err("the dialect's marker is sent".to_owned());
    }
    Ok(project(source(), Surface::GeminiParameters).parameters)
}

/// Each tool was called once, as what its server calls it.
fn dispatched(shown: &Shown, tools: &[Tool]) -> Verdict {
    let mut got: Vec<&str> = shown.played.tools.iter().map(|call| &*call.tool.name).collect();
    let mut want: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    // The order in the body is the catalog's.
    got.sort_unstable();
    want.sort_unstable();
    check::same("the tools called", &got, &want)?;
    for (defined, call) in shown.defined.iter().zip(&shown.played.tools) {
        let definition = shown.mount.tools().iter().find(|tool| tool.name == call.tool.name);
        let Some(definition) = definition else { return Err(format!("{} is lost", defined.name)) };
        let at = shown.mount.tools().iter().position(|tool| std::ptr::eq(tool, definition));
        let of = at.and_then(|at| shown.defined.get(at)).map(|tool| &*tool.name);
        check::same("the tool called", &of, &Some(&*defined.name))?;
    }
    Ok(())
}

/// The names that the tools have when they are offered the other way round, in the first order.
fn reversed(dialect: &Dialect, shown: &Shown) -> Vec<String> {
    let tools: Arc<[ToolDefinition]> = shown.mount.tools().iter().rev().cloned().collect();
    let messages = shown.played.requests[0].messages.clone();
    let (body, _) = dialect.body(&Request { tools, messages, ..Request::default() });
    let mut names: Vec<String> = dialect.defined(&body).into_iter().map(|tool| tool.name).collect();
    names.reverse();
    names
}

fn names(wire: &[&str], want: &Value) -> Verdict {
    check::known(want, &["pattern", "count", "unique", "reversible", "stable"], "names")?;
    check::same("count", &json!(wire.len()), &want["count"])?;
    // Whoever asks for names also looks where each leads.
    check::same("reversible", &json!(true), &want["reversible"])?;
    let pattern = json!({ "type": "string", "pattern": want["pattern"] });
    let pattern = Schema::compile(pattern).map_err(|e| format!("{e:?}"))?;
    for name in wire {
        let quoted = json!(name).to_string();
        let doc = Document::parse(&quoted).map_err(|e| format!("{e:?}"))?;
        if !pattern.admits(doc.root()) {
            return Err(format!("{name:?} is no name here"));
        }
    }
    let mut distinct = wire.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    check::same("unique", &json!(distinct.len() == wire.len()), &want["unique"])
}

/// The planner's own names, for hosts that list tools of several servers under their own names.
fn planned(tools: &[Tool], family: Family, want: &Value) -> Verdict {
    let offers: Vec<Offer> = tools
        .iter()
        .map(|tool| {
            let alone = Tool {
                name: tool.own.clone(),
                server: None,
                own: String::new(),
                schema: tool.schema.clone(),
            };
            let tool_alone = catalog(&[alone]).get(&tool.own).unwrap().clone();
            Offer { tool: tool_alone, server: tool.server.as_deref().map(Into::into) }
        })
        .collect();
    let of = |offers: Vec<Offer>| {
        plan(offers, family, &PlanOptions::default()).map_err(|e| e.to_string())
    };
    let plan = of(offers.clone())?;
    let wire: Vec<&str> = plan.tools.iter().map(|tool| &*tool.projection.name).collect();
    names(&wire, want)?;
    for (name, offer) in wire.iter().zip(&offers) {
        let back = plan.by_wire(name).ok_or("no way back")?;
        if !Arc::ptr_eq(&back.tool, &offer.tool) || back.server != offer.server {
            return Err(format!("{name} leads to another tool"));
        }
    }
    let other = of(offers.into_iter().rev().collect())?;
    let other: Vec<&str> = other.tools.iter().rev().map(|tool| &*tool.projection.name).collect();
    check::same("names in another order", &other, &wire)
}
