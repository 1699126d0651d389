//! Counts instructions, and other events, of single requests: `steelyard count`.
//!
//! Each kind of statement runs in a process of its own under Callgrind, in a full server rather
//! than in single-user mode: that mode reads and prints differently, which costs more than small
//! statements do, and has no protocol for prepared ones. Calls of a library run in the process that
//! loaded it ([`calls`]); only what happens inside of them is counted.
//!
//! Starting a server under Callgrind takes about as long as counting two or three kinds, so one
//! server counts several kinds of a protocol, one after another ([`jobs`]). Each kind that writes
//! has a database to itself, all of them copies of one load ([`data`]). The server's periodic
//! work is suspended.
//!
//! A session executes N statements, a mark, N more, and two marks. Callgrind writes its counts at
//! every mark. The count between the first two marks, minus the count between the last two, is
//! that of N statements in a warm process, without its start and without the mark ([`session`]).
//! Everything is counted twice, on different copies. Counts that don't agree are repeated, and all
//! figures are kept ([`rounds`], [`repeats`]). [`dbms::CountMethod`] covers what depends on the
//! system.

mod calls;
mod counter;
mod data;
mod jobs;
mod phases;
mod repeats;
mod rounds;
mod session;
mod workers;

use std::sync::atomic::AtomicBool;

use dbms::{Cache, Ledger, ServerUser};
use plan::Plan;
use probe::callgrind::{Event as Counted, Profile, SEES_RETURNS, Valgrind};
use report::Spread;
use store::{CountRecord, ExperimentId, Purpose, Store, Warning};
use workload::{Catalogue, Dialect};

use self::counter::Counter;
use self::jobs::{Item, jobs};
use self::rounds::{News, TIMES, conduct};
use crate::error::Error;
use crate::event::Event;
use crate::experiment::data_dir::make_data_dir;
use crate::experiment::exclusive::Exclusive;
use crate::experiment::record::begin;
use crate::experiment::run::sweep;
use crate::lineup::line_up;
use crate::options::Options;
use crate::subject::{Lineup, Subject};
use crate::systems::Installed;

/// The seed for a plan without one: fixed, so that two counts of one plan execute the same
/// statements.
pub const SEED: u64 = 1;

/// Counts what the plan says, `workers` servers at a time, and returns the experiment in the store.
///
/// # Errors
///
/// See [`Error`]. Everything already counted twice is in the store. Nothing is left running in any
/// case.
pub fn count(
    plan: Plan,
    options: &Options,
    workers: usize,
    cache: Cache,
    ledger: &Ledger,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<ExperimentId, Error> {
    // Counting does not need this, but a concurrent run does.
    let exclusive = Exclusive::take(options.allow_concurrent)?;
    let valgrind = Valgrind::find()?;
    sweep(ledger, on_event)?;
    let name = options.server_user.as_deref();
    let user = ServerUser::choose(name)?;
    let made = make_data_dir(options, Some(&user))?;
    let lineup = line_up(plan, &Installed(cache), name, interrupted, on_event)?;
    let methods = of_each(&lineup, |_, subject| {
        let method = dbms::count_method(&subject.installation);
        let method = method.map_err(|error| Error::of(&subject.variant.name, error))?;
        if SEES_RETURNS {
            Ok(method)
        } else if method.only_in.is_empty() {
            Ok(phases::without_calls(method))
        } else {
            Err(Error::NoReturns { variant: subject.variant.name.clone() })
        }
    })?;
    let catalogues = of_each(&lineup, catalogue)?;
    let store = Store::open(&options.results)?;
    let seed = lineup.plan.seed.unwrap_or(SEED);
    let experiment = begin(&store, &lineup, options, Purpose::Count, seed)?.id;
    let held = Exclusive::take_experiment(store.database(), experiment.0)?;
    if !SEES_RETURNS {
        let text = "Callgrind doesn't see where functions return on this processor, so there are no \
                    phases, calls or costs of what functions call, and totals may include work \
                    that the server does by the clock";
        store.warn(experiment, None, &Warning::new("no-calls", text.to_owned()))?;
    }
    let counter = Counter {
        lineup: &lineup,
        options,
        ledger,
        user: &user,
        interrupted,
        valgrind: &valgrind,
        seed,
        events: events(&lineup.plan),
        methods,
        catalogues,
    };
    let result = counter.count_all(&store, experiment, workers.max(1), on_event);
    match &result {
        Ok(()) => store.finish_experiment(experiment)?,
        // The store may be what failed; report the error that came first.
        Err(_) => store.interrupt_experiment(experiment).unwrap_or(()),
    }
    drop((made, held, exclusive));
    result.map(|()| {
        on_event(Event::Ended);
        experiment
    })
}

/// The version of Valgrind, and the processor: counts depend on both, since C libraries choose
/// functions by the processor. They also depend on the build, the plan and the steelyard.
///
/// # Errors
/// [`Error::Callgrind`] without Valgrind.
pub fn count_conditions() -> Result<Vec<String>, Error> {
    let mut conditions = vec![Valgrind::find()?.version];
    conditions.extend(probe::processor());
    Ok(conditions)
}

/// The kinds of requests of a plan that can be counted on all of its variants; `None` if a variant
/// has none, or is a system that steelyard doesn't start.
pub fn count_kinds(plan: &Plan) -> Option<Vec<String>> {
    let mut common: Option<Vec<String>> = None;
    for variant in &plan.variants {
        let system = dbms::countable(&variant.dbms)?;
        let dialect = Dialect::of(system, u32::MAX, variant.engine.as_deref());
        let catalogue = workload::catalogue(&plan.workload, &plan.count, dialect).ok()?;
        let has = |name: &String| catalogue.kinds.iter().any(|kind| kind.name == *name);
        let asked = |name: &String| plan.count.kinds.is_empty() || plan.count.kinds.contains(name);
        common = Some(match common {
            Some(known) => known.into_iter().filter(has).collect(),
            None => catalogue.kinds.iter().map(|kind| kind.name.clone()).filter(asked).collect(),
        });
    }
    common
}

/// True if the requests of a plan can be counted: it has some, and steelyard starts its systems.
pub fn can_count(plan: &Plan) -> bool {
    count_kinds(plan).is_some()
}

/// Names of all that can be counted, instructions first.
pub fn count_events() -> impl Iterator<Item = &'static str> {
    Counted::ALL.into_iter().map(Counted::name)
}

/// What to count, instructions first.
fn events(plan: &Plan) -> &'static [Counted] {
    if plan.count.caches { &Counted::ALL } else { &[Counted::Instructions] }
}

fn of_each<T>(
    lineup: &Lineup,
    of: impl Fn(&Plan, &Subject) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    lineup.subjects.iter().map(|subject| of(&lineup.plan, subject)).collect()
}

/// Returns the kinds of requests to count on a variant.
fn catalogue(plan: &Plan, subject: &Subject) -> Result<Catalogue, Error> {
    let mut catalogue = workload::catalogue(&plan.workload, &plan.count, subject.dialect)
        .map_err(|source| Error::Workload { variant: subject.variant.name.clone(), source })?;
    let known: Vec<String> = catalogue.kinds.iter().map(|kind| kind.name.clone()).collect();
    if let Some(kind) = plan.count.kinds.iter().find(|name| !known.contains(name)) {
        return Err(Error::NoSuchKind { kind: kind.clone(), known: known.join(", ") });
    }
    if !plan.count.kinds.is_empty() {
        catalogue.kinds.retain(|kind| plan.count.kinds.contains(&kind.name));
    }
    Ok(catalogue)
}

impl Counter<'_> {
    /// Loads and counts, reports progress, and stores the counts.
    fn count_all(
        &self,
        store: &Store,
        experiment: ExperimentId,
        workers: usize,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        let plan = &self.lineup.plan;
        let kinds = |variant| self.method(variant).kinds;
        let jobs = jobs(&self.catalogues, kinds, &plan.count.protocols);
        let counts = TIMES * jobs.iter().map(|job| job.items.len()).sum::<usize>();
        on_event(Event::CountBegan { experiment, name: plan.name.clone(), counts });
        let variants = store.variants(experiment)?;
        let name = |variant: usize| self.subject(variant).variant.name.clone();
        let load = |variant, databases: &_| self.load(variant, databases);
        let count = |number, job: &_, loaded: &_, done: &_| self.count(number, job, loaded, done);
        conduct(&jobs, variants.len(), workers, load, count, &mut |news| {
            match news {
                News::Loaded { variant } => on_event(Event::CountLoaded { variant: name(variant) }),
                News::Counted { item, instructions } => on_event(Event::Counted {
                    variant: name(item.variant),
                    kind: self.kind(item).name.clone(),
                    protocol: item.protocol.as_str(),
                    instructions: instructions / u64::from(self.executions(item)),
                }),
                News::Again { differ, counts } => {
                    let differ = differ.into_iter().map(|item| {
                        let (kind, protocol) = (&self.kind(item).name, item.protocol.as_str());
                        format!("{kind} ({protocol}) of {}", name(item.variant))
                    });
                    on_event(Event::CountAgain { differ: differ.collect(), counts });
                }
                News::Done { item, counted } => {
                    for record in self.records(item, &counted) {
                        store.record_count(variants[item.variant].id, &record)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// A record of all counts of an item for each event: their sums, with the phases and functions
    /// of the count nearest to the mean.
    fn records(&self, item: Item, counted: &[Vec<Profile>]) -> Vec<CountRecord> {
        let (kind, method) = (self.kind(item), self.method(item.variant));
        let statements = u64::from(self.executions(item));
        let record = |(place, event): (usize, &Counted)| {
            let profiles: Vec<&Profile> = counted.iter().filter_map(|all| all.get(place)).collect();
            let counts: Vec<u64> = profiles.iter().map(|profile| profile.total).collect();
            let nearest = profiles.get(Spread::of(&counts).nearest(&counts))?;
            Some(CountRecord {
                kind: kind.name.clone(),
                protocol: item.protocol.as_str().to_owned(),
                place: method.place.to_owned(),
                event: event.name().to_owned(),
                statements,
                rows: statements * kind.rows,
                total: nearest.total,
                counts,
                phases: phases::phases(nearest, method),
                functions: phases::functions(nearest, method),
            })
        };
        self.events.iter().enumerate().filter_map(record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_come_first_and_have_the_name_that_the_store_knows() {
        let of = |caches: &str| {
            let text = format!(
                "[variants.a]\ndbms = 'postgres@14.3'\n[workload.insert]\n[count]\n{caches}"
            );
            events(&Plan::parse(&text, None, "a test").unwrap())
        };
        assert_eq!(of(""), [Counted::Instructions]);
        assert_eq!(of("caches = true").len(), Counted::ALL.len());
        assert_eq!(of("caches = true")[0].name(), store::INSTRUCTIONS);
        // What is simulated needs more of a difference, so its names have to be known.
        let exact = [Counted::Instructions, Counted::DataAccesses, Counted::SystemCalls];
        for event in Counted::ALL {
            let least = report::least_difference(event.name(), 1e6);
            assert_eq!(least > report::LEAST_DIFFERENCE, !exact.contains(&event), "{event:?}");
        }
    }

    #[test]
    fn plans_that_can_be_counted_are_known() {
        let can = |dbms: &str, workload: &str| {
            let text = format!("[variants.a]\ndbms = '{dbms}'\n[workload.{workload}]\n");
            can_count(&Plan::parse(&text, None, "a test").unwrap())
        };
        assert!(can("postgres@14.3", "insert") && can("mysql@8.0.31", "insert"));
        assert!(can("rocksdb@8.11.4", "kv"));
        assert!(!can("postgres://me@localhost/db", "insert"));
        assert!(!can("none", "storage"));
    }
}
