//! Words: how texts and names come apart, and what of a word is compared.

use super::lexicon;

/// A word of a query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Asked {
    /// The stems that it may stand in a tool's text as, each with how much it counts.
    pub(super) terms: Vec<(String, f32)>,
    /// What to look for the like of, where none of them is there.
    pub(super) spelled: Option<String>,
    /// What it counts.
    pub(super) weight: f32,
}

/// What is quoted is mostly a value of the call, and seldom says which tool is meant.
const QUOTED: f32 = 0.35;

/// What two words written as one count beside either.
const JOINED: f32 = 1.0;

/// The least length of a word that is looked for by its spelling.
const SPELLED: usize = 4;

/// The stems of a text or a name: `createIssue`, `create-issue` and "Creates an issue" begin alike.
pub(super) fn stems(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in split(text) {
        if is_unspaced(&word) {
            out.extend(pairs(&word));
        } else if !lexicon::is_filler(&word) && !is_number(&word) {
            out.push(stem(&word));
            out.extend(unnumbered(&word).map(stem));
        }
    }
    out
}

/// "server" of "server2".
fn unnumbered(word: &str) -> Option<&str> {
    let bare = word.trim_end_matches(char::is_numeric);
    (bare.len() < word.len() && bare.chars().count() >= 3).then_some(bare)
}

/// The words of a query that say something.
pub(super) fn asked(query: &str) -> Vec<Asked> {
    let mut out: Vec<Asked> = Vec::new();
    let mut last: Option<String> = None;
    for (piece, weight) in quoted(query).flat_map(|(text, weight)| {
        text.split_whitespace().map(move |piece| (piece, weight)).collect::<Vec<_>>()
    }) {
        if is_address(piece) {
            out.push(plain("url", weight.max(0.8)));
            last = None;
            continue;
        }
        if is_file_name(piece) {
            // The name is a value; that there is one says what it is about.
            out.push(plain("file", 0.6));
        }
        for word in split(piece) {
            if is_unspaced(&word) {
                out.extend(lexicon::within(&word).map(|concept| led(&concept, weight)));
                let pair =
                    |pair: String| Asked { terms: vec![(pair, weight)], spelled: None, weight };
                out.extend(pairs(&word).into_iter().map(pair));
                continue;
            }
            if let Some(before) = last.replace(word.clone()) {
                // "drop-down" for a dropdown.
                let joined = stem(&format!("{before}{word}"));
                let terms = vec![(joined, JOINED * weight)];
                out.push(Asked { terms, spelled: None, weight });
            }
            if lexicon::is_filler(&word) || is_number(&word) {
                continue;
            }
            let own = stem(&word);
            let mut asked = plain(&own, weight);
            asked.terms.extend(unnumbered(&word).map(|bare| (stem(bare), weight)));
            for concept in lexicon::of(&word) {
                match concept.split_once(' ') {
                    // Several words: each is looked for by itself.
                    Some(_) => out.extend(concept.split(' ').map(|part| led(part, weight))),
                    None => asked.terms.push((stem(concept), lexicon::WEIGHT * weight)),
                }
            }
            if asked.terms.len() == 1 && own.chars().count() >= SPELLED {
                asked.spelled = Some(own);
            }
            out.push(asked);
        }
    }
    out
}

fn plain(word: &str, weight: f32) -> Asked {
    Asked { terms: vec![(stem(word), weight)], spelled: None, weight }
}

fn led(word: &str, weight: f32) -> Asked {
    plain(word, lexicon::WEIGHT * weight)
}

/// The text in pieces, each with what it counts.
fn quoted(text: &str) -> impl Iterator<Item = (&str, f32)> {
    let mut inside = true;
    text.split(['"', '“', '”', '„', '«', '»', '`']).map(move |piece| {
        inside = !inside;
        (piece, if inside { QUOTED } else { 1.0 })
    })
}

fn is_address(piece: &str) -> bool {
    piece.contains("://") || piece.starts_with("www.")
}

/// Whether it looks like `notes.txt` or `*.csv`.
fn is_file_name(piece: &str) -> bool {
    let piece = piece.trim_end_matches(['.', ',', '?', '!', ':', ';', ')']);
    let Some((name, ending)) = piece.rsplit_once('.') else { return false };
    let is_word = (1..=5).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && ending.chars().any(|c| c.is_ascii_alphabetic());
    is_word && name.chars().any(|c| c.is_alphanumeric() || c == '*')
}

/// Words in lower case, without accents, at every border: of signs, of `camelCase`, of scripts that
/// put no spaces and those that do.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // An apostrophe parts no word: "don't".
        if matches!(c, '\'' | '’') && !word.is_empty() {
            continue;
        }
        if !c.is_alphanumeric() {
            flush(&mut word, &mut out);
            before = None;
            continue;
        }
        let border = before.is_some_and(|b| {
            let humps = b.is_lowercase() && c.is_uppercase();
            // The last capital of a row begins a word: `HTTPServer`.
            let row = b.is_uppercase()
                && c.is_uppercase()
                && chars.peek().is_some_and(|next| next.is_lowercase());
            humps || row || unspaced(b) != unspaced(c)
        });
        if border {
            flush(&mut word, &mut out);
        }
        fold(c, &mut word);
        before = Some(c);
    }
    flush(&mut word, &mut out);
    out
}

fn flush(word: &mut String, out: &mut Vec<String>) {
    if !word.is_empty() {
        out.push(std::mem::take(word));
    }
}

/// Lower case, without the accents of European languages.
fn fold(c: char, out: &mut String) {
    for c in c.to_lowercase() {
        match c {
            'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'ą' => out.push('a'),
            'ä' | 'æ' => out.push_str("ae"),
            'ç' | 'ć' | 'č' => out.push('c'),
            'ď' => out.push('d'),
            'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ę' | 'ě' => out.push('e'),
            'ì' | 'í' | 'î' | 'ï' | 'ī' => out.push('i'),
            'ł' => out.push('l'),
            'ñ' | 'ń' | 'ň' => out.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ō' => out.push('o'),
            'ö' | 'ø' | 'œ' => out.push_str("oe"),
            'ř' => out.push('r'),
            'ś' | 'š' => out.push('s'),
            'ß' => out.push_str("ss"),
            'ť' => out.push('t'),
            'ù' | 'ú' | 'û' | 'ū' | 'ů' => out.push('u'),
            'ü' => out.push_str("ue"),
            'ý' | 'ÿ' => out.push('y'),
            'ź' | 'ż' | 'ž' => out.push('z'),
            // Marks that stand by themselves.
            '\u{300}'..='\u{36f}' => {}
            c => out.push(c),
        }
    }
}

/// Letters of scripts that put no space between words: Chinese, Japanese, Thai and their like.
fn unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

fn is_unspaced(word: &str) -> bool {
    word.chars().next().is_some_and(unspaced)
}

/// The letters in overlapping pairs: where no space says what is a word, every pair may be one.
fn pairs(word: &str) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    match chars.as_slice() {
        [_] => vec![word.to_owned()],
        several => several.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

fn is_number(word: &str) -> bool {
    word.chars().all(char::is_numeric)
}

/// Endings that make other forms of the same word, longest first.
const ENDINGS: &[&str] = &[
    "ations", "ation", "ators", "ator", "ating", "ated", "ates", "ate", "ments", "ment", "ings",
    "ing", "ions", "ion", "ers", "er", "ed", "ly",
];

/// What is left of an English word when its endings are taken off: enough to compare by, and the
/// same for the forms of a word; no word itself.
pub(super) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    let mut stem = singular(word);
    for ending in ENDINGS {
        let Some(rest) = stem.strip_suffix(ending) else { continue };
        let least = if matches!(*ending, "er" | "ers" | "ion" | "ions") { 4 } else { 3 };
        if rest.len() >= least && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            stem = undoubled(rest);
        }
        break;
    }
    if stem.len() >= 4
        && let Some(rest) = stem.strip_suffix('e')
    {
        stem = rest.to_owned();
    }
    if stem.len() >= 4
        && let Some(rest) = stem.strip_suffix('y')
    {
        stem = format!("{rest}i");
    }
    stem
}

fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies")
        && rest.len() >= 2
    {
        return format!("{rest}y");
    }
    for ending in ["sses", "shes", "ches", "xes", "zes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(rest) if !rest.ends_with(['s', 'u', 'i']) => rest.to_owned(),
        _ => word.to_owned(),
    }
}

/// "committ" of "committing" is "commit".
fn undoubled(stem: &str) -> String {
    let bytes = stem.as_bytes();
    match bytes {
        [_, _, .., a, b] if a == b && !matches!(b, b'l' | b's' | b'z') && !b"aeiou".contains(b) => {
            stem[..stem.len() - 1].to_owned()
        }
        _ => stem.to_owned(),
    }
}
