//! The code that `#[tool]` writes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprLit, ItemFn, Lit, LitStr, Meta, ReturnType, Type};

use crate::{arguments, attribute::Attribute};

pub(crate) fn tool(attribute: &Attribute, mut function: ItemFn) -> syn::Result<TokenStream> {
    if function.sig.asyncness.is_none() {
        return Err(syn::Error::new_spanned(
            function.sig.fn_token,
            "a tool is an async function: write `async fn`",
        ));
    }
    if !function.sig.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &function.sig.generics,
            "a tool has one contract, so its types cannot be generic",
        ));
    }
    let lines = doc_lines(&function);
    if lines.iter().all(|line| line.value().trim().is_empty()) {
        return Err(syn::Error::new_spanned(
            &function.sig.ident,
            "a tool needs a doc comment: it is what the model reads to decide when to call it. \
             Say what it does, when to use it and when not",
        ));
    }
    let arguments = arguments::take(&mut function.sig)?;
    let name = function.sig.ident.clone();
    let visibility = std::mem::replace(&mut function.vis, syn::Visibility::Inherited);
    // The doc comment becomes the description; on the inner function nobody would read it.
    let (docs, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut function.attrs).into_iter().partition(|a| a.path().is_ident("doc"));
    function.attrs = others;

    let tool_name =
        attribute.name.clone().unwrap_or_else(|| LitStr::new(&name.to_string(), name.span()));
    let fields = arguments.iter().map(|argument| {
        let (name, ty, attributes) = (&argument.name, &argument.ty, &argument.attributes);
        let default = argument.default_function().map(|(_, attribute)| attribute);
        quote! { #(#attributes)* #default #name: #ty }
    });
    let defaults = arguments.iter().filter_map(|a| a.default_function().map(|(f, _)| f));
    let names: Vec<_> = arguments.iter().map(|argument| &argument.name).collect();
    let wrap = if returns_result(&function.sig.output) {
        quote! { ::callgate::__private::Returned::fallible }
    } else {
        quote! { ::callgate::__private::Returned::infallible }
    };
    let settings = settings(attribute);
    Ok(quote! {
        #(#docs)*
        #visibility fn #name() -> ::callgate::FunctionTool {
            use ::callgate::__private::{schemars, serde};

            #(#defaults)*

            #[derive(serde::Deserialize, schemars::JsonSchema)]
            #[serde(crate = "serde", deny_unknown_fields)]
            #[schemars(crate = "schemars")]
            struct Arguments { #(#fields,)* }

            #function

            let tool = ::callgate::FunctionTool::new(
                #tool_name,
                &::callgate::__private::described(&[#(#lines),*]),
                |arguments: Arguments| async move {
                    let Arguments { #(#names),* } = arguments;
                    #wrap(#name(#(#names),*).await)
                },
            );
            tool #(#settings)*
        }
    })
}

fn settings(attribute: &Attribute) -> Vec<TokenStream> {
    let mut out = Vec::new();
    for (is_set, name) in [
        (attribute.read_only, "readOnly"),
        (attribute.idempotent, "idempotent"),
        (attribute.destructive, "destructive"),
        (attribute.open_world, "openWorld"),
    ] {
        if is_set {
            out.push(quote! { .annotated(#name) });
        }
    }
    if attribute.approve {
        out.push(quote! { .with("tier", "approve".into()) });
    }
    if attribute.strict {
        out.push(quote! { .with("mode", "strict".into()) });
    }
    if let Some(timeout) = &attribute.timeout_ms {
        out.push(quote! { .with("timeoutMs", (#timeout as u64).into()) });
    }
    out
}

fn doc_lines(function: &ItemFn) -> Vec<LitStr> {
    function
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.clone()),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// Whether the return type is written as a `Result`, under whatever path.
fn returns_result(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let Type::Path(path) = &**ty else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Result")
}
