//! What the exports look like.

use callgate_contract::export::EXPORTERS;
use serde_json::json;

use crate::support::{catalog, options};

#[test]
fn every_export_of_a_forecast() {
    let catalog = catalog(&[
        json!({
            "name": "get_forecast",
            "description": "Weather forecast for a city.",
            "annotations": {"readOnly": true},
            "examples": [{"request": "Oslo tomorrow?", "input": {"city": "Oslo", "days": 1}}],
            "input": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "City name", "minLength": 1},
                    "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3},
                    "units": {"enum": ["metric", "us-customary"]},
                    "near": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat", "lon"]}
                },
                "required": ["city"],
                "additionalProperties": false
            },
            "output": {
                "type": "object",
                "properties": {
                    "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
                    "note": {"type": ["string", "null"]}
                },
                "required": ["days", "note"],
                "$defs": {"day": {"type": "object", "properties": {"low": {"type": "number"}, "high": {"type": "number"}}, "required": ["low", "high"]}}
            }
        }),
        json!({
            "name": "delete_note",
            "description": "Deletes a note for good.",
            "annotations": {"destructive": true},
            "input": {
                "type": "object",
                "properties": {"by": {"oneOf": [{"type": "integer"}, {"type": "string"}]}},
                "required": ["by"]
            }
        }),
    ]);
    for exporter in EXPORTERS {
        let made = exporter.export(&catalog, &options()).unwrap();
        let losses: String = made.losses.iter().map(|loss| format!("{loss}\n")).collect();
        let told = format!("{}\n---- losses\n{losses}", made.text);
        insta::assert_snapshot!(exporter.name, told);
    }
}
