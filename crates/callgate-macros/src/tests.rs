//! What is refused, and the words that say how to write it.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{attribute::Attribute, expand};

fn refusal(attribute: TokenStream, item: TokenStream) -> String {
    let attribute = match syn::parse2::<Attribute>(attribute) {
        Ok(attribute) => attribute,
        Err(error) => return error.to_string(),
    };
    let item = syn::parse2(item).expect("a function");
    expand::tool(&attribute, item).expect_err("it is refused").to_string()
}

#[test]
fn mistakes_are_answered_with_what_to_write() {
    let rows: &[(TokenStream, TokenStream, &str)] = &[
        (
            quote!(),
            quote!(
                #[doc = "x"]
                fn f() {}
            ),
            "write `async fn`",
        ),
        (
            quote!(),
            quote!(
                async fn f() {}
            ),
            "needs a doc comment",
        ),
        (
            quote!(),
            quote!(
                #[doc = " "]
                async fn f() {}
            ),
            "needs a doc comment",
        ),
        (
            quote!(),
            quote!(
                #[doc = "x"]
                async fn f(a: &str) {}
            ),
            "take `String` instead of `&str`",
        ),
        (
            quote!(),
            quote!(
                #[doc = "x"]
                async fn f((a, b): (u8, u8)) {}
            ),
            "give this parameter a name",
        ),
        (
            quote!(),
            quote!(
                #[doc = "x"]
                async fn f(&self) {}
            ),
            "a tool is a free function",
        ),
        (
            quote!(),
            quote!(
                #[doc = "x"]
                async fn f<T>(a: T) {}
            ),
            "cannot be generic",
        ),
        (
            quote!(),
            quote!(
                #[doc = "x"]
                async fn f(#[default = 5] a: u8) {}
            ),
            "#[default(5)]",
        ),
        (
            quote!(),
            quote!(
                #[doc = "x"]
                async fn f(#[cfg(test)] a: u8) {}
            ),
            "takes doc comments",
        ),
        (
            quote!(readonly),
            quote!(
                #[doc = "x"]
                async fn f() {}
            ),
            "knows no `readonly`",
        ),
    ];
    for (attribute, item, want) in rows {
        let got = refusal(attribute.clone(), item.clone());
        assert!(got.contains(want), "{item}\n  want {want}\n  got  {got}");
    }
}
