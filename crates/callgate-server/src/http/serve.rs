//! Connections: accepted within limits, slow ones cut off, ended cleanly.

use std::{
    collections::HashMap,
    convert::Infallible,
    future::Future,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{Router, body::Body, middleware, routing::get};
use http::{Request, Response};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tower_service::Service as _;

use super::{
    HttpOptions,
    door::{self, Door},
    timed::Timed,
    tls::Tls,
};
use crate::ServeError;

/// How long connections may take to close once everything is answered.
const CLOSING: Duration = Duration::from_secs(5);

/// How long accepting rests after the system refused a connection (no more descriptors).
const REST: Duration = Duration::from_millis(50);

/// Whose connection it is. In the extensions of every request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) SocketAddr);

/// One address that is listened on.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    options: HttpOptions,
    door: Arc<Door>,
    tls: Option<Arc<Tls>>,
}

impl HttpServer {
    /// Listens. Requests wait until [`run`](Self::run).
    ///
    /// # Errors
    /// The options do not do ([`HttpOptions::check`]), the tokens or the certificate cannot be
    /// read, or the address cannot be had.
    pub async fn bind(options: HttpOptions) -> Result<Self, ServeError> {
        options.check()?;
        let door = Arc::new(Door::new(&options)?);
        let tls = options.tls.as_ref().map(Tls::open).transpose()?.map(Arc::new);
        let failed = |source| ServeError::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, options, door, tls })
    }

    /// The address, with the port that was chosen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as clients write it: `https://127.0.0.1:7600`.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// How the door is set.
    pub fn options(&self) -> &HttpOptions {
        &self.options
    }

    /// Serves a router behind the checks, `/healthz` and `/readyz`, until `until`; then accepts
    /// nobody, waits for `drain`, and closes.
    ///
    /// # Errors
    /// None today; a door that can break while it is open will say so here.
    pub async fn run(
        self,
        router: Router,
        until: impl Future<Output = ()>,
        drain: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let (ready, options) = (self.options.ready.clone(), Arc::new(self.options));
        let asked = ready.clone();
        let router = router
            .route("/healthz", get(async || "ok\n"))
            .route("/readyz", get(move || std::future::ready(asked.response())))
            .layer(middleware::from_fn_with_state(self.door, door::pass));
        let room = Arc::new(Room::new(&options));
        let graceful = GracefulShutdown::new();
        let mut until = std::pin::pin!(until);
        loop {
            let accepted = tokio::select! {
                accepted = accept(&self.listener, &room) => accepted,
                () = &mut until => break,
            };
            let Accepted::Stream(stream, peer, seat) = accepted else {
                if matches!(accepted, Accepted::Failed) {
                    tokio::time::sleep(REST).await;
                }
                continue;
            };
            let (router, options, tls) = (router.clone(), options.clone(), self.tls.clone());
            let watcher = graceful.watcher();
            tokio::spawn(async move {
                let stream = Timed::new(stream, options.write_timeout);
                match tls {
                    None => converse(stream, peer, router, &options, watcher).await,
                    Some(tls) => {
                        let greeting = tls.acceptor().accept(stream);
                        match tokio::time::timeout(options.head_timeout, greeting).await {
                            Ok(Ok(stream)) => {
                                converse(stream, peer, router, &options, watcher).await;
                            }
                            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                            Err(_) => tracing::debug!("a TLS handshake took too long"),
                        }
                    }
                }
                drop(seat);
            });
        }
        ready.no("the server stops");
        drop(self.listener);
        drain.await;
        if tokio::time::timeout(CLOSING, graceful.shutdown()).await.is_err() {
            tracing::warn!("some connections did not close in time");
        }
        Ok(())
    }
}

/// Requests of one connection, one after the other.
async fn converse<S>(
    stream: S,
    peer: SocketAddr,
    router: Router,
    options: &HttpOptions,
    watcher: Watcher,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        let answer = router.clone().call(request);
        async move {
            let response: Response<Body> = answer.await?;
            Ok::<_, Infallible>(response)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.head_timeout)
        .max_headers(options.max_headers)
        .max_header_size(options.max_head)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection broke");
    }
}

/// How many connections there may be, and how many of them of one address.
struct Room {
    all: Arc<Semaphore>,
    most_each: usize,
    each: Mutex<HashMap<IpAddr, usize>>,
}

impl Room {
    fn new(options: &HttpOptions) -> Self {
        let most = options.max_connections.clamp(1, Semaphore::MAX_PERMITS);
        let most_each = options.max_per_address.max(1);
        Self { all: Arc::new(Semaphore::new(most)), most_each, each: Mutex::default() }
    }

    /// A place for one more of this address. This machine's programs may have all places: a proxy
    /// that others come through is one of them.
    fn seat(self: &Arc<Self>, address: IpAddr, permit: Permit) -> Option<Seat> {
        let counted = (!address.to_canonical().is_loopback()).then_some(address);
        if let Some(address) = counted {
            let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
            let count = each.entry(address).or_default();
            if *count >= self.most_each {
                return None;
            }
            *count += 1;
        }
        Some(Seat { room: self.clone(), counted, _permit: permit })
    }
}

type Permit = tokio::sync::OwnedSemaphorePermit;

/// The place of one connection.
struct Seat {
    room: Arc<Room>,
    counted: Option<IpAddr>,
    _permit: Permit,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(address) = self.counted else { return };
        let mut each = self.room.each.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = each.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                each.remove(&address);
            }
        }
    }
}

enum Accepted {
    Stream(TcpStream, SocketAddr, Seat),
    /// Its address has as many as it may.
    Refused,
    /// The system could not give it.
    Failed,
}

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, room: &Arc<Room>) -> Accepted {
    let Ok(permit) = room.all.clone().acquire_owned().await else { return Accepted::Failed };
    match listener.accept().await {
        Ok((stream, peer)) => {
            let Some(seat) = room.seat(peer.ip(), permit) else {
                tracing::debug!(%peer, "an address has as many connections as it may");
                return Accepted::Refused;
            };
            // Answers are small and somebody waits for each.
            let _ = stream.set_nodelay(true);
            Accepted::Stream(stream, peer, seat)
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            Accepted::Failed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_has_its_share() {
        let options =
            HttpOptions { max_connections: 10, max_per_address: 2, ..HttpOptions::default() };
        let room = Arc::new(Room::new(&options));
        let permit = || room.all.clone().try_acquire_owned().unwrap();
        let (one, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let first = room.seat(one, permit()).unwrap();
        let _second = room.seat(one, permit()).unwrap();
        assert!(room.seat(one, permit()).is_none());
        let _others = room.seat(other, permit()).unwrap();
        drop(first);
        let _third = room.seat(one, permit()).unwrap();
        let seats: Vec<_> =
            (0..7).filter_map(|_| room.seat("::1".parse().unwrap(), permit())).collect();
        assert_eq!((seats.len(), room.all.available_permits()), (7, 0));
        drop(seats);
        assert_eq!(room.all.available_permits(), 7);
    }
}
