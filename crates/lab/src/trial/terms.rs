//! The conditions of a step that are set from outside its load: checks that it can have them, and
//! decides where its clients and servers run.

use dbms::{Endpoint, Transport};
use drive::Seat;
use probe::{Pair, Topology};
use store::StepRecord;
use workload::{Benchmark, Phase, Rng, Step, stream_seed};

use crate::error::Error;
use crate::subject::Subject;
use crate::trial::attempt::{Attempt, Trouble};
use crate::trial::conditions::Conditions;

/// Checks, before anything is started, that a benchmark's steps can have what they want.
///
/// # Errors
/// [`Error::Terms`], [`Error::TooManyClients`]
pub fn check(subject: &Subject, benchmark: &Benchmark) -> Result<(), Error> {
    let variant = || subject.variant.name.clone();
    let refused = |reason: String| Error::Terms { variant: variant(), reason };
    dbms::check_transports(&subject.reference, &transports(benchmark))
        .map_err(|error| Error::of(&subject.variant.name, error))?;
    let topology = Topology::here().map_err(|error| refused(error.to_string()))?;
    let text = subject.variant.config_text.as_deref();
    let most = subject
        .installation
        .is_ours()
        .then(|| dbms::most_clients(&subject.installation, &subject.config(benchmark), text));
    for step in benchmark.phases.iter().filter_map(Phase::step) {
        if step.terms.ours && !subject.installation.is_ours() {
            return Err(refused(format!(
                "the step {} makes data, which steelyard does only on servers that it starts; load \
                 the data there yourself, and remove the step",
                step.key.name
            )));
        }
        if step.terms.cold && !subject.installation.is_ours() {
            return Err(refused(
                "cold = true restarts servers, which steelyard does only with those that it \
                 starts; leave out cold"
                    .to_owned(),
            ));
        }
        if let Some(pinning) = pinning(step) {
            if !subject.installation.is_ours() {
                return Err(refused(
                    "pinning needs a server that steelyard starts on this machine; set pinning = \
                     \"none\""
                        .to_owned(),
                ));
            }
            topology.place(pinning, 1, &mut |_| 0).map_err(|error| refused(error.to_string()))?;
        }
        let clients = step.streams.len();
        if let Some(most) = most.flatten().filter(|most| clients > *most as usize) {
            let step = step.key.name.clone();
            return Err(Error::TooManyClients { variant: variant(), step, clients, most });
        }
    }
    Ok(())
}

/// Every way in which clients reach the server of a benchmark, besides the usual one.
pub fn transports(benchmark: &Benchmark) -> Vec<Transport> {
    let steps = benchmark.phases.iter().filter_map(Phase::step);
    let mut transports: Vec<_> = steps.filter_map(transport).collect();
    transports.sort_unstable();
    transports.dedup();
    transports
}

/// How a step's clients reach the server, if the plan says that.
fn transport(step: &Step) -> Option<Transport> {
    Some(match step.terms.transport? {
        plan::Transport::Unix => Transport::Unix,
        plan::Transport::Tcp => Transport::Loopback,
        plan::Transport::Veth => Transport::Veth,
    })
}

/// Where a step's clients find the server.
pub fn endpoint(attempt: &Attempt<'_>, step: &Step) -> Result<Endpoint, dbms::Error> {
    match transport(step) {
        Some(transport) => attempt.server.endpoint_by(transport),
        None => Ok(attempt.server.endpoint()),
    }
}

/// How a step's clients and their servers are pinned, if they are.
fn pinning(step: &Step) -> Option<probe::Pinning> {
    match step.terms.pinning? {
        plan::Pinning::None => None,
        plan::Pinning::Colocated => Some(probe::Pinning::Colocated),
        plan::Pinning::Random => Some(probe::Pinning::Random),
        plan::Pinning::Smt => Some(probe::Pinning::Smt),
        plan::Pinning::Ccx => Some(probe::Pinning::Ccx),
        plan::Pinning::Node => Some(probe::Pinning::Node),
    }
}

/// Where the clients of a step and the processes that serve them run: drawn anew for each block,
/// the same for all variants. Empty if the kernel decides. `frozen`: only the server that has the
/// load runs.
pub fn seats(
    conditions: &Conditions<'_>,
    attempts: &[Attempt<'_>],
    step: &Step,
    frozen: bool,
) -> Result<Vec<Seat>, Trouble> {
    let needed = step.terms.pinning.is_some();
    let topology = match Topology::here() {
        Err(error) if needed => return Err(Trouble::failed(error)),
        Ok(topology) if needed || frozen => topology,
        _ => return Ok(Vec::new()),
    };
    let apart = || apart(&topology, attempts, step.streams.len()).filter(|_| !needed);
    let Some(pinning) = pinning(step).or_else(apart) else { return Ok(Vec::new()) };
    let block = attempts.first().map_or(0, |attempt| attempt.entered.block);
    let seed = conditions.experiment.seed;
    let mut random = Rng::new(stream_seed(seed, pinning.name(), step.key.dop, block, "seats"));
    let pairs = topology
        .place(pinning, step.streams.len(), &mut |bound| random.below(bound))
        .map_err(Trouble::failed)?;
    let seat = |pair: Pair| Seat { client: pair.client, server: pair.server, needed };
    Ok(pairs.into_iter().map(seat).collect())
}

/// How clients and what serves them have a core each, if there are enough. Otherwise the kernel
/// sometimes puts the two on one and sometimes on two, which can double a throughput; which one it
/// is depends on how long ago the server was thawed, so short slices measure something other than
/// long ones.
fn apart(topology: &Topology, attempts: &[Attempt<'_>], clients: usize) -> Option<probe::Pinning> {
    let alone = |it: &Attempt<'_>| dbms::tells_threads(&it.subject.installation);
    let near = [probe::Pinning::Ccx, probe::Pinning::Random];
    let mut possible = near.into_iter().filter(|it| topology.free_until(*it) >= clients);
    possible.next().filter(|_| attempts.iter().all(alone))
}

/// Records how many cores a step left free. A client and its server that the kernel places can
/// share a core, since they take turns.
pub fn record_cores(record: &mut StepRecord, step: &Step) {
    let (Some(_), Ok(topology)) = (step.terms.pinning, Topology::here()) else { return };
    let placed = pinning(step).unwrap_or(probe::Pinning::Colocated);
    let free = topology.free_until(placed).saturating_sub(step.streams.len());
    record.add(metrics::CORES_FREE.name, free as f64);
}

/// Where clients and servers ran, for people.
pub fn note(seats: &[Seat]) -> Option<String> {
    /// A longer list helps nobody.
    const SHOWN: usize = 32;
    if seats.is_empty() {
        return None;
    }
    let possible = if seats.iter().all(|seat| seat.needed) { "" } else { ", if possible" };
    let pair = |seat: &Seat| format!("{}+{}", seat.client, seat.server);
    let pairs: Vec<String> = seats.iter().take(SHOWN).map(pair).collect();
    let more = if seats.len() > SHOWN { " …" } else { "" };
    Some(format!("CPUs of clients and their servers{possible}: {}{more}", pairs.join(" ")))
}
