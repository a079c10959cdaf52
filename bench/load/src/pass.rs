//! A plain reverse proxy: what comes goes on, and what comes back goes back. What any proxy costs.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use http_body_util::{Either, Full};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1::SendRequest,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Mutex,
};

use crate::Failed;

/// Connections to the provider that wait for a request.
type Idle = Arc<Mutex<Vec<SendRequest<Incoming>>>>;

type Answer = Response<Either<Incoming, Full<Bytes>>>;

/// Prints its address, and serves.
pub(crate) async fn serve(to: SocketAddr) -> Result<(), Failed> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    forward(listener, to).await
}

/// Serves for ever.
pub(crate) async fn forward(listener: TcpListener, to: SocketAddr) -> Result<(), Failed> {
    let idle = Idle::default();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let idle = idle.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| passed(request, to, idle.clone()));
            // A client that goes away is none of ours.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn passed(
    request: Request<Incoming>,
    to: SocketAddr,
    idle: Idle,
) -> Result<Answer, Infallible> {
    Ok(go(request, to, &idle).await.unwrap_or_else(|error| {
        let text = Full::new(Bytes::from(error.to_string()));
        let mut response = Response::new(Either::Right(text));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    }))
}

async fn go(request: Request<Incoming>, to: SocketAddr, idle: &Idle) -> Result<Answer, Failed> {
    let free = {
        let mut idle = idle.lock().await;
        idle.retain(|connection| !connection.is_closed());
        // One that is still reading the answer before is not free.
        let place = idle.iter().position(SendRequest::is_ready);
        place.map(|place| idle.swap_remove(place))
    };
    let mut connection = match free {
        Some(connection) => connection,
        None => {
            let stream = TcpStream::connect(to).await?;
            stream.set_nodelay(true)?;
            let (send, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            send
        }
    };
    let response = connection.send_request(request).await?;
    idle.lock().await.push(connection);
    Ok(response.map(Either::Left))
}
