//! Reading the lock: whole and unharmed, or not at all.

use std::{collections::BTreeMap, sync::Arc};

use callgate_contract::{
    Mistake,
    catalog::Source,
    definition::Definition,
    document::{Kind, NodeRef},
};

use super::{Lock, Pin, PinnedCard, Pins, VERSION};
use crate::registry::pointer_to;

/// A lock that was harmed is mended by a person, who knows whether they meant it.
const ACCEPT: &str = "Restore the file from version control, or take the entry out and accept the tool with `callgate lock --accept`.";

impl Lock {
    /// Reads a lock's text.
    ///
    /// # Errors
    /// Every mistake, with its place: no JSON, a newer version, an entry whose hash is not that of
    /// its definition. A lock that cannot be read pins nothing and must not be taken for empty.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<Mistake>> {
        let source = Source::parse(file, text).map_err(|mistake| vec![mistake])?;
        let mut reader = Reader { source: &source, mistakes: Vec::new() };
        let lock = reader.lock();
        if reader.mistakes.is_empty() { Ok(lock) } else { Err(reader.mistakes) }
    }
}

struct Reader<'s, 't> {
    source: &'s Source<'t>,
    mistakes: Vec<Mistake>,
}

impl<'s> Reader<'s, '_> {
    fn wrong(&mut self, pointer: &str, message: impl Into<String>, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.mistakes.push(self.source.mistake(pointer, message, hint));
    }

    fn lock(&mut self) -> Lock {
        let root = self.source.doc.root();
        let version = root.get("version");
        match version.and_then(|node| node.number()).and_then(|n| n.parse::<u64>().ok()) {
            Some(VERSION) => {}
            Some(newer) if newer > VERSION => {
                let message =
                    format!("the lock has version {newer}, and this Callgate reads {VERSION}");
                self.wrong("/version", message, Some("Use a newer Callgate."));
                // What a newer version means by its members nobody knows here.
                return Lock::default();
            }
            _ => {
                let hint =
                    "Restore the file from version control, or delete it and pin everything anew.";
                self.wrong("/version", "this is no callgate.lock: it has no version", Some(hint));
                return Lock::default();
            }
        }
        self.known(root, "", &["version", "servers", "agents"]);
        let mut servers = BTreeMap::new();
        for (name, server) in self.members(root, "", "servers") {
            let at = format!("/servers{}", pointer_to(name));
            self.known(server, &at, &["tools"]);
            let mut tools: BTreeMap<Arc<str>, Pin> = BTreeMap::new();
            for (tool, entry) in self.members(server, &at, "tools") {
                let at = format!("{at}/tools{}", pointer_to(tool));
                if let Some(pin) = self.pin(tool, entry, &at) {
                    tools.insert(tool.into(), pin);
                }
            }
            servers.insert(name.into(), Pins { tools });
        }
        let mut agents = BTreeMap::new();
        if root.get("agents").is_some() {
            for (url, entry) in self.members(root, "", "agents") {
                let at = format!("/agents{}", pointer_to(url));
                if let Some(card) = self.card(entry, &at) {
                    agents.insert(url.into(), card);
                }
            }
        }
        Lock { servers, agents }
    }

    fn card(&mut self, entry: NodeRef<'_>, at: &str) -> Option<PinnedCard> {
        self.known(entry, at, &["sha256", "card"]);
        let Some(card) = entry.get("card") else {
            self.wrong(at, "the entry has no card", Some(ACCEPT));
            return None;
        };
        let card = match PinnedCard::read(card.raw()) {
            Ok(card) => card,
            Err(why) => {
                self.wrong(&format!("{at}/card"), why, Some(ACCEPT));
                return None;
            }
        };
        let hash = entry.get("sha256").and_then(|node| node.string());
        if hash != Some(card.fingerprint()) {
            let message = "the card does not have this hash: it was changed after it was accepted";
            self.wrong(&format!("{at}/sha256"), message, Some(ACCEPT));
            return None;
        }
        Some(card)
    }

    fn pin(&mut self, tool: &str, entry: NodeRef<'_>, at: &str) -> Option<Pin> {
        self.known(entry, at, &["sha256", "definition"]);
        let Some(definition) = entry.get("definition") else {
            self.wrong(at, "the entry has no definition", Some(ACCEPT));
            return None;
        };
        let definition = match Definition::read(definition.raw()) {
            Ok(definition) => definition,
            Err(unusable) => {
                let pointer = format!("{at}/definition{}", unusable.pointer);
                self.wrong(&pointer, unusable.reason, Some(ACCEPT));
                return None;
            }
        };
        if &**definition.name() != tool {
            let message = format!("the definition is of \"{}\"", definition.name());
            self.wrong(&format!("{at}/definition/name"), message, Some(ACCEPT));
            return None;
        }
        let hash = entry.get("sha256").and_then(|node| node.string());
        if hash != Some(definition.fingerprint()) {
            let message =
                "the definition does not have this hash: it was changed after it was accepted";
            self.wrong(&format!("{at}/sha256"), message, Some(ACCEPT));
            return None;
        }
        Some(Pin(Arc::new(definition)))
    }

    fn members(&mut self, node: NodeRef<'s>, at: &str, field: &str) -> Vec<(&'s str, NodeRef<'s>)> {
        match node.get(field) {
            Some(map) if map.kind() == Kind::Object => map.members().collect(),
            _ => {
                let message = format!("expected an object with \"{field}\"");
                self.wrong(&format!("{at}/{field}"), message, None);
                Vec::new()
            }
        }
    }

    fn known(&mut self, node: NodeRef<'_>, at: &str, fields: &[&str]) {
        for (name, _) in node.members().filter(|(name, _)| !fields.contains(name)) {
            let pointer = format!("{at}{}", pointer_to(name));
            self.wrong(&pointer, format!("unknown field \"{name}\""), None);
        }
    }
}
