//! Whether a contract's own version says what its change calls for.

use std::sync::Arc;

use serde::Serialize;

use super::Step;
use crate::Tool;

/// The versions of a tool that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// Before.
    pub old: Arc<str>,
    /// Now.
    pub new: Arc<str>,
    /// Whether the step between them is at least the one called for.
    pub suffices: bool,
}

impl Versions {
    /// Of two contracts that both have a version of their own.
    pub(super) fn of(old: &Tool, new: &Tool, step: Step) -> Option<Self> {
        if &*old.version == NONE && &*new.version == NONE {
            return None;
        }
        let suffices = bump(&old.version, &new.version).is_some_and(|bumped| bumped >= step);
        Some(Self { old: old.version.clone(), new: new.version.clone(), suffices })
    }
}

/// What a contract without a version has.
const NONE: &str = "0.0.0";

/// The step between two versions; nothing if one is no version or they go backwards.
///
/// Before 1.0 a minor version may break, and a patch may add (<https://semver.org>, item 4).
pub fn bump(old: &str, new: &str) -> Option<Step> {
    let (a, b) = (parse(old)?, parse(new)?);
    if b < a {
        return None;
    }
    Some(match (a, b) {
        (a, b) if a == b => Step::None,
        ((x, ..), (y, ..)) if x != y => Step::Major,
        ((0, x, _), (0, y, _)) => {
            if x != y {
                Step::Major
            } else {
                Step::Minor
            }
        }
        ((_, x, _), (_, y, _)) => {
            if x != y {
                Step::Minor
            } else {
                Step::Patch
            }
        }
    })
}

fn parse(version: &str) -> Option<(u64, u64, u64)> {
    // Pre-releases and builds do not count here.
    let core = version.split(['-', '+']).next()?;
    let mut numbers = core.split('.').map(|part| part.parse::<u64>().ok());
    let parsed = (numbers.next()??, numbers.next()??, numbers.next()??);
    numbers.next().is_none().then_some(parsed)
}
