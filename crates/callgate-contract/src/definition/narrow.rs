//! A local contract for a discovered tool: it may narrow what the server takes, never widen it.
//!
//! What the local contract does not say it has from the pinned one: description, annotations, tier,
//! output, timeout. Its input and its output must be *proved* to admit nothing that the pinned
//! schemas refuse; where that is not decided the contract is refused as well, since an unproved
//! contract could let through what the person who accepted the definition never saw.

use serde_json::Value;

use crate::{
    Tool,
    catalog::Annotations,
    schema::{
        Schema,
        canonical::{Relation, compare},
    },
    tool::Parts,
};

/// Why a contract does not narrow a pinned definition.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", self.told())]
pub struct NotNarrower {
    /// `input` or `output`, the member of the contract.
    pub member: &'static str,
    /// A value that the contract admits and the pinned schema refuses; nothing where it could not
    /// be decided whether there is one.
    pub witness: Option<Value>,
    /// Whether there certainly is one.
    pub is_proved: bool,
}

impl NotNarrower {
    fn told(&self) -> String {
        let member = self.member;
        match (&self.witness, self.is_proved) {
            (Some(witness), _) => format!(
                "the {member} admits what the pinned definition refuses, such as {}",
                short(witness)
            ),
            (None, true) => format!("the {member} admits what the pinned definition refuses"),
            (None, false) => format!(
                "it cannot be proved that the {member} admits only what the pinned definition admits"
            ),
        }
    }

    /// What to write instead.
    pub fn hint(&self) -> &'static str {
        if self.is_proved {
            "A local contract may narrow a discovered tool, never widen it."
        } else {
            "Start from the pinned schema (`callgate tools show`) and add to it; a pattern in the place of another one cannot be compared."
        }
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 200 { text.chars().take(200).chain(['…']).collect() } else { text }
}

impl Tool {
    /// This contract in the place of a pinned one, with what it does not say taken from there.
    ///
    /// # Errors
    /// Its input or its output admits more than the pinned schemas, or that cannot be excluded.
    pub fn narrowing(&self, pinned: &Tool) -> Result<Tool, Vec<NotNarrower>> {
        let mut faults = Vec::new();
        faults.extend(judged("input", &self.input, &pinned.input));
        if let (Some(own), Some(theirs)) = (&self.output, &pinned.output) {
            faults.extend(judged("output", own, theirs));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut file = self.to_file();
        let theirs = pinned.to_file();
        file.description = file.description.or(theirs.description);
        file.timeout_ms = file.timeout_ms.or(theirs.timeout_ms);
        // Annotations that say nothing and none at all are the same in a file.
        if file.annotations == Annotations::default() {
            file.annotations = theirs.annotations;
        }
        let tier = if file.tier.is_none() && !self.annotations.destructive {
            file.tier = theirs.tier;
            pinned.tier.clone()
        } else {
            self.tier.clone()
        };
        let parts = Parts {
            input: self.input.clone(),
            output: self.output.clone().or_else(|| pinned.output.clone()),
            tier,
            rules: self.rules.clone(),
            shape: self.shape.clone(),
        };
        Ok(Tool::from_file(file, parts, self.source.clone()))
    }
}

fn judged(member: &'static str, own: &Schema, theirs: &Schema) -> Option<NotNarrower> {
    let compared = compare(own.value(), theirs.value());
    match compared.relation {
        Relation::Equal | Relation::Narrower => None,
        Relation::Wider | Relation::Both => {
            Some(NotNarrower { member, witness: compared.only_first, is_proved: true })
        }
        Relation::Unknown => {
            let is_proved = compared.only_first.is_some();
            Some(NotNarrower { member, witness: compared.only_first, is_proved })
        }
    }
}
