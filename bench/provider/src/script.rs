//! What the provider answers: so many turns with calls, then a text.
//!
//! A script is a word of letters with numbers, `t3p1l0e8`; what is left out has its default:
//!
//! - `t`: turns that call the tool, before the answer (3)
//! - `p`: calls in each of them (1)
//! - `l`: milliseconds before the response begins (0)
//! - `e`: pieces that arguments and text come in when they are streamed (8)
//!
//! Where a run is, the provider sees by what it is sent: it keeps no state, so the same request has
//! the same answer, apart from ids.

use std::{fmt::Write as _, str::FromStr, time::Duration};

/// The tool of every job.
pub(crate) const TOOL: &str = "get_ticket";
/// The last words of every run.
pub(crate) const ANSWER: &str = "Ticket TCK-10400 is open, priority high, and assigned to dana.";

/// What is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) turns: usize,
    pub(crate) parallel: usize,
    pub(crate) latency: Duration,
    pub(crate) pieces: usize,
}

/// A word that is no script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unknown(String);

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} is no script: letters t, p, l, e, each with a number", self.0)
    }
}

impl FromStr for Script {
    type Err = Unknown;

    fn from_str(word: &str) -> Result<Self, Unknown> {
        let mut script = Self { turns: 3, parallel: 1, latency: Duration::ZERO, pieces: 8 };
        let unknown = || Unknown(word.to_owned());
        let mut rest = word;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number: u32 = rest[..digits].parse().map_err(|_| unknown())?;
            rest = &rest[digits..];
            match letter {
                't' => script.turns = number as usize,
                'p' => script.parallel = number.max(1) as usize,
                'l' => script.latency = Duration::from_millis(number.into()),
                'e' => script.pieces = number.max(1) as usize,
                _ => return Err(unknown()),
            }
        }
        Ok(script)
    }
}

/// What a request holds of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turns {
    /// Messages of the assistant that call tools.
    pub(crate) called: usize,
    /// Results after the last of them.
    pub(crate) results: usize,
    /// Whether the last word is the user's or a tool's.
    pub(crate) asks: bool,
}

/// The next reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Arguments, one text a call.
    Calls(Vec<String>),
    Answer,
}

impl Next {
    pub(crate) fn is_end(&self) -> bool {
        *self == Self::Answer
    }
}

impl Script {
    /// What comes after this.
    pub(crate) fn next(&self, turns: &Turns) -> Result<Next, String> {
        if !turns.asks {
            return Err("the last message has to be the user's or a tool's".to_owned());
        }
        if turns.called > 0 && turns.results != self.parallel {
            return Err(format!(
                "{} calls were made, and {} results follow them",
                self.parallel, turns.results
            ));
        }
        if turns.called >= self.turns {
            return Ok(Next::Answer);
        }
        let first = turns.called * self.parallel;
        Ok(Next::Calls((first..first + self.parallel).map(arguments).collect()))
    }
}

/// The arguments of the call at this place in the run. No two are alike: a model does not ask for
/// the same thing again, and a runtime may take notice when it does.
fn arguments(place: usize) -> String {
    let mut text = String::with_capacity(128);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        r#"{{"ticketId":"TCK-{}","priority":"high","includeComments":true,"limit":20,"tags":["billing","vip"]}}"#,
        10_400 + place
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let script = |turns, parallel, ms, pieces| Script {
            turns,
            parallel,
            latency: Duration::from_millis(ms),
            pieces,
        };
        for (word, expected) in [
            ("", Some(script(3, 1, 0, 8))),
            ("t64", Some(script(64, 1, 0, 8))),
            ("t1p4l500e2", Some(script(1, 4, 500, 2))),
            ("p0e0", Some(script(3, 1, 0, 1))),
            ("v1", None),
            ("t", None),
            ("t99999999999", None),
        ] {
            assert_eq!(word.parse().ok(), expected, "{word:?}");
        }
    }

    #[test]
    fn a_run() {
        let script: Script = "t2p2".parse().unwrap();
        let turns = |called, results| Turns { called, results, asks: true };
        let Next::Calls(first) = script.next(&turns(0, 0)).unwrap() else { panic!("no calls") };
        let Next::Calls(second) = script.next(&turns(1, 2)).unwrap() else { panic!("no calls") };
        assert_eq!((first.len(), second.len()), (2, 2));
        assert!(first.iter().all(|arguments| !second.contains(arguments)), "{first:?} {second:?}");
        assert_eq!(script.next(&turns(2, 2)), Ok(Next::Answer));
        assert!(script.next(&turns(1, 1)).is_err(), "a result is missing");
        assert!(script.next(&Turns { asks: false, ..turns(0, 0) }).is_err());
    }
}
