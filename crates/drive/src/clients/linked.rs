//! How the streams of a log keep their order.

use workload::Link;

use super::client::Context;
use super::lane::Lane;
use crate::error::Error;

impl Context<'_> {
    /// Waits until the round's turn in the order between streams. Returns whether that took time.
    pub fn keeps_order(&self, lane: &mut Lane) -> Result<bool, Error> {
        let gate = self.gate;
        let mut waited = false;
        while let Some(&Link { round, table, number, ends: false }) = self.link(lane)
            && round == lane.rounds
        {
            lane.link += 1;
            if !gate.order.has_ended(table, number) {
                if !waited && self.turn(lane).is_some_and(|turn| turn.connects) {
                    self.leave(lane);
                }
                waited = true;
                gate.order.wait((table, number), || gate.stopped(), || gate.now())?;
            }
        }
        Ok(waited)
    }

    /// A round has ended; so have the transactions that end with it, which others may wait for.
    pub fn ends_round(&self, lane: &mut Lane) {
        lane.rounds += 1;
        if !self.stream.turns.is_empty() {
            self.gate.order.goes_on();
        }
        while let Some(&Link { round, table, number, ends: true }) = self.link(lane)
            && round < lane.rounds
        {
            lane.link += 1;
            self.gate.order.end(table, number);
        }
    }

    /// A session of a log is over, and so is its transaction: others may wait for what it locked.
    /// If its connection is broken, the server knows.
    pub fn leave(&self, lane: &mut Lane) {
        if !self.stream.turns.is_empty() && !self.gate.stopped() {
            let _ = lane.session.roll_back();
        }
    }

    fn link(&self, lane: &Lane) -> Option<&Link> {
        self.stream.links.get(lane.link)
    }
}
