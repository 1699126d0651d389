//! Requests about runs under way, and for new ones.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::stream;
use site::live::{LiveDocument, LiveRun};

use crate::body::small;
use crate::live::{Live, Unstopped};
use crate::respond::{made, told};
use crate::service::Service;
use crate::start::{Asked, Unstarted};
use crate::tokens::Right;

/// Keeps a proxy from holding events back.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Bytes of a request for a run at most.
const LARGEST: usize = 4 << 10;
/// Bytes of a report at most.
const LARGEST_RUN: usize = 256 << 10;

/// `GET api/v1/live.json`: the runs under way.
pub(crate) async fn document(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = service.access.check_reader(peer, &headers) {
        return *refused;
    }
    let document = move || match &service.live {
        Some(live) => live.document(),
        None => LiveDocument::of_site(),
    };
    match tokio::task::spawn_blocking(document).await.map(|it| serde_json::to_vec(&it)) {
        Ok(Ok(text)) => made(StatusCode::OK, "application/json", text),
        _ => told(StatusCode::INTERNAL_SERVER_ERROR, "the runs under way cannot be told"),
    }
}

/// `GET api/v1/live`: the same whenever it changes, as server-sent events.
pub(crate) async fn events(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = service.access.check_reader(peer, &headers) {
        return *refused;
    }
    let follow = move || service.live.as_ref().map(Live::follow);
    let Ok(Some(receiver)) = tokio::task::spawn_blocking(follow).await else {
        return told(StatusCode::NOT_FOUND, "this service knows of no runs under way");
    };
    let events = stream::unfold(receiver, async |mut receiver| {
        receiver.changed().await.ok()?;
        let event = receiver.borrow_and_update().clone();
        Some((Ok::<_, Infallible>(event), receiver))
    });
    let mut response = made(StatusCode::OK, "text/event-stream", Body::from_stream(events));
    response.headers_mut().insert(UNBUFFERED, HeaderValue::from_static("no"));
    response
}

/// `POST api/v1/live/PROCESS/stop`: asks a run to end. What it has finished is kept.
pub(crate) async fn stop(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    Path(process): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Err(refused) = service.access.check_writer(peer, &headers, Right::Run) {
        return *refused;
    }
    let stop = move || {
        let (live, process) =
            service.live.as_ref().zip(process.parse().ok()).ok_or(Unstopped::Missing)?;
        live.stop(process)
    };
    match tokio::task::spawn_blocking(stop).await.unwrap_or(Err(Unstopped::Missing)) {
        Ok(()) => told(StatusCode::ACCEPTED, "it ends, and keeps what has finished"),
        Err(Unstopped::Missing) => told(StatusCode::NOT_FOUND, "there is no such run under way"),
        Err(Unstopped::Elsewhere) => told(
            StatusCode::CONFLICT,
            "the service can't stop this run: it is on another machine, or another user's",
        ),
    }
}

/// `PUT api/v1/live/PROCESS/BEGAN`: a run on another machine reports how far it is.
pub(crate) async fn report(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    Path(path): Path<(String, String)>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let machine = match service.access.check_writer(peer, &head.headers, Right::Push) {
        Ok(name) => name,
        Err(refused) => return *refused,
    };
    let Some(text) = small(body, LARGEST_RUN).await else {
        return told(StatusCode::PAYLOAD_TOO_LARGE, "expected at most 256 KB, all of it");
    };
    let run = serde_json::from_slice::<LiveRun>(&text).ok();
    let run = run.filter(|run| reporting(&path) == Some((run.process, run.began_ms)));
    let Some(run) = run else {
        return told(StatusCode::BAD_REQUEST, "expected a description of the run of this process");
    };
    match &service.live {
        None => told(StatusCode::NOT_FOUND, "this service knows of no runs under way"),
        Some(live) if live.report(&machine, run) => told(StatusCode::OK, "shown"),
        Some(_) => told(StatusCode::TOO_MANY_REQUESTS, "too many runs of this token report"),
    }
}

/// `DELETE api/v1/live/PROCESS/BEGAN`: a run on another machine has ended.
pub(crate) async fn ended(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    Path(path): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let machine = match service.access.check_writer(peer, &headers, Right::Push) {
        Ok(name) => name,
        Err(refused) => return *refused,
    };
    let Some((live, (process, began_ms))) = service.live.as_ref().zip(reporting(&path)) else {
        return told(StatusCode::NOT_FOUND, "there is no such run under way");
    };
    live.end(&machine, process, began_ms);
    told(StatusCode::OK, "it is not shown any more")
}

/// The process of a run that reports, and when it began.
fn reporting((process, began_ms): &(String, String)) -> Option<(u32, i64)> {
    let process: NonZero<u32> = process.parse().ok()?;
    let began_ms = i64::try_from(began_ms.parse::<u64>().ok()?).ok()?;
    Some((process.get(), began_ms))
}

/// `POST api/v1/runs`: starts a run of a plan, or continues the latest unfinished one of it.
pub(crate) async fn start(
    State(service): State<Arc<Service>>,
    Extension(peer): Extension<SocketAddr>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    if let Err(refused) = service.access.check_writer(peer, &head.headers, Right::Run) {
        return *refused;
    }
    let text = small(body, LARGEST).await.unwrap_or_default();
    let Ok(asked) = serde_json::from_slice::<Asked>(&text) else {
        let text = "expected {\"plan\": NAME}, and \"resume\": true to continue a run of it";
        return told(StatusCode::BAD_REQUEST, text);
    };
    let started = move || {
        let Some(starter) = service.live.as_ref().and_then(|live| live.starter()) else {
            return told(
                StatusCode::FORBIDDEN,
                "this service starts no runs; `steelyard serve --plans DIR` does",
            );
        };
        match starter.start(&asked) {
            Ok(process) => told(StatusCode::ACCEPTED, &format!("started as process {process}")),
            Err(Unstarted::NoPlan) => told(StatusCode::NOT_FOUND, "there is no such plan"),
            Err(Unstarted::Busy) => told(StatusCode::CONFLICT, "another run is just being started"),
            Err(Unstarted::Failed(said)) => told(StatusCode::UNPROCESSABLE_ENTITY, &said),
        }
    };
    let failed = || told(StatusCode::INTERNAL_SERVER_ERROR, "the run could not be started");
    tokio::task::spawn_blocking(started).await.unwrap_or_else(|_| failed())
}
