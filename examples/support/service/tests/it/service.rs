//! Starting the service and speaking HTTP to it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

/// Generous: it only bounds a test that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Service {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Service {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_support-service"))
            .args(["--port", "0", "--exit-with-stdin"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line
            .strip_prefix("listening on http://")
            .unwrap_or_else(|| panic!("unexpected first line {line:?}"))
            .trim_end()
            .to_owned();
        Self { child, address }
    }

    pub(crate) fn with_db(folder: &Path) -> Self {
        Self::start(&["--db", folder.join("support.sqlite").to_str().unwrap()])
    }

    /// Status and body of one request. HTTP/1.0, so that the end of the body is the end of the stream.
    pub(crate) fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &str,
    ) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        write!(
            stream,
            "{method} {target} HTTP/1.0\r\nhost: {}\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    pub(crate) fn get(&self, target: &str) -> (u16, Value) {
        let (status, body) = self.send("GET", target, &[], "");
        (status, serde_json::from_str(&body).unwrap())
    }

    pub(crate) fn note(&self, ticket: &str, key: Option<&str>, body: &str) -> (u16, Value) {
        let key = key.map(|key| format!("idempotency-key: {key}"));
        let mut headers = vec!["content-type: application/json"];
        headers.extend(key.as_deref());
        let (status, body) = self.send("POST", &format!("/tickets/{ticket}/notes"), &headers, body);
        (status, serde_json::from_str(&body).unwrap())
    }

    pub(crate) fn wait(&mut self) -> i32 {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the service is still running");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The polite way first: a killed service leaves its temporary folder behind.
        drop(self.child.stdin.take());
        for _ in 0..500 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
