//! The course of a run that designs itself: maps the choices of `judge` to the plan's steps.

use std::time::Duration;

use judge::{Looks, SHORTEST, Watched, detectable_effect};
use metrics::counted;
use plan::{Plan, SequenceKey, format_duration};

use crate::experiment::extent::Extent;
use crate::experiment::standing::Standing;
use crate::trial::conditions::Lengths;

/// Part of a budget that the first restart gives to all timed steps together.
const FIRST_PART: f64 = 0.1;
/// Most that it gives to each step, in seconds on each server.
const FIRST_SECONDS: f64 = 2.0;

/// A step: the sequence's key, and its place in it.
type Key = (SequenceKey, usize);

/// The course of a run.
#[derive(Debug)]
pub struct Course {
    course: judge::Course,
    servers: f64,
    /// All steps, and whether they end by time.
    steps: Vec<(Key, bool)>,
}

/// The intentions of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// The length of timed steps.
    pub lengths: Lengths,
    /// Indexes of the comparisons to continue for.
    pub pursued: Vec<usize>,
    /// Time of all further restarts, if they give every comparison an interval as narrow as its
    /// goal.
    pub enough: Option<Duration>,
    /// For people: `about 14 blocks of 20 s (4m40s); probably detects differences of 0.6% in
    /// l.i0, 1.2% in qr100`.
    pub text: String,
}

impl Course {
    /// The course of a plan that designs itself, with the lengths for the first restart.
    pub fn of(plan: &Plan) -> Option<(Course, Lengths)> {
        if !plan.designs_itself() {
            return None;
        }
        let sequences = plan.workload.sequences();
        let steps: Vec<(Key, bool)> = sequences
            .iter()
            .flat_map(|sequence| {
                let steps = sequence.steps.iter().enumerate();
                steps.map(|(place, step)| ((sequence.key, place), step.timed))
            })
            .collect();
        let timed = || steps.iter().filter(|(_, timed)| *timed);
        let servers = plan.variants.len();
        let all = (servers * timed().count()).max(1) as f64;
        let seconds = plan.budget.map_or(FIRST_SECONDS, |budget| {
            (FIRST_PART * budget.as_secs_f64() / all).clamp(SHORTEST, FIRST_SECONDS)
        });
        let lengths = timed().map(|(key, _)| (*key, seconds)).collect();
        let course = judge::Course::new(plan.margin, plan.precision, servers);
        Some((Course { course, servers: servers as f64, steps }, lengths))
    }

    /// Records how long a restart with these lengths took.
    pub fn ran(&mut self, took: Duration, lengths: &Lengths, extent: &Extent) {
        self.course.cost(took.as_secs_f64() - self.timed(lengths, extent));
    }

    /// The longest that the next restart will take.
    pub fn expected(&self, lengths: &Lengths, extent: &Extent) -> Option<Duration> {
        let cost = self.course.highest_cost()?;
        Some(Duration::from_secs_f64(cost + self.timed(lengths, extent)))
    }

    /// The longest that a restart with the shortest steps will take.
    pub fn shortest(&self, extent: &Extent) -> Option<Duration> {
        let timed = self.steps.iter().filter(|(_, timed)| *timed);
        let lengths: Lengths = timed.map(|(key, _)| (*key, SHORTEST)).collect();
        self.expected(&lengths, extent)
    }

    /// Seconds of all timed steps on all servers.
    fn timed(&self, lengths: &Lengths, extent: &Extent) -> f64 {
        let runs = lengths.iter().filter(|(key, _)| extent.has(key.0, key.1));
        runs.map(|(_, seconds)| seconds).sum::<f64>() * self.servers
    }

    /// Decides what to do next, after `done` restarts and with this much time left. `judged`:
    /// whether this is a look.
    pub fn outlook(
        &self,
        standings: &[Standing],
        extent: &Extent,
        done: u32,
        left: Option<Duration>,
        judged: bool,
    ) -> Outlook {
        // Steps that no longer run need nothing.
        let runs = |standing: &Standing| extent.has(standing.key.1, standing.key.2);
        let places: Vec<usize> = (0..standings.len()).filter(|at| runs(&standings[*at])).collect();
        let watched: Vec<Watched> =
            places.iter().filter_map(|at| self.watched(&standings[*at])).collect();
        let left = left.map(|left| left.as_secs_f64());
        let found = self.course.outlook(&watched, done, left, judged);
        let mut lengths: Lengths = Lengths::new();
        for (number, (key, timed)) in self.steps.iter().enumerate() {
            if *timed {
                let seconds = found.seconds.get(&number).copied().unwrap_or(SHORTEST);
                lengths.insert(*key, seconds);
            }
        }
        let next = self.expected(&lengths, extent).unwrap_or_default();
        let seconds = next.as_secs_f64() * f64::from(found.restarts);
        let time = Duration::from_secs_f64(seconds.round());
        let enough = found.reaches.then_some(time);
        let text = self.text(&found, standings, done, next, time);
        let pursued = found.pursued.iter().filter_map(|at| places.get(*at).copied()).collect();
        Outlook { lengths, pursued, enough, text }
    }

    fn watched(&self, standing: &Standing) -> Option<Watched> {
        let key = (standing.key.1, standing.key.2);
        let step = self.steps.iter().position(|(known, _)| *known == key)?;
        Some(Watched {
            step,
            timed: self.steps[step].1,
            comparison: standing.comparison.clone(),
            slices: standing.scatter.map(|scatter| (scatter.within, scatter.seconds)),
            settled: standing.settled,
        })
    }

    fn text(
        &self,
        found: &judge::Outlook,
        standings: &[Standing],
        done: u32,
        next: Duration,
        time: Duration,
    ) -> String {
        let restarts = found.restarts;
        let freedom = f64::from((done + restarts).max(2) - 1);
        let shown: Vec<String> = found
            .errors
            .iter()
            .filter_map(|(step, error)| {
                let (key, _) = self.steps.get(*step)?;
                let of = |standing: &&Standing| (standing.key.1, standing.key.2) == *key;
                let name = &standings.iter().find(of)?.step;
                let level = 1.0 - Looks::last_confidence();
                let effect = detectable_effect(*error, freedom, level)?;
                Some(format!("{:.1}% in {name}", 100.0 * effect))
            })
            .collect();
        let shown = match &shown[..] {
            [] => String::new(),
            shown => format!("; probably detects differences of {}", shown.join(", ")),
        };
        let seconds = next.as_secs_f64();
        let restarts = counted(restarts as usize, "block");
        let time = format_duration(time);
        format!("about {restarts} of {seconds:.1} s ({time}){shown}")
    }
}
