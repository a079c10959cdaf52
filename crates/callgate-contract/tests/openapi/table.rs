//! Tables of facts: what of a document becomes what of a contract.

use callgate_contract::{
    catalog::ToolFile,
    import::openapi::{Import, Options, Outcome, Unreadable, import, read},
};
use serde_json::{Value, json};

fn document(version: &str, paths: Value, components: Value) -> Value {
    json!({
        "openapi": version,
        "info": {"title": "T", "version": "1.2.3"},
        "servers": [{"url": "https://a.example/v1"}],
        "paths": paths,
        "components": components,
    })
}

fn imported(document: &Value) -> Import {
    let import = import(document, &Options::default()).unwrap();
    super::holds(&import, &document.to_string());
    import
}

/// The one operation of a document of 3.0.
fn one(operation: Value, components: Value) -> Import {
    at("/x", "post", operation, components)
}

fn at(path: &str, method: &str, operation: Value, components: Value) -> Import {
    imported(&document("3.0.3", json!({path: {method: operation}}), components))
}

fn file(import: &Import) -> &ToolFile {
    import.files.first().unwrap_or_else(|| panic!("{:#?}", import.report))
}

fn skipped(import: &Import) -> String {
    let (skipped, _) =
        import.report.skipped().next().unwrap_or_else(|| panic!("{:?}", import.files));
    skipped.to_string()
}

fn parameter(place: &str, name: &str, more: Value) -> Value {
    let mut parameter = json!({"name": name, "in": place, "required": place == "path"});
    for (key, value) in more.as_object().unwrap() {
        parameter[key] = value.clone();
    }
    parameter
}

fn json_body(schema: Value) -> Value {
    json!({"required": true, "content": {"application/json": {"schema": schema}}})
}

#[test]
fn documents_that_are_none() {
    let rows = [
        ("openapi: 3.0.0", "line 1, column 1: this is no JSON"),
        ("[]", "is a JSON object"),
        ("{\"swagger\": \"2.0\"}", "this is Swagger 2.0, not OpenAPI 3"),
        ("{}", "`openapi` is absent"),
        ("{\"openapi\": 3.0}", "`openapi` is 3.0"),
        ("{\"openapi\": \"4.0.0\", \"paths\": {}}", "`openapi` is \"4.0.0\""),
        ("{\"openapi\": \"3.1.0\"}", "no `paths` object"),
    ];
    for (text, expected) in rows {
        let error = read(text, &Options::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let mut deep = json!({});
    for _ in 0..200 {
        deep = json!({"x": deep});
    }
    let deep = json!({"openapi": "3.0.0", "paths": deep});
    assert_eq!(import(&deep, &Options::default()).unwrap_err(), Unreadable::TooDeep);
}

#[test]
fn methods_and_annotations() {
    let rows = [
        ("get", [true, true, false]),
        ("head", [true, true, false]),
        ("post", [false, false, false]),
        ("patch", [false, false, false]),
        ("put", [false, true, false]),
        ("delete", [false, true, true]),
        ("options", [true, true, false]),
    ];
    for (method, expected) in rows {
        let import = at("/x", method, json!({}), json!({}));
        let file = file(&import);
        let got = file.annotations;
        assert_eq!([got.read_only, got.idempotent, got.destructive], expected, "{method}");
        assert_eq!(file.backend["http"]["method"], method.to_uppercase());
        assert_eq!(file.name, format!("{method}_x"));
        assert_eq!(file.description.as_deref(), Some(&*format!("{} /x", method.to_uppercase())));
        assert_eq!(file.version.as_deref(), Some("1.2.3"));
    }
    let import = at("/x", "trace", json!({}), json!({}));
    assert!(skipped(&import).contains("has no method"));
}

#[test]
fn parameters_find_their_place() {
    let list = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}});
    let object = json!({"type": "object", "properties": {
        "gt": {"type": "integer"}, "in": {"type": "array", "items": {"type": "string"}},
        "by": {"type": "object", "properties": {"x": {"type": "string"}}}}});
    let flat = json!({"type": "object", "properties": {"r": {"type": "integer"}, "g": {}}});
    let string = json!({"type": "string"});
    // Parameter, the http object but for method and url.
    let rows = [
        (parameter("query", "q", json!({"schema": string})), json!({"query": {"q": "{q}"}})),
        (parameter("query", "q", json!({"schema": list})), json!({"query": {"q": "{q}"}})),
        (
            parameter("query", "q", json!({"schema": list, "explode": false})),
            json!({"query": {"q": {"value": "{q}", "style": "form", "explode": false}}}),
        ),
        (
            parameter("query", "q", json!({"schema": list, "style": "pipeDelimited"})),
            json!({"query": {"q": {"value": "{q}", "style": "pipeDelimited"}}}),
        ),
        (
            parameter(
                "query",
                "q",
                json!({"schema": list, "style": "spaceDelimited", "explode": true}),
            ),
            json!({"query": {"q": "{q}"}}),
        ),
        (
            parameter("query", "f[x]", json!({"schema": string})),
            json!({"query": {"f[x]": "{f_x}"}}),
        ),
        (
            parameter("query", "q", json!({"schema": list, "style": "deepObject"})),
            json!({"query": {"q": {"value": "{q}", "style": "deepObject"}}}),
        ),
        (
            parameter(
                "query",
                "q",
                json!({"schema": object, "style": "deepObject", "explode": true}),
            ),
            json!({"query": {"q": {"value": "{q}", "style": "deepObject", "explode": true}}}),
        ),
        (
            parameter("query", "q", json!({"schema": flat})),
            json!({"query": {"q": {"value": "{q}", "style": "form"}}}),
        ),
        (
            parameter("query", "q", json!({"schema": flat, "explode": false})),
            json!({"query": {"q": {"value": "{q}", "style": "form", "explode": false}}}),
        ),
        (
            parameter("query", "q", json!({"schema": {}})),
            json!({"query": {"q": {"value": "{q}", "style": "form"}}}),
        ),
        (
            parameter("query", "q", json!({"content": {"application/json": {"schema": object}}})),
            json!({"query": {"q": {"value": "{q}", "style": "json"}}}),
        ),
        (
            parameter("header", "X-Id", json!({"schema": string})),
            json!({"headers": {"X-Id": "{X-Id}"}}),
        ),
        (
            parameter("header", "X-Id", json!({"schema": flat, "explode": true})),
            json!({"headers": {"X-Id": {"value": "{X-Id}", "style": "simple", "explode": true}}}),
        ),
        (parameter("cookie", "c", json!({"schema": string})), json!({"cookies": {"c": "{c}"}})),
        (
            parameter("cookie", "c", json!({"schema": list, "explode": false})),
            json!({"cookies": {"c": {"value": "{c}", "style": "simple"}}}),
        ),
    ];
    for (parameter, expected) in rows {
        let import = one(json!({"parameters": [parameter]}), json!({}));
        let mut http = file(&import).backend["http"].clone();
        let members = http.as_object_mut().unwrap();
        members.remove("method");
        assert_eq!(members.remove("url").unwrap(), "https://a.example/v1/x");
        assert_eq!(http, expected, "{parameter}");
    }
    // Those that cannot be sent: left out where they are optional, else the operation goes.
    let rows = [
        parameter("cookie", "q", json!({"schema": list})),
        parameter("cookie", "q", json!({"schema": flat})),
        parameter("cookie", "a b", json!({"schema": string})),
        parameter("header", "a b", json!({"schema": string})),
    ];
    for mut parameter in rows {
        let import = one(json!({"parameters": [parameter]}), json!({}));
        assert_eq!(file(&import).input["properties"], json!({}), "{parameter}");
        assert!(import.report.operations[0].notes[0].message.contains("left out"));
        parameter["required"] = json!(true);
        let import = one(json!({"parameters": [parameter]}), json!({}));
        assert!(skipped(&import).contains("cannot be sent"), "{parameter}");
    }
}

#[test]
fn members_that_are_parameters_do_not_meet_others() {
    let flat = json!({"type": "object", "properties": {"r": {"type": "integer"}, "g": {}}});
    let parameters = json!([
        parameter("query", "r", json!({"schema": {"type": "string"}})),
        parameter("query", "q", json!({"schema": flat})),
    ]);
    let import = one(json!({"parameters": parameters}), json!({}));
    assert_eq!(file(&import).backend["http"]["query"], json!({"r": "{r}"}));
    assert!(import.report.operations[0].notes[0].message.contains("a name that it needs"));
}

#[test]
fn paths() {
    let rows = [
        ("/a/{id}", "simple", json!("https://a.example/v1/a/{id}")),
        ("/a/{id}.json", "simple", json!("https://a.example/v1/a/{id}.json")),
        ("/a/{id*}", "simple", json!("https://a.example/v1/a/{id}")),
        ("/a/${id}", "simple", json!("https://a.example/v1/a/%24{id}")),
        ("/a/{id}#part", "simple", json!("https://a.example/v1/a/{id}")),
        ("a/{id}/{", "simple", json!("https://a.example/v1/a/{id}/{{")),
    ];
    for (path, style, expected) in rows {
        let id = parameter("path", "id", json!({"style": style, "schema": {"type": "string"}}));
        let import = at(path, "get", json!({"parameters": [id]}), json!({}));
        let file = file(&import);
        assert_eq!(file.backend["http"]["url"], expected, "{path}");
        assert_eq!(file.input["required"], json!(["id"]));
        // An empty segment would lead elsewhere.
        assert_eq!(file.input["properties"]["id"], json!({"type": "string", "minLength": 1}));
    }
    let list = json!({"type": "array", "items": {"type": "string"}});
    let rows = [
        (json!({"schema": list}), json!({"style": "simple"})),
        (json!({"schema": list, "explode": true}), json!({"style": "simple", "explode": true})),
        (json!({"schema": {"type": "object"}}), json!({"style": "simple"})),
        (json!({"schema": {"type": "string"}, "style": "label"}), json!({"style": "label"})),
        (
            json!({"schema": list, "style": "matrix", "explode": true}),
            json!({"style": "matrix", "explode": true}),
        ),
    ];
    for (more, expected) in rows {
        let id = parameter("path", "id", more.clone());
        let import = at("/a/{id}", "get", json!({"parameters": [id]}), json!({}));
        let file = file(&import);
        assert_eq!(file.backend["http"]["path"], json!({"id": expected}), "{more}");
        if more["schema"] == list {
            assert_eq!(file.input["properties"]["id"]["minItems"], 1);
        }
    }
    // Not declared, and declared for nothing.
    let import = at(
        "/a/{id}",
        "get",
        json!({"parameters": [parameter("path", "no", json!({}))]}),
        json!({}),
    );
    let file = file(&import);
    assert_eq!(file.input["properties"], json!({"id": {"type": "string", "minLength": 1}}));
    assert_eq!(file.input["required"], json!(["id"]));
    assert_eq!(
        import.report.operations[0].notes.len(),
        3,
        "{:?}",
        import.report.operations[0].notes
    );
}

#[test]
fn an_operation_s_parameter_wins_over_the_path_s() {
    let path = json!({
        "parameters": [parameter("query", "q", json!({"schema": {"type": "string"}})),
            parameter("path", "id", json!({"schema": {"type": "integer"}}))],
        "get": {"parameters": [parameter("query", "q", json!({"schema": {"type": "boolean"}}))]},
    });
    let import = imported(&document("3.1.0", json!({"/a/{id}": path}), json!({})));
    let expected = json!({"q": {"type": "boolean"}, "id": {"type": "integer"}});
    assert_eq!(file(&import).input["properties"], expected);
}

#[test]
fn bodies() {
    let string = json!({"type": "string"});
    let pet = json!({"type": "object", "required": ["name"], "properties": {
        "id": {"type": "integer", "readOnly": true}, "name": string, "tag": string}});
    let q = parameter("query", "q", json!({"schema": string}));
    let name = parameter("query", "name", json!({"schema": string}));
    let body = parameter("query", "body", json!({"schema": string}));
    let whole = json!("{body}");
    // Parameters, body schema, body template, required, and which arguments there are.
    let rows = [
        (json!([]), pet.clone(), json!("arguments"), json!(["name"]), vec!["name", "tag"]),
        (
            json!([q]),
            pet.clone(),
            json!({"name": "{name}", "tag": "{tag}"}),
            json!(["name"]),
            vec!["q", "name", "tag"],
        ),
        (json!([name]), pet.clone(), whole.clone(), json!(["body"]), vec!["name", "body"]),
        (
            json!([name, body]),
            pet.clone(),
            json!("{request_body}"),
            json!(["request_body"]),
            vec!["name", "body", "request_body"],
        ),
        (
            json!([]),
            json!({"type": "array", "items": string}),
            whole.clone(),
            json!(["body"]),
            vec!["body"],
        ),
        (json!([]), json!({"type": "object"}), whole.clone(), json!(["body"]), vec!["body"]),
        (
            json!([]),
            json!({"type": "object", "properties": {"a": string}, "additionalProperties": string}),
            whole.clone(),
            json!(["body"]),
            vec!["body"],
        ),
        (json!([]), json!({"oneOf": [pet, string]}), whole, json!(["body"]), vec!["body"]),
        (
            json!([]),
            json!({"allOf": [pet, {"properties": {"x": string}, "required": ["x", "id"]}]}),
            json!("arguments"),
            json!(["name", "x"]),
            vec!["name", "tag", "x"],
        ),
        (
            json!([]),
            json!({"properties": {"a b": string, "{}": string}}),
            json!({"a b": "{a_b}", "{}": "{value}"}),
            Value::Null,
            vec!["a_b", "value"],
        ),
    ];
    for (parameters, schema, template, required, arguments) in rows {
        let operation = json!({"parameters": parameters, "requestBody": json_body(schema.clone())});
        let import = one(operation, json!({}));
        let file = file(&import);
        assert_eq!(file.backend["http"]["body"], template, "{schema}");
        let got = file.input.get("required").cloned().unwrap_or_default();
        assert_eq!(got, required, "{schema}");
        let got: Vec<&String> = file.input["properties"].as_object().unwrap().keys().collect();
        assert_eq!(got, arguments, "{schema}");
        assert_eq!(file.input["additionalProperties"], false);
    }
}

#[test]
fn bodies_of_other_kinds() {
    let content = |media: &str| json!({"content": {media: {"schema": {"properties": {"a": {}}}}}});
    let rows = [
        ("application/vnd.api+json", Some("application/vnd.api+json")),
        ("application/merge-patch+json", Some("application/merge-patch+json")),
        ("*/*", None),
        ("application/json; charset=utf-8", None),
    ];
    for (media, expected) in rows {
        let import = one(json!({"requestBody": content(media)}), json!({}));
        let header = file(&import).backend["http"].pointer("/headers/Content-Type");
        assert_eq!(header.and_then(Value::as_str), expected, "{media}");
    }
    // Nothing is lost where there is nothing to send.
    let import = at("/x", "get", json!({"requestBody": content("application/json")}), json!({}));
    assert_eq!(file(&import).backend["http"].get("body"), None);
    let import = at("/x", "get", json!({"requestBody": json_body(json!({}))}), json!({}));
    assert!(skipped(&import).contains("GET with a body"));
}

/// The http object but for method and URL, and the arguments.
fn sent(body: Value, version: &str) -> (Value, Value) {
    let operation = json!({"requestBody": body, "parameters":
        [parameter("query", "q", json!({"schema": {"type": "string"}}))]});
    let import = imported(&document(version, json!({"/x": {"post": operation}}), json!({})));
    let file = file(&import);
    let mut http = file.backend["http"].clone();
    http.as_object_mut().unwrap().retain(|name, _| !["method", "url", "query"].contains(&&**name));
    let mut input = Value::Object(file.input.clone());
    input["properties"].as_object_mut().unwrap().shift_remove("q");
    (http, input)
}

#[test]
fn forms_and_parts() {
    let string = json!({"type": "string"});
    let list = json!({"type": "array", "items": string});
    let object = json!({"type": "object", "properties": {"a": string}});
    let of = |value: &str| json!(value);
    let styled = |style: &str| json!({"value": "{m}", "style": style});
    let deep = json!({"style": "deepObject", "explode": true});
    let exploded = json!({"value": "{m}", "style": "deepObject", "explode": true});
    let json_type = json!({"contentType": "application/json"});
    // Member, encoding, and its value in a form, in parts of 3.0 and in parts of 3.1.
    let rows = [
        (string.clone(), json!(null), of("{m}"), of("{m}"), of("{m}")),
        (string.clone(), deep.clone(), of("{m}"), of("{m}"), of("{m}")),
        (list.clone(), json!(null), of("{m}"), of("{m}"), of("{m}")),
        (list.clone(), deep.clone(), exploded.clone(), of("{m}"), exploded.clone()),
        (
            list.clone(),
            json!({"style": "form", "explode": false}),
            json!({"value": "{m}", "style": "form", "explode": false}),
            of("{m}"),
            json!({"value": "{m}", "style": "form", "explode": false}),
        ),
        (object.clone(), json!(null), of("{m}"), of("{m}"), of("{m}")),
        (object.clone(), deep, exploded.clone(), of("{m}"), exploded),
        (object, json!({"explode": true}), styled("form"), of("{m}"), styled("form")),
        (list, json_type.clone(), styled("json"), of("{m}"), of("{m}")),
        (string.clone(), json_type, of("{m}"), styled("json"), styled("json")),
        (
            string,
            json!({"contentType": "text/csv"}),
            of("{m}"),
            json!({"text": "{m}", "contentType": "text/csv"}),
            json!({"text": "{m}", "contentType": "text/csv"}),
        ),
    ];
    for (member, encoding, form, parts_3_0, parts_3_1) in rows {
        let body = |media: &str| {
            let schema = json!({"type": "object", "properties": {"m": member}});
            let mut content = json!({"schema": schema});
            if !encoding.is_null() {
                content["encoding"] = json!({"m": encoding});
            }
            json!({"required": true, "content": {media: content}})
        };
        let (url, multipart) = ("application/x-www-form-urlencoded", "multipart/form-data");
        let told = format!("{member} {encoding}");
        let (http, input) = sent(body(url), "3.0.3");
        assert_eq!(http, json!({"form": {"m": form}}), "{told}");
        assert_eq!(input["properties"], json!({"m": member}));
        let (http, _) = sent(body(multipart), "3.0.3");
        assert_eq!(http, json!({"multipart": {"m": parts_3_0}}), "{told}");
        let (http, _) = sent(body(multipart), "3.1.0");
        assert_eq!(http, json!({"multipart": {"m": parts_3_1}}), "{told}");
    }
    // Of an empty list nothing would arrive; what nobody describes is anything.
    let schema = json!({"properties": {"m": {"type": "array", "items": {"type": "string"}}}, "required": ["m", "n"]});
    let body = json!({"content": {"application/x-www-form-urlencoded": {"schema": schema}}});
    let (http, input) = sent(body, "3.0.3");
    assert_eq!(http, json!({"form": {"m": "{m}", "n": "{n}"}}));
    assert_eq!(input["required"], json!(["m", "n"]));
    assert_eq!(input["properties"]["m"]["minItems"], 1);
    // Names of parameters stay theirs.
    let schema = json!({"properties": {"q": {"type": "string"}, "a[b]": {"type": "string"}}});
    let body = json!({"content": {"application/x-www-form-urlencoded": {"schema": schema}}});
    assert_eq!(sent(body, "3.0.3").0, json!({"form": {"q": "{body_q}", "a[b]": "{a_b}"}}));
    // Without names of its own, an object's members are the fields.
    let schema = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let body = json!({"required": true, "content": {"application/x-www-form-urlencoded": {"schema": schema}}});
    let (http, input) = sent(body, "3.0.3");
    assert_eq!(http, json!({"form": {"body": {"value": "{body}", "style": "form"}}}));
    assert_eq!(input["properties"], json!({"body": schema}));
    let body = json!({"required": true, "content": {"multipart/form-data": {"schema": {"type": "string"}}}});
    let import = one(json!({"requestBody": body}), json!({}));
    assert!(skipped(&import).contains("what its fields are"));
}

#[test]
fn files_and_bodies_as_they_are() {
    let binary = json!({"type": "string", "format": "binary", "description": "d"});
    let schema = json!({"properties": {"f": binary, "l": {"type": "array", "items": binary},
        "b": {"type": "string", "format": "byte"}}});
    let encoding = json!({"f": {"contentType": "text/csv"}});
    let body =
        json!({"content": {"multipart/form-data": {"schema": schema, "encoding": encoding}}});
    let (http, input) = sent(body, "3.0.3");
    let parts =
        json!({"f": {"file": "{f}", "contentType": "text/csv"}, "l": {"file": "{l}"}, "b": "{b}"});
    assert_eq!(http, json!({"multipart": parts}));
    let file = &input["properties"]["f"];
    assert_eq!(file["oneOf"], json!([{"required": ["text"]}, {"required": ["base64"]}]));
    assert_eq!(file["description"], "d");
    assert_eq!(input["properties"]["l"]["items"]["properties"], file["properties"]);
    // Media, schema, raw body, type of the argument.
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let rows = [
        ("text/plain", json!({"type": "string"}), "text", "string"),
        ("text/xml", object.clone(), "text", "string"),
        ("image/png", binary.clone(), "base64", "string"),
        ("application/octet-stream", binary.clone(), "file", "object"),
        ("*/*", binary, "file", "object"),
    ];
    for (media, schema, source, kind) in rows {
        let (http, input) = sent(json!({"content": {media: {"schema": schema}}}), "3.0.3");
        let media = if media == "*/*" { "application/octet-stream" } else { media };
        assert_eq!(http, json!({"raw": {source: "{body}", "contentType": media}}));
        assert_eq!(input["properties"]["body"]["type"], kind, "{media}");
        assert_eq!(input.get("required"), None);
    }
    let body = json!({"required": true, "content": {"text/xml": {"schema": object}}});
    let (_, input) = sent(body, "3.0.3");
    assert_eq!(input["required"], json!(["body"]));
    let told = input["properties"]["body"]["description"].as_str().unwrap();
    assert!(told.ends_with("Its form: <root><a>string</a></root>"), "{told}");
    let body = json!({"content": {"application/octet-stream": {"schema": object}}});
    let (http, input) = sent(body, "3.0.3");
    assert_eq!(http["headers"], json!({"Content-Type": "application/octet-stream"}));
    assert_eq!(
        (&http["body"], &input["properties"]),
        (&json!({"a": "{a}"}), &object["properties"])
    );
}

#[test]
fn what_is_too_large_loses_its_words_first() {
    let words = "w".repeat(600 << 10);
    let inner =
        json!({"type": "object", "properties": {"a": {"type": "string", "description": words}}});
    let body = json_body(json!({"type": "object", "properties": {"m": inner}}));
    let import = one(json!({"requestBody": body}), json!({}));
    let expected = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    assert_eq!(file(&import).input["properties"]["m"], expected);
    assert!(import.report.operations[0].notes[0].message.contains("descriptions"));
    let large: Vec<String> = (0..60_000).map(|i| format!("value {i}")).collect();
    let body = json_body(json!({"type": "object", "properties": {"m": {"enum": large}}}));
    let import = one(json!({"requestBody": body}), json!({}));
    assert!(skipped(&import).contains("more than 524288 bytes"));
}

#[test]
fn credentials_are_no_arguments() {
    let schemes = json!({"securitySchemes": {
        "bearerAuth": {"type": "http", "scheme": "Bearer"},
        "basic": {"type": "http", "scheme": "basic"},
        "oauth": {"type": "oauth2", "flows": {}},
        "digest": {"type": "http", "scheme": "digest"},
        "api_key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "query_key": {"type": "apiKey", "in": "query", "name": "key"},
        "session": {"type": "apiKey", "in": "cookie", "name": "sid"},
    }});
    let rows = [
        (json!([]), json!({})),
        (json!([{}]), json!({})),
        (json!([{"bearerAuth": []}]), json!({"auth": {"bearer": "${API_BEARER_AUTH}"}})),
        (json!([{"oauth": ["x"]}]), json!({"auth": {"bearer": "${API_OAUTH}"}})),
        (
            json!([{"basic": []}]),
            json!({"auth": {"basic": {"username": "${API_BASIC_USERNAME}", "password": "${API_BASIC_PASSWORD}"}}}),
        ),
        (json!([{"digest": []}, {"api_key": []}]), json!({"headers": {"X-Key": "${API_KEY}"}})),
        (
            json!([{"api_key": [], "query_key": []}]),
            json!({"headers": {"X-Key": "${API_KEY}"}, "query": {"key": "${API_QUERY_KEY}"}}),
        ),
        (json!([{"session": []}]), json!({"cookies": {"sid": "${API_SESSION}"}})),
        // One header has one token.
        (
            json!([{"bearerAuth": [], "oauth": []}]),
            json!({"auth": {"bearer": "${API_BEARER_AUTH}"}}),
        ),
    ];
    for (security, expected) in rows {
        let import = one(json!({"security": security}), schemes.clone());
        let mut http = file(&import).backend["http"].clone();
        http.as_object_mut().unwrap().retain(|name, _| name != "method" && name != "url");
        assert_eq!(http, expected, "{security}");
        let told = import.report.environment.iter();
        let told: Vec<String> = told.map(|v| format!("${{{}}}", v.name)).collect();
        let uses = expected.to_string().matches("${").count();
        assert_eq!(told.len(), uses, "{security}");
        assert!(told.iter().all(|name| expected.to_string().contains(name)), "{told:?}");
    }
    let import = one(json!({"security": [{"digest": []}, {"digest": []}]}), schemes.clone());
    let why = skipped(&import);
    assert_eq!(why.matches("`digest` is HTTP digest").count(), 1, "{why}");
    let import = one(json!({"security": [{"oauth": [], "basic": []}]}), schemes);
    assert!(skipped(&import).contains("two of its schemes want the Authorization header"));
}

#[test]
fn a_key_that_is_a_parameter_as_well_is_no_argument() {
    let schemes =
        json!({"securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": "key"}}});
    let parameters = json!([parameter("query", "key", json!({"schema": {"type": "string"}}))]);
    let import = one(json!({"security": [{"k": []}], "parameters": parameters}), schemes);
    assert_eq!(file(&import).backend["http"]["query"], json!({"key": "${API_K}"}));
    assert_eq!(file(&import).input["properties"], json!({}));
}

#[test]
fn parameters_that_are_credentials() {
    for (place, name, reference) in [
        ("header", "Authorization", "${API_AUTHORIZATION}"),
        ("header", "X-API-Key", "${API_X_API_KEY}"),
        ("query", "access_token", "${API_ACCESS_TOKEN}"),
    ] {
        let part = if place == "query" { "query" } else { "headers" };
        let more = json!({"required": true, "schema": {"type": "string"}});
        let import = one(json!({"parameters": [parameter(place, name, more)]}), json!({}));
        assert_eq!(file(&import).backend["http"][part][name], reference);
        assert_eq!(file(&import).input["properties"], json!({}));
        let import = one(json!({"parameters": [parameter(place, name, json!({}))]}), json!({}));
        assert_eq!(file(&import).backend["http"].get(part), None);
    }
}

#[test]
fn schemas_of_3_0() {
    let rows = [
        (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (
            json!({"type": "string", "enum": ["a"], "nullable": true}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        ),
        (
            json!({"allOf": [{"$ref": "#/components/schemas/N"}], "nullable": true, "description": "d"}),
            json!({"description": "d", "anyOf": [{"allOf": [{"type": "integer"}]}, {"type": "null"}]}),
        ),
        (
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}),
            json!({"type": "integer", "exclusiveMinimum": 1, "maximum": 9}),
        ),
        (json!({"type": "string", "example": "e"}), json!({"type": "string", "examples": ["e"]})),
        (
            json!({"$ref": "#/components/schemas/N", "description": "d", "maximum": 3}),
            json!({"type": "integer", "description": "d"}),
        ),
        (
            json!({"oneOf": [{"type": "string"}], "discriminator": {"propertyName": "k"}, "xml": {}, "x-y": 1}),
            json!({"oneOf": [{"type": "string"}]}),
        ),
        (json!({"type": "file"}), json!({"type": "string"})),
        (json!({"type": "uuid", "pattern": "("}), json!({})),
        (
            json!({"type": "object", "required": ["id", "a"], "properties": {
                "id": {"readOnly": true}, "a": {"type": "string", "writeOnly": true}}}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
        ),
    ];
    let components = json!({"schemas": {"N": {"type": "integer"}}});
    for (schema, expected) in rows {
        let body = json_body(json!({"type": "object", "properties": {"v": schema}}));
        let import = one(json!({"requestBody": body}), components.clone());
        assert_eq!(file(&import).input["properties"]["v"], expected, "{schema}");
    }
}

#[test]
fn schemas_of_3_1_keep_what_stands_beside_a_reference() {
    let components = json!({"schemas": {"N": {"type": "integer", "minimum": 1}}});
    let rows = [
        (
            json!({"$ref": "#/components/schemas/N", "maximum": 3}),
            json!({"type": "integer", "minimum": 1, "maximum": 3}),
        ),
        (
            json!({"$ref": "#/components/schemas/N", "minimum": 3}),
            json!({"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3}]}),
        ),
        (
            json!({"type": ["string", "null"], "examples": ["a"]}),
            json!({"type": ["string", "null"], "examples": ["a"]}),
        ),
        (json!({"exclusiveMinimum": 2, "const": 3}), json!({"exclusiveMinimum": 2, "const": 3})),
        (json!({"$ref": "#/components/schemas/M/$defs/a%20b"}), json!({})),
    ];
    for (schema, expected) in rows {
        let body = json_body(json!({"type": "object", "properties": {"v": schema}}));
        let mut components = components.clone();
        components["schemas"]["M"] = json!({"$defs": {"a b": {}}});
        let paths = json!({"/x": {"post": {"requestBody": body}}});
        let import = imported(&document("3.1.0", paths, components));
        assert_eq!(file(&import).input["properties"]["v"], expected, "{schema}");
    }
}

#[test]
fn cycles_stand_under_defs() {
    let components = json!({"schemas": {
        "Node": {"type": "object", "properties": {
            "next": {"$ref": "#/components/schemas/Node"}, "leaf": {"$ref": "#/components/schemas/Leaf"}}},
        "Leaf": {"type": "integer"},
    }});
    let node = json!({"type": "object", "properties": {
        "next": {"$ref": "#/$defs/Node"}, "leaf": {"type": "integer"}}});
    let reference = json!({"$ref": "#/components/schemas/Node"});
    let responses =
        json!({"200": {"description": "", "content": {"application/json": {"schema": reference}}}});
    let import =
        one(json!({"requestBody": json_body(reference), "responses": responses}), components);
    let file = file(&import);
    assert_eq!(file.input["properties"], node["properties"]);
    assert_eq!(file.input["$defs"], json!({"Node": node}));
    assert_eq!(file.output, Some(json!({"$ref": "#/$defs/Node", "$defs": {"Node": node}})));
}

#[test]
fn outputs() {
    let content = |schema: Value| json!({"description": "", "content": {"application/json": {"schema": schema}}});
    let (a, b) = (
        json!({"type": "string"}),
        json!({"type": "object", "required": ["p", "q"],
        "properties": {"p": {"writeOnly": true}, "q": {"readOnly": true}}}),
    );
    let shown = json!({"type": "object", "required": ["q"], "properties": {"q": {}}});
    let empty = json!({"description": ""});
    let rows = [
        (json!({"200": content(a.clone())}), Some(a.clone())),
        (json!({"200": content(b), "404": content(json!({"type": "null"}))}), Some(shown)),
        (
            json!({"200": content(a.clone()), "204": empty}),
            Some(json!({"anyOf": [a, {"type": "null"}]})),
        ),
        // No content there, whatever the document says.
        (
            json!({"200": content(a.clone()), "204": content(a.clone())}),
            Some(json!({"anyOf": [a, {"type": "null"}]})),
        ),
        (json!({"2XX": content(a.clone())}), Some(a.clone())),
        (json!({"204": empty}), None),
        (json!({"default": content(a.clone())}), None),
        (json!({"200": {"content": {"text/plain": {}}}, "201": content(a.clone())}), None),
        (json!({"200": content(json!({}))}), None),
        (json!({"200": {"$ref": "#/components/responses/No"}}), None),
        (json!({"200": content(json!({"$ref": "other.json#/X"}))}), None),
    ];
    for (responses, expected) in rows {
        let import = one(json!({"responses": responses}), json!({}));
        assert_eq!(file(&import).output, expected, "{responses}");
    }
    let document =
        document("3.0.0", json!({"/x": {"get": {"responses": {"200": content(a)}}}}), json!({}));
    let without = Options { output: false, ..Options::default() };
    assert_eq!(import(&document, &without).unwrap().files[0].output, None);
}

#[test]
fn one_bad_operation_never_costs_the_rest() {
    let external = json_body(json!({"$ref": "https://other.example/pet.json"}));
    let dangling = json_body(json!({"properties": {"a": {"$ref": "#/components/schemas/No"}}}));
    let circular = json!({"/c": {"$ref": "#/components/pathItems/c"}});
    let mut paths = json!({
        "/ok": {"get": {"operationId": "ok"}},
        "/external": {"post": {"requestBody": external}},
        "/dangling": {"post": {"requestBody": dangling}},
        "/number": 5,
        "/list": {"get": []},
        "/file": {"$ref": "paths.json#/file"},
        "/parameters": {"get": {"parameters": [5, {"in": "query"}, {"name": "a", "in": "body"}]}},
    });
    paths["/c"] = circular["/c"].clone();
    let components = json!({"pathItems": {"c": {"$ref": "#/components/pathItems/c"}}});
    let import = imported(&document("3.1.0", paths, components));
    let got: Vec<(&str, &str)> = import
        .report
        .operations
        .iter()
        .map(|operation| match &operation.outcome {
            Outcome::Imported(name) => (&*operation.path, &**name),
            Outcome::Skipped(skipped) => (&*operation.path, &*skipped.pointer),
        })
        .collect();
    let schema = "/requestBody/content/application~1json/schema";
    assert_eq!(
        got,
        [
            ("/ok", "ok"),
            ("/external", &*format!("/paths/~1external/post{schema}/$ref")),
            ("/dangling", &*format!("/paths/~1dangling/post{schema}/properties/a/$ref")),
            ("/number", "/paths/~1number"),
            ("/list", "/paths/~1list/get"),
            ("/file", "/paths/~1file/$ref"),
            ("/parameters", "get_parameters"),
            ("/c", "/components/pathItems/c"),
        ]
    );
    // The report is a document of its own.
    let report = serde_json::to_value(&import.report).unwrap();
    assert_eq!(report["operations"][0]["imported"], "ok");
    let why = report["operations"][1]["skipped"]["why"].as_str().unwrap();
    assert!(why.contains("nothing is fetched"), "{why}");
}

#[test]
fn the_base_url() {
    let relative =
        json!({"openapi": "3.0.0", "servers": [{"url": "/v2"}], "paths": {"/x": {"get": {}}}});
    let import = imported(&relative);
    assert_eq!(file(&import).backend["http"]["url"], "${API_BASE_URL}/v2/x");
    assert_eq!(import.report.environment[0].name, "API_BASE_URL");
    let options =
        Options { base_url: Some("http://127.0.0.1:9/".to_owned()), ..Options::default() };
    let import = callgate_contract::import::openapi::import(&relative, &options).unwrap();
    assert_eq!(file(&import).backend["http"]["url"], "http://127.0.0.1:9/x");
    assert!(import.report.environment.is_empty());
    let options = Options { env_prefix: "My Shop".to_owned(), ..Options::default() };
    let import = callgate_contract::import::openapi::import(&relative, &options).unwrap();
    assert_eq!(file(&import).backend["http"]["url"], "${MY_SHOP_BASE_URL}/v2/x");
}
