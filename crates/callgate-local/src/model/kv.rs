//! Keys and values of the tokens already evaluated.

use candle_core::{DType, Device, Result, Tensor};

use super::Config;

/// Grown by doubling from here, so that a short run does not pay for the whole context.
const FIRST_CAPACITY: usize = 1024;

/// The cache of one context. Owned by a session; the weights know nothing of it.
///
/// Cutting it back is only a shorter `tokens`: what lies beyond is overwritten by the next
/// evaluation.
pub(crate) struct Kv {
    pub(super) layers: Vec<(Tensor, Tensor)>,
    pub(super) tokens: Vec<u32>,
    capacity: usize,
    heads: usize,
    head: usize,
}

impl Kv {
    pub(crate) fn new(config: &Config) -> Result<Self> {
        let mut kv = Self {
            layers: Vec::with_capacity(config.layers),
            tokens: Vec::new(),
            capacity: FIRST_CAPACITY.min(config.context),
            heads: config.kv_heads,
            head: config.head,
        };
        for _ in 0..config.layers {
            kv.layers.push((kv.empty()?, kv.empty()?));
        }
        Ok(kv)
    }

    /// The tokens whose keys and values are here.
    pub(crate) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// How many leading tokens of `wanted` are here.
    pub(crate) fn common(&self, wanted: &[u32]) -> usize {
        self.tokens.iter().zip(wanted).take_while(|(have, want)| have == want).count()
    }

    pub(crate) fn truncate(&mut self, tokens: usize) {
        self.tokens.truncate(tokens);
    }

    /// Makes room for `tokens` in all. The caller has checked them against the context.
    pub(super) fn reserve(&mut self, tokens: usize, context: usize) -> Result<()> {
        if tokens <= self.capacity {
            return Ok(());
        }
        self.capacity = tokens.next_power_of_two().min(context);
        let held = self.tokens.len();
        for index in 0..self.layers.len() {
            let (keys, values) = (self.empty()?, self.empty()?);
            if held > 0 {
                let (old_keys, old_values) = &self.layers[index];
                keys.slice_set(&old_keys.narrow(2, 0, held)?.contiguous()?, 2, 0)?;
                values.slice_set(&old_values.narrow(2, 0, held)?.contiguous()?, 2, 0)?;
            }
            self.layers[index] = (keys, values);
        }
        Ok(())
    }

    /// Numbers a token takes up: all layers, keys and values.
    pub(crate) fn floats_per_token(&self) -> usize {
        self.layers.len() * 2 * self.heads * self.head
    }

    /// Hands out the first `tokens` tokens' numbers, one tensor after another.
    pub(crate) fn export(&self, tokens: usize, mut sink: impl FnMut(&[f32])) -> Result<()> {
        for (keys, values) in &self.layers {
            for tensor in [keys, values] {
                sink(&tensor.narrow(2, 0, tokens)?.flatten_all()?.to_vec1::<f32>()?);
            }
        }
        Ok(())
    }

    /// The reverse of [`Kv::export`].
    pub(crate) fn import(&mut self, tokens: &[u32], numbers: &[f32], context: usize) -> Result<()> {
        self.tokens.clear();
        self.reserve(tokens.len(), context)?;
        let one = self.heads * tokens.len() * self.head;
        let shape = (1, self.heads, tokens.len(), self.head);
        let mut chunks = numbers.chunks_exact(one);
        for (keys, values) in &self.layers {
            for tensor in [keys, values] {
                let Some(chunk) = chunks.next() else {
                    candle_core::bail!("too few numbers for {} tokens", tokens.len());
                };
                tensor.slice_set(&Tensor::from_slice(chunk, shape, &Device::Cpu)?, 2, 0)?;
            }
        }
        self.tokens.extend_from_slice(tokens);
        Ok(())
    }

    fn empty(&self) -> Result<Tensor> {
        Tensor::zeros((1, self.heads, self.capacity, self.head), DType::F32, &Device::Cpu)
    }
}
