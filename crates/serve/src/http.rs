//! Requests and responses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware;
use axum::response::Response;
use axum::routing::{get, head, post, put};

use crate::notes;
use crate::receive;
use crate::respond::{made, told, told_with};
use crate::runs;
use crate::service::{Answer, Service};

/// The service behind HTTP: GET and HEAD of the paths that it has, and what receives experiments.
/// Requests have the address of the peer as an extension.
pub(crate) fn router(service: Arc<Service>) -> Router {
    // Other methods are refused like those of documents.
    Router::new()
        .route("/api/v1/archives/{content}", get(receive::archive).fallback(respond))
        .route(
            "/api/v1/uploads/{sha256}",
            head(receive::offset).put(receive::piece).fallback(no_upload),
        )
        .route("/api/v1/live.json", get(runs::document).fallback(respond))
        .route("/api/v1/live", get(runs::events).fallback(respond))
        .route("/api/v1/live/{process}/stop", post(runs::stop).fallback(only_post))
        .route(
            "/api/v1/live/{process}/{began}",
            put(runs::report).delete(runs::ended).fallback(no_report),
        )
        .route("/api/v1/experiments/{id}/notes", post(notes::add).fallback(only_post))
        .route("/api/v1/runs", post(runs::start).fallback(only_post))
        .route("/metrics", get(metrics).fallback(respond))
        .fallback(respond)
        .layer(middleware::from_fn_with_state(Arc::clone(&service), counted))
        .with_state(service)
}

/// Counts a response.
async fn counted(
    State(service): State<Arc<Service>>,
    request: Request,
    next: middleware::Next,
) -> Response {
    let begin = Instant::now();
    let response = next.run(request).await;
    service.metrics.count(response.status().as_u16(), begin.elapsed());
    response
}

/// `GET metrics`, for those who may read.
async fn metrics(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = service.access.check_reader(peer, &headers) {
        return *refused;
    }
    match tokio::task::spawn_blocking(move || service.metrics()).await {
        Ok(Ok(text)) => made(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text),
        Ok(Err(error)) => told(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
        Err(_) => told(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be told"),
    }
}

/// The answer to other methods than these.
fn only(methods: &'static str) -> Response {
    let text = format!("expected one of the methods {methods}");
    let allowed = HeaderValue::from_static(methods);
    told_with(StatusCode::METHOD_NOT_ALLOWED, &text, header::ALLOW, allowed)
}

async fn no_upload() -> Response {
    only("HEAD, PUT")
}

async fn no_report() -> Response {
    only("PUT, DELETE")
}

async fn only_post() -> Response {
    only("POST")
}

async fn respond(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return only("GET, HEAD");
    }
    if let Err(refused) = service.access.check_reader(peer, request.headers()) {
        return *refused;
    }
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let known = known(request.headers());
    let packs = takes_gzip(request.headers());
    // Making a document may take long.
    let answer = move || {
        let known = |mark: &str| known.iter().any(|it| it == mark || it == "*");
        if packs { service.answer_packed(&path, known) } else { service.answer(&path, known) }
    };
    match tokio::task::spawn_blocking(answer).await {
        Ok(Ok(Answer::Document { content, mark, media_type, packed })) => {
            let mut response = made(StatusCode::OK, media_type, content);
            let headers = response.headers_mut();
            headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
            if packed {
                headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
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

/// Weak, because a document made while a run writes may already have what a later mark stands for.
fn tag(response: &mut Response, mark: &str) {
    if let Ok(value) = HeaderValue::from_str(&format!("W/\"{mark}\"")) {
        response.headers_mut().insert(header::ETAG, value);
    }
}

/// True if the asker takes content that is compressed by gzip.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = lines.filter_map(|line| line.to_str().ok()).flat_map(|it| it.split(','));
    codings.any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

/// The marks in `If-None-Match`.
fn known(headers: &HeaderMap) -> Vec<String> {
    let lines = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
    let tags = lines.flat_map(|line| line.split(',')).map(str::trim);
    tags.map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        let takes = |value| {
            let value = HeaderValue::from_static(value);
            takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]))
        };
        assert!(takes("gzip") && takes("br, GZIP;q=0.5") && takes("deflate,gzip"));
        assert!(!takes("") && !takes("br") && !takes("gzip;q=0") && !takes("x-gzipped"));
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn marks_are_read_in_all_forms() {
        let read = |value| {
            let value = HeaderValue::from_static(value);
            known(&HeaderMap::from_iter([(header::IF_NONE_MATCH, value)]))
        };
        assert_eq!(read("W/\"a\", \"b\""), ["a", "b"]);
        assert_eq!(read("*"), ["*"]);
        assert_eq!(read("\"\""), [""]);
    }
}
