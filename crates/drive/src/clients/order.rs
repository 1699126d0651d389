//! The order between clients that send a log: who waits for whose transactions.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use workload::{Padded, SentLog};

use crate::clock::Moment;
use crate::error::Error;

/// How often one who waits looks whether anything goes on at all.
const LOOK: Duration = Duration::from_millis(100);

/// The transactions of each table that have ended.
#[derive(Debug)]
pub struct Order {
    tables: Vec<Padded<Table>>,
    /// Rounds that have ended, of all clients.
    rounds: AtomicU64,
    /// Waiting fails if no round has ended for so long.
    patience: Duration,
    look: Duration,
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
    /// Of the tables of a log, if one is sent.
    pub fn new(log: Option<SentLog>) -> Order {
        Order {
            tables: (0..log.map_or(0, |log| log.tables)).map(|_| Padded::default()).collect(),
            rounds: AtomicU64::new(0),
            patience: log.map_or(Duration::ZERO, |log| log.patience),
            look: LOOK,
        }
    }

    /// A round has ended.
    #[inline]
    pub fn goes_on(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
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

    /// Waits until they have, or `over` says that the step is.
    ///
    /// # Errors
    /// [`Error::Order`]: no round has ended for a long time, by the clients' clock, `now`.
    #[cold]
    pub fn wait(
        &self,
        (table, number): (u32, u64),
        over: impl Fn() -> bool,
        now: impl Fn() -> Moment,
    ) -> Result<(), Error> {
        let Some(Padded(table)) = self.tables.get(table as usize) else { return Ok(()) };
        let mut state = table.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut known, mut since) = (self.rounds.load(Ordering::Relaxed), now());
        state.waiting += 1;
        while table.ended.load(Ordering::Acquire) < number && !over() {
            let rounds = self.rounds.load(Ordering::Relaxed);
            if known != rounds {
                (known, since) = (rounds, now());
            } else if now() - since > self.patience {
                state.waiting -= 1;
                return Err(Error::Order { seconds: self.patience.as_secs() });
            }
            let waited = table.changed.wait_timeout(state, self.look);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    fn order(tables: u32, patience: Duration) -> Order {
        let log = SentLog { tables, patience, ..SentLog::default() };
        Order::new(Some(log))
    }

    #[test]
    fn transactions_end_in_any_order() {
        let order = order(2, LOOK);
        assert!(order.has_ended(0, 0) && !order.has_ended(0, 1));
        order.end(0, 1);
        order.end(0, 2);
        assert!(!order.has_ended(0, 1), "the first has not");
        order.end(0, 0);
        assert!(order.has_ended(0, 3) && !order.has_ended(0, 4) && !order.has_ended(1, 1));
    }

    #[test]
    fn one_who_waits_is_woken() {
        const LONG: Duration = Duration::from_secs(3600);
        let order = Arc::new(Order { look: LONG, ..order(1, LONG) });
        let other = Arc::clone(&order);
        let waits = thread::spawn(move || other.wait((0, 2), || false, Moment::now));
        while order.tables[0].0.state.lock().unwrap().waiting == 0 {
            thread::yield_now();
        }
        order.end(0, 1);
        order.end(0, 0);
        waits.join().unwrap().unwrap();
        assert!(order.has_ended(0, 2));
        order.wait((0, 3), || true, Moment::now).expect("the step is over");
    }

    #[test]
    fn a_wait_in_vain_ends() {
        let order = order(1, Duration::from_millis(300));
        let begun = Moment::now();
        // Others get answers for some time.
        let now = || {
            let now = Moment::now();
            if now - begun < Duration::from_millis(600) {
                order.goes_on();
            }
            now
        };
        let error = order.wait((0, 1), || false, now).unwrap_err().to_string();
        assert!(error.contains("no statement has ended for 0 s"), "{error}");
        assert!(Moment::now() - begun >= Duration::from_millis(800));
    }
}
