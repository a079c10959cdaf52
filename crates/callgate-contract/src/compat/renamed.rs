//! Tools that only have another name.

use crate::{Tool, fixture::Gate, schema::canonical::Relation};

use super::relate;

/// Pairs of a tool that is gone and one that came, which take and give the same.
///
/// One is only told as renamed if there is one candidate, or one with the same words.
pub(super) fn pairs<'t>(gone: &[&'t Tool], come: &[&'t Tool]) -> Vec<(&'t Tool, &'t Tool)> {
    let mut pairs: Vec<(&Tool, &Tool)> = Vec::new();
    for before in gone {
        let is_free = |after: &&&'t Tool| pairs.iter().all(|(_, taken)| taken.name != after.name);
        let same: Vec<&'t Tool> =
            come.iter().filter(is_free).filter(|after| is_same(before, after)).copied().collect();
        let by_words: Vec<&'t Tool> = same
            .iter()
            .filter(|after| *after.description == *before.description)
            .copied()
            .collect();
        // Nothing to tell a tool by: every tool without arguments is alike.
        let tells = has_arguments(before);
        match (by_words.as_slice(), same.as_slice()) {
            ([one], _) if tells || !before.description.is_empty() => pairs.push((before, one)),
            (_, [one]) if tells => pairs.push((before, one)),
            _ => {}
        }
    }
    pairs
}

fn has_arguments(tool: &Tool) -> bool {
    let properties = tool.input.value().get("properties").and_then(|p| p.as_object());
    properties.is_some_and(|properties| !properties.is_empty())
}

fn is_same(before: &Tool, after: &Tool) -> bool {
    let names = |tool: &Tool| -> Vec<String> {
        let properties = tool.input.value().get("properties").and_then(|p| p.as_object());
        let mut names: Vec<String> =
            properties.into_iter().flat_map(|p| p.keys().cloned()).collect();
        names.sort();
        names
    };
    // Cheap first: a proof for every pair of two large catalogs would take long.
    names(before) == names(after)
        && relate(&before.input, &after.input, Gate::In).relation == Relation::Equal
        && match (&before.output, &after.output) {
            (None, None) => true,
            (Some(a), Some(b)) => relate(a, b, Gate::Out).relation == Relation::Equal,
            _ => false,
        }
}
