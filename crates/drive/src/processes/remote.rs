//! A step whose clients run in other processes: in the one that contains the system under test, or
//! in several, which have the load in turn.
//!
//! A process that is frozen while others have the load shares the numbers of a [`Board`], and so
//! its clients' clock, with the one that freezes it.
//!
//! Two processes talk over a unix socket, one line of JSON at a time. Both read the same
//! monotonic clock, so a time means the same in both.

use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use workload::{Class, Request, Source, Step};

use super::files::{Incoming, send_with};
use super::script::Script;
use crate::clock::Moment;
use crate::error::Error;
use crate::slices::board::Board;
use crate::slices::timetable::Slices;
use crate::step::load::{Load, Ready, Running};
use crate::step::outcome::Outcome;
use crate::step::target::{Reach, Target};
use crate::threads::engine::Clients;
use crate::threads::frozen::{Crew, Party};
use crate::wire::{Breaker, Connect, Handle, Reply, Session};

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
        /// When it is this process's turn, if there are several and they follow a timetable.
        turns: Option<Turns>,
        /// True if the file of a [`Board`] comes along, with the clients' clock.
        own_time: bool,
    },
    /// Start them at this moment.
    Go(Moment),
    /// As [`Running::leave_out`].
    LeaveOut(Range<u64>),
    /// As [`Running::stop`].
    Stop,
    /// As [`Running::break_off`].
    BreakOff,
    /// Execute a script. Answered by [`Tell::Played`].
    Play(Box<Script>),
}

/// The turns of one of several processes, which have the load by the same timetable.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Turns {
    /// As [`Load::slices`].
    slices: Slices,
    /// Number of processes.
    targets: usize,
    /// Which one it is.
    own: usize,
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
    /// A script is at its end, or why it is not.
    Played(Result<(), String>),
}

fn line(message: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn send(mut stream: &UnixStream, message: &impl Serialize) -> std::io::Result<()> {
    stream.write_all(&line(message)?)
}

/// `None` at the end of the stream.
fn receive<T: DeserializeOwned>(reader: &mut impl BufRead) -> std::io::Result<Option<T>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

/// The state of a step that runs elsewhere.
#[derive(Debug, Default)]
struct State {
    operations: u64,
    /// `Some(None)`: the other process ended without an outcome.
    ended: Option<Option<Outcome>>,
    /// Its clients are told to end.
    stopped: bool,
}

/// The near end of the connection to a process.
#[derive(Debug)]
struct Link {
    stream: UnixStream,
    state: Mutex<State>,
    changed: Condvar,
}

impl Link {
    fn ask(&self, ask: &Ask) {
        // If the other process is gone, its end of the stream shows it.
        let _ = send(&self.stream, ask);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }

    /// Waits at most `limit` until the state is as wanted. Returns whether it is.
    fn wait_until(&self, limit: Duration, wanted: impl Fn(&State) -> bool) -> bool {
        let waited = self.changed.wait_timeout_while(self.state(), limit, |state| !wanted(state));
        wanted(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

impl Crew for Link {
    fn open(&self, start: Moment) {
        self.ask(&Ask::Go(start));
    }

    fn stop(&self) {
        self.ask(&Ask::Stop);
        self.tell(|state| state.stopped = true);
    }

    fn wait(&self, limit: Duration) {
        self.wait_until(limit, |state| state.ended.is_some() || state.stopped);
    }

    fn lost(&self) -> bool {
        matches!(self.state().ended, Some(None))
    }
}

/// The near end of a step that runs elsewhere, in one process or in several.
struct Remote {
    processes: Vec<Process>,
    /// When the measured part of a step in slices is over, relative to its start.
    limit: Option<Duration>,
    start: Option<Moment>,
}

/// One of the processes.
#[derive(Debug)]
struct Process {
    name: String,
    /// The class of requests that the step counts.
    counted: Class,
    link: Arc<Link>,
    reader: Option<BufReader<UnixStream>>,
    thread: Option<JoinHandle<()>>,
}

/// Makes the processes at these sockets, one for each target, connect the clients of a load.
pub fn prepare(load: &Load, sockets: &[&Path]) -> Result<Box<dyn Ready>, Error> {
    let targets = sockets.len();
    let process = |(own, socket): (usize, &&Path)| {
        let turns = load.slices.clone().map(|slices| Turns { slices, targets, own });
        Process::prepare(load, socket, &load.targets[own].name, turns, None)
    };
    let processes = sockets.iter().enumerate().map(process).collect::<Result<_, _>>()?;
    let limit = load.slices.as_ref().and_then(|_| load.limit());
    Ok(Box::new(Remote { processes, limit, start: None }))
}

/// Makes the process at this socket connect the clients of a load whose only target it contains.
/// The process is frozen while other targets have the load.
pub fn party(load: &Load, socket: &Path) -> Result<Party, Error> {
    let board = Board::shared(load.step.streams.len(), load.step.leads());
    let (board, file) = board.map_err(Error::Memory)?;
    let mut process = Process::prepare(load, socket, &load.targets[0].name, None, Some(&file))?;
    process.listen();
    Ok(Party {
        board: Arc::new(board),
        crew: Arc::<Link>::clone(&process.link),
        running: Box::new(Remote { processes: vec![process], limit: None, start: None }),
        servers: Vec::new(),
        clients: Vec::new(),
    })
}

fn connect(socket: &Path) -> Result<UnixStream, Error> {
    UnixStream::connect(socket).map_err(|source| Error::Connect {
        target: format!("socket {}", socket.display()),
        user: "steelyard".to_owned(),
        source,
    })
}

/// Makes the process at this socket execute a script, and waits for its end or until `give_up` says
/// so.
///
/// # Errors
///
/// [`Error::Connect`]; [`Error::Engine`] with what went wrong there.
pub fn play(
    socket: &Path,
    script: &Script,
    give_up: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let stream = connect(socket)?;
    send(&stream, &Ask::Play(Box::new(script.clone())))?;
    stream.set_read_timeout(Some(NEWS))?;
    let mut reader = BufReader::new(&stream);
    while let Err(error) = reader.fill_buf() {
        if error.kind() != std::io::ErrorKind::WouldBlock {
            return Err(error.into());
        }
        if give_up() {
            return Err(Error::Engine("it did not come to an end".to_owned()));
        }
    }
    stream.set_read_timeout(None)?;
    match receive(&mut reader)? {
        Some(Tell::Played(played)) => played.map_err(Error::Engine),
        _ => Err(Error::Engine("its process ended".to_owned())),
    }
}

impl Process {
    fn prepare(
        load: &Load,
        socket: &Path,
        name: &str,
        turns: Option<Turns>,
        board: Option<&OwnedFd>,
    ) -> Result<Process, Error> {
        let stream = connect(socket)?;
        let name = name.to_owned();
        let step = Box::new(Step::clone(&load.step));
        let (seed, overtime) = (load.seed, load.overtime);
        let (named, own_time) = (name.clone(), board.is_some());
        let ask = line(&Ask::Prepare { name: named, step, seed, overtime, turns, own_time })?;
        match board {
            Some(file) => send_with(&stream, &ask, file.as_fd())?,
            None => (&stream).write_all(&ask)?,
        }
        let mut reader = BufReader::new(stream.try_clone()?);
        match receive(&mut reader)? {
            Some(Tell::Ready(Ok(()))) => {}
            Some(Tell::Ready(Err(error))) => return Err(Error::Engine(error)),
            _ => return Err(Error::Engine("it ended before its clients were ready".to_owned())),
        }
        let (counted, reader) = (load.step.counted.clone(), Some(reader));
        let link = Link { stream, state: Mutex::default(), changed: Condvar::new() };
        Ok(Process { name, counted, link: Arc::new(link), reader, thread: None })
    }

    /// Records what the process reports from now on.
    fn listen(&mut self) {
        let link = Arc::clone(&self.link);
        let mut reader = self.reader.take();
        self.thread = Some(thread::spawn(move || {
            let mut outcome = None;
            while let Some(Ok(Some(news))) = reader.as_mut().map(receive) {
                match news {
                    Tell::Done(operations) => link.state().operations = operations,
                    Tell::Ended(ended) => {
                        outcome = Some(*ended);
                        break;
                    }
                    Tell::Ready(_) | Tell::Played(_) => {}
                }
            }
            link.tell(|state| state.ended = Some(outcome));
        }));
    }

    fn join(&mut self) -> Outcome {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let ended = self.link.state().ended.take().flatten();
        ended.unwrap_or_else(|| Outcome::lost(&self.name, &self.counted))
    }
}

impl Ready for Remote {
    fn go(mut self: Box<Self>, start: Instant) -> Box<dyn Running> {
        let start = Moment::from(start);
        self.start = Some(start);
        for process in &mut self.processes {
            process.link.open(start);
            process.listen();
        }
        self
    }
}

impl Remote {
    fn ask(&self, ask: &Ask) {
        self.processes.iter().for_each(|process| process.link.ask(ask));
    }
}

impl Running for Remote {
    fn wait(&self, limit: Duration) -> bool {
        let until = Moment::now() + limit;
        let ended = |process: &Process| {
            process.link.wait_until(until - Moment::now(), |state| state.ended.is_some())
        };
        self.processes.iter().all(ended)
    }

    fn operations(&self) -> Vec<u64> {
        self.processes.iter().map(|process| process.link.state().operations).collect()
    }

    fn measured_until(&self) -> Option<Duration> {
        self.limit.filter(|limit| self.start.is_some_and(|start| Moment::now() >= start + *limit))
    }

    fn leave_out(&self, seconds: Range<u64>) {
        self.ask(&Ask::LeaveOut(seconds));
    }

    fn stop(&self) {
        self.processes.iter().for_each(|process| process.link.stop());
    }

    fn break_off(&self) {
        self.ask(&Ask::BreakOff);
        self.processes.iter().for_each(|process| process.link.tell(|state| state.stopped = true));
    }

    fn join(mut self: Box<Self>) -> Vec<Outcome> {
        self.processes.iter_mut().map(Process::join).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The other process ends the step when nobody is listening anymore.
        let _ = self.link.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// A target whose clients are in another process.
#[derive(Debug)]
struct Elsewhere;

impl Connect for Elsewhere {
    fn connect(&self) -> Result<Box<dyn Session>, Error> {
        Ok(Box::new(Elsewhere))
    }
}

impl Session for Elsewhere {
    fn prepare(&mut self, _request: &Request) -> Result<Handle, Error> {
        Ok(Handle(0))
    }

    fn call(
        &mut self,
        _handle: Handle,
        _source: &mut Source<'_>,
        _row: Option<&mut Vec<Option<i64>>>,
    ) -> Result<Reply, Error> {
        Err(Error::Load("its clients run elsewhere"))
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn server_pid(&self) -> Option<u32> {
        None
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(Box::new(|| ()))
    }

    fn is_absent(&self) -> bool {
        true
    }

    fn stop_clock(&mut self, _second: i64) {}
}

/// Connects clients whose board is in the file that came along.
fn connect_by(file: Option<OwnedFd>, load: &Load) -> Result<Clients, Error> {
    let file = file.ok_or(Error::Load("no file with the clients' clock came along"))?;
    let board = Board::of_file(file, load.step.streams.len()).map_err(Error::Memory)?;
    Clients::connect_by(load, Arc::new(board), true)
}

/// Runs the load or the script that arrives over one connection, in the process that contains the
/// system, until the other end closes it. A running step is then ended.
///
/// # Errors
///
/// If the connection breaks, or something other than a load arrives.
pub fn serve(stream: &UnixStream, connect: &Arc<dyn Connect>) -> std::io::Result<()> {
    let mut reader = BufReader::new(Incoming::new(stream));
    let (name, step, seed, overtime, turns, own_time) = match receive(&mut reader)? {
        Some(Ask::Prepare { name, step, seed, overtime, turns, own_time }) => {
            (name, step, seed, overtime, turns, own_time)
        }
        Some(Ask::Play(script)) => {
            let played = script.play(connect.as_ref()).map_err(|error| error.to_string());
            return send(stream, &Tell::Played(played));
        }
        _ => return Ok(()),
    };
    let (count, own) = turns.as_ref().map_or((1, 0), |turns| (turns.targets, turns.own));
    let elsewhere: Arc<dyn Connect> = Arc::new(Elsewhere);
    let target = |place| {
        let connect = if place == own { connect } else { &elsewhere };
        Target { name: name.clone(), reach: Reach::Sessions(Arc::clone(connect)) }
    };
    let (step, targets) = (Arc::from(step), (0..count).map(target).collect());
    let slices = turns.map(|turns| turns.slices);
    let load = Load { slices, overtime, ..Load::new(step, targets, seed) };
    let ready = match own_time {
        true => connect_by(reader.get_mut().take_file(), &load),
        false => Clients::connect(&load),
    };
    let told = ready.as_ref().map(|_| ()).map_err(ToString::to_string);
    send(stream, &Tell::Ready(told))?;
    let Ok(ready) = ready else { return Ok(()) };
    let running: Box<dyn Running> = match receive(&mut reader)? {
        Some(Ask::Go(start)) => Box::new(ready).start(start),
        Some(Ask::Stop | Ask::BreakOff) => {
            ready.stop();
            Box::new(ready)
        }
        _ => return Ok(()),
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                match receive(&mut reader) {
                    Ok(Some(Ask::LeaveOut(seconds))) => running.leave_out(seconds),
                    Ok(Some(Ask::Stop)) => running.stop(),
                    Ok(Some(Ask::BreakOff)) => running.break_off(),
                    Ok(Some(Ask::Prepare { .. } | Ask::Go(_) | Ask::Play(_))) => {}
                    // That would tell others that it ended too early.
                    Ok(None) | Err(_) if running.wait(Duration::ZERO) => return,
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
    match running.join().into_iter().nth(own) {
        Some(outcome) => send(stream, &Tell::Ended(Box::new(outcome))),
        None => Ok(()),
    }
}
