//! A browser on this machine: the page is shown as a link, and the way back leads to a port here.
//!
//! Source: RFC 8252, section 7.3 (loopback redirection) and 8.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};
use url::Url;

use super::browser::{Browser, BrowserError, Opening};

/// Bytes of a request's head that are read.
const MAX_HEAD: usize = 16 << 10;
/// For one connection to say what it wants, and again to take the answer.
const PATIENCE: Duration = Duration::from_secs(10);
const PATH: &str = "/callback";

/// Shows the link through a function, and waits on a port of this machine for the way back.
pub struct Loopback {
    listener: TcpListener,
    port: u16,
    limit: Duration,
    show: Box<dyn Fn(&str) + Send + Sync>,
}

impl Loopback {
    /// How long a person has.
    pub const LIMIT: Duration = Duration::from_secs(300);

    /// Listens on `port` of 127.0.0.1 (0: a free one). `show` is given the link.
    ///
    /// # Errors
    /// The port is taken.
    pub async fn bind(
        port: u16,
        limit: Duration,
        show: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, BrowserError> {
        let failed = |source| BrowserError::Listen { address: format!("127.0.0.1:{port}"), source };
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, port, limit, show: Box::new(show) })
    }

    /// Takes connections until one of them is the way back with our own `state`. Anything else,
    /// such as a page's icon, a connection that says nothing or a stranger's guess, does not end
    /// the wait.
    async fn wait(&self, state: Option<&str>) -> String {
        let mut visits = JoinSet::new();
        loop {
            tokio::select! {
                visitor = self.listener.accept() => match visitor {
                    Ok((stream, _)) => {
                        visits.spawn(visit(stream, self.port, state.map(str::to_owned)));
                    }
                    // Out of file descriptors, or the peer is gone again: neither is the end.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                },
                Some(visited) = visits.join_next() => {
                    if let Ok(Some(url)) = visited {
                        return url;
                    }
                }
            }
        }
    }
}

/// Answers one connection; the whole URL if it is the way back.
async fn visit(mut stream: TcpStream, port: u16, state: Option<String>) -> Option<String> {
    let target = timeout(PATIENCE, target(&mut stream)).await.ok()??;
    let url = Url::parse(&format!("http://127.0.0.1:{port}{target}")).ok();
    let ours = url.filter(|url| url.path() == PATH && state_of(url) == state);
    let (status, text) = match &ours {
        Some(_) => ("200 OK", "Back in callgate: this window can be closed."),
        None => ("404 Not Found", "This is where a login comes back to, and nothing else."),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    // Whether the window shows our words changes nothing.
    let _ = timeout(PATIENCE, async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    ours.map(Into::into)
}

fn state_of(url: &Url) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == "state").map(|(_, value)| value.into_owned())
}

impl Browser for Loopback {
    fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    fn open<'a>(&'a self, url: &'a str) -> Opening<'a> {
        Box::pin(async move {
            let page = Url::parse(url).map_err(|error| BrowserError::Page(error.to_string()))?;
            let state = state_of(&page);
            (self.show)(url);
            timeout(self.limit, self.wait(state.as_deref()))
                .await
                .map_err(|_| BrowserError::TimedOut { after: self.limit })
        })
    }
}

/// The target of a GET request, once its head is there.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut chunk).await {
            Ok(length @ 1..) if head.len() + length <= MAX_HEAD => {
                head.extend_from_slice(&chunk[..length]);
            }
            _ => return None,
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    (method == "GET" && target.starts_with('/')).then(|| target.to_owned())
}
