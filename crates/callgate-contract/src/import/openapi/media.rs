//! Media types: which of them are JSON, text or bytes.

/// The type without its parameters, in small letters.
pub(super) fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type is JSON: `application/json`, `…+json`, and those that are spelt oddly.
pub(super) fn is_json(media: &str) -> bool {
    let essence = essence(media);
    essence.ends_with("/json") || essence.ends_with("+json") || essence == "application/x-json"
}

/// Whether anything is taken.
pub(super) fn is_any(media: &str) -> bool {
    matches!(essence(media).as_str(), "*/*" | "application/*")
}

/// Whether a media type stands for one form, so that it can be said in a header.
pub(super) fn is_one(media: &str) -> bool {
    let essence = essence(media);
    essence.contains('/') && !essence.contains(['*', ','])
}

/// Whether a text is XML.
pub(super) fn is_xml(media: &str) -> bool {
    let essence = essence(media);
    essence.ends_with("/xml") || essence.ends_with("+xml")
}

/// Whether its content is a text that a model can write.
pub(super) fn is_text(media: &str) -> bool {
    const TEXTS: [&str; 8] = [
        "application/graphql",
        "application/javascript",
        "application/jsonl",
        "application/sql",
        "application/toml",
        "application/x-ndjson",
        "application/x-yaml",
        "application/yaml",
    ];
    let essence = essence(media);
    essence.starts_with("text/") || is_xml(media) || TEXTS.contains(&essence.as_str())
}

/// Whether its content is certainly no text.
pub(super) fn is_bytes(media: &str) -> bool {
    const BYTES: [&str; 7] = [
        "application/gzip",
        "application/pdf",
        "application/vnd.rar",
        "application/x-7z-compressed",
        "application/x-gzip",
        "application/x-tar",
        "application/zip",
    ];
    let essence = essence(media);
    let kinds = ["audio/", "font/", "image/", "video/"];
    let starts = kinds.iter().any(|kind| essence.starts_with(kind));
    !is_text(media) && (starts || BYTES.contains(&essence.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types() {
        // JSON, text, bytes.
        let rows = [
            ("application/json", [true, false, false]),
            ("application/json; charset=utf-8", [true, false, false]),
            ("Application/Vnd.Api+JSON", [true, false, false]),
            ("text/json", [true, true, false]),
            ("application/jsonl", [false, true, false]),
            ("application/x-www-form-urlencoded", [false, false, false]),
            ("*/*", [false, false, false]),
            ("text/xml", [false, true, false]),
            ("application/atom+xml", [false, true, false]),
            ("image/svg+xml", [false, true, false]),
            ("image/png", [false, false, true]),
            ("application/octet-stream", [false, false, false]),
        ];
        for (media, expected) in rows {
            assert_eq!([is_json(media), is_text(media), is_bytes(media)], expected, "{media}");
        }
        assert!(is_one("image/png") && !is_one("image/*") && !is_one("image/png, image/gif"));
    }
}
