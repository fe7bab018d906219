//! Every address, and the access check before them.
//!
//! One layer around every request checks the token or the cookie, or, where no tokens are needed, that the request came
//! to this machine by a name of its own; and that requests of browsers which change something come from its own pages. It
//! also sets the headers of answers, counts and logs.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::HttpBody as _;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;

use crate::answer::Refusal;
use crate::app_state::AppState;
use crate::{api, auth, log, openapi, pages, sessions};

/// The content security policy of pages: a page loads its own style and images, and sends its forms to its own server only.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// An address and its handlers.
struct Route {
    path: &'static str,
    methods: &'static [&'static str],
    /// True if no token is needed.
    open: bool,
    /// True for a page for people.
    page: bool,
    handlers: MethodRouter<Arc<AppState>>,
}

/// The facts of an address and a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteFacts {
    /// The method.
    pub method: &'static str,
    /// The path, with names in braces for parts that differ.
    pub path: &'static str,
    /// True if no token is needed.
    pub open: bool,
    /// True for a page for people; all others are for programs.
    pub page: bool,
}

/// Every address with each of its methods.
pub fn routes() -> Vec<RouteFacts> {
    let of = |route: &Route| {
        let (path, open, page) = (route.path, route.open, route.page);
        route.methods.iter().map(move |method| RouteFacts { method, path, open, page }).collect::<Vec<_>>()
    };
    table().iter().flat_map(of).collect()
}

fn table() -> Vec<Route> {
    let program = |path, methods, handlers| Route { path, methods, open: false, page: false, handlers };
    let page = |path, methods, handlers| Route { path, methods, open: false, page: true, handlers };
    let open = |route: Route| Route { open: true, ..route };
    vec![
        program("/v1/query", &["POST"], post(api::query)),
        program("/v1/documents", &["POST"], post(api::add)),
        program("/v1/documents/{id}", &["GET", "DELETE"], get(api::document).delete(api::remove)),
        program("/v1/clusters", &["GET"], get(api::clusters)),
        program("/v1/clusters/{cluster}", &["GET"], get(api::cluster)),
        program("/v1/stats", &["GET"], get(api::stats)),
        open(program("/healthz", &["GET"], get(api::alive))),
        open(program("/readyz", &["GET"], get(api::ready))),
        program("/metrics", &["GET"], get(api::metrics)),
        program("/openapi.json", &["GET"], get(openapi::show)),
        page("/", &["GET"], get(pages::overview)),
        page("/clusters", &["GET"], get(pages::clusters)),
        page("/clusters/{cluster}", &["GET"], get(pages::cluster)),
        page("/documents", &["GET"], get(pages::find)),
        page("/documents/{number}", &["GET"], get(pages::document)),
        page("/compare", &["GET", "POST"], get(pages::compare).post(pages::compare_pasted)),
        page("/ask", &["GET", "POST"], get(pages::ask).post(pages::answer)),
        open(page("/login", &["GET", "POST"], get(pages::login).post(pages::log_in))),
        page("/logout", &["POST"], post(pages::log_out)),
        open(page("/style.css", &["GET"], get(pages::style))),
    ]
}

/// The addresses of a service.
pub(crate) fn router(state: Arc<AppState>) -> Router {
    let mut router = Router::new();
    for route in table() {
        router = router.route(route.path, route.handlers);
    }
    router
        .fallback(|| async { Refusal::missing("there is nothing at this address") })
        .layer(middleware::from_fn_with_state(state.clone(), handle))
        .with_state(state)
}

/// Answers one request through all layers.
pub(crate) async fn call(router: Router, request: Request) -> Response {
    match TowerToHyperService::new(router).call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// The layer around every request: checks access, completes the response, counts and logs.
async fn handle(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let _in_flight = state.metrics.begin();
    let number = state.next_request_number();
    let method = method_name(request.method());
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let is_page = is_page(request.uri().path());
    let path = request.uri().path().to_owned();
    let response = match check_access(&state, &request, &route) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let mut response = finish_response(&state, response, is_page, &path, &route);
    finish_headers(response.headers_mut(), number);
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    state.metrics.answered(method, &route, status, took);
    let bytes = response.body().size_hint().exact();
    log::request(&state.settings, &log::Line { request: number, method, route: &route, status, took, bytes });
    response
}

/// Returns the name of a method; unknown ones share one, so that no client can make our tables grow.
fn method_name(method: &Method) -> &'static str {
    let names = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"];
    names.into_iter().find(|name| *name == method.as_str()).unwrap_or("OTHER")
}

fn is_page(path: &str) -> bool {
    !path.starts_with("/v1/") && !["/healthz", "/readyz", "/metrics", "/openapi.json", "/v1"].contains(&path)
}

/// Checks access; the error is the reason why a request is refused.
fn check_access(state: &AppState, request: &Request, route: &str) -> Result<(), Refusal> {
    let headers = request.headers();
    let reads = [Method::GET, Method::HEAD].contains(request.method());
    let Some(tokens) = &state.settings.tokens else {
        // Nobody is asked for a token here. So pages of other sites that a browser has open must be kept out: they come under
        // the name of another host, or from another origin.
        if state.loopback && !state.settings.insecure && !is_local(headers) {
            return Err(forbidden("without a token, only requests to localhost are answered"));
        }
        return if reads { Ok(()) } else { same_origin(headers) };
    };
    if let Some(header) = headers.get(header::AUTHORIZATION) {
        let token = header.to_str().ok().and_then(auth::bearer);
        return if token.is_some_and(|token| tokens.admit(token)) { Ok(()) } else { Err(token_needed()) };
    }
    let open = table_is_open(route);
    if !open && !cookie_of(headers).is_some_and(|cookie| state.sessions.is_valid(cookie)) {
        return Err(token_needed());
    }
    if reads { Ok(()) } else { same_origin(headers) }
}

fn table_is_open(route: &str) -> bool {
    ["/healthz", "/readyz", "/login", "/style.css"].contains(&route)
}

fn token_needed() -> Refusal {
    let sentence = "a token is needed: send it as Authorization: Bearer TOKEN, or log in at /login";
    Refusal::new(StatusCode::UNAUTHORIZED, sentence)
}

fn forbidden(sentence: &str) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, sentence)
}

/// The cookie of a request, if it has ours.
pub(crate) fn cookie_of(headers: &HeaderMap) -> Option<&str> {
    headers.get_all(header::COOKIE).iter().find_map(|value| sessions::cookie(value.to_str().ok()?))
}

/// Browsers say where an order comes from; programs do not, and need not.
fn same_origin(headers: &HeaderMap) -> Result<(), Refusal> {
    let refused = || forbidden("orders are taken from pages of this service only");
    if let Some(site) = headers.get("sec-fetch-site") {
        return if site == "same-origin" || site == "none" { Ok(()) } else { Err(refused()) };
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let own = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    match (origin, own) {
        (Some((_, origin)), Some(own)) if origin.eq_ignore_ascii_case(own) => Ok(()),
        _ => Err(refused()),
    }
}

/// True when the request was sent to this machine by a name of its own.
fn is_local(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let Some(host) = hosts.next() else { return true };
    let Some(host) = host.to_str().ok().filter(|_| hosts.next().is_none()) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the IP address of the client.
pub(crate) fn peer(request: &Request) -> IpAddr {
    let address = request.extensions().get::<SocketAddr>();
    address.map_or(IpAddr::from([0, 0, 0, 0]), SocketAddr::ip)
}

/// Refusals of pages become pages, and those of the router get a sentence.
fn finish_response(state: &AppState, response: Response, is_page: bool, path: &str, route: &str) -> Response {
    let refusal = match response.extensions().get::<Refusal>() {
        Some(refusal) => refusal.clone(),
        // The router says which methods it takes in a header, behind us.
        None if response.status() == StatusCode::METHOD_NOT_ALLOWED => {
            let methods: Vec<&str> =
                routes().iter().filter(|facts| facts.path == route).map(|facts| facts.method).collect();
            let sentence = format!("this address takes {} only", methods.join(" and "));
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, sentence)
        }
        None => return response,
    };
    match is_page {
        true => pages::refusal(state, &refusal, path),
        false => refusal.into_response(),
    }
}

fn finish_headers(headers: &mut HeaderMap, number: u64) {
    let fixed: [(HeaderName, &'static str); 5] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not none: with none, forms of our own pages would come without their origin.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(HeaderName::from_static("x-request-id"), HeaderValue::from(number));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for host in
            ["localhost", "localhost:80", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::1]", "LOCALHOST"]
        {
            assert!(is_local(&headers(&[("host", host)])), "{host}");
        }
        for host in ["example.com", "127.0.0.1.example.com", "localhost.example.com:80", "192.168.0.1", ""] {
            assert!(!is_local(&headers(&[("host", host)])), "{host}");
        }
        assert!(!is_local(&headers(&[("host", "localhost"), ("host", "example.com")])));
    }

    #[test]
    fn orders_of_other_sites_are_refused() {
        let allowed = |pairs: &[(&'static str, &'static str)]| same_origin(&headers(pairs)).is_ok();
        assert!(allowed(&[]) && allowed(&[("sec-fetch-site", "same-origin")]));
        assert!(allowed(&[("host", "a:1"), ("origin", "http://a:1")]));
        assert!(!allowed(&[("host", "a:1"), ("origin", "http://a:2")]));
        assert!(!allowed(&[("host", "a:1"), ("origin", "null")]));
        assert!(
            !allowed(&[("sec-fetch-site", "cross-site")]) && !allowed(&[("sec-fetch-site", "same-site")])
        );
    }

    #[test]
    fn the_open_doors_are_those_of_the_table() {
        for route in table() {
            assert_eq!(table_is_open(route.path), route.open, "{}", route.path);
            assert_eq!(is_page(&route.path.replace(['{', '}'], "")), route.page, "{}", route.path);
        }
    }
}
