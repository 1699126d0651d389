//! The part that runs in an engine's process.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Config, Debt, Error, Footprint, Gauge, Setting, Settled, Snapshot};

/// The names of the two sockets.
pub(super) const CONTROL: &str = "control";
pub(super) const LOAD: &str = "load";

/// The environment variable in which the process finds its [`Workplace`].
pub(super) const GIVEN: &str = "STEELYARD_ENGINE";

/// A request to the engine.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ask {
    Settings,
    Counters(Vec<String>),
    Footprint(Vec<String>),
    Debt(Vec<String>),
    Gauges,
    Settle(Vec<String>),
    Flush,
}

/// Requests that an engine answers in its process. Errors are its messages.
#[allow(clippy::missing_errors_doc)]
pub trait Inside: Send {
    /// As [`crate::System::settings`].
    fn settings(&mut self) -> Result<Vec<Setting>, String>;

    /// As [`crate::System::counters`].
    fn counters(&mut self, objects: &[String]) -> Result<Snapshot, String>;

    /// As [`crate::System::footprint`].
    fn footprint(&mut self, objects: &[String]) -> Result<Vec<Footprint>, String>;

    /// As [`crate::System::debt`].
    fn debt(&mut self, objects: &[String]) -> Result<Debt, String> {
        let _ = objects;
        Ok(Debt::default())
    }

    /// See [`crate::Gauges`].
    fn gauges(&mut self) -> Result<Vec<Gauge>, String> {
        Ok(Vec::new())
    }

    /// As [`crate::System::settle`].
    fn settle(&mut self, objects: &[String]) -> Result<Settled, String>;

    /// As [`crate::System::flush`].
    fn flush(&mut self) -> Result<(), String>;
}

/// The working directories and settings of an engine's process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Workplace {
    /// The directory for its data.
    pub data: PathBuf,
    pub(super) sockets: PathBuf,
    /// The settings of the plan.
    pub config: Config,
}

impl Workplace {
    /// Returns the place that [`super::start`] gave to this process.
    pub fn given() -> Option<Workplace> {
        serde_json::from_str(&std::env::var(GIVEN).ok()?).ok()
    }
}

/// The words before the setting that an engine refuses, in its log, and before the engine's
/// message.
const REFUSED: [&str; 2] = ["refused setting: ", "refused: "];

/// The last message of an engine's process if the engine cannot be opened. With a `setting` (name
/// and value), that setting is the reason.
pub fn refused(setting: Option<&str>, problem: &str) -> String {
    match setting {
        Some(setting) => format!("{}{setting}\n{}{problem}", REFUSED[0], REFUSED[1]),
        None => problem.to_owned(),
    }
}

/// The error for a log in which the engine refuses a setting.
pub(super) fn rejection(variant: &str, log: &str) -> Option<Error> {
    let [setting, message] = REFUSED.map(|before| {
        let mut lines = log.lines().filter_map(|line| line.split_once(before));
        lines.next_back().map(|(_, after)| after.to_owned())
    });
    Some(Error::rejected(variant, Some(setting?), message?))
}

/// Serves an open engine until the process is told to end, then returns, so the caller can close
/// it. `load` gets each connection that brings a load, on its own thread.
///
/// # Errors
/// If the sockets cannot be created, or the signal cannot be caught.
pub fn serve(
    place: &Workplace,
    engine: impl Inside + 'static,
    load: impl Fn(&UnixStream) + Send + Sync + 'static,
) -> std::io::Result<()> {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
    let handler = SigHandler::Handler(note_end);
    let action = SigAction::new(handler, SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler does nothing but store a number.
    unsafe { sigaction(Signal::SIGTERM, &action) }?;
    for crash in [Signal::SIGSEGV, Signal::SIGBUS] {
        // Instead of Rust's handler, which returns where a stack has not overflowed.
        let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        // SAFETY: it runs no code of this process.
        unsafe { sigaction(crash, &default) }?;
    }
    let engine = Arc::new(Mutex::new(engine));
    let load = Arc::new(load);
    accept(place, CONTROL, move |stream| {
        // A broken connection is closed by its other end.
        let _ = control(stream, &mut |ask| {
            answer(&mut *engine.lock().unwrap_or_else(PoisonError::into_inner), ask)
        });
    })?;
    accept(place, LOAD, move |stream| load(stream))?;
    while !ENDING.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Ends an engine's process after it was served, or could not be; `served` has the message for the
/// log.
pub fn finish(served: Result<(), String>) -> ! {
    if let Err(problem) = &served {
        eprintln!("{problem}");
    }
    // A library's own threads may still run, and must not see its destructors run.
    // SAFETY: nothing is left to be done in this process.
    unsafe { libc::_exit(i32::from(served.is_err())) }
}

/// True once the process was told to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// How often to check that.
const LOOK: Duration = Duration::from_millis(20);

extern "C" fn note_end(_signal: i32) {
    ENDING.store(true, Ordering::Relaxed);
}

/// Listens on a socket; each connection has its own thread.
fn accept(
    place: &Workplace,
    name: &str,
    serve: impl Fn(&UnixStream) + Clone + Send + 'static,
) -> std::io::Result<()> {
    let listener = UnixListener::bind(place.sockets.join(name))?;
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(&stream));
        }
    })?;
    Ok(())
}

fn control(stream: &UnixStream, answer: &mut dyn FnMut(Ask) -> Vec<u8>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let mut bytes = answer(serde_json::from_str(&line)?);
        bytes.push(b'\n');
        (&*stream).write_all(&bytes)?;
        line.clear();
    }
    Ok(())
}

fn answer(engine: &mut dyn Inside, ask: Ask) -> Vec<u8> {
    fn json(answer: &Result<impl Serialize, String>) -> Vec<u8> {
        // Maps have strings as keys, so nothing can fail.
        serde_json::to_vec(answer).unwrap_or_default()
    }
    match ask {
        Ask::Settings => json(&engine.settings()),
        Ask::Counters(objects) => json(&engine.counters(&objects)),
        Ask::Footprint(objects) => json(&engine.footprint(&objects)),
        Ask::Debt(objects) => json(&engine.debt(&objects)),
        Ask::Gauges => json(&engine.gauges()),
        Ask::Settle(objects) => json(&engine.settle(&objects)),
        Ask::Flush => json(&engine.flush()),
    }
}
