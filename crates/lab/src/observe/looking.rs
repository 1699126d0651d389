//! Looks at something again and again while a step runs.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Looks from a step's start on, until it is stopped. `S` is what was seen.
#[derive(Debug)]
pub struct Looking<S> {
    stop: Sender<()>,
    thread: JoinHandle<Result<S, dbms::Error>>,
}

impl<S: Default + Send + 'static> Looking<S> {
    /// Calls `look` every `apart`, from `start` on.
    pub fn start(
        start: Instant,
        apart: Duration,
        mut look: impl FnMut(&mut S) -> Result<(), dbms::Error> + Send + 'static,
    ) -> Self {
        let (stop, stopped) = channel();
        let thread = thread::spawn(move || {
            let mut seen = S::default();
            let mut next = start;
            loop {
                next += apart;
                let rest = next.saturating_duration_since(Instant::now());
                match stopped.recv_timeout(rest) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(seen),
                }
                look(&mut seen)?;
                // A look that took long is not made up for.
                next = next.max(Instant::now() - apart);
            }
        });
        Looking { stop, thread }
    }

    /// Ends it. Returns what was seen, or why it is not known.
    pub fn stop(self) -> Result<S, String> {
        drop(self.stop);
        let seen = self.thread.join().map_err(|_| "its thread panicked".to_owned())?;
        seen.map_err(|error| error.to_string())
    }
}
