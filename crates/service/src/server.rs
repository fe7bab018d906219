//! Connections, from the first to the last.
//!
//! Each is led by hand: the headers of a request must come within a time limit, there is a bounded number of connections, and
//! when the service ends those at work come to their end first.
//!
//! `scripts/browser` uses the pages in a real Chromium (`outside/`), `scripts/malformed` sends requests made from
//! `/openapi.json`.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::sync::Semaphore;

use crate::app_state::AppState;
use crate::metrics::Limit;
use crate::source::Source;
use crate::{ServiceError, Settings, log, routes};

/// The interval at which the service checks whether it should end.
const STOP_POLL: Duration = Duration::from_millis(30);
/// Room for the head of a request; longer ones are refused.
const LONGEST_HEAD: usize = 64 << 10;

/// Takes an address, with port 0 any free one. Refuses one that others can reach unless they need a token, or
/// [`Settings::insecure`] says that they need none.
pub fn listen(address: SocketAddr, settings: &Settings) -> Result<TcpListener, ServiceError> {
    if !address.ip().is_loopback() && settings.tokens.is_none() && !settings.insecure {
        return Err(ServiceError::Exposed(address));
    }
    let listener = TcpListener::bind(address).map_err(|source| match source.kind() {
        ErrorKind::AddrInUse => ServiceError::InUse(address),
        _ => ServiceError::Listen { address, source },
    })?;
    listener.set_nonblocking(true).map_err(ServiceError::System)?;
    Ok(listener)
}

/// Answers on the address until `stop` is set; then finishes the requests under way, and closes the source.
pub fn serve(
    source: Source,
    listener: TcpListener,
    settings: Settings,
    stop: &AtomicBool,
) -> Result<(), ServiceError> {
    let address = listener.local_addr().map_err(ServiceError::System)?;
    let state = Arc::new(AppState::new(source, settings, address.ip().is_loopback())?);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(state.settings.threads.clamp(1, 4))
        .enable_io()
        .enable_time()
        .build()
        .map_err(ServiceError::System)?;
    log::event(&state.settings, "started");
    runtime.block_on(connections(&state, listener, stop))?;
    // Whoever still holds a connection is cut off here.
    runtime.shutdown_timeout(Duration::from_secs(1));
    state.close()
}

async fn connections(
    state: &Arc<AppState>,
    listener: TcpListener,
    stop: &AtomicBool,
) -> Result<(), ServiceError> {
    let listener = tokio::net::TcpListener::from_std(listener).map_err(ServiceError::System)?;
    let (router, graceful) = (routes::router(state.clone()), GracefulShutdown::new());
    let slots = Arc::new(Semaphore::new(state.settings.connections()));
    while !stop.load(Ordering::Relaxed) {
        let Ok(accepted) = tokio::time::timeout(STOP_POLL, listener.accept()).await else { continue };
        let Ok((stream, peer)) = accepted else {
            // The system has no more connections to give for now.
            tokio::time::sleep(STOP_POLL).await;
            continue;
        };
        let Ok(slot) = slots.clone().try_acquire_owned() else {
            // Not even a refusal is owed: that would need a connection, too.
            state.metrics.refused(Limit::Connections);
            continue;
        };
        // Answers go out as soon as they are there: lines of a stream are short.
        let _ = stream.set_nodelay(true);
        let connection = serve_connection(state, &router, TokioIo::new(stream), peer);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Whatever went wrong, went wrong for this client alone.
            let _ = connection.await;
            drop(slot);
        });
    }
    state.stop();
    drop(listener);
    log::event(&state.settings, "stopping");
    let _ = tokio::time::timeout(state.settings.timeout, graceful.shutdown()).await;
    Ok(())
}

type Connection<S> = hyper::server::conn::http1::Connection<TokioIo<tokio::net::TcpStream>, S>;

fn serve_connection(
    state: &AppState,
    router: &Router,
    stream: TokioIo<tokio::net::TcpStream>,
    peer: SocketAddr,
) -> Connection<
    impl hyper::service::Service<
        hyper::Request<Incoming>,
        Response = axum::response::Response,
        Error = Infallible,
        Future: Send + 'static,
    >
    + Send
    + 'static
    + use<>,
> {
    let router = router.clone();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let router = router.clone();
        async move {
            let mut request: Request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            Ok::<_, Infallible>(routes::call(router, request).await)
        }
    });
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(state.settings.timeout.min(Duration::from_secs(30)))
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(stream, service)
}
