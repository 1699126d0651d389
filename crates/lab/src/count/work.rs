//! All that is to be counted, spread over workers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use dbms::Loaded;
use probe::callgrind::{Options as Callgrind, Profile};
use report::Spread;
use store::{CountRecord, Store, VariantId};

use super::jobs::{Job, databases, jobs};
use super::repeats::Repeats;
use super::session::{MARK_FUNCTION, Session, unless};
use super::{Bench, FURTHER, Item, TIMES, executions, phases};
use crate::error::Error;
use crate::event::Event;
use crate::systems::target;

/// Log lines that an error shows.
const LOG_LINES: usize = 12;

/// What happens on the way: told by workers, and by whoever gives them work.
enum News {
    Loaded { variant: usize },
    Counted { item: Item, profile: Box<Profile> },
    Again { differ: Vec<Item>, counts: usize },
}

/// Loads, counts and stores.
pub fn conduct(
    bench: &Bench<'_>,
    store: &Store,
    variants: &[VariantId],
    workers: usize,
    on_event: &mut dyn FnMut(Event),
) -> Result<(), Error> {
    let jobs = jobs(&bench.catalogues, &bench.prepared.plan.count.protocols);
    let counts: usize = TIMES * jobs.iter().map(|job| job.items.len()).sum::<usize>();
    on_event(Event::CountBegan { name: bench.prepared.plan.name.clone(), counts });
    let repeats = RefCell::new(Repeats::new(|profile: &Profile| profile.instructions));
    let record = |item: Item, counted: Vec<Profile>| {
        let record = record(bench, item, &counted);
        store.record_count(variants[item.variant], &record).map_err(Error::from)
    };
    let mut take = |news: News| -> Result<(), Error> {
        match news {
            News::Loaded { variant } => {
                on_event(Event::CountLoaded {
                    variant: bench.subject(variant).variant.name.clone(),
                });
            }
            News::Counted { item, profile } => {
                let kind = &bench.catalogues[item.variant].kinds[item.kind];
                let executions = u64::from(executions(&bench.prepared.plan, kind));
                on_event(Event::Counted {
                    variant: bench.subject(item.variant).variant.name.clone(),
                    kind: kind.name.clone(),
                    protocol: item.protocol.as_str(),
                    instructions: profile.instructions / executions,
                });
                let enough = repeats.borrow_mut().add(item, *profile);
                if let Some(counted) = enough {
                    record(item, counted)?;
                }
            }
            News::Again { differ, counts } => {
                let differ = differ.into_iter().map(|item| {
                    let kind = &bench.catalogues[item.variant].kinds[item.kind].name;
                    let variant = &bench.subject(item.variant).variant.name;
                    format!("{kind} ({}) of {variant}", item.protocol.as_str())
                });
                on_event(Event::CountAgain { differ: differ.collect(), counts });
            }
        }
        Ok(())
    };
    let loads = spread(workers, (0..variants.len()).collect(), &mut take, |variant, news| {
        let loaded = bench.load(variant, &databases(&jobs, variant))?;
        let _ = news.send(News::Loaded { variant });
        Ok(loaded)
    })?;
    let loads: BTreeMap<usize, Loaded> = loads.into_iter().collect();
    let mut number = 0;
    let mut count = |mut jobs: Vec<Job>, take: &mut dyn FnMut(News) -> Result<(), Error>| {
        // The longest first, so that no worker is left alone with one at the end.
        jobs.sort_by_key(Job::expense);
        let first = number;
        number += jobs.len();
        spread(workers, (first..).zip(jobs).collect(), take, |(number, job), news| {
            let directory = bench.place(&number.to_string());
            match loads.get(&job.variant) {
                Some(loaded) => bench.job(&job, loaded, &directory, news),
                None => Ok(()),
            }
        })
    };
    count((0..TIMES).flat_map(|_| jobs.clone()).collect(), &mut take)?;
    for _ in 0..FURTHER {
        let differ: Vec<Item> = repeats.borrow().open().collect();
        let again: Vec<Job> =
            jobs.iter().filter_map(|job| job.up_to(|item| differ.contains(item))).collect();
        if again.is_empty() {
            break;
        }
        take(News::Again { differ, counts: again.iter().map(|job| job.items.len()).sum() })?;
        count(again, &mut take)?;
    }
    for (item, counted) in repeats.into_inner().rest() {
        record(item, counted)?;
    }
    Ok(())
}

/// What is kept of all counts of an item: their sums, and of the one nearest to the mean its phases and functions.
fn record(bench: &Bench<'_>, item: Item, counted: &[Profile]) -> CountRecord {
    let kind = &bench.catalogues[item.variant].kinds[item.kind];
    let executions = u64::from(executions(&bench.prepared.plan, kind));
    let counts: Vec<u64> = counted.iter().map(|profile| profile.instructions).collect();
    let nearest = &counted[Spread::of(&counts).nearest(&counts)];
    CountRecord {
        kind: kind.name.clone(),
        protocol: item.protocol.as_str().to_owned(),
        place: "backend".to_owned(),
        statements: executions,
        rows: executions * kind.rows,
        instructions: nearest.instructions,
        counts,
        phases: phases::phases(nearest),
        functions: phases::functions(nearest),
    }
}

impl Bench<'_> {
    /// Counts the items of a job on a server of their own.
    fn job(
        &self,
        job: &Job,
        loaded: &Loaded,
        directory: &Path,
        news: &Sender<News>,
    ) -> Result<(), Error> {
        let plan = &self.prepared.plan;
        let catalogue = &self.catalogues[job.variant];
        // In the data directory, where the server may write and which goes with it.
        let out: PathBuf = directory.join("data").join("callgrind");
        let wrapper = self.valgrind.command_line(&Callgrind {
            dump_before: Some(MARK_FUNCTION.to_owned()),
            ..Callgrind::new(&out)
        });
        let mut server = self.start_on(job.variant, loaded, directory, wrapper)?;
        let subject = self.subject(job.variant);
        let name = &subject.variant.name;
        let workload::Dialect::Postgres { major } = subject.dialect;
        let endpoint = server.endpoint();
        let Some(postmaster) = server.root_pid() else {
            return Err(Error::Count {
                variant: name.clone(),
                kind: "start".to_owned(),
                reason: "expected a server that steelyard started".to_owned(),
                log: String::new(),
            });
        };
        // Dropped before the server is.
        let mut still = None;
        let mut before = None;
        for (item, database) in &job.items {
            let kind = &catalogue.kinds[item.kind];
            let target = target(name, endpoint.clone().in_database(&database.to_string()));
            let session = Session {
                target: &target,
                major,
                postmaster,
                before,
                catalogue,
                kind,
                protocol: item.protocol,
                executions: executions(plan, kind),
                seed: self.seed,
                interrupted: self.interrupted,
            };
            let (profile, pid) = session.count(&out, &mut still).map_err(|error| match error {
                Error::Count { variant, kind, reason, .. } => {
                    let log = if server.alive() {
                        String::new()
                    } else {
                        tail(server.log_tail(LOG_LINES))
                    };
                    Error::Count { variant, kind, reason, log }
                }
                other => other,
            })?;
            before = Some(pid);
            let profile = Box::new(profile);
            let _ = news.send(News::Counted { item: *item, profile });
        }
        // Nothing of it is wanted any more: it is ended at once, without a checkpoint under Callgrind.
        drop(still);
        drop(server);
        Ok(())
    }
}

/// The end of a server's log, with a heading.
fn tail(log: String) -> String {
    if log.trim().is_empty() {
        return String::new();
    }
    format!("\nlast lines of the server's log:\n{}", log.trim_end())
}

/// Has `workers` threads do `tasks`, each with `work`, and tells what they send to `take` on this thread. The results, by the tasks'
/// order. The first error ends all that has not begun yet.
fn spread<T: Clone + Send, R: Send>(
    workers: usize,
    tasks: Vec<T>,
    take: &mut dyn FnMut(News) -> Result<(), Error>,
    work: impl Fn(T, &Sender<News>) -> Result<R, Error> + Sync,
) -> Result<Vec<(usize, R)>, Error> {
    let queue = Mutex::new(tasks.into_iter().enumerate());
    let results = Mutex::new(Vec::new());
    let broken = Mutex::new(None);
    let stop = AtomicBool::new(false);
    let lock_error = |error| {
        stop.store(true, Ordering::Relaxed);
        broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..workers {
            let (sender, queue, results, stop) = (sender.clone(), &queue, &results, &stop);
            let (work, lock_error) = (&work, &lock_error);
            scope.spawn(move || {
                loop {
                    if unless(stop).is_err() {
                        return;
                    }
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((number, task)) = next else { return };
                    match work(task, &sender) {
                        Ok(result) => results
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push((number, result)),
                        Err(error) => return lock_error(error),
                    }
                }
            });
        }
        drop(sender);
        for news in receiver {
            if let Err(error) = take(news) {
                lock_error(error);
            }
        }
    });
    if let Some(error) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, _)| *number);
    Ok(results)
}
