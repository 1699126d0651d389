//! Where the throughput of a line falls although clients were added while cores were free.

use judge::{Margin, SweepPoint};
use metrics::OPS;

use super::shape::{Line, Sweep};
use crate::load::model::Results;

/// Looks for the falls of all lines.
pub(super) fn look(results: &Results, sweep: &mut Sweep) {
    let mut until = None;
    let mut most = 0;
    let margin = Margin::of(results.experiment.margin);
    let lines = sweep.lines.len();
    for line in &mut sweep.lines {
        let points = points(results, &sweep.clients, line);
        most = points.iter().map(|point| point.rates.len()).fold(most, usize::max);
        let Some(free) = line.free_until(results, &sweep.clients) else { continue };
        until = until.max(Some(free));
        line.cliffs = judge::cliffs(&points, free, margin, lines);
    }
    let found = sweep.lines.iter().any(|line| !line.cliffs.is_empty());
    sweep.notes.extend(match (until, most) {
        (_, 0) => None,
        (None, _) => Some(format!(
            "{} is not known for {}, so nothing is said about more clients lowering throughput while cores are free",
            metrics::CORES_FREE.name,
            sweep.name
        )),
        (_, 1) => Some(
            "one block: lower throughput with more clients can't be told from chance; run at least 2".to_owned(),
        ),
        (Some(until), _) if !found => Some(format!(
            "up to {until} clients, where cores are still free, more clients never lower throughput by more than chance explains"
        )),
        _ => None,
    });
}

fn points(results: &Results, clients: &[u32], line: &Line) -> Vec<SweepPoint> {
    let point = |(place, clients): (usize, &u32)| {
        let rates = line.at(results, place)?.values(OPS.name);
        (!rates.is_empty()).then_some(SweepPoint { clients: *clients, rates })
    };
    clients.iter().enumerate().filter_map(point).collect()
}
