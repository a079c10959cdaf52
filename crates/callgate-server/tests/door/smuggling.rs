//! Bytes that two programs could read as different requests: here they are one request, or none.

use std::time::Duration;

use callgate_server::http::HttpOptions;

use crate::site::{Site, statuses};

/// Where the head or the framing is not clear, the answer is 400 and the connection is over. Where
/// it is, what follows the request is not taken for another one unless it is one.
#[tokio::test]
async fn framing_that_two_could_read_differently() {
    // The silence after which a connection is closed: nobody waits for more here.
    let options =
        HttpOptions { head_timeout: Duration::from_millis(700), ..HttpOptions::default() };
    let site = Site::open(options).await;
    let next = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let chunked = format!("0\r\n\r\n{next}");
    let rows: [(&str, String, &[u16], &[&str]); 21] = [
        (
            "lengths that differ",
            format!("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!{next}"),
            &[400],
            &[],
        ),
        ("lengths in one header", format!("Content-Length: 5, 5\r\n\r\nhello{next}"), &[400], &[]),
        ("a signed length", format!("Content-Length: +5\r\n\r\nhello{next}"), &[400], &[]),
        ("a negative length", format!("Content-Length: -5\r\n\r\nhello{next}"), &[400], &[]),
        ("a hexadecimal length", format!("Content-Length: 0x5\r\n\r\nhello{next}"), &[400], &[]),
        ("an empty length", format!("Content-Length: \r\n\r\n{next}"), &[400], &[]),
        (
            "a length beyond numbers",
            format!("Content-Length: 99999999999999999999\r\n\r\n{next}"),
            &[400],
            &[],
        ),
        (
            "length, then chunked",
            format!("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"),
            &[200],
            &["POST /first 0"],
        ),
        (
            "chunked, then length",
            format!("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n{chunked}"),
            &[200],
            &["POST /first 0"],
        ),
        (
            "chunked, then something",
            format!("Transfer-Encoding: chunked, identity\r\n\r\n{chunked}"),
            &[400],
            &[],
        ),
        (
            "not chunked at all",
            format!("Transfer-Encoding: identity\r\n\r\n{chunked}"),
            &[400],
            &[],
        ),
        ("nearly chunked", format!("Transfer-Encoding: xchunked\r\n\r\n{chunked}"), &[400], &[]),
        (
            "a space before the colon",
            format!("Transfer-Encoding : chunked\r\n\r\n{chunked}"),
            &[400],
            &[],
        ),
        (
            "a tab in the value",
            format!("Transfer-Encoding: \x0bchunked\r\n\r\n{chunked}"),
            &[400],
            &[],
        ),
        (
            "a folded line",
            format!("X-A: b\r\n Transfer-Encoding: chunked\r\n\r\n{chunked}"),
            &[400],
            &[],
        ),
        ("a name with a space", format!("X A: b\r\nContent-Length: 0\r\n\r\n{next}"), &[400], &[]),
        ("a NUL in a value", format!("X-A: b\0\r\nContent-Length: 0\r\n\r\n{next}"), &[400], &[]),
        ("a bare CR in a value", format!("X-A: b\rContent-Length: 9\r\n\r\n{next}"), &[400], &[]),
        (
            "a chunk beyond numbers",
            format!("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx\r\n{chunked}"),
            &[400],
            &[],
        ),
        (
            "a chunk that lies",
            format!("Transfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n{chunked}"),
            &[400],
            &[],
        ),
        (
            "two hosts",
            format!("Host: evil.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n{next}"),
            &[400],
            &[],
        ),
    ];
    for (what, rest, expected, handled) in rows {
        let text = format!("POST /first HTTP/1.1\r\nHost: localhost\r\n{rest}");
        let answer = site.raw(text.as_bytes()).await;
        assert_eq!(statuses(&answer), expected, "{what}: {answer}");
        assert_eq!(site.seen(), handled, "{what}");
    }
    // What is clear is two requests, also where lines end as RFC 9112 (2.2) lets them.
    let rows: [(&str, String); 3] = [
        (
            "lengths that agree",
            format!("Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello{next}"),
        ),
        ("chunked", format!("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n{next}")),
        ("bare line feeds", format!("Content-Length: 5\n\nhello{next}")),
    ];
    for (what, rest) in rows {
        let text = format!("POST /first HTTP/1.1\r\nHost: localhost\r\n{rest}");
        let answer = site.raw(text.as_bytes()).await;
        assert_eq!(statuses(&answer), [200, 200], "{what}: {answer}");
        assert_eq!(site.seen(), ["POST /first 5", "GET /smuggled 0"], "{what}");
    }
    let old = "POST /first HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    let answer = site.raw(format!("{old}{chunked}").as_bytes()).await;
    assert_eq!((statuses(&answer), site.seen()), (vec![400], vec![]), "{answer}");
    for line in ["GET /a\0b HTTP/1.1", "GET /a HTTP/1.1 HTTP/1.1", "GET  HTTP/1.1", "{\"json\":1}"]
    {
        let answer = site.raw(format!("{line}\r\nHost: localhost\r\n\r\n").as_bytes()).await;
        assert_eq!((statuses(&answer), site.seen()), (vec![400], vec![]), "{line:?}: {answer}");
    }
    site.close().await;
}
