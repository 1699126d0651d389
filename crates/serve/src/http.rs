//! Requests and responses.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Extension, Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::{get, head};

use crate::receive;
use crate::respond::{made, told};
use crate::service::{Answer, Service};

/// The service behind HTTP: GET and HEAD of the paths that it has, and what receives experiments.
/// Requests have the address of the peer as an extension.
pub(crate) fn router(service: Arc<Service>) -> Router {
    // Other methods are refused like those of documents.
    Router::new()
        .route("/api/v1/archives/{content}", get(receive::archive).fallback(respond))
        .route(
            "/api/v1/uploads/{sha256}",
            head(receive::offset).put(receive::piece).fallback(respond),
        )
        .fallback(respond)
        .with_state(service)
}

async fn respond(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = told(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered");
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    if let Err(refused) = service.access.check_reader(peer, request.headers()) {
        return *refused;
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

#[cfg(test)]
mod tests {
    use super::*;

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
