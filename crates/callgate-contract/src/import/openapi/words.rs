//! What the model reads: summary and description, cut where a sentence ends.

/// The most characters of a tool's description: what the narrowest provider takes (OpenAI, 1024).
pub(super) const LONGEST: usize = 1024;

/// A tool's description.
pub(super) fn description(
    summary: Option<&str>,
    description: Option<&str>,
    deprecated: bool,
    otherwise: &str,
) -> String {
    let summary = summary.map(flat).filter(|text| !text.is_empty());
    let description = description.map(flat).filter(|text| !text.is_empty());
    let mut text = match (summary, description) {
        // Many documents say the same twice.
        (Some(summary), Some(description))
            if description.starts_with(summary.trim_end_matches('.')) =>
        {
            description
        }
        (Some(summary), Some(description)) => format!("{}\n\n{description}", sentence(&summary)),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => otherwise.to_owned(),
    };
    if deprecated {
        text = format!("Deprecated: prefer another tool where there is one.\n\n{text}");
    }
    cut(&text, LONGEST)
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ':']) { text.to_owned() } else { format!("{text}.") }
}

/// Line ends of one kind, no blanks at their ends, no more than one empty line in a row.
fn flat(text: &str) -> String {
    let mut out = String::new();
    let mut empty = 0;
    for line in text.trim().lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim_end().to_owned()
}

/// At most so many characters: whole paragraphs, else whole sentences, else whole words, with `…`
/// where something is missing.
pub(super) fn cut(text: &str, longest: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(longest) else { return text.to_owned() };
    let room = text[..end].char_indices().next_back().map_or(0, |(last, _)| last);
    let kept = &text[..room];
    let least = room / 2;
    let at = |found: Option<usize>| found.filter(|at| *at >= least);
    let end = at(kept.rfind("\n\n"))
        .or_else(|| at(kept.rfind(". ").or_else(|| kept.rfind(".\n")).map(|at| at + 1)))
        .or_else(|| at(kept.rfind(char::is_whitespace)))
        .unwrap_or(room);
    format!("{}…", kept[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_and_description() {
        let rows = [
            (Some("List pets"), Some("All of them."), false, "List pets.\n\nAll of them."),
            (Some("List pets"), Some("List pets of a shop."), false, "List pets of a shop."),
            (None, Some(" a\r\n\r\n\r\n\r\nb "), false, "a\n\nb"),
            (Some(""), None, false, "GET /pets"),
            (Some("Old"), None, true, "Deprecated: prefer another tool where there is one.\n\nOld"),
        ];
        for (summary, text, deprecated, expected) in rows {
            assert_eq!(description(summary, text, deprecated, "GET /pets"), expected);
        }
    }

    #[test]
    fn cut_at_an_end() {
        let rows = [
            ("short", 10, "short"),
            ("exactly 10", 10, "exactly 10"),
            ("One two. Three four five", 16, "One two.…"),
            ("aaaaaaaaaaaaaaaaaaaa", 10, "aaaaaaaaa…"),
            ("ééééééé ééééééé", 10, "ééééééé…"),
            ("a paragraph\n\nanother one", 20, "a paragraph…"),
        ];
        for (text, longest, expected) in rows {
            let got = cut(text, longest);
            assert_eq!(got, expected);
            assert!(got.chars().count() <= longest);
        }
    }
}
