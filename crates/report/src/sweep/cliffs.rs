//! Where the throughput of a line falls although clients were added while cores were free.

use judge::{Margin, SweepPoint};
use metrics::OPS;

use super::shape::{Cliff, Cliffs, Line, Sweep};
use crate::load::model::Results;

/// Looks for the falls of all lines.
pub(crate) fn cliffs(results: &Results, sweep: &Sweep) -> Cliffs {
    let mut cliffs = Cliffs::default();
    let mut until = None;
    for (place, line) in sweep.lines.iter().enumerate() {
        let Some(free) = line.free_until(results, &sweep.clients) else { continue };
        until = until.max(Some(free));
        let points = points(results, sweep, line);
        let margin = Margin::of(results.experiment.margin);
        let falls = judge::cliffs(&points, free, margin, sweep.lines.len());
        cliffs.found.extend(falls.into_iter().map(|found| Cliff { line: place, found }));
    }
    let blocks = sweep.lines.iter().flat_map(|line| points(results, sweep, line));
    let most = blocks.map(|point| point.rates.len()).max().unwrap_or(0);
    cliffs.notes.extend(match (until, most) {
        (_, 0) => None,
        (None, _) => Some(format!(
            "{} is not known for {}: where throughput falls while cores are free was not looked for",
            metrics::CORES_FREE.name,
            sweep.name
        )),
        (_, 1) => Some(
            "one block: a fall of throughput can't be told from chance; run at least 2".to_owned(),
        ),
        (Some(until), _) if cliffs.found.is_empty() => Some(format!(
            "throughput falls nowhere with confidence while cores are free, up to {until} clients"
        )),
        _ => None,
    });
    cliffs
}

fn points(results: &Results, sweep: &Sweep, line: &Line) -> Vec<SweepPoint> {
    let point = |(place, clients): (usize, &u32)| {
        let rates = line.at(results, place)?.values(OPS.name);
        (!rates.is_empty()).then_some(SweepPoint { clients: *clients, rates })
    };
    sweep.clients.iter().enumerate().filter_map(point).collect()
}
