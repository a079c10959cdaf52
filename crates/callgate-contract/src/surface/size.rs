//! How large a schema is, in the units in which providers count.

use serde_json::Value;

use super::pass::children;

/// The most that one schema may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct SchemaLimits {
    pub properties: usize,
    pub depth: usize,
    pub enum_values: usize,
    pub characters: usize,
    pub large_enum: usize,
    pub large_enum_characters: usize,
}

impl SchemaLimits {
    /// What is exceeded, in words.
    pub(super) fn exceeded_by(&self, schema: &Value) -> Option<String> {
        let size = Size::of(schema);
        let over = |what: &str, count: usize, limit: usize| {
            (count > limit).then(|| format!("{count} {what}, {limit} are allowed"))
        };
        over("properties", size.properties, self.properties)
            .or_else(|| over("levels", size.depth, self.depth))
            .or_else(|| over("enum values", size.enum_values, self.enum_values))
            .or_else(|| over("characters of names and values", size.characters, self.characters))
            .or_else(|| {
                let large = size.enums.iter().find(|(values, chars)| {
                    *values > self.large_enum && *chars > self.large_enum_characters
                })?;
                over("characters in one enum", large.1, self.large_enum_characters)
            })
    }
}

/// What a schema holds. References are not followed: each definition counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// Properties of all objects.
    pub properties: usize,
    /// Levels of objects and arrays.
    pub depth: usize,
    /// Values of all enums.
    pub enum_values: usize,
    /// Characters of property names, definition names, and enum and const values.
    pub characters: usize,
    /// Properties that may be missing.
    pub optional: usize,
    /// Nodes with `anyOf` or a list of types.
    pub unions: usize,
    /// Values and characters of each enum.
    pub enums: Vec<(usize, usize)>,
}

impl Size {
    pub(super) fn of(schema: &Value) -> Self {
        let mut size = Self::default();
        size.add(schema, 0);
        size
    }

    fn add(&mut self, schema: &Value, above: usize) {
        let Value::Object(node) = schema else { return };
        let is_level = node.contains_key("properties") || node.contains_key("items");
        let level = above + usize::from(is_level);
        self.depth = self.depth.max(level);
        if let Some(Value::Object(properties)) = node.get("properties") {
            let required: Vec<&str> = names(node.get("required"));
            self.properties += properties.len();
            self.optional += properties.keys().filter(|n| !required.contains(&n.as_str())).count();
            self.characters += properties.keys().map(|n| n.chars().count()).sum::<usize>();
        }
        if let Some(Value::Object(definitions)) = node.get("$defs") {
            self.characters += definitions.keys().map(|n| n.chars().count()).sum::<usize>();
        }
        if let Some(Value::Array(values)) = node.get("enum") {
            let characters = values.iter().map(characters).sum();
            self.enum_values += values.len();
            self.characters += characters;
            self.enums.push((values.len(), characters));
        }
        self.characters += node.get("const").map_or(0, characters);
        let list = node.get("type").is_some_and(Value::is_array);
        self.unions += usize::from(list || node.contains_key("anyOf"));
        children(node, &mut |_, child| self.add(child, level));
    }
}

fn characters(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    }
}

/// The strings of a list.
pub(super) fn names(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
