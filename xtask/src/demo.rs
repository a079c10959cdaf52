//! `cargo xtask demo`: three goals, a real model, real tools, and a look at whether it is true.
//!
//! The right answers are not written here. They are asked of the service and of the weather
//! program themselves, and compared with what the model said.

use std::{
    io::{IsTerminal as _, Write as _},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    facts::{Fact, Hundredths},
    failure::Failure,
    local::{Local, built},
    process::{self, Show},
    root,
    service::Service,
    steps::{Steps, announce},
};

const PROJECT: &str = "examples/support";

struct Goal {
    text: String,
    facts: Vec<Fact>,
}

pub(crate) fn run() -> Result<(), Failure> {
    let local = Local::ready(&mut Steps::default())?;

    let service = Service::start(&built("support-service")?)?;
    announce("service", &format!("tickets, customers and invoices at http://{}", service.address));

    let goals = [ticket(&service)?, invoices(&service)?, weather()?];
    let mut right = 0;
    for (number, goal) in goals.iter().enumerate() {
        announce(&format!("goal {} of {}", number + 1, goals.len()), &goal.text);
        let mut ask = local.run(PROJECT, &goal.text);
        ask.current_dir(root()).env("SUPPORT_URL", format!("http://{}", service.address));
        let started = Instant::now();
        let ended = process::run(ask, "callgate run", Duration::from_secs(15 * 60), Show::KeepOut)?;
        let mut wrong: Vec<String> =
            goal.facts.iter().filter_map(|fact| fact.missing_in(&ended.kept)).collect();
        if !ended.status.success() {
            wrong.insert(0, format!("callgate ended with {}", ended.status));
        }
        let seconds = started.elapsed().as_secs_f64();
        if wrong.is_empty() {
            right += 1;
            eprintln!("{} after {seconds:.1} s", mark("right", "32"));
        } else {
            eprintln!("{} after {seconds:.1} s: {}", mark("wrong", "31"), wrong.join("; "));
        }
    }
    drop(service);

    let summary = format!("{right} of {} answers right", goals.len());
    println!("\ndemo: {summary}");
    if right == goals.len() { Ok(()) } else { Err(Failure::Wrong(summary)) }
}

fn ticket(service: &Service) -> Result<Goal, Failure> {
    let id = "T-1042";
    let ticket = service.get(&format!("/tickets/{id}"))?;
    let facts = ["assignee", "status"].map(|field| text(&ticket, field).map(Fact::Says));
    Ok(Goal {
        text: format!("Who is assigned to ticket {id}, and what is its status?"),
        facts: facts.into_iter().collect::<Result<_, _>>()?,
    })
}

fn invoices(service: &Service) -> Result<Goal, Failure> {
    let found = service.get("/invoices?startDate=2026-03-01&endDate=2026-03-31&status=paid")?;
    let items = found["items"].as_array().map_or(&[][..], Vec::as_slice);
    let pairs: Vec<(String, Hundredths)> = items
        .iter()
        .map(|item| Ok((text(item, "id")?, figure(item, "total")?)))
        .collect::<Result<_, Failure>>()?;
    if pairs.is_empty() {
        return Err(Failure::Wrong("the service knows no paid invoice of March 2026".to_owned()));
    }
    let words = pairs.iter().map(|(id, _)| id.clone()).collect();
    Ok(Goal {
        text: "Which invoices of March 2026 are paid? List each id with its total.".to_owned(),
        facts: vec![Fact::Only { prefix: "INV-".to_owned(), words }, Fact::Pairs(pairs)],
    })
}

fn weather() -> Result<Goal, Failure> {
    let cities = ["Oslo", "Lisbon"];
    let pairs = cities
        .iter()
        .map(|&city| Ok((city.to_owned(), figure(&measured(city)?, "temperature")?)))
        .collect::<Result<_, Failure>>()?;
    Ok(Goal {
        text: format!("How warm is it in {} and in {} right now?", cities[0], cities[1]),
        facts: vec![Fact::Pairs(pairs)],
    })
}

/// What the tool's own program says.
fn measured(city: &str) -> Result<Value, Failure> {
    let mut command = Command::new("python3");
    command.arg("weather.py").current_dir(root().join(PROJECT).join("tools"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|source| Failure::Start { program: "python3".to_owned(), source })?;
    if let Some(mut stdin) = child.stdin.take() {
        write!(stdin, "{}", json!({ "city": city }))?;
    }
    let output = child.wait_with_output()?;
    serde_json::from_slice(&output.stdout)
        .map_err(|_| Failure::Wrong(format!("weather.py has no answer for {city}")))
}

fn text(object: &Value, field: &str) -> Result<String, Failure> {
    object[field]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::Wrong(format!("there is no text `{field}` in {object}")))
}

fn figure(object: &Value, field: &str) -> Result<Hundredths, Failure> {
    Hundredths::parse(&object[field].to_string())
        .ok_or_else(|| Failure::Wrong(format!("there is no figure `{field}` in {object}")))
}

/// A word on standard error, in colour where a person sees it.
pub(crate) fn mark(word: &str, colour: &str) -> String {
    if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\u{1b}[1;{colour}m{word}\u{1b}[0m")
    } else {
        word.to_owned()
    }
}
