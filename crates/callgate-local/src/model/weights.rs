//! The weights, and one pass through them.

use std::{
    io::{Read, Seek},
    sync::Arc,
};

use candle_core::{
    DType, Device, Module, Result, Tensor,
    quantized::{GgmlDType, QMatMul, QTensor, ggml_file::qtensor_from_ggml, gguf_file::Content},
};
use candle_nn::{
    ops::{rms_norm, silu, softmax_last_dim},
    rotary_emb::{rope, rope_i},
};

use super::{Architecture, Config, Kv};

struct Layer {
    attention_norm: Tensor,
    query: Projection,
    key: Projection,
    value: Projection,
    output: QMatMul,
    feed_norm: Tensor,
    gate: QMatMul,
    up: QMatMul,
    down: QMatMul,
}

struct Projection {
    weight: QMatMul,
    bias: Option<Tensor>,
}

impl Projection {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.weight.forward(x)?;
        match &self.bias {
            Some(bias) => y.broadcast_add(bias),
            None => Ok(y),
        }
    }
}

/// A model's weights: shared, never written.
pub(crate) struct Weights {
    pub(crate) config: Config,
    embedding: Arc<QTensor>,
    layers: Vec<Layer>,
    norm: Tensor,
    head: QMatMul,
    cos: Tensor,
    sin: Tensor,
}

impl Weights {
    pub(crate) fn load<R: Read + Seek>(
        content: &Content,
        reader: &mut R,
        config: Config,
    ) -> Result<Self> {
        let mut file = Source { content, reader };
        let embedding = file.raw("token_embd.weight")?;
        let head = if file.has("output.weight") {
            file.matrix("output.weight")?
        } else {
            QMatMul::from_arc(Arc::clone(&embedding))?
        };
        let (cos, sin) = rotation(&config, file.optional_vector("rope_freqs.weight")?.as_ref())?;
        let norm = file.vector("output_norm.weight")?;
        let layers = (0..config.layers).map(|i| file.layer(i)).collect::<Result<_>>()?;
        Ok(Self { config, embedding, layers, norm, head, cos, sin })
    }

    /// Appends `tokens` to `kv` and gives the logits after the last of them.
    ///
    /// The caller keeps `kv` within the context.
    pub(crate) fn forward(&self, kv: &mut Kv, tokens: &[u32]) -> Result<Vec<f32>> {
        let Config { heads, kv_heads, head, epsilon, context, .. } = self.config;
        let (past, new) = (kv.tokens.len(), tokens.len());
        let all = past + new;
        kv.reserve(all, context)?;
        let mask = causal_mask(past, new)?;
        let (cos, sin) = (self.cos.narrow(0, past, new)?, self.sin.narrow(0, past, new)?);
        let rotate = |x: &Tensor| match self.config.architecture {
            Architecture::Qwen2 => rope(x, &cos, &sin),
            Architecture::Llama => rope_i(x, &cos, &sin),
        };
        let split =
            |x: Tensor, n: usize| x.reshape((1, new, n, head))?.transpose(1, 2)?.contiguous();
        let scale = 1.0 / (head as f64).sqrt();
        // Query heads that share a key head are stacked along the token axis, so that keys and
        // values are read as they lie instead of being repeated.
        let shared = heads / kv_heads;

        let mut x = self.embed(tokens)?;
        for (layer, (keys, values)) in self.layers.iter().zip(&kv.layers) {
            let h = rms_norm(&x, &layer.attention_norm, epsilon)?;
            let q = rotate(&split(layer.query.forward(&h)?, heads)?)?;
            keys.slice_set(&rotate(&split(layer.key.forward(&h)?, kv_heads)?)?, 2, past)?;
            values.slice_set(&split(layer.value.forward(&h)?, kv_heads)?, 2, past)?;
            let (k, v) = (keys.narrow(2, 0, all)?, values.narrow(2, 0, all)?);

            let q = (q.reshape((1, kv_heads, shared * new, head))? * scale)?;
            let mut scores = q.matmul(&k.t()?)?;
            if let Some(mask) = &mask {
                scores = scores
                    .reshape((kv_heads, shared, new, all))?
                    .broadcast_add(mask)?
                    .reshape((1, kv_heads, shared * new, all))?;
            }
            let mixed = softmax_last_dim(&scores)?
                .matmul(&v)?
                .reshape((1, heads, new, head))?
                .transpose(1, 2)?
                .reshape((1, new, heads * head))?;
            x = (x + layer.output.forward(&mixed)?)?;

            let h = rms_norm(&x, &layer.feed_norm, epsilon)?;
            let gated = (silu(&layer.gate.forward(&h)?)? * layer.up.forward(&h)?)?;
            x = (x + layer.down.forward(&gated)?)?;
        }
        kv.tokens.extend_from_slice(tokens);
        let last = x.narrow(1, new - 1, 1)?.contiguous()?;
        self.head.forward(&rms_norm(&last, &self.norm, epsilon)?)?.flatten_all()?.to_vec1()
    }

    /// Only the rows asked for are dequantised.
    fn embed(&self, tokens: &[u32]) -> Result<Tensor> {
        let dtype = self.embedding.dtype();
        let row = self.config.embedding / dtype.block_size() * dtype.type_size();
        let table = self.embedding.data()?;
        let mut rows = Vec::with_capacity(row * tokens.len());
        for token in tokens {
            let start = *token as usize * row;
            let Some(bytes) = table.get(start..start + row) else {
                candle_core::bail!("token {token} is beyond the embedding table");
            };
            rows.extend_from_slice(bytes);
        }
        let shape = vec![tokens.len(), self.config.embedding];
        qtensor_from_ggml(dtype, &rows, shape, &Device::Cpu)?.dequantize(&Device::Cpu)?.unsqueeze(0)
    }
}

/// Cosines and sines of every position. `factors` stretch the frequencies (Llama 3's long context).
fn rotation(config: &Config, factors: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
    let head = config.head;
    let frequencies: Vec<f32> =
        (0..head).step_by(2).map(|i| config.rope_base.powf(-(i as f32) / head as f32)).collect();
    let mut frequencies = Tensor::from_vec(frequencies, (1, head / 2), &Device::Cpu)?;
    if let Some(factors) = factors {
        frequencies = (frequencies / factors.reshape((1, head / 2))?)?;
    }
    let positions = u32::try_from(config.context).unwrap_or(u32::MAX);
    let angles = Tensor::arange(0, positions, &Device::Cpu)?
        .to_dtype(DType::F32)?
        .reshape((config.context, 1))?
        .matmul(&frequencies)?;
    Ok((angles.cos()?, angles.sin()?))
}

/// Nothing for a single token: it may look at everything before it.
fn causal_mask(past: usize, new: usize) -> Result<Option<Tensor>> {
    if new == 1 {
        return Ok(None);
    }
    let all = past + new;
    let mask: Vec<f32> = (0..new)
        .flat_map(|i| (0..all).map(move |j| if j > past + i { f32::NEG_INFINITY } else { 0.0 }))
        .collect();
    Tensor::from_vec(mask, (new, all), &Device::Cpu).map(Some)
}

struct Source<'a, R> {
    content: &'a Content,
    reader: &'a mut R,
}

impl<R: Read + Seek> Source<'_, R> {
    fn has(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    fn raw(&mut self, name: &str) -> Result<Arc<QTensor>> {
        self.content.tensor(self.reader, name, &Device::Cpu).map(Arc::new)
    }

    fn vector(&mut self, name: &str) -> Result<Tensor> {
        self.raw(name)?.dequantize(&Device::Cpu)
    }

    fn optional_vector(&mut self, name: &str) -> Result<Option<Tensor>> {
        if self.has(name) { self.vector(name).map(Some) } else { Ok(None) }
    }

    fn matrix(&mut self, name: &str) -> Result<QMatMul> {
        let tensor = self.raw(name)?;
        // candle 0.11 has vector kernels for most block types but multiplies these three number by
        // number: five times slower than the eight-bit blocks they fit into without loss to speak of.
        let slow = matches!(tensor.dtype(), GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1);
        if slow {
            let wide = tensor.dequantize(&Device::Cpu)?;
            return QMatMul::from_arc(Arc::new(QTensor::quantize(&wide, GgmlDType::Q8_0)?));
        }
        QMatMul::from_arc(tensor)
    }

    fn projection(&mut self, name: &str) -> Result<Projection> {
        Ok(Projection {
            weight: self.matrix(&format!("{name}.weight"))?,
            bias: self.optional_vector(&format!("{name}.bias"))?,
        })
    }

    fn layer(&mut self, index: usize) -> Result<Layer> {
        let name = |part: &str| format!("blk.{index}.{part}");
        Ok(Layer {
            attention_norm: self.vector(&name("attn_norm.weight"))?,
            query: self.projection(&name("attn_q"))?,
            key: self.projection(&name("attn_k"))?,
            value: self.projection(&name("attn_v"))?,
            output: self.matrix(&name("attn_output.weight"))?,
            feed_norm: self.vector(&name("ffn_norm.weight"))?,
            gate: self.matrix(&name("ffn_gate.weight"))?,
            up: self.matrix(&name("ffn_up.weight"))?,
            down: self.matrix(&name("ffn_down.weight"))?,
        })
    }
}
