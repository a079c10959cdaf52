//! Words of texts: where a value stands in one, and how much of it.

/// Where `wanted` stands in a text as a word of its own: not within a longer word or number.
pub(super) fn position(text: &str, wanted: &str) -> Option<usize> {
    let (first, last) = (wanted.chars().next()?, wanted.chars().next_back()?);
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find(wanted) {
        let at = from + at;
        let before = text[..at].chars().rev();
        let after = text[at + wanted.len()..].chars();
        if is_begin(before, first) && is_end(after, last) {
            return Some(at);
        }
        from = at + first.len_utf8();
    }
    None
}

/// Whether a word begins here: two letters or digits side by side are one word, and a number does
/// not begin behind the point of another one.
fn is_begin(mut before: impl Iterator<Item = char>, first: char) -> bool {
    match before.next() {
        Some(next) if first.is_alphanumeric() && next.is_alphanumeric() => false,
        Some('.' | ',') if first.is_ascii_digit() => {
            !before.next().is_some_and(|c| c.is_ascii_digit())
        }
        _ => true,
    }
}

/// Whether a word ends here. A number goes on behind a point that a digit follows.
fn is_end(mut after: std::str::Chars<'_>, last: char) -> bool {
    match after.next() {
        Some(next) if last.is_alphanumeric() && next.is_alphanumeric() => false,
        Some('.' | ',') if last.is_ascii_digit() => {
            !after.next().is_some_and(|c| c.is_ascii_digit())
        }
        _ => true,
    }
}

/// Small letters, white space as single spaces: what people hold for the same.
pub(super) fn plain(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words and numbers of a value, in small letters.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// A number without what people write for the eye: `1,250.50` and `1 250` as digits.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let from = at;
        while at < bytes.len()
            && (bytes[at].is_ascii_digit()
                || (matches!(bytes[at], b'.' | b',' | b'\'')
                    && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)))
        {
            at += 1;
        }
        let sign = if from > 0 && bytes[from - 1] == b'-' { "-" } else { "" };
        let digits: String = text[from..at].chars().filter(|c| !matches!(c, ',' | '\'')).collect();
        found.push((from, format!("{sign}{digits}")));
    }
    found.into_iter()
}

/// A few words round a place, for people.
pub(super) fn round(text: &str, at: usize, length: usize) -> String {
    const EACH: usize = 24;
    let from = text[..at].char_indices().rev().nth(EACH).map_or(0, |(i, _)| i);
    let rest = &text[(at + length).min(text.len())..];
    let until = rest.char_indices().nth(EACH).map_or(text.len(), |(i, _)| at + length + i);
    let words = text[from..until].split_whitespace().collect::<Vec<_>>().join(" ");
    let head = if from > 0 { "…" } else { "" };
    let tail = if until < text.len() { "…" } else { "" };
    format!("{head}{words}{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_no_part_of_a_word() {
        let rows = [
            ("ticket T-1042, please", "T-1042", Some(7)),
            ("ticket T-10422", "T-1042", None),
            ("AT-1042", "T-1042", None),
            ("it is 5.", "5", Some(6)),
            ("it is 5.5", "5", None),
            ("15 and 5", "5", Some(7)),
            ("in Łódź!", "Łódź", Some(3)),
            ("x", "", None),
        ];
        for (text, wanted, expected) in rows {
            assert_eq!(position(text, wanted), expected, "{text:?} {wanted:?}");
        }
    }

    #[test]
    fn numbers_as_people_write_them() {
        let found: Vec<String> =
            numbers("1,250.50 EUR, -3 and 2026-03-01; v1.2.").map(|(_, n)| n).collect();
        assert_eq!(found, ["1250.50", "-3", "2026", "-03", "-01", "1.2"]);
    }

    #[test]
    fn words_round_a_place_end_at_characters() {
        let text = "ä".repeat(100);
        assert_eq!(round(&text, 100, 2).chars().filter(|c| *c == 'ä').count(), 50);
        assert_eq!(round("short", 0, 5), "short");
    }
}
