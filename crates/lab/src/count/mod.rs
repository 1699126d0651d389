//! Counts instructions of single statements: `steelyard count`.
//!
//! Each kind of statement runs in a backend of its own under Callgrind. A whole server, not single-user mode: that one reads statements
//! character by character and prints rows with `printf`, which costs more than small statements do, and knows no protocol for
//! prepared ones.
//!
//! To start a server under Callgrind takes about as long as to count two or three kinds, so one server counts those of a protocol, one after
//! another ([`jobs`]). Whoever writes has a database to itself there, all of them copies of one load ([`data`]). What a server does periodically
//! is held [`still`].
//!
//! A backend executes N statements, a mark, N more, and two marks. Callgrind writes what it counted at every mark; what it counted between the
//! first two, less what it counted between the last two, is N statements of a backend that is warm, without its start and
//! without the mark ([`session`]). Everything is done twice, on another copy; what does not agree is
//! counted again, and all figures are kept ([`repeats`]).

mod data;
mod jobs;
mod phases;
mod repeats;
mod session;
mod still;
mod work;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbms::{Cache, Ledger, ServerUser};
use plan::{Plan, Protocol};
use probe::callgrind::Valgrind;
use store::{ExperimentId, Purpose, Store, VariantId};
use workload::{Catalogue, Kind};

use crate::error::Error;
use crate::event::Event;
use crate::experiment::data_dir::make_data_dir;
use crate::experiment::exclusive::Exclusive;
use crate::experiment::record::begin;
use crate::experiment::run::sweep;
use crate::lineup::{Lineup, Subject, line_up};
use crate::options::Options;
use crate::systems::Installed;

/// The seed where the plan has none: a fixed one, so that two counts of one plan execute the same statements.
const SEED: u64 = 1;

/// How often everything is counted: once more than needed, to show how well it repeats.
const TIMES: usize = 2;

/// How many times more what does not agree is counted.
const FURTHER: usize = 3;

/// A start under Callgrind takes some 50 times as long as without.
const START_FACTOR: u32 = 10;

/// What all counts of a command share.
struct Bench<'a> {
    prepared: &'a Lineup,
    options: &'a Options,
    ledger: &'a Ledger,
    user: &'a ServerUser,
    interrupted: &'a AtomicBool,
    valgrind: &'a Valgrind,
    seed: u64,
    /// For each variant what is counted on it.
    catalogues: Vec<Catalogue>,
}

/// Counts what the plan says, `workers` servers at a time, and returns the experiment in the store.
///
/// # Errors
///
/// See [`Error`]. What was counted twice before is in the store; nothing is left running, whatever is returned.
pub fn count(
    plan: Plan,
    options: &Options,
    workers: usize,
    cache: Cache,
    ledger: &Ledger,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<ExperimentId, Error> {
    // The figures don't need it, those of a run beside them do.
    let exclusive = if options.allow_concurrent { None } else { Some(Exclusive::take()?) };
    let valgrind = Valgrind::find()?;
    sweep(ledger, on_event)?;
    let user = options.server_user.as_deref();
    let prepared = line_up(plan, &Installed(cache), user, interrupted, on_event)?;
    let catalogues = catalogues(&prepared)?;
    let store = Store::open(&options.results)?;
    let user = ServerUser::choose(options.server_user.as_deref())?;
    let made = make_data_dir(options)?;
    user.check_reach(&options.data_dir).inspect_err(|_| made.remove())?;
    let seed = prepared.plan.seed.unwrap_or(SEED);
    let experiment = begin(&store, &prepared, options, Purpose::Count, seed)?;
    let bench = Bench {
        prepared: &prepared,
        options,
        ledger,
        user: &user,
        interrupted,
        valgrind: &valgrind,
        seed,
        catalogues,
    };
    let variants: Vec<VariantId> =
        store.variants(experiment.id)?.into_iter().map(|variant| variant.id).collect();
    let result = work::conduct(&bench, &store, &variants, workers.max(1), on_event);
    match &result {
        Ok(()) => store.finish_experiment(experiment.id)?,
        // The store may be what failed; the error that came first is the one to tell.
        Err(_) => store.interrupt_experiment(experiment.id).unwrap_or(()),
    }
    made.remove();
    drop(exclusive);
    result.map(|()| {
        on_event(Event::Ended);
        experiment.id
    })
}

/// What is counted on each variant.
fn catalogues(prepared: &Lineup) -> Result<Vec<Catalogue>, Error> {
    let plan = &prepared.plan;
    prepared
        .subjects
        .iter()
        .map(|subject| {
            if !subject.installation.is_ours() {
                return Err(Error::NotCounted { variant: subject.variant.name.clone() });
            }
            let mut catalogue = workload::catalogue(&plan.workload, &plan.count, subject.dialect)
                .map_err(|source| {
                let variant = subject.variant.name.clone();
                Error::Workload { variant, source }
            })?;
            let known: Vec<String> = catalogue.kinds.iter().map(|kind| kind.name.clone()).collect();
            for name in &plan.count.kinds {
                if !known.contains(name) {
                    return Err(Error::NoSuchKind { kind: name.clone(), known: known.join(", ") });
                }
            }
            if !plan.count.kinds.is_empty() {
                catalogue.kinds.retain(|kind| plan.count.kinds.contains(&kind.name));
            }
            Ok(catalogue)
        })
        .collect()
}

/// How many executions are counted: as the plan says, else fewer the more rows one writes, so that all kinds take about as long.
fn executions(plan: &Plan, kind: &Kind) -> u32 {
    /// Rows written by all executions of a kind together, about.
    const ROWS: u64 = 1_000;
    /// A prepared statement is planned anew five times before its plan is kept
    /// (`choose_custom_plan`, `src/backend/utils/cache/plancache.c`); that must be over when counting begins.
    const FEWEST: u64 = 10;
    /// Enough for costs that come with every so many executions only, such as a new page, to be in the mean.
    const MOST: u64 = 50;
    plan.count.statements.unwrap_or_else(|| (ROWS / kind.rows.max(1)).clamp(FEWEST, MOST) as u32)
}

/// A statement of one kind to be counted on one variant in one protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    /// Position of the variant in the plan.
    variant: usize,
    /// Position of the kind in the variant's catalogue.
    kind: usize,
    protocol: Protocol,
}

impl Bench<'_> {
    fn subject(&self, variant: usize) -> &Subject {
        &self.prepared.subjects[variant]
    }

    fn start_limit(&self) -> Duration {
        self.options.start_limit * START_FACTOR
    }
}
