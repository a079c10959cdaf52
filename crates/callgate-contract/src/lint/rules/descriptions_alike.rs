//! Descriptions that a model cannot tell apart.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Check, Draft, Level, Offered, Rule};
use crate::lint::texts::{listed, short};

pub(super) const RULE: Rule = Rule {
    id: "descriptions-alike",
    level: Level::Warning,
    finds: "Two tools offered together whose descriptions are nearly the same.",
    why: "What is said of both does not tell which to call; models then choose by chance or by order.",
    instead: "Say in each what only it does, and name the other for the other case.",
    fixes: false,
    check: Check::Catalog(check),
};

/// Of two texts' word pairs and words, the share that both have.
const ALIKE: f64 = 0.72;
/// Below so many words only the same text is alike: one word of a few is a difference.
const FEW: usize = 12;
/// So many other texts are looked at for one, at most: what is common to thousands tells nothing.
const MOST: usize = 64;

fn check(offered: &Offered<'_>, found: &mut Vec<Draft>) {
    // The same words first, in one pass.
    let mut same: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (index, tool) in offered.tools.iter().enumerate() {
        if let Some(text) = tool.description {
            let words = words_of(text);
            if words.len() > 1 {
                same.entry(words).or_default().push(index);
            }
        }
    }
    for tools in same.values().filter(|tools| tools.len() > 1) {
        let names: Vec<String> =
            tools[1..].iter().map(|i| format!("\"{}\"", offered.tools[*i].name)).collect();
        found.push(told(
            offered,
            tools[0],
            &format!("word for word that of {}", listed(&names, 4)),
        ));
    }
    let texts: Vec<(usize, Vec<String>)> = same
        .into_iter()
        .filter(|(words, _)| words.len() >= FEW)
        .map(|(words, tools)| (tools[0], words))
        .collect();
    // One finding a tool, with the one that is most like it.
    let mut nearest: BTreeMap<usize, (f64, usize, usize)> = BTreeMap::new();
    for (first, second, share) in alike(&texts) {
        let (first, second) = (first.min(second), first.max(second));
        let (best, like, count) = nearest.entry(second).or_insert((0.0, first, 0));
        *count += 1;
        if (share, std::cmp::Reverse(first)) > (*best, std::cmp::Reverse(*like)) {
            (*best, *like) = (share, first);
        }
    }
    for (index, (share, like, count)) in nearest {
        let name = offered.tools[like].name;
        let more = match count - 1 {
            0 => String::new(),
            n => format!(", and of {n} more"),
        };
        let how = format!(
            "nearly that of \"{name}\"{more} ({:.0} % of their words and pairs of words are the \
             same)",
            share * 100.0
        );
        found.push(told(offered, index, &how));
    }
}

fn told(offered: &Offered<'_>, index: usize, how: &str) -> Draft {
    let tool = &offered.tools[index];
    Draft::new(
        tool.description_at,
        format!(
            "its description is {how}: \"{}\". What sets the two apart is easily missed",
            short(tool.description.unwrap_or_default(), 60)
        ),
        "Say what only this tool does, and which to call in the other case.",
    )
    .of(index)
}

fn words_of(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Pairs of texts whose features overlap by [`ALIKE`]. Texts alike must share one of the rare
/// features of each (prefix filtering), so no text is compared with all others.
fn alike(texts: &[(usize, Vec<String>)]) -> Vec<(usize, usize, f64)> {
    let mut often: HashMap<u64, usize> = HashMap::new();
    let mut features: Vec<Vec<u64>> = Vec::with_capacity(texts.len());
    for (_, words) in texts {
        let set: BTreeSet<u64> = words
            .iter()
            .map(|word| hashed(word, ""))
            .chain(words.windows(2).map(|pair| hashed(&pair[0], &pair[1])))
            .collect();
        for feature in &set {
            *often.entry(*feature).or_default() += 1;
        }
        features.push(set.into_iter().collect());
    }
    for features in &mut features {
        features.sort_by_key(|feature| (often.get(feature).copied().unwrap_or(0), *feature));
    }
    let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut pairs = Vec::new();
    for (i, mine) in features.iter().enumerate() {
        #[allow(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss
        )]
        let prefix = mine.len() - (ALIKE * mine.len() as f64).ceil() as usize + 1;
        let rare = &mine[..prefix.min(mine.len())];
        let mut candidates: BTreeSet<usize> = BTreeSet::new();
        for feature in rare {
            candidates.extend(index.get(feature).into_iter().flatten().take(MOST));
        }
        let own: HashSet<u64> = mine.iter().copied().collect();
        for other in candidates.into_iter().take(MOST) {
            let theirs = &features[other];
            #[allow(clippy::cast_precision_loss)]
            let at_best = mine.len().min(theirs.len()) as f64 / mine.len().max(theirs.len()) as f64;
            if at_best < ALIKE {
                continue;
            }
            let both = theirs.iter().filter(|feature| own.contains(feature)).count();
            #[allow(clippy::cast_precision_loss)]
            let share = both as f64 / (own.len() + theirs.len() - both) as f64;
            if share >= ALIKE {
                pairs.push((texts[i].0, texts[other].0, share));
            }
        }
        for feature in rare {
            index.entry(*feature).or_default().push(i);
        }
    }
    pairs
}

/// FNV-1a: the same on every machine.
fn hashed(first: &str, second: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in first.bytes().chain([0xff]).chain(second.bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}
