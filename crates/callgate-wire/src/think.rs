//! Reasoning that a server left in the content, as `<think>…</think>` before the answer.
//!
//! Servers of open models do so when no reasoning parser is set up. Only a tag at the very start
//! counts: anywhere else it is what the model wanted to say. Nothing is lost by it, the text
//! between the tags becomes reasoning.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Divides content that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Think {
    stage: Stage,
    /// What may still become a tag.
    held: String,
}

#[derive(Debug, Default, PartialEq)]
enum Stage {
    #[default]
    Start,
    Inside,
    /// Blank space between the closing tag and the answer is dropped.
    Closed,
    Answer,
}

/// A piece that is known for what it is.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece<'a> {
    Reasoning(&'a str),
    Text(&'a str),
}

impl Think {
    /// Takes the next piece of content. Most content costs one comparison.
    pub(crate) fn push(&mut self, content: &str, mut out: impl FnMut(Piece<'_>)) {
        if self.stage == Stage::Answer {
            if !content.is_empty() {
                out(Piece::Text(content));
            }
            return;
        }
        let mut held = std::mem::take(&mut self.held);
        held.push_str(content);
        let rest = self.divide(&held, &mut out);
        let from = held.len() - rest;
        held.drain(..from);
        self.held = held;
    }

    /// The end of the content: what was held back is no tag.
    pub(crate) fn finish(&mut self, mut out: impl FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        match self.stage {
            _ if held.is_empty() => {}
            Stage::Inside => out(Piece::Reasoning(&held)),
            Stage::Start | Stage::Answer => out(Piece::Text(&held)),
            Stage::Closed => {}
        }
    }

    /// Gives what is sure and returns how many bytes at the end are not.
    fn divide(&mut self, mut text: &str, out: &mut impl FnMut(Piece<'_>)) -> usize {
        if self.stage == Stage::Start {
            let begun = text.trim_start();
            if let Some(inside) = begun.strip_prefix(OPEN) {
                self.stage = Stage::Inside;
                text = inside;
            } else if OPEN.starts_with(begun) {
                return text.len();
            } else {
                self.stage = Stage::Answer;
            }
        }
        if self.stage == Stage::Inside {
            let (inside, after) = match text.split_once(CLOSE) {
                Some((inside, after)) => (inside, Some(after)),
                None => (&text[..text.len() - begun_tag(text)], None),
            };
            if !inside.is_empty() {
                out(Piece::Reasoning(inside));
            }
            let Some(after) = after else { return text.len() - inside.len() };
            self.stage = Stage::Closed;
            text = after;
        }
        if self.stage == Stage::Closed {
            text = text.trim_start();
            if text.is_empty() {
                return 0;
            }
            self.stage = Stage::Answer;
        }
        if !text.is_empty() {
            out(Piece::Text(text));
        }
        0
    }
}

/// Bytes at the end that may be the beginning of the closing tag.
fn begun_tag(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|bytes| text.ends_with(&CLOSE[..*bytes])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(pieces: &[&str]) -> (String, String) {
        let (mut reasoning, mut text) = (String::new(), String::new());
        let mut think = Think::default();
        let mut out = |piece: Piece<'_>| match piece {
            Piece::Reasoning(piece) => reasoning.push_str(piece),
            Piece::Text(piece) => text.push_str(piece),
        };
        for piece in pieces {
            think.push(piece, &mut out);
        }
        think.finish(&mut out);
        (reasoning, text)
    }

    #[test]
    fn at_the_start_only_and_at_any_cut() {
        for (content, reasoning, text) in [
            ("Hi", "", "Hi"),
            ("  Hi", "", "  Hi"),
            ("<think>hm</think>Hi", "hm", "Hi"),
            (
                "\n<think>\nhm </th é\n</think>\n\nHi <think>x</think>",
                "\nhm </th é\n",
                "Hi <think>x</think>",
            ),
            ("<think></think>\n\n", "", ""),
            ("<think>cut</thi", "cut</thi", ""),
            ("<thin air>", "", "<thin air>"),
            ("<thi", "", "<thi"),
            (" ", "", " "),
            ("a</think>b", "", "a</think>b"),
        ] {
            let expected = (reasoning.to_owned(), text.to_owned());
            assert_eq!(divided(&[content]), expected, "{content:?}");
            let each: Vec<_> = content.split_inclusive(|_| true).collect();
            assert_eq!(divided(&each), expected, "{content:?}");
            for (cut, _) in content.char_indices() {
                let (head, tail) = content.split_at(cut);
                assert_eq!(divided(&[head, tail]), expected, "{content:?} at {cut}");
            }
        }
    }
}
