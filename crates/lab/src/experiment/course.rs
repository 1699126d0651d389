//! The course of a run that designs itself: how many restarts, and how long each step lasts within
//! one. It is set by what restarts have cost and how steps have scattered, and set anew at each
//! look by what is still undecided.

use std::collections::BTreeMap;
use std::time::Duration;

use judge::{Design, Looks, StepNoise, design, detectable_effect, t_quantile};
use plan::{Plan, format_duration};

use crate::experiment::extent::Extent;
use crate::experiment::standing::Standing;
use crate::trial::conditions::Lengths;

/// Shorter than this no timed step is, in seconds on each server: a dozen slices.
const SHORTEST: f64 = 0.5;
/// Longer than this none is: a restart then says more.
const LONGEST: f64 = 30.0;
/// Of an unknown step the first restart gives each timed step this part of the budget.
const FIRST_PART: f64 = 1.0 / 40.0;
/// Where there is no budget, so many seconds.
const FIRST_SECONDS: f64 = 2.0;

/// What restarts differ by before anything is known, as a deviation of the log ratio: in slices,
/// and in turns. From recordings of Postgres (VALIDATION.md, "On real servers").
const USUAL: (f64, f64) = (0.006, 0.03);
/// So many degrees of freedom that weighs.
const USUAL_FREEDOM: f64 = 4.0;

/// A step whose interval will stay so many times wider than it should, if it had all the time that
/// is left, gets none for itself.
const OUT_OF_REACH: f64 = 2.5;
/// No interval is wanted narrower than this part of the margin: a difference that close to its edge
/// stays undecided.
const NARROWEST: f64 = 0.2;
/// A difference inside an interval moves it: what is wanted is this much narrower.
const RESERVE: f64 = 0.85;

/// What a run intends.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// Further restarts, about.
    pub restarts: u32,
    /// How long one takes.
    pub restart: Duration,
    /// How long timed steps last in each.
    pub lengths: Lengths,
    /// The comparisons to go on for, by their place among all; without those out of reach.
    pub pursued: Vec<usize>,
    /// Those out of reach.
    pub hopeless: Vec<usize>,
    /// Differences, as fractions, that will probably be confirmed, by step.
    pub detectable: Vec<(String, f64)>,
}

/// The course of a run.
#[derive(Debug)]
pub struct Course {
    margin: f64,
    precision: Option<f64>,
    /// Servers that a step's time is spent on one after another or in slices.
    variants: f64,
    /// The timed steps, by sequence and place.
    timed: Vec<(u32, usize)>,
    /// What each restart so far has cost beside its timed steps, in seconds.
    costs: Vec<f64>,
}

impl Course {
    /// The course of a plan that designs itself, with the lengths for the first restart.
    pub fn of(plan: &Plan) -> Option<(Course, Lengths)> {
        if !plan.designs_itself() {
            return None;
        }
        let sequences = plan.workload.sequences();
        let timed: Vec<(u32, usize)> = sequences
            .iter()
            .flat_map(|sequence| {
                let steps = sequence.steps.iter().enumerate().filter(|(_, step)| step.timed);
                steps.map(|(place, _)| (sequence.key, place))
            })
            .collect();
        let variants = plan.variants.len() as f64;
        let all = variants * timed.len() as f64;
        let seconds = plan.budget.map_or(FIRST_SECONDS, |budget| {
            // Steps together: four times what one gets alone.
            4.0 * FIRST_PART * budget.as_secs_f64() / all.max(1.0)
        });
        let seconds = seconds.clamp(SHORTEST, FIRST_SECONDS);
        let lengths = timed.iter().map(|step| (*step, seconds)).collect();
        let (margin, precision) = (plan.margin, plan.precision);
        Some((Course { margin, precision, variants, timed, costs: Vec::new() }, lengths))
    }

    /// A restart with these lengths took so long.
    pub fn ran(&mut self, took: Duration, lengths: &Lengths, extent: &Extent) {
        self.costs.push((took.as_secs_f64() - self.timed_seconds(lengths, extent)).max(0.1));
    }

    /// How long the next restart will take at most.
    pub fn expected(&self, lengths: &Lengths, extent: &Extent) -> Option<Duration> {
        let recent = self.costs.iter().rev().take(4).copied();
        let cost = recent.reduce(f64::max)?;
        Some(Duration::from_secs_f64(cost + self.timed_seconds(lengths, extent)))
    }

    fn timed_seconds(&self, lengths: &Lengths, extent: &Extent) -> f64 {
        let runs = self.timed.iter().filter(|step| extent.has(step.0, step.1));
        runs.filter_map(|step| lengths.get(step)).sum::<f64>() * self.variants
    }

    /// What to do next, after `done` restarts, with so much time left. `judged`: whether the
    /// comparisons have been looked at; before that their differences are not taken into account.
    pub fn outlook(
        &self,
        standings: &[Standing],
        extent: &Extent,
        done: u32,
        left: Option<Duration>,
        judged: bool,
    ) -> Outlook {
        let open: Vec<usize> =
            (0..standings.len()).filter(|at| !judged || !standings[*at].settled).collect();
        let costs: Vec<f64> = self.costs.iter().rev().take(4).copied().collect();
        let cost = judge::mean(&costs).unwrap_or(1.0);
        let confidence = Looks::last_confidence();
        let left = left.map(|left| left.as_secs_f64());
        let designed = |wanted: &[usize]| {
            let steps = self.steps(standings, extent, wanted, judged);
            let noises: Vec<StepNoise> = steps.iter().map(|(_, noise)| *noise).collect();
            let found = match left {
                Some(left) => design(&noises, done, cost, left, confidence),
                None => enough(&noises, done, cost, confidence),
            };
            found.map(|found| (steps, found))
        };
        // By how much the widest interval misses what is wanted of it.
        let misses = |(steps, found): &(Steps, Design)| {
            let quantile = quantile(confidence, done + found.restarts);
            let of = |((_, noise), error): (&(_, StepNoise), &f64)| {
                noise.wanted.map(|wanted| quantile * error / wanted)
            };
            steps.iter().zip(&found.errors).filter_map(of).fold(0.0, f64::max)
        };
        let reachable = |at: &usize| {
            left.is_none() || designed(&[*at]).is_some_and(|alone| misses(&alone) <= OUT_OF_REACH)
        };
        let (pursued, hopeless): (Vec<usize>, Vec<usize>) =
            open.into_iter().partition(|at| reachable(at));
        let chosen = designed(&pursued);
        let mut lengths: Lengths = self.timed.iter().map(|step| (*step, SHORTEST)).collect();
        let mut detectable = Vec::new();
        let restarts = chosen.as_ref().map_or(0, |(_, found)| found.restarts);
        for (((key, _), seconds), error) in chosen
            .iter()
            .flat_map(|(steps, found)| steps.iter().zip(&found.seconds).zip(&found.errors))
        {
            if let Some(length) = lengths.get_mut(key) {
                *length = (seconds / self.variants).max(SHORTEST);
            }
            let freedom = f64::from((done + restarts).max(2) - 1);
            let name = standings.iter().find(|standing| (standing.key.1, standing.key.2) == *key);
            if let Some(name) = name
                && let Some(effect) = detectable_effect(*error, freedom, 1.0 - confidence)
            {
                detectable.push((name.step.clone(), effect));
            }
        }
        let restart = Duration::from_secs_f64(cost + self.timed_seconds(&lengths, extent));
        Outlook { restarts, restart, lengths, pursued, hopeless, detectable }
    }

    /// What the steps that run scatter by, each the most that any of its comparisons does, and what
    /// is wanted of them.
    fn steps(
        &self,
        standings: &[Standing],
        extent: &Extent,
        wanted: &[usize],
        judged: bool,
    ) -> Steps {
        let mut steps: BTreeMap<(u32, usize), StepNoise> = BTreeMap::new();
        for (at, standing) in standings.iter().enumerate() {
            let key = (standing.key.1, standing.key.2);
            if !extent.has(key.0, key.1) {
                continue;
            }
            let mut noise = self.noise(standing);
            if wanted.contains(&at) {
                noise.wanted = Some(self.wanted(standing, judged));
            }
            let merge = |known: &mut StepNoise| {
                known.between = known.between.max(noise.between);
                known.within = known.within.max(noise.within);
                known.wanted = match (known.wanted, noise.wanted) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            };
            steps.entry(key).and_modify(merge).or_insert(noise);
        }
        steps.into_iter().collect()
    }

    /// How a comparison scatters, with its time in seconds of the machine.
    fn noise(&self, standing: &Standing) -> StepNoise {
        let timed = self.timed.contains(&(standing.key.1, standing.key.2));
        let restarts = standing.comparison.blocks as f64;
        let all = standing.comparison.sd_log.map_or(0.0, |sd| sd * sd);
        let (usual, within, seconds) = match standing.scatter {
            Some(scatter) => (USUAL.0, scatter.within, scatter.seconds),
            // Nobody knows how much of it longer steps would take away; half is a guess.
            None => (USUAL.1, 0.5 * all.max(USUAL.1 * USUAL.1), 1.0),
        };
        let seen = (all - within).max(0.0);
        let freedom = (restarts - 1.0).max(0.0);
        let between = (USUAL_FREEDOM * usual * usual + freedom * seen) / (USUAL_FREEDOM + freedom);
        if timed {
            let (from, to) = (SHORTEST * self.variants, LONGEST * self.variants);
            let within = within * seconds * self.variants;
            StepNoise { between, within, seconds: (from, to), wanted: None }
        } else {
            // Its time is part of what a restart costs.
            let seconds = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
            StepNoise { between: between + within, within: 0.0, seconds, wanted: None }
        }
    }

    /// How narrow a comparison's interval is to be, as half of its width.
    fn wanted(&self, standing: &Standing, judged: bool) -> f64 {
        let (below, above) = ((-self.margin).ln_1p(), self.margin.ln_1p());
        let at = standing.comparison.mean_log;
        let edge = (at - below).abs().min((at - above).abs());
        let decides = if judged { RESERVE * edge } else { 0.5 * above };
        decides.max(NARROWEST * above).max(self.precision.unwrap_or(0.0))
    }
}

/// The steps by sequence and place, with their noise.
type Steps = Vec<((u32, usize), StepNoise)>;

/// The point of Student's t for intervals over so many restarts.
fn quantile(confidence: f64, restarts: u32) -> f64 {
    t_quantile(0.5 + 0.5 * confidence, f64::from(restarts.max(2) - 1))
}

/// The cheapest design that reaches what is wanted, or the one of a day.
fn enough(steps: &[StepNoise], done: u32, cost: f64, confidence: f64) -> Option<Design> {
    let mut time = 15.0;
    loop {
        let found = design(steps, done, cost, time, confidence);
        let reaches = |found: &Design| {
            let quantile = quantile(confidence, done + found.restarts);
            let of = |(step, error): (&StepNoise, &f64)| {
                step.wanted.is_none_or(|wanted| quantile * error <= wanted)
            };
            steps.iter().zip(&found.errors).all(of)
        };
        if time >= 86_400.0 || found.as_ref().is_some_and(reaches) {
            return found;
        }
        time *= 1.2;
    }
}

impl Outlook {
    /// For people: `about 14 restarts of 20 s (4m40s); will probably show differences of 0.6%
    /// (l.i0), 1.2% (qr100)`.
    pub fn text(&self) -> String {
        let seconds = self.restart.as_secs_f64();
        let time = Duration::from_secs_f64((seconds * f64::from(self.restarts)).round());
        let plural = if self.restarts == 1 { "restart" } else { "restarts" };
        let shown: Vec<String> = self
            .detectable
            .iter()
            .map(|(step, effect)| format!("{:.1}% in {step}", 100.0 * effect))
            .collect();
        let shown = if shown.is_empty() {
            String::new()
        } else {
            format!("; differences that will probably show: {}", shown.join(", "))
        };
        let time = format_duration(time);
        format!("about {} {plural} of {seconds:.1} s ({time}){shown}", self.restarts)
    }
}
