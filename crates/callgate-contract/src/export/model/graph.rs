//! Which definitions hold themselves.

use super::{Definition, Kind, Shape};
use crate::export::Losses;

/// Marks what is recursive, and cuts what would be itself without a step in between.
pub(super) fn settle(tool: &str, definitions: &mut [Definition], losses: &mut Losses) {
    for i in 0..definitions.len() {
        while reaches(definitions, i, i, true) {
            let closing: Vec<usize> = (0..definitions.len())
                .filter(|j| *j == i || reaches(definitions, *j, i, true))
                .collect();
            let shape = &mut definitions[i].shape;
            losses.add(
                tool,
                shape.place.clone(),
                "$ref",
                "the schema refers to itself with no step in between: the type is any there",
            );
            cut(shape, &closing);
        }
    }
    for i in 0..definitions.len() {
        definitions[i].is_recursive = reaches(definitions, i, i, false);
    }
}

/// Whether a definition leads to another, in one step or more; `direct`: by unions and names alone.
fn reaches(definitions: &[Definition], from: usize, to: usize, direct: bool) -> bool {
    let mut seen = vec![false; definitions.len()];
    let mut queue = vec![from];
    while let Some(i) = queue.pop() {
        let mut targets = Vec::new();
        gather(&definitions[i].shape, direct, &mut targets);
        for target in targets {
            if target == to {
                return true;
            }
            if !std::mem::replace(&mut seen[target], true) {
                queue.push(target);
            }
        }
    }
    false
}

fn gather(shape: &Shape, direct: bool, targets: &mut Vec<usize>) {
    match &shape.kind {
        Kind::Named(target) => targets.push(*target),
        Kind::Union(_) => shape.children().iter().for_each(|b| gather(b, direct, targets)),
        _ if direct => {}
        _ => shape.children().iter().for_each(|b| gather(b, direct, targets)),
    }
}

fn cut(shape: &mut Shape, closing: &[usize]) {
    match &mut shape.kind {
        Kind::Named(target) if closing.contains(target) => shape.kind = Kind::Any,
        // A union with anything is anything.
        Kind::Union(branches)
            if branches
                .iter()
                .any(|b| matches!(&b.kind, Kind::Named(target) if closing.contains(target))) =>
        {
            shape.kind = Kind::Any;
        }
        _ => {}
    }
}
