//! How a model is led to its calls, by its size.

use candle_core::quantized::gguf_file::Content;

/// Below so many parameters, a model copies the values of worked examples into its own calls.
const COPIES_BELOW: u64 = 300_000_000;

/// What a model is shown before it chooses, and how its choice is weighed.
///
/// Measured on the requests for tuning and on BFCL cases outside the bench's sample, never on what the
/// bench reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guidance {
    /// Worked examples, and the likelier of a tool and `answer` is taken.
    Examples,
    /// The tools alone, and a tool only where it is clearly likelier: so small a model takes nearly every
    /// message for a call.
    Tools,
}

impl Guidance {
    pub(crate) fn of(content: &Content) -> Self {
        let tensors = content.tensor_infos.values();
        let parameters: u64 = tensors.map(|tensor| tensor.shape.elem_count() as u64).sum();
        if parameters < COPIES_BELOW { Self::Tools } else { Self::Examples }
    }

    /// How much likelier than `answer` a tool must be, as a difference of logits; below 0, how much less
    /// likely it may be.
    ///
    /// What the model would write first if nothing opened a call for it says no more about its wish to
    /// call: Qwen2.5-Coder never learnt `<tool_call>`, and opens turns with and without a need for tools
    /// alike. After a call was refused with advice, small models give up rather than correct it.
    pub(crate) fn threshold(self, after_refusal: bool) -> f32 {
        match (self, after_refusal) {
            (_, true) => -4.0,
            (Self::Examples, false) => 0.0,
            (Self::Tools, false) => 5.0,
        }
    }
}
