//! A contract file before it is written.
//!
//! Schemas are written as they came, with every digit, in the layout that people write; characters
//! that hide are written as escapes, so that whoever reads the file sees them.

use callgate::contract::{
    Catalog, Mistake, Tool,
    catalog::{Annotations, TierFile, ToolFile},
    definition::flags,
    document::{Document, Kind, NodeRef},
    import::openapi::Note,
    surface::names,
    tier::Tier,
};
use serde_json::Value;

/// How often a misspelt keyword may come to light.
const ROUNDS: usize = 12;

/// A contract's name and its file's text.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) text: String,
}

/// Schemas as they are written elsewhere.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AsWritten<'a> {
    pub(super) input: Option<&'a str>,
    pub(super) output: Option<&'a str>,
}

impl Draft {
    /// Of a contract that is known to load.
    pub(super) fn of(file: &ToolFile, written: AsWritten<'_>) -> Result<Self, String> {
        let Ok(Value::Object(members)) = serde_json::to_value(file) else {
            return Err("the contract cannot be written".to_owned());
        };
        let mut texts = Vec::new();
        for (name, value) in &members {
            let text = match (name.as_str(), written) {
                ("defer", _) if *value == Value::Bool(false) => continue,
                ("annotations", _) => match told(file.annotations) {
                    Some(text) => text,
                    None => continue,
                },
                ("input", AsWritten { input: Some(text), .. })
                | ("output", AsWritten { output: Some(text), .. }) => text.to_owned(),
                _ => value.to_string(),
            };
            texts.push(format!("{}: {text}", Value::from(name.as_str())));
        }
        let text = format!("{{{}}}", texts.join(","));
        let doc = Document::parse(&text)
            .map_err(|error| format!("the contract cannot be written (at {})", error.path))?;
        Ok(Self { name: file.name.clone(), text: format!("{}\n", laid_out(doc.root(), 0)) })
    }

    /// Of a contract in a stranger's words: what our own files do not allow themselves is taken
    /// out with a note, and what is left is proved to take what `meant` takes.
    pub(super) fn of_stranger(
        mut file: ToolFile,
        mut written: AsWritten<'_>,
        meant: &Tool,
        notes: &mut Vec<Note>,
    ) -> Result<Self, String> {
        for _ in 0..ROUNDS {
            let draft = Self::of(&file, written)?;
            let name = format!("{}.json", file.name);
            let mistakes = match Catalog::load([(name.as_str(), draft.text.as_str())]) {
                Ok(catalog) => {
                    let tool = catalog.tools().next().ok_or("the contract cannot be read")?;
                    return same(tool, meant).map(|()| draft);
                }
                Err(mistakes) => mistakes,
            };
            // From here on the schemas are ours.
            written = AsWritten::default();
            if !mend(&mut file, &mistakes, notes) {
                let why = mistakes.first().map(|m| m.message.clone());
                return Err(why.unwrap_or_else(|| "the contract cannot be read".to_owned()));
            }
        }
        Err("its schemas have too many keywords that nobody knows".to_owned())
    }
}

fn same(tool: &Tool, meant: &Tool) -> Result<(), String> {
    let faults = tool.narrowing(meant).err().into_iter().flatten();
    let told: Vec<String> = faults.map(|fault| fault.to_string()).collect();
    if told.is_empty() { Ok(()) } else { Err(told.join("; ")) }
}

/// Takes the keywords at these places out. Whether there was one.
fn mend(file: &mut ToolFile, mistakes: &[Mistake], notes: &mut Vec<Note>) -> bool {
    let mut taken = false;
    for mistake in mistakes {
        let Some((parent, last)) = mistake.pointer.rsplit_once('/') else { continue };
        let (root, below) = match (parent.strip_prefix("/input"), parent.strip_prefix("/output")) {
            (Some(below), _) => {
                let mut root = Value::Object(std::mem::take(&mut file.input));
                let removed = remove(&mut root, below, last);
                if let Value::Object(members) = root {
                    file.input = members;
                }
                (removed, parent)
            }
            (None, Some(below)) => match &mut file.output {
                Some(root) => (remove(root, below, last), parent),
                None => (false, parent),
            },
            (None, None) => (false, parent),
        };
        if root {
            taken = true;
            let message = format!("left out: {}", mistake.message);
            notes.push(Note { pointer: format!("{below}/{last}"), message });
        }
    }
    taken
}

fn remove(root: &mut Value, parent: &str, last: &str) -> bool {
    let name = last.replace("~1", "/").replace("~0", "~");
    let members = root.pointer_mut(parent).and_then(Value::as_object_mut);
    members.is_some_and(|members| members.shift_remove(&name).is_some())
}

/// What is said of the world, and nothing that is not.
fn told(annotations: Annotations) -> Option<String> {
    let said: Vec<String> = [
        ("readOnly", annotations.read_only),
        ("idempotent", annotations.idempotent),
        ("destructive", annotations.destructive),
        ("openWorld", annotations.open_world),
    ]
    .into_iter()
    .filter(|(_, is)| *is)
    .map(|(name, _)| format!("{}: true", Value::from(name)))
    .collect();
    (!said.is_empty()).then(|| format!("{{{}}}", said.join(",")))
}

/// Leaves the tier out where a contract that does not say it has it all the same.
pub(super) fn plain_tier(file: &mut ToolFile) {
    let usual = if file.annotations.destructive { Tier::Approve } else { Tier::Auto };
    if matches!(&file.tier, Some(TierFile::Always(tier)) if *tier == usual) {
        file.tier = None;
    }
}

/// The name with what it is to begin with. A name that every provider took before has to be one
/// afterwards.
pub(super) fn prefixed(name: &str, prefix: Option<&str>) -> Result<String, String> {
    let Some(prefix) = prefix else { return Ok(name.to_owned()) };
    let long = format!("{prefix}{name}");
    if names::is_legal(name) && !names::is_legal(&long) {
        return Err(format!(
            "with --prefix its name is {long:?}, which providers do not take: letters, digits, _ and -, at most {} of them",
            names::LONGEST
        ));
    }
    Ok(long)
}

/// JSON as people write it: lists of plain values on one line.
fn laid_out(node: NodeRef<'_>, depth: usize) -> String {
    let is_nested = |node: NodeRef<'_>| matches!(node.kind(), Kind::Array | Kind::Object);
    let parts: Vec<String> = match node.kind() {
        Kind::Object => node
            .members()
            .map(|(name, value)| format!("{}: {}", quoted(name), laid_out(value, depth + 1)))
            .collect(),
        Kind::Array => node.elements().map(|element| laid_out(element, depth + 1)).collect(),
        Kind::String => return quoted(node.string().unwrap_or_default()),
        Kind::Number | Kind::Null | Kind::True | Kind::False => return node.raw().to_owned(),
    };
    let [open, close] = if node.kind() == Kind::Object { ["{", "}"] } else { ["[", "]"] };
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    if node.kind() == Kind::Array && !node.elements().any(is_nested) {
        return format!("[{}]", parts.join(", "));
    }
    let (outer, inner) = ("  ".repeat(depth), "  ".repeat(depth + 1));
    format!("{open}\n{inner}{}\n{outer}{close}", parts.join(&format!(",\n{inner}")))
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in Value::from(text).to_string().chars() {
        if flags::hides(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(input: &str) -> ToolFile {
        let text = format!(r#"{{"name": "t", "description": "d", "input": {input}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn digits_and_order_are_kept_and_what_hides_is_shown() {
        let input = r#"{"type":"object","properties":{"b":{"maximum":10000000000000000000001,"enum":[1.50,2]},"a":{"title":"x\u200by\ud83d\ude00\udb40\udc41"}},"required":["b"],"x":[]}"#;
        let written = AsWritten { input: Some(input), output: None };
        let draft = Draft::of(&file(input), written).unwrap();
        assert_eq!(
            draft.text,
            "{\n  \"name\": \"t\",\n  \"description\": \"d\",\n  \"input\": {\n    \"type\": \"object\",\n    \"properties\": {\n      \"b\": {\n        \"maximum\": 10000000000000000000001,\n        \"enum\": [1.50, 2]\n      },\n      \"a\": {\n        \"title\": \"x\\u200by😀\\udb40\\udc41\"\n      }\n    },\n    \"required\": [\"b\"],\n    \"x\": []\n  }\n}\n"
        );
    }

    #[test]
    fn a_misspelt_keyword_is_taken_out_and_told() {
        let input = r#"{"type":"object","properties":{"a":{"type":"string","maxLenght":3}}}"#;
        let text = format!(r#"[{{"name": "t", "inputSchema": {input}}}]"#);
        let (catalog, mistakes) = Catalog::read_any([("l.json", text.as_str())]);
        assert!(mistakes.is_empty());
        let meant = catalog.get("t").unwrap();
        let mut notes = Vec::new();
        let written = AsWritten { input: Some(input), output: None };
        let draft = Draft::of_stranger(file(input), written, meant, &mut notes).unwrap();
        assert!(
            !draft.text.contains("maxLenght") && draft.text.contains("\"a\""),
            "{}",
            draft.text
        );
        assert_eq!(notes[0].pointer, "/input/properties/a/maxLenght");
        // What takes more than was meant is not written.
        let wider = file(r#"{"type":"object"}"#);
        let narrow = Catalog::read_any([(
            "l.json",
            r#"[{"name": "t", "inputSchema": {"type": "object", "required": ["a"]}}]"#,
        )]);
        let meant = narrow.0.get("t").unwrap();
        let refused = Draft::of_stranger(wider, AsWritten::default(), meant, &mut notes);
        assert!(refused.unwrap_err().contains("admits what"));
    }

    #[test]
    fn names_with_a_prefix() {
        assert_eq!(prefixed("a", None).as_deref(), Ok("a"));
        assert_eq!(prefixed("a", Some("crm_")).as_deref(), Ok("crm_a"));
        assert_eq!(prefixed("a.b", Some("crm.")).as_deref(), Ok("crm.a.b"));
        assert!(prefixed("a", Some("crm.")).is_err());
        assert!(prefixed(&"a".repeat(63), Some("ab")).is_err());
    }
}
