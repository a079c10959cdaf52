//! What a call came to, in MCP's words.
//!
//! A refusal or a failure is a result with `isError: true`: the envelope as text, for the model,
//! and as `structuredContent`, for programs. A success has its text, its other blocks as they
//! came, and `structuredContent` where the tool has an output schema, which it then fits.
//!
//! Nothing structured ever breaks a promised output schema, an error neither: "servers MUST provide
//! structured results that conform" (2025-06-18, tools), and the TypeScript SDK 1.x and the Inspector
//! hold errors to it as well, and throw their own complaint in the place of the envelope. Such an
//! envelope is in `_meta` instead, under [`ENVELOPE`].

use callgate_contract::{Content, Output, Tool, document::Document, schema::Schema};
use callgate_engine::Called;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, json};

use super::{raw::Marker, tools::output_schema};

/// The `_meta` member of an error result that has the envelope where `structuredContent` cannot.
const ENVELOPE: &str = "dev.callgate/envelope";

/// The result of a call. `tool` is the contract that it was judged by.
pub(super) fn result_of(tool: Option<&Tool>, called: &Called, marker: &Marker) -> CallToolResult {
    let Some(value) = called.envelope.result.as_ref().filter(|_| called.envelope.ok) else {
        let mut result = CallToolResult::error(vec![ContentBlock::text(&*called.text)]);
        let envelope = marker.wrap(&called.text);
        let promised = tool.filter(|tool| output_schema(tool).is_some());
        if promised.is_none_or(|tool| admits(tool.output.as_ref(), &called.text)) {
            result.structured_content = Some(envelope);
        } else {
            result.meta = Some(MetaObject(Map::from_iter([(ENVELOPE.to_owned(), envelope)])));
        }
        return result;
    };
    let shown = value.get();
    let omitted = &called.envelope.omitted;
    let promised = tool.filter(|tool| output_schema(tool).is_some());
    let as_it_came = promised.is_none() && omitted.is_empty();
    let mut content = match &called.output {
        Some(output) if as_it_came && output.structured.is_none() => blocks(output),
        output => {
            let mut content = vec![ContentBlock::text(text_of(shown, promised.is_some()))];
            content.extend(output.iter().flat_map(beside_the_text));
            content
        }
    };
    if !omitted.is_empty() {
        // Law 11: what is left out is told beside what is left.
        content.push(ContentBlock::text(json!({ "omitted": omitted }).to_string()));
    }
    if content.is_empty() {
        content.push(ContentBlock::text(shown));
    }
    let mut result = CallToolResult::success(content);
    if let Some(tool) = promised {
        let whole = called.output.as_ref().and_then(value_of);
        let fits = omitted.is_empty() || admits(tool.output.as_ref(), shown);
        // A list cut short still fits most schemas. Where it does not, the promise comes first.
        let structured = if fits { shown } else { whole.unwrap_or(shown) };
        result.structured_content = Some(marker.wrap(structured));
    }
    result
}

fn admits(schema: Option<&Schema>, text: &str) -> bool {
    let doc = Document::parse(text);
    schema.is_some_and(|schema| doc.is_ok_and(|doc| schema.admits(doc.root())))
}

/// A value as text: its JSON, or the words of a plain string where no schema says that it is JSON.
fn text_of(json: &str, is_structured: bool) -> String {
    match serde_json::from_str::<String>(json) {
        Ok(words) if !is_structured => words,
        _ => json.to_owned(),
    }
}

/// The one value of an output, before it was shaped.
fn value_of(output: &Output) -> Option<&str> {
    output.structured.as_deref().or_else(|| match output.content.as_slice() {
        [Content::Text { text }] => Some(text),
        _ => None,
    })
}

fn blocks(output: &Output) -> Vec<ContentBlock> {
    output.content.iter().map(block).collect()
}

/// Everything but text, which the value's text stands for.
fn beside_the_text(output: &Output) -> impl Iterator<Item = ContentBlock> {
    output.content.iter().filter(|c| !matches!(c, Content::Text { .. })).map(block)
}

fn block(content: &Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(&**text),
        Content::Image { media_type, data } => ContentBlock::image(&**data, &**media_type),
        // Audio, resources and links are MCP's own blocks; what is none of them goes as its JSON.
        Content::Other { json } => {
            serde_json::from_str(json).unwrap_or_else(|_| ContentBlock::text(&**json))
        }
    }
}
