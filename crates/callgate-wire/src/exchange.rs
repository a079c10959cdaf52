//! Exchanges: the bytes that really went to a provider and came back.
//!
//! They are kept beside what was made of them, so that a run file shows the wire and a codec's
//! mistake can be seen years later. A conversation is sent again with every turn; kept whole each
//! time, a journal would grow with the square of its hops. So a request is kept as what changed
//! since the one before it ([`Body::Since`]).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One request to a provider and what came back: the last attempt of a hop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// Where it went, without credentials or query.
    pub url: Arc<str>,
    /// The body that was sent. Headers are left out: they carry the credentials.
    pub request: Body,
    /// The HTTP status, if one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What came back: a body, or the events of a stream as they came. Bytes that are no UTF-8
    /// stand as U+FFFD.
    pub response: Arc<str>,
    /// How often the provider was asked for this reply.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub attempts: u32,
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's form
fn is_one(n: &u32) -> bool {
    *n == 1
}

/// A request's body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Body {
    /// As it was.
    Whole(Arc<str>),
    /// As what stands between a head and a tail of the run's previous body.
    Since {
        /// Bytes taken from the previous body's start.
        head: usize,
        /// What stands between.
        text: Arc<str>,
        /// Bytes taken from its end.
        tail: usize,
    },
}

impl Body {
    /// A body as its difference to the one before it, where that is shorter.
    pub fn since(previous: Option<&str>, body: &Arc<str>) -> Self {
        let Some(previous) = previous else { return Self::Whole(body.clone()) };
        let (old, new) = (previous.as_bytes(), body.as_bytes());
        let most = old.len().min(new.len());
        let mut head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        while !body.is_char_boundary(head) || !previous.is_char_boundary(head) {
            head -= 1;
        }
        let pairs = old.iter().rev().zip(new.iter().rev());
        let mut tail = pairs.take(most - head).take_while(|(a, b)| a == b).count();
        while !body.is_char_boundary(new.len() - tail)
            || !previous.is_char_boundary(old.len() - tail)
        {
            tail -= 1;
        }
        // A few numbers are not worth a chain that has to be followed.
        if head + tail < 64 {
            return Self::Whole(body.clone());
        }
        Self::Since { head, text: body[head..new.len() - tail].into(), tail }
    }

    /// The body itself, given the one before it. `None` if it does not belong to that one.
    pub fn whole(&self, previous: Option<&str>) -> Option<Arc<str>> {
        match self {
            Self::Whole(body) => Some(body.clone()),
            Self::Since { head, text, tail } => {
                let previous = previous?;
                let head = previous.get(..*head)?;
                let tail = previous.get(previous.len().checked_sub(*tail)?..)?;
                Some(format!("{head}{text}{tail}").into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_comes_back_from_what_changed() {
        let long = |middle: &str| -> Arc<str> {
            let edge = "x".repeat(80);
            format!("{{\"system\":\"{edge}\",\"messages\":[{middle}],\"tools\":\"{edge}\"}}").into()
        };
        let rows: [(Arc<str>, Arc<str>); 8] = [
            (long("1"), long("1,2")),
            (long("1,2"), long("1")),
            (long(""), long("")),
            (long("é"), long("è")),
            (long("aaaa"), long("aa")),
            ("".into(), "abc".into()),
            ("abc".into(), "".into()),
            (long("1"), "something else".into()),
        ];
        for (old, new) in rows {
            let kept = Body::since(Some(&old), &new);
            assert_eq!(kept.whole(Some(&old)).as_ref(), Some(&new), "{old} {new} {kept:?}");
        }
        let kept = Body::since(Some(&long("1")), &long("1,2"));
        assert!(matches!(&kept, Body::Since { text, .. } if &**text == ",2"), "{kept:?}");
    }

    #[test]
    fn a_body_of_another_chain_is_none() {
        let kept = Body::Since { head: 10, text: "x".into(), tail: 10 };
        assert_eq!(kept.whole(None), None);
        assert_eq!(kept.whole(Some("short")), None);
    }
}
