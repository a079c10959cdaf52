//! Bodies that are no JSON, and values in OpenAPI's styles.

use super::*;

async fn sent(server: &Server, spec: Value, arguments: &str) -> (String, Value) {
    let mut spec = spec;
    spec["url"] = json!(server.url(spec["url"].as_str().unwrap_or("/")));
    if spec.get("method").is_none() {
        spec["method"] = json!("POST");
    }
    let invoked = call(&tool(spec), arguments).await;
    assert!(invoked.result.is_ok(), "{:?}", invoked.result);
    (server.last(), serde_json::from_str(&invoked.wire.unwrap()).unwrap())
}

#[tokio::test]
async fn forms() {
    let server = Server::answering(json_response("1")).await;
    let form = json!({ "form": {
        "amount": "{amount}", "note": "By {who}", "tags": "{tags}", "fixed": ["a", 5], "key": "${TOKEN}",
        "metadata": { "value": "{metadata}", "style": "deepObject" }, "json": "{metadata}",
        "ids": { "value": "{ids}", "style": "form", "explode": false }, "a b": true } });
    let rows = [
        (
            r#"{"amount":1.10,"who":"a&b","tags":["x","y z"],"metadata":{"k":9007199254740993,"l":[{"m":[1]}]},"ids":[1,2]}"#,
            "amount=1.10&note=By%20a%26b&tags=x&tags=y%20z&fixed=a&fixed=5&key=tok%2F4711%2B%22secret%22&metadata%5Bk%5D=9007199254740993&metadata%5Bl%5D%5B0%5D%5Bm%5D%5B%5D=1&json=%7B%22k%22%3A9007199254740993%2C%22l%22%3A%5B%7B%22m%22%3A%5B1%5D%7D%5D%7D&ids=1,2&a%20b=true",
        ),
        (
            r#"{"amount":null,"tags":[]}"#,
            "fixed=a&fixed=5&key=tok%2F4711%2B%22secret%22&a%20b=true",
        ),
    ];
    for (arguments, body) in rows {
        let (request, wire) = sent(&server, form.clone(), arguments).await;
        assert_eq!(body_of(&request), body);
        assert!(has_header(&request, "content-type: application/x-www-form-urlencoded"));
        let shown = wire["body"].as_str().unwrap();
        assert!(shown.contains("key=${TOKEN}") && !shown.contains("4711"), "{shown}");
    }
    let (request, _) = sent(&server, json!({ "form": {} }), "{}").await;
    assert_eq!(body_of(&request), "");
}

#[tokio::test]
async fn parts() {
    let server = Server::answering(json_response("1")).await;
    let spec = json!({ "multipart": {
        "title": "{title}", "n": "{n}", "tags": "{tags}", "o": "{o}",
        "s": { "value": "{title}", "style": "json" },
        "csv": { "text": "{csv}", "filename": "a \"b\".csv", "contentType": "text/csv" },
        "data": { "base64": "{data}", "contentType": "image/png" }, "files": { "file": "{files}" },
        "absent": { "file": "{absent}" }, "key": "${TOKEN}" } });
    let arguments = r#"{"title":"a&b\r\n--callgate-0000000000000000","n":1.10,"tags":["x","y"],"o":{"k":1.0},"csv":"a,b",
        "data":"aGk","files":[{"text":"one"},{"base64":"dHdv","filename":"2.bin","contentType":"x/y"}]}"#;
    let (request, wire) = sent(&server, spec, arguments).await;
    // The first boundary is in the title, so it is the next one.
    let boundary = "callgate-0000000000000001";
    assert!(has_header(
        &request,
        &format!("content-type: multipart/form-data; boundary={boundary}")
    ));
    let part = |head: &str, body: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name={head}\r\n\r\n{body}\r\n")
    };
    let parts = [
        part("\"title\"", "a&b\r\n--callgate-0000000000000000"),
        part("\"n\"", "1.10"),
        part("\"tags\"", "x"),
        part("\"tags\"", "y"),
        part("\"o\"\r\nContent-Type: application/json", "{\"k\":1.0}"),
        part("\"s\"\r\nContent-Type: application/json", r#""a&b\r\n--callgate-0000000000000000""#),
        part("\"csv\"; filename=\"a %22b%22.csv\"\r\nContent-Type: text/csv", "a,b"),
        part("\"data\"; filename=\"file\"\r\nContent-Type: image/png", "hi"),
        part("\"files\"; filename=\"file\"\r\nContent-Type: text/plain; charset=utf-8", "one"),
        part("\"files\"; filename=\"2.bin\"\r\nContent-Type: x/y", "two"),
        part("\"key\"", TOKEN),
    ];
    assert_eq!(body_of(&request), format!("{}--{boundary}--\r\n", parts.concat()));
    let shown = wire["body"].as_str().unwrap();
    assert!(shown.contains("${TOKEN}") && !shown.contains("4711"), "{shown}");
    assert!(shown.contains("[2 bytes]"), "{shown}");
}

#[tokio::test]
async fn raw_bodies() {
    let server = Server::answering(json_response("1")).await;
    let text = "content-type: text/plain; charset=utf-8";
    let rows = [
        (json!({ "text": "{b}" }), r#"{"b":"é <x/>"}"#, "é <x/>", text),
        (json!({ "text": "n={b}" }), r#"{"b":1.10}"#, "n=1.10", text),
        (
            json!({ "text": "{b}", "contentType": "text/xml" }),
            r#"{"b":"<x/>"}"#,
            "<x/>",
            "content-type: text/xml",
        ),
        (
            json!({ "base64": "{b}" }),
            r#"{"b":"aGk="}"#,
            "hi",
            "content-type: application/octet-stream",
        ),
        (json!({ "file": "{b}" }), r#"{"b":{"text":"t"}}"#, "t", text),
    ];
    for (raw, arguments, body, header) in rows {
        let (request, wire) = sent(&server, json!({ "raw": raw }), arguments).await;
        assert_eq!(body_of(&request), body);
        assert!(has_header(&request, header), "{request}");
        assert!(wire["body"].is_string(), "{wire}");
    }
    let (request, wire) = sent(&server, json!({ "raw": { "text": "{b}" } }), "{}").await;
    assert_eq!((body_of(&request), wire.get("body")), ("", None));
    assert!(!request.to_lowercase().contains("content-type"), "{request}");
}

#[tokio::test]
async fn styles_in_paths_queries_headers_and_cookies() {
    let server = Server::answering(json_response("1")).await;
    let spec = json!({
        "method": "OPTIONS", "url": "/{id}/{point}/{rgb}",
        "path": { "id": { "style": "label", "explode": true }, "rgb": { "style": "simple", "explode": true },
            "point": { "style": "matrix", "name": "p" } },
        "query": { "f": { "value": "{rgb}", "style": "deepObject" }, "l": { "value": "{id}", "style": "pipeDelimited" } },
        "headers": { "X-Ids": { "value": "{id}", "style": "simple" } },
        "cookies": { "a": "{point}", "b": "{absent}", "sid": "${TOKEN}", "c": { "value": "{id}", "style": "simple" } },
    });
    let arguments = r#"{"id":["x/y",20],"point":5,"rgb":{"r":1,"g":"a,b"}}"#;
    let (request, wire) = sent(&server, spec, arguments).await;
    let line =
        "OPTIONS /.x%2Fy.20/;p=5/r=1,g=a%2Cb?f%5Br%5D=1&f%5Bg%5D=a%2Cb&l=x%2Fy%7C20 HTTP/1.1";
    assert_eq!(request.lines().next(), Some(line));
    assert!(has_header(&request, "x-ids: x/y,20"), "{request}");
    assert!(has_header(&request, &format!("cookie: a=5; sid={TOKEN}; c=x/y,20")), "{request}");
    assert!(!request.to_lowercase().contains("idempotency-key"), "{request}");
    assert_eq!(wire["headers"]["cookie"], "a=5; sid=${TOKEN}; c=x/y,20");
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_before_anything_is_sent() {
    let server = Server::answering(json_response("1")).await;
    let rows = [
        (
            json!({ "query": { "l": { "value": "{l}", "style": "spaceDelimited" } } }),
            "separates values",
        ),
        (
            json!({ "headers": { "X-L": { "value": "{l}", "style": "simple" } } }),
            "separates values",
        ),
        (json!({ "cookies": { "c": "{c}" } }), "no cookie takes"),
        (json!({ "url": "/{e}", "path": { "e": { "style": "simple" } } }), "empty text"),
        (json!({ "method": "POST", "raw": { "base64": "{c}" } }), "no Base64"),
        (json!({ "method": "POST", "multipart": { "f": { "file": "{c}" } } }), "either `text` or"),
        (json!({ "method": "POST", "raw": { "file": "{files}" } }), "one file where one is sent"),
        (
            json!({ "method": "POST", "raw": { "text": "{c}", "contentType": "a\n{c}" } }),
            "header content-type",
        ),
    ];
    let arguments =
        r#"{"l":["a b","c,d"],"c":"a; b=1","e":[],"files":[{"text":"a"},{"text":"b"}]}"#;
    for (mut spec, expected) in rows {
        spec["url"] = json!(server.url(spec["url"].as_str().unwrap_or("/")));
        let failure = call(&tool(spec.clone()), arguments).await.result.unwrap_err();
        assert!(failure.message.contains(expected), "{spec}: {}", failure.message);
        assert_eq!(failure.executed, Executed::No);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn mistakes_of_contracts_are_told_with_their_place() {
    let rows = [
        (json!({ "form": {}, "body": {} }), "/form", "`body` already"),
        (json!({ "method": "GET", "form": {} }), "/form", "have no body"),
        (json!({ "form": { "a": null } }), "/form/a", "is a text"),
        (
            json!({ "form": { "a": { "value": "{a}", "style": "matrix" } } }),
            "/form/a/style",
            "no form there",
        ),
        (
            json!({ "form": { "a": { "value": "x{a}", "style": "form" } } }),
            "/form/a/value",
            "one placeholder",
        ),
        (
            json!({ "query": { "a": [{ "valeu": "{a}", "style": "form" }] } }),
            "/query/a/0/valeu",
            "did you mean",
        ),
        (
            json!({ "headers": { "a": { "value": "{a}", "style": "form" } } }),
            "/headers/a/style",
            "no form there",
        ),
        (json!({ "path": { "b": { "style": "label" } } }), "/path/b", "no {b} in its path"),
        (json!({ "raw": { "text": "a", "base64": "b" } }), "/raw", "exactly one of"),
        (json!({ "raw": "text" }), "/raw", "exactly one of"),
        (json!({ "raw": { "text": "a", "filename": "b" } }), "/raw/filename", "only a part"),
        (
            json!({ "multipart": { "a": { "file": "x{a}" } } }),
            "/multipart/a/file",
            "one placeholder",
        ),
        (
            json!({ "multipart": {}, "headers": { "Content-Type": "x/y" } }),
            "/headers/Content-Type",
            "set by",
        ),
        (
            json!({ "cookies": { "a": "b" }, "headers": { "Cookie": "c=d" } }),
            "/headers/Cookie",
            "set by",
        ),
        (json!({ "cookies": { "a;b": "b" } }), "/cookies/a;b", "name of a cookie"),
    ];
    for (mut spec, pointer, message) in rows {
        spec["url"] = json!("http://127.0.0.1/{a}");
        if spec.get("method").is_none() {
            spec["method"] = json!("POST");
        }
        let spec: HttpSpec = serde_json::from_value(spec).unwrap();
        let error = Plan::read(spec).err().unwrap();
        assert_eq!(error.pointer(), pointer, "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}
