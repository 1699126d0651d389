//! HTTP for `object_store` through `ureq`.

use std::io::Read;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest,
    HttpResponse, HttpResponseBody, HttpService,
};
use tokio::sync::{mpsc, oneshot};
use ureq::Agent;
use ureq::http::Request;

use crate::agent::settings;

/// How long a request may take: a part of [`super::objects::PART`] bytes at 30 KB/s.
const LIMIT: Duration = Duration::from_secs(300);
/// Bytes of an answer that are handed on at once.
const CHUNK: usize = 1 << 18;

/// Makes the clients of `object_store`.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allow_http = options.get_config_value(&ClientConfigKey::AllowHttp);
        let https_only = allow_http.as_deref() != Some("true");
        let agent: Agent = settings(https_only, LIMIT).build().into();
        Ok(HttpClient::new(Client(agent)))
    }
}

#[derive(Debug)]
struct Client(Agent);

/// The head of an answer, and what is read of its body.
type Answer = (http::response::Parts, mpsc::Receiver<Result<Bytes, HttpError>>);

#[async_trait::async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let (sender, answer) = oneshot::channel();
        let agent = self.0.clone();
        tokio::task::spawn_blocking(move || {
            converse(&agent, Request::from_parts(head, body), sender)
        });
        let lost = |error| HttpError::new(HttpErrorKind::Interrupted, error);
        let (head, mut chunks) = answer.await.map_err(lost)??;
        let chunks = stream::poll_fn(move |context| chunks.poll_recv(context));
        let frames = futures_util::StreamExt::map(chunks, |chunk| chunk.map(Frame::data));
        Ok(HttpResponse::from_parts(head, HttpResponseBody::new(StreamBody::new(frames))))
    }
}

/// Sends a request and reads the answer, in a thread that may wait.
fn converse(
    agent: &Agent,
    request: Request<Bytes>,
    sender: oneshot::Sender<Result<Answer, HttpError>>,
) {
    let (head, body) = request.into_parts();
    let answer = if body.is_empty() && matches!(head.method.as_str(), "GET" | "HEAD" | "DELETE") {
        agent.run(Request::from_parts(head, ()))
    } else {
        agent.run(Request::from_parts(head, body.as_ref()))
    };
    let (head, body) = match answer {
        Ok(response) => response.into_parts(),
        Err(error) => {
            let _ = sender.send(Err(failed(error)));
            return;
        }
    };
    let (chunks, receiver) = mpsc::channel(4);
    if sender.send(Ok((head, receiver))).is_err() {
        return;
    }
    let mut reader = body.into_reader();
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match reader.read(&mut chunk) {
            Ok(0) => return,
            Ok(read) => {
                chunk.truncate(read);
                Ok(Bytes::from(chunk))
            }
            Err(error) => Err(HttpError::new(HttpErrorKind::Interrupted, error)),
        };
        let end = read.is_err();
        // Nobody wants the rest if the receiver is gone.
        if chunks.blocking_send(read).is_err() || end {
            return;
        }
    }
}

/// Says whether trying again may help.
fn failed(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::Io(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
