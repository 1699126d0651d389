//! Counts in rounds: everything twice, then whatever does not agree.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;

use probe::callgrind::Profile;

use super::jobs::{Database, Item, Job, databases};
use super::repeats::Repeats;
use super::workers::spread;
use crate::error::Error;

/// How often everything is counted: once more than needed, to show repeatability.
pub const TIMES: usize = 2;

/// How many more times to count what does not agree.
const FURTHER: usize = 3;

/// Progress of the rounds.
#[derive(Debug)]
pub enum News {
    /// The data of a variant is loaded.
    Loaded { variant: usize },
    /// One count.
    Counted { item: Item, instructions: u64 },
    /// Items whose counts differ are counted again, along with those before them on their servers.
    Again { differ: Vec<Item>, counts: usize },
    /// All counts of an item, each with a profile for every event.
    Done { item: Item, counted: Vec<Vec<Profile>> },
}

/// Has `workers` threads `load` the data of this many `variants` and do the `jobs` with `count`,
/// until all counts of instructions agree or have been repeated often enough. Each call of `count`
/// gets a number of its own.
pub fn conduct<L: Send + Sync>(
    jobs: &[Job],
    variants: usize,
    workers: usize,
    load: impl Fn(usize, &BTreeSet<Database>) -> Result<L, Error> + Sync,
    count: impl Fn(usize, &Job, &L, &Sender<(Item, Vec<Profile>)>) -> Result<(), Error> + Sync,
    tell: &mut dyn FnMut(News) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut loaded = |variant| tell(News::Loaded { variant });
    let loads = spread(workers, (0..variants).collect(), &mut loaded, |variant, done| {
        let loaded = load(variant, &databases(jobs, variant))?;
        let _ = done.send(variant);
        Ok(loaded)
    })?;
    let instructions = |profiles: &Vec<Profile>| profiles.first().map_or(0, |first| first.total);
    let mut repeats = Repeats::new(instructions);
    let mut round: Vec<Job> = (0..TIMES).flat_map(|_| jobs.to_vec()).collect();
    let mut number = 0;
    for further in (0..=FURTHER).rev() {
        // The longest first, so that no worker is left alone with one at the end.
        round.sort_by_key(Job::expense);
        let numbered: Vec<(usize, Job)> = (number..).zip(round).collect();
        number += numbered.len();
        let mut counted = |(item, profiles): (Item, Vec<Profile>)| {
            tell(News::Counted { item, instructions: instructions(&profiles) })?;
            match repeats.add(item, profiles) {
                Some(counted) => tell(News::Done { item, counted }),
                None => Ok(()),
            }
        };
        spread(workers, numbered, &mut counted, |(number, job), done| {
            count(number, &job, &loads[job.variant], done)
        })?;
        let differ: Vec<Item> = repeats.open().collect();
        round = jobs.iter().filter_map(|job| job.up_to(|item| differ.contains(item))).collect();
        if further == 0 || round.is_empty() {
            break;
        }
        tell(News::Again { differ, counts: round.iter().map(|job| job.items.len()).sum() })?;
    }
    for (item, counted) in repeats.rest() {
        tell(News::Done { item, counted })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use plan::Protocol;
    use workload::State;

    /// Counts what `figure` says of an item's nth count, and gives the news and the jobs that were
    /// done.
    fn counted(
        own: &[&str],
        figure: impl Fn(Item, usize) -> u64 + Sync,
    ) -> (Result<(), Error>, Vec<News>, Vec<usize>) {
        let statements = own.iter().map(|name| ((*name).to_owned(), "SELECT 1".to_owned()));
        let own = plan::OwnStatements { statements: statements.collect(), ..Default::default() };
        let catalogue = workload::kinds::own(&own);
        let jobs =
            super::super::jobs::jobs(&[catalogue.clone(), catalogue], |_| 12, &[Protocol::Simple]);
        let times = Mutex::new(std::collections::BTreeMap::new());
        let done = Mutex::new(Vec::new());
        let mut news = Vec::new();
        let result = conduct(
            &jobs,
            2,
            3,
            |variant, databases| {
                assert!(databases.iter().all(|database| database.state == State::Loaded));
                Ok(variant)
            },
            |number, job, loaded, sender| {
                assert_eq!(*loaded, job.variant);
                done.lock().unwrap().push(number);
                for (item, _) in &job.items {
                    let mut times = times.lock().unwrap();
                    let nth = times.entry(*item).and_modify(|nth| *nth += 1).or_insert(0);
                    let instructions = figure(*item, *nth);
                    if instructions == 0 {
                        return Err(Error::Interrupted);
                    }
                    let profile = Profile { total: instructions, ..Profile::default() };
                    sender.send((*item, vec![profile])).unwrap();
                }
                Ok(())
            },
            &mut |one| {
                news.push(one);
                Ok(())
            },
        );
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        (result, news, done)
    }

    fn figures(news: &[News], of: Item) -> Vec<u64> {
        let found = news.iter().find_map(|news| match news {
            News::Done { item, counted } if *item == of => Some(counted),
            _ => None,
        });
        found.unwrap().iter().map(|profiles| profiles[0].total).collect()
    }

    const FIRST: Item = Item { variant: 0, kind: 0, protocol: Protocol::Simple };

    #[test]
    fn what_agrees_is_counted_twice_on_servers_of_its_own() {
        let (result, news, done) = counted(&["a", "b", "c"], |_, _| 1_000_000);
        result.unwrap();
        assert_eq!(done, [0, 1, 2, 3]);
        assert_eq!(news.iter().filter(|n| matches!(n, News::Loaded { .. })).count(), 2);
        assert_eq!(news.iter().filter(|n| matches!(n, News::Counted { .. })).count(), 12);
        assert_eq!(news.iter().filter(|n| matches!(n, News::Done { .. })).count(), 6);
        assert!(!news.iter().any(|n| matches!(n, News::Again { .. })));
    }

    #[test]
    fn what_differs_is_counted_again_with_what_came_before_it_and_the_others_stay_as_they_were() {
        let second = Item { kind: 1, ..FIRST };
        let odd = |item, nth| if item == second && nth == 1 { 1_000_400 } else { 1_000_000 };
        let (result, news, done) = counted(&["a", "b", "c"], odd);
        result.unwrap();
        let again = news.iter().filter_map(|news| match news {
            News::Again { differ, counts } => Some((differ.clone(), *counts)),
            _ => None,
        });
        assert_eq!(again.collect::<Vec<_>>(), [(vec![second], 2), (vec![second], 2)]);
        assert_eq!(done, [0, 1, 2, 3, 4, 5]);
        assert_eq!(figures(&news, second), [1_000_000, 1_000_400, 1_000_000, 1_000_000]);
        assert_eq!(figures(&news, FIRST), [1_000_000; 2]);
    }

    #[test]
    fn what_never_agrees_is_counted_five_times() {
        let wild = |item, nth| if item == FIRST { 1_000_000_u64 << nth } else { 1_000_000 };
        let (result, news, _) = counted(&["a"], wild);
        result.unwrap();
        assert_eq!(figures(&news, FIRST).len(), TIMES + FURTHER);
    }

    #[test]
    fn a_failure_ends_it_and_what_was_counted_twice_has_been_told() {
        let fails = |item: Item, nth| if item.variant == 1 && nth == 1 { 0 } else { 1_000_000 };
        let (result, _, done) = counted(&["a"], fails);
        assert!(matches!(result, Err(Error::Interrupted)));
        assert!(done.len() <= 4, "nothing begins after it: {done:?}");
    }
}
