//! Words that are spelled nearly the same: for a slip of the finger, a word that the stemmer does
//! not know the forms of, or a compound.

use std::collections::HashMap;

/// How much two words must share: twice the common trigrams by all of them.
const ALIKE: f32 = 0.42;

/// How many stems one word may lead to.
const MOST: usize = 3;

/// What such a word counts, beside one that is there.
const WEIGHT: f32 = 0.6;

/// Stems by the three-byte pieces that they are made of.
#[derive(Debug, Default)]
pub(super) struct Near {
    pieces: HashMap<[u8; 3], Vec<u32>>,
    /// How many pieces each stem has, by its position.
    sizes: Vec<u16>,
}

impl Near {
    pub(super) fn of<'t>(terms: impl ExactSizeIterator<Item = (&'t str, u32)>) -> Self {
        let mut near = Self { pieces: HashMap::new(), sizes: vec![0; terms.len()] };
        // In the order of the stems' positions, so that a tie is broken the same way everywhere.
        let mut terms: Vec<(&str, u32)> = terms.collect();
        terms.sort_unstable_by_key(|(_, at)| *at);
        for (term, at) in terms {
            let pieces = pieces(term);
            if let Some(size) = near.sizes.get_mut(at as usize) {
                *size = pieces.len().try_into().unwrap_or(u16::MAX);
            }
            for piece in pieces {
                near.pieces.entry(piece).or_default().push(at);
            }
        }
        near
    }

    /// The stems most like a word.
    pub(super) fn of_word(&self, word: &str, weight: f32) -> Vec<(u32, f32)> {
        let own = pieces(word);
        let mut common: HashMap<u32, u16> = HashMap::new();
        for at in own.iter().filter_map(|piece| self.pieces.get(piece)).flatten() {
            *common.entry(*at).or_default() += 1;
        }
        let alike = |(at, n): (u32, u16)| {
            let all = own.len() as f32 + f32::from(self.sizes[at as usize]);
            let alike = 2.0 * f32::from(n) / all;
            (alike >= ALIKE).then_some((at, alike))
        };
        let mut found: Vec<(u32, f32)> = common.into_iter().filter_map(alike).collect();
        found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(MOST);
        found.into_iter().map(|(at, alike)| (at, alike * weight * WEIGHT)).collect()
    }
}

/// The distinct pieces of a word with its ends marked.
fn pieces(word: &str) -> Vec<[u8; 3]> {
    let mut bytes = Vec::with_capacity(word.len() + 2);
    bytes.push(b'^');
    bytes.extend_from_slice(word.as_bytes());
    bytes.push(b'$');
    let mut pieces: Vec<[u8; 3]> = bytes.windows(3).map(|w| [w[0], w[1], w[2]]).collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}
