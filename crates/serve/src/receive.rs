//! Receiving experiments, over HTTP.
//!
//! A machine asks whether an experiment is here by the hash of its content, then how much of its
//! file is, and sends the rest in pieces. The answer to the last says under which number it is.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use archive::{Imported, PIECE, Receipt, Received, Stored};
use axum::body::{Body, Bytes};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt;
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};

use crate::metrics;
use crate::respond::{made, told, told_with};
use crate::service::Service;
use crate::tokens::Right;
use crate::uploads::{Refusal, Upload};

/// How long a piece may take: [`PIECE`] bytes at 28 KB/s.
const PIECE_LIMIT: Duration = Duration::from_secs(300);
/// How long nothing of it may come.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a request waits until others have been received.
const TURN: Duration = Duration::from_secs(20);

/// The header with the number of bytes that are there.
const OFFSET: HeaderName = HeaderName::from_static(archive::OFFSET);

/// What is asked about an experiment.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    /// When it began, milliseconds since 1970 (UTC).
    began: i64,
    /// Marks of the notes that it should have, separated by `-`.
    #[serde(default)]
    notes: String,
}

/// `GET api/v1/archives/CONTENT?began=MS&notes=…`: the number of the experiment with this content
/// hash, if it has these notes.
pub(crate) async fn archive(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    Path(content): Path<String>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = service.access.check_writer(peer, &headers, Right::Push) {
        return *refused;
    }
    let (Ok(Query(asked)), true) = (asked, archive::is_hash(&content)) else {
        return told(StatusCode::BAD_REQUEST, "expected a content hash, and ?began=MILLISECONDS");
    };
    let Asked { began, notes } = asked;
    let number = move || {
        let notes = notes.split('-').filter(|mark| !mark.is_empty());
        service.number(&content, began, notes)
    };
    match blocking(number).await {
        Ok(Ok(Some(experiment))) => receipt(&Receipt {
            offset: 0,
            stored: Some(Stored { state: Received::Present, experiment }),
        }),
        Ok(Ok(None)) => told(StatusCode::NOT_FOUND, "this experiment is not here"),
        Ok(Err(error)) => failed(&error),
        Err(panicked) => panicked,
    }
}

/// `HEAD api/v1/uploads/SHA256?length=BYTES`: how much of a file is here.
pub(crate) async fn offset(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    Path(sha256): Path<String>,
    length: Result<Query<Length>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = service.access.check_writer(peer, &headers, Right::Push) {
        return *refused;
    }
    let (Some(uploads), Some(upload)) = (&service.uploads, upload(&sha256, length)) else {
        return told(StatusCode::BAD_REQUEST, UPLOAD);
    };
    let offset = uploads.offset(&upload);
    let value = HeaderValue::from(offset);
    told_with(StatusCode::OK, "", OFFSET, value)
}

/// `PUT api/v1/uploads/SHA256?length=BYTES` with the header `Upload-Offset`: the next piece.
pub(crate) async fn piece(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    Path(sha256): Path<String>,
    length: Result<Query<Length>, QueryRejection>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    if let Err(refused) = service.access.check_writer(peer, &head.headers, Right::Push) {
        return *refused;
    }
    let offset = head.headers.get(OFFSET);
    let offset = offset.and_then(|it| it.to_str().ok()).and_then(|it| it.parse().ok());
    let (Some(upload), Some(offset)) = (upload(&sha256, length), offset) else {
        return told(StatusCode::BAD_REQUEST, UPLOAD);
    };
    let Some(uploads) = &service.uploads else {
        return told(StatusCode::FORBIDDEN, "this service shows results that it can't add to");
    };
    let Ok(Ok(turn)) = timeout(TURN, uploads.turns.acquire()).await else {
        return later("other experiments are being received");
    };
    let piece = match read(body).await {
        Ok(piece) => piece,
        Err(refused) => return *refused,
    };
    let end = u64::saturating_add(offset, piece.len() as u64);
    let adding = Arc::clone(&service);
    let add = move || Some(adding.uploads.as_ref()?.add(&upload, offset, &piece));
    let bytes = end - offset;
    let added = blocking(add).await;
    drop(turn);
    if matches!(added, Ok(Some(Ok(_)))) {
        metrics::add(&service.metrics.received_bytes, bytes);
    }
    match added {
        Ok(Some(Ok(None))) => receipt(&Receipt { offset: end, stored: None }),
        Ok(Some(Ok(Some(imported)))) => {
            let (state, experiment) = match imported {
                Imported::Added(id, _) => (Received::Added, id.0),
                Imported::Present(id, _) => (Received::Present, id.0),
            };
            metrics::add(&service.metrics.received, u64::from(state == Received::Added));
            service.news.tell();
            receipt(&Receipt { offset: end, stored: Some(Stored { state, experiment }) })
        }
        Ok(Some(Err(refusal))) => refused(refusal),
        Ok(None) => failed(&"there is nothing that receives"),
        Err(panicked) => panicked,
    }
}

/// The length of a whole file.
#[derive(Debug, Deserialize)]
pub(crate) struct Length {
    length: u64,
}

const UPLOAD: &str =
    "expected the SHA-256 of a file as 64 hexadecimal digits, ?length=BYTES, and Upload-Offset";

fn upload(sha256: &str, length: Result<Query<Length>, QueryRejection>) -> Option<Upload> {
    Upload::new(sha256, length.ok()?.length)
}

/// Reads a piece, which may be neither too large nor too slow.
async fn read(body: Body) -> Result<Bytes, Box<Response>> {
    let mut piece = Vec::new();
    let mut body = body;
    let end = Instant::now() + PIECE_LIMIT;
    loop {
        let next = timeout_at(end.min(Instant::now() + SILENCE), body.frame()).await;
        let Ok(next) = next else {
            let text = "the piece did not come in time; send a smaller one, or try again";
            return Err(Box::new(told(StatusCode::REQUEST_TIMEOUT, text)));
        };
        let Some(frame) = next else { return Ok(piece.into()) };
        let Ok(frame) = frame else {
            return Err(Box::new(told(StatusCode::BAD_REQUEST, "the piece was cut off")));
        };
        if let Ok(data) = frame.into_data() {
            if piece.len() + data.len() > PIECE {
                let text = format!("a piece may have {PIECE} bytes; send several");
                return Err(Box::new(told(StatusCode::PAYLOAD_TOO_LARGE, &text)));
            }
            piece.extend_from_slice(&data);
        }
    }
}

/// Work that waits for disks, elsewhere.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response> {
    tokio::task::spawn_blocking(work).await.map_err(|_| failed(&"it panicked"))
}

fn receipt(receipt: &Receipt) -> Response {
    let text = serde_json::to_vec(receipt).unwrap_or_default();
    made(StatusCode::OK, "application/json", text)
}

fn later(text: &str) -> Response {
    let seconds = HeaderValue::from_static("2");
    told_with(StatusCode::SERVICE_UNAVAILABLE, text, header::RETRY_AFTER, seconds)
}

/// The error is printed here and not sent, because it has paths of this machine.
fn failed(error: &dyn std::fmt::Display) -> Response {
    eprintln!("could not receive an experiment: {error}");
    later("the experiment could not be stored; the output of `steelyard serve` says why")
}

fn refused(refusal: Refusal) -> Response {
    let wrong = |text: &str| told(StatusCode::UNPROCESSABLE_ENTITY, text);
    match refusal {
        Refusal::Offset(there) => {
            let mut response = receipt(&Receipt { offset: there, stored: None });
            *response.status_mut() = StatusCode::CONFLICT;
            response
        }
        Refusal::Busy => later("another request is about the same upload"),
        Refusal::TooLong => wrong("the piece goes beyond the length of the file"),
        Refusal::TooLarge(limit) => told(
            StatusCode::PAYLOAD_TOO_LARGE,
            &format!(
                "this service receives files of up to {limit} bytes; `steelyard serve --uploads` allows larger ones"
            ),
        ),
        Refusal::NoRoom => told(
            StatusCode::INSUFFICIENT_STORAGE,
            "unfinished uploads take all the space that they may (`steelyard serve --uploads`); those that nobody goes \
             on with are removed after a day",
        ),
        Refusal::Hash => wrong("the file has another SHA-256 than was announced; send it again"),
        Refusal::Archive(archive::Error::OtherState { state, here, here_state, .. }) => {
            wrong(&format!(
                "experiment {here} here is the same in another state: {here_state} here, {state} in what was pushed; both \
             together would count its trials twice; to replace it, remove it here first (`steelyard rm {here}`)"
            ))
        }
        Refusal::Archive(error) if error.is_about_one() => wrong(&error.to_string()),
        Refusal::Archive(error) => failed(&error),
        Refusal::Io(error) => failed(&error),
    }
}
