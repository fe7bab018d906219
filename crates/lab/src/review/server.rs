//! The page on the loopback.
//!
//! Only this machine reaches it; pages of other sites that a browser has open cannot use it, since requests for another
//! host and posts from another origin are refused. What a page may do is its policy: the one script, by a word that
//! changes with every page, and requests to this server.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName};
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;

use super::ReviewError;
use super::session::{Session, Step};
use super::summary::Summary;

/// Longest body of a request, in bytes; a button sends a short one.
const LONGEST_BODY: usize = 1024;
/// The interval at which the server checks whether it should end.
const POLL_INTERVAL: Duration = Duration::from_millis(30);

/// Takes a port of the loopback; 0 is any free one.
pub fn listen(port: u16) -> Result<TcpListener, ReviewError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = TcpListener::bind(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => ReviewError::PortInUse(port),
        _ => ReviewError::Server(error),
    })?;
    listener.set_nonblocking(true).map_err(ReviewError::Server)?;
    Ok(listener)
}

/// Serves the pages of a session until `stop` is set, and says what was judged by then.
pub fn serve(session: Session, listener: TcpListener, stop: &AtomicBool) -> Result<Summary, ReviewError> {
    let port = listener.local_addr().map_err(ReviewError::Server)?.port();
    let state = Arc::new(ServerState { session: Mutex::new(session), port });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(ReviewError::Server)?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(ReviewError::Server)?;
        let server = tokio::spawn(axum::serve(listener, pages(state.clone())).into_future());
        while !stop.load(Ordering::Relaxed) && !server.is_finished() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        // Connections need no farewell: what was judged is in the file before its answer is written.
        server.abort();
        let _ = server.await;
        Ok(())
    })?;
    Ok(state.session().summary())
}

/// The state that all pages share.
struct ServerState {
    session: Mutex<Session>,
    port: u16,
}

impl ServerState {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if `host` names this server and its port.
    fn is_host(&self, host: &str) -> bool {
        [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)].iter().any(|own| own == host)
    }
}

fn pages(state: Arc<ServerState>) -> Router {
    Router::new()
        .route("/", get(begin))
        .route("/pair/{at}", get(show).post(post_step))
        .fallback(|| async { (StatusCode::NOT_FOUND, "there is no such page; go to /") })
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::from_fn_with_state(state.clone(), guard))
        .with_state(state)
}

/// Refuses what does not come from a page of this server, and forbids others to hold on to what it says.
async fn guard(State(state): State<Arc<ServerState>>, request: Request, next: Next) -> Response {
    let mut response = match refusal(&state, &request) {
        Some(why) => (StatusCode::FORBIDDEN, why).into_response(),
        None => next.run(request).await,
    };
    let headers: [(HeaderName, &str); 4] = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not none: with none, posts of our own pages would come without their origin.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in headers {
        response.headers_mut().insert(name, axum::http::HeaderValue::from_static(value));
    }
    response
}

/// Returns the reason why a request is refused; none if it is not.
fn refusal(state: &ServerState, request: &Request) -> Option<&'static str> {
    let headers = request.headers();
    let Some(host) = single_value(headers, header::HOST).filter(|host| state.is_host(host)) else {
        return Some("this server answers only to 127.0.0.1 and localhost with its own port");
    };
    if request.uri().authority().is_some_and(|authority| authority.as_str() != host) {
        return Some("the address and the host of the request differ");
    }
    if request.method() == Method::GET || request.method() == Method::HEAD {
        return None;
    }
    let own = format!("http://{host}");
    let foreign = headers.contains_key(header::ORIGIN) && single_value(headers, header::ORIGIN) != Some(&own);
    foreign.then_some("orders are taken from pages of this server only")
}

/// The value of a header that is there once.
fn single_value(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    value.to_str().ok()
}

async fn begin(State(state): State<Arc<ServerState>>) -> Redirect {
    Redirect::to(&address(state.session().begin()))
}

async fn show(State(state): State<Arc<ServerState>>, Path(at): Path<String>) -> Response {
    let session = state.session();
    let Some(at) = pair_number(&session, &at) else { return unknown() };
    let nonce = nonce();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(session.page(at, &nonce))).into_response()
}

async fn post_step(State(state): State<Arc<ServerState>>, Path(at): Path<String>, body: Bytes) -> Response {
    let mut session = state.session();
    let Some(at) = pair_number(&session, &at) else { return unknown() };
    // Names and values of our buttons need no escapes.
    let step = std::str::from_utf8(&body).ok().and_then(|body| body.split_once('='));
    let Some(step) = step.and_then(|(name, value)| Step::of(name, value)) else {
        return (StatusCode::BAD_REQUEST, "no button gives this order").into_response();
    };
    match session.step(at, step) {
        Ok(to) => Redirect::to(&address(to)).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("Not kept: {error}")).into_response(),
    }
}

fn pair_number(session: &Session, at: &str) -> Option<usize> {
    at.parse().ok().filter(|at| session.has(*at))
}

fn address(at: usize) -> String {
    format!("/pair/{at}")
}

fn unknown() -> Response {
    (StatusCode::NOT_FOUND, "there is no such pair; go to /").into_response()
}

/// A word that nobody can guess: the standard library seeds its tables from the system's randomness.
fn nonce() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_said() {
        let taken = listen(0).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert!(taken.local_addr().unwrap().ip().is_loopback());
        let error = listen(port).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("port {port} of 127.0.0.1 is in use; give another by --port, or none for a free one")
        );
    }

    #[test]
    fn nonces_differ() {
        assert_ne!(nonce(), nonce());
        assert_eq!(nonce().len(), 32);
    }
}
