//! One GET from a service on this machine. A client library would be the largest part of this crate.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

use crate::failure::Failure;

/// The JSON at `http://{address}{target}`.
///
/// In HTTP/1.0 the end of the body is the end of the stream: no chunks, no kept connection.
pub(crate) fn get(address: &str, target: &str) -> Result<Value, Failure> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(stream, "GET {target} HTTP/1.0\r\nhost: {address}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let wrong = |what: &str| Failure::Wrong(format!("GET {target}: {what}: {answer}"));
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| wrong("not HTTP"))?;
    if head.split(' ').nth(1) != Some("200") {
        return Err(wrong("not a success"));
    }
    serde_json::from_str(body).map_err(|_| wrong("not JSON"))
}
