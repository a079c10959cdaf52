//! The gate out: a tool's output to what the model may read.
//!
//! Order: a failure is a failure and its content is not judged by the success schema; then the
//! structured value by the output schema, and only that; then JSON within a single text block as
//! the inner layer; then shaping.

use std::{borrow::Cow, sync::Arc};

use serde_json::value::RawValue;

use crate::{
    Adjustment, Fault, Mode, Tool,
    document::{Document, Kind},
    outcome::{Content, Failure, Output},
    shape::{Omission, Rest, Shaped},
    violation::{self, Violation},
};

/// What passed the gate out.
#[derive(Debug, Clone)]
pub struct Passed {
    /// The result as the model sees it.
    pub result: Arc<RawValue>,
    /// The whole value before shaping, as JSON text.
    pub whole: Arc<str>,
    /// Images beside it: media type and base64 data.
    pub images: Vec<(Arc<str>, Arc<str>)>,
    /// What was mended.
    pub adjustments: Vec<Adjustment>,
    /// What was left out.
    pub omissions: Vec<Omission>,
    /// What can be read of it beyond that.
    pub rest: Option<Rest>,
}

/// Judges what a backend brought back.
///
/// # Errors
/// The backend's failure as an envelope's fault, or `output_mismatch`.
pub fn pass(
    tool: &Tool,
    mode: Mode,
    outcome: &Result<Output, Failure>,
) -> Result<Passed, Box<Fault>> {
    let output = match outcome {
        Ok(output) => output,
        Err(failure) => return Err(Box::new(Fault::failed(failure))),
    };
    let mut adjustments = Vec::new();
    let images = output
        .content
        .iter()
        .filter_map(|block| match block {
            Content::Image { media_type, data } => Some((media_type.clone(), data.clone())),
            _ => None,
        })
        .collect();
    let text = value_text(tool, mode, output, &mut adjustments)?;
    let doc = Document::parse(&text).map_err(|error| {
        let what =
            format!("it is no JSON ({}).", crate::envelope::syntax_for_people(&text, &error).0);
        Box::new(Fault::output_mismatch(Vec::new(), Some(&what)))
    })?;
    if let Some(schema) = &tool.output {
        let findings = schema.findings(doc.root());
        if !findings.is_empty() {
            let violations = violation::tell(schema, &doc, &findings);
            return Err(Box::new(Fault::output_mismatch(violations, None)));
        }
    }
    let Shaped { text, omissions, rest } = tool.shape.apply(&doc);
    // Both come from a document that parsed.
    let result = RawValue::from_string(text).map_err(|_| {
        Box::new(Fault::output_mismatch(Vec::new(), Some("it could not be shaped.")))
    })?;
    Ok(Passed {
        result: result.into(),
        whole: doc.root().raw().into(),
        images,
        adjustments,
        omissions,
        rest,
    })
}

/// A structured value of another type than its protocol has.
fn no_object(structured: &str) -> Fault {
    let got = Document::parse(structured).map(|doc| doc.root().type_name()).unwrap_or("no JSON");
    let violation = Violation {
        path: "/structuredContent".to_owned(),
        keyword: "type".to_owned(),
        expected: "object".into(),
        got: got.into(),
        property: None,
        unexpected: Vec::new(),
        suggestion: serde_json::Value::Null,
        branch: None,
    };
    Fault::output_mismatch(vec![violation], None)
}

/// The one JSON value of an output.
fn value_text<'a>(
    tool: &Tool,
    mode: Mode,
    output: &'a Output,
    adjustments: &mut Vec<Adjustment>,
) -> Result<Cow<'a, str>, Box<Fault>> {
    if let Some(structured) = &output.structured {
        let fits = !output.object_only || structured.trim_start().starts_with('{');
        match mode {
            _ if fits => return Ok(Cow::Borrowed(structured)),
            Mode::Strict => return Err(Box::new(no_object(structured))),
            // The text says it too (the protocol asks for that); where there is none, the value is
            // all there is.
            Mode::Lenient if output.content.is_empty() => {
                adjustments.push(Adjustment::text("accept_non_object_structured"));
                return Ok(Cow::Borrowed(structured));
            }
            Mode::Lenient => adjustments.push(Adjustment::text("ignore_non_object_structured")),
        }
    }
    let texts: Vec<&str> = output
        .content
        .iter()
        .filter_map(|block| match block {
            Content::Text { text } => Some(&**text),
            Content::Image { .. } => None,
            Content::Other { json } => Some(&**json),
        })
        .collect();
    if let Some(schema) = &tool.output {
        // Exactly one text block that parses and fits stands in for the value.
        if let ([text], Mode::Lenient) = (texts.as_slice(), mode)
            && Document::parse(text).is_ok_and(|doc| schema.admits(doc.root()))
        {
            adjustments.push(Adjustment::text("structured_from_text"));
            return Ok(Cow::Borrowed(text));
        }
        return Err(Box::new(Fault::output_mismatch(
            vec![Violation {
                path: String::new(),
                keyword: "structuredContent".to_owned(),
                expected: "a structured value by the tool's output schema".into(),
                got: if texts.is_empty() { "nothing".into() } else { "text".into() },
                property: None,
                unexpected: Vec::new(),
                suggestion: serde_json::Value::Null,
                branch: None,
            }],
            None,
        )));
    }
    let told = |text: &str| Cow::Owned(serde_json::Value::from(text).to_string());
    Ok(match texts.as_slice() {
        [] if output.content.is_empty() => Cow::Borrowed("null"),
        [] => told("(see the image)"),
        [text] => match Document::parse(text) {
            // A layer of JSON within the text; a bare word or number stays text.
            Ok(doc) if matches!(doc.root().kind(), Kind::Object | Kind::Array) => {
                Cow::Borrowed(text)
            }
            _ => told(text),
        },
        several => told(&several.join("\n")),
    })
}
