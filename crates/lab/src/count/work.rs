//! All that is to be counted, spread over workers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use dbms::Loaded;
use probe::callgrind::{Options as Callgrind, Profile};
use store::{CountRecord, Store, VariantId};
use workload::State;

use super::repeats::Repeats;
use super::session::{MARK_FUNCTION, Session, unless};
use super::{Bench, FURTHER, Item, TIMES, executions, phases};
use crate::error::Error;
use crate::event::Event;
use crate::step::target;

/// Log lines that an error shows.
const LOG_LINES: usize = 12;

/// Items that one server counts, one after another.
#[derive(Debug, Clone)]
struct Job {
    variant: usize,
    state: State,
    items: Vec<Item>,
}

impl Job {
    /// The job as far as it goes to count what is `wanted`: what was counted before on the same server left it as it was found.
    /// `None` where nothing is.
    fn up_to(&self, wanted: impl Fn(&Item) -> bool) -> Option<Job> {
        let last = self.items.iter().rposition(wanted)?;
        Some(Job { items: self.items.get(..=last)?.to_vec(), ..self.clone() })
    }
}

/// What a worker has to tell.
enum News {
    Loaded { variant: usize },
    Counted { item: Item, profile: Box<Profile> },
}

/// Loads, counts and stores.
pub fn conduct(
    bench: &Bench<'_>,
    store: &Store,
    variants: &[VariantId],
    workers: usize,
    on_event: &mut dyn FnMut(Event),
) -> Result<(), Error> {
    let jobs = jobs(bench);
    let counts: usize = TIMES * jobs.iter().map(|job| job.items.len()).sum::<usize>();
    on_event(Event::CountBegan { name: bench.prepared.plan.name.clone(), counts });
    let repeats = RefCell::new(Repeats::new(phases::instructions));
    let record = |item: Item, pair: [Profile; 2]| {
        store.record_count(variants[item.variant], &record(bench, item, &pair)).map_err(Error::from)
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
                    instructions: phases::instructions(&profile) / executions,
                });
                let agreed = repeats.borrow_mut().add(item, *profile);
                if let Some(pair) = agreed {
                    record(item, pair)?;
                }
            }
        }
        Ok(())
    };
    let loads = spread(workers, (0..variants.len()).collect(), &mut take, |variant, news| {
        let loaded = bench.load(variant, &states(bench, variant))?;
        let _ = news.send(News::Loaded { variant });
        Ok(loaded)
    })?;
    let loads: BTreeMap<usize, BTreeMap<State, Loaded>> = loads.into_iter().collect();
    let mut number = 0;
    let mut count = |mut jobs: Vec<Job>| {
        // The longest first, so that no worker is left alone with it at the end.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.items.len()));
        let first = number;
        number += jobs.len();
        spread(workers, (first..).zip(jobs).collect(), &mut take, |(number, job), news| {
            let directory = bench.place(&number.to_string());
            match loads.get(&job.variant).and_then(|states| states.get(&job.state)) {
                Some(loaded) => bench.job(&job, loaded, &directory, news),
                None => Ok(()),
            }
        })
    };
    count((0..TIMES).flat_map(|_| jobs.clone()).collect())?;
    for _ in 0..FURTHER {
        let again = jobs.iter().filter_map(|job| job.up_to(|item| repeats.borrow().is_open(item)));
        count(again.collect())?;
    }
    for (item, pair) in repeats.into_inner().rest() {
        record(item, pair)?;
    }
    Ok(())
}

/// What is kept of two counts of an item.
fn record(bench: &Bench<'_>, item: Item, [first, second]: &[Profile; 2]) -> CountRecord {
    let kind = &bench.catalogues[item.variant].kinds[item.kind];
    let executions = u64::from(executions(&bench.prepared.plan, kind));
    CountRecord {
        kind: kind.name.clone(),
        protocol: item.protocol.as_str().to_owned(),
        place: "backend".to_owned(),
        statements: executions,
        rows: executions * kind.rows,
        instructions: phases::instructions(first),
        repeated: phases::instructions(second),
        phases: phases::phases(first),
        functions: phases::functions(first),
    }
}

/// The states of data that a variant's kinds find.
fn states(bench: &Bench<'_>, variant: usize) -> Vec<State> {
    let mut states: Vec<State> =
        bench.catalogues[variant].kinds.iter().map(|kind| kind.state).collect();
    states.sort_unstable();
    states.dedup();
    states
}

/// Who counts what: statements that only read share a server, one that writes has one for itself in each protocol, for what an insert
/// costs depends on how full the pages are that the ones before it have left. Variants come beside each other.
fn jobs(bench: &Bench<'_>) -> Vec<Job> {
    let plan = &bench.prepared.plan;
    let mut jobs = Vec::new();
    let kinds = bench.catalogues.iter().map(|catalogue| catalogue.kinds.len()).max();
    for kind in 0..kinds.unwrap_or(0) {
        for &protocol in &plan.count.protocols {
            for (variant, catalogue) in bench.catalogues.iter().enumerate() {
                let Some(found) = catalogue.kinds.get(kind) else { continue };
                let item = Item { variant, kind, protocol };
                let sharing = jobs.iter_mut().find(|job: &&mut Job| {
                    (job.variant, job.state) == (variant, found.state)
                        && found.reads_only
                        && job.items.iter().all(|item| catalogue.kinds[item.kind].reads_only)
                });
                match sharing {
                    Some(job) => job.items.push(item),
                    None => jobs.push(Job { variant, state: found.state, items: vec![item] }),
                }
            }
        }
    }
    jobs
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
        let name = &self.subject(job.variant).variant.name;
        let target = target(name, server.endpoint());
        let Some(postmaster) = server.root_pid() else {
            return Err(Error::Count {
                variant: name.clone(),
                kind: "start".to_owned(),
                reason: "expected a server that steelyard started".to_owned(),
                log: String::new(),
            });
        };
        let mut before = None;
        for item in &job.items {
            let kind = &catalogue.kinds[item.kind];
            let session = Session {
                target: &target,
                postmaster,
                before,
                catalogue,
                kind,
                protocol: item.protocol,
                executions: executions(plan, kind),
                seed: self.seed,
                interrupted: self.interrupted,
            };
            let (profile, pid) = session.count(&out).map_err(|error| match error {
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
