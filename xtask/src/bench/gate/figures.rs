//! What the programs printed, put together: a figure a repetition, and who said what of an instance.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{super::numbers::median, member};
use crate::failure::Failure;

/// Validator, case, step.
type Key = (String, String, String);

/// Everything measured so far.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// CPU nanoseconds a call, in the order of the repetitions.
    nanos: BTreeMap<Key, Vec<f64>>,
    /// CPU nanoseconds a projection, a surface; in the order in which surfaces came.
    pub(super) projections: Vec<(String, Vec<f64>)>,
    /// The rows of large catalogs, by how they were loaded.
    pub(super) loads: BTreeMap<String, Vec<Value>>,
    /// The versions that the programs told.
    pub(super) versions: BTreeMap<String, String>,
    /// Bytes of the right instance, a made case.
    pub(super) bytes: BTreeMap<String, usize>,
    /// How many real tools, and how many instances for them are right and wrong.
    pub(super) real: (usize, usize, usize),
    /// Who said something else than was to be said.
    pub(super) failures: Vec<String>,
    /// An instance in words, and its verdict.
    expected: Vec<(String, char)>,
}

impl Figures {
    /// Nothing yet; `instances` is the text of what everybody judges.
    pub(super) fn of(instances: &str) -> Result<Self, Failure> {
        let work: Value = serde_json::from_str(instances)
            .map_err(|error| Failure::Wrong(format!("the instances cannot be read: {error}")))?;
        let mut figures = Self::default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for case in list(&work, "cases")? {
            let name = text(member(case, "name")?);
            let (valid, wrong) = (text(member(case, "valid")?), text(member(case, "wrong")?));
            figures.bytes.insert(name, valid.len());
            figures.expected.extend([(valid, '1'), (wrong, '0')]);
        }
        for tool in list(&work, "tools")? {
            figures.real.0 += 1;
            let place = format!("{}/{}", text(&tool["server"]), text(&tool["name"]));
            for instance in list(tool, "instances")? {
                let is_right = member(instance, "admitted")?.as_bool() == Some(true);
                *if is_right { &mut figures.real.1 } else { &mut figures.real.2 } += 1;
                let words = format!("{place} {}", text(member(instance, "text")?));
                figures.expected.push((words, if is_right { '1' } else { '0' }));
            }
        }
        Ok(figures)
    }

    /// What one program that judges printed.
    pub(super) fn judged(&mut self, printed: &Value) -> Result<(), Failure> {
        for row in list(printed, "rows")? {
            let word = |name: &str| -> Result<String, Failure> {
                Ok(member(row, name)?.as_str().unwrap_or_default().to_owned())
            };
            let key = (word("validator")?, word("case")?, word("step")?);
            let nanos = member(row, "ns")?.as_f64().unwrap_or(f64::NAN);
            self.nanos.entry(key).or_default().push(nanos);
        }
        let verdicts = member(printed, "verdicts")?.as_object();
        for (validator, said) in verdicts.into_iter().flatten() {
            self.compare(validator, said.as_str().unwrap_or_default());
        }
        for (who, which) in printed["versions"].as_object().into_iter().flatten() {
            self.versions.insert(who.clone(), which.as_str().unwrap_or_default().to_owned());
        }
        Ok(())
    }

    /// Whether a validator said of every instance what is to be said. pydantic judges the made ones
    /// only: it reads no JSON Schema, and its models are written by hand.
    fn compare(&mut self, validator: &str, said: &str) {
        let wanted =
            if validator == "pydantic" { self.bytes.len() * 2 } else { self.expected.len() };
        if said.len() != wanted {
            let failure = format!("{validator} judged {} of {wanted} instances", said.len());
            self.failures.push(failure);
        }
        for ((instance, right), said) in self.expected.iter().zip(said.chars()) {
            if *right != said {
                let failure = format!("{validator} says {said} instead of {right} of {instance}");
                self.failures.push(failure);
            }
        }
        self.failures.sort();
        self.failures.dedup();
    }

    /// What the program printed that projects.
    pub(super) fn projected(&mut self, printed: &Value) -> Result<(), Failure> {
        for row in list(printed, "rows")? {
            let surface = member(row, "surface")?.as_str().unwrap_or_default();
            let nanos = member(row, "ns")?.as_f64().unwrap_or(f64::NAN);
            match self.projections.iter_mut().find(|(name, _)| name == surface) {
                Some((_, all)) => all.push(nanos),
                None => self.projections.push((surface.to_owned(), vec![nanos])),
            }
        }
        Ok(())
    }

    /// What the program printed that loads a catalog.
    pub(super) fn loaded(&mut self, printed: &Value) -> Result<(), Failure> {
        let how = member(printed, "how")?.as_str().unwrap_or_default().to_owned();
        self.loads.entry(how).or_default().push(printed.clone());
        Ok(())
    }

    /// The median nanoseconds; NaN where that was not measured.
    pub(super) fn nanos(&self, validator: &str, case: &str, step: &str) -> f64 {
        median(self.all(validator, case, step))
    }

    /// Every repetition's nanoseconds.
    pub(super) fn all(&self, validator: &str, case: &str, step: &str) -> &[f64] {
        let key = (validator.to_owned(), case.to_owned(), step.to_owned());
        self.nanos.get(&key).map_or(&[], Vec::as_slice)
    }

    /// How many times the cost of `under` that of `over` is: the median of the repetitions' ratios.
    pub(super) fn ratio(&self, over: &str, under: &str, case: &str, step: &str) -> f64 {
        let pairs = self.all(over, case, step).iter().zip(self.all(under, case, step));
        median(&pairs.map(|(over, under)| over / under).collect::<Vec<_>>())
    }

    /// The median of a figure of the large catalogs.
    pub(super) fn load(&self, how: &str, figure: &str) -> f64 {
        let rows = self.loads.get(how).map_or(&[][..], Vec::as_slice);
        median(&rows.iter().filter_map(|row| row[figure].as_f64()).collect::<Vec<_>>())
    }

    /// All rows, as they were measured.
    pub(super) fn raw(&self) -> Value {
        let judged: Vec<Value> = self
            .nanos
            .iter()
            .map(|((validator, case, step), nanos)| {
                json!({"validator": validator, "case": case, "step": step, "ns": nanos})
            })
            .collect();
        let projected: Vec<Value> = self
            .projections
            .iter()
            .map(|(surface, nanos)| json!({"surface": surface, "ns": nanos}))
            .collect();
        json!({"judged": judged, "projected": projected, "loaded": self.loads})
    }
}

fn list<'v>(value: &'v Value, name: &str) -> Result<&'v Vec<Value>, Failure> {
    member(value, name)?
        .as_array()
        .ok_or_else(|| Failure::Wrong(format!("a program printed no list `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        let work = json!({
            "cases": [{"name": "typical", "valid": "{}", "wrong": "[]"}],
            "tools": [{"server": "s", "name": "t", "instances": [{"text": "{\"a\":1}", "admitted": false}]}]
        });
        Figures::of(&work.to_string()).expect("they can be read")
    }

    fn printed(ns: f64, verdicts: &str) -> Value {
        json!({
            "rows": [{"validator": "v", "case": "typical", "step": "whole", "ns": ns}],
            "verdicts": {"v": verdicts}
        })
    }

    #[test]
    fn repetitions_are_put_together() {
        let mut figures = figures();
        for ns in [30.0, 10.0, 20.0] {
            figures.judged(&printed(ns, "100")).expect("rows");
        }
        assert!((figures.nanos("v", "typical", "whole") - 20.0).abs() < f64::EPSILON);
        assert!((figures.ratio("v", "v", "typical", "whole") - 1.0).abs() < f64::EPSILON);
        assert!(figures.nanos("v", "typical", "told").is_nan());
        assert_eq!(figures.real, (1, 0, 1));
        assert!(figures.failures.is_empty(), "{:?}", figures.failures);
    }

    #[test]
    fn a_wrong_verdict_and_a_missing_one_are_told_once() {
        let mut figures = figures();
        figures.judged(&printed(1.0, "101")).expect("rows");
        figures.judged(&printed(1.0, "101")).expect("rows");
        figures.judged(&printed(1.0, "1")).expect("rows");
        let told = figures.failures.join("\n");
        assert!(told.contains("v says 1 instead of 0 of s/t {\"a\":1}"), "{told}");
        assert!(told.contains("v judged 1 of 3"), "{told}");
        assert_eq!(figures.failures.len(), 2, "{told}");
    }
}
