//! The definitions in a `callgate.lock`, at their places in the file.
//!
//! Whether its hashes are right is judged by whoever reads it to call something.

use std::collections::BTreeSet;

use super::{Form, Place};
use crate::{
    definition::names::catalog_names,
    document::{NodeRef, push_token},
    surface::names::Named,
};

/// Every definition, under the name that the catalog gives it where no local contract has that
/// name or stands in its place.
pub(super) fn tools(root: NodeRef<'_>) -> Vec<Place> {
    let mut places = Vec::new();
    let mut named = Vec::new();
    for (server, pins) in root.get("servers").into_iter().flat_map(|servers| servers.members()) {
        let tools = pins.get("tools").into_iter().flat_map(|tools| tools.members());
        for (tool, _) in tools.filter(|(_, pin)| pin.get("definition").is_some()) {
            places.push(Place::new(pointer(server, tool), Form::Mcp));
            named.push(Named { server: Some(server.into()), name: tool.into() });
        }
    }
    for (place, name) in places.iter_mut().zip(catalog_names(&named, &BTreeSet::new())) {
        place.name = Some(name);
    }
    places
}

/// Where a lock has the definition of a server's tool.
pub(crate) fn pointer(server: &str, tool: &str) -> String {
    let mut pointer = "/servers".to_owned();
    push_token(&mut pointer, server);
    pointer.push_str("/tools");
    push_token(&mut pointer, tool);
    pointer.push_str("/definition");
    pointer
}
