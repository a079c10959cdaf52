//! What differs from model to model, by their names. An unknown one is taken for a recent one.

/// The first number of a name such as `gemini-2.5-pro`.
fn version(model: &str) -> Option<(u32, u32)> {
    let rest = &model[model.find("gemini-")? + "gemini-".len()..];
    let number = rest.split('-').next()?;
    let mut parts = number.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next().flatten().unwrap_or(0)))
}

fn is_at_least(model: &str, wanted: (u32, u32)) -> bool {
    version(model).is_none_or(|version| version >= wanted)
}

/// Gemini 3 demands signatures, takes images in results, and a schema beside tools.
pub(super) fn is_third(model: &str) -> bool {
    is_at_least(model, (3, 0))
}

/// Mode `VALIDATED`: text or calls, the latter held to their schemas.
pub(super) fn validates(model: &str) -> bool {
    is_at_least(model, (2, 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name() {
        for (model, third, validated) in [
            ("gemini-1.5-pro", false, false),
            ("models/gemini-2.0-flash", false, false),
            ("gemini-2.5-flash-lite", false, true),
            ("gemini-3-pro-preview", true, true),
            ("gemini-3.5-flash", true, true),
            ("gemini-flash-latest", true, true),
        ] {
            assert_eq!((is_third(model), validates(model)), (third, validated), "{model}");
        }
    }
}
