//! What may stand in `#[tool(…)]`.

use syn::{
    Ident, LitInt, LitStr, Token,
    parse::{Parse, ParseStream},
};

#[derive(Default)]
pub(crate) struct Attribute {
    pub name: Option<LitStr>,
    pub timeout_ms: Option<LitInt>,
    pub read_only: bool,
    pub idempotent: bool,
    pub destructive: bool,
    pub open_world: bool,
    pub approve: bool,
    pub strict: bool,
}

const KNOWN: &str =
    "name = \"…\", timeout_ms = N, read_only, idempotent, destructive, open_world, approve, strict";

impl Parse for Attribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut attribute = Self::default();
        while !input.is_empty() {
            let word: Ident = input.parse()?;
            match word.to_string().as_str() {
                "name" => {
                    input.parse::<Token![=]>()?;
                    attribute.name = Some(input.parse()?);
                }
                "timeout_ms" => {
                    input.parse::<Token![=]>()?;
                    attribute.timeout_ms = Some(input.parse()?);
                }
                "read_only" => attribute.read_only = true,
                "idempotent" => attribute.idempotent = true,
                "destructive" => attribute.destructive = true,
                "open_world" => attribute.open_world = true,
                "approve" => attribute.approve = true,
                "strict" => attribute.strict = true,
                other => {
                    let message = format!("#[tool] knows no `{other}`; it takes {KNOWN}");
                    return Err(syn::Error::new(word.span(), message));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(attribute)
    }
}
