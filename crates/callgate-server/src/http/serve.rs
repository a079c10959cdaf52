//! Connections: accepted within a limit, slow heads cut off, ended cleanly.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, middleware, routing::get};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore};

use super::{HttpOptions, guard};
use crate::ServeError;

/// How long connections may take to close once everything is answered.
const CLOSING: Duration = Duration::from_secs(5);

/// How long accepting rests after the system refused a connection (no more descriptors).
const REST: Duration = Duration::from_millis(50);

/// One address that is listened on.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    options: HttpOptions,
}

impl HttpServer {
    /// Listens. Requests wait until [`run`](Self::run).
    ///
    /// # Errors
    /// The options do not do ([`HttpOptions::check`]), or the address cannot be had.
    pub async fn bind(options: HttpOptions) -> Result<Self, ServeError> {
        options.check()?;
        let failed = |source| ServeError::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, options })
    }

    /// The address, with the port that was chosen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How the door is set.
    pub fn options(&self) -> &HttpOptions {
        &self.options
    }

    /// Serves a router behind the checks, and `/healthz`, until `until`; then accepts nobody,
    /// waits for `drain`, and closes.
    ///
    /// # Errors
    /// None today; a door that can break while it is open will say so here.
    pub async fn run(
        self,
        router: Router,
        until: impl Future<Output = ()>,
        drain: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let guard = guard::Guard::of(&self.options);
        let router = router
            .route("/healthz", get(async || "ok\n"))
            .layer(middleware::from_fn_with_state(guard, guard::check));
        let connections =
            Arc::new(Semaphore::new(self.options.max_connections.clamp(1, Semaphore::MAX_PERMITS)));
        let graceful = GracefulShutdown::new();
        let mut until = std::pin::pin!(until);
        loop {
            let accepted = tokio::select! {
                accepted = accept(&self.listener, &connections) => accepted,
                () = &mut until => break,
            };
            let Some((stream, permit)) = accepted else {
                tokio::time::sleep(REST).await;
                continue;
            };
            let service = TowerToHyperService::new(router.clone());
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(self.options.head_timeout)
                .serve_connection(TokioIo::new(stream), service);
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection broke");
                }
                drop(permit);
            });
        }
        drop(self.listener);
        drain.await;
        if tokio::time::timeout(CLOSING, graceful.shutdown()).await.is_err() {
            tracing::warn!("some connections did not close in time");
        }
        Ok(())
    }
}

type Permit = tokio::sync::OwnedSemaphorePermit;

/// The next connection, once there is room for it; nothing where the system could not give it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, Permit)> {
    let permit = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are small and somebody waits for each.
            let _ = stream.set_nodelay(true);
            Some((stream, permit))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            None
        }
    }
}
