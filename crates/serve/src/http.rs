//! Requests and responses.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::Response;

use crate::service::{Answer, Service};

/// Only the app's own script runs. Style is also set by elements, as flamegraphs do.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every response.
const ALWAYS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    // It may be kept, but each time the service is asked whether it has changed.
    (header::CACHE_CONTROL, "no-cache"),
];

/// The service behind HTTP: GET and HEAD of the paths that it has.
pub fn router(service: Arc<Service>) -> Router {
    Router::new().fallback(respond).with_state(service)
}

async fn respond(State(service): State<Arc<Service>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = told(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered");
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    if !is_own_host(request.headers()) {
        let text = "open this service as http://localhost or http://127.0.0.1";
        return told(StatusCode::MISDIRECTED_REQUEST, text);
    }
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let known = known(request.headers());
    // Making a document may take long.
    let answer =
        move || service.answer(&path, |mark| known.iter().any(|it| it == mark || it == "*"));
    match tokio::task::spawn_blocking(answer).await {
        Ok(Ok(Answer::Document { content, mark, media_type })) => {
            let mut response = made(StatusCode::OK, media_type, content);
            tag(&mut response, &mark);
            response
        }
        Ok(Ok(Answer::Unchanged(mark))) => {
            let mut response = made(StatusCode::NOT_MODIFIED, "", Bytes::new());
            response.headers_mut().remove(header::CONTENT_TYPE);
            tag(&mut response, &mark);
            response
        }
        Ok(Ok(Answer::Missing)) => told(StatusCode::NOT_FOUND, "there is no such document"),
        // The results are busy, or were removed: another request may succeed.
        Ok(Err(error)) => told(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
        Err(_) => told(
            StatusCode::INTERNAL_SERVER_ERROR,
            "steelyard failed to make this document; the output of `steelyard serve` says why",
        ),
    }
}

fn made(status: StatusCode, media_type: &'static str, content: impl Into<Body>) -> Response {
    let mut response = Response::new(content.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.extend(ALWAYS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

fn told(status: StatusCode, text: &str) -> Response {
    made(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

/// Weak, because a document made while a run writes may already have what a later mark stands for.
fn tag(response: &mut Response, mark: &str) {
    if let Ok(value) = HeaderValue::from_str(&format!("W/\"{mark}\"")) {
        response.headers_mut().insert(header::ETAG, value);
    }
}

/// The marks in `If-None-Match`.
fn known(headers: &HeaderMap) -> Vec<String> {
    let lines = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_owned()).collect()
}

/// False if the browser was told that this machine is called otherwise: then a page from elsewhere
/// is asking.
fn is_own_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, after)) if port(after) => name,
        _ => host,
    };
    let loopback = name.parse().is_ok_and(|ip: std::net::Ipv4Addr| ip.is_loopback());
    loopback || name.eq_ignore_ascii_case("localhost") || name == "[::1]"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn only_own_names_are_answered() {
        for host in ["localhost", "LOCALHOST:7700", "127.0.0.1:7700", "127.1.2.3", "[::1]:7700"] {
            assert!(is_own_host(&headers(header::HOST, host)), "{host}");
        }
        for host in ["evil.example", "evil.example:7700", "localhost.evil.example", "10.0.0.1", ""]
        {
            assert!(!is_own_host(&headers(header::HOST, host)), "{host}");
        }
    }

    #[test]
    fn marks_are_read_in_all_forms() {
        let read = |value| known(&headers(header::IF_NONE_MATCH, value));
        assert_eq!(read("W/\"a\", \"b\""), ["a", "b"]);
        assert_eq!(read("*"), ["*"]);
        assert_eq!(read("\"\""), [""]);
    }
}
