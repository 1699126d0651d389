//! What sessions wait for during a step, looked at ten times a second.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dbms::Waits;
use metrics::WAITS;
use store::Counter;

/// How far looks are apart.
const APART: Duration = Duration::from_millis(100);

/// Looks from a step's start on, until it is stopped.
#[derive(Debug)]
pub struct Looking {
    stop: Sender<()>,
    thread: JoinHandle<Result<BTreeMap<String, u64>, dbms::Error>>,
}

impl Looking {
    /// Begins to look at `start`.
    pub fn start(mut waits: Box<dyn Waits>, start: Instant) -> Looking {
        let (stop, stopped) = channel();
        let thread = thread::spawn(move || {
            let mut sessions: BTreeMap<String, u64> = BTreeMap::new();
            let mut next = start;
            loop {
                next += APART;
                let rest = next.saturating_duration_since(Instant::now());
                match stopped.recv_timeout(rest) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(sessions),
                }
                for (event, count) in waits.look()? {
                    *sessions.entry(event).or_default() += u64::from(count);
                }
                // A look that took long is not made up for.
                next = next.max(Instant::now() - APART);
            }
        });
        Looking { stop, thread }
    }

    /// Ends it. Returns the time that sessions spent in each state, as counters in microseconds, or
    /// why they are not known.
    pub fn stop(self) -> Result<Vec<Counter>, String> {
        drop(self.stop);
        let seen = self.thread.join().map_err(|_| "its thread panicked".to_owned())?;
        let seen = seen.map_err(|error| error.to_string())?;
        let counter = |(name, looks): (String, u64)| Counter {
            view: WAITS.to_owned(),
            object: String::new(),
            name,
            value: looks as f64 * APART.as_micros() as f64,
        };
        Ok(seen.into_iter().map(counter).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Waits for Two {
        fn look(&mut self) -> Result<Vec<(String, u32)>, dbms::Error> {
            Ok(vec![("CPU".to_owned(), 1), ("IO/DataFileRead".to_owned(), 2)])
        }
    }

    #[test]
    fn looks_become_time() {
        let begin = Instant::now();
        let looking = Looking::start(Box::new(Two), begin);
        thread::sleep(Duration::from_millis(350));
        let most = begin.elapsed().as_micros() as f64;
        let found = looking.stop().unwrap();
        let [cpu, io] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*cpu.name, &*io.name), ("CPU", "IO/DataFileRead"));
        assert!(cpu.value > 0.0 && cpu.value <= most, "{found:?}");
        assert!((io.value - 2.0 * cpu.value).abs() < 1e-6, "{found:?}");
    }
}
