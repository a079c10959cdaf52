//! The pinned tools as contracts, without a project around them.

use std::collections::BTreeSet;

use callgate_contract::{Catalog, definition::names::catalog_names, surface::names::Named};

use super::Lock;

impl Lock {
    /// Every pinned tool as a contract, under the name that a catalog gives it where no local
    /// contract takes its place. `file` is where the lock was read.
    pub fn catalog(&self, file: &str) -> Catalog {
        let pins = || {
            self.servers().flat_map(|(server, pins)| pins.iter().map(move |(_, pin)| (server, pin)))
        };
        let named: Vec<Named> = pins()
            .map(|(server, pin)| Named {
                server: Some(server.clone()),
                name: pin.definition().name().clone(),
            })
            .collect();
        let names = catalog_names(&named, &BTreeSet::new());
        pins()
            .zip(names)
            .map(|((server, pin), name)| pin.definition().tool(name, server, file, None))
            .collect()
    }
}
