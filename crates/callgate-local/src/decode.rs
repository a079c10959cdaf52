//! Taking tokens, one after another: the likeliest that is allowed, but for members that nobody asked
//! for ([`optional`]).

use std::sync::atomic::{AtomicBool, Ordering};

use llguidance::Matcher;

use crate::{
    LocalError,
    optional::{self, Optional},
    session::Session,
    tokenizer::Vocabulary,
};

/// Why decoding stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself: the grammar is complete, or the turn was closed.
    Complete,
    /// The request's or the context's last token was used up.
    Length,
}

/// One request's decoding: its budget, and whether anybody still waits.
pub(crate) struct Decoder<'a> {
    pub(crate) session: &'a mut Session,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) cancelled: &'a AtomicBool,
    /// Tokens that may still be generated.
    pub(crate) left: usize,
    /// Tokens generated.
    pub(crate) generated: u64,
}

impl Decoder<'_> {
    /// What the grammar admits, and the logits after it where the model will go on.
    pub(crate) fn constrained(
        &mut self,
        mut matcher: Matcher,
        mut logits: Vec<f32>,
        members: Optional,
    ) -> Result<(String, End), LocalError> {
        let mut text = Vec::new();
        let end = loop {
            // Tokens without an alternative are read in one go, without asking the model.
            let forced = matcher.consume_ff_tokens();
            if forced.is_empty() && matcher.is_stopped() {
                break End::Complete;
            }
            let taken = if forced.is_empty() {
                let mask = matcher.compute_mask_or_eos().map_err(LocalError::grammar)?;
                let allowed = |token: u32| mask.is_allowed(token);
                let Some(mut token) = likeliest(&logits, allowed) else {
                    return Err(LocalError::grammar("no token is allowed"));
                };
                if members == Optional::ClearlyWanted {
                    let bytes = |token| self.vocabulary.bytes(token);
                    token = optional::close(&text, token, &logits, bytes, allowed).unwrap_or(token);
                }
                matcher.consume_token(token).map_err(LocalError::grammar)?;
                if token == self.vocabulary.eos() {
                    break End::Complete;
                }
                vec![token]
            } else {
                forced
            };
            for token in &taken {
                text.extend_from_slice(self.vocabulary.bytes(*token));
            }
            let fits = self.count(taken.len());
            if matcher.is_stopped() {
                break End::Complete;
            }
            if !fits {
                break End::Length;
            }
            logits = self.step(&taken)?;
        };
        // A grammar that lost its way also calls itself stopped, with half a value as if complete.
        if let Some(error) = matcher.get_error() {
            return Err(LocalError::grammar(error));
        }
        Ok((String::from_utf8_lossy(&text).into_owned(), end))
    }

    /// Text until the model closes its turn, each token as `bytes` shows it; a turn is not closed before
    /// anything was said. `piece` gets it as it comes, never half a character.
    pub(crate) fn free(
        &mut self,
        ends: &[u32],
        bytes: fn(&Vocabulary, u32) -> &[u8],
        mut logits: Vec<f32>,
        mut piece: impl FnMut(&str),
    ) -> Result<(String, End), LocalError> {
        let mut text = String::new();
        let mut pending = Vec::new();
        let mut said = false;
        let end = loop {
            let Some(token) = likeliest(&logits, |token| said || !ends.contains(&token)) else {
                return Err(LocalError::grammar("the model gives no numbers"));
            };
            said = true;
            if ends.contains(&token) {
                break End::Complete;
            }
            pending.extend_from_slice(bytes(self.vocabulary, token));
            let whole = whole_characters(&pending);
            if whole > 0 {
                let new = String::from_utf8_lossy(&pending[..whole]).into_owned();
                pending.drain(..whole);
                piece(&new);
                text.push_str(&new);
            }
            if !self.count(1) {
                break End::Length;
            }
            logits = self.step(&[token])?;
        };
        Ok((text, end))
    }

    fn step(&mut self, tokens: &[u32]) -> Result<Vec<f32>, LocalError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(LocalError::Cancelled);
        }
        self.session.eval(tokens)
    }

    /// Counts generated tokens; whether the model may go on.
    fn count(&mut self, tokens: usize) -> bool {
        self.generated += tokens as u64;
        let within = tokens < self.left && tokens < self.session.room();
        self.left = self.left.saturating_sub(tokens);
        within
    }
}

/// The token of the highest logit among the allowed; the first of equals, so that runs repeat.
pub(crate) fn likeliest(logits: &[f32], allowed: impl Fn(u32) -> bool) -> Option<u32> {
    let mut best: Option<(f32, u32)> = None;
    for (token, logit) in (0u32..).zip(logits) {
        if best.is_none_or(|(top, _)| *logit > top) && logit.is_finite() && allowed(token) {
            best = Some((*logit, token));
        }
    }
    best.map(|(_, token)| token)
}

/// Bytes up to the last character that is complete. Bytes that can be no character count as whole.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) => match error.error_len() {
            None => error.valid_up_to(),
            Some(bad) => {
                let next = error.valid_up_to() + bad;
                next + whole_characters(&bytes[next..])
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_never_split() {
        let euro = "€".as_bytes();
        for (bytes, whole) in [
            (&b""[..], 0),
            (b"ab", 2),
            (&euro[..1], 0),
            (&euro[..2], 0),
            (euro, 3),
            (&[b'a', euro[0], euro[1]], 1),
            (&[0xff, b'a', euro[0]], 2),
        ] {
            assert_eq!(whole_characters(bytes), whole, "{bytes:?}");
        }
    }

    #[test]
    fn the_first_of_equals_is_taken_among_the_allowed() {
        assert_eq!(likeliest(&[1.0, 3.0, 3.0, 9.0], |t| t != 3), Some(1));
        assert_eq!(likeliest(&[f32::NAN, f32::NEG_INFINITY], |_| true), None);
        assert_eq!(likeliest(&[1.0], |_| false), None);
    }
}
