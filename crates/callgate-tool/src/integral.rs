//! Integers that a model wrote as `5.0`.
//!
//! JSON Schema takes `5.0` for an integer (draft 2020-12, validation 6.1.1), so the gate admits it.
//! A Rust integer reads only `5`. Nothing is judged here, and nothing changes but the spelling.

/// The text with `5.0` written as `5`; nothing where it has no such number. The text is valid JSON.
pub(crate) fn respelt(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_other = false;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with('"') { string(rest) } else { number(rest) };
        let (token, after) = rest.split_at(length);
        let whole = token
            .split_once('.')
            .filter(|(_, fraction)| !token.starts_with('"') && is_zero(fraction))
            .map(|(whole, _)| whole);
        is_other |= whole.is_some();
        out.push_str(whole.unwrap_or(token));
        rest = after;
    }
    out.push_str(rest);
    is_other.then_some(out)
}

fn is_zero(fraction: &str) -> bool {
    fraction.bytes().all(|byte| byte == b'0')
}

/// The length of the string at the beginning, quotes included.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let closing = text.bytes().skip(1).position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    closing.map_or(text.len(), |at| at + 2)
}

/// The length of the number at the beginning.
fn number(text: &str) -> usize {
    let ends = |c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E'));
    text.find(ends).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_spelling_of_integers_changes() {
        for (text, expected) in [
            (r#"{"n":5.0,"m":[-3.00, 7]}"#, Some(r#"{"n":5,"m":[-3, 7]}"#)),
            (r#"{"n":5.5,"m":1.10,"k":5}"#, None),
            (r#"{"n":5.0e1}"#, None),
            (r#"{"s":"5.0","t":"a\"5.0","u":"\\"}"#, None),
            (
                r#"{"s":"ö 5.0","n":9007199254740993.0}"#,
                Some(r#"{"s":"ö 5.0","n":9007199254740993}"#),
            ),
        ] {
            assert_eq!(respelt(text).as_deref(), expected, "{text}");
        }
    }
}
