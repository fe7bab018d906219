//! One request and its answer: bounded in time and size, to no host that was not named, redirects included.

use std::time::SystemTime;

use ureq::http::{Response, Uri};
use ureq::{Agent, Body};

use crate::engine::NEVER_RETRY;
use crate::http::description::Description;
use crate::http::hosts::{authority, resolve};
use crate::http::retry_after;

/// Most redirects followed for one request.
const MOST_REDIRECTS: usize = 5;

/// Headers with their values.
type Headers = Vec<(String, String)>;

/// The HTTP client of an engine.
pub(crate) struct HttpClient {
    agent: Agent,
    secrets: Headers,
}

/// The reply of a server.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// Without parameters, in lower case; empty when nothing is said.
    pub(crate) media: String,
    pub(crate) charset: Option<String>,
    pub(crate) bytes: Vec<u8>,
}

/// The reason why there is no reply.
#[derive(Debug)]
pub(crate) struct RequestFailure {
    pub(crate) why: String,
    pub(crate) after: Option<std::time::Duration>,
    /// True if no question will be answered.
    pub(crate) fatal: bool,
}

impl RequestFailure {
    /// Creates a failure that may pass: another try may be answered.
    pub(crate) fn transient(why: impl std::fmt::Display) -> Self {
        RequestFailure { why: why.to_string(), after: None, fatal: false }
    }

    /// Creates a failure that will last: another try is of no use.
    pub(crate) fn permanent(why: impl std::fmt::Display) -> Self {
        RequestFailure { why: why.to_string(), after: Some(NEVER_RETRY), fatal: false }
    }

    /// Creates the failure of an engine that cannot be asked like this.
    pub(crate) fn fatal(why: impl std::fmt::Display) -> Self {
        RequestFailure { why: why.to_string(), after: Some(NEVER_RETRY), fatal: true }
    }
}

impl HttpClient {
    pub(crate) fn new(described: &Description, secrets: Headers) -> Self {
        let config = Agent::config_builder()
            // Nobody but those that are named: no proxy from the environment, and redirects are looked at first.
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_global(Some(described.timeout))
            .user_agent(described.user_agent.as_str())
            .build();
        HttpClient { agent: config.new_agent(), secrets }
    }

    /// Asks for an address.
    pub(crate) fn get(&self, described: &Description, address: &str) -> Result<Reply, RequestFailure> {
        let parsed = address.parse::<Uri>();
        let mut uri = parsed.map_err(|error| RequestFailure::permanent(format!("no address: {error}")))?;
        for _ in 0..=MOST_REDIRECTS {
            if !described.hosts.allow(&uri) {
                let host = authority(&uri).unwrap_or_else(|| "nobody".to_owned());
                return Err(RequestFailure::permanent(format!(
                    "{host} is not among the hosts that its description names"
                )));
            }
            let response = self.ask(described, &uri)?;
            match redirect(&uri, &response)? {
                Some(next) if uri.scheme_str() == Some("https") && next.scheme_str() != Some("https") => {
                    return Err(RequestFailure::permanent("a redirect away from https"));
                }
                Some(next) => {
                    // Where one is sent, one is as polite as where one asked.
                    std::thread::sleep(described.delay);
                    uri = next;
                }
                None => return reply(response, described.max_bytes),
            }
        }
        Err(RequestFailure::permanent(format!("more than {MOST_REDIRECTS} redirects")))
    }

    fn ask(&self, described: &Description, uri: &Uri) -> Result<Response<Body>, RequestFailure> {
        let mut request = self.agent.get(uri);
        let is_secret_host = authority(uri).as_deref() == Some(described.secret_host.as_str());
        if is_secret_host && uri.scheme_str() == Some(described.secret_scheme.as_str()) {
            for (name, value) in &self.secrets {
                request = request.header(name, value);
            }
        }
        request.call().map_err(RequestFailure::transient)
    }
}

/// Returns the target of a redirect, if the answer is one.
fn redirect(from: &Uri, response: &Response<Body>) -> Result<Option<Uri>, RequestFailure> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = header(response, "location").and_then(|location| resolve(from, location));
    location.map(Some).ok_or_else(|| RequestFailure::permanent("a redirect to nowhere"))
}

fn header<'r>(response: &'r Response<Body>, name: &str) -> Option<&'r str> {
    response.headers().get(name)?.to_str().ok()
}

fn reply(mut response: Response<Body>, max_bytes: u64) -> Result<Reply, RequestFailure> {
    let status = response.status().as_u16();
    if status == 408 || status == 429 || status >= 500 {
        let wait = header(&response, "retry-after");
        let after = wait.and_then(|wait| retry_after::wait(wait, SystemTime::now()));
        return Err(RequestFailure { why: format!("status {status}"), after, fatal: false });
    }
    let body = response.body();
    let media = body.mime_type().unwrap_or_default().trim().to_ascii_lowercase();
    let charset = body.charset().map(str::to_owned);
    // One more than allowed, to tell a large answer from one that is too large.
    let read = response.body_mut().with_config().limit(max_bytes + 1).read_to_vec();
    let bytes = match read {
        Ok(bytes) if bytes.len() as u64 <= max_bytes => bytes,
        Ok(_) | Err(ureq::Error::BodyExceedsLimit(_)) => {
            return Err(RequestFailure::permanent(format!("the answer has more than {max_bytes} bytes")));
        }
        Err(error) => return Err(RequestFailure::transient(error)),
    };
    Ok(Reply { status, media, charset, bytes })
}
