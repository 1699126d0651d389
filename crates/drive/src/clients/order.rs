//! The order between clients that send a log: who waits for whose transactions.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use workload::Padded;

/// How often one who waits looks whether anything goes on at all.
const LOOK: Duration = Duration::from_millis(100);
/// One who waits goes on without the order if no client has got an answer for so long: they wait
/// for each other by a lock that the log does not show.
const PATIENCE: Duration = Duration::from_secs(10);

/// The transactions of each table that have ended.
#[derive(Debug)]
pub struct Order {
    tables: Vec<Padded<Table>>,
    patience: Duration,
}

#[derive(Debug, Default)]
struct Table {
    /// So many have ended, of all that come first.
    ended: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The numbers of others that have ended, although one before them has not.
    ahead: BTreeSet<u64>,
    waiting: usize,
}

impl Order {
    /// Of so many tables.
    pub fn new(tables: u32) -> Order {
        Order { tables: (0..tables).map(|_| Padded::default()).collect(), patience: PATIENCE }
    }

    /// A transaction of a table has ended, that with this number.
    pub fn end(&self, table: u32, number: u64) {
        let Some(Padded(table)) = self.tables.get(table as usize) else { return };
        let mut state = table.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ahead.insert(number);
        let mut ended = table.ended.load(Ordering::Relaxed);
        while state.ahead.remove(&ended) {
            ended += 1;
        }
        table.ended.store(ended, Ordering::Release);
        if state.waiting > 0 {
            table.changed.notify_all();
        }
    }

    /// True if the first `number` transactions of a table have ended.
    #[inline]
    pub fn has_ended(&self, table: u32, number: u64) -> bool {
        let table = self.tables.get(table as usize);
        table.is_none_or(|Padded(table)| table.ended.load(Ordering::Acquire) >= number)
    }

    /// Waits until they have, or `over` says that the step is. False if that was in vain: `done`,
    /// the answers of all clients, no longer grows.
    #[cold]
    pub fn wait(
        &self,
        (table, number): (u32, u64),
        over: impl Fn() -> bool,
        done: impl Fn() -> i64,
    ) -> bool {
        let Some(Padded(table)) = self.tables.get(table as usize) else { return true };
        let mut state = table.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = (done(), Instant::now());
        state.waiting += 1;
        while table.ended.load(Ordering::Acquire) < number && !over() {
            if last.0 != done() {
                last = (done(), Instant::now());
            } else if last.1.elapsed() > self.patience {
                break;
            }
            let waited = table.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting -= 1;
        over() || table.ended.load(Ordering::Acquire) >= number
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    #[test]
    fn transactions_end_in_any_order() {
        let order = Order::new(2);
        assert!(order.has_ended(0, 0) && !order.has_ended(0, 1));
        order.end(0, 1);
        order.end(0, 2);
        assert!(!order.has_ended(0, 1), "the first has not");
        order.end(0, 0);
        assert!(order.has_ended(0, 3) && !order.has_ended(0, 4) && !order.has_ended(1, 1));
    }

    #[test]
    fn one_who_waits_is_woken() {
        let order = Arc::new(Order::new(1));
        let other = Arc::clone(&order);
        let waits = thread::spawn(move || other.wait((0, 2), || false, || 0));
        order.end(0, 1);
        order.end(0, 0);
        assert!(waits.join().unwrap());
        assert!(order.wait((0, 3), || true, || 0), "the step is over");
    }

    #[test]
    fn a_wait_in_vain_ends() {
        let patience = Duration::from_millis(300);
        let order = Order { patience, ..Order::new(1) };
        let begun = Instant::now();
        // Others get answers for some time.
        let done = || (begun.elapsed().as_millis() as i64).min(600) / 50;
        assert!(!order.wait((0, 1), || false, done));
        assert!(begun.elapsed() >= 2 * patience, "{:?}", begun.elapsed());
    }
}
