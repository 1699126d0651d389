//! The scenes of frozen slices: what differs, and the bounds of the figures.

use std::ops::RangeBounds;

use super::servers::{BURST, Cause, Scene};
use crate::{Findings, Rate, Size};

/// Numbers of restarts in the tables.
pub(super) const RESTARTS: [usize; 3] = [6, 12, 24];
pub(super) const MOST: usize = RESTARTS[2];

/// True differences: the variant's throughput divided by the base's, minus 1.
pub(super) const TRUTHS: [f64; 4] = [0.0, -0.01, -0.02, -0.05];
/// Their places.
pub(super) const SAME: usize = 0;
pub(super) const SMALL: usize = 1;
pub(super) const EDGE: usize = 2;
pub(super) const CLEAR: usize = 3;

/// Seconds from burst to burst.
pub(super) const CYCLES: [Option<f64>; 5] = [None, Some(1.0), Some(7.0), Some(60.0), Some(300.0)];
/// Seconds of own time in a restart.
pub(super) const STEPS: [f64; 2] = [10.0, 30.0];

/// Restarts until the first look of a run with a budget for [`MOST`].
pub(super) const FIRST_LOOK: usize = 4;
/// Where the bursts differ and fewer restarts of a server see one in the mean, the bounds are
/// known to be missed.
pub(super) const SEEN: f64 = 1.5;
/// Milliseconds that a variant loses at the beginning of each slice.
pub(super) const LOST: [f64; 7] = [0.0, 0.25, 0.5, 1.0, 2.5, 5.0, 12.5];

/// The cycles of a cause; bursts can't differ where there are none.
pub(super) fn cycles(size: Size, cause: Cause) -> impl Iterator<Item = Option<f64>> {
    let all = CYCLES.into_iter().step_by(size.pick(2, 1));
    all.filter(move |cycle| cause == Cause::Everything || cycle.is_some())
}

impl Scene {
    pub(super) fn name(&self) -> String {
        format!("{}, {} s", cycle_name(self.cycle), self.step)
    }

    /// True if the bursts differ and so few restarts see one that bounds are missed.
    pub(super) fn is_rare(&self, restarts: usize) -> bool {
        let seen = |cycle: f64| restarts as f64 * (self.step / cycle + BURST).min(1.0);
        self.cause == Cause::Bursts && self.cycle.is_some_and(|cycle| seen(cycle) < SEEN)
    }
}

pub(super) fn cycle_name(cycle: Option<f64>) -> String {
    cycle.map_or("none".to_owned(), |cycle| format!("{cycle} s"))
}

/// A figure, marked where it is beyond its bound. It is checked unless `known` to miss that.
pub(super) fn bounded(
    findings: &mut Findings,
    what: &str,
    rate: Rate,
    bounds: impl RangeBounds<f64>,
    known: bool,
) -> String {
    let text = marked(rate, &bounds);
    if !known {
        findings.rate(what, rate, bounds);
    }
    text
}

pub(super) fn marked(rate: Rate, bounds: &impl RangeBounds<f64>) -> String {
    format!("{rate}{}", if rate.within(bounds) { "" } else { " (!)" })
}
