//! Rust: serde types of every tool's input and output.
//!
//! Objects are structs, string enums and unions are enums (a union is untagged: the first variant
//! that fits), what may be absent or null is an [`Option`], a type that holds itself is boxed. The
//! text needs `serde` with `derive` and `serde_json`, nothing else.
//!
//! A closed object refuses unknown members; one that does not speak of them reads over them.

mod doc;
mod types;

use super::{
    Export, ExportError, Exporter, Losses, Options,
    model::read,
    offered,
    words::{Given, pascal},
};
use crate::Catalog;

pub(super) const EXPORTER: Exporter = Exporter {
    name: "rust",
    file: "tools.rs",
    about: "Rust types (serde) of every tool's input and output",
    make,
};

fn make(catalog: &Catalog, options: &Options) -> Result<Export, ExportError> {
    let mut losses = Losses::default();
    let mut given = Given::default();
    let mut out = String::new();
    doc::write(
        &mut out,
        "//!",
        "",
        &format!("{} {}\n\n{}", options.title, options.version, options.description),
    );
    out.push_str("// Written by `callgate export`; edit the contracts instead.\n\n");
    out.push_str("use serde::{Deserialize, Serialize};\n");
    for tool in offered(catalog, &mut losses) {
        let stem = pascal(&tool.name);
        let sides = [("Input", Some(&tool.input)), ("Output", tool.output.as_ref())];
        for (side, schema) in sides {
            let Some(schema) = schema else { continue };
            let base = format!("/{}", side.to_ascii_lowercase());
            let model = read(&tool.name, &base, schema.value(), &mut losses);
            let about = format!("{side} of `{}`.\n\n{}", tool.name, tool.description);
            let name = format!("{stem}{side}");
            out.push_str(&types::write(&tool.name, &name, &about, &model, &mut given, &mut losses));
        }
    }
    Ok(losses.with(out))
}
