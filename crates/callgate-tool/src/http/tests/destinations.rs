//! Where requests may go, at first and after redirects.

use super::*;

#[tokio::test]
async fn a_host_from_an_argument_is_never_named_by_the_contract() {
    let server = Server::answering(json_response("1")).await;
    let port = server.port;
    let here = format!(r#"{{"url":"{}"}}"#, server.url("/x"));
    // spec, arguments, words of the refusal; nothing: admitted
    let rows = [
        (json!({ "url": "{url}" }), here.clone(), "this machine"),
        (json!({ "url": "{url}", "allow": ["127.0.0.1"] }), here.clone(), ""),
        (json!({ "url": "{url}", "allow": [format!("127.0.0.1:{port}")] }), here.clone(), ""),
        (json!({ "url": "{url}", "allow": ["127.0.0.1:1"] }), here, "this machine"),
        (
            json!({ "url": format!("http://{{h}}:{port}/") }),
            r#"{"h":"127.0.0.1"}"#.into(),
            "this machine",
        ),
        (
            json!({ "url": format!("http://{{h}}:{port}/") }),
            r#"{"h":"local.test"}"#.into(),
            "this machine",
        ),
        (
            json!({ "url": format!("http://{{h}}.test:{port}/") }),
            r#"{"h":"local"}"#.into(),
            "this machine",
        ),
        (
            json!({ "url": format!("http://{{h}}:{port}/") }),
            r#"{"h":"x@127.0.0.1"}"#.into(),
            "host name",
        ),
        (
            json!({ "url": format!("http://{{h}}:{port}/") }),
            r#"{"h":"127.0.0.1/a?"}"#.into(),
            "host name",
        ),
        (json!({ "url": format!("http://local.test:{port}/") }), "{}".into(), ""),
        (json!({ "url": format!("${{UNSET:-http://127.0.0.1:{port}}}/") }), "{}".into(), ""),
        (json!({ "url": format!("http://meta.test:{port}/") }), "{}".into(), "metadata"),
        (json!({ "url": "{url}" }), r#"{"url":"file:///etc/passwd"}"#.into(), "file:"),
        (json!({ "url": "{url}" }), r#"{"url":"http://a:b@127.0.0.1/"}"#.into(), "user name"),
        (json!({ "url": "{url}" }), r#"{"url":"/etc/passwd"}"#.into(), "not a URL"),
    ];
    for (spec, arguments, words) in rows {
        let before = server.requests().len();
        let invoked = call(&tool(spec.clone()), &arguments).await;
        match invoked.result {
            Ok(_) => assert_eq!(words, "", "{spec} {arguments}"),
            Err(failure) => {
                assert!(
                    !words.is_empty() && failure.message.contains(words),
                    "{spec}: {}",
                    failure.message
                );
                assert_eq!(failure.kind, ErrorKind::PolicyDenied);
                assert_eq!((failure.executed, failure.retryable), (Executed::No, false));
                assert_eq!(server.requests().len(), before);
                assert_eq!(invoked.wire, None);
            }
        }
    }
}

/// Redirects `/{status}` to wherever `Location` of the row says, answers anything else.
async fn redirecting(status: &'static str, to: String) -> Server {
    Server::start(move |request| match request {
        r if r.contains(" /from") => {
            Act::Answer(response(status, &format!("Location: {to}\r\n"), "moved"))
        }
        _ => Act::Answer(json_response("\"arrived\"")),
    })
    .await
}

#[tokio::test]
async fn redirects() {
    // status, method, request line of the second hop; nothing: not followed
    let rows = [
        ("301 Moved Permanently", "GET", Some("GET /to HTTP/1.1")),
        ("302 Found", "GET", Some("GET /to HTTP/1.1")),
        ("303 See Other", "POST", Some("GET /to HTTP/1.1")),
        ("307 Temporary Redirect", "POST", Some("POST /to HTTP/1.1")),
        ("308 Permanent Redirect", "PUT", Some("PUT /to HTTP/1.1")),
        ("301 Moved Permanently", "POST", None),
        ("302 Found", "DELETE", None),
    ];
    for (status, method, line) in rows {
        let server = redirecting(status, "/to".into()).await;
        let mut spec = json!({ "method": method, "url": server.url("/from"), "auth": { "bearer": "${TOKEN}" } });
        if method != "GET" {
            spec["body"] = json!("arguments");
        }
        let result = call(&tool(spec.clone()), r#"{"n":1.10}"#).await.result;
        if let Some(line) = line {
            assert_eq!(result, Ok(Output::json("\"arrived\"")), "{status} {method}");
            let last = server.last();
            assert_eq!(last.lines().next(), Some(line));
            assert_eq!(body_of(&last), if line.starts_with("GET") { "" } else { r#"{"n":1.10}"# });
            // The same origin: its credentials go along.
            assert!(last.contains("authorization: Bearer tok"), "{last}");
        } else {
            let failure = result.unwrap_err();
            assert!(failure.message.contains("into a GET"), "{}", failure.message);
            assert_eq!((failure.executed, failure.retryable), (Executed::Unknown, false));
            assert_eq!(server.requests().len(), 1);
        }
        spec["followRedirects"] = json!(false);
        let failure = call(&tool(spec), r#"{"n":1.10}"#).await.result.unwrap_err();
        assert!(failure.message.contains("and points to /to"), "{}", failure.message);
    }
}

#[tokio::test]
async fn redirects_are_judged_and_carry_no_credentials_elsewhere() {
    let other = Server::answering(json_response("\"arrived\"")).await;
    let (port, other_url) = (other.port, other.url("/x"));
    // where to, also allowed, words of the refusal
    let rows = [
        (other_url.clone(), None, "this machine"),
        (format!("http://local.test:{port}/"), None, "this machine"),
        ("http://169.254.169.254/latest/".into(), None, "metadata"),
        ("http://[::ffff:127.0.0.1]:1/".into(), None, "this machine"),
        ("file:///etc/passwd".into(), None, "file:"),
        (format!("http://me:pw@127.0.0.1:{port}/"), Some(port), "user name"),
        (other_url, Some(port), ""),
    ];
    for (to, allowed, words) in rows {
        let server = redirecting("307 Temporary Redirect", to.clone()).await;
        let allow: Vec<String> = allowed.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let spec = json!({ "method": "POST", "url": server.url("/from"), "allow": allow, "body": "arguments",
            "auth": { "bearer": "${TOKEN}" }, "headers": { "X-Key": "k-${TOKEN}", "X-Plain": "p" } });
        let result = call(&tool(spec.clone()), "{}").await.result;
        if words.is_empty() {
            assert_eq!(result, Ok(Output::json("\"arrived\"")), "{to}");
            let last = other.last();
            assert!(has_header(&last, "x-plain: p") && !last.contains("4711"), "{last}");
            assert_eq!(body_of(&last), "{}");

            // A body with a secret in it does not go elsewhere at all.
            let mut spec = spec;
            spec["body"] = json!({ "key": "${TOKEN}" });
            let before = other.requests().len();
            let failure = call(&tool(spec), "{}").await.result.unwrap_err();
            assert!(failure.message.contains("secret"), "{}", failure.message);
            assert_eq!(other.requests().len(), before);
        } else {
            let failure = result.unwrap_err();
            assert_eq!(failure.kind, ErrorKind::PolicyDenied, "{to}");
            assert_eq!(failure.executed, Executed::Unknown, "{to}");
            assert!(failure.message.starts_with("the server redirected: "), "{}", failure.message);
            assert!(failure.message.contains(words), "{to}: {}", failure.message);
            assert_eq!(other.requests().len(), 0, "{to}");
        }
    }

    let server = redirecting("302 Found", "/from".into()).await;
    let failure =
        call(&tool(json!({ "url": server.url("/from") })), "{}").await.result.unwrap_err();
    assert!(failure.message.contains("more than 5 redirects"), "{}", failure.message);
    assert_eq!(server.requests().len(), 6);
}
