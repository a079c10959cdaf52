//! Tool search: which of many tools does a request in plain words mean?
//!
//! An [`Index`] is made once a catalog and asked often. It ranks by BM25F (Robertson and Zaragoza,
//! *The Probabilistic Relevance Framework*, 2009): a word counts the more, the fewer tools have it,
//! and the more, the closer to the tool's name it stands. Words are cut to stems, names to the
//! words that they are made of, a few hundred words of everyday speech (of English and of other
//! languages) lead to those that tools are described with (`lexicon`), and a word that no tool
//! has leads to those that are spelled nearly the same (`near`).
//!
//! Pure and deterministic: the same tools and the same words give the same ranks everywhere.
//!
//! ```
//! use callgate_contract::{Catalog, search::Index};
//!
//! let catalog = Catalog::load([
//!     ("a.json", r#"{"name": "create_issue", "description": "Opens an issue.", "input": {"type": "object"}}"#),
//!     ("b.json", r#"{"name": "listFiles", "description": "Lists a directory.", "input": {"type": "object"}}"#),
//! ]).unwrap();
//! let index = Index::of(catalog.tools().map(|tool| &**tool));
//! assert_eq!(&*index.search("what is in that folder?", 5)[0].name, "listFiles");
//! assert_eq!(&*index.search("Erstelle ein Ticket", 5)[0].name, "create_issue");
//! ```

mod brief;
mod lexicon;
mod near;
mod text;
mod words;

use std::{collections::HashMap, sync::Arc};

pub use brief::{Brief, brief};

use self::{
    near::Near,
    text::{FIELDS, fields},
    words::{Asked, asked},
};
use crate::Tool;

/// How soon more of the same word stops counting.
const SATURATION: f32 = 1.2;

/// Words of a query that are looked up; the rest of a longer one is left out.
const MOST_WORDS: usize = 64;

/// The words of a catalog's tools, by tool.
#[derive(Debug, Default)]
pub struct Index {
    /// The tools, by position.
    names: Vec<Arc<str>>,
    /// Each stem's position in `postings`.
    terms: HashMap<Box<str>, u32>,
    /// For each stem: the tools that have it, and what it is worth there.
    postings: Vec<Vec<(u32, f32)>>,
    near: Near,
}

/// A tool that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its name.
    pub name: Arc<str>,
    /// How well it fits; good for comparing the hits of one search alone.
    pub score: f32,
}

impl Index {
    /// Reads tools in: their names, descriptions, parameters and example requests.
    pub fn of<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        let mut index = Self::default();
        // By stem: the tools, each with how often the stem stands in each of its fields.
        let mut counts: Vec<Vec<(u32, [u16; FIELDS.len()])>> = Vec::new();
        let mut lengths: Vec<[usize; FIELDS.len()]> = Vec::new();
        for (at, tool) in (0u32..).zip(tools) {
            index.names.push(tool.name.clone());
            let mut length = [0; FIELDS.len()];
            for (field, words) in fields(tool).into_iter().enumerate() {
                length[field] = words.len();
                for word in words {
                    let next = index.terms.len() as u32;
                    let term = *index.terms.entry(word.into_boxed_str()).or_insert(next);
                    if term == next && counts.len() == next as usize {
                        counts.push(Vec::new());
                    }
                    let of = &mut counts[term as usize];
                    match of.last_mut() {
                        Some((last, count)) if *last == at => {
                            count[field] = count[field].saturating_add(1);
                        }
                        _ => {
                            let mut count = [0; FIELDS.len()];
                            count[field] = 1;
                            of.push((at, count));
                        }
                    }
                }
            }
            lengths.push(length);
        }
        let averages = averages(&lengths);
        let total = index.names.len() as f32;
        index.postings = counts
            .into_iter()
            .map(|tools| {
                let having = tools.len() as f32;
                let rarity = (1.0 + (total - having + 0.5) / (having + 0.5)).ln();
                let worth = |(at, count): (u32, [u16; FIELDS.len()])| {
                    let often = frequency(&count, &lengths[at as usize], &averages);
                    (at, rarity * often * (SATURATION + 1.0) / (often + SATURATION))
                };
                tools.into_iter().map(worth).collect()
            })
            .collect();
        index.near = Near::of(index.terms.iter().map(|(term, at)| (&**term, *at)));
        index
    }

    /// How many tools it holds.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The tools that fit best, best first; none where no word leads to any.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        self.search_among(query, limit, |_| true)
    }

    /// The same among those tools that are admitted.
    pub fn search_among(
        &self,
        query: &str,
        limit: usize,
        admit: impl Fn(&str) -> bool,
    ) -> Vec<Hit> {
        let mut scores = vec![0.0f32; self.names.len()];
        let mut best = vec![0.0f32; self.names.len()];
        let mut touched: Vec<u32> = Vec::new();
        for word in asked(query).into_iter().take(MOST_WORDS) {
            // Of a word and what it stands for, the best counts, not each.
            for (term, weight) in self.terms_of(&word) {
                for (at, worth) in &self.postings[term as usize] {
                    let here = &mut best[*at as usize];
                    if *here == 0.0 {
                        touched.push(*at);
                    }
                    *here = here.max(worth * weight);
                }
            }
            for at in touched.drain(..) {
                scores[at as usize] += std::mem::take(&mut best[at as usize]);
            }
        }
        let found = (0u32..).zip(scores).filter(|(_, score)| *score > 0.0);
        let mut found: Vec<(u32, f32)> =
            found.filter(|(at, _)| admit(&self.names[*at as usize])).collect();
        // Of equals, the first in the catalog.
        let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if limit < found.len() {
            found.select_nth_unstable_by(limit, order);
            found.truncate(limit);
        }
        found.sort_by(order);
        let hit = |(at, score): (u32, f32)| Hit { name: self.names[at as usize].clone(), score };
        found.into_iter().map(hit).collect()
    }

    /// The stems that a word of a query leads to, each with how much it counts.
    fn terms_of(&self, word: &Asked) -> Vec<(u32, f32)> {
        let known =
            |(term, weight): &(String, f32)| self.terms.get(term.as_str()).map(|at| (*at, *weight));
        let terms: Vec<(u32, f32)> = word.terms.iter().filter_map(known).collect();
        match (&word.spelled, terms.is_empty()) {
            (Some(spelled), true) => self.near.of_word(spelled, word.weight),
            _ => terms,
        }
    }
}

fn averages(lengths: &[[usize; FIELDS.len()]]) -> [f32; FIELDS.len()] {
    std::array::from_fn(|field| {
        let sum: usize = lengths.iter().map(|length| length[field]).sum();
        (sum as f32 / lengths.len().max(1) as f32).max(1.0)
    })
}

/// How often a stem stands in a tool, field by field by the field's weight and length.
fn frequency(
    count: &[u16; FIELDS.len()],
    length: &[usize; FIELDS.len()],
    averages: &[f32; FIELDS.len()],
) -> f32 {
    let of = |field: usize| {
        let spec = FIELDS[field];
        let relative = length[field] as f32 / averages[field];
        spec.weight * f32::from(count[field]) / (1.0 - spec.by_length + spec.by_length * relative)
    };
    (0..FIELDS.len()).filter(|field| count[*field] > 0).map(of).sum()
}

#[cfg(test)]
mod tests;
