//! Browsers: pages of elsewhere stay out, allowed ones may read, and no answer lets itself be used.

use callgate_server::http::{HttpOptions, Ready, Token};

use crate::site::{Site, body};

#[tokio::test]
async fn pages_of_elsewhere_stay_out_and_allowed_ones_may_read() {
    let site = Site::open(HttpOptions {
        allowed_origins: vec!["https://app.example".to_owned()],
        allowed_hosts: vec!["dev.example".to_owned()],
        token: Some(Token::new("a single token of old").unwrap()),
        ..HttpOptions::default()
    })
    .await;
    let token = "authorization: Bearer a single token of old\r\n";
    let preflight =
        "access-control-request-method: POST\r\naccess-control-request-headers: authorization\r\n";
    let rows = [
        ("https://app.example", true),
        ("http://localhost:5173", true),
        ("https://evil.example", false),
        ("https://app.example.evil.example", false),
        ("http://app.example", false),
        ("null", false),
    ];
    for (origin, is_allowed) in rows {
        let header = format!("origin: {origin}\r\n");
        let share = format!("access-control-allow-origin: {origin}\r\n");
        let (status, answer) = site.ask("OPTIONS /api/runs", &format!("{header}{preflight}")).await;
        assert_eq!(status, if is_allowed { 204 } else { 403 }, "{origin}");
        assert_eq!(answer.contains(&share), is_allowed, "{answer}");
        assert_eq!(answer.contains("access-control-allow-methods"), is_allowed, "{answer}");
        assert!(site.seen().is_empty(), "a preflight reaches no handler");
        let (status, answer) = site.ask("POST /api/runs", &format!("{header}{token}")).await;
        assert_eq!(status, if is_allowed { 200 } else { 403 }, "{origin}");
        assert_eq!(answer.contains(&share), is_allowed, "{answer}");
        assert_eq!(site.seen().len(), usize::from(is_allowed), "{origin}");
        assert!(!answer.contains("access-control-allow-origin: *"), "{answer}");
        assert!(!answer.contains("allow-credentials"), "{answer}");
        // A page that may ask still needs the token.
        if is_allowed {
            let (status, answer) = site.ask("POST /api/runs", &header).await;
            assert_eq!((status, answer.contains(&share)), (401, true), "{answer}");
        }
    }
    // A name that was pointed at this machine.
    for (host, expected) in
        [("evil.example", 403), ("localhost.evil.example:7600", 403), ("dev.example:7600", 200)]
    {
        let text =
            format!("GET /api/runs HTTP/1.1\r\nhost: {host}\r\n{token}connection: close\r\n\r\n");
        let answer = site.raw(text.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {expected}")), "{host}: {answer}");
        assert_eq!(site.seen().len(), usize::from(expected == 200));
        if expected == 403 {
            assert_eq!(body(&answer)["code"], "host_not_allowed");
        }
    }
    site.close().await;
}

#[tokio::test]
async fn every_answer_is_dressed() {
    let site = Site::open(HttpOptions {
        token: Some(Token::new("a single token of old").unwrap()),
        ..HttpOptions::default()
    })
    .await;
    let token = "authorization: Bearer a single token of old\r\n";
    for (line, headers) in [
        ("GET /healthz", ""),
        ("GET /api/runs", ""),
        ("GET /api/runs", token),
        ("DELETE /healthz", token),
        ("GET /healthz", "origin: https://evil.example\r\n"),
    ] {
        let (_, answer) = site.ask(line, headers).await;
        for header in [
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "x-frame-options: DENY",
            "content-security-policy: default-src 'none'",
        ] {
            assert!(answer.contains(header), "{line}: no {header} in {answer}");
        }
        assert!(!answer.contains("\r\nserver:"), "{answer}");
    }
    site.close().await;
}

#[tokio::test]
async fn ready_is_what_it_is_told_and_a_trace_is_known_to_handlers() {
    let ready = Ready::not_yet("runs are taken up");
    let site = Site::open(HttpOptions { ready: ready.clone(), ..HttpOptions::default() }).await;
    let (status, answer) = site.ask("GET /readyz", "").await;
    assert_eq!(status, 503);
    assert!(answer.ends_with("not ready: runs are taken up\n"), "{answer}");
    assert_eq!(site.ask("GET /healthz", "").await.0, 200);
    ready.yes();
    assert_eq!(site.ask("GET /readyz", "").await.0, 200);
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let (_, answer) = site.ask("GET /who", &format!("traceparent: {trace}\r\n")).await;
    assert_eq!(body(&answer)["trace"], trace);
    let (_, answer) = site.ask("GET /who", "traceparent: nonsense\r\n").await;
    assert_eq!(body(&answer)["trace"], serde_json::Value::Null);
    site.close().await;
}
