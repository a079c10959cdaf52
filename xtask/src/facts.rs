//! Whether an answer in a model's own words says what is so.

use std::collections::BTreeSet;

/// What an answer has to say.
#[derive(Debug)]
pub(crate) enum Fact {
    /// These words, in any case.
    Says(String),
    /// Each name with its own figure: all of them, and not one figure with another's name.
    Pairs(Vec<(String, Hundredths)>),
    /// Of all words with this prefix exactly these.
    Only { prefix: String, words: Vec<String> },
}

/// A decimal figure as an integer, so that `1961.3`, `1,961.30` and `1961.30` are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hundredths(pub(crate) i64);

impl Hundredths {
    /// From a decimal text with up to two decimals. Thousands may be set off with commas.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        if part.len() > 2 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let whole: i64 = whole.replace(',', "").parse().ok()?;
        let part: i64 = format!("{part:0<2}").parse().ok()?;
        Some(Self(sign * (whole.checked_mul(100)? + part)))
    }
}

impl Fact {
    /// Nothing when `answer` says it, else what is missing or wrong.
    pub(crate) fn missing_in(&self, answer: &str) -> Option<String> {
        match self {
            Self::Says(words) => (!answer.to_lowercase().contains(&words.to_lowercase()))
                .then(|| format!("it does not say \"{words}\"")),
            Self::Pairs(pairs) => {
                (!paired(answer, pairs)).then(|| format!("it does not say {}", listed(pairs)))
            }
            Self::Only { prefix, words } => {
                let wanted: BTreeSet<&str> = words.iter().map(String::as_str).collect();
                let said: BTreeSet<&str> = answer
                    .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
                    .filter(|word| word.starts_with(prefix.as_str()))
                    .collect();
                (said != wanted).then(|| format!("it names {said:?} instead of {wanted:?}"))
            }
        }
    }
}

fn listed(pairs: &[(String, Hundredths)]) -> String {
    let list: Vec<String> = pairs
        .iter()
        .map(|(name, Hundredths(figure))| format!("{name}: {}", *figure as f64 / 100.0))
        .collect();
    list.join(", ")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mention {
    Name(usize),
    Figure(Hundredths),
}

/// Whether each name has its figure right after or right before it, or all names come first and
/// then all figures in the same order.
fn paired(answer: &str, pairs: &[(String, Hundredths)]) -> bool {
    let said = mentions(answer, pairs);
    let adjacent = pairs.iter().enumerate().all(|(name, (_, figure))| {
        beside(said.iter(), name, *figure) || beside(said.iter().rev(), name, *figure)
    });
    adjacent || respectively(&said, pairs)
}

/// Whether the figure comes after a mention of the name and before another name.
fn beside<'a>(said: impl Iterator<Item = &'a Mention>, name: usize, figure: Hundredths) -> bool {
    let mut current = None;
    for mention in said {
        match *mention {
            Mention::Name(other) => current = Some(other),
            Mention::Figure(found) if found == figure && current == Some(name) => return true,
            Mention::Figure(_) => {}
        }
    }
    false
}

fn respectively(said: &[Mention], pairs: &[(String, Hundredths)]) -> bool {
    let mut names = Vec::new();
    let mut figures = Vec::new();
    for mention in said {
        match *mention {
            Mention::Name(_) if !figures.is_empty() => return false,
            Mention::Name(name) if !names.contains(&name) => names.push(name),
            Mention::Name(_) => {}
            Mention::Figure(figure) => figures.push(figure),
        }
    }
    names.len() == pairs.len()
        && figures.len() == pairs.len()
        && names.iter().zip(&figures).all(|(&name, figure)| pairs[name].1 == *figure)
}

/// Names and figures in the order of the text. `EUR40` holds a figure, `INV-2026` holds none.
fn mentions(answer: &str, pairs: &[(String, Hundredths)]) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut previous = ' ';
    while let Some(c) = answer[at..].chars().next() {
        let rest = &answer[at..];
        let free = !previous.is_alphanumeric() && previous != '-';
        let name = pairs.iter().position(|(name, _)| {
            rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let taken = if let (true, Some(name)) = (free, name) {
            found.push(Mention::Name(name));
            pairs[name].0.len()
        } else if previous != '-' && c.is_ascii_digit() || free && matches!(c, '-' | '\u{2212}') {
            let sign = if c.is_ascii_digit() { 0 } else { c.len_utf8() };
            let digits = rest[sign..]
                .find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.'))
                .unwrap_or(rest.len() - sign);
            // The full stop of a sentence and the comma of a list are not part of it.
            let text = rest[..sign + digits].trim_end_matches([',', '.']);
            found.extend(Hundredths::parse(text).map(Mention::Figure));
            text.len().max(c.len_utf8())
        } else {
            c.len_utf8()
        };
        previous = answer[at..at + taken].chars().next_back().unwrap_or(' ');
        at += taken;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        let table = [
            ("1961.30", Some(196_130)),
            ("1961.3", Some(196_130)),
            ("1,961.30", Some(196_130)),
            ("1961", Some(196_100)),
            ("-3", Some(-300)),
            ("\u{2212}0.05", Some(-5)),
            ("1.305", None),
            ("-", None),
            ("", None),
        ];
        for (text, wanted) in table {
            assert_eq!(Hundredths::parse(text), wanted.map(Hundredths), "{text}");
        }
    }

    #[test]
    fn names_with_their_figures() {
        let pairs =
            [("Oslo".to_owned(), Hundredths(-300)), ("Lisbon".to_owned(), Hundredths(1700))];
        let table = [
            ("Oslo: -3 degrees, snowy. Lisbon: 17°C, sunny.", true),
            ("It is -3°C in Oslo and 17°C in Lisbon.", true),
            ("It is 17 in Lisbon, and in Oslo it is \u{2212}3.", true),
            ("Lisbon is warmer than Oslo: Oslo has -3 and Lisbon has 17.", true),
            ("Oslo and Lisbon have -3 and 17 degrees.", true),
            ("- OSLO: -3\n- LISBON: 17.0", true),
            ("Oslo: 17, Lisbon: -3.", false),
            ("Oslo and Lisbon have 17 and -3 degrees.", false),
            ("It is 3°C in Oslo and 17°C in Lisbon.", false),
            ("In Lisbon it is 17.", false),
            ("", false),
        ];
        for (answer, wanted) in table {
            assert_eq!(paired(answer, &pairs), wanted, "{answer}");
        }
    }

    #[test]
    fn invoices_with_their_totals() {
        let pairs = [
            ("INV-2026-0013".to_owned(), Hundredths(147_867)),
            ("INV-2026-0014".to_owned(), Hundredths(196_130)),
        ];
        let table = [
            ("1. INV-2026-0013 (2026-03-03): EUR 1478.67\n2. INV-2026-0014: 1,961.30 EUR", true),
            ("INV-2026-0013 with EUR1478.67 and INV-2026-0014 with 1961.3.", true),
            ("INV-2026-0013: €1478.67\nINV-2026-0014: €1961.30\nTotal: €3439.97", true),
            ("INV-2026-0013 with 1961.30 and INV-2026-0014 with 1478.67", false),
            ("INV-2026-0013 with 1478.67 and INV-2026-0014 with 1961.03", false),
        ];
        for (answer, wanted) in table {
            assert_eq!(paired(answer, &pairs), wanted, "{answer}");
        }
    }

    #[test]
    fn no_more_and_no_less() {
        let fact = Fact::Only {
            prefix: "INV-".to_owned(),
            words: vec!["INV-2026-0013".to_owned(), "INV-2026-0014".to_owned()],
        };
        assert_eq!(fact.missing_in("INV-2026-0014, INV-2026-0013; INV-2026-0014."), None);
        assert!(fact.missing_in("INV-2026-0013").is_some());
        assert!(fact.missing_in("INV-2026-0013 INV-2026-0014 INV-2026-0015").is_some());
        let fact = Fact::Says("Maria Silva".to_owned());
        assert_eq!(fact.missing_in("maria silva has it"), None);
        assert!(fact.missing_in("Nobody has it").is_some());
    }
}
