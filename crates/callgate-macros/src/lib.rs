//! The `#[tool]` attribute.
//!
//! It makes a tool's contract of what Rust already says: the doc comment is the description, the
//! parameters are the input schema (doc comments, `Option`, defaults and `schemars` attributes
//! included), the return type is the output schema. See `callgate::tool`.
#![forbid(unsafe_code)]

mod arguments;
mod attribute;
mod expand;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

/// Makes a tool of an async function.
///
/// The function's name stays in place as something that `AgentBuilder::tool` takes.
///
/// ```text
/// /// Looks up a support ticket by its id.
/// #[tool(read_only, timeout_ms = 5000)]
/// async fn get_ticket(
///     /// The ticket's id, such as T-1042
///     #[schemars(regex(pattern = r"^T-[0-9]+$"))]
///     id: String,
///     /// How many updates to bring
///     #[default(5)]
///     updates: u32,
///     /// Only updates after this date
///     since: Option<String>,
/// ) -> Result<Ticket, ToolError> { … }
/// ```
///
/// | in the attribute | contract |
/// |---|---|
/// | `name = "…"` | another name than the function's |
/// | `read_only`, `idempotent`, `destructive`, `open_world` | annotations |
/// | `approve` | a person is asked before each call |
/// | `timeout_ms = 5000` | how long one call may take |
/// | `strict` | nothing is mended in this tool's arguments |
///
/// A parameter takes doc comments, `#[default(…)]`, and `schemars` and `serde` attributes. An
/// `Option` may be left out. The result is anything that serialises, or a `Result` of it with an
/// error that becomes a `ToolError`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let attribute = parse_macro_input!(attribute as attribute::Attribute);
    let function = parse_macro_input!(item as ItemFn);
    expand::tool(&attribute, function).unwrap_or_else(syn::Error::into_compile_error).into()
}
