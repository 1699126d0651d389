//! Responses, with the headers that all have.

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::response::Response;

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

/// A response with content.
pub(crate) fn made(
    status: StatusCode,
    media_type: &'static str,
    content: impl Into<Body>,
) -> Response {
    let mut response = Response::new(content.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.extend(ALWAYS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A response of one sentence.
pub(crate) fn told(status: StatusCode, text: &str) -> Response {
    made(status, "text/plain; charset=utf-8", format!("{text}\n"))
}

/// A response of one sentence with a further header.
pub(crate) fn told_with(
    status: StatusCode,
    text: &str,
    name: HeaderName,
    value: HeaderValue,
) -> Response {
    let mut response = told(status, text);
    response.headers_mut().insert(name, value);
    response
}
