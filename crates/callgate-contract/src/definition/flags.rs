//! What a person cannot see in a definition, or should see before they accept it.
//!
//! A model reads every code point; a person reads what a terminal or a page shows. So text that
//! hides (zero width, tags, bidirectional controls, other controls) is told by place and code
//! point, in every string of a definition: names, descriptions, schema texts, property names, enum
//! values. Sentences that speak to the model rather than of the tool ("ignore previous
//! instructions", "do not tell the user") are told too. These are hints for a person, by a short
//! list of words, and no judgement: hiding and persuading have more ways than a list can have.
//!
//! Not told: what ordinary writing needs. A joiner between letters of Persian or Devanagari, or
//! within an emoji, and the variation selector behind a symbol are no secret.

use serde::Serialize;

use crate::document::{Kind, NodeRef, push_token};

/// One thing to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flag {
    /// Where: a JSON Pointer into the definition; a property's name is at its own pointer.
    pub pointer: String,
    /// What kind.
    pub kind: FlagKind,
    /// Hidden characters as `U+200B`, each once, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code_points: Vec<String>,
    /// The text around it, hidden characters written as `\u{200b}`; for tags, what they spell.
    pub text: String,
}

/// Why it is worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FlagKind {
    /// Characters without width, or that no font shows.
    Invisible,
    /// Characters that turn the direction of text, so that it reads otherwise than it is.
    Bidi,
    /// Tag characters, which spell ASCII that nobody sees (U+E0000 to U+E007F).
    Tag,
    /// Control characters other than tab and line ends, escape sequences among them.
    Control,
    /// Words that tell the model what to do beyond the tool.
    Instruction,
}

impl FlagKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Invisible => "invisible",
            Self::Bidi => "bidi",
            Self::Tag => "tag",
            Self::Control => "control",
            Self::Instruction => "instruction",
        }
    }
}

/// Everything to look at in a document: a definition, or an agent's card.
pub fn of(root: NodeRef<'_>) -> Vec<Flag> {
    let mut found = Vec::new();
    visit(root, &mut String::new(), &mut found);
    found
}

fn visit(node: NodeRef<'_>, pointer: &mut String, found: &mut Vec<Flag>) {
    let depth = pointer.len();
    match node.kind() {
        Kind::String => text(node.string().unwrap_or_default(), pointer, found),
        Kind::Array => {
            for (i, element) in node.elements().enumerate() {
                push_token(pointer, &i.to_string());
                visit(element, pointer, found);
                pointer.truncate(depth);
            }
        }
        Kind::Object => {
            for (name, value) in node.members() {
                push_token(pointer, name);
                text(name, pointer, found);
                visit(value, pointer, found);
                pointer.truncate(depth);
            }
        }
        _ => {}
    }
}

/// Everything to look at in one text.
pub fn text(text: &str, pointer: &str, found: &mut Vec<Flag>) {
    // Most texts are plain ASCII of the ordinary kind.
    if !text.bytes().all(|b| matches!(b, b'\t' | b'\n' | b'\r' | 0x20..=0x7e)) {
        hidden(text, pointer, found);
    }
    if let Some(words) = instruction(text) {
        found.push(Flag {
            pointer: pointer.to_owned(),
            kind: FlagKind::Instruction,
            code_points: Vec::new(),
            text: words,
        });
    }
}

fn hidden(text: &str, pointer: &str, found: &mut Vec<Flag>) {
    let chars: Vec<char> = text.chars().collect();
    let kinds: Vec<Option<FlagKind>> = (0..chars.len()).map(|i| kind(&chars, i)).collect();
    for wanted in [FlagKind::Invisible, FlagKind::Bidi, FlagKind::Tag, FlagKind::Control] {
        let Some(first) = kinds.iter().position(|kind| *kind == Some(wanted)) else { continue };
        let mut code_points: Vec<String> = Vec::new();
        for (c, _) in chars.iter().zip(&kinds).filter(|(_, kind)| **kind == Some(wanted)) {
            let point = format!("U+{:04X}", u32::from(*c));
            if !code_points.contains(&point) {
                code_points.push(point);
            }
        }
        let shown = if wanted == FlagKind::Tag {
            chars.iter().filter_map(|c| spelt(*c)).take(MOST).collect()
        } else {
            let from = first.saturating_sub(AROUND);
            let to = (first + AROUND).min(chars.len());
            (from..to).fold(String::new(), |mut shown, i| {
                match kinds[i] {
                    Some(_) => shown.extend(chars[i].escape_unicode()),
                    None => shown.push(chars[i]),
                }
                shown
            })
        };
        found.push(Flag { pointer: pointer.to_owned(), kind: wanted, code_points, text: shown });
    }
}

/// Characters shown before and after the first that hides.
const AROUND: usize = 40;
/// Characters of a hidden text that are shown.
const MOST: usize = 200;

/// Whether a character hides by itself, whatever stands around it.
pub fn hides(c: char) -> bool {
    kind(&[c], 0).is_some()
}

/// The ASCII that a tag character stands for.
fn spelt(c: char) -> Option<char> {
    let offset = u32::from(c).checked_sub(0xE0000)?;
    char::from_u32(offset).filter(|c| c.is_ascii_graphic() || *c == ' ')
}

fn kind(chars: &[char], i: usize) -> Option<FlagKind> {
    let before = i.checked_sub(1).and_then(|i| chars.get(i)).copied();
    let after = chars.get(i + 1).copied();
    match chars[i] {
        '\t' | '\n' | '\r' => None,
        c if c.is_control() => Some(FlagKind::Control),
        // Embeddings, overrides, isolates and the marks; the Arabic letter mark.
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}' => {
            Some(FlagKind::Bidi)
        }
        '\u{E0000}'..='\u{E007F}' => Some(FlagKind::Tag),
        '\u{200C}' | '\u{200D}' if joins(before, after) => None,
        // Behind a symbol it chooses its look. Behind another selector, or a letter, it is data.
        '\u{FE0E}' | '\u{FE0F}' if before.is_some_and(takes_selector) => None,
        // Zero width, joiners, invisible operators and deprecated format characters.
        '\u{200B}'..='\u{200D}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206A}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{00AD}'
        | '\u{034F}'
        | '\u{180B}'..='\u{180F}'
        // Fillers, which are letters without a form.
        | '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}'
        | '\u{17B4}' | '\u{17B5}'
        // The braille pattern without a dot.
        | '\u{2800}'
        // Line and paragraph separators, which few viewers show.
        | '\u{2028}' | '\u{2029}'
        // Variation selectors, the interlinear marks, shorthand and music controls.
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{E0100}'..='\u{E01EF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        // Private use: a font may show anything, or nothing.
        | '\u{E000}'..='\u{F8FF}'
        | '\u{F0000}'..='\u{10FFFF}' => Some(FlagKind::Invisible),
        _ => None,
    }
}

/// Whether a joiner between the two is how their script, or an emoji, is written.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    let script = |c: char| {
        // Arabic and its kin, then the scripts of India and its neighbours.
        matches!(u32::from(c), 0x0600..=0x08FF | 0x0900..=0x0DFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0xFB50..=0xFDFF)
    };
    (script(before) && script(after))
        || ((is_symbol(before) || before == '\u{FE0F}') && is_symbol(after))
}

fn takes_selector(c: char) -> bool {
    is_symbol(c) || matches!(c, '0'..='9' | '#' | '*' | '©' | '®')
}

/// Symbols and emoji, skin tones among them.
fn is_symbol(c: char) -> bool {
    matches!(u32::from(c), 0x203C | 0x2049 | 0x2100..=0x2BFF | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0x1F000..=0x1FAFF)
}

/// Words that speak to a model rather than of a tool. Lower case, single spaces.
const SPOKEN: &[&str] = &[
    "ignore previous",
    "ignore all previous",
    "ignore the previous",
    "ignore prior",
    "ignore all prior",
    "ignore any previous",
    "ignore your instructions",
    "ignore the above",
    "disregard previous",
    "disregard all",
    "disregard the above",
    "disregard your",
    "disregard any",
    "forget previous",
    "forget all previous",
    "forget your instructions",
    "override your instructions",
    "new instructions:",
    "system prompt",
    "do not tell the user",
    "don't tell the user",
    "do not inform the user",
    "do not mention this",
    "don't mention this",
    "do not mention that",
    "never tell the user",
    "never mention",
    "do not reveal this",
    "without telling the user",
    "without informing the user",
    "without the user's knowledge",
    "hide this from the user",
    "keep this secret",
    "secretly",
    "silently send",
    "<important>",
    "<system>",
    "</system>",
    "<|im_start|>",
    "[system]",
    "you are now ",
    "before using this tool, ",
    "before using any other tool",
    "before calling any other tool",
    "instead of the other tool",
    "do not use any other tool",
    "exfiltrate",
    "~/.ssh",
    "id_rsa",
];

/// The first such words, with some text around them.
fn instruction(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        let c = match c {
            '’' => '\'',
            c if c.is_whitespace() => ' ',
            // Hidden characters are no way around the list.
            c if c.is_control() || is_zero_width(c) => continue,
            c => c,
        };
        if c == ' ' && plain.ends_with(' ') {
            continue;
        }
        plain.push(c.to_ascii_lowercase());
    }
    let at = SPOKEN.iter().filter_map(|words| plain.find(words)).min()?;
    let from = plain[..at].char_indices().rev().nth(AROUND).map_or(0, |(i, _)| i);
    Some(plain[from..].chars().take(AROUND * 3).collect::<String>().trim().to_owned())
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{00AD}' | '\u{E0000}'..='\u{E007F}')
}
