//! `server.json`: a server's entry in the MCP registry (schema 2025-12-11, preview).
//!
//! It says where the server is, not what tools it has: clients ask it for those.

use serde_json::json;

use super::{Export, ExportError, Exporter, Losses, Options, cut, pretty};
use crate::Catalog;

pub(super) const EXPORTER: Exporter = Exporter {
    name: "mcp-server-json",
    file: "server.json",
    about: "an entry of the MCP registry for a server at a URL",
    make,
};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
/// The most characters of the name.
const NAME: usize = 200;
/// The most characters of the description.
const DESCRIPTION: usize = 100;

fn make(_: &Catalog, options: &Options) -> Result<Export, ExportError> {
    let exporter = EXPORTER.name;
    let missing = |option, hint| ExportError::Missing { exporter, option, hint };
    let unusable = |option, value: &str, hint| ExportError::Unusable {
        exporter,
        option,
        value: value.to_owned(),
        hint,
    };
    let hint = "reverse DNS, one slash, a name: io.example/tickets, at most 200 characters";
    let name = options.name.as_deref().ok_or_else(|| missing("name", hint))?;
    if !is_name(name) {
        return Err(unusable("name", name, hint));
    }
    let hint = "the URL at which clients reach the MCP server";
    let url = options.url.as_deref().ok_or_else(|| missing("url", hint))?;
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(unusable("url", url, hint));
    }
    let version = options.version.trim();
    let exact = version.starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && !version.contains(".x");
    if !exact {
        return Err(unusable("version", version, "an exact version, no range: 1.4.0"));
    }
    let mut losses = Losses::default();
    let (description, was_cut) = cut(&options.description, DESCRIPTION);
    if description.is_empty() {
        return Err(missing("description", "a sentence on what the server does"));
    }
    if was_cut {
        let why = format!("cut to {DESCRIPTION} characters, the most that is taken");
        losses.add("", "", "description", why);
    }
    losses.add(
        "",
        "",
        "tools",
        "the registry holds no tools: clients ask the server with tools/list",
    );
    let document = json!({
        "$schema": SCHEMA,
        "name": name,
        "title": options.title,
        "description": description,
        "version": version,
        "remotes": [{ "type": "streamable-http", "url": url }],
    });
    Ok(losses.with(pretty(&document)))
}

/// `namespace/name`, each of letters, digits, dots and dashes, the name of underscores too.
fn is_name(name: &str) -> bool {
    let legal = |part: &str, more: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
    };
    name.len() <= NAME
        && name.split_once('/').is_some_and(|(space, own)| legal(space, ".-") && legal(own, "._-"))
}
