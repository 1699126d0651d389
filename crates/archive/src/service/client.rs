//! The side that pushes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use store::{ExperimentId, Store};
use ureq::http::{HeaderMap, Request, Response, StatusCode};
use ureq::{Agent, AsSendBody, Body};

use super::receipt::{OFFSET, PIECE, Receipt, Received, Stored};
use super::token::Token;
use super::url::ServiceUrl;
use crate::Error;
use crate::agent::settings;
use crate::archive::Pushed;
use crate::export::pack_in;
use crate::workshop::Workshop;

/// How long a request may take: a piece, and importing what it completed.
const LIMIT: Duration = Duration::from_secs(600);
/// How long a report of a run may take.
const SHORT: Duration = Duration::from_secs(5);
/// How long a service that was there may be gone, as while it is restarted.
const PATIENCE: Duration = Duration::from_secs(120);
/// The first and the longest pause between tries.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];
/// Characters of an answer that are shown, at most.
const SHOWN: usize = 1000;

/// A service that receives experiments.
#[derive(Debug, Clone)]
pub struct Service {
    url: ServiceUrl,
    token: Token,
    agent: Agent,
}

/// An answer, read to its end.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

/// What a service is asked for.
struct Asked {
    /// The content hash.
    content: String,
    /// When the experiment began.
    began: i64,
    /// Marks of the notes on it.
    notes: BTreeSet<String>,
}

/// An archive that is sent.
struct Sending {
    file: File,
    sha256: String,
    length: u64,
}

/// What became of an attempt.
enum Attempt {
    Done(Stored),
    /// Something went wrong that may pass, after pieces had been taken if it is true.
    Again(Error, bool),
}

impl Service {
    /// A service at an address, with the token of this machine. Asks nothing.
    ///
    /// # Errors
    /// If there is no token.
    pub fn open(url: ServiceUrl, token: Option<Token>) -> Result<Self, Error> {
        let token = token.ok_or_else(|| Error::NoToken { address: url.to_string() })?;
        let mut settings = settings(!url.is_near(), LIMIT);
        if url.is_near() {
            settings = settings.proxy(None);
        }
        Ok(Self { url, token, agent: settings.build().into() })
    }

    /// Checks that the service is there and knows the token.
    ///
    /// # Errors
    /// If not.
    pub fn check(&self) -> Result<(), Error> {
        let none = Asked { content: "0".repeat(64), began: 0, notes: BTreeSet::new() };
        self.present(&none).map(drop)
    }

    /// Reports a run under way on this machine, which `text` describes in JSON; without a text,
    /// that it has ended. Waits for five seconds at most.
    ///
    /// # Errors
    /// [`Error::Refused`] if the service refuses it; [`Error::Remote`] if it does not answer.
    pub fn report(&self, process: u32, began_ms: i64, text: Option<&[u8]>) -> Result<(), Error> {
        let path = format!("api/v1/live/{process}/{began_ms}");
        let answer = match text {
            Some(text) => self.ask_within(SHORT, "PUT", &path, 0, Some(text)),
            None => self.ask_within(SHORT, "DELETE", &path, 0, None),
        }?;
        if answer.status.is_success() { Ok(()) } else { Err(self.refused(&answer)) }
    }

    /// Sends an experiment, unless it is there already: then this is a single request. Waits for a
    /// service that is restarted; [`Self::check`] does not. Returns its number there. What was cut
    /// off before goes on; `work` is a directory for work in progress.
    ///
    /// # Errors
    /// If the experiment cannot be read, the service refuses it, or is gone for two minutes.
    pub fn push(
        &self,
        store: &Store,
        experiment: ExperimentId,
        steelyard: &str,
        work: &Path,
    ) -> Result<(Pushed, i64), Error> {
        let mut asked = Asked {
            content: store.content_hash(experiment)?,
            began: store.experiment(experiment)?.created_ms,
            notes: store.note_marks(experiment)?,
        };
        if let Some(number) = self.present_patiently(&asked)? {
            return Ok((Pushed::Present, number));
        }
        let workshop = Workshop::open(work)?;
        let (manifest, packed) = pack_in(&workshop, store, experiment, steelyard)?;
        // A run may have gone on in the meantime; this is what was packed.
        asked.content = manifest.content;
        let mut sending = Sending::of(&packed)?;
        let (mut since, mut pause) = (Instant::now(), PAUSES[0]);
        loop {
            match self.attempt(&asked, &mut sending)? {
                Attempt::Done(Stored { state: Received::Added, experiment }) => {
                    return Ok((Pushed::Added, experiment));
                }
                Attempt::Done(Stored { experiment, .. }) => {
                    return Ok((Pushed::Present, experiment));
                }
                Attempt::Again(_, true) => (since, pause) = (Instant::now(), PAUSES[0]),
                Attempt::Again(error, false) if since.elapsed() > PATIENCE => return Err(error),
                Attempt::Again(_, false) => {}
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(PAUSES[1]);
        }
    }

    /// As [`Self::present`], for a service that was there and may be restarted at the moment.
    fn present_patiently(&self, asked: &Asked) -> Result<Option<i64>, Error> {
        let (since, mut pause) = (Instant::now(), PAUSES[0]);
        loop {
            match self.present(asked) {
                Err(Error::Remote { .. }) if since.elapsed() < PATIENCE => {
                    std::thread::sleep(pause);
                    pause = (2 * pause).min(PAUSES[1]);
                }
                known => return known,
            }
        }
    }

    /// The number of the experiment with this content, if it is there with these notes.
    fn present(&self, asked: &Asked) -> Result<Option<i64>, Error> {
        let Asked { content, began, notes } = asked;
        let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
        let notes = notes.join("-");
        let path = format!("api/v1/archives/{content}?began={began}&notes={notes}");
        let answer = self.ask("GET", &path, 0, None)?;
        match answer.status {
            StatusCode::OK => {
                Ok(self.receipt(&answer)?.stored.map(|Stored { experiment, .. }| experiment))
            }
            StatusCode::NOT_FOUND if answer.text.starts_with("this experiment is not here") => {
                Ok(None)
            }
            _ => Err(self.refused(&answer)),
        }
    }

    /// Sends what the service lacks.
    fn attempt(&self, asked: &Asked, sending: &mut Sending) -> Result<Attempt, Error> {
        let (mut moved, mut offset) = (false, None);
        loop {
            let tried = match offset {
                None => self.begin(asked, sending),
                Some(place) => self.send(sending, place),
            };
            match tried {
                Ok(Receipt { stored: Some(stored), .. }) => return Ok(Attempt::Done(stored)),
                Ok(Receipt { offset: place, .. }) => {
                    moved |= offset.is_some_and(|before| place > before);
                    offset = Some(place);
                }
                // The service was there, so it may come back.
                Err(error @ Error::Remote { .. }) => return Ok(Attempt::Again(error, moved)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Asks what is there: the experiment, or a part of the file.
    fn begin(&self, asked: &Asked, sending: &Sending) -> Result<Receipt, Error> {
        if let Some(experiment) = self.present(asked)? {
            let stored = Stored { state: Received::Present, experiment };
            return Ok(Receipt { offset: 0, stored: Some(stored) });
        }
        let answer = self.ask("HEAD", &sending.path(), 0, None)?;
        let offset = answer.headers.get(OFFSET).and_then(|it| it.to_str().ok()?.parse().ok());
        match offset.filter(|offset| answer.status.is_success() && *offset <= sending.length) {
            Some(offset) => Ok(Receipt { offset, stored: None }),
            None => Err(self.refused(&answer)),
        }
    }

    /// Sends the piece at this place.
    fn send(&self, sending: &mut Sending, offset: u64) -> Result<Receipt, Error> {
        let piece = sending.piece(offset)?;
        let answer = self.ask("PUT", &sending.path(), offset, Some(&piece))?;
        match answer.status {
            StatusCode::OK => self.receipt(&answer),
            // It does not follow what is there, which the next attempt asks for.
            StatusCode::CONFLICT => Err(self.lost("it has another part of the file")),
            _ => Err(self.refused(&answer)),
        }
    }

    fn ask(
        &self,
        method: &str,
        path: &str,
        offset: u64,
        body: Option<&[u8]>,
    ) -> Result<Answer, Error> {
        self.ask_within(LIMIT, method, path, offset, body)
    }

    fn ask_within(
        &self,
        limit: Duration,
        method: &str,
        path: &str,
        offset: u64,
        body: Option<&[u8]>,
    ) -> Result<Answer, Error> {
        let lost = |error: &dyn std::fmt::Display| self.lost(&error.to_string());
        let request = Request::builder()
            .method(method)
            .uri(self.url.join(path))
            .header("authorization", self.token.header())
            .header(OFFSET, offset);
        let answer = match body {
            None => self.run(limit, request.body(()).map_err(|error| lost(&error))?),
            Some(bytes) => self.run(limit, request.body(bytes).map_err(|error| lost(&error))?),
        };
        let answer = answer.map_err(|error| lost(&error))?;
        let (head, body) = answer.into_parts();
        let mut text = Vec::new();
        let mut reader = body.into_reader().take(4 * SHOWN as u64);
        reader.read_to_end(&mut text).map_err(|error| lost(&error))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Answer { status: head.status, headers: head.headers, text })
    }

    fn run(
        &self,
        limit: Duration,
        request: Request<impl AsSendBody>,
    ) -> Result<Response<Body>, ureq::Error> {
        let request = self.agent.configure_request(request).timeout_global(Some(limit));
        self.agent.run(request.build())
    }

    fn receipt(&self, answer: &Answer) -> Result<Receipt, Error> {
        serde_json::from_str(&answer.text).map_err(|_| Error::Refused {
            address: self.url.to_string(),
            problem: "it answers, but not as `steelyard serve`".to_owned(),
        })
    }

    /// The error of an answer that is not a receipt; [`Error::Remote`] if it may pass.
    fn refused(&self, answer: &Answer) -> Error {
        let passes = [
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::BAD_GATEWAY,
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::GATEWAY_TIMEOUT,
        ];
        // It is other people's text.
        let plain = |character: char| if character.is_control() { ' ' } else { character };
        let text: String = answer.text.trim().chars().take(SHOWN).map(plain).collect();
        let problem = match text.as_str() {
            "" => answer.status.to_string(),
            text if text.starts_with('<') => answer.status.to_string(),
            text => text.to_owned(),
        };
        match passes.contains(&answer.status) {
            true => self.lost(&problem),
            false => Error::Refused { address: self.url.to_string(), problem },
        }
    }

    fn lost(&self, problem: &str) -> Error {
        Error::Remote {
            address: self.url.to_string(),
            action: "push".to_owned(),
            problem: problem.to_owned(),
            remedy: "check the address and that `steelyard serve` runs there, and push again: it goes on where it was",
        }
    }
}

impl Sending {
    fn of(packed: &Path) -> Result<Self, Error> {
        let wrap = || Error::io("read", packed);
        let mut file = File::open(packed).map_err(wrap())?;
        let mut sum = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        let mut length = 0;
        loop {
            let read = file.read(&mut buffer).map_err(wrap())?;
            if read == 0 {
                break;
            }
            length += read as u64;
            sum.update(buffer.get(..read).unwrap_or_default());
        }
        let sha256 = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { file, sha256, length })
    }

    fn path(&self) -> String {
        format!("api/v1/uploads/{}?length={}", self.sha256, self.length)
    }

    /// The piece at this place; nothing at the end of the file.
    fn piece(&mut self, offset: u64) -> Result<Vec<u8>, Error> {
        let mut piece = Vec::new();
        let mut read = || {
            self.file.seek(SeekFrom::Start(offset))?;
            self.file.by_ref().take(PIECE as u64).read_to_end(&mut piece)
        };
        read().map_err(Error::io("read", Path::new("the packed experiment")))?;
        Ok(piece)
    }
}
