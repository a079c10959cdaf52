//! Tokens and scopes, as they come over the wire.

use std::path::Path;

use callgate_server::http::{HttpOptions, Scope, Token, TokensFile};
use serde_json::{Value, json};

use crate::site::{Site, body};

/// A new token in a file.
fn token(path: &Path, name: &str, more: &Value) -> String {
    let (hash, text) = Token::random().unwrap();
    let mut entry = json!({ "name": name, "hash": hash, "scopes": ["run"] });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    TokensFile::add(path, serde_json::from_value(entry).unwrap()).unwrap();
    text
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

#[tokio::test]
async fn a_token_opens_what_its_scopes_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    let caller = json!({ "id": "ann", "roles": ["clerk"] });
    let rows = [
        ("runner", vec!["run"], [200, 403, 403, 403]),
        ("approver", vec!["approve"], [403, 200, 403, 403]),
        ("reader", vec!["read"], [403, 403, 200, 403]),
        ("both", vec!["run", "read"], [200, 403, 200, 403]),
        ("admin", vec!["admin"], [200, 200, 200, 200]),
    ];
    let tokens: Vec<String> = rows
        .iter()
        .map(|(name, scopes, _)| token(&path, name, &json!({ "scopes": scopes, "caller": caller })))
        .collect();
    let single = "a single token of old";
    let site = Site::open(HttpOptions {
        tokens_file: Some(path.clone()),
        token: Some(Token::new(single).unwrap()),
        ..HttpOptions::default()
    })
    .await;
    for ((name, _, expected), token) in rows.iter().zip(&tokens) {
        for (scope, expected) in Scope::ALL.iter().zip(expected) {
            let (status, answer) = site.ask(&format!("POST /needs/{scope}"), &bearer(token)).await;
            assert_eq!(status, *expected, "{name} {scope}");
            if status == 403 {
                let challenge = format!(
                    "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"{scope}\""
                );
                assert!(answer.contains(&challenge), "{answer}");
                assert_eq!(body(&answer)["code"], "scope_missing");
            }
            assert_eq!(site.ask(&format!("POST /needs/{scope}"), "").await.0, 401);
            assert_eq!(site.ask(&format!("POST /needs/{scope}"), &bearer(single)).await.0, 200);
        }
        let (_, answer) = site.ask("GET /who", &bearer(token)).await;
        assert_eq!(body(&answer), json!({ "name": name, "caller": caller, "trace": null }));
    }
    site.close().await;
}

#[tokio::test]
async fn what_is_no_token_is_told_in_the_words_of_whoever_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    let good = token(&path, "good", &json!({}));
    let lapsed = token(&path, "lapsed", &json!({ "expiresAt": 1 }));
    let options = || HttpOptions { tokens_file: Some(path.clone()), ..HttpOptions::default() };
    let site = Site::open(options()).await;
    let short = &good[..good.len() - 1];
    let rows = [
        (String::new(), "token_missing", "Bearer\r"),
        (format!("authorization: Basic {good}\r\n"), "token_missing", "Bearer\r"),
        (format!("authorization: {good}\r\n"), "token_missing", "Bearer\r"),
        // Not beside /v1.
        (format!("x-api-key: {good}\r\n"), "token_missing", "Bearer\r"),
        // Two are none: which one would count?
        (format!("{}{}", bearer(&good), bearer(&good)), "token_missing", "Bearer\r"),
        (bearer(short), "token_unknown", "invalid_token"),
        (bearer(&good.to_uppercase()), "token_unknown", "invalid_token"),
        (bearer(&format!("{good}x")), "token_unknown", "invalid_token"),
        (bearer(&lapsed), "token_unknown", "invalid_token"),
        (bearer("hunter2"), "token_unknown", "invalid_token"),
    ];
    for (headers, code, challenge) in &rows {
        let (status, answer) = site.ask("GET /api/runs", headers).await;
        assert_eq!(status, 401, "{headers}");
        let told = body(&answer);
        assert_eq!((&told["code"], &told["status"]), (&json!(code), &json!(401)), "{headers}");
        assert!(answer.contains("content-type: application/problem+json"), "{answer}");
        let www = answer.lines().find(|line| line.starts_with("www-authenticate")).unwrap();
        assert!(format!("{www}\r").contains(challenge), "{headers}: {www}");
        assert!(!answer.contains(short) && !answer.contains("hunter2"), "{answer}");
    }
    let (status, answer) = site.ask("POST /v1/messages", "").await;
    let told = body(&answer);
    assert_eq!((status, &told["type"]), (401, &json!("error")));
    assert_eq!(told["error"]["type"], "authentication_error");
    let (status, answer) = site.ask("POST /mcp", "").await;
    assert_eq!((status, &body(&answer)["error"]["code"]), (401, &json!(-32600)));
    assert_eq!(site.seen(), [""; 0], "nothing of it reached a handler");
    assert_eq!(site.ask("POST /v1/messages", &format!("x-api-key: {good}\r\n")).await.0, 200);
    assert_eq!(site.ask("GET /api/runs", &bearer(&good)).await.0, 200);
    site.close().await;
    assert!(!format!("{:?}", options()).contains(&good));
}

#[tokio::test]
async fn a_path_that_looks_public_is_not() {
    let single = "a single token of old";
    let site = Site::open(HttpOptions {
        token: Some(Token::new(single).unwrap()),
        public_paths: vec!["/.well-known/agent-card.json".to_owned()],
        ..HttpOptions::default()
    })
    .await;
    let rows = [
        ("GET /healthz", 200),
        ("GET /healthz?a=b", 200),
        ("GET /readyz", 200),
        ("GET /.well-known/agent-card.json", 200),
        ("HEAD /.well-known/agent-card.json", 200),
        ("POST /.well-known/agent-card.json", 401),
        ("GET /healthz/../api/runs", 401),
        ("GET /healthz/%2e%2e/api/runs", 401),
        ("GET /healthz%2f..%2fapi", 401),
        ("GET /healthz/", 401),
        ("GET //healthz", 401),
        ("GET /./healthz", 401),
        ("GET /%68ealthz", 401),
        ("GET /HEALTHZ", 401),
        ("GET /healthz;a=b", 401),
        ("GET /healthz%00", 401),
        ("GET /.well-known/../etc/passwd", 401),
        ("GET /.well-known/agent-card.json/..", 401),
        ("GET /..%5c..%5cetc", 401),
        ("GET http://localhost/api", 401),
        ("GET *", 400),
        ("GET ../../etc/passwd", 400),
        ("CONNECT localhost:22", 401),
        ("TRACE /", 401),
    ];
    for (line, expected) in rows {
        let (status, answer) = site.ask(line, "").await;
        let is_refused =
            if line == "GET *" { status == 400 || status == 401 } else { status == expected };
        assert!(is_refused, "{line}: {answer}");
        assert!(expected == 200 || site.seen().is_empty(), "{line} reached a handler");
        site.seen();
    }
    site.close().await;
}

#[tokio::test]
async fn tokens_have_their_rate_and_guessing_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    // So seldom that no clock of any machine gives another one during the test.
    let seldom = json!({ "rate": { "perSecond": 0.001, "burst": 2 } });
    let (busy, calm) = (token(&path, "busy", &seldom), token(&path, "calm", &json!({})));
    let late = token(&path, "late", &json!({}));
    let options = HttpOptions { tokens_file: Some(path), rate: None, ..HttpOptions::default() };
    let site = Site::open(options).await;
    for expected in [200, 200, 429, 429] {
        let (status, answer) = site.ask("GET /api/runs", &bearer(&busy)).await;
        assert_eq!(status, expected);
        if status == 429 {
            let wait = answer.lines().find_map(|line| line.strip_prefix("retry-after: ")).unwrap();
            assert!(wait.parse::<u64>().unwrap() > 900, "{wait}");
            assert_eq!(body(&answer)["code"], "too_many_requests");
        }
    }
    assert_eq!(site.ask("GET /api/runs", &bearer(&calm)).await.0, 200);

    let mut wrong = 0;
    loop {
        let (status, answer) = site.ask("GET /api/runs", &bearer("callgate_guess")).await;
        if status == 429 {
            assert_eq!(body(&answer)["code"], "too_many_wrong_tokens");
            assert!(answer.contains("retry-after: "), "{answer}");
            break;
        }
        assert_eq!(status, 401);
        wrong += 1;
        assert!(wrong < 1000, "guessing goes on for ever");
    }
    assert!(wrong >= 20, "{wrong}");
    // Who came in before goes on; a right guess is not told from a wrong one. The bucket gives one
    // more try every two seconds, so guesses go on while it is asked.
    assert_eq!(site.ask("GET /api/runs", &bearer(&calm)).await.0, 200);
    let mut told = Vec::new();
    for _ in 0..3 {
        site.ask("GET /api/runs", &bearer("callgate_guess")).await;
        told.push(site.ask("GET /api/runs", &bearer(&late)).await.0);
    }
    assert!(told.contains(&429), "{told:?}");
    site.close().await;
}

#[tokio::test]
async fn a_token_that_is_revoked_is_none_soon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json");
    let (gone, stays) = (token(&path, "gone", &json!({})), token(&path, "stays", &json!({})));
    let options = HttpOptions { tokens_file: Some(path.clone()), ..HttpOptions::default() };
    let site = Site::open(options).await;
    assert_eq!(site.ask("GET /a", &bearer(&gone)).await.0, 200);
    TokensFile::revoke(&path, "gone").unwrap();
    let revoked = async {
        while site.ask("GET /a", &bearer(&gone)).await.0 == 200 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(crate::site::PATIENCE, revoked).await.unwrap();
    assert_eq!(site.ask("GET /a", &bearer(&stays)).await.0, 200);
    site.close().await;
}
