//! The worker's HTTP/2 server.
//!
//! Requests of another build's path are refused: where a new build took over an old one's
//! address, the old one's runs wait until it is back, instead of being replayed by other code.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{
    FutureExt as _,
    future::{self, BoxFuture},
};
use http_body_util::{Either as Body, Full};
use hyper::{Request, Response, StatusCode, body::Incoming, server::conn::http2, service::Service};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::graceful::GracefulShutdown,
};
use restate_sdk::{
    endpoint::{Endpoint, ResponseBody},
    hyper::HyperEndpoint,
};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{client::Admin, flight::Flights, names::ServiceName, watch};

/// How long requests under way may take to end when the worker is to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How long accepting pauses after it failed, such as for want of file handles.
const PAUSE: Duration = Duration::from_millis(100);

/// A running worker. Dropping it ends it at once; what it did not finish is done again elsewhere.
#[derive(Debug)]
pub struct Serving {
    addr: SocketAddr,
    path: String,
    service: ServiceName,
    flights: Flights,
    stop: Option<oneshot::Sender<()>>,
    /// Ends the connections too, with all that is under way on them.
    end: CancellationToken,
    task: JoinHandle<()>,
    watch: Option<JoinHandle<()>>,
}

impl Serving {
    pub(crate) fn start(
        listener: TcpListener,
        endpoint: Endpoint,
        build: &str,
        service: ServiceName,
        flights: Flights,
    ) -> io::Result<Self> {
        let addr = listener.local_addr()?;
        let path = format!("/{build}/");
        let (stop, stopped) = oneshot::channel();
        let served = Builds { path: path.as_str().into(), endpoint: HyperEndpoint::new(endpoint) };
        let end = CancellationToken::new();
        let task = tokio::spawn(serve(listener, served, stopped, end.clone()));
        Ok(Self { addr, path, service, flights, stop: Some(stop), end, task, watch: None })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The URL to register, as Restate reaches it: `base` is scheme, host and port of this worker
    /// or of a load balancer before all workers of this build, `http://` and the address listened
    /// on where it is absent.
    pub fn url(&self, base: Option<&str>) -> String {
        let base = base.map_or_else(|| format!("http://{}", self.addr), str::to_owned);
        format!("{}{}", base.trim_end_matches('/'), self.path)
    }

    /// The service of runs.
    pub fn service(&self) -> &ServiceName {
        &self.service
    }

    /// Looks for cancellations and pauses that other workers took the word for, while models are
    /// asked or tools called here: with several workers, such a step is otherwise stopped only by
    /// its own time limit. One query a second to Restate's admin API, none while nothing is under
    /// way.
    pub fn watch(&mut self, admin: Arc<Admin>) {
        let work = watch::watch(admin, self.service.clone(), self.flights.clone());
        if let Some(before) = self.watch.replace(tokio::spawn(work)) {
            before.abort();
        }
    }

    /// Ends it: takes no more requests, and gives those under way ten seconds.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            let _ = stop.send(());
        }
        let _ = (&mut self.task).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.end.cancel();
        self.task.abort();
        if let Some(watch) = &self.watch {
            watch.abort();
        }
    }
}

async fn serve(
    listener: TcpListener,
    served: Builds,
    mut stopped: oneshot::Receiver<()>,
    end: CancellationToken,
) {
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut stopped => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let connection = http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), served.clone());
        let connection = graceful.watch(connection);
        let end = end.clone();
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, %error, "a connection ended");
                    }
                }
                () = end.cancelled() => {}
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
}

/// The endpoint of one build, at its path.
#[derive(Clone)]
struct Builds {
    path: Arc<str>,
    endpoint: HyperEndpoint,
}

impl Service<Request<Incoming>> for Builds {
    type Response = Response<Body<ResponseBody, Full<Bytes>>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        if request.uri().path().starts_with(&*self.path) || request.uri().path() == "/health" {
            let answer = self.endpoint.call(request);
            return answer.map(|answer| answer.map(|response| response.map(Body::Left))).boxed();
        }
        tracing::warn!(
            path = request.uri().path(),
            build = &*self.path,
            "refused a request for another build: keep a worker of it running until its runs are over"
        );
        let mut refused = Response::new(Body::Right(Full::new(Bytes::new())));
        *refused.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        future::ready(Ok(refused)).boxed()
    }
}
