//! Heads and bodies that are too long.

use std::time::Duration;

use callgate_server::http::{HttpOptions, Token};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::site::{Site, body, read_to_end, statuses};

#[tokio::test]
async fn heads_and_bodies_have_their_limits() {
    let options = HttpOptions {
        max_body: 1000,
        max_head: 16 * 1024,
        max_headers: 50,
        head_timeout: Duration::from_millis(700),
        ..HttpOptions::default()
    };
    let site = Site::open(options).await;
    let post = |length: usize, body: &str| {
        format!(
            "POST /a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    let chunks = |count: usize| {
        let chunk = format!("64\r\n{}\r\n", "x".repeat(100));
        format!(
            "POST /a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n",
            chunk.repeat(count)
        )
    };
    let head = |more: &str| {
        format!("GET /a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{more}\r\n")
    };
    let rows = [
        (post(1000, &"x".repeat(1000)), 200),
        (post(1001, &"x".repeat(1001)), 413),
        // What is only announced is refused too.
        (post(10_000_000_000, ""), 413),
        (chunks(10), 200),
        (chunks(11), 413),
        (chunks(2000), 413),
        (head(&format!("x-a: {}\r\n", "x".repeat(8000))), 200),
        (head(&format!("x-a: {}\r\n", "x".repeat(20_000))), 431),
        (head(&"x-a: b\r\n".repeat(40)), 200),
        (head(&"x-a: b\r\n".repeat(60)), 431),
        (
            format!(
                "GET /{} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
                "a".repeat(100_000)
            ),
            414,
        ),
    ];
    for (text, expected) in rows {
        let answer = site.raw(text.as_bytes()).await;
        let start: String = text.chars().take(120).collect();
        // A target beyond the head's limit is one or the other.
        let got = statuses(&answer);
        let is_it = got == [expected] || (expected == 414 && got == [431]);
        assert!(is_it, "{start:?}: {answer}");
        assert_eq!(site.seen().len(), usize::from(expected == 200), "{start:?}");
        if expected == 413 {
            assert_eq!(body(&answer)["code"], "body_too_long");
        }
    }
    site.close().await;
}

/// Who is refused before its body is read hears why all the same, and a client that asks first
/// sends no body at all.
#[tokio::test]
async fn a_refusal_is_heard_in_the_middle_of_a_body() {
    let site = Site::open(HttpOptions {
        token: Some(Token::new("a single token of old").unwrap()),
        ..HttpOptions::default()
    })
    .await;
    let length = 2_000_000;
    let head = format!("POST /a HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n");
    let text = format!("{head}connection: close\r\n\r\n{}", "x".repeat(length));
    let answer = site.raw(text.as_bytes()).await;
    assert_eq!(statuses(&answer), [401], "{answer}");

    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let asked = format!("{head}expect: 100-continue\r\n\r\n");
    stream.write_all(asked.as_bytes()).await.unwrap();
    let answer = read_to_end(&mut stream).await;
    assert_eq!(statuses(&answer), [401], "{answer}");
    assert!(site.seen().is_empty());
    site.close().await;
}
