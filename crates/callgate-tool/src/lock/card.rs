//! The cards of agents elsewhere: what was accepted of them, and what is compared at a call.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{
    ErrorKind, Executed, Failure,
    catalog::Source,
    definition::{Change, Flag, difference::words, flags},
    document::{Document, Kind, canonical},
    tool::hash,
};
use serde::Serialize;

use super::{Lock, layout};

/// The members that count, in the order in which they are pinned: what the agent says it is and
/// does, and where requests go. Neither its version nor its icon nor its signatures, which change
/// without anything becoming another thing.
const MEMBERS: [&str; 9] = [
    "name",
    "description",
    "protocolVersion",
    "supportedInterfaces",
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "capabilities",
    "skills",
];

/// An agent's card, as far as it is pinned. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PinnedCard {
    name: Arc<str>,
    text: Arc<str>,
    fingerprint: Arc<str>,
}

impl PinnedCard {
    /// Reads a card, as the JSON text that came.
    ///
    /// # Errors
    /// Why it cannot be pinned: it is no JSON object, or has no name.
    pub fn read(text: &str) -> Result<Self, String> {
        let source = Source::parse("the card", text)
            .map_err(|mistake| format!("the card cannot be read: {}", mistake.message))?;
        let root = source.doc.root();
        if root.kind() != Kind::Object {
            return Err("the card is no object".to_owned());
        }
        let Some(name) = root.get("name").and_then(|name| name.string()) else {
            return Err("the card has no name".to_owned());
        };
        let members: Vec<String> = MEMBERS
            .iter()
            .filter_map(|member| {
                let node = root.get(member).filter(|node| node.kind() != Kind::Null)?;
                Some(format!("\"{member}\":{}", node.raw()))
            })
            .collect();
        let pinned = format!("{{{}}}", members.join(","));
        // What was just written is a document.
        let canonical = Document::parse(&pinned).map(|doc| canonical(doc.root()));
        let fingerprint = hash(canonical.as_deref().unwrap_or(&pinned));
        Ok(Self { name: name.into(), text: pinned.into(), fingerprint: fingerprint.into() })
    }

    /// The agent's name for itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The card as it is pinned: the members that count, each as the agent wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// SHA-256, in hexadecimal, of the [pinned text](Self::text) in canonical form: key order and
    /// white space do not count.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// What a person should look at before they accept it.
    pub fn flags(&self) -> Vec<Flag> {
        Document::parse(&self.text).map(|doc| flags::of(doc.root())).unwrap_or_default()
    }

    /// The members in which another one differs.
    fn fields(&self, other: &Self) -> Vec<&'static str> {
        let (Ok(own), Ok(other)) = (Document::parse(&self.text), Document::parse(&other.text))
        else {
            return Vec::new();
        };
        let of = |doc: &Document<'_>, member: &str| doc.root().get(member).map(canonical);
        MEMBERS.into_iter().filter(|member| of(&own, member) != of(&other, member)).collect()
    }

    /// As people read it, a line a member.
    fn laid_out(&self) -> String {
        let laid_out = Document::parse(&self.text).map(|doc| layout::laid_out(doc.root(), 0));
        laid_out.unwrap_or_else(|_| self.text.to_string())
    }
}

/// The cards that a project accepted, by the URLs that its contracts name. Cheap to clone.
///
/// Without a project there are none, and no card is compared with anything.
#[derive(Debug, Clone, Default)]
pub struct Cards(Option<Arc<BTreeMap<Arc<str>, PinnedCard>>>);

/// What an agent's card has to be.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// Any will do.
    Any,
    /// This one. Where it is absent, none was accepted yet.
    Accepted {
        /// The URL, as the contract writes it.
        agent: Arc<str>,
        /// The card.
        card: Option<PinnedCard>,
    },
}

impl Cards {
    /// What an agent's card has to be, by the URL in its contract.
    pub(crate) fn wanted(&self, url: &str) -> Wanted {
        match &self.0 {
            None => Wanted::Any,
            Some(cards) => Wanted::Accepted { agent: url.into(), card: cards.get(url).cloned() },
        }
    }
}

impl Wanted {
    /// Whether a card is the accepted one.
    ///
    /// # Errors
    /// `definition_changed`: it is another one, none was accepted, or it cannot be read.
    pub(crate) fn check(&self, now: &str) -> Result<(), Failure> {
        let Self::Accepted { agent, card } = self else { return Ok(()) };
        let why = match (card, PinnedCard::read(now)) {
            (Some(card), Ok(now)) if card.fingerprint == now.fingerprint => return Ok(()),
            (Some(card), Ok(now)) => {
                format!("changed since it was accepted ({})", card.fields(&now).join(", "))
            }
            (Some(_), Err(why)) => format!("changed since it was accepted: {why}"),
            (None, _) => "was never accepted".to_owned(),
        };
        let message = format!("the card of the agent \"{agent}\" {why}");
        Err(Failure::new(ErrorKind::DefinitionChanged, message)
            .executed(Executed::No)
            .retryable(false)
            .hint(format!(
                "This agent cannot be asked until a person has looked at its card (callgate lock) and accepts it: callgate lock --accept {agent}. Go on without it or tell the user."
            )))
    }
}

/// An agent elsewhere, compared with its pin.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentReport {
    /// The URL that contracts name.
    pub agent: Arc<str>,
    /// What the agent calls itself now, or did when it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Whether it was pinned at all.
    pub pinned: bool,
    /// Whether its card is another one than the pinned one.
    pub drifted: bool,
    /// The accepted hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Arc<str>>,
    /// The hash now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Arc<str>>,
    /// The members that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<&'static str>,
    /// From the accepted card's text to this one's, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<Change>,
    /// What to look at that was not in the accepted card.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// Why its card could not be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl AgentReport {
    /// Compares an agent's card, or why there is none, with its pin.
    pub fn of(lock: &Lock, agent: &str, now: &Result<PinnedCard, String>) -> Self {
        let pin = lock.agent(agent);
        let known = now.as_ref().ok().or(pin);
        let mut report = Self {
            agent: agent.into(),
            name: known.map(|card| card.name.clone()),
            pinned: pin.is_some(),
            drifted: pin.is_none(),
            before: pin.map(|pin| pin.fingerprint.clone()),
            after: None,
            fields: Vec::new(),
            diff: Vec::new(),
            flags: Vec::new(),
            error: None,
        };
        let now = match now {
            Ok(now) => now,
            Err(error) => {
                // Its pin holds; nothing is known of a drift.
                (report.drifted, report.error) = (false, Some(error.clone()));
                return report;
            }
        };
        report.after = Some(now.fingerprint.clone());
        report.flags = now.flags();
        if let Some(pin) = pin {
            let known = pin.flags();
            report.flags.retain(|flag| !known.contains(flag));
            if pin.fingerprint != now.fingerprint {
                report.drifted = true;
                report.fields = pin.fields(now);
                report.diff = words(&pin.laid_out(), &now.laid_out());
            }
        }
        report
    }
}

impl Lock {
    /// The card that was accepted of an agent, by the URL that contracts name.
    pub fn agent(&self, url: &str) -> Option<&PinnedCard> {
        self.agents.get(url)
    }

    /// All agents that were ever pinned, by URL.
    pub fn agents(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &PinnedCard)> {
        self.agents.iter()
    }

    /// Pins an agent's card; one that is unchanged keeps its entry byte for byte.
    pub fn accept_agent(&mut self, url: &str, card: &PinnedCard) {
        let same = |pin: &PinnedCard| pin.fingerprint == card.fingerprint;
        if !self.agents.get(url).is_some_and(same) {
            self.agents.insert(url.into(), card.clone());
        }
    }

    /// Forgets an agent.
    pub fn forget_agent(&mut self, url: &str) {
        self.agents.remove(url);
    }

    /// The cards that calls are held to ([`Backends::cards`](crate::Backends::cards)): of an agent
    /// without a pin, none.
    pub fn cards(&self) -> Cards {
        Cards(Some(Arc::new(self.agents.clone())))
    }
}
