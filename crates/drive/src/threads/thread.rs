//! The thread of one client, or of several that share it.

use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use workload::{Class, Role, Step, stream_seed};

use super::pinning::{self, Seated};
use crate::clients::bundle;
use crate::clients::client::Context;
use crate::clients::gate::Gate;
use crate::clients::lane::Lane;
use crate::clients::sliced::Tour;
use crate::clock::Moment;
use crate::error::{Error, ErrorKind};
use crate::step::cost::ThreadCost;
use crate::step::load::Load;
use crate::step::tally::Tally;
use crate::step::target::Reach;
use crate::wire::Breaker;

/// The result of a client thread.
pub struct Finished {
    pub class: Class,
    pub role: Role,
    pub ended: Duration,
    pub lanes: Vec<Counts>,
}

/// A client's counts for a target.
pub struct Counts {
    pub tally: Tally,
    /// By what a round did, where they differ.
    pub mix: Vec<(Class, Tally)>,
    pub cost: ThreadCost,
}

/// A client's failure.
#[derive(Debug)]
pub struct Failed {
    pub target: usize,
    pub class: Class,
    pub code: String,
    pub kind: ErrorKind,
    pub message: String,
}

/// The load's record of a client's connection: the process that serves it, and how to break it off.
pub type Connection = (Option<u32>, Breaker);

/// Ensures that no thread waits forever for the streams of a thread that panics.
struct Done<'a>(&'a Gate, usize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        (0..self.1).for_each(|_| self.0.thread_done());
    }
}

/// Connects, reports that, waits for the start, and runs the streams with these indexes.
pub fn run(
    load: &Load,
    indexes: &[usize],
    gate: &Gate,
    connected: mpsc::Sender<Result<(u32, Vec<Connection>), Error>>,
    failed: &Mutex<Option<Failed>>,
) -> Vec<Finished> {
    let _done = Done(gate, indexes.len());
    let tid = nix::unistd::gettid().as_raw().cast_unsigned();
    // Sleeps end within about a microsecond of their time, instead of 50, the kernel's default.
    let _ = nix::sys::prctl::set_timerslack(1);
    let contexts: Vec<Context<'_>> =
        indexes.iter().map(|index| context(load, *index, gate)).collect();
    let finished = |context: &Context<'_>| Finished {
        class: context.stream.class.clone(),
        role: context.stream.role,
        ended: Duration::ZERO,
        lanes: Vec::new(),
    };
    let mut finished: Vec<Finished> = contexts.iter().map(finished).collect();
    // The lanes of the streams, one after another; several per stream only if it is alone.
    let mut lanes = Vec::new();
    // What serves them has its CPU until they end.
    let mut seated = Vec::new();
    for context in &contexts {
        match connect(load, context, &mut seated) {
            Ok((own, connections)) => {
                let _ = connected.send(Ok((tid, connections)));
                lanes.extend(own);
            }
            Err(error) => {
                let _ = connected.send(Err(error));
                return finished;
            }
        }
    }
    // The preparing thread waits until all senders are gone.
    drop(connected);
    if let Some(start) = gate.wait_for_start() {
        match streams(load, &contexts, &mut lanes, start) {
            Ok(all) => {
                for (finished, ended) in finished.iter_mut().zip(all) {
                    finished.ended = ended;
                }
            }
            // A connection broken after the end of the step is not a failure.
            Err(_) if gate.stopped() => {}
            Err((at, target, error)) => {
                let failure = Failed {
                    target,
                    class: contexts[at].stream.class.clone(),
                    code: error.code().unwrap_or_default().to_owned(),
                    kind: error.kind(),
                    message: error.to_string(),
                };
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
                gate.stop();
            }
        }
        for _ in contexts.iter().filter(|context| context.stream.role == Role::Lead) {
            gate.lead_done();
        }
    }
    // Before their connections end, after which a server may use the threads for others.
    drop(seated);
    let each = load.targets.len();
    for finished in finished.iter_mut().rev() {
        let own = lanes.split_off(lanes.len().saturating_sub(each));
        let counts = |Lane { tally, mix, cost, .. }| Counts { tally, mix, cost };
        finished.lanes = own.into_iter().map(counts).collect();
    }
    finished
}

/// The context of a stream's loop.
fn context<'a>(load: &'a Load, index: usize, gate: &'a Gate) -> Context<'a> {
    let stream = &load.step.streams[index];
    Context {
        stream,
        index,
        gate,
        counted: counted(&stream.class, stream.role, &load.step),
        limit: load.limit(),
        overtime: load.overtime,
        phase: f64::from(stream.client) / f64::from(load.step.key.dop.max(1)),
    }
}

/// Runs the streams from `start` to their ends. Returns when each ended, relative to the start; or
/// which failed, at which target.
fn streams(
    load: &Load,
    contexts: &[Context<'_>],
    lanes: &mut [Lane],
    start: Moment,
) -> Result<Vec<Duration>, (usize, usize, Error)> {
    match (&load.slices, contexts) {
        (Some(slices), [context]) => {
            let mut tour = Tour::new(context, lanes, slices, start);
            let ended = tour.run();
            ended.map(|ended| vec![ended]).map_err(|error| (0, tour.here(), error))
        }
        (None, [context]) => {
            let ended = context.run(&mut lanes[0], start);
            ended.map(|ended| vec![ended]).map_err(|error| (0, 0, error))
        }
        _ => bundle::run(contexts, lanes, start).map_err(|(at, error)| (at, 0, error)),
    }
}

/// One lane and one connection for each target. If the stream's client has a CPU, the calling
/// thread is pinned to it first.
fn connect(
    load: &Load,
    context: &Context<'_>,
    seated: &mut Vec<Seated>,
) -> Result<(Vec<Lane>, Vec<Connection>), Error> {
    let (stream, place) = (context.stream, load.seats.get(context.index));
    if let Some(place) = place {
        pinning::take(*place)?;
    }
    let key = &load.step.key;
    let seed = stream_seed(load.seed, &key.name, key.dop, stream.client, &stream.class.name);
    let mut lanes = Vec::new();
    let mut connections = Vec::new();
    for target in &load.targets {
        let Reach::Sessions(connect) = &target.reach else {
            return Err(Error::Load("its clients run elsewhere"));
        };
        let lane = Lane::new(connect, stream, seed, load.step.seconds)?;
        connections.push((lane.session.server_pid(), lane.session.breaker()?));
        lanes.push(lane);
    }
    if let Some(place) = place {
        let servers: Vec<Option<u32>> =
            lanes.iter_mut().map(|lane| lane.session.server_thread()).collect();
        seated.extend(pinning::seat_servers(*place, &servers)?);
    }
    context.first_refresh(&mut lanes)?;
    Ok((lanes, connections))
}

/// True if a stream's operations are its step's throughput.
pub fn counted(class: &Class, role: Role, step: &Step) -> bool {
    *class == step.counted && role == Role::Lead
}
