//! A system's reports about itself in each second of a step, such as the shape of its tree.

use std::time::Duration;

use dbms::{Gauge, Gauges};
use drive::Outcome;
use metrics::STATE;
use store::{Series, StepRecord};

use crate::observe::observer::{Found, Observer, Scene};
use crate::observe::poll::{Answers, Poll};

/// Prepares to ask a server that has the machine to itself.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, found: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    let [server] = &mut scene.servers[..] else { return None };
    let gauges = found.known(Gauged::WHAT, server.system.gauges())?;
    Some(Box::new(poll(gauges)))
}

/// A series for each gauge.
#[derive(Debug, Default)]
struct Gauged(Vec<Series>);

/// The value of a second is the one at its end.
fn poll(mut gauges: Gauges) -> Poll<Gauged> {
    Poll::of(move |start, seen: &mut Gauged| {
        let second = start.elapsed().as_secs_f64().round() as usize;
        let found = gauges()?;
        seen.add(second.saturating_sub(1), found);
        Ok(())
    })
}

impl Gauged {
    fn add(&mut self, second: usize, found: Vec<Gauge>) {
        for Gauge { name, label, unit, value } in found {
            let known = self.0.iter().position(|series| series.name == name);
            let place = known.unwrap_or_else(|| {
                self.0.push(Series::new(&name, &label, &unit, STATE, Vec::new()));
                self.0.len() - 1
            });
            let values = &mut self.0[place].values;
            values.resize(values.len().max(second + 1), f64::NAN);
            values[second] = value;
        }
    }

    /// The series for this many seconds.
    fn series(&self, seconds: f64) -> Vec<Series> {
        let mut series = self.0.clone();
        for one in &mut series {
            one.values.truncate(seconds.ceil() as usize);
        }
        series
    }
}

impl Answers for Gauged {
    const WHAT: &'static str = "the server's state over time";
    const APART: Duration = Duration::from_secs(1);

    fn record(&self, record: &mut StepRecord, outcome: &Outcome) {
        record.series.extend(self.series(outcome.seconds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_without_a_value_is_unknown() {
        let gauge = |name: &str, value| Gauge {
            name: name.to_owned(),
            label: name.to_owned(),
            unit: "MB".to_owned(),
            value,
        };
        let mut gauged = Gauged::default();
        gauged.add(0, vec![gauge("L0", 7.0)]);
        // Two readings in the same second.
        gauged.add(2, vec![gauge("L0", 8.0)]);
        gauged.add(2, vec![gauge("L0", 9.0), gauge("L6", 3.0)]);
        gauged.add(3, vec![gauge("L0", 9.0)]);
        let series = gauged.series(2.5);
        let [first, second] = &series[..] else { panic!("{series:?}") };
        assert_eq!((first.name.as_str(), second.name.as_str()), ("L0", "L6"));
        let known = |values: &[f64]| values.iter().map(|v| v.is_nan()).collect::<Vec<_>>();
        assert_eq!(known(&first.values), [false, true, false]);
        assert_eq!(known(&second.values), [true, true, false]);
        assert!((first.values[2] - 9.0).abs() < 1e-9);
    }
}
