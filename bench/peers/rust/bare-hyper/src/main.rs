//! The floor: the same bodies on hyper's connections, one for each run at a time. Responses are
//! read and not parsed, nothing is validated.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use callgate_bench_driver::{Failed, Options, drive, prepared};
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, client::conn::http1::SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

type Connection = SendRequest<Full<Bytes>>;

struct Bare {
    idle: Mutex<Vec<Connection>>,
    host: String,
    path: String,
    bodies: Vec<Bytes>,
    stream: bool,
}

fn main() -> Result<(), Failed> {
    let options = Options::from_args()?;
    let api = options.api();
    let (host, path) = api
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .ok_or_else(|| format!("{api} is no http URL with a path"))?;
    let set_up = || {
        Ok(Bare {
            idle: Mutex::default(),
            host: host.to_owned(),
            path: format!("/{path}/chat/completions"),
            bodies: prepared::bodies(&options).into_iter().map(Bytes::from).collect(),
            stream: options.stream,
        })
    };
    drive("bare hyper", &options, set_up, |bare| async move { run(&bare).await })
}

async fn run(bare: &Arc<Bare>) -> Result<String, Failed> {
    let mut connection = bare.connection().await?;
    let mut last = Bytes::new();
    for body in &bare.bodies {
        let post = Request::post(&bare.path)
            .header("host", &bare.host)
            .header("content-type", "application/json")
            .header("authorization", "Bearer sk-bench")
            .body(Full::new(body.clone()))?;
        connection.ready().await?;
        let response = connection.send_request(post).await?;
        if !response.status().is_success() {
            return Err(format!("status {}", response.status()).into());
        }
        last = response.into_body().collect().await?.to_bytes();
    }
    bare.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    if prepared::is_last(&last, bare.stream) {
        Ok("assigned to dana".to_owned())
    } else {
        Err("the last response is no answer".into())
    }
}

impl Bare {
    async fn connection(&self) -> Result<Connection, Failed> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(connection) = idle() {
            if !connection.is_closed() {
                return Ok(connection);
            }
        }
        let stream = TcpStream::connect(&self.host).await?;
        stream.set_nodelay(true)?;
        let (connection, driver) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(driver);
        Ok(connection)
    }
}
