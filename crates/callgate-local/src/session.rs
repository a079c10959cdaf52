//! Contexts that remember what they have read.
//!
//! A prompt is evaluated only from where it parts from one already held: the next turn of a run
//! pays for the new messages alone, and another run with the same tools for its question alone.
//! Several contexts are held at once, because a turn uses two prompts that share nothing (choosing
//! a tool, writing the answer) and must not throw one away for the other.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::{
    LocalError,
    cache::PrefixCache,
    model::{Kv, Weights},
};

/// Contexts held at once: two prompts of two runs that take turns.
const SLOTS: usize = 4;

/// Tokens evaluated at once: what a cancelled request still has to wait for.
const CHUNK: usize = 128;

/// A common beginning from this length on is worth more than what follows it in a slot.
const WORTH_KEEPING: usize = 192;

/// A prompt in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) tokens: Vec<u32>,
    /// How many leading tokens other runs will share: all of them (instructions of ours, examples),
    /// then those with the same tools. These parts are kept on disk.
    pub(crate) stable: Vec<usize>,
}

struct Slot {
    kv: Kv,
    used: u64,
}

pub(crate) struct Session {
    weights: Arc<Weights>,
    slots: Vec<Slot>,
    current: usize,
    uses: u64,
    disk: Option<PrefixCache>,
}

/// A prompt that has been read.
pub(crate) struct Begun {
    /// Logits after the last token.
    pub(crate) logits: Vec<f32>,
    /// How many of its tokens needed no evaluation.
    pub(crate) cached: usize,
}

impl Session {
    pub(crate) fn new(weights: Arc<Weights>, disk: Option<PrefixCache>) -> Self {
        Self { weights, slots: Vec::new(), current: 0, uses: 0, disk }
    }

    /// Tokens that a context can hold.
    pub(crate) fn limit(&self) -> usize {
        self.weights.config.context
    }

    /// Tokens that the current context can still take.
    pub(crate) fn room(&self) -> usize {
        self.limit() - self.slots.get(self.current).map_or(0, |slot| slot.kv.tokens().len())
    }

    /// Reads a prompt, from wherever it parts from what is known.
    pub(crate) fn begin(
        &mut self,
        prompt: &Prompt,
        cancelled: &AtomicBool,
    ) -> Result<Begun, LocalError> {
        let (tokens, limit) = (&prompt.tokens, self.limit());
        // One more, so that at least something can be said.
        if tokens.len() >= limit {
            return Err(LocalError::Context { needed: tokens.len() + 1, limit });
        }
        self.current = self.choose(tokens)?;
        let mut held = self.slots[self.current].kv.common(tokens);
        for stable in prompt.stable.iter().rev().copied().take_while(|stable| *stable > held) {
            if self.restore(&tokens[..stable]) {
                held = stable;
                break;
            }
        }
        // The last token is always evaluated: its logits are what we came for.
        let cached = held.min(tokens.len() - 1);
        self.slots[self.current].kv.truncate(cached);
        let mut rest = cached;
        for stable in prompt.stable.iter().copied().filter(|stable| *stable > cached) {
            self.eval_all(&tokens[rest..stable], cancelled)?;
            self.keep(&tokens[..stable]);
            rest = stable;
        }
        // A stable part that is the whole prompt leaves its last token to be read again.
        let rest = rest.min(tokens.len() - 1);
        self.slots[self.current].kv.truncate(rest);
        let logits = self.eval_all(&tokens[rest..], cancelled)?;
        Ok(Begun { logits, cached })
    }

    /// Appends tokens to the current context; logits after the last.
    pub(crate) fn eval(&mut self, tokens: &[u32]) -> Result<Vec<f32>, LocalError> {
        let Some(slot) = self.slots.get_mut(self.current) else {
            return Err(LocalError::Context { needed: tokens.len(), limit: 0 });
        };
        let needed = slot.kv.tokens().len() + tokens.len();
        let limit = self.weights.config.context;
        if needed > limit {
            return Err(LocalError::Context { needed, limit });
        }
        Ok(self.weights.forward(&mut slot.kv, tokens)?)
    }

    /// Forgets every context, after a failure that may have left one half written.
    pub(crate) fn reset(&mut self) {
        self.slots.clear();
        self.current = 0;
    }

    fn eval_all(&mut self, tokens: &[u32], cancelled: &AtomicBool) -> Result<Vec<f32>, LocalError> {
        let mut logits = Vec::new();
        for chunk in tokens.chunks(CHUNK) {
            if cancelled.load(Ordering::Relaxed) {
                return Err(LocalError::Cancelled);
            }
            logits = self.eval(chunk)?;
        }
        Ok(logits)
    }

    /// The slot that shares most with the prompt, unless it shares so little that it is better
    /// kept for its own; then an empty one, then the one unused for longest.
    fn choose(&mut self, tokens: &[u32]) -> Result<usize, LocalError> {
        self.uses += 1;
        let best = self
            .slots
            .iter()
            .enumerate()
            .map(|(index, slot)| (slot.kv.common(tokens), slot.kv.tokens().len(), index))
            .max_by_key(|(common, ..)| *common)
            .filter(|(common, len, _)| *common >= WORTH_KEEPING || common * 2 >= *len);
        let index = match best {
            Some((.., index)) => index,
            None if self.slots.len() < SLOTS => {
                self.slots.push(Slot { kv: Kv::new(&self.weights.config)?, used: 0 });
                self.slots.len() - 1
            }
            None => {
                let oldest = self.slots.iter().enumerate().min_by_key(|(_, slot)| slot.used);
                oldest.map_or(0, |(index, _)| index)
            }
        };
        self.slots[index].used = self.uses;
        Ok(index)
    }

    fn restore(&mut self, stable: &[u32]) -> bool {
        let Some(disk) = &self.disk else { return false };
        let kv = &mut self.slots[self.current].kv;
        let Some(numbers) = disk.load(stable, kv.floats_per_token()) else { return false };
        match kv.import(stable, &numbers, self.weights.config.context) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "a stored prompt prefix could not be used");
                kv.truncate(0);
                false
            }
        }
    }

    /// A cache that cannot be written costs time, never the reply.
    fn keep(&self, stable: &[u32]) {
        let Some(disk) = &self.disk else { return };
        if let Err(error) = disk.store(stable, &self.slots[self.current].kv) {
            tracing::warn!(%error, "the prompt prefix could not be stored");
        }
    }
}
