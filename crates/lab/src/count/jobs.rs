//! Divides counting among servers, and among the databases of each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use plan::Protocol;
use workload::{Catalogue, Request, State};

/// A request of one kind to be counted on one variant in one protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Position of the variant in the plan.
    pub variant: usize,
    /// Position of the kind in the variant's catalogue.
    pub kind: usize,
    /// How it is sent.
    pub protocol: Protocol,
}

/// Items that one server counts, one after another, each in a session of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Position of the variant in the plan.
    pub variant: usize,
    /// The items it counts, and the database of each.
    pub items: Vec<(Item, Database)>,
}

/// A database with the loaded tables. Each statement that writes has one to itself, because the
/// cost of an insert depends on how full earlier inserts have left the pages. Statements that only
/// read share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Database {
    /// The state of its tables.
    pub state: State,
    /// 0 for reading, others for writing.
    number: usize,
}

impl fmt::Display for Database {
    /// Its name. All have the same length, so that none shifts what follows it in a process's
    /// memory.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Loaded => "plain",
            State::Indexed => "index",
        };
        write!(formatter, "{state}{:03}", self.number)
    }
}

impl Job {
    /// Sorts the jobs that take longest first: those of many statements, and those of statements
    /// that are parsed each time.
    pub fn expense(&self) -> (Reverse<usize>, Option<Protocol>) {
        (Reverse(self.items.len()), self.items.first().map(|(item, _)| item.protocol))
    }

    /// The job up to the last of the `wanted` items, because the items before them on the same
    /// server determine its state. `None` if no item is wanted.
    pub fn up_to(&self, wanted: impl Fn(&Item) -> bool) -> Option<Job> {
        let last = self.items.iter().rposition(|(item, _)| wanted(item))?;
        Some(Job { items: self.items.get(..=last)?.to_vec(), ..self.clone() })
    }
}

/// Everything to count once, at most `most(variant)` kinds per server. Servers of different
/// variants alternate, and for each the statements that write the fewest rows come first, because
/// they take the least time to repeat. Calls have a protocol of their own instead of `protocols`.
pub fn jobs(
    catalogues: &[Catalogue],
    most: impl Fn(usize) -> usize,
    protocols: &[Protocol],
) -> Vec<Job> {
    let mut kinds = catalogues.iter().flat_map(|catalogue| &catalogue.kinds);
    let called = kinds.any(|kind| matches!(kind.request, Request::KeyValue(_)));
    let protocols = if called { &[Protocol::Call] } else { protocols };
    let mut jobs = Vec::new();
    for &protocol in protocols {
        for (variant, catalogue) in catalogues.iter().enumerate() {
            let mut order: Vec<usize> = (0..catalogue.kinds.len()).collect();
            order.sort_by_key(|kind| catalogue.kinds[*kind].rows);
            for kinds in order.chunks(most(variant)) {
                let mut writers: BTreeMap<State, usize> = BTreeMap::new();
                let items = kinds.iter().map(|&kind| {
                    let found = &catalogue.kinds[kind];
                    let number = if found.reads_only {
                        0
                    } else {
                        let writers = writers.entry(found.state).or_default();
                        *writers += 1;
                        *writers
                    };
                    (Item { variant, kind, protocol }, Database { state: found.state, number })
                });
                jobs.push(Job { variant, items: items.collect() });
            }
        }
    }
    jobs
}

/// The databases that the jobs of a variant need.
pub fn databases(jobs: &[Job], variant: usize) -> BTreeSet<Database> {
    let of_variant = jobs.iter().filter(|job| job.variant == variant);
    of_variant.flat_map(|job| &job.items).map(|(_, database)| *database).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Dialect;

    fn insert() -> Catalogue {
        workload::insert::catalogue(&plan::InsertPlan::default(), 2_000, Dialect::postgres(14))
            .unwrap()
    }

    #[test]
    fn a_server_counts_what_one_protocol_has_and_the_cheap_first() {
        let jobs = jobs(&[insert(), insert()], |_| 12, &[Protocol::Simple, Protocol::Prepared]);
        let variants: Vec<usize> = jobs.iter().map(|job| job.variant).collect();
        assert_eq!(variants, [0, 1, 0, 1]);
        let kinds = insert().kinds;
        let rows: Vec<u64> = jobs[0].items.iter().map(|(item, _)| kinds[item.kind].rows).collect();
        assert_eq!(rows.len(), kinds.len());
        assert!(rows.is_sorted(), "{rows:?}");
    }

    #[test]
    fn whoever_writes_has_a_database_to_itself() {
        let jobs = jobs(&[insert()], |_| 12, &[Protocol::Simple, Protocol::Prepared]);
        let kinds = insert().kinds;
        let mut written = BTreeSet::new();
        for (item, database) in &jobs[0].items {
            let kind = &kinds[item.kind];
            assert_eq!(database.state, kind.state);
            let name = database.to_string();
            assert_eq!(name.ends_with("000"), kind.reads_only, "{}: {name}", kind.name);
            assert!(kind.reads_only || written.insert(name), "{} has another's", kind.name);
        }
        assert_eq!(databases(&jobs, 0).len(), written.len() + 1);
        assert!(databases(&jobs, 1).is_empty());
    }

    #[test]
    fn many_statements_are_spread_over_servers_with_the_same_databases() {
        let statement = |number| (format!("k{number:02}"), "SELECT 1".to_owned());
        let statements = plan::OwnStatements {
            statements: (0..30).map(statement).collect(),
            ..plan::OwnStatements::default()
        };
        let jobs = jobs(&[workload::kinds::own(&statements)], |_| 12, &[Protocol::Simple]);
        let items: Vec<usize> = jobs.iter().map(|job| job.items.len()).collect();
        assert_eq!(items, [12, 12, 6]);
        assert_eq!(databases(&jobs, 0).len(), 12);
    }

    #[test]
    fn calls_have_one_protocol_and_a_process_for_each_kind() {
        let calls = workload::kv::catalogue(&plan::KvPlan::default(), 1_000, Dialect::KeyValue);
        let calls = calls.unwrap();
        let jobs = jobs(std::slice::from_ref(&calls), |_| 1, &[Protocol::Simple]);
        assert_eq!(jobs.len(), calls.kinds.len());
        assert!(jobs.iter().all(|job| job.items[0].0.protocol == Protocol::Call));
    }

    #[test]
    fn statements_that_are_parsed_each_time_come_first() {
        let mut jobs = jobs(&[insert()], |_| 12, &[Protocol::Prepared, Protocol::Simple]);
        jobs.sort_by_key(Job::expense);
        assert_eq!(jobs[0].items[0].0.protocol, Protocol::Simple);
    }

    #[test]
    fn a_job_is_counted_again_up_to_the_last_that_is_wanted() {
        let [job] = &jobs(&[insert()], |_| 12, &[Protocol::Simple])[..] else { panic!() };
        let third = job.items[2].0;
        assert_eq!(job.up_to(|item| *item == third).unwrap().items, job.items[..3]);
        assert_eq!(job.up_to(|_| false), None);
    }
}
