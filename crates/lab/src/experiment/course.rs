//! The course of a run that designs itself: maps the choices of `judge` to the plan's steps.

use std::time::Duration;

use judge::{ENOUGH_BLOCKS, Looks, SHORTEST, Watched, detectable_effect};
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
    /// The length of timed steps, which [`Course::fitted`] may shorten.
    pub lengths: Lengths,
    /// Indexes of the comparisons that the time left probably decides, or nearly so.
    pub reachable: Vec<usize>,
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
    /// The course of a plan that designs itself, with the lengths for the first restart. `enough`:
    /// restarts that every verdict needs.
    pub fn of(plan: &Plan, enough: usize) -> Option<(Course, Lengths)> {
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
        let course = judge::Course::new(plan.margin, plan.precision, servers, enough);
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

    /// These lengths, or shorter ones if the time left would otherwise have no room for as many
    /// restarts as a verdict needs. Follows from times alone.
    pub fn fitted(
        &self,
        lengths: &Lengths,
        extent: &Extent,
        done: u32,
        left: Option<Duration>,
    ) -> Lengths {
        let allowed = left.and_then(|left| self.course.allowed(done, left.as_secs_f64()));
        let Some(allowed) = allowed else { return lengths.clone() };
        let shortest: Lengths = lengths.keys().map(|key| (*key, SHORTEST)).collect();
        let (all, least) = (self.timed(lengths, extent), self.timed(&shortest, extent));
        let part = ((allowed - least) / (all - least).max(1e-9)).clamp(0.0, 1.0);
        let fitted = |seconds: f64| SHORTEST + part * (seconds - SHORTEST);
        lengths.iter().map(|(key, seconds)| (*key, fitted(*seconds))).collect()
    }

    /// True if there are fewer restarts than a verdict needs, but time for as many with the
    /// shortest steps.
    pub fn owes_restarts(&self, extent: &Extent, done: u32, left: Option<Duration>) -> bool {
        let lacking = (ENOUGH_BLOCKS as u32).saturating_sub(done);
        let fits =
            |left: Duration| self.shortest(extent).is_none_or(|restart| restart * lacking <= left);
        lacking > 0 && left.is_none_or(fits)
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
        let seconds_left = left.map(|left| left.as_secs_f64());
        let found = self.course.outlook(&watched, done, seconds_left, judged);
        let mut lengths: Lengths = Lengths::new();
        for (number, (key, timed)) in self.steps.iter().enumerate() {
            if *timed {
                let seconds = found.seconds.get(&number).copied().unwrap_or(SHORTEST);
                lengths.insert(*key, seconds);
            }
        }
        let fitted = self.fitted(&lengths, extent, done, left);
        let next = self.expected(&fitted, extent).unwrap_or_default();
        let seconds = next.as_secs_f64() * f64::from(found.restarts);
        let time = Duration::from_secs_f64(seconds.round());
        let enough = found.reaches.then_some(time);
        let text = self.text(&found, standings, done, next, time);
        let [reachable, pursued] = [&found.reachable, &found.pursued]
            .map(|found| found.iter().filter_map(|at| places.get(*at).copied()).collect());
        Outlook { lengths, reachable, pursued, enough, text }
    }

    fn watched(&self, standing: &Standing) -> Option<Watched> {
        let key = (standing.key.1, standing.key.2);
        let step = self.steps.iter().position(|(known, _)| *known == key)?;
        Some(Watched {
            step,
            timed: self.steps[step].1,
            comparison: standing.comparison.clone(),
            slices: standing.scatter.as_ref().map(|scatter| (scatter.within, scatter.seconds)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let text = "budget = '5m'\n[variants.a]\ndbms = 'postgres@13.7'\n[variants.b]\n\
                    dbms = 'postgres@14.3'\n[workload.insert]\nsteps = ['qr100']\n";
        Plan::parse(text, None, "test").unwrap()
    }

    /// The seconds left after each restart of a run with a budget of 300 s whose first restart
    /// shows a cost of 20 s besides its timed step, and whose others cost 28 s.
    fn slower_than_expected(fit: bool) -> Vec<f64> {
        let plan = plan();
        let extent = Extent::whole(&plan);
        let (mut course, first) = Course::of(&plan, ENOUGH_BLOCKS).unwrap();
        // What five restarts of 20 s leave to both servers.
        let planned: Lengths = first.keys().map(|key| (*key, 17.5)).collect();
        let (mut left, mut after) = (plan.budget.unwrap(), Vec::new());
        for done in 0.. {
            let chosen = if done == 0 { &first } else { &planned };
            let fitted = course.fitted(chosen, &extent, done, Some(left));
            let lengths = if fit { &fitted } else { chosen };
            assert!(lengths.values().all(|seconds| *seconds >= SHORTEST), "{lengths:?}");
            if course.expected(lengths, &extent).is_some_and(|next| next > left) {
                break;
            }
            let cost = if done == 0 { 20.0 } else { 28.0 };
            let took = Duration::from_secs_f64(cost + course.timed(lengths, &extent));
            course.ran(took, lengths, &extent);
            left = left.saturating_sub(took);
            after.push(left.as_secs_f64());
        }
        after
    }

    #[test]
    fn restarts_that_are_slower_than_expected_get_shorter_steps() {
        let (planned, fitted) = (slower_than_expected(false), slower_than_expected(true));
        assert_eq!(planned.len(), 5, "one too few for a verdict: {planned:?}");
        assert_eq!(fitted.len(), ENOUGH_BLOCKS, "{fitted:?}");
        assert!(fitted.last().is_some_and(|left| *left >= 0.0), "{fitted:?}");
    }

    #[test]
    fn restarts_are_owed_while_the_shortest_have_time() {
        let plan = plan();
        let extent = Extent::whole(&plan);
        let (mut course, first) = Course::of(&plan, ENOUGH_BLOCKS).unwrap();
        course.ran(Duration::from_secs(30), &first, &extent);
        let owes =
            |done, left| course.owes_restarts(&extent, done, Some(Duration::from_secs(left)));
        // One takes at least 27 s.
        assert!(owes(1, 155) && !owes(1, 100) && owes(5, 31) && !owes(5, 20) && !owes(6, 300));
        assert!(course.owes_restarts(&extent, 1, None), "no budget");
    }
}
