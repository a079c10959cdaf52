//! Tiers: whether an admitted call runs by itself, asks a person, or never runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Admitted,
    rules::{Condition, Facts},
};

/// What an admitted call needs.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Runs by itself.
    Auto,
    /// Asks a person first.
    Approve,
    /// Never runs.
    Block,
}

/// How a contract decides the tier.
#[derive(Debug, Clone)]
pub enum TierPolicy {
    /// Always the same.
    Always(Tier),
    /// By conditions. Of those that hold, or cannot be evaluated, the strictest wins; if none
    /// does, a person is asked.
    When(Vec<TierCase>),
}

/// One line of a conditional tier.
#[derive(Debug, Clone)]
pub struct TierCase {
    /// When it applies; always where absent.
    pub when: Option<Condition>,
    /// What then.
    pub tier: Tier,
}

impl TierPolicy {
    /// Whether no argument could ever let the tool run, so that it is not even offered.
    pub fn never_runs(&self) -> bool {
        match self {
            Self::Always(tier) => *tier == Tier::Block,
            Self::When(cases) => {
                cases.iter().any(|case| case.when.is_none() && case.tier == Tier::Block)
            }
        }
    }

    /// The tier of one call, and the condition that decided it.
    pub fn decide(&self, arguments: &Admitted, facts: &Facts) -> (Tier, Option<&str>) {
        match self {
            Self::Always(tier) => (*tier, None),
            Self::When(cases) => cases
                .iter()
                .filter(|case| {
                    // Fail closed: a condition that cannot be evaluated counts as holding.
                    case.when
                        .as_ref()
                        .is_none_or(|when| when.holds(arguments, facts).unwrap_or(true))
                })
                .map(|case| (case.tier, case.when.as_ref().map(Condition::source)))
                .max_by_key(|(tier, _)| *tier)
                .unwrap_or((Tier::Approve, None)),
        }
    }
}
