//! Words of a contract as identifiers, comments and literals of other languages.

use std::collections::BTreeSet;

/// The words of a name: split at what is no letter or digit, and where lower turns to upper case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let chars: Vec<char> = name.chars().collect();
    for (i, c) in chars.iter().enumerate() {
        // Only ASCII: an identifier that every compiler and editor takes.
        if !c.is_ascii_alphanumeric() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        let before = i.checked_sub(1).and_then(|i| chars.get(i));
        let after_lower = before.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let before_lower = chars.get(i + 1).is_some_and(char::is_ascii_lowercase);
        let ends_acronym = before.is_some_and(char::is_ascii_uppercase) && before_lower;
        if c.is_ascii_uppercase() && (after_lower || ends_acronym) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push(c.to_ascii_lowercase());
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
}

/// `GetForecast`; never empty, and never begins with a digit.
pub(super) fn pascal(name: &str) -> String {
    let joined: String = words(name).iter().map(|word| capital(word)).collect();
    begun(joined, "Value", "N")
}

/// `getForecast`.
pub(super) fn camel(name: &str) -> String {
    let joined = words(name)
        .iter()
        .enumerate()
        .map(|(i, word)| if i == 0 { word.clone() } else { capital(word) })
        .collect();
    begun(joined, "value", "n")
}

/// `get_forecast`.
pub(super) fn snake(name: &str) -> String {
    begun(words(name).join("_"), "value", "n")
}

/// `Get Forecast`, for people.
pub(super) fn title(name: &str) -> String {
    let joined = words(name).iter().map(|word| capital(word)).collect::<Vec<_>>().join(" ");
    if joined.is_empty() { name.to_owned() } else { joined }
}

fn begun(name: String, empty: &str, digit: &str) -> String {
    match name.chars().next() {
        None => empty.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{digit}{name}"),
        Some(_) => name,
    }
}

/// Names that are given once.
#[derive(Debug, Default)]
pub(super) struct Given(BTreeSet<String>);

impl Given {
    /// With names that nobody gets.
    pub(super) fn without(reserved: &[&str]) -> Self {
        Self(reserved.iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    /// This name, or with a number where it is taken; case does not tell names apart.
    pub(super) fn give(&mut self, name: impl Into<String>) -> String {
        let name = name.into();
        let mut given = name.clone();
        let mut n = 2;
        while !self.0.insert(given.to_ascii_lowercase()) {
            given = format!("{name}{n}");
            n += 1;
        }
        given
    }
}

/// Whether a character changes how text is shown, or is not shown.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// Text for a comment: hidden characters written out, lines as they are.
///
/// Compilers refuse some of them (a lone carriage return in Rust), and readers are fooled by
/// others (text that turns its direction).
pub(super) fn comment(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if is_hidden(c) {
            out.push_str(&format!("U+{:04X}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

/// A literal in double quotes, with `unicode` for what is not written as it is.
fn quoted(text: &str, unicode: fn(char) -> String) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => out.push_str(&unicode(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A string literal of Rust or Swift, which write them alike: `\u{..}` for hidden characters, and
/// no way for a text to open Swift's `\(..)`.
pub(super) fn literal(text: &str) -> String {
    quoted(text, |c| format!("\\u{{{:X}}}", c as u32))
}

/// A string literal of TypeScript.
pub(super) fn script_literal(text: &str) -> String {
    quoted(text, |c| {
        let mut units = [0; 2];
        c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        for (name, pascal_, snake_, camel_) in [
            ("get_forecast", "GetForecast", "get_forecast", "getForecast"),
            ("API-post-page", "ApiPostPage", "api_post_page", "apiPostPage"),
            ("HTTPServer", "HttpServer", "http_server", "httpServer"),
            ("pageId", "PageId", "page_id", "pageId"),
            ("4c", "N4c", "n4c", "n4c"),
            ("日本", "Value", "value", "value"),
            ("", "Value", "value", "value"),
        ] {
            assert_eq!(
                (pascal(name).as_str(), snake(name).as_str(), camel(name).as_str()),
                (pascal_, snake_, camel_)
            );
        }
    }

    #[test]
    fn given_names_differ_even_without_case() {
        let mut given = Given::without(&["Type"]);
        let names: Vec<String> =
            ["a", "A", "a2", "type"].iter().map(|n| given.give((*n).to_owned())).collect();
        assert_eq!(names, ["a", "A2", "a22", "type2"]);
    }

    #[test]
    fn literals_hold_their_text_alone() {
        assert_eq!(literal("a\"\\(b)\n\u{202E}"), r#""a\"\\(b)\n\u{202E}""#);
        assert_eq!(script_literal("\u{2028}\u{E0001}"), r#""\u2028\udb40\udc01""#);
        assert_eq!(comment("a\r\nb\rc\u{202E}"), "a\nb\ncU+202E");
    }
}
