//! One field of a server's form: how it is asked, and what a typed line means.
//!
//! The forms are those of MCP's elicitation (2025-06-18 to 2026-07-28): a flat object of strings,
//! numbers, booleans, enumerations (`enum`, with or without `enumNames`, or `oneOf` of constants
//! with titles) and lists of them.

use serde_json::{Number, Value};

use crate::show::words;

/// A field to be filled.
pub(super) struct Field<'s> {
    pub(super) name: &'s str,
    pub(super) schema: &'s Value,
    pub(super) is_required: bool,
}

/// One of the values of an enumeration.
struct Choice<'s> {
    value: &'s Value,
    title: Option<&'s str>,
}

impl Field<'_> {
    /// What the person reads before they type.
    pub(super) fn put(&self) -> String {
        let title = self.schema["title"].as_str().unwrap_or(self.name);
        let mut text = format!("  {}", words::shown(title));
        if title != self.name {
            text.push_str(&format!(" ({})", words::shown(self.name)));
        }
        text.push_str(&format!(": {}", self.kind()));
        if !self.is_required {
            text.push_str(", may be left empty");
        }
        if let Some(default) = self.schema.get("default") {
            text.push_str(&format!(", empty for {}", words::shown(&default.to_string())));
        }
        text.push('\n');
        if let Some(description) = self.schema["description"].as_str() {
            text.push_str(&format!("    {}\n", words::short(&words::shown(description), 300)));
        }
        for (i, choice) in self.choices().iter().enumerate() {
            let value = plain(choice.value);
            let shown = match choice.title.filter(|title| *title != value) {
                Some(title) => format!("{title} ({value})"),
                None => value,
            };
            text.push_str(&format!("    {}. {}\n", i + 1, words::shown(&shown)));
        }
        text
    }

    /// What the line means, or why it means nothing. `None` leaves the field out.
    pub(super) fn read(&self, line: &str) -> Result<Option<Value>, String> {
        let line = line.trim();
        if line.is_empty() {
            return match self.schema.get("default") {
                Some(default) => Ok(Some(default.clone())),
                None if self.is_required => Err("an answer is needed".to_owned()),
                None => Ok(None),
            };
        }
        if self.is_list() {
            let items: Result<Vec<Value>, String> = line
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| self.chosen(item))
                .collect();
            return Ok(Some(items?.into()));
        }
        if !self.choices().is_empty() {
            return self.chosen(line).map(Some);
        }
        let value = match self.schema["type"].as_str() {
            Some("boolean") => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" => Value::Bool(true),
                "n" | "no" | "false" => Value::Bool(false),
                _ => return Err("type y or n".to_owned()),
            },
            Some("integer" | "number") => {
                let number = serde_json::from_str::<Number>(line);
                number.map(Value::Number).map_err(|_| format!("{line:?} is no number"))?
            }
            _ => Value::from(line),
        };
        Ok(Some(value))
    }

    fn is_list(&self) -> bool {
        self.schema["type"] == "array"
    }

    /// A value by its number in the list, by itself or by its title.
    fn chosen(&self, item: &str) -> Result<Value, String> {
        let choices = self.choices();
        if choices.is_empty() {
            return Ok(Value::from(item));
        }
        // The value itself comes first: it may look like a number of the list.
        let by_value = choices.iter().find(|choice| plain(choice.value) == item);
        let by_title =
            || choices.iter().find(|c| c.title.is_some_and(|t| t.eq_ignore_ascii_case(item)));
        let by_number = || choices.get(item.parse::<usize>().ok()?.checked_sub(1)?);
        match by_value.or_else(by_title).or_else(by_number) {
            Some(choice) => Ok(choice.value.clone()),
            None => {
                Err(format!("{item:?} is none of them; type a number from 1 to {}", choices.len()))
            }
        }
    }

    fn choices(&self) -> Vec<Choice<'_>> {
        let of = if self.is_list() { &self.schema["items"] } else { self.schema };
        if let Some(values) = of["enum"].as_array() {
            let title = |i: usize| of["enumNames"].get(i).and_then(Value::as_str);
            return values
                .iter()
                .enumerate()
                .map(|(i, value)| Choice { value, title: title(i) })
                .collect();
        }
        let titled = of["oneOf"].as_array().or_else(|| of["anyOf"].as_array());
        titled
            .into_iter()
            .flatten()
            .filter_map(|one| {
                Some(Choice { value: one.get("const")?, title: one["title"].as_str() })
            })
            .collect()
    }

    fn kind(&self) -> String {
        if self.is_list() {
            return "one or more, with commas between them".to_owned();
        }
        if !self.choices().is_empty() {
            return "one of".to_owned();
        }
        let mut text = match self.schema["type"].as_str() {
            Some("boolean") => "yes or no".to_owned(),
            Some("integer") => "a whole number".to_owned(),
            Some("number") => "a number".to_owned(),
            _ => "text".to_owned(),
        };
        for keyword in ["format", "minimum", "maximum", "minLength", "maxLength", "pattern"] {
            if let Some(value) = self.schema.get(keyword) {
                text.push_str(&format!(", {keyword} {}", words::shown(&plain(value))));
            }
        }
        text
    }
}

/// A value as people write it.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_line_means() {
        let colours = json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]});
        let titled = json!({"type": "string", "oneOf": [{"const": "a", "title": "First"}, {"const": "2", "title": "Second"}]});
        let list = json!({"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}});
        let any = json!({"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}]}});
        let rows = [
            (json!({"type": "string"}), "Ann ", Ok(Some(json!("Ann")))),
            (json!({"type": "string"}), "", Err("needed")),
            (json!({"type": "string", "default": "Bob"}), "", Ok(Some(json!("Bob")))),
            (json!({"type": "integer"}), "42", Ok(Some(json!(42)))),
            (json!({"type": "integer"}), "4x", Err("no number")),
            (json!({"type": "number"}), "1.50", Ok(Some(json!(1.5)))),
            (json!({"type": "boolean"}), "Yes", Ok(Some(json!(true)))),
            (json!({"type": "boolean"}), "n", Ok(Some(json!(false)))),
            (json!({"type": "boolean"}), "maybe", Err("y or n")),
            (colours.clone(), "2", Ok(Some(json!("g")))),
            (colours.clone(), "r", Ok(Some(json!("r")))),
            (colours.clone(), "green", Ok(Some(json!("g")))),
            (colours.clone(), "3", Err("from 1 to 2")),
            (colours, "0", Err("from 1 to 2")),
            // A value that looks like a number of the list is the value.
            (titled.clone(), "2", Ok(Some(json!("2")))),
            (titled, "first", Ok(Some(json!("a")))),
            (list.clone(), "1, z", Ok(Some(json!(["x", "z"])))),
            (list, "1, w", Err("none of them")),
            (any, "Ex", Ok(Some(json!(["x"])))),
        ];
        for (schema, line, expected) in rows {
            let field = Field { name: "f", schema: &schema, is_required: true };
            match (field.read(line), expected) {
                (Ok(got), Ok(want)) => assert_eq!(got, want, "{schema} {line:?}"),
                (Err(got), Err(want)) => assert!(got.contains(want), "{schema} {line:?}: {got}"),
                (got, want) => panic!("{schema} {line:?}: {got:?}, not {want:?}"),
            }
        }
        let optional = json!({"type": "string"});
        let field = Field { name: "f", schema: &optional, is_required: false };
        assert_eq!(field.read(" "), Ok(None));
    }

    #[test]
    fn what_a_person_reads() {
        let schema = json!({"type": "string", "title": "Your\u{1b}[2J name", "description": "As in the\u{202e} passport.",
            "minLength": 2, "default": "Ann"});
        let field = Field { name: "name", schema: &schema, is_required: false };
        let text = field.put();
        for part in
            ["name (name): text, minLength 2, may be left empty, empty for \"Ann\"", "\\u{202e}"]
        {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    }
}
