//! Notes on experiments, from people who look at the pages.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Extension, Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use site::NoteError;
use store::{Note, NoteKind};

use crate::body::small;
use crate::respond::told;
use crate::service::Service;
use crate::tokens::Right;

/// Bytes of a note at most.
const LARGEST: usize = 16 << 10;

/// A note as it is sent. Who writes it is who has the token.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    kind: NoteKind,
    #[serde(default)]
    text: String,
    step: Option<String>,
    dop: Option<u32>,
    variant: Option<String>,
}

/// `POST api/v1/experiments/ID/notes`: adds a note.
pub(crate) async fn add(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let by = match service.access.check_writer(peer, &head.headers, Right::Push) {
        Ok(name) => name,
        Err(refused) => return *refused,
    };
    let Some(text) = small(body, LARGEST).await else {
        return told(StatusCode::PAYLOAD_TOO_LARGE, "expected a note of at most 16 KB, all of it");
    };
    let sent: Sent = match serde_json::from_slice(&text) {
        Ok(sent) => sent,
        Err(error) => {
            let text = format!("expected a note as JSON, such as {{\"kind\": \"noise\"}}: {error}");
            return told(StatusCode::BAD_REQUEST, &text);
        }
    };
    let Sent { kind, text, step, dop, variant } = sent;
    let note = Note { step, dop, variant, kind, text, by, at_ms: store::now_ms() };
    let added = move || {
        let results = service.results();
        let id = id.parse().map_err(|_| NoteError::NoExperiment)?;
        site::add_note(&results, id, &note)
    };
    match tokio::task::spawn_blocking(added).await {
        Ok(Ok(())) => told(StatusCode::CREATED, "noted"),
        Ok(Err(error @ NoteError::NoExperiment)) => told(StatusCode::NOT_FOUND, &error.to_string()),
        Ok(Err(NoteError::Refused(why))) => told(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Ok(Err(NoteError::Store(error))) => {
            eprintln!("could not add a note: {error}");
            let text = "the note could not be stored; the output of `steelyard serve` says why";
            told(StatusCode::SERVICE_UNAVAILABLE, text)
        }
        Err(_) => told(StatusCode::INTERNAL_SERVER_ERROR, "the note could not be stored"),
    }
}
