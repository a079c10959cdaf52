//! Tools in any form, read as contracts.
//!
//! An MCP definition is read as [`Definition`] reads it, so that a list and a server's own word
//! make the same contract. What is another's keeps the keywords that nobody knows.

use serde_json::{Map, Value, json};

use super::{Form, Place, below, nodes, tools};
use crate::{
    catalog::{Catalog, Mistake, Source},
    definition::Definition,
    document::{Kind, NodeRef},
    schema::Schema,
};

impl Catalog {
    /// Reads files of tools in any form that is known: contracts, `tools/list` results, arrays of
    /// provider definitions. What is right is in the catalog, every mistake in the rest is told.
    pub fn read_any<'t>(
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> (Self, Vec<Mistake>) {
        let mut read = Read::default();
        let mut contracts = Vec::new();
        for (name, text) in files {
            let source = match Source::parse(name, text) {
                Ok(source) => source,
                Err(mistake) => {
                    read.mistakes.push(mistake);
                    continue;
                }
            };
            match tools(source.doc.root()) {
                Some(places) if places.iter().all(|p| !is_file(p)) => read.list(&source, &places),
                // A contract, or what is told as one that is wrong.
                _ => contracts.push((name, text)),
            }
        }
        // The contracts are judged together: a rule of one may look something up with another.
        let Read { catalog, mut mistakes } = read;
        let (catalog, found) = catalog.load_beside(contracts);
        mistakes.extend(found);
        (catalog, mistakes)
    }
}

fn is_file(place: &Place) -> bool {
    place.form == Form::Contract && place.pointer.is_empty()
}

#[derive(Default)]
struct Read {
    catalog: Catalog,
    mistakes: Vec<Mistake>,
}

impl Read {
    fn list(&mut self, source: &Source<'_>, places: &[Place]) {
        for (place, node) in places.iter().zip(nodes(source.doc.root(), places)) {
            let Some(node) = node else { continue };
            match catalog_of(source, place, node) {
                Ok(catalog) => {
                    for tool in catalog.tools() {
                        if self.catalog.get(&tool.name).is_none() {
                            self.catalog.insert(crate::Tool::clone(tool));
                            continue;
                        }
                        let message = format!("the name \"{}\" is listed twice", tool.name);
                        let at = format!("{}/name", place.pointer);
                        self.mistakes.push(source.mistake(&at, message, None));
                    }
                }
                Err(found) => self.mistakes.extend(found),
            }
        }
    }
}

/// The contract of one tool of a list.
pub(super) fn one(
    source: &Source<'_>,
    place: &Place,
    node: NodeRef<'_>,
) -> Result<crate::Tool, Vec<Mistake>> {
    let catalog = catalog_of(source, place, node)?;
    catalog.tools().next().map(|tool| crate::Tool::clone(tool)).ok_or_else(Vec::new)
}

fn catalog_of(
    source: &Source<'_>,
    place: &Place,
    node: NodeRef<'_>,
) -> Result<Catalog, Vec<Mistake>> {
    match place.form {
        Form::Mcp => discovered(source, place, node),
        _ => declared(source, place, node),
    }
}

/// A tool as an MCP server tells it.
fn discovered(
    source: &Source<'_>,
    place: &Place,
    node: NodeRef<'_>,
) -> Result<Catalog, Vec<Mistake>> {
    let definition = Definition::read(node.raw()).map_err(|unusable| {
        let at = format!("{}{}", place.pointer, unusable.pointer);
        vec![source.mistake(&at, unusable.reason, None)]
    })?;
    let name = place.name.as_deref().unwrap_or(definition.name());
    Ok([definition.contract(name, Map::new(), source.file, None)].into_iter().collect())
}

/// A tool as a provider takes it, or a contract in a list.
fn declared(
    source: &Source<'_>,
    place: &Place,
    node: NodeRef<'_>,
) -> Result<Catalog, Vec<Mistake>> {
    let told = |pointer: &str, message: &str, hint: Option<String>| {
        vec![source.mistake(&format!("{}{pointer}", place.pointer), message, hint)]
    };
    let is_nested = place.form == Form::OpenAi && node.get("function").is_some();
    let inner = if is_nested { "/function" } else { "" };
    let input_at = first(node, place.form.input_at(is_nested));
    let output_at = first(node, place.form.output_at());
    let contract = if place.form == Form::Contract {
        node.to_value()
    } else {
        let member = |name: &str| below(node, &format!("{inner}/{name}"));
        let Some(name) = member("name") else {
            return Err(told(inner, "it has no name, so no call can mean it", None));
        };
        let mut contract = Map::new();
        contract.insert("name".to_owned(), name.to_value());
        let description = member("description").and_then(|text| text.string());
        contract.insert("description".to_owned(), json!(description.unwrap_or_default()));
        let input = match input_at {
            Some(at) => below(node, at).map(|schema| schema.to_value()),
            // No parameters at all: an object of any kind.
            None if !place.form.needs_input() => Some(json!({"type": "object"})),
            None => None,
        };
        let Some(input) = input else {
            return Err(told("", "it has no schema of its arguments", None));
        };
        contract.insert("input".to_owned(), input);
        if let Some(output) = output_at.and_then(|at| below(node, at)) {
            contract.insert("output".to_owned(), output.to_value());
        }
        Value::Object(contract)
    };
    let text = contract.to_string();
    let compile =
        if place.form == Form::Contract { Schema::compile } else { Schema::compile_as_given };
    let (catalog, found) = Catalog::default().load_by([(source.file, text.as_str())], compile);
    if found.is_empty() {
        return Ok(catalog);
    }
    let from = |mistake: &Mistake| {
        let places = [("/input", input_at), ("/output", output_at), ("", Some(inner))];
        places.into_iter().find_map(|(ours, theirs)| {
            Some(format!("{}{}", theirs?, mistake.pointer.strip_prefix(ours)?))
        })
    };
    let told = found.into_iter().flat_map(|mistake| {
        let below = from(&mistake).unwrap_or_default();
        told(&below, &mistake.message, mistake.hint)
    });
    Err(told.collect())
}

/// The first of several places where something is; null counts as nothing.
pub(super) fn first(node: NodeRef<'_>, places: &'static [&'static str]) -> Option<&'static str> {
    let is_there = |at: &&'static &'static str| {
        below(node, at).is_some_and(|found| found.kind() != Kind::Null)
    };
    places.iter().find(is_there).copied()
}
