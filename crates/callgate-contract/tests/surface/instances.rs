//! Instances of a schema, at random and by a seed.
//!
//! Best effort: what comes out is checked against the schema by whoever asked, and what is none is
//! thrown away.

use serde_json::{Map, Value, json};

/// A small generator of numbers (splitmix64), so that a seed is all there is to a failure.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n.max(1)).expect("small")).expect("small")
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> Option<&'v T> {
        if values.is_empty() { None } else { Some(&values[self.below(values.len())]) }
    }
}

/// A value that is likely an instance.
pub(crate) fn instance(dice: &mut Dice, root: &Value) -> Value {
    value(dice, root, root, 6)
}

fn value(dice: &mut Dice, root: &Value, schema: &Value, depth: usize) -> Value {
    let Value::Object(node) = schema else { return any(dice, depth) };
    if let Some(target) = node.get("$ref").and_then(Value::as_str) {
        let body = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        let body = body.cloned().unwrap_or_else(|| json!({}));
        return if depth == 0 {
            small(root, &body, 4)
        } else {
            value(dice, root, &both(node, &body), depth - 1)
        };
    }
    if let Some(only) = node.get("const") {
        return only.clone();
    }
    if let Some(Value::Array(values)) = node.get("enum") {
        return dice.pick(values).cloned().unwrap_or_default();
    }
    if let Some(Value::Array(parts)) = node.get("allOf") {
        let mut whole = without(node, "allOf");
        for part in parts {
            whole = both(whole.as_object().expect("an object"), part);
        }
        return value(dice, root, &whole, depth);
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = node.get(keyword) {
            let branch = if depth == 0 { branches.last() } else { dice.pick(branches) };
            let branch = branch.cloned().unwrap_or_else(|| json!({}));
            let rest = without(node, keyword);
            return value(dice, root, &both(rest.as_object().expect("an object"), &branch), depth);
        }
    }
    let kinds: Vec<String> = match node.get("type") {
        Some(Value::String(kind)) => vec![kind.clone()],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ if ["properties", "required", "additionalProperties"]
            .iter()
            .any(|k| node.contains_key(*k)) =>
        {
            vec!["object".to_owned()]
        }
        _ if node.contains_key("items") || node.contains_key("prefixItems") => {
            vec!["array".to_owned()]
        }
        _ => return any(dice, depth),
    };
    let Some(kind) = dice.pick(&kinds) else { return any(dice, depth) };
    match kind.as_str() {
        "null" => Value::Null,
        "boolean" => json!(dice.one_in(2)),
        "integer" => integer(dice, node),
        "number" => number(dice, node),
        "string" => string(dice, node),
        "array" => array(dice, root, node, depth),
        _ => object(dice, root, node, depth),
    }
}

/// Something that ends.
fn small(root: &Value, schema: &Value, depth: usize) -> Value {
    value(&mut Dice::new(depth as u64), root, schema, 0)
}

fn without(node: &Map<String, Value>, keyword: &str) -> Value {
    let mut node = node.clone();
    node.shift_remove(keyword);
    Value::Object(node)
}

/// Both schemas, roughly.
fn both(node: &Map<String, Value>, other: &Value) -> Value {
    let Value::Object(other) = other else { return Value::Object(node.clone()) };
    let mut whole = node.clone();
    whole.shift_remove("$ref");
    for (keyword, theirs) in other {
        match (keyword.as_str(), whole.get_mut(keyword), theirs) {
            ("properties", Some(Value::Object(mine)), Value::Object(theirs)) => {
                for (name, schema) in theirs {
                    mine.insert(name.clone(), schema.clone());
                }
            }
            ("required", Some(Value::Array(mine)), Value::Array(theirs)) => {
                mine.extend(theirs.iter().cloned());
            }
            ("type", Some(mine), theirs) if theirs.is_string() => *mine = theirs.clone(),
            ("allOf", Some(Value::Array(mine)), Value::Array(theirs)) => {
                mine.extend(theirs.iter().cloned());
            }
            (_, Some(_), _) => {}
            (_, None, theirs) => {
                whole.insert(keyword.clone(), theirs.clone());
            }
        }
    }
    Value::Object(whole)
}

fn any(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(7),
        3 => json!(-0.25),
        4 => json!("12"),
        5 => json!("text \"quoted\" \u{e9}"),
        6 => json!([1, "2", null]),
        7 => json!({"k": "v", "n": null}),
        _ => json!("{\"not\": \"an object\"}"),
    }
}

fn limit(node: &Map<String, Value>, keyword: &str) -> Option<usize> {
    node.get(keyword)?.as_u64().and_then(|n| usize::try_from(n).ok())
}

fn integer(dice: &mut Dice, node: &Map<String, Value>) -> Value {
    let bound = |keyword: &str| node.get(keyword).and_then(Value::as_f64);
    let low = bound("minimum")
        .map(f64::ceil)
        .or_else(|| bound("exclusiveMinimum").map(|n| n.floor() + 1.0));
    let high = bound("maximum")
        .map(f64::floor)
        .or_else(|| bound("exclusiveMaximum").map(|n| n.ceil() - 1.0));
    let step = bound("multipleOf").unwrap_or(1.0).max(1.0);
    let low = low.unwrap_or_else(|| high.map_or(-3.0, |h| h - 50.0));
    let high = high.unwrap_or(low + 1000.0).min(low + 1000.0);
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    {
        let span = ((high - low).max(0.0) / step) as usize + 1;
        let n = (low / step).ceil() * step + dice.below(span) as f64 * step;
        json!(n as i64)
    }
}

fn number(dice: &mut Dice, node: &Map<String, Value>) -> Value {
    if dice.one_in(2) {
        return integer(dice, node);
    }
    let bound = |keyword: &str| node.get(keyword).and_then(Value::as_f64);
    let low = bound("minimum").or_else(|| bound("exclusiveMinimum")).unwrap_or(0.0);
    json!(low + 0.5)
}

fn string(dice: &mut Dice, node: &Map<String, Value>) -> Value {
    let of_format = match node.get("format").and_then(Value::as_str) {
        Some("date") => Some("2024-02-29"),
        Some("time") => Some("12:30:00Z"),
        Some("date-time") => Some("2024-02-29T12:30:00Z"),
        Some("duration") => Some("P1DT2H"),
        Some("email") => Some("a@b.example"),
        Some("hostname") => Some("b.example"),
        Some("uri") => Some("https://b.example/x?y=1"),
        Some("ipv4") => Some("192.0.2.1"),
        Some("ipv6") => Some("2001:db8::1"),
        Some("uuid") => Some("123e4567-e89b-12d3-a456-426614174000"),
        _ => None,
    };
    if let Some(text) = of_format {
        return json!(text);
    }
    match node.get("pattern").and_then(Value::as_str) {
        Some("^[a-z]+$") => return json!("abc"),
        Some("^T-[0-9]+$") => return json!("T-1042"),
        Some("^(?!x)") => return json!("abc"),
        _ => {}
    }
    let least = limit(node, "minLength").unwrap_or(0);
    let most = limit(node, "maxLength").unwrap_or(least + 8).min(least + 8);
    let texts = ["", "a", "null", "1", "true", "x y", "\u{e9}\"\\\n", "{}", "(empty)", "abcdefgh"];
    let mut text: String = (*dice.pick(&texts).expect("some")).to_owned();
    while text.chars().count() < least {
        text.push('z');
    }
    json!(text.chars().take(most).collect::<String>())
}

fn array(dice: &mut Dice, root: &Value, node: &Map<String, Value>, depth: usize) -> Value {
    let mut list = Vec::new();
    let prefix = node.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
    let least = limit(node, "minItems").unwrap_or(0);
    let most = limit(node, "maxItems").unwrap_or(least + 3);
    let closed = node.get("items") == Some(&Value::Bool(false));
    let wanted =
        if depth == 0 { least } else { least + dice.below(most.saturating_sub(least) + 1).min(3) };
    let wanted =
        if prefix.is_empty() { wanted } else { wanted.max(prefix.len()).min(most.max(least)) };
    let anything = json!({});
    for i in 0..wanted {
        let schema = match prefix.get(i) {
            Some(schema) => schema,
            None if closed => break,
            None => node.get("items").unwrap_or(&anything),
        };
        let element = value(dice, root, schema, depth.saturating_sub(1));
        if node.get("uniqueItems") == Some(&Value::Bool(true)) && list.contains(&element) {
            continue;
        }
        list.push(element);
    }
    if let Some(schema) = node.get("contains") {
        list.push(value(dice, root, schema, depth.saturating_sub(1)));
    }
    Value::Array(list)
}

fn object(dice: &mut Dice, root: &Value, node: &Map<String, Value>, depth: usize) -> Value {
    let mut object = Map::new();
    let required: Vec<&str> = node
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let anything = json!({});
    let properties = node.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        if required.contains(&name.as_str()) || (depth > 0 && !dice.one_in(3)) {
            object.insert(name.clone(), value(dice, root, schema, depth.saturating_sub(1)));
        }
    }
    for name in required {
        if !object.contains_key(name) {
            object.insert(name.to_owned(), value(dice, root, &anything, 0));
        }
    }
    let declares = properties.is_some_and(|p| !p.is_empty());
    match node.get("additionalProperties") {
        Some(Value::Bool(false)) => {}
        Some(schema @ Value::Object(_)) => {
            for name in ["k1", "k 2", "value"].iter().take(dice.below(4)) {
                if !object.contains_key(*name) {
                    let member = value(dice, root, schema, depth.saturating_sub(1));
                    object.insert((*name).to_owned(), member);
                }
            }
        }
        // An open object is mostly used as if it were closed.
        _ if dice.one_in(if declares { 24 } else { 2 }) => {
            object.insert("more".to_owned(), any(dice, 1));
        }
        _ => {}
    }
    let least = limit(node, "minProperties").unwrap_or(0);
    for n in 0..least.saturating_sub(object.len()) {
        let schema = node.get("additionalProperties").unwrap_or(&anything);
        object.insert(format!("m{n}"), value(dice, root, schema, depth.saturating_sub(1)));
    }
    Value::Object(object)
}
