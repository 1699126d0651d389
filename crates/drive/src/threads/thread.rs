//! The thread of one client, or of several that share it.

use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use workload::{Class, Role, Step, stream_seed};

use super::seat;
use crate::clients::bundle;
use crate::clients::client::Context;
use crate::clients::gate::Gate;
use crate::clients::lane::Lane;
use crate::clients::sliced::Tour;
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
    pub lanes: Vec<(Tally, ThreadCost)>,
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

/// Connects, reports that, waits for the start, and runs the streams with these indexes.
pub fn run(
    load: &Load,
    indexes: &[usize],
    gate: &Gate,
    connected: mpsc::Sender<Result<(u32, Vec<Connection>), Error>>,
    failed: &Mutex<Option<Failed>>,
) -> Vec<Finished> {
    /// Ensures that no thread waits in vain, even if this one panics.
    struct Done<'a>(&'a Gate, usize);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            (0..self.1).for_each(|_| self.0.thread_done());
        }
    }
    let _done = Done(gate, indexes.len());
    let tid = nix::unistd::gettid().as_raw().cast_unsigned();
    // Sleeps end within about a microsecond of their time, instead of 50, the kernel's default.
    let _ = nix::sys::prctl::set_timerslack(1);
    let context = |index: &usize| {
        let stream = &load.step.streams[*index];
        Context {
            stream,
            index: *index,
            gate,
            counted: counted(&stream.class, stream.role, &load.step),
            limit: load.limit(),
            overtime: load.overtime,
            phase: f64::from(stream.client) / f64::from(load.step.key.dop.max(1)),
        }
    };
    let contexts: Vec<Context<'_>> = indexes.iter().map(context).collect();
    let finished = |context: &Context<'_>| Finished {
        class: context.stream.class.clone(),
        role: context.stream.role,
        ended: Duration::ZERO,
        lanes: Vec::new(),
    };
    let mut finished: Vec<Finished> = contexts.iter().map(finished).collect();
    // The lanes of the streams, one after another; several per stream only if it is alone.
    let mut lanes = Vec::new();
    for context in &contexts {
        let connection = sit(load, context.index)
            .and_then(|()| connect(load, context.index))
            .and_then(|(mut own, connections)| {
                context.first_refresh(&mut own)?;
                Ok((own, connections))
            });
        match connection {
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
        // Index of the stream that failed, and its target.
        let ended = match (&load.slices, &contexts[..]) {
            (Some(slices), [context]) => {
                let mut tour = Tour::new(context, &mut lanes, slices, start);
                let ended = tour.run();
                ended.map(|ended| vec![ended]).map_err(|error| (0, tour.here(), error))
            }
            (_, [context]) => context
                .run(&mut lanes[0], start)
                .map(|ended| vec![ended])
                .map_err(|error| (0, 0, error)),
            _ => bundle::run(&contexts, &mut lanes, start).map_err(|(at, error)| (at, 0, error)),
        };
        match ended {
            Ok(all) => {
                for (finished, ended) in finished.iter_mut().zip(all) {
                    finished.ended = ended;
                }
            }
            Err((at, target, error)) => {
                // A connection broken after the end of the step is not a failure.
                if !gate.stopped() {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    failed.get_or_insert(Failed {
                        target,
                        class: contexts[at].stream.class.clone(),
                        code: error.code().unwrap_or_default().to_owned(),
                        kind: error.kind(),
                        message: error.to_string(),
                    });
                    gate.stop();
                }
            }
        }
        for _ in contexts.iter().filter(|context| context.stream.role == Role::Lead) {
            gate.lead_done();
        }
    }
    let each = load.targets.len();
    for finished in finished.iter_mut().rev() {
        let own = lanes.split_off(lanes.len().saturating_sub(each));
        finished.lanes = own.into_iter().map(|lane| (lane.tally, lane.cost)).collect();
    }
    finished
}

/// Pins the calling thread, a stream's client, to its CPU if it has one.
fn sit(load: &Load, index: usize) -> Result<(), Error> {
    load.seats.get(index).map_or(Ok(()), |place| seat::take(*place))
}

/// One lane and one connection for each target.
fn connect(load: &Load, index: usize) -> Result<(Vec<Lane>, Vec<Connection>), Error> {
    let stream = &load.step.streams[index];
    let key = &load.step.key;
    let seed = stream_seed(load.seed, &key.name, key.dop, stream.client, &stream.class.name);
    let mut lanes = Vec::new();
    let mut connections = Vec::new();
    for target in &load.targets {
        let Reach::Sessions(connect) = &target.reach else {
            return Err(Error::Load("its clients run elsewhere"));
        };
        let lane = Lane::new(connect, stream, seed, load.step.seconds)?;
        let server = lane.session.server_pid();
        if let Some(place) = load.seats.get(index) {
            seat::seat_server(*place, server)?;
        }
        connections.push((server, lane.session.breaker()?));
        lanes.push(lane);
    }
    Ok((lanes, connections))
}

/// True if a stream's operations are its step's throughput.
pub fn counted(class: &Class, role: Role, step: &Step) -> bool {
    *class == step.counted && role == Role::Lead
}
