//! What things are called in Restate: services, state, promises.
//!
//! A workflow is pinned to the deployment that started it, but what it *calls* goes to the newest
//! one. The service that does the work of tools therefore carries the build in its name: a run
//! that began under an old build has its tools called by the old build, whose definitions it was
//! judged by.

use std::fmt;

/// The service of runs, where a worker is given no other name.
pub const SERVICE: &str = "CallgateRun";

/// The handler that drives a run.
pub(crate) const RUN: &str = "run";
/// The handler that makes one tool call.
pub(crate) const CALL: &str = "call";
/// The state that says how far a run is.
pub(crate) const STATUS: &str = "status";
/// The promise that a cancellation keeps.
pub(crate) const CANCEL: &str = "cancel";
/// The promise that a run keeps itself, once its calls under way are to stop.
pub(crate) const STOP: &str = "stop";

/// A name that Restate takes for a service, checked once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceName(String);

/// A name that Restate does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot name a service: it begins with a letter and goes on with letters, digits, '.', '-' or '_', 64 at most"
)]
pub struct BadServiceName(pub String);

impl ServiceName {
    /// The name, if it is one.
    ///
    /// # Errors
    /// Restate's own pattern refuses it.
    pub fn new(name: impl Into<String>) -> Result<Self, BadServiceName> {
        let name = name.into();
        let begins = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
        let goes_on = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        if begins && goes_on && name.len() <= 64 {
            Ok(Self(name))
        } else {
            Err(BadServiceName(name))
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The service that does the work of the tools for runs of one build.
    pub(crate) fn tools(&self, build: &str) -> String {
        let base = self.0.strip_suffix("Run").unwrap_or(&self.0);
        format!("{base}Tool.{build}")
    }
}

impl Default for ServiceName {
    fn default() -> Self {
        Self(SERVICE.to_owned())
    }
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text can be a run's id: it stands in URLs and in queries.
pub fn is_run_id(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || "._:-".contains(c))
}

/// The state that holds the events from `seq` on, as many as followed from one input.
pub(crate) fn events(seq: u64) -> String {
    format!("events-{seq:010}")
}

/// The position of the first event in such a state.
pub(crate) fn first_of(key: &str) -> Option<u64> {
    key.strip_prefix("events-")?.parse().ok()
}

/// The promise that a pause keeps, the `n`th of its run.
pub(crate) fn pause(n: u32) -> String {
    format!("pause-{n}")
}

/// The promise that going on keeps.
pub(crate) fn resume(n: u32) -> String {
    format!("resume-{n}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_restate_takes() {
        for good in ["CallgateRun", "a", "Support.v2_x-1"] {
            assert_eq!(ServiceName::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "1a", "a b", "a/b", "é", &"x".repeat(65)] {
            assert_eq!(ServiceName::new(bad).unwrap_err(), BadServiceName(bad.to_owned()));
        }
        assert_eq!(ServiceName::default().tools("b1"), "CallgateTool.b1");
        assert_eq!(ServiceName::new("support").unwrap().tools("b1"), "supportTool.b1");
    }

    #[test]
    fn ids_that_stand_in_urls() {
        for good in ["run-018-1-0", "a", "A.b:c_d"] {
            assert!(is_run_id(good), "{good}");
        }
        for bad in ["", "a b", "a/b", "a'b", "ä", &"x".repeat(129)] {
            assert!(!is_run_id(bad), "{bad}");
        }
    }

    #[test]
    fn events_sort_by_their_position() {
        assert!(events(9) < events(10) && events(99) < events(100));
        assert_eq!(first_of(&events(42)), Some(42));
        assert_eq!(first_of("status"), None);
    }
}
