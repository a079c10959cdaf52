//! Descriptions that say something else than the schema.

use std::sync::LazyLock;

use serde_json::Value;

use super::{Check, Draft, Level, Rule, Seen, bound_in_text::keywords};
use crate::lint::{
    reach::{Role, Spot},
    texts::{Pattern, is_measure, pattern, short},
};

pub(super) const RULE: Rule = Rule {
    id: "text-contradicts-schema",
    level: Level::Warning,
    finds: "A parameter's description that names another limit, default or necessity than its schema.",
    why: "A model that follows the text is refused, or does not use what it may; one of the two is wrong.",
    instead: "Correct the one that is wrong.",
    fixes: false,
    check: Check::Tool(check),
};

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    let Some(input) = &tool.input else { return };
    input.reach(&mut |spot| {
        if spot.negative {
            return;
        }
        let Some(text) = spot.text("description") else { return };
        let told = bound(spot, text).or_else(|| default(spot, text)).or_else(|| needed(spot, text));
        if let Some((said, written)) = told {
            found.push(Draft::new(
                format!("{}{}", input.at, spot.pointer),
                format!(
                    "the description says \"{}\" and the schema {written}: a model that follows \
                     the one is wrong by the other",
                    short(&said, 60)
                ),
                "Correct the one that is wrong.",
            ));
        }
    });
}

fn bound(spot: &Spot<'_>, text: &str) -> Option<(String, String)> {
    keywords(spot, text).into_iter().find_map(|(bound, keyword)| {
        let written = spot.get(keyword)?.as_f64()?;
        // What generators write for "no limit".
        if written.abs() >= 9_007_199_254_740_991.0 {
            return None;
        }
        (written.to_bits() != bound.figure.to_bits() && written != bound.figure).then(|| {
            (bound.said, format!("\"{keyword}\": {}", spot.get(keyword).unwrap_or(&Value::Null)))
        })
    })
}

fn default(spot: &Spot<'_>, text: &str) -> Option<(String, String)> {
    static DEFAULT: Pattern = LazyLock::new(|| {
        pattern(
            r#"(?i)\bdefault(?:s to|s:| is| value is|:| =|=)\s*(?:(-?\d+(?:\.\d+)?)|(true|false)\b|["'`]([^"'`]{1,40})["'`])(?:\s*([\p{L}%]+))?"#,
        )
    });
    let written = spot.get("default").filter(|default| !default.is_null())?;
    let caught = DEFAULT.captures(text)?;
    let after = caught.get(4).map_or("", |word| word.as_str()).to_lowercase();
    if is_measure(&after)
        || matches!(after.as_str(), "if" | "when" | "unless" | "for" | "in" | "on")
    {
        return None;
    }
    let differs = match written {
        Value::Number(number) => {
            let said: f64 = caught.get(1)?.as_str().parse().ok()?;
            number.as_f64()? != said
        }
        Value::Bool(is) => caught.get(2)?.as_str().eq_ignore_ascii_case("true") != *is,
        Value::String(is) => caught.get(3)?.as_str() != is,
        _ => return None,
    };
    differs.then(|| (caught[0].to_owned(), format!("\"default\": {written}")))
}

fn needed(spot: &Spot<'_>, text: &str) -> Option<(String, String)> {
    static OPTIONAL: Pattern = LazyLock::new(|| {
        pattern(r"(?i)^\s*optional\s*(?:[.:,(-]|$)|\(optional\)|^\s*\[optional\]")
    });
    let Role::Property(name) = spot.role else { return None };
    let said = OPTIONAL.find(text)?;
    spot.required.then(|| (said.as_str().trim().to_owned(), format!("requires \"{name}\"")))
}
