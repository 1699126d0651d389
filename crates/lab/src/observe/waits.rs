//! What sessions wait for during a step, looked at ten times a second.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use dbms::Waits;
use metrics::WAITS;
use store::Counter;

use super::looking::Looking;

/// How far looks are apart.
const APART: Duration = Duration::from_millis(100);

/// Number of sessions in each state, over all looks.
#[derive(Debug, Default)]
pub struct Waited(BTreeMap<String, u64>);

/// Begins to look at `start`.
pub fn look(mut waits: Box<dyn Waits>, start: Instant) -> Looking<Waited> {
    Looking::start(start, APART, move |seen: &mut Waited| {
        for (event, count) in waits.look()? {
            *seen.0.entry(event).or_default() += u64::from(count);
        }
        Ok(())
    })
}

impl Waited {
    /// The time that sessions spent in each state, as counters in microseconds.
    pub fn counters(self) -> Vec<Counter> {
        let counter = |(name, looks): (String, u64)| Counter {
            view: WAITS.to_owned(),
            object: String::new(),
            name,
            value: looks as f64 * APART.as_micros() as f64,
        };
        self.0.into_iter().map(counter).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Waits for Two {
        fn look(&mut self) -> Result<Vec<(String, u32)>, dbms::Error> {
            Ok(vec![("CPU".to_owned(), 1), ("IO/DataFileRead".to_owned(), 2)])
        }
    }

    #[test]
    fn looks_become_time() {
        let begin = Instant::now();
        let looking = look(Box::new(Two), begin);
        std::thread::sleep(Duration::from_millis(350));
        let most = begin.elapsed().as_micros() as f64;
        let found = looking.stop().unwrap().counters();
        let [cpu, io] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&*cpu.name, &*io.name), ("CPU", "IO/DataFileRead"));
        assert!(cpu.value > 0.0 && cpu.value <= most, "{found:?}");
        assert!((io.value - 2.0 * cpu.value).abs() < 1e-6, "{found:?}");
    }
}
