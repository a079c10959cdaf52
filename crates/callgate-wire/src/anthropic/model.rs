//! What differs from model to model.
//!
//! By the names of the models, which is all that a request has. An unknown model is taken for a
//! recent one that refuses nothing.

/// Output tokens of a request that names no cap; the field is required. Of recent models, as many
/// as may come within ten minutes without a stream, by the reckoning of Anthropic's own client
/// (128 000 in an hour); connections do not last longer.
pub(super) fn default_cap(model: &str) -> u32 {
    if ["claude-3-5", "claude-3-7"].iter().any(|name| model.contains(name)) {
        8192
    } else if model.contains("claude-3-") {
        4096
    } else {
        20_000
    }
}

/// Models that always think and refuse `any` and `tool`: "tool_choice: type \"tool\" and \"any\"
/// are not supported for this model." By public reports: Fable and Mythos 5.1 and 5.2, Opus and
/// Sonnet 5.5.
pub(super) fn refuses_forced_choice(model: &str) -> bool {
    let (family, version) = version(model);
    match family {
        "fable" | "mythos" => matches!(version, (5, 1 | 2)),
        "opus" | "sonnet" => version >= (5, 5),
        _ => false,
    }
}

/// Models that refuse a temperature: Opus from 4.7 on, all from 5 on.
pub(super) fn refuses_temperature(model: &str) -> bool {
    let (family, version) = version(model);
    version >= (5, 0) || (family == "opus" && version >= (4, 7))
}

/// Models that can search tools: from 4.5 on.
pub fn searches_tools(model: &str) -> bool {
    let (family, version) = version(model);
    // An unknown name has no version at all.
    version >= (4, 5) || (version == (0, 0) && !family.is_empty())
}

/// Family and version of a name such as `claude-opus-4-7` or `claude-sonnet-5.5-20260901`.
fn version(model: &str) -> (&str, (u32, u32)) {
    let start = model.find("claude-").map_or(model, |at| &model[at + "claude-".len()..]);
    let mut parts = start.split(['-', '.']).peekable();
    // Before version 4 the number came first.
    let family = parts.next_if(|part| part.parse::<u32>().is_err()).unwrap_or_default();
    // A date is no minor version.
    let mut number = || parts.next()?.parse().ok().filter(|n| *n < 100);
    (family, (number().unwrap_or(0), number().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_is_for_recent_models() {
        for (model, expected) in [
            ("claude-3-5-haiku-20241022", false),
            ("claude-opus-4-1-20250805", false),
            ("claude-sonnet-4-5", true),
            ("claude-opus-5.5", true),
            ("something-else", true),
        ] {
            assert_eq!(searches_tools(model), expected, "{model}");
        }
    }

    #[test]
    fn by_name() {
        for (model, cap, forced, temperature) in [
            ("claude-3-5-haiku-20241022", 8192, true, true),
            ("claude-3-opus-20240229", 4096, true, true),
            ("claude-sonnet-4-20250514", 20_000, true, true),
            ("claude-opus-4-7", 20_000, true, false),
            ("claude-opus-4.6", 20_000, true, true),
            ("claude-opus-5-5-20260901", 20_000, false, false),
            ("claude-sonnet-5.5", 20_000, false, false),
            ("claude-sonnet-5", 20_000, true, false),
            ("claude-mythos-5-1", 20_000, false, false),
            ("anthropic.claude-opus-4-8-v1:0", 20_000, true, false),
            ("something-else", 20_000, true, true),
        ] {
            assert_eq!(default_cap(model), cap, "{model}");
            assert_eq!(!refuses_forced_choice(model), forced, "{model}");
            assert_eq!(!refuses_temperature(model), temperature, "{model}");
        }
    }
}
