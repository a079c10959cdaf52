//! Text from outside, made fit for a model to read: bounded, without control characters, without
//! stack traces.
//!
//! A message is for the next decision. What is cut here stays whole in [`Invoked::raw`].
//!
//! [`Invoked::raw`]: crate::Invoked::raw

/// How much of an error text is quoted, in characters.
pub(crate) const QUOTED: usize = 1500;

/// The text without terminal escapes and control characters; line feeds and tabs stay.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // CSI (ECMA-48 5.4): ESC [ parameters, then one byte from @ to ~.
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                for c in chars.by_ref() {
                    if ('@'..='~').contains(&c) {
                        break;
                    }
                }
            }
            // OSC: up to BEL or ESC.
            '\u{1b}' if chars.peek() == Some(&']') => {
                for c in chars.by_ref() {
                    if c == '\u{7}' || c == '\u{1b}' {
                        break;
                    }
                }
            }
            '\n' | '\t' => out.push(c),
            // A progress bar rewrites its line: only a line feed parts lines here.
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            c if c.is_control() => {}
            // Marks that reorder what a person sees.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c => out.push(c),
        }
    }
    out
}

/// The last `limit` characters, with a mark where something was cut.
pub(crate) fn tail(text: &str, limit: usize) -> String {
    let text = text.trim();
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().skip(count - limit).collect();
    format!("[{} characters cut] {}", count - limit, kept.trim_start())
}

/// The beginning and the end, `limit` characters together: an error body says what is wrong at
/// one of the two.
pub(crate) fn ends(text: &str, limit: usize) -> String {
    let text = text.trim();
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    let half = limit / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head} [{} characters cut] {tail}", count - 2 * half)
}

/// The text without the frames of Python, Node and Rust stack traces. The line that names the
/// error stays: it is the only one that helps whoever made the call.
pub(crate) fn without_traces(text: &str) -> String {
    let mut out = Vec::new();
    let mut in_trace = false;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let indented = trimmed.len() < line.len();
        let header = trimmed.starts_with("Traceback (most recent call last)")
            || trimmed == "stack backtrace:";
        let frame = (in_trace && (indented || trimmed.is_empty() || numbered_frame(trimmed)))
            || (indented && trimmed.starts_with("at "))
            || trimmed.starts_with("note: run with `RUST_BACKTRACE");
        in_trace = header || (in_trace && frame);
        if !header && !frame {
            out.push(line);
        }
    }
    out.join("\n")
}

/// `3: core::panicking::panic_fmt`, as Rust prints frames.
fn numbered_frame(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(number, _)| number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_go() {
        let rows = [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("bell\u{7}nul\0", "bellnul"),
            ("10%\r20%\r\n", "10%\n20%\n"),
            ("a\u{202e}b", "ab"),
        ];
        for (text, expected) in rows {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn long_text_is_cut_with_a_mark() {
        assert_eq!(tail("short ", 10), "short");
        assert_eq!(tail("0123456789", 4), "[6 characters cut] 6789");
        assert_eq!(ends("0123456789", 4), "01 [6 characters cut] 89");
        assert_eq!(ends("äöüäöü", 2), "ä [4 characters cut] ü");
    }

    #[test]
    fn traces_lose_their_frames_and_keep_their_error() {
        let rows = [
            (
                "loading\nTraceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    run()\nKeyError: 'dir'",
                "loading\nKeyError: 'dir'",
            ),
            (
                "TypeError: x is not a function\n    at run (/srv/a.js:1:2)\n    at main (/srv/a.js:3:4)",
                "TypeError: x is not a function",
            ),
            (
                "thread 'main' panicked:\nno such city\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/x\n   1: main\nnote: run with `RUST_BACKTRACE=full`",
                "thread 'main' panicked:\nno such city",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(without_traces(text), expected);
        }
    }
}
