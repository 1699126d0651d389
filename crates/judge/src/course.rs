//! The course of an experiment that designs itself: how many restarts, and how long each step in
//! them. It depends on the cost of restarts and the spread of steps so far. At each look it is
//! revised for the steps that are still undecided.
//!
//! Lengths may depend on results so far without raising false alarms, because each restart counts
//! the same however long its steps were, and is as likely to err upward as downward. That, and
//! the error rate of whole experiments, is simulated (VALIDATION.md, "Runs that design
//! themselves").

use std::collections::BTreeMap;

use crate::design::{LONGEST, SHORTEST, USUAL_BETWEEN};
use crate::{
    Comparison, Design, ENOUGH_BLOCKS, ENOUGH_FROZEN, Looks, Margin, StepNoise, Warning, design,
    mean, t_quantile,
};

/// Assumed deviation of the log ratio between restarts in turns, before anything is known: a guess,
/// which the first restarts replace.
const USUAL_IN_TURNS: f64 = 0.03;
/// The weight of that assumption, in degrees of freedom.
const USUAL_FREEDOM: f64 = 4.0;

/// A comparison gets no time if its interval would stay this many times wider than its target even
/// with all the remaining time. If all of them would, those get it that would reach the target they
/// have if their ratio is off by its standard error.
const OUT_OF_REACH: f64 = 2.5;
/// No run gives up before so many restarts: one that is far off makes a few scatter so much that
/// the rest seems hopeless.
const ENOUGH_TO_GIVE_UP: u32 = 12;
/// No target is narrower than this part of the margin: a difference that close to its edge stays
/// undecided.
const NARROWEST: f64 = 0.2;
/// The estimate will move within its interval, so the target is this much narrower.
const RESERVE: f64 = 0.85;
/// Share by which each restart that a verdict still lacks may cost more than any so far.
const SPARE: f64 = 0.2;
/// Number of latest restarts that determine the cost of one.
const RECENT: usize = 4;

/// The facts about a comparison that the course needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Watched {
    /// The number of its step.
    pub step: usize,
    /// True if that step ends by time, so its length can be chosen.
    pub timed: bool,
    /// The comparison so far.
    pub comparison: Comparison,
    /// If it ran in slices: the variance of one restart's log ratio, as the slices show it, and the
    /// seconds that each server had the load in that restart.
    pub slices: Option<(f64, f64)>,
    /// True if it needs nothing more.
    pub settled: bool,
}

/// The current intention.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// Further restarts, about.
    pub restarts: u32,
    /// How long each timed step lasts on each server, in seconds, by its number.
    pub seconds: BTreeMap<usize, f64>,
    /// Indexes of the comparisons that the time left probably decides, or nearly so.
    pub reachable: Vec<usize>,
    /// Indexes of the comparisons that the run continues for.
    pub pursued: Vec<usize>,
    /// Standard error of the log ratio of each step at the end, by its number.
    pub errors: BTreeMap<usize, f64>,
    /// True if every comparison that needs more gets an interval as narrow as its target.
    pub reaches: bool,
}

/// The course of an experiment.
#[derive(Debug, Clone)]
pub struct Course {
    margin: f64,
    precision: Option<f64>,
    servers: f64,
    enough: u32,
    costs: Vec<f64>,
}

impl Course {
    /// The course of an experiment with this margin and precision, in which `servers` servers share
    /// a step, and in which each verdict needs at most `enough` restarts ([`ENOUGH_BLOCKS`], or
    /// [`ENOUGH_FROZEN`] if servers are frozen).
    pub fn new(margin: f64, precision: Option<f64>, servers: usize, enough: usize) -> Course {
        let enough = u32::try_from(enough).unwrap_or(u32::MAX);
        Course { margin, precision, servers: servers as f64, enough, costs: Vec::new() }
    }

    /// Records the seconds a restart took outside its timed steps.
    pub fn cost(&mut self, seconds: f64) {
        self.costs.push(seconds.max(0.1));
    }

    /// The likely cost of the next restart outside its timed steps, in seconds: the highest of the
    /// latest restarts. `None` before the first.
    pub fn highest_cost(&self) -> Option<f64> {
        self.recent().reduce(f64::max)
    }

    /// Seconds that the timed steps of the next restart may take together, so that the restarts
    /// that each verdict needs, of which `done` are finished, fit into the seconds left. If that
    /// would leave less time for the steps than for all else, only the six restarts that most
    /// verdicts need have to fit. `None`: the steps last as planned, because there are enough
    /// restarts, or nothing is known of their cost.
    ///
    /// This follows from times alone, never from results, so it biases no verdict.
    pub fn allowed(&self, done: u32, left: f64) -> Option<f64> {
        let cost = self.highest_cost()?;
        let with = |restarts: u32| {
            let lacking = restarts.checked_sub(done).filter(|lacking| *lacking > 0)?;
            Some((left / f64::from(lacking) - (1.0 + SPARE) * cost).max(0.0))
        };
        let most = (ENOUGH_BLOCKS as u32).min(self.enough);
        with(self.enough).filter(|seconds| *seconds >= cost).or_else(|| with(most))
    }

    fn recent(&self) -> impl Iterator<Item = f64> + '_ {
        self.costs.iter().rev().take(RECENT).copied()
    }

    /// Decides the next step after `done` restarts, with this many seconds left; `None`: as many as
    /// it takes. `judged` is true at a look, once there are enough restarts for verdicts.
    /// Otherwise, only the scatter of the results matters, not the results, and nothing is given up
    /// unless others need its time.
    pub fn outlook(
        &self,
        watched: &[Watched],
        done: u32,
        left: Option<f64>,
        judged: bool,
    ) -> Outlook {
        let cost = mean(&self.recent().collect::<Vec<f64>>()).unwrap_or(1.0);
        let designed = |wanted: &[usize]| {
            let steps = self.steps(watched, wanted, judged);
            let noises: Vec<StepNoise> = steps.values().copied().collect();
            let found = match left {
                Some(left) => design(&noises, done, cost, left, confidence()),
                None => enough(&noises, done, cost, judged),
            };
            found.map(|found| (steps, found))
        };
        let open = |at: &usize| !judged || !watched[*at].settled;
        let open: Vec<usize> = (0..watched.len()).filter(open).collect();
        let missed = |at: usize| {
            let (steps, found) = designed(&[at])?;
            let noises: Vec<StepNoise> = steps.into_values().collect();
            Some(misses(&noises, &found, done, judged))
        };
        let within = |times: &dyn Fn(usize) -> f64| -> Vec<usize> {
            let reaches = |at: &usize| missed(*at).is_some_and(|missed| missed <= times(*at));
            open.iter().copied().filter(reaches).collect()
        };
        let reachable = if left.is_none() { open.clone() } else { within(&|_| OUT_OF_REACH) };
        let pursued = match (reachable.is_empty(), judged) {
            (false, _) => reachable.clone(),
            // There are no others that need the time: go on with all that have a design.
            (true, true) if done < ENOUGH_TO_GIVE_UP => within(&|_| f64::MAX),
            (true, true) => within(&|at| self.ease(&watched[at].comparison)),
            (true, false) => open.clone(),
        };
        let mut outlook = Outlook {
            restarts: 0,
            seconds: BTreeMap::new(),
            reachable,
            pursued: pursued.clone(),
            errors: BTreeMap::new(),
            reaches: false,
        };
        let Some((steps, found)) = designed(&pursued) else { return outlook };
        outlook.restarts = found.restarts;
        let noises: Vec<StepNoise> = steps.values().copied().collect();
        outlook.reaches =
            pursued.len() == open.len() && misses(&noises, &found, done, judged) <= 1.0;
        for ((step, seconds), error) in steps.keys().zip(&found.seconds).zip(&found.errors) {
            outlook.errors.insert(*step, *error);
            if watched.iter().any(|watched| watched.step == *step && watched.timed) {
                outlook.seconds.insert(*step, (seconds / self.servers).clamp(SHORTEST, LONGEST));
            }
        }
        outlook
    }

    /// The steps, each with the largest scatter of its comparisons and its target.
    fn steps(
        &self,
        watched: &[Watched],
        wanted: &[usize],
        judged: bool,
    ) -> BTreeMap<usize, StepNoise> {
        let mut steps: BTreeMap<usize, StepNoise> = BTreeMap::new();
        for (at, one) in watched.iter().enumerate() {
            let mut noise = self.noise(one);
            let target = || self.target(one.comparison.mean_log, judged);
            noise.wanted = wanted.contains(&at).then(target);
            noise.fewest = noise.wanted.map_or(0, |_| self.lacking(one, judged));
            let merge = |known: &mut StepNoise| {
                known.between = known.between.max(noise.between);
                known.within = known.within.max(noise.within);
                known.fewest = known.fewest.max(noise.fewest);
                known.wanted = match (known.wanted, noise.wanted) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            };
            steps.entry(one.step).and_modify(merge).or_insert(noise);
        }
        steps
    }

    /// The scatter of a comparison, with times in seconds of the machine.
    fn noise(&self, watched: &Watched) -> StepNoise {
        let all = watched.comparison.sd_log.map_or(0.0, |sd| sd * sd);
        let (usual, within, seconds) = match watched.slices {
            Some((within, seconds)) => (USUAL_BETWEEN, within, seconds),
            // Nobody knows how much of it longer steps would take away; half is a guess.
            None => (USUAL_IN_TURNS, 0.5 * all.max(USUAL_IN_TURNS * USUAL_IN_TURNS), 1.0),
        };
        let seen = (all - within).max(0.0);
        let freedom = (watched.comparison.blocks as f64 - 1.0).max(0.0);
        let between = (USUAL_FREEDOM * usual * usual + freedom * seen) / (USUAL_FREEDOM + freedom);
        if watched.timed {
            StepNoise::timed(between, within * seconds, self.servers)
        } else {
            StepNoise::by_work(between + within)
        }
    }

    /// Target half width of the interval of a comparison whose log ratio is `at`, in logs.
    fn target(&self, at: f64, judged: bool) -> f64 {
        let (below, above) = Margin::of(self.margin).log_edges();
        let edge = (at - below).abs().min((at - above).abs());
        let decides = if judged { RESERVE * edge } else { 0.5 * above };
        decides.max(NARROWEST * above).max(self.precision.unwrap_or(0.0))
    }

    /// How many times wider the target may become: the log ratio is not known better than to its
    /// standard error, and may lie that much further from the edges of the margin.
    fn ease(&self, comparison: &Comparison) -> f64 {
        let (at, error) = (comparison.mean_log, comparison.error_log.unwrap_or(0.0));
        let [less, more] = [at - error, at + error].map(|at| self.target(at, true));
        less.max(more) / self.target(at, true)
    }

    /// Further restarts without which a comparison can't be equivalent. At a look, only for one
    /// that would be, but for the number of its restarts.
    fn lacking(&self, watched: &Watched, judged: bool) -> u32 {
        let few = |warning: &Warning| matches!(warning, Warning::TooFewFrozen { .. });
        let comparison = &watched.comparison;
        let enough = match (comparison.warnings.iter().any(few), judged) {
            (true, _) => ENOUGH_FROZEN as u32,
            (false, true) => return 0,
            (false, false) => self.enough,
        };
        enough.saturating_sub(u32::try_from(comparison.blocks).unwrap_or(u32::MAX))
    }
}

/// The confidence used for planning.
fn confidence() -> f64 {
    Looks::last_confidence()
}

/// How many times wider than its target the widest interval of a design is; infinitely, if there
/// are too few restarts for a verdict, which only a look can tell.
fn misses(steps: &[StepNoise], found: &Design, done: u32, judged: bool) -> f64 {
    if judged && steps.iter().any(|step| step.fewest > found.restarts) {
        return f64::INFINITY;
    }
    let freedom = f64::from((done + found.restarts).max(2) - 1);
    let quantile = t_quantile(0.5 + 0.5 * confidence(), freedom);
    let of = |(step, error): (&StepNoise, &f64)| Some(quantile * error / step.wanted?);
    steps.iter().zip(&found.errors).filter_map(of).fold(0.0, f64::max)
}

/// The cheapest design that reaches the targets, or the best one for a day.
fn enough(steps: &[StepNoise], done: u32, cost: f64, judged: bool) -> Option<Design> {
    let mut time = 15.0;
    loop {
        let found = design(steps, done, cost, time, confidence());
        let reaches = found.as_ref().is_some_and(|found| misses(steps, found, done, judged) <= 1.0);
        if reaches || time >= 86_400.0 {
            return found;
        }
        time *= 1.2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CONFIDENCE, RestartRatio, compare_slices};

    /// A comparison over restarts that scatter around `at` by `between`, each known to `within`.
    fn watched(step: usize, timed: bool, at: f64, between: f64, within: f64) -> Watched {
        let restarts: Vec<RestartRatio> = [-1.0, 1.0, -1.0, 1.0, 0.0]
            .iter()
            .map(|sign| RestartRatio::even(at + sign * between, within * within, 10))
            .collect();
        let comparison = compare_slices(&restarts, Margin::default(), CONFIDENCE).unwrap();
        Watched { step, timed, comparison, slices: Some((within * within, 2.0)), settled: false }
    }

    fn course() -> Course {
        let mut course = Course::new(0.02, None, 2, ENOUGH_BLOCKS);
        [3.0, 5.0, 5.0, 5.0, 5.0].iter().for_each(|cost| course.cost(*cost));
        course
    }

    #[test]
    fn a_clear_difference_needs_less_than_one_at_the_edge() {
        let steps = [watched(0, true, -0.08, 0.01, 0.02), watched(1, true, -0.026, 0.01, 0.02)];
        let found = course().outlook(&steps, 5, Some(300.0), true);
        assert_eq!(found.pursued, [0, 1]);
        assert!(found.seconds[&1] > 3.0 * found.seconds[&0], "{found:?}");
        // Before a look what was found does not matter.
        let blind = course().outlook(&steps, 5, Some(300.0), false);
        assert!((blind.seconds[&1] / blind.seconds[&0] - 1.0).abs() < 0.01, "{blind:?}");
    }

    #[test]
    fn what_cannot_be_decided_takes_no_time_from_others() {
        let steps = [watched(0, false, -0.05, 0.4, 0.1), watched(1, true, -0.04, 0.01, 0.02)];
        let found = course().outlook(&steps, 5, Some(60.0), true);
        assert_eq!(found.pursued, [1]);
        let alone = |done: u32| course().outlook(&steps[..1], done, Some(12.0), true).pursued;
        assert!(alone(ENOUGH_TO_GIVE_UP).is_empty());
        assert_eq!(alone(6), [0], "one of six restarts may have been far off");
        // Before a look, only others can take its time.
        let blind = |steps: &[Watched]| course().outlook(steps, 1, Some(600.0), false);
        assert_eq!(blind(&steps).pursued, [1]);
        assert_eq!(blind(&steps[..1]).pursued, [0]);
        // Nor does what is decided.
        let settled = Watched { settled: true, ..steps[1].clone() };
        let found =
            course().outlook(&[settled, watched(2, true, 0.0, 0.01, 0.02)], 5, Some(60.0), true);
        assert_eq!((found.pursued, found.seconds[&1]), (vec![1], SHORTEST));
    }

    /// At −5% ±20% the next look may find −12%, which is decided sooner.
    #[test]
    fn what_is_hardly_known_is_not_given_up() {
        let pursued = |at: f64, between: f64| {
            let one = watched(0, true, at, between, 0.001);
            !course().outlook(&[one], 12, Some(30.0), true).pursued.is_empty()
        };
        assert!(pursued(-0.05, 0.15));
        assert!(!pursued(-0.0202, 0.03));
    }

    #[test]
    fn without_a_budget_it_takes_what_it_takes() {
        let precise = |precision| Course { precision: Some(precision), ..course() };
        let steps = [watched(0, true, 0.0, 0.01, 0.03)];
        let time = |precision: f64| {
            let found = precise(precision).outlook(&steps, 5, None, true);
            f64::from(found.restarts) * (5.0 + 2.0 * found.seconds[&0])
        };
        assert!(time(0.02) < time(0.01), "{} {}", time(0.02), time(0.01));
        let reaches = |steps: &[Watched], left| course().outlook(steps, 5, left, false).reaches;
        assert!(reaches(&steps, None) && !reaches(&steps, Some(6.0)));
        // Restarts that scatter by half need more of them than a day has.
        assert!(!reaches(&[watched(0, false, 0.0, 0.5, 0.1)], None));
    }

    #[test]
    fn what_is_equivalent_but_for_the_number_of_restarts_gets_these() {
        let restarts = [0.001; 6].map(|log| RestartRatio::even(log, 1e-6, 10));
        let comparison = crate::compare_frozen(&restarts, Margin::default(), CONFIDENCE).unwrap();
        let few = Watched { comparison, ..watched(0, true, 0.0, 0.01, 0.02) };
        let frozen = Course { enough: ENOUGH_FROZEN as u32, ..course() };
        let outlook = |left| frozen.outlook(std::slice::from_ref(&few), 6, left, true);
        let enough = outlook(None);
        assert!(enough.restarts >= 6 && enough.reaches, "{enough:?}");
        assert!(outlook(Some(300.0)).restarts >= 6);
        assert!(outlook(Some(20.0)).pursued.is_empty(), "no time for six");
        // They are planned for from the start, but not at all costs.
        assert!(
            frozen.outlook(&[watched(0, true, 0.0, 0.001, 0.002)], 1, Some(300.0), false).restarts
                >= 7
        );
        assert_eq!(frozen.allowed(1, 220.0), Some(14.0));
        assert_eq!(frozen.allowed(1, 100.0), course().allowed(1, 100.0));
    }

    #[test]
    fn steps_are_as_short_as_the_restarts_of_a_verdict_need() {
        let close = |found: Option<f64>, seconds: f64| (found.unwrap() - seconds).abs() < 1e-9;
        let course = course();
        // 40 s for each of five, of which 6 s for the restart itself.
        assert!(close(course.allowed(1, 200.0), 34.0));
        assert!(close(course.allowed(5, 10.0), 4.0));
        assert!(close(course.allowed(1, 25.0), 0.0), "no time for five");
        assert_eq!(course.allowed(6, 10.0), None);
        assert_eq!(Course::new(0.02, None, 2, ENOUGH_BLOCKS).allowed(0, 200.0), None);
    }

    #[test]
    fn the_next_restart_may_cost_what_the_dearest_of_the_latest_did() {
        let mut course = course();
        assert_eq!(course.highest_cost(), Some(5.0));
        course.cost(9.0);
        assert_eq!(course.highest_cost(), Some(9.0));
        [1.0; 4].iter().for_each(|cost| course.cost(*cost));
        assert_eq!(course.highest_cost(), Some(1.0));
    }
}
