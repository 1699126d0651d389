//! Small bodies of requests.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use tokio::time::timeout;

/// How long one may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// A body of at most so many bytes; `None` if it is larger, late or cut off.
pub(crate) async fn small(body: Body, limit: usize) -> Option<Bytes> {
    timeout(PATIENCE, to_bytes(body, limit)).await.ok()?.ok()
}
