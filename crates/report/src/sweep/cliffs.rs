//! Where the throughput of a line falls although clients were added while cores were free.

use judge::{Margin, SweepPoint};
use metrics::OPS;

use super::{Line, Sweep};
use crate::model::Results;
use crate::number::signed;

/// A fall of a line's throughput.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cliff {
    /// Index of the line in [`Sweep::lines`].
    pub(crate) line: usize,
    /// The fall.
    pub(crate) found: judge::Cliff,
}

/// The falls of a sweep, and what keeps others from being found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cliffs {
    pub(crate) found: Vec<Cliff>,
    /// Sentences.
    pub(crate) notes: Vec<String>,
}

impl Cliff {
    /// `from 22 to 24 clients −31.0% (95% interval −35.2% to −27.1%); recovers at 100`.
    pub(crate) fn words(&self) -> String {
        let judge::Cliff { from, to, ratio, low, high, recovers } = self.found;
        let recovers = match recovers {
            Some(clients) => format!("recovers at {clients}"),
            None => "does not recover".to_owned(),
        };
        format!(
            "from {from} to {to} clients {} (95% interval {} to {}); {recovers}",
            signed(ratio - 1.0),
            signed(low - 1.0),
            signed(high - 1.0)
        )
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_both_ends_and_the_recovery() {
        let fall = |recovers| {
            let found =
                judge::Cliff { from: 22, to: 24, ratio: 0.69, low: 0.65, high: 0.73, recovers };
            Cliff { line: 0, found }.words()
        };
        assert_eq!(
            fall(Some(100)),
            "from 22 to 24 clients −31.0% (95% interval −35.0% to −27.0%); recovers at 100"
        );
        assert!(fall(None).ends_with("; does not recover"));
    }
}
