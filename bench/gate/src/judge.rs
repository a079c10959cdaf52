//! CPU time a call, validator by validator, and what each says of every instance.
//!
//! Steps: `whole` is from text to arguments that may be used; `told` from a wrong text to everything
//! that is wrong with it; `alone` is the verdict on what is parsed already; `parse` is the parse
//! alone; `compile` makes the validator of a schema that is parsed already.

use std::{hint::black_box, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Refusal,
    clock::{Cost, cost},
    peers::{Boon, Callgate, Jsonschema, Judge},
    work::Work,
};

/// One figure.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    validator: &'static str,
    case: String,
    step: &'static str,
    ns: f64,
    calls: u64,
}

impl Row {
    fn new(validator: &'static str, case: &str, step: &'static str, cost: Cost) -> Self {
        Self { validator, case: case.to_owned(), step, ns: cost.ns, calls: cost.calls }
    }
}

pub(crate) fn run(work: &Work, budget: Duration) -> Result<Value, Refusal> {
    let mut rows = Vec::new();
    // Case by case, so that those who are compared are measured within a second.
    for case in &work.cases {
        let (name, valid, wrong) = (&case.name, &case.valid, &case.wrong);
        made::<Callgate>(&mut rows, budget, name, &case.schema, valid, wrong)?;
        made::<Jsonschema>(&mut rows, budget, name, &case.schema, valid, wrong)?;
        made::<Boon>(&mut rows, budget, name, &case.schema, valid, wrong)?;
        let gate = Callgate::of(&case.schema)?;
        let lenient = cost(budget, || drop(black_box(gate.told_leniently(black_box(wrong)))));
        rows.push(Row::new("callgate-lenient", name, "told", lenient));
        if name == "typical" {
            rows.push(Row::new("struct", name, "whole", cost(budget, || typed(black_box(valid)))));
        }
    }
    let mut verdicts = serde_json::Map::new();
    verdicts.insert(Callgate::NAME.to_owned(), real::<Callgate>(&mut rows, budget, work)?);
    verdicts.insert(Jsonschema::NAME.to_owned(), real::<Jsonschema>(&mut rows, budget, work)?);
    verdicts.insert(Boon::NAME.to_owned(), real::<Boon>(&mut rows, budget, work)?);
    Ok(json!({"rows": rows, "verdicts": verdicts}))
}

fn made<J: Judge>(
    rows: &mut Vec<Row>,
    budget: Duration,
    case: &str,
    schema: &Value,
    valid: &str,
    wrong: &str,
) -> Result<(), Refusal> {
    let judge = J::of(schema)?;
    let parsed = J::parse(valid)?;
    let mut row = |step, cost| rows.push(Row::new(J::NAME, case, step, cost));
    row("whole", cost(budget, || drop(black_box(judge.judge(black_box(valid))))));
    row("told", cost(budget, || drop(black_box(judge.told(black_box(wrong))))));
    row(
        "alone",
        cost(budget, || {
            black_box(judge.admits(black_box(&parsed)));
        }),
    );
    row("parse", cost(budget, || drop(black_box(J::parse(black_box(valid))))));
    row("compile", cost(budget, || drop(black_box(J::compile(black_box(schema))))));
    Ok(())
}

/// The real tools: a pass over all right instances, one over all wrong ones, and the verdicts: `1`
/// is admitted, `0` refused, in the order of the cases (right, wrong) and of the tools' instances.
fn real<J: Judge>(rows: &mut Vec<Row>, budget: Duration, work: &Work) -> Result<Value, Refusal> {
    let mut verdicts = String::new();
    let mut verdict = |judge: &J, text: &str| {
        verdicts.push(if judge.judge(text).is_some() { '1' } else { '0' });
    };
    for case in &work.cases {
        let judge = J::of(&case.schema)?;
        verdict(&judge, &case.valid);
        verdict(&judge, &case.wrong);
    }
    let mut judges = Vec::new();
    for tool in &work.tools {
        let judge = J::of(&tool.schema)
            .map_err(|error| format!("{} with {}/{}: {error}", J::NAME, tool.server, tool.name))?;
        for instance in &tool.instances {
            verdict(&judge, &instance.text);
        }
        judges.push(judge);
    }
    let texts = |admitted: bool| {
        let mut texts = Vec::new();
        for (judge, tool) in judges.iter().zip(&work.tools) {
            let kept = tool.instances.iter().filter(|instance| instance.admitted == admitted);
            texts.extend(kept.map(|instance| (judge, instance.text.as_str())));
        }
        texts
    };
    let (right, wrong) = (texts(true), texts(false));
    if !right.is_empty() && !wrong.is_empty() {
        let whole = cost(budget, || {
            for (judge, text) in &right {
                drop(black_box(judge.judge(black_box(text))));
            }
        });
        rows.push(Row::new(J::NAME, "real", "whole", each(whole, right.len())));
        let told = cost(budget, || {
            for (judge, text) in &wrong {
                drop(black_box(judge.told(black_box(text))));
            }
        });
        rows.push(Row::new(J::NAME, "real", "told", each(told, wrong.len())));
        let compile = cost(budget, || {
            for tool in &work.tools {
                drop(black_box(J::compile(black_box(&tool.schema))));
            }
        });
        rows.push(Row::new(J::NAME, "real", "compile", each(compile, work.tools.len())));
    }
    Ok(verdicts.into())
}

/// The cost of one of several that a call does.
fn each(cost: Cost, count: usize) -> Cost {
    Cost { ns: cost.ns / count as f64, calls: cost.calls * count as u64 }
}

/// No validator at all: serde into a struct, which holds types, names and the listed words, and
/// neither the pattern nor the bounds.
fn typed(text: &str) {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Priority {
        Low,
        Normal,
        High,
        Urgent,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only read into")]
    struct Arguments {
        ticket_id: String,
        priority: Priority,
        include_comments: Option<bool>,
        limit: Option<u32>,
        #[serde(default)]
        tags: Vec<String>,
    }
    drop(black_box(serde_json::from_str::<Arguments>(text)));
}
