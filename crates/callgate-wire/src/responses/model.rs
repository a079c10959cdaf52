//! What differs from model to model, by their names.

/// Models that reason: they give encrypted reasoning, which others refuse to be asked for, and
/// take no temperature. An unknown model is taken for a recent one, which reasons.
pub(super) fn reasons(model: &str) -> bool {
    let starts = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    !starts(&["gpt-3", "gpt-4", "chatgpt-4", "ft:gpt-3", "ft:gpt-4"]) && !model.contains("-chat")
}

/// Models that can search tools: GPT from 5.4 on, but for the smallest.
pub fn searches_tools(model: &str) -> bool {
    let number = model.strip_prefix("gpt-").and_then(|rest| rest.split('-').next());
    let version = number.and_then(|number| {
        let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    version.is_some_and(|version| version >= (5, 4)) && !model.contains("-nano")
}

#[cfg(test)]
mod tests {
    use super::{reasons, searches_tools};

    #[test]
    fn the_search_is_for_recent_models() {
        for (model, expected) in [
            ("gpt-5.4", true),
            ("gpt-5.4-nano", false),
            ("gpt-6-sol", true),
            ("gpt-5", false),
            ("gpt-4o", false),
            ("o4-mini", false),
        ] {
            assert_eq!(searches_tools(model), expected, "{model}");
        }
    }

    #[test]
    fn by_name() {
        for (model, expected) in [
            ("gpt-4.1-mini", false),
            ("gpt-4o", false),
            ("ft:gpt-4o:me", false),
            ("gpt-5-chat-latest", false),
            ("gpt-5.4", true),
            ("o4-mini", true),
            ("gpt-6-sol", true),
        ] {
            assert_eq!(reasons(model), expected, "{model}");
        }
    }
}
