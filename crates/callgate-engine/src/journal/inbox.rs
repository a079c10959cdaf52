//! Messages to a run, from whoever does not drive it.
//!
//! A person at another terminal, a web page, the process of a parent run: they cannot append to a
//! run that somebody else drives, so they leave a message, and the driver turns it into an event.
//! Messages are as durable as events. They are handed out until they are settled, so a crash
//! between reading and journaling loses none; a message that is handed out twice does no harm,
//! since the machine ignores a word that nothing waits for.

use std::sync::Arc;

use callgate_machine::event::{Decision, Resolution};
use serde::{Deserialize, Serialize};

/// What somebody says to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Inbox {
    /// A decision on a call that waits for approval.
    Decision {
        /// The call.
        call: Arc<str>,
        /// The binding that was seen.
        binding: Arc<str>,
        /// The decision.
        decision: Decision,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// An answer to a question that the model put to the user.
    Answer {
        /// The call that asked.
        call: Arc<str>,
        /// The answer.
        text: Arc<str>,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Nobody answered a question of the model's in time.
    Lapsed {
        /// The call that asked.
        call: Arc<str>,
    },
    /// What became of a call whose outcome was lost.
    Doubt {
        /// The call.
        call: Arc<str>,
        /// The attempt in doubt: a call can be in doubt once for each.
        attempt: u32,
        /// What to do.
        resolution: Resolution,
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Stop.
    Cancel {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Wait.
    Pause {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
    /// Go on.
    Resume {
        /// Who.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
    },
}

impl Inbox {
    /// What only one message of a run can say: the first one counts. `None` where each counts.
    pub(crate) fn unique(&self) -> Option<String> {
        match self {
            Self::Decision { call, binding, .. } => Some(format!("decision\n{call}\n{binding}")),
            Self::Answer { call, .. } | Self::Lapsed { call } => Some(format!("answer\n{call}")),
            Self::Doubt { call, attempt, .. } => Some(format!("doubt\n{call}\n{attempt}")),
            Self::Cancel { .. } | Self::Pause { .. } | Self::Resume { .. } => None,
        }
    }

    /// Who says it.
    pub fn by(&self) -> Option<&Arc<str>> {
        match self {
            Self::Decision { by, .. }
            | Self::Answer { by, .. }
            | Self::Doubt { by, .. }
            | Self::Cancel { by }
            | Self::Pause { by }
            | Self::Resume { by } => by.as_ref(),
            Self::Lapsed { .. } => None,
        }
    }
}

/// A message in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its number: later messages have higher ones.
    pub id: u64,
    /// When it was sent, in milliseconds since 1970.
    pub at: u64,
    /// What it says.
    pub body: Inbox,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Sent {
    /// It waits for the run, under this number.
    Kept(u64),
    /// Somebody else was first; this is what they said. The new message was not kept.
    Already(Message),
}
