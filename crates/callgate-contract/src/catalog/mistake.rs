//! Mistakes in files that people write: all at once, each with its place.

use std::fmt;

use serde::Serialize;

use crate::{document::Document, schema::Schema, violation};

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mistake {
    /// The file, as it was named to us.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// JSON Pointer into the file.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// `file:line:column: message (at /pointer). hint`
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if !self.pointer.is_empty() {
            write!(f, " (at {})", self.pointer)?;
        }
        if let Some(hint) = &self.hint {
            write!(f, ". {hint}")?;
        }
        Ok(())
    }
}

/// A file being read, able to say where something in it stands.
pub struct Source<'t> {
    /// Its name.
    pub file: &'t str,
    /// Its document.
    pub doc: Document<'t>,
}

impl<'t> Source<'t> {
    /// Parses a file's text.
    ///
    /// # Errors
    /// The one syntax error, with its place.
    pub fn parse(file: &'t str, text: &'t str) -> Result<Self, Mistake> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match Document::parse(text) {
            Ok(doc) => Ok(Self { file, doc }),
            Err(error) => {
                let (line, column) = line_column(text, error.offset);
                let (message, hint) = crate::envelope::syntax_for_people(text, &error);
                Err(Mistake {
                    file: file.to_owned(),
                    line,
                    column,
                    pointer: error.path,
                    message,
                    hint: Some(hint),
                })
            }
        }
    }

    /// A mistake at a JSON Pointer; where nothing stands there, at the nearest value around it.
    pub fn mistake(
        &self,
        pointer: &str,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Mistake {
        let mut around = pointer;
        let offset = loop {
            if let Some(node) = self.doc.pointer(around) {
                break node.span().0;
            }
            match around.rfind('/') {
                Some(at) => around = &around[..at],
                None => break 0,
            }
        };
        let (line, column) = line_column(self.doc.text(), offset);
        Mistake {
            file: self.file.to_owned(),
            line,
            column,
            pointer: pointer.to_owned(),
            message: message.into(),
            hint,
        }
    }

    /// Everything in the document that a schema of ours refuses.
    pub fn judge(&self, schema: &Schema) -> Vec<Mistake> {
        let findings = schema.findings(self.doc.root());
        let mut out = Vec::new();
        for v in violation::tell(schema, &self.doc, &findings) {
            let suggested = v.suggestion.as_object().cloned().unwrap_or_default();
            for name in &v.unexpected {
                let mut pointer = v.path.clone();
                crate::document::push_token(&mut pointer, name);
                let hint = match suggested.get(name).and_then(|near| near.as_str()) {
                    Some(near) => format!("Did you mean \"{near}\"?"),
                    None => match v.expected.as_array() {
                        Some(known) => format!(
                            "Known are: {}.",
                            known.iter().filter_map(|k| k.as_str()).collect::<Vec<_>>().join(", ")
                        ),
                        None => "Take it out.".to_owned(),
                    },
                };
                out.push(self.mistake(&pointer, format!("unknown field \"{name}\""), Some(hint)));
            }
            if v.unexpected.is_empty() || v.property.is_some() {
                let message = match &v.property {
                    Some(name) => format!("the field \"{name}\" is missing"),
                    None => crate::envelope::describe(&v, "the file"),
                };
                out.push(self.mistake(&v.path, message, None));
            }
        }
        out.sort_by_key(|m| (m.line, m.column));
        out
    }
}

fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    (line, column)
}
