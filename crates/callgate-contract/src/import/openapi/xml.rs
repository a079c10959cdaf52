//! What an XML body looks like, in a line for the model that writes it.

use serde_json::Value;

use super::{
    document::{At, Doc},
    members::{Kind, kind, members},
};

/// The most characters of an outline.
const LONGEST: usize = 700;

/// How deep it goes.
const DEEPEST: usize = 6;

/// A skeleton: elements, attributes and the types of texts. `None` where the schema has no elements
/// or too many.
pub(super) fn outline<'d>(doc: &Doc<'d>, schema: &At<'d>) -> Option<String> {
    let at = doc.resolve(schema.clone()).ok()?;
    let name = last(schema);
    let mut out = String::new();
    element(doc, &at, &name, DEEPEST, &mut out)?;
    (out.chars().count() <= LONGEST).then_some(out)
}

/// The name of a referred schema: what a root element is called (OpenAPI 3.1.1, 4.8.26).
fn last(schema: &At<'_>) -> String {
    let reference = schema.value.get("$ref").and_then(Value::as_str).unwrap_or_default();
    let name = reference.rsplit('/').next().unwrap_or_default();
    if name.is_empty() { "root".to_owned() } else { name.to_owned() }
}

fn element<'d>(
    doc: &Doc<'d>,
    at: &At<'d>,
    name: &str,
    deeper: usize,
    out: &mut String,
) -> Option<()> {
    let deeper = deeper.checked_sub(1)?;
    // Whatever is longer is thrown away in the end.
    if out.len() > 8 * LONGEST {
        return None;
    }
    let name = at.get("xml").and_then(|xml| xml.text("name")).unwrap_or(name);
    let namespace = at.get("xml").and_then(|xml| xml.text("namespace"));
    out.push_str(&format!("<{name}"));
    if let Some(namespace) = namespace {
        out.push_str(&format!(" xmlns=\"{namespace}\""));
    }
    match kind(doc, at) {
        Kind::Object(_) => {
            let all = members(doc, at)?.all;
            let mut inner = String::new();
            for (name, member) in all {
                let resolved = doc.resolve(member.clone()).ok()?;
                let xml = member.get("xml").or_else(|| resolved.get("xml"));
                if xml.as_ref().is_some_and(|xml| xml.is("attribute")) {
                    let name = xml.as_ref().and_then(|xml| xml.text("name")).unwrap_or(name);
                    out.push_str(&format!(" {name}=\"{}\"", word(&resolved)));
                } else if matches!(kind(doc, &resolved), Kind::Array) {
                    list(doc, &resolved, name, deeper, &mut inner)?;
                } else {
                    element(doc, &resolved, name, deeper, &mut inner)?;
                }
            }
            out.push_str(&format!(">{inner}</{name}>"));
        }
        _ => out.push_str(&format!(">{}</{name}>", word(at))),
    }
    Some(())
}

/// A list's items, in an element of their own where the document wraps them.
fn list<'d>(doc: &Doc<'d>, at: &At<'d>, name: &str, deeper: usize, out: &mut String) -> Option<()> {
    let xml = at.get("xml");
    let wraps = xml.as_ref().is_some_and(|xml| xml.is("wrapped"));
    let own = xml.as_ref().and_then(|xml| xml.text("name")).unwrap_or(name);
    let items = doc.resolve(at.get("items")?).ok()?;
    if wraps {
        out.push_str(&format!("<{own}>"));
    }
    element(doc, &items, own, deeper, out)?;
    out.push('…');
    if wraps {
        out.push_str(&format!("</{own}>"));
    }
    Some(())
}

fn word(at: &At<'_>) -> String {
    let values = at.value.get("enum").and_then(Value::as_array);
    match values {
        Some(values) if values.len() <= 6 => {
            let values =
                values.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
            values.collect::<Vec<_>>().join("|")
        }
        _ => at.text("type").unwrap_or("text").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn skeletons() {
        let document = json!({"openapi": "3.0.0", "paths": {}, "components": {"schemas": {
            "Tagging": {"type": "object", "xml": {"namespace": "http://x/"}, "properties": {
                "TagSet": {"type": "array", "xml": {"wrapped": true}, "items": {"type": "object",
                    "xml": {"name": "Tag"}, "properties": {
                        "id": {"type": "integer", "xml": {"attribute": true}},
                        "Key": {"enum": ["a", "b"]}}}},
                "n": {"type": "array", "items": {"type": "number"}}}},
            "Loop": {"type": "object", "properties": {"l": {"$ref": "#/components/schemas/Loop"}}},
        }}});
        let doc = Doc::of(&document).unwrap();
        let of = |name: &str| {
            let value = json!({"$ref": format!("#/components/schemas/{name}")});
            outline(&doc, &At { value: &value, pointer: String::new() })
        };
        let expected = "<Tagging xmlns=\"http://x/\"><TagSet><Tag id=\"integer\"><Key>a|b</Key></Tag>…</TagSet><n>number</n>…</Tagging>";
        assert_eq!(of("Tagging").as_deref(), Some(expected));
        assert_eq!(of("Loop"), None);
    }
}
