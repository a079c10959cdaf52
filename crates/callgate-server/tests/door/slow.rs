//! Clients that take their time.

use std::{sync::atomic::Ordering, time::Duration};

use callgate_server::http::HttpOptions;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::site::{PATIENCE, Site, read_to_end, statuses};

const SHORT: Duration = Duration::from_millis(400);

fn short() -> HttpOptions {
    HttpOptions {
        head_timeout: SHORT,
        body_timeout: SHORT,
        write_timeout: SHORT,
        ..HttpOptions::default()
    }
}

/// Sends a text a byte at a time, for ever, until the server has had enough; gives its answer.
async fn drip(site: &Site, first: &str) -> String {
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(first.as_bytes()).await.unwrap();
    let (mut read, mut write) = stream.split();
    let mut answer = Vec::new();
    let dripping = async {
        while write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = dripping => {}
        _ = tokio::time::timeout(PATIENCE, read.read_to_end(&mut answer)) => {}
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_head_that_drips_is_cut_off() {
    let site = Site::open(short()).await;
    for first in ["", "GET /a HTTP/1.1\r\nhost: localhost\r\nx-a: "] {
        let answer = tokio::time::timeout(PATIENCE, drip(&site, first)).await.unwrap();
        assert!(!answer.contains("200 OK"), "{answer}");
        assert!(site.seen().is_empty());
    }
    site.close().await;
}

#[tokio::test]
async fn a_body_that_drips_has_its_time_as_a_whole() {
    let site = Site::open(short()).await;
    for framing in ["content-length: 100000", "transfer-encoding: chunked\r\n\r\n186A0"] {
        let first =
            format!("POST /a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{framing}\r\n");
        let first = if framing.starts_with('c') { format!("{first}\r\n") } else { first };
        let answer = tokio::time::timeout(PATIENCE, drip(&site, &first)).await.unwrap();
        assert_eq!(statuses(&answer), [408], "{answer}");
        assert!(answer.contains("body_too_slow"), "{answer}");
        assert!(site.seen().is_empty());
    }
    site.close().await;
}

#[tokio::test]
async fn a_connection_without_a_word_is_closed_also_between_requests() {
    let site = Site::open(short()).await;
    let mut silent = TcpStream::connect(site.address).await.unwrap();
    assert_eq!(read_to_end(&mut silent).await, "");
    let mut once = TcpStream::connect(site.address).await.unwrap();
    once.write_all(b"GET /a HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    assert_eq!(statuses(&read_to_end(&mut once).await), [200]);
    site.close().await;
}

#[tokio::test]
async fn who_reads_nothing_of_an_answer_does_not_keep_it() {
    let site = Site::open(short()).await;
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(b"GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let begun = async {
        while site.streams.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.unwrap();
    let over = async {
        while site.streams.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, over).await.expect("the stream is let go");
    drop(stream);

    // Who reads has it for longer than the patience with those who do not.
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(b"GET /endless HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let since = tokio::time::Instant::now();
    let mut buffer = vec![0; 64 * 1024];
    while since.elapsed() < 3 * SHORT {
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await.unwrap();
        assert!(read.unwrap() > 0);
    }
    drop(stream);
    site.close().await;
}

/// Many that send nothing take no place from those who do for longer than a head may take.
#[tokio::test]
async fn a_crowd_of_slow_clients_does_not_shut_the_door() {
    let site = Site::open(HttpOptions { max_connections: 8, ..short() }).await;
    let mut crowd = Vec::new();
    for _ in 0..32 {
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all(b"GET /a HTTP/1.1\r\n").await.unwrap();
        crowd.push(stream);
    }
    let (status, _) = tokio::time::timeout(PATIENCE, site.ask("GET /a", "")).await.unwrap();
    assert_eq!(status, 200);
    drop(crowd);
    site.close().await;
}
