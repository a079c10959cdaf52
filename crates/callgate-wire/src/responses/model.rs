//! What differs from model to model, by their names.

/// Models that reason: they give encrypted reasoning, which others refuse to be asked for, and
/// take no temperature. An unknown model is taken for a recent one, which reasons.
pub(super) fn reasons(model: &str) -> bool {
    let starts = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    !starts(&["gpt-3", "gpt-4", "chatgpt-4", "ft:gpt-3", "ft:gpt-4"]) && !model.contains("-chat")
}

#[cfg(test)]
mod tests {
    use super::reasons;

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
