//! Formats that nobody judges.

use super::{Check, Draft, Level, Rule, Seen};
use crate::suggest;

pub(super) const RULE: Rule = Rule {
    id: "format-unknown",
    level: Level::Warning,
    finds: "A `format` that neither JSON Schema nor OpenAPI knows.",
    why: "It looks like a check and is none: any text passes.",
    instead: "Write the standard's name for it, or a `pattern`.",
    fixes: false,
    check: Check::Tool(check),
};

/// Judged by the gate (JSON Schema, all drafts), then those that OpenAPI's registry names.
const FORMATS: &[&str] = &[
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
    "color",
    "host-name",
    "ip-address",
    "phone",
    "style",
    "utc-millisec",
    "base64url",
    "binary",
    "byte",
    "char",
    "commonmark",
    "date-time-local",
    "decimal",
    "decimal128",
    "double",
    "double-int",
    "float",
    "html",
    "http-date",
    "int16",
    "int32",
    "int64",
    "int8",
    "media-range",
    "password",
    "sf-binary",
    "sf-boolean",
    "sf-decimal",
    "sf-integer",
    "sf-string",
    "sf-token",
    "time-local",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "unixtime",
];

fn check(tool: &Seen<'_>, found: &mut Vec<Draft>) {
    for part in tool.parts() {
        part.reach(&mut |spot| {
            let Some(format) = spot.text("format") else { return };
            if FORMATS.contains(&format) || format.starts_with("x-") {
                return;
            }
            let suggestion = match nearest(format) {
                None if format == "json" => {
                    "Write \"contentMediaType\": \"application/json\", or the schema of the value \
                     in place of the text."
                        .to_owned()
                }
                Some(near) => format!("Did you mean \"{near}\"?"),
                None => "Write a \"pattern\", or say the form in the description alone.".to_owned(),
            };
            found.push(Draft::new(
                format!("{}{}/format", part.at, spot.pointer),
                format!(
                    "neither JSON Schema nor OpenAPI knows the format \"{format}\": it looks like \
                     a check and is none"
                ),
                suggestion,
            ));
        });
    }
}

fn nearest(format: &str) -> Option<&'static str> {
    Some(match format.to_ascii_lowercase().as_str() {
        "datetime" | "date_time" | "iso8601" | "iso-8601" | "timestamp" | "rfc3339" => "date-time",
        "url" => "uri",
        "guid" => "uuid",
        "ip" => "ipv4",
        "mail" | "e-mail" => "email",
        "base64" => "byte",
        _ => return suggest::nearest(format, FORMATS),
    })
}
