//! JSON laid out for people, digits and escapes as they are.
//!
//! Not through a value: a value would round numbers, and what is shown must be what is meant.

use std::fmt::Write as _;

/// Lays out JSON text. Text that is no JSON comes out with its own tokens all the same.
pub(crate) fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut chars = text.chars().peekable();
    let mut in_string = false;
    let line = |out: &mut String, depth: usize| {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{:width$}", "", width = depth * 2);
    };
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            match c {
                '\\' => out.extend(chars.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                if let Some(close) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn laid_out() {
        for (text, expected) in [
            ("{}", "{}"),
            ("[ ]", "[]"),
            ("12345678901234567890.10", "12345678901234567890.10"),
            (
                r#"{"a":1.10,"b":[1,{"c":"x, {y}: \"z\""}],"d":{ }}"#,
                "{\n  \"a\": 1.10,\n  \"b\": [\n    1,\n    {\n      \"c\": \"x, {y}: \\\"z\\\"\"\n    }\n  ],\n  \"d\": {}\n}",
            ),
        ] {
            assert_eq!(pretty(text), expected);
        }
    }
}
