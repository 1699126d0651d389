//! Work on many experiments at once.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use store::Store;

use crate::Error;

/// Calls `make` for each item, in as many threads as the machine has CPUs, each with a store of its
/// own. Hands what they return to `done` in the calling thread, with the place of the item, in any
/// order.
///
/// # Errors
/// The first error of either; the rest is then left.
pub(crate) fn each<T: Sync, R: Send>(
    store: &Store,
    items: &[T],
    make: impl Fn(&Store, &T) -> Result<R, Error> + Sync,
    mut done: impl FnMut(usize, R) -> Result<(), Error>,
) -> Result<(), Error> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    if threads < 2 {
        for (place, item) in items.iter().enumerate() {
            done(place, make(store, item)?)?;
        }
        return Ok(());
    }
    let (directory, next) = (store.directory(), AtomicUsize::new(0));
    let work = |send: SyncSender<Result<(usize, R), Error>>| {
        let own = match Store::open_read_only(directory) {
            Ok(own) => own,
            Err(error) => return drop(send.send(Err(error.into()))),
        };
        while let place = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(place)
            // After an error, nobody takes it.
            && send.send(make(&own, item).map(|made| (place, made))).is_ok()
        {}
    };
    // No more is made than is taken.
    let (send, receive) = sync_channel(threads);
    thread::scope(|scope| {
        for _ in 0..threads {
            let send = send.clone();
            scope.spawn(|| work(send));
        }
        drop(send);
        receive.into_iter().try_for_each(|made| {
            let (place, made) = made?;
            done(place, made)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_item_is_done_once_and_an_error_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let items: Vec<usize> = (0..100).collect();
        let mut found = BTreeSet::new();
        let twice = |_: &Store, item: &usize| Ok(item * 2);
        let add = |place: usize, made: usize| {
            assert!(made == place * 2 && found.insert(place));
            Ok(())
        };
        each(&store, &items, twice, add).unwrap();
        assert_eq!(found.len(), 100);
        let failing = |_: &Store, item: &usize| match item {
            7 => Err(Error::NoApp),
            _ => Ok(()),
        };
        assert!(matches!(each(&store, &items, failing, |_, ()| Ok(())), Err(Error::NoApp)));
        let refused = each(&store, &items, |_, _| Ok(()), |_, ()| Err(Error::NoApp));
        assert!(matches!(refused, Err(Error::NoApp)));
        each(&store, &[], twice, |_, _| Err(Error::NoApp)).unwrap();
    }
}
