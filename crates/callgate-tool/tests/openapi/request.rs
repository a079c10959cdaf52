//! A request, read by its operation: every value that it carries, and nothing left over.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{
    document::{Document, Operation, decoded},
    parts,
    schema::{Kind, Way, declared, kind, member, refused, typed},
    wire::{Pairs, Style, alone, pairs, take},
};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A file as it came.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    pub(crate) filename: Option<String>,
    pub(crate) media: Option<String>,
}

/// One value that a request carries.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) place: &'static str,
    pub(crate) name: String,
    pub(crate) got: Got,
}

#[derive(Debug, Clone)]
pub(crate) enum Got {
    /// Scalars are texts.
    Wire(Value),
    Json(Value),
    Files(Vec<File>),
}

/// What every value of the environment begins with.
pub(crate) const SECRET: &str = "secret-";

/// Headers of which OpenAPI says that no parameter describes them, and what frames a message.
const NOT_PARAMETERS: [&str; 12] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "idempotency-key",
    "te",
    "trailer",
    "transfer-encoding",
];

/// Everything that a request carries.
pub(crate) fn read(
    document: &Document,
    operation: &Operation,
    holes: &[(String, String)],
    request: &Request,
) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    let mut query = pairs(&request.query);
    let cookies: Pairs = request
        .header("cookie")
        .into_iter()
        .flat_map(|all| all.split("; "))
        .filter_map(|one| one.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let keys = secured(document, operation, request, &mut query, &cookies)?;
    // Objects that are spread over many names take what others leave.
    let mut parameters: Vec<&Value> = operation.parameters.iter().collect();
    parameters.sort_by_key(|p| {
        kind(document, &p["schema"]) == Kind::Object && p["style"] != "deepObject"
    });
    for parameter in parameters {
        let Some(name) = parameter["name"].as_str() else { continue };
        let (place, default) = match parameter["in"].as_str() {
            Some("path") => ("path", "simple"),
            Some("query") => ("query", "form"),
            Some("header") => ("header", "simple"),
            Some("cookie") => ("cookie", "form"),
            _ => continue,
        };
        if place == "header" && NOT_PARAMETERS.contains(&&*name.to_lowercase()) {
            continue;
        }
        let style = Style::of(parameter, default);
        let content = parameter["content"].as_object().and_then(|content| content.iter().next());
        let (schema, is_json) = match content {
            Some((media, content)) => (&content["schema"], media.contains("json")),
            None => (&parameter["schema"], false),
        };
        let plain = json!({});
        let schema = if schema.is_null() { &plain } else { schema };
        let read = if is_json { &plain } else { schema };
        let found = match place {
            "path" => match holes.iter().find(|(hole, _)| hole == name) {
                Some((_, raw)) => Some(alone(document, name, read, &style, true, raw)?),
                // Declared for a path that has no place for it.
                None => continue,
            },
            "query" => take(document, name, read, &style, true, &mut query),
            "header" => match request.header(name) {
                Some(raw) => Some(alone(document, name, read, &style, false, raw)?),
                None => None,
            },
            _ => match cookies.iter().find(|(other, _)| other == name) {
                Some((_, raw)) => {
                    let simple = Style { name: "simple".to_owned(), ..style.clone() };
                    Some(alone(document, name, read, &simple, false, raw)?)
                }
                None => None,
            },
        };
        let Some(found) = found else {
            if parameter["required"] == true && !keys.iter().any(|key| key == name) {
                return Err(format!("the required {place} parameter `{name}` did not arrive"));
            }
            continue;
        };
        if found.as_str().is_some_and(|text| text.contains(SECRET)) {
            continue;
        }
        let (value, got) = match (is_json, found.as_str()) {
            (true, Some(text)) => {
                let value: Value = serde_json::from_str(text)
                    .map_err(|error| format!("`{name}` is no JSON: {error}: {text}"))?;
                (value.clone(), Got::Json(value))
            }
            _ => (typed(document, schema, &found), Got::Wire(found)),
        };
        if let Some(why) = refused(document, schema, &value, Way::Request) {
            return Err(format!("the {place} parameter `{name}`: {why}"));
        }
        items.push(Item { place, name: name.to_owned(), got });
    }
    // The path's own holes that nobody declares.
    for (hole, raw) in holes {
        if !items.iter().any(|item| item.place == "path" && item.name == *hole) {
            let got = Got::Wire(decoded(raw).into());
            items.push(Item { place: "path", name: hole.clone(), got });
        }
    }
    if let Some((name, _)) = query.first() {
        return Err(format!("the query parameter `{name}` is not declared"));
    }
    body(document, operation, request, &mut items)?;
    Ok(items)
}

/// Whether one of the alternatives is met; the query's keys are taken out, and told.
fn secured(
    document: &Document,
    operation: &Operation,
    request: &Request,
    query: &mut Pairs,
    cookies: &Pairs,
) -> Result<Vec<String>, String> {
    let authorization = request.header("authorization").unwrap_or_default();
    let schemes = &document.root["components"]["securitySchemes"];
    let mut is_met = operation.security.is_empty();
    let mut keys: Vec<String> = Vec::new();
    for alternative in &operation.security {
        let mut all = true;
        for scheme in alternative.keys() {
            let scheme = document.deref(&schemes[scheme.as_str()]);
            let name = scheme["name"].as_str().unwrap_or_default();
            let in_query = query.iter().find(|(other, _)| other == name);
            let in_cookies = cookies.iter().find(|(other, _)| other == name);
            let is_secret = |value: &str| value.contains(SECRET);
            all &= match (scheme["type"].as_str(), scheme["in"].as_str()) {
                (Some("oauth2" | "openIdConnect"), _) => {
                    authorization.starts_with("Bearer secret-")
                }
                (Some("http"), _) => {
                    match scheme["scheme"].as_str().map(str::to_lowercase).as_deref() {
                        Some("bearer") => authorization.starts_with("Bearer secret-"),
                        Some("basic") => authorization
                            .strip_prefix("Basic ")
                            .and_then(|text| BASE64_STANDARD.decode(text).ok())
                            .and_then(|bytes| String::from_utf8(bytes).ok())
                            .is_some_and(|text| {
                                text.split_once(':')
                                    .is_some_and(|(u, p)| is_secret(u) && is_secret(p))
                            }),
                        _ => false,
                    }
                }
                (Some("apiKey"), Some("query")) => {
                    keys.push(name.to_owned());
                    in_query.is_some_and(|(_, value)| is_secret(value))
                }
                (Some("apiKey"), Some("cookie")) => in_cookies.is_some_and(|(_, v)| is_secret(v)),
                (Some("apiKey"), Some("header")) => request.header(name).is_some_and(is_secret),
                // Not defined.
                (None, _) => true,
                _ => false,
            };
        }
        is_met |= all;
    }
    query.retain(|(name, value)| !(keys.contains(name) && value.contains(SECRET)));
    if is_met { Ok(keys) } else { Err("no security requirement is met".to_owned()) }
}

fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_lowercase()
}

fn body(
    document: &Document,
    operation: &Operation,
    request: &Request,
    items: &mut Vec<Item>,
) -> Result<(), String> {
    let Some(described) = &operation.body else {
        return match request.body.is_empty() {
            true => Ok(()),
            false => Err("a body that nobody declares".to_owned()),
        };
    };
    let Some(sent) = request.header("content-type") else {
        return match request.body.is_empty() && described["required"] != true {
            true => Ok(()),
            false => Err("no content type".to_owned()),
        };
    };
    let content = described["content"].as_object().ok_or("no content")?;
    let matches = |media: &str, exactly: bool| {
        let (media, sent) = (essence(media), essence(sent));
        media == sent
            || (!exactly
                && (media == "*/*"
                    || media.split_once("/*").is_some_and(|(kind, _)| sent.starts_with(kind))))
    };
    let find = |exactly| content.iter().find(|(media, _)| matches(media, exactly));
    let (_, described) =
        find(true).or_else(|| find(false)).ok_or_else(|| format!("{sent} is not declared"))?;
    let plain = json!({});
    let schema = if described["schema"].is_null() { &plain } else { &described["schema"] };
    let media = essence(sent);
    let is_object = kind(document, schema) == Kind::Object;
    let whole = |got| Item { place: "body", name: "body".to_owned(), got };
    if media.ends_with("json") || (media == "application/octet-stream" && is_object) {
        let value: Value =
            serde_json::from_slice(&request.body).map_err(|error| format!("no JSON: {error}"))?;
        if let Some(why) = refused(document, schema, &value, Way::Request) {
            return Err(format!("the body: {why}"));
        }
        items.push(whole(Got::Json(value)));
    } else if media == "application/x-www-form-urlencoded" {
        let text = std::str::from_utf8(&request.body).map_err(|error| error.to_string())?;
        fields(document, schema, &described["encoding"], pairs(text), None, items)?;
    } else if media == "multipart/form-data" {
        let parts = parts::read(sent, &request.body)?;
        let texts = parts.iter().map(|part| (part.name.clone(), part.text.clone())).collect();
        fields(document, schema, &described["encoding"], texts, Some(&parts), items)?;
    } else {
        let file = File { bytes: request.body.clone(), filename: None, media: Some(media) };
        items.push(whole(Got::Files(vec![file])));
    }
    Ok(())
}

/// The fields of a form or of parts, by the rules of OpenAPI 3.1.1 (4.8.15).
fn fields(
    document: &Document,
    schema: &Value,
    encodings: &Value,
    mut pairs: Pairs,
    parts: Option<&[parts::Part]>,
    items: &mut Vec<Item>,
) -> Result<(), String> {
    let is_encoded = parts.is_none();
    let mut whole = serde_json::Map::new();
    let anything = json!({});
    let mut names = declared(document, schema);
    // Required, and described nowhere.
    let required = document.deref(schema)["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    for name in names {
        let member = member(document, schema, &name).unwrap_or(&anything);
        let encoding = &encodings[&name];
        let has_style =
            ["style", "explode", "allowReserved"].iter().any(|w| !encoding[*w].is_null());
        let has_style = has_style && (is_encoded || !document.is_3_0());
        if let Some(parts) = parts
            && is_file(document, member)
        {
            let own = parts.iter().filter(|part| part.name == name);
            let files: Vec<File> = own
                .map(|part| File {
                    bytes: part.bytes.clone(),
                    filename: part.filename.clone(),
                    media: part.media.clone(),
                })
                .collect();
            pairs.retain(|(other, _)| *other != name);
            if !files.is_empty() {
                let expected = encoding["contentType"].as_str().filter(|m| !m.contains([',', '*']));
                if let Some(file) =
                    files.iter().find(|f| expected.is_some() && f.media.as_deref() != expected)
                {
                    return Err(format!("`{name}` is {:?}, not {expected:?}", file.media));
                }
                items.push(Item { place: "body", name: name.clone(), got: Got::Files(files) });
                whole.insert(name, json!("(a file)"));
            }
            continue;
        }
        let found = if has_style {
            let style = Style::of(encoding, "form");
            take(document, &name, member, &style, is_encoded, &mut pairs)
        } else {
            // Repeated for a list; what is no scalar then is JSON.
            let style = Style { name: "form".to_owned(), explode: true };
            let is_list = kind(document, member) == Kind::List;
            let read = if is_list { json!({ "type": "array" }) } else { json!({}) };
            let found = take(document, &name, &read, &style, is_encoded, &mut pairs);
            let as_json = encoding["contentType"].as_str().is_some_and(|m| m.contains("json"));
            if let (Some(parts), Some(_)) = (parts, &found)
                && as_json
                && !is_list
            {
                let part = parts.iter().find(|part| part.name == name);
                if part.and_then(|part| part.media.as_deref()) != Some("application/json") {
                    return Err(format!("`{name}` is not marked as JSON"));
                }
            }
            let json_text = as_json && (!is_list || is_encoded);
            match found {
                Some(found) if json_text => {
                    let text = match &found {
                        Value::Array(items) => items.first().and_then(Value::as_str),
                        other => other.as_str(),
                    };
                    let value: Value = serde_json::from_str(text.unwrap_or_default())
                        .map_err(|error| format!("`{name}` is no JSON: {error}"))?;
                    items.push(Item {
                        place: "body",
                        name: name.clone(),
                        got: Got::Json(value.clone()),
                    });
                    whole.insert(name, value);
                    continue;
                }
                found => found,
            }
        };
        if let Some(found) = found {
            whole.insert(name.clone(), typed(document, member, &found));
            items.push(Item { place: "body", name, got: Got::Wire(found) });
        }
    }
    if let Some((name, _)) = pairs.first() {
        let open = schema_is_open(document, schema);
        if !open {
            return Err(format!("the field `{name}` is not declared"));
        }
        for (name, value) in pairs {
            let value = if is_encoded { decoded(&value) } else { value };
            items.push(Item { place: "body", name, got: Got::Wire(value.into()) });
        }
    }
    match refused_but_files(document, schema, &whole.into()) {
        Some(why) => Err(format!("the form: {why}")),
        None => Ok(()),
    }
}

/// Files have no value that a schema could judge.
fn refused_but_files(document: &Document, schema: &Value, whole: &Value) -> Option<String> {
    let why = refused(document, schema, whole, Way::Request)?;
    (!why.contains("(a file)")).then_some(why)
}

fn schema_is_open(document: &Document, schema: &Value) -> bool {
    let rest = document.deref(schema).get("additionalProperties");
    rest.is_some_and(|rest| *rest != Value::Bool(false))
}

/// Bytes: 3.0's `format: binary`, 3.1's `contentMediaType`.
fn is_file(document: &Document, schema: &Value) -> bool {
    let schema = document.deref(schema);
    let schema = if schema["type"] == "array" { document.deref(&schema["items"]) } else { schema };
    let by_media = schema["contentMediaType"].as_str().is_some_and(|media| {
        schema["contentEncoding"].is_null()
            && !media.starts_with("text/")
            && !media.contains("json")
    });
    schema["format"] == "binary" || by_media
}
