//! Samples ten times a second what sessions wait for during a step.

use std::collections::BTreeMap;
use std::time::Duration;

use dbms::Waits;
use drive::Outcome;
use metrics::WAITS;
use store::{Counter, StepRecord, StepState};

use crate::observe::observer::{Found, Observer, Scene};
use crate::observe::poll::{Answers, Poll};

/// Prepares to sample the sessions of a server that has the machine to itself.
pub fn observe<'a>(scene: &mut Scene<'a, '_>, found: &mut Found) -> Option<Box<dyn Observer + 'a>> {
    let [server] = &mut scene.servers[..] else { return None };
    if !scene.plan.wait_events {
        return None;
    }
    let waits = found.known(Waited::WHAT, server.system.waits())?;
    Some(Box::new(poll(waits)))
}

/// Number of sessions in each state, over all samples.
#[derive(Debug, Default)]
struct Waited(BTreeMap<String, u64>);

fn poll(mut waits: Waits) -> Poll<Waited> {
    Poll::of(move |_, seen: &mut Waited| {
        for (event, count) in waits()? {
            *seen.0.entry(event).or_default() += u64::from(count);
        }
        Ok(())
    })
}

impl Waited {
    /// The time that sessions spent in each state, as counters in microseconds.
    fn counters(&self) -> impl Iterator<Item = Counter> {
        self.0.iter().map(|(name, looks)| Counter {
            view: WAITS.to_owned(),
            object: String::new(),
            name: name.clone(),
            value: *looks as f64 * Waited::APART.as_micros() as f64,
        })
    }
}

impl Answers for Waited {
    const WHAT: &'static str = "what sessions waited for";
    const APART: Duration = Duration::from_millis(100);

    fn record(&self, record: &mut StepRecord, _: &Outcome) {
        // A step that failed has no counters.
        if record.state == StepState::Finished {
            record.counters.extend(self.counters());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::sampling::Sampling;
    use std::time::Instant;

    #[test]
    fn looks_become_time() {
        let begin = Instant::now();
        let mut poll =
            poll(Box::new(|| Ok(vec![("CPU".to_owned(), 1), ("IO/DataFileRead".to_owned(), 2)])));
        poll.begin(begin);
        std::thread::sleep(Duration::from_millis(350));
        let mut found = Found::default();
        poll.end(&mut Sampling::default(), &mut found);
        assert_eq!(found.notes, [""; 0]);
        let most = begin.elapsed().as_micros() as f64;
        let found: Vec<_> = poll.answers.counters().collect();
        let [cpu, io] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*cpu.name, &*io.name), ("CPU", "IO/DataFileRead"));
        assert!(cpu.value > 0.0 && cpu.value <= most, "{found:?}");
        assert!((io.value - 2.0 * cpu.value).abs() < 1e-6, "{found:?}");
    }
}
