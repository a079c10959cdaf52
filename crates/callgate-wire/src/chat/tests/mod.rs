//! Facts about the whole codec, as tables.

mod cases;
mod decode;
mod encode;
mod failure;
mod stream;

use crate::{Reply, Stop};

/// A reply as one line a part, for tables and snapshots.
fn sketch(reply: &Reply) -> Vec<String> {
    use crate::AssistantPart as Part;
    let mut lines: Vec<_> = reply
        .content
        .iter()
        .map(|part| match part {
            Part::Text { text } => format!("text {text}"),
            Part::Reasoning { text, opaque: None } => format!("reasoning {text}"),
            Part::Reasoning { text, opaque: Some(opaque) } => {
                format!("reasoning {text} {}", opaque.json)
            }
            Part::Call(call) => {
                let opaque = call.opaque.as_ref().map(|opaque| format!(" {}", opaque.json));
                format!(
                    "{} {}({}){}",
                    call.id,
                    call.name,
                    call.arguments,
                    opaque.unwrap_or_default()
                )
            }
            Part::Opaque(opaque) => format!("opaque {}", opaque.json),
        })
        .collect();
    if reply.stop != Stop::End {
        lines.push(format!("{:?}", reply.stop));
    }
    lines
}
