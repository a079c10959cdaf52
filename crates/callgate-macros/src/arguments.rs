//! A function's parameters as the fields of its arguments type.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, FnArg, Ident, Meta, Pat, Signature, Type};

/// One parameter.
pub(crate) struct Argument {
    pub name: Ident,
    pub ty: Type,
    /// Doc comments, `serde` and `schemars` attributes.
    pub attributes: Vec<Attribute>,
    /// The expression in `#[default(…)]`.
    pub default: Option<TokenStream>,
}

/// The parameters, taken out of the signature with their attributes.
pub(crate) fn take(signature: &mut Signature) -> syn::Result<Vec<Argument>> {
    let mut arguments = Vec::new();
    for input in &mut signature.inputs {
        let FnArg::Typed(input) = input else {
            return Err(syn::Error::new_spanned(
                input,
                "a tool is a free function: take what it needs from a static or a captured \
                 clone, or build a FunctionTool of a closure",
            ));
        };
        let Pat::Ident(pattern) = &*input.pat else {
            return Err(syn::Error::new_spanned(
                &input.pat,
                "give this parameter a name: it becomes a property of the tool's input",
            ));
        };
        if let Type::Reference(reference) = &*input.ty {
            return Err(syn::Error::new_spanned(
                reference,
                "arguments are made from the model's JSON and owned by the call: take `String` \
                 instead of `&str`, `Vec<T>` instead of `&[T]`",
            ));
        }
        let mut default = None;
        let mut attributes = Vec::new();
        for attribute in std::mem::take(&mut input.attrs) {
            if attribute.path().is_ident("default") {
                let Meta::List(list) = &attribute.meta else {
                    return Err(syn::Error::new_spanned(
                        attribute,
                        "write the value in parentheses: #[default(5)]",
                    ));
                };
                default = Some(list.tokens.clone());
            } else if ["doc", "serde", "schemars"].iter().any(|n| attribute.path().is_ident(n)) {
                attributes.push(attribute);
            } else {
                return Err(syn::Error::new_spanned(
                    attribute,
                    "a tool's parameter takes doc comments, #[default(…)], #[schemars(…)] and \
                     #[serde(…)]",
                ));
            }
        }
        let name = pattern.ident.clone();
        arguments.push(Argument { name, ty: (*input.ty).clone(), attributes, default });
    }
    Ok(arguments)
}

impl Argument {
    /// The function that makes the default, and the serde attribute that names it.
    pub(crate) fn default_function(&self) -> Option<(TokenStream, TokenStream)> {
        let value = self.default.as_ref()?;
        let function = format_ident!("default_of_{}", self.name);
        let (name, ty) = (function.to_string(), &self.ty);
        // "text" stands for a String; anything else is written as the type wants it.
        let body = match syn::parse2::<syn::LitStr>(value.clone()) {
            Ok(text) => quote! { ::core::convert::From::from(#text) },
            Err(_) => value.clone(),
        };
        Some((quote! { fn #function() -> #ty { #body } }, quote! { #[serde(default = #name)] }))
    }
}
