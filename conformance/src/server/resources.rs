//! Resources.

use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::samples;

pub(super) fn list() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "Static Text Resource")
            .with_description("A text that never changes")
            .with_mime_type("text/plain"),
        Resource::new("test://static-binary", "Static Binary Resource")
            .with_description("An image that never changes")
            .with_mime_type("image/png"),
        Resource::new("test://watched-resource", "Watched Resource")
            .with_description("A text that can be subscribed to")
            .with_mime_type("text/plain"),
    ]
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("test://template/{id}/data", "Resource Template")
            .with_description("Data by its id")
            .with_mime_type("application/json"),
    ]
}

pub(super) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let text = |mime_type: &str, text: String| ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some(mime_type.to_owned()),
        text,
        meta: None,
    };
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, id) {
        (_, Some(id)) => {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            text("application/json", data.to_string())
        }
        ("test://static-text", _) => {
            text("text/plain", "This is the content of the static text resource.".to_owned())
        }
        ("test://watched-resource", _) => text("text/plain", "Watched resource content".to_owned()),
        ("test://static-binary", _) => ResourceContents::BlobResourceContents {
            uri: uri.to_owned(),
            mime_type: Some("image/png".to_owned()),
            blob: samples::IMAGE.to_owned(),
            meta: None,
        },
        _ => {
            let message = format!("Resource not found: {uri}");
            return Err(ErrorData::resource_not_found(message, Some(json!({ "uri": uri }))));
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}
