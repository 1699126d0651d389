//! The scheduler's events: which of them this machine can count, found once for a run.

use std::time::Duration;

use metrics::SCHEDULER_EVENTS;
use probe::perf::{Perf, Scope};
use store::Warning;
use workload::Step;

/// Time that a window needs besides counting: for `perf` to begin and end, twice.
const BESIDES: Duration = Duration::from_millis(400);

/// The events that can be counted on this machine.
#[derive(Debug)]
pub struct Scheduler {
    /// The program.
    pub perf: Perf,
    /// For processes, and for the machine.
    pub events: [Vec<String>; 2],
}

impl Scheduler {
    /// Finds the events that can be counted here. The text names those that can't be, and why.
    ///
    /// # Errors
    /// Why nothing can be counted.
    pub fn here() -> Result<(Scheduler, Option<String>), String> {
        let perf = Perf::find().map_err(|error| error.to_string())?;
        let own = [std::process::id()];
        let mut reasons = Vec::new();
        let mut countable = |scope| {
            let found =
                perf.countable(&SCHEDULER_EVENTS, scope).map_err(|error| error.to_string())?;
            for absent in found.absent {
                let reason = absent.to_string();
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            Ok::<_, String>(found.events)
        };
        let events = [countable(Scope::Processes(&own))?, countable(Scope::Machine)?];
        let why = (!reasons.is_empty()).then(|| reasons.join("; "));
        match (events.iter().all(Vec::is_empty), why) {
            (true, why) => Err(why.unwrap_or_else(|| "no event was found".to_owned())),
            (false, why) => Ok((Scheduler { perf, events }, why)),
        }
    }

    /// The warning about events that can't be counted.
    pub fn warning(why: &str) -> Warning {
        Warning::new("no-scheduler-counts", format!("events of the scheduler are missing: {why}"))
    }

    /// How long the load of a step goes on after its time so that they can be counted.
    pub fn overtime(&self, step: &Step) -> Duration {
        let counters = step.terms.counters;
        counters.map_or(Duration::ZERO, |it| Duration::from_secs(it.seconds.into()) + BESIDES)
    }
}
