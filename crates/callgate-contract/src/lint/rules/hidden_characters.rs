//! Characters that a model reads and a person does not see.

use super::{Check, Draft, Level, Rule, Seen};
use crate::{
    document::NodeRef,
    lint::{Edit, Fix, texts::count},
    listed::below,
};

pub(super) const RULE: Rule = Rule {
    id: "hidden-characters",
    level: Level::Error,
    finds: "Zero-width, bidirectional, tag and control characters in what a model reads.",
    why: "What nobody sees nobody reviews: instructions have been smuggled to models in tag characters and behind bidirectional overrides.",
    instead: "Take them out; where one is meant, name it in words.",
    fixes: true,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    tool.texts(&mut |pointer, text| {
        // Plain text is by far the most, and has none.
        if text.bytes().all(|byte| (0x20..0x7f).contains(&byte) || matches!(byte, b'\n' | b'\t')) {
            return;
        }
        let chars: Vec<char> = text.chars().collect();
        let hidden = hidden(&chars);
        if hidden.is_empty() {
            return;
        }
        let mut kinds: Vec<String> = Vec::new();
        for at in &hidden {
            let kind = format!("U+{:04X} ({})", chars[*at] as u32, kind_of(chars[*at]));
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let says = smuggled(&chars);
        let mut draft = Draft::new(
            pointer,
            format!(
                "{} that nobody sees and a model reads: {}{}",
                count(hidden.len(), "character"),
                crate::lint::texts::listed(&kinds, 3),
                says.map(|says| format!("; the tag characters say {says:?}")).unwrap_or_default()
            ),
            "Take them out; where one is meant, name it in words.",
        );
        let node = below(tool.node, pointer);
        let is_prose = ["description", "title", "$comment"]
            .iter()
            .any(|name| pointer.rsplit('/').next() == Some(name));
        // A name or a value is part of what the gates judge by; prose is not.
        if let Some(node) = node.filter(|node| is_prose && node.string() == Some(text)) {
            draft.fix = removal(node, &hidden);
        }
        found.push(draft);
    });
}

fn kind_of(c: char) -> &'static str {
    match c {
        '\u{e0000}'..='\u{e007f}' => "a tag character",
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{180e}' => "zero-width",
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            "turns the direction of writing"
        }
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => "a variation selector",
        c if c.is_control() => "a control character",
        _ => "invisible",
    }
}

/// Positions of characters that are hidden and have no business where they stand.
fn hidden(chars: &[char]) -> Vec<usize> {
    let is_rtl = chars.iter().any(|c| is_right_to_left(*c));
    let mut out = Vec::new();
    let mut in_flag = false;
    for (i, c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|i| chars.get(i)).copied().unwrap_or(' ');
        let after = chars.get(i + 1).copied().unwrap_or(' ');
        // England's flag and its like are a black flag and tags up to a cancel tag.
        in_flag = match c {
            '\u{1f3f4}' => true,
            '\u{e0020}'..='\u{e007f}' => in_flag,
            _ => false,
        };
        let is_hidden = match c {
            '\u{e0000}'..='\u{e007f}' => !in_flag,
            '\u{202d}' | '\u{202e}' => true,
            '\u{202a}'..='\u{202c}'
            | '\u{2066}'..='\u{2069}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{61c}' => !is_rtl,
            // Joins emoji, and shapes letters of Arabic and the scripts of India.
            '\u{200c}' | '\u{200d}' => !(joins(before) && joins(after)),
            // Where words may break, in scripts without spaces.
            '\u{200b}' => !(is_unspaced(before) || is_unspaced(after)),
            '\u{fe00}'..='\u{fe0f}' => is_selector(before) || before.is_ascii_alphabetic(),
            '\u{e0100}'..='\u{e01ef}' => is_selector(before) || !is_han(before),
            '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{180e}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{3164}'
            | '\u{ffa0}'
            | '\u{206a}'..='\u{206f}' => true,
            '\n' | '\r' | '\t' => false,
            c => c.is_control(),
        };
        if is_hidden {
            out.push(i);
        }
    }
    out
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

fn joins(c: char) -> bool {
    let is_emoji = matches!(c,
        '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{fe0f}');
    is_emoji || matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}')
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// What tag characters spell.
fn smuggled(chars: &[char]) -> Option<String> {
    let text: String = chars
        .iter()
        .filter(|c| ('\u{e0020}'..='\u{e007e}').contains(*c))
        .filter_map(|c| char::from_u32(*c as u32 - 0xe0000))
        .collect();
    (!text.is_empty()).then(|| crate::lint::texts::short(&text, 80))
}

/// The characters gone from a string's JSON text, written out or as escapes.
fn removal(node: NodeRef<'_>, hidden: &[usize]) -> Option<Fix> {
    let raw = node.raw();
    let start = node.span().0;
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    let mut edits = Vec::new();
    let mut at = 0;
    let mut index = 0;
    while at < inner.len() {
        let length = length_of(&inner[at..])?;
        if hidden.contains(&index) {
            let from = start + 1 + at;
            edits.push(Edit { start: from, end: from + length, text: String::new() });
        }
        at += length;
        index += 1;
    }
    Some(Fix { does: "takes out characters that nobody sees".to_owned(), edits })
}

/// Bytes of the first character of a string's JSON text.
fn length_of(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first != '\\' {
        return Some(first.len_utf8());
    }
    if chars.next()? != 'u' {
        return Some(2);
    }
    let unit = u32::from_str_radix(text.get(2..6)?, 16).ok()?;
    // A pair of escapes is one character.
    Some(if (0xd800..0xdc00).contains(&unit) { 12 } else { 6 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_is_told_from_written() {
        for (text, expected) in [
            ("plain", 0),
            ("zero\u{200b}width", 1),
            ("a\u{202e}b", 1),
            ("hi\u{e0068}\u{e0069}", 2),
            ("\u{1b}[31m", 1),
            ("a\u{fe0f}\u{fe0f}", 2),
            // Written: a family, a heart, Persian, Hebrew with marks, Thai, England's flag.
            ("\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", 0),
            ("\u{2764}\u{fe0f}", 0),
            ("\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}", 0),
            ("\u{5e9}\u{5dc}\u{200f} (1)", 0),
            ("\u{e01}\u{200b}\u{e02}", 0),
            ("\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", 0),
            ("caf\u{e9}\r\n\tok", 0),
        ] {
            let chars: Vec<char> = text.chars().collect();
            assert_eq!(hidden(&chars).len(), expected, "{text:?}");
        }
    }
}
