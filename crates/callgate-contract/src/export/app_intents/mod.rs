//! Apple App Intents: Swift, one `AppIntent` a tool, enums as `AppEnum`.
//!
//! What is known of the other side, and kept to here:
//!
//! - titles, descriptions and display names are read at build time by Apple's metadata processor,
//!   so each is a plain literal;
//! - a parameter is a scalar, an enum or a list of those. Objects, unions, tuples and lists of them
//!   have no form: such a parameter takes JSON text, and is a loss;
//! - an intent gives back text (`ReturnsValue<String>`), as plain `Codable` structs cannot be
//!   returned: the result's JSON;
//! - absent and null are one: an empty optional parameter is not sent.
//!
//! How a call reaches Callgate is the app's to say, once, in `ToolBridge.shared.connect`: no URL
//! and no token is written into source.

mod intent;
mod parameter;

use super::{Export, ExportError, Exporter, Losses, Options, offered, words::Given};
use crate::Catalog;

pub(super) const EXPORTER: Exporter = Exporter {
    name: "app-intents",
    file: "ToolIntents.swift",
    about: "Swift, an App Intent a tool",
    make,
};

/// Where App Intents are.
const AVAILABLE: &str = "@available(iOS 16.0, macOS 13.0, watchOS 9.0, tvOS 16.0, *)\n";

/// What every intent needs, once.
const SUPPORT: &str = include_str!("support.swift");

/// Types of Swift, of App Intents and of the support code.
const RESERVED: &[&str] = &[
    "Any",
    "AppEnum",
    "AppIntent",
    "Array",
    "Bool",
    "Data",
    "Date",
    "Dictionary",
    "DisplayRepresentation",
    "Double",
    "Error",
    "Int",
    "IntentDescription",
    "IntentResult",
    "LocalizedStringResource",
    "Never",
    "Optional",
    "Parameter",
    "Self",
    "String",
    "ToolArguments",
    "ToolBridge",
    "ToolBridgeError",
    "Type",
    "TypeDisplayRepresentation",
    "URL",
    "Void",
];

fn make(catalog: &Catalog, options: &Options) -> Result<Export, ExportError> {
    let mut losses = Losses::default();
    let mut given = Given::without(RESERVED);
    let mut out = String::new();
    for line in super::words::comment(&format!("{} {}", options.title, options.version)).lines() {
        out.push_str(&format!("// {line}\n"));
    }
    out.push_str("// Written by `callgate export`; edit the contracts instead.\n\n");
    out.push_str("import AppIntents\nimport Foundation\n\n");
    for tool in offered(catalog, &mut losses) {
        out.push_str(&intent::write(tool, &mut given, &mut losses));
    }
    out.push_str(SUPPORT);
    Ok(losses.with(out))
}
