//! Runs the blocks of a plan, and adds blocks for undecided comparisons.

use std::time::Duration;

use judge::Verdict;
use metrics::counted;
use plan::{Pairing, Plan, Sequence, format_duration};
use report::{Results, Which};
use store::Warning;

use crate::error::Error;
use crate::event::{Event, IntervalRow, Look};
use crate::experiment::blocks::{Execution, Stint};
use crate::experiment::budget::{Clock, expected};
use crate::experiment::course::{Course, Outlook};
use crate::experiment::extent::Extent;
use crate::experiment::room::{Room, upward};
use crate::experiment::standing::{Standing, Tally, list, standings};
use crate::trial::conditions::Conditions;

/// Runs the blocks of the plan. An adaptive run looks at its results after planned numbers of
/// blocks, or when planned parts of its time are used, and ends when all comparisons are decided,
/// its limit is reached, or its time is over.
///
/// The result of a look follows only from the blocks stored before it, so that a resumed run comes
/// to the same result.
pub fn conduct(execution: &mut Execution<'_, '_>) -> Result<(), Error> {
    let conditions = execution.conditions;
    let (plan, experiment) = (conditions.plan(), conditions.experiment);
    let clock = Clock::start(conditions.store, experiment.id)?;
    let sequences = plan.workload.sequences();
    let measured = |sequence: &Sequence| sequence.steps.len() - plan.loaded_steps(sequence);
    let course = Course::of(plan).map(|(course, lengths)| {
        conditions.lengths.replace(lengths);
        course
    });
    let planned = if course.is_some() { 0 } else { plan.blocks };
    let mut run = Run { execution, plan, clock, course, extent: Extent::whole(plan), done: 0 };
    conditions.tell(Event::Began {
        name: experiment.name.clone(),
        trials: run.stints(1).len() * planned as usize,
        finished: run.execution.finished(plan.blocks),
        steps: sequences.iter().map(measured).max().unwrap_or(0),
        budget: plan.budget.filter(|_| run.course.is_some()),
    });
    loop {
        let stints = run.stints(run.done + 1);
        if let Some(time) = run.out_of_time(&stints)? {
            return run.end(End::Budget(time), &standings(&run.results()?, plan)?.tally());
        }
        run.execution.block(&stints)?;
        run.done += 1;
        if run.done == 1 && run.course.is_none() {
            run.tell_room()?;
        }
        if run.course.is_some() || plan.is_adaptive() {
            if let Some((end, tally)) = run.look()? {
                return run.end(end, &tally);
            }
        } else if run.done == plan.blocks {
            return run.execution.death();
        }
    }
}

/// A run between two blocks.
struct Run<'e, 'c, 'a> {
    execution: &'e mut Execution<'c, 'a>,
    plan: &'a Plan,
    clock: Clock,
    /// Chooses how to go on, if the run designs itself.
    course: Option<Course>,
    /// What the next blocks run.
    extent: Extent,
    /// Blocks so far.
    done: u32,
}

impl Run<'_, '_, '_> {
    /// The trials of a block.
    fn stints(&self, number: u32) -> Vec<Stint> {
        let seed = self.execution.conditions.experiment.seed;
        self.extent.stints(&self.plan.block(seed, number))
    }

    /// Loads the results of the blocks so far.
    fn results(&self) -> Result<Results, Error> {
        let Conditions { store, experiment, .. } = self.execution.conditions;
        let mut results = report::load(store, Which::Id(experiment.id))?;
        results.keep_blocks(self.done);
        Ok(results)
    }

    /// Why the run must not start this block: the time it has used, and the time the block would
    /// take. `None` if it may.
    fn out_of_time(&self, stints: &[Stint]) -> Result<Option<Time>, Error> {
        let Conditions { store, experiment, lengths, .. } = self.execution.conditions;
        let Some(budget) = self.plan.budget else { return Ok(None) };
        let mut missing = stints.to_vec();
        missing.retain(|stint| !self.execution.is_finished(&stint.trial));
        if missing.is_empty() {
            return Ok(None);
        }
        let next = match &self.course {
            Some(course) => course.expected(&lengths.borrow(), &self.extent),
            None => expected(store, experiment.id, self.plan, &missing)?,
        };
        let used = self.clock.used();
        let over = used + next.unwrap_or_default() > budget;
        Ok(over.then_some(Time { used, next, budget }))
    }

    /// Says after the first of planned blocks how many the budget has room for.
    fn tell_room(&self) -> Result<(), Error> {
        let Conditions { store, experiment, .. } = self.execution.conditions;
        let Some(budget) = self.plan.budget else { return Ok(()) };
        if let Some(block) = expected(store, experiment.id, self.plan, &self.stints(2))? {
            let used = report::time_used(&store.trials(experiment.id)?, 1);
            let text = Room { budget, used, block }.text(self.plan);
            self.execution.conditions.tell(Event::Note(text));
        }
        Ok(())
    }

    /// Looks at the results, if that is due, and decides what the next blocks run. Returns why the
    /// run ends, if it does.
    fn look(&mut self) -> Result<Option<(End, Tally)>, Error> {
        let (conditions, plan, done) = (self.execution.conditions, self.plan, self.done);
        let results = self.results()?;
        let due = results.looks.is_due(done);
        if !due && self.course.is_none() {
            return Ok(None);
        }
        let found = standings(&results, plan)?;
        let (standings, tally) = (&found.open_to_change[..], found.tally());
        // Of the trials so far, so that a resumed run finds the same.
        let trials = conditions.store.trials(conditions.experiment.id)?;
        let used = report::time_used(&trials, done);
        let left = plan.budget.map(|budget| budget.saturating_sub(used));
        if let Some(course) = &mut self.course {
            let took = used.saturating_sub(report::time_used(&trials, done - 1));
            course.ran(took, &conditions.lengths.borrow(), &self.extent);
            conditions.tell(narrowing(standings, done, self.clock.used()));
            if done == 1 {
                let outlook = course.outlook(standings, &self.extent, done, left, false);
                let text = prospects(plan, course, standings, &self.extent, used, &outlook);
                conditions.tell(Event::Note(text));
                conditions.lengths.replace(outlook.lengths);
            }
            if !due {
                return Ok(None);
            }
        }
        if tally.open.is_empty() {
            return Ok(Some((End::Decided, tally)));
        }
        if results.looks.is_over(done) {
            let used = self.clock.used();
            let end = match (plan.budget, &self.course) {
                (Some(budget), Some(_)) => End::Budget(Time { used, next: None, budget }),
                _ => End::Limit,
            };
            return Ok(Some((end, tally)));
        }
        let course = self.course.as_ref();
        let outlook = course.map(|it| it.outlook(standings, &self.extent, done, left, true));
        let further = |at: &usize| match &outlook {
            Some(outlook) => outlook.pursued.contains(at),
            None => !standings[*at].settled,
        };
        let pursued = (0..standings.len()).filter(further).map(|at| standings[at].key);
        let pursued: Vec<_> = pursued.collect();
        if pursued.is_empty() {
            return Ok(Some((End::OutOfReach, tally)));
        }
        self.extent = Extent::of(&pursued, plan);
        let (next, trials, steps) = if let Some(outlook) = outlook {
            conditions.lengths.replace(outlook.lengths);
            (outlook.text, 0, 0)
        } else {
            if done == plan.blocks {
                self.hopeless(standings);
            }
            self.ahead()
        };
        let (decided, Tally { all, open, unjudged }) = (tally.decided(), tally);
        let look = Look { blocks: done, decided, all, open, unjudged, next, trials, steps };
        conditions.tell(Event::Look(look));
        Ok(None)
    }

    /// Says at the first look which comparisons further blocks probably won't decide, and what
    /// would.
    fn hopeless(&self, standings: &[Standing]) {
        let limit = self.plan.block_limit();
        let beyond = |standing: &&Standing| {
            let further = standing.comparison.further_blocks;
            !standing.settled && further.is_none_or(|more| self.done.saturating_add(more) > limit)
        };
        let open: Vec<String> = standings.iter().filter(beyond).map(Standing::text).collect();
        if self.plan.pairing == Pairing::Blocks && !open.is_empty() {
            self.execution.conditions.tell(Event::Note(format!(
                "  {limit} blocks probably won't decide {}. For CPU-bound steps, slices need far \
                 less time: remove blocks, pairing and seconds from the plan and set a budget \
                 (--budget 10m)",
                list(&open)
            )));
        }
    }

    /// The blocks until the next look: for people, and how many trials they have, and how many
    /// steps those have yet to measure.
    fn ahead(&self) -> (String, usize, usize) {
        let sequences = self.plan.workload.sequences();
        let until = self.plan.looks().into_iter().find(|look| *look > self.done);
        let until = until.unwrap_or(self.done + 1);
        let stints: Vec<Stint> =
            (self.done + 1..=until).flat_map(|number| self.stints(number)).collect();
        let missing = stints.iter().filter(|stint| !self.execution.is_finished(&stint.trial));
        let steps = missing.map(|stint| measured_in(self.plan, &sequences, stint)).sum();
        (goes_on(self.plan, &self.extent, until - self.done), stints.len(), steps)
    }

    /// Reports why the run has ended, and stores it with the results, unless a run killed at this
    /// point has already done so.
    fn end(&self, end: End, tally: &Tally) -> Result<(), Error> {
        let warning = end.warning(tally, self.done);
        self.execution.conditions.tell(Event::Note(warning.text.clone()));
        Ok(self.execution.conditions.warn_once(&warning)?)
    }
}

/// The prospects of a run that designs itself, as far as its first restart shows: `outlook`, or a
/// message that there is no room for as many restarts as a verdict takes.
fn prospects(
    plan: &Plan,
    course: &Course,
    standings: &[Standing],
    extent: &Extent,
    used: Duration,
    outlook: &Outlook,
) -> String {
    let room = plan.budget.zip(course.shortest(extent));
    let room = room.map(|(budget, block)| Room { budget, used, block });
    if let Some(lacking) = room.and_then(|room| room.lacking(plan)) {
        return lacking;
    }
    let mut open: Vec<String> = Vec::new();
    for (at, standing) in standings.iter().enumerate() {
        if !outlook.pursued.contains(&at) && !open.contains(&standing.step) {
            open.push(standing.step.clone());
        }
    }
    if open.is_empty() {
        return outlook.text.clone();
    }
    let takes = match course.outlook(standings, extent, 1, None, false).enough {
        Some(further) => format!("would take a budget of about {}", upward(used + further)),
        None => "would take more than a day".to_owned(),
    };
    format!("{}; small differences in {} {takes}", outlook.text, list(&open))
}

/// Reports all intervals after a restart.
fn narrowing(standings: &[Standing], restarts: u32, used: Duration) -> Event {
    let row = |standing: &Standing| IntervalRow {
        step: standing.step.clone(),
        variant: standing.variant.clone(),
        ratio: standing.comparison.ratio,
        // After two restarts it is too wide to be of use.
        interval: standing.comparison.low.zip(standing.comparison.high).filter(|_| restarts > 2),
        margin: standing.comparison.margin.asked,
        verdict: Some(standing.comparison.verdict)
            .filter(|verdict| *verdict != Verdict::Inconclusive)
            .map(Verdict::as_str),
    };
    Event::Narrowing { restarts, used, rows: standings.iter().map(row).collect() }
}

/// The number of steps that a trial measures after the load.
fn measured_in(plan: &Plan, sequences: &[Sequence], stint: &Stint) -> usize {
    let sequence = sequences.iter().find(|sequence| sequence.key == stint.trial.sequence);
    stint.steps.saturating_sub(sequence.map_or(0, |sequence| plan.loaded_steps(sequence)))
}

/// How a budget was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Time {
    used: Duration,
    next: Option<Duration>,
    budget: Duration,
}

/// Why an adaptive run has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// Nothing is left that further blocks could decide.
    Decided,
    Limit,
    Budget(Time),
    OutOfReach,
}

impl End {
    /// The code and text that are stored and shown.
    fn warning(self, tally: &Tally, blocks: u32) -> Warning {
        let Tally { all, open, unjudged } = tally;
        let blocks = counted(blocks as usize, "block");
        let (code, text) = match self {
            End::Decided if *all == 0 => (
                "nothing-to-compare",
                format!("the run ended after {blocks}: there was nothing to compare"),
            ),
            End::Decided if unjudged.is_empty() => {
                ("all-decided", format!("every comparison was decided after {blocks}"))
            }
            End::Decided => (
                "not-all-judged",
                format!(
                    "the run ended after {blocks}, with {} of {all} comparisons decided",
                    tally.decided()
                ),
            ),
            End::Limit => (
                "block-limit",
                format!(
                    "the run ended at its limit of {blocks} with undecided comparisons: {}",
                    list(open)
                ),
            ),
            End::OutOfReach => (
                "out-of-reach",
                format!(
                    "the run ended after {blocks}, before its budget was spent: the rest would \
                     not decide {}",
                    list(open)
                ),
            ),
            End::Budget(time) => {
                let next = time.next.map_or(String::new(), |next| {
                    format!(", and the next block would have taken about {}", rounded(next))
                });
                let open = match &open[..] {
                    [] if unjudged.is_empty() => "nothing was undecided".to_owned(),
                    [] => format!("{} of {all} comparisons were decided", tally.decided()),
                    open => format!("undecided: {}", list(open)),
                };
                let used = rounded(time.used.min(time.budget));
                let budget = format_duration(time.budget);
                let text = format!(
                    "the run ended after {blocks}: of its budget of {budget} it had used {used}{next}; {open}"
                );
                ("budget-spent", text)
            }
        };
        let rest = match &unjudged[..] {
            [] => String::new(),
            unjudged => format!("; {} can't be judged: {}", unjudged.len(), list(unjudged)),
        };
        Warning::new(code, text + &rest)
    }
}

/// Describes the blocks until the next look.
fn goes_on(plan: &Plan, extent: &Extent, blocks: u32) -> String {
    let more = counted(blocks as usize, "more block");
    let mut text = format!("{more} of {}", extent.variants(plan).join(", "));
    let (some, all) = (extent.sequences(), plan.workload.sequences());
    if some.len() < all.len() {
        let some = all.iter().filter(|sequence| some.contains(&sequence.key));
        let clients: Vec<String> = some.map(|sequence| sequence.clients().to_string()).collect();
        text.push_str(&format!(" at {}", clients.join(", ")));
    }
    if let Some(step) = extent.last_step(plan) {
        text.push_str(&format!(", up to {step}"));
    }
    text
}

/// A time for people, with seconds only where they matter.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let step = if seconds < 600.0 { 1.0 } else { 60.0 };
    format_duration(Duration::from_secs_f64((seconds / step).round() * step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("b s{n} ±1.0%")).collect()
    }

    #[test]
    fn the_end_is_told_with_its_reason() {
        let with = |open, unjudged: &[&str]| Tally {
            all: 5,
            open,
            unjudged: unjudged.iter().map(|text| (*text).to_owned()).collect(),
        };
        let told = |end: End, open| end.warning(&with(open, &[]), 9).text;
        assert_eq!(told(End::Decided, vec![]), "every comparison was decided after 9 blocks");
        assert_eq!(
            told(End::Limit, open(2)),
            "the run ended at its limit of 9 blocks with undecided comparisons: b s0 ±1.0%, b s1 ±1.0%"
        );
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let time = Time { used: minutes(115), next: Some(minutes(12)), budget: minutes(120) };
        assert_eq!(
            told(End::Budget(time), open(1)),
            "the run ended after 9 blocks: of its budget of 2h it had used 1h55m, and the next block would have \
             taken about 12m; undecided: b s0 ±1.0%"
        );
        let over = Time { used: minutes(125), next: None, budget: minutes(120) };
        assert_eq!(
            told(End::Budget(over), vec![]),
            "the run ended after 9 blocks: of its budget of 2h it had used 2h; nothing was undecided"
        );
        let idle = &["c l.x (c did nothing in 1 of 9 blocks (2), but a did)"];
        let some = End::Decided.warning(&with(vec![], idle), 9);
        assert_eq!(some.code, "not-all-judged");
        assert_eq!(
            some.text,
            format!(
                "the run ended after 9 blocks, with 4 of 5 comparisons decided; 1 can't be judged: {}",
                idle[0]
            )
        );
        for end in [End::Limit, End::OutOfReach] {
            let text = end.warning(&with(open(1), idle), 9).text;
            assert!(
                text.ends_with(&format!("b s0 ±1.0%; 1 can't be judged: {}", idle[0])),
                "{text}"
            );
        }
        let text = End::Budget(over).warning(&with(vec![], idle), 9).text;
        assert!(
            text.contains("2h; 4 of 5 comparisons were decided; 1 can't be judged: c"),
            "{text}"
        );
        let nothing = End::Decided.warning(&Tally::default(), 9).text;
        assert_eq!(nothing, "the run ended after 9 blocks: there was nothing to compare");
    }

    /// A first restart of 10 s, in which qr100 had 2 s on each server and scatters by so much.
    fn first_restart(budget: &str, sd: f64) -> String {
        let text = format!(
            "budget = '{budget}'\n[variants.a]\ndbms = 'postgres@13.7'\n\
             [variants.b]\ndbms = 'postgres@14.3'\n[workload.insert]\nsteps = ['qr100']\n"
        );
        let plan = Plan::parse(&text, None, "test").unwrap();
        let (mut course, lengths) = Course::of(&plan).unwrap();
        let (extent, used) = (Extent::whole(&plan), Duration::from_secs(10));
        course.ran(used, &lengths, &extent);
        let (within, margin) = (sd * sd, judge::Margin::of(plan.margin));
        let restart = judge::RestartRatio::even(0.0, within, 10);
        let standing = Standing {
            key: (1, plan.workload.sequences()[0].key, 2),
            variant: "b".to_owned(),
            step: "qr100".to_owned(),
            comparison: judge::compare_slices(&[restart], margin, 0.975).unwrap(),
            scatter: Some(report::Scatter { restarts: 1, all: 0.0, within, seconds: 2.0 }),
            settled: false,
        };
        let left = plan.budget.map(|budget| budget.saturating_sub(used));
        let standings = [standing];
        let outlook = course.outlook(&standings, &extent, 1, left, false);
        prospects(&plan, &course, &standings, &extent, used, &outlook)
    }

    #[test]
    fn the_first_restart_tells_what_the_budget_can_decide() {
        let quiet = first_restart("2m", 0.001);
        assert!(quiet.contains("; probably detects differences of "), "{quiet}");
        assert!(!quiet.contains("would take"), "{quiet}");
        let noisy = first_restart("2m", 0.2);
        let (before, budget) = noisy.split_once("would take a budget of about ").unwrap();
        assert!(before.ends_with("; small differences in qr100 "), "{noisy}");
        // Which would do.
        let enough = first_restart(budget, 0.2);
        assert!(!enough.contains("would take"), "{budget}: {enough}");
        let hopeless = first_restart("2m", 2.0);
        assert!(hopeless.contains("in qr100 would take more than a day"), "{hopeless}");
        let short = first_restart("30s", 0.2);
        assert!(short.contains(", but a verdict takes 6: qr100 will"), "{short}");
        assert!(!short.contains("detects"), "{short}");
    }

    #[test]
    fn times_are_rounded() {
        assert_eq!(rounded(Duration::from_millis(59_600)), "1m");
        assert_eq!(rounded(Duration::from_secs(7_199)), "2h");
        assert_eq!(rounded(Duration::from_millis(90)), "0s");
    }
}
