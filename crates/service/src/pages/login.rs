//! The login: a token once, then a cookie.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};

use super::frame::page_with;
use crate::answer::Refusal;
use crate::app_state::AppState;
use crate::body;
use crate::form::Form;
use crate::metrics::Limit;
use crate::routes::{cookie_of, peer};
use crate::sessions::{COOKIE, LIFETIME};

/// A token is short.
const LONGEST_BODY: usize = 8 << 10;

/// `GET /login`
pub(crate) async fn login(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    let form = Form::of(&uri)?;
    Ok(login_form(&state, StatusCode::OK, None, next(&form)))
}

/// The form for a token, with what was wrong with the last one.
pub(super) fn login_form(state: &AppState, status: StatusCode, wrong: Option<&str>, path: &str) -> Response {
    page_with(state, status, "Log in", None, |html| {
        html.leaf("h1", &[], "Log in");
        if state.settings.tokens.is_none() {
            html.leaf("p", &[], "No token is needed here.");
            html.element("p", &[], |html| html.leaf("a", &[("href", "/")], "To the overview"));
            return;
        }
        html.leaf(
            "p",
            &[],
            "A token is needed. Whoever runs this service has it in the file of --token-file.",
        );
        if let Some(wrong) = wrong {
            html.leaf("p", &[("class", "wrong"), ("role", "alert")], wrong);
        }
        html.element("form", &[("method", "post"), ("action", "/login"), ("class", "stack")], |html| {
            html.leaf("label", &[("for", "token")], "Token");
            let token = [
                ("type", "password"),
                ("id", "token"),
                ("name", "token"),
                ("required", "required"),
                ("autocomplete", "current-password"),
                ("autofocus", "autofocus"),
            ];
            html.void("input", &token);
            html.void("input", &[("type", "hidden"), ("name", "next"), ("value", local_path(path))]);
            html.leaf("button", &[], "Log in");
        });
    })
}

/// `POST /login`
pub(crate) async fn log_in(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, Refusal> {
    let Some(tokens) = &state.settings.tokens else { return Ok(Redirect::to("/").into_response()) };
    let from = peer(&request);
    if !state.sessions.may_try(from) {
        state.metrics.refused(Limit::Tries);
        return Err(Refusal::busy("too many wrong tokens; wait a minute", 60));
    }
    if body::media(request.headers()) != Some(body::Media::Form) {
        return Err(body::unsupported("application/x-www-form-urlencoded"));
    }
    let (bytes, _slot) = body::read_up_to(&state, request, LONGEST_BODY).await?;
    let form = Form::read(&bytes)?;
    if !form.get("token").is_some_and(|token| tokens.admit(token.trim())) {
        state.sessions.failed(from);
        let wrong = "This token is not among those of the service.";
        return Ok(login_form(&state, StatusCode::UNAUTHORIZED, Some(wrong), next(&form)));
    }
    let value = state.sessions.begin().ok_or_else(|| Refusal::failed("the system has no randomness"))?;
    let seconds = LIFETIME.as_secs();
    let cookie = format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}");
    Ok(with_cookie(Redirect::to(next(&form)), &cookie))
}

/// `POST /logout`
pub(crate) async fn log_out(State(state): State<Arc<AppState>>, request: Request) -> Response {
    if let Some(cookie) = cookie_of(request.headers()) {
        state.sessions.end(cookie);
    }
    let gone = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    with_cookie(Redirect::to("/login"), &gone)
}

fn with_cookie(to: Redirect, cookie: &str) -> Response {
    let mut response = to.into_response();
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

fn next(form: &Form) -> &str {
    form.get("next").map_or("/", local_path)
}

/// An address of our own, or the overview: nobody is sent elsewhere.
fn local_path(path: &str) -> &str {
    let own = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
    let plain = path.bytes().all(|byte| byte.is_ascii_graphic());
    if own && plain && path != "/logout" && path != "/login" { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for own in ["/", "/clusters?sort=size", "/documents/7"] {
            assert_eq!(local_path(own), own);
        }
        for other in ["//example.com", "https://example.com", "/\\example.com", "", "x", "/a\r\nb", "/login"]
        {
            assert_eq!(local_path(other), "/");
        }
    }
}
