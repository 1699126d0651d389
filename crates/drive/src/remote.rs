//! A step whose clients run in another process, the one that contains the system under test.
//!
//! The two processes talk over a unix socket, one line of JSON at a time. Both read the same
//! monotonic clock, so a time means the same in both.

use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use workload::Step;

use crate::engine::Clients;
use crate::error::Error;
use crate::load::{Load, Ready, Running};
use crate::outcome::Outcome;
use crate::target::{Connect, Reach, Target};

/// How often the other process reports progress.
const NEWS: Duration = Duration::from_millis(50);

/// A request to the process with the clients.
#[derive(Debug, Serialize, Deserialize)]
enum Ask {
    /// Connect the clients of a step. Answered by [`Tell::Ready`].
    Prepare {
        /// The target's name.
        name: String,
        /// The step.
        step: Box<Step>,
        /// As [`Load::seed`].
        seed: u64,
        /// As [`Load::overtime`].
        overtime: Duration,
    },
    /// Start them at this moment of the monotonic clock, in nanoseconds.
    Go(u64),
    /// As [`Running::leave_out`].
    LeaveOut(Range<u64>),
    /// As [`Running::stop`].
    Stop,
    /// As [`Running::break_off`].
    BreakOff,
}

/// A message from the process with the clients.
#[derive(Debug, Serialize, Deserialize)]
enum Tell {
    /// All clients are connected, or why they are not.
    Ready(Result<(), String>),
    /// Operations so far.
    Done(u64),
    /// The outcome of the step.
    Ended(Box<Outcome>),
}

fn send(mut stream: &UnixStream, message: &impl Serialize) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

/// `None` at the end of the stream.
fn receive<T: DeserializeOwned>(reader: &mut impl BufRead) -> std::io::Result<Option<T>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

/// The monotonic clock, which all processes of a machine share.
fn monotonic() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// What is known about a step that runs elsewhere.
#[derive(Debug, Default)]
struct State {
    operations: u64,
    /// `Some(None)`: the other process ended without an outcome.
    ended: Option<Option<Outcome>>,
}

/// The near end of a step that runs elsewhere.
#[derive(Debug)]
struct Remote {
    name: String,
    stream: UnixStream,
    state: Arc<(Mutex<State>, Condvar)>,
    reader: Option<BufReader<UnixStream>>,
    thread: Option<JoinHandle<()>>,
}

/// Makes the process at `socket` connect the clients of a load.
pub fn prepare(load: &Load, socket: &Path) -> Result<Box<dyn Ready>, Error> {
    let stream = UnixStream::connect(socket).map_err(|source| Error::Connect {
        target: format!("socket {}", socket.display()),
        user: "steelyard".to_owned(),
        source,
    })?;
    let name = load.targets.first().map_or(String::new(), |target| target.name.clone());
    let step = Box::new(Step::clone(&load.step));
    let (seed, overtime) = (load.seed, load.overtime);
    send(&stream, &Ask::Prepare { name: name.clone(), step, seed, overtime })?;
    let mut reader = BufReader::new(stream.try_clone()?);
    match receive(&mut reader)? {
        Some(Tell::Ready(Ok(()))) => {}
        Some(Tell::Ready(Err(error))) => return Err(Error::Engine(error)),
        _ => return Err(Error::Engine("it ended before its clients were ready".to_owned())),
    }
    let reader = Some(reader);
    Ok(Box::new(Remote { name, stream, state: Arc::default(), reader, thread: None }))
}

impl Ready for Remote {
    fn go(mut self: Box<Self>, start: Instant) -> Box<dyn Running> {
        let start = monotonic() + start.saturating_duration_since(Instant::now());
        self.ask(&Ask::Go(start.as_nanos() as u64));
        let state = Arc::clone(&self.state);
        let reader = self.reader.take();
        self.thread = Some(thread::spawn(move || {
            let mut reader = reader;
            let mut outcome = None;
            while let Some(Ok(Some(news))) = reader.as_mut().map(receive) {
                let mut known = state.0.lock().unwrap_or_else(PoisonError::into_inner);
                match news {
                    Tell::Done(operations) => known.operations = operations,
                    Tell::Ended(ended) => {
                        outcome = Some(*ended);
                        break;
                    }
                    Tell::Ready(_) => {}
                }
            }
            state.0.lock().unwrap_or_else(PoisonError::into_inner).ended = Some(outcome);
            state.1.notify_all();
        }));
        self
    }
}

impl Remote {
    fn ask(&self, ask: &Ask) {
        // If the other process is gone, its end of the stream shows it.
        let _ = send(&self.stream, ask);
    }
}

impl Running for Remote {
    fn wait(&self, limit: Duration) -> bool {
        let (state, changed) = &*self.state;
        let state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(state, limit, |state| state.ended.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.ended.is_some()
    }

    fn operations(&self) -> Vec<u64> {
        vec![self.state.0.lock().unwrap_or_else(PoisonError::into_inner).operations]
    }

    fn measured_until(&self) -> Option<Duration> {
        None
    }

    fn leave_out(&self, seconds: Range<u64>) {
        self.ask(&Ask::LeaveOut(seconds));
    }

    fn stop(&self) {
        self.ask(&Ask::Stop);
    }

    fn break_off(&self) {
        self.ask(&Ask::BreakOff);
    }

    fn join(mut self: Box<Self>) -> Vec<Outcome> {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let mut state = self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        vec![state.ended.take().flatten().unwrap_or_else(|| Outcome::lost(&self.name))]
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // The other process ends the step when nobody is listening anymore.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Runs the loads that arrive over one connection, in the process that contains the system, until
/// the other end closes it. A running step is then ended.
///
/// # Errors
///
/// If the connection breaks, or something other than a load arrives.
pub fn serve(stream: &UnixStream, connect: &Arc<dyn Connect>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let Some(Ask::Prepare { name, step, seed, overtime }) = receive(&mut reader)? else {
        return Ok(());
    };
    let target = Target { name, reach: Reach::Sessions(Arc::clone(connect)) };
    let (step, targets) = (Arc::from(step), vec![target]);
    let ready = Clients::connect(&Load { step, targets, seed, slices: None, overtime });
    let told = ready.as_ref().map(|_| ()).map_err(ToString::to_string);
    send(stream, &Tell::Ready(told))?;
    let Ok(ready) = ready else { return Ok(()) };
    let Some(Ask::Go(start)) = receive(&mut reader)? else { return Ok(()) };
    let start = Duration::from_nanos(start).saturating_sub(monotonic());
    let running = Box::new(ready).go(Instant::now() + start);
    thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                match receive(&mut reader) {
                    Ok(Some(Ask::LeaveOut(seconds))) => running.leave_out(seconds),
                    Ok(Some(Ask::Stop)) => running.stop(),
                    Ok(Some(Ask::BreakOff)) => running.break_off(),
                    Ok(Some(Ask::Prepare { .. } | Ask::Go(_))) => {}
                    Ok(None) | Err(_) => return running.break_off(),
                }
            }
        });
        while !running.wait(NEWS) {
            let _ = send(stream, &Tell::Done(running.operations().iter().sum()));
        }
        // Also ends the thread that reads.
        stream.shutdown(std::net::Shutdown::Read)
    })?;
    for outcome in running.join() {
        send(stream, &Tell::Ended(Box::new(outcome)))?;
    }
    Ok(())
}
