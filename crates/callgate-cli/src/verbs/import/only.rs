//! `--only`: names and patterns, each of which has to name something.

use std::cell::Cell;

use callgate::contract::nearest;
use glob::Pattern;

use crate::failure::Failure;

/// Patterns, and whether each has named something yet.
pub(super) struct Only<'a>(Vec<(&'a str, Pattern, Cell<bool>)>);

impl<'a> Only<'a> {
    pub(super) fn of(given: &'a [String]) -> Result<Self, Failure> {
        let read = |text: &'a String| match Pattern::new(text) {
            Ok(pattern) => Ok((text.as_str(), pattern, Cell::new(false))),
            Err(error) => Err(Failure::configuration(
                "bad_pattern",
                format!("--only {text:?} is no pattern: {} (at {})", error.msg, error.pos),
            )
            .hint("* stands for any text, ? for one character, [abc] for one of these.")),
        };
        given.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Whether something that goes by these names is wanted.
    pub(super) fn wants(&self, names: &[&str]) -> bool {
        let mut wanted = self.0.is_empty();
        for (text, pattern, has_named) in &self.0 {
            // As it is written as well: paths may hold brackets.
            if names.iter().any(|name| name == text || pattern.matches(name)) {
                has_named.set(true);
                wanted = true;
            }
        }
        wanted
    }

    /// That every pattern named something.
    pub(super) fn all_named(&self, noun: &str, names: &[&str]) -> Result<(), Failure> {
        let Some((text, ..)) = self.0.iter().find(|(.., has_named)| !has_named.get()) else {
            return Ok(());
        };
        let message = format!("--only {text:?} names no {noun}");
        let failure = Failure::configuration("nothing_named", message);
        Err(match nearest(text, names) {
            Some(near) => failure.hint(format!("Did you mean {near:?}?")),
            None => failure.hint("Leave --only out and add --dry-run: that lists all of them."),
        })
    }
}
