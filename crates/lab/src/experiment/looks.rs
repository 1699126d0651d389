//! Runs the blocks of a plan, and adds blocks for undecided comparisons.

use std::time::Duration;

use judge::{ENOUGH_BLOCKS, ENOUGH_FROZEN, Verdict};
use metrics::counted;
use plan::{Pairing, Plan, Sequence, SequenceKey};
use report::{Results, Which};

use crate::error::Error;
use crate::event::{Event, IntervalRow, Look};
use crate::experiment::blocks::{Execution, Stint};
use crate::experiment::budget::{Clock, expected};
use crate::experiment::course::{Course, Outlook};
use crate::experiment::end::{End, Time};
use crate::experiment::extent::Extent;
use crate::experiment::lengthen::{needs_more, too_short};
use crate::experiment::room::{Room, round_up};
use crate::experiment::standing::{Standing, Standings, Tally, list, standings};
use crate::joint::lockstep;
use crate::joint::slicing::seconds_of;
use crate::observe::profile::in_block;
use crate::trial::conditions::{Conditions, Lengths};

/// A suggested budget for the same run is at least this many times the last one.
const MORE: f64 = 1.1;

/// Runs the blocks of the plan. An adaptive run looks at its results after planned numbers of
/// blocks, or when planned parts of its time are used, and ends when all comparisons are decided,
/// its limit is reached, or its time is over.
///
/// The result of a look follows only from the blocks stored before it, so a resumed run comes
/// to the same result.
pub fn conduct(execution: &mut Execution<'_, '_>) -> Result<(), Error> {
    let conditions = execution.conditions;
    let (plan, experiment) = (conditions.plan(), conditions.experiment);
    let clock = Clock::start(conditions.store, experiment.id)?;
    let sequences = plan.workload.sequences();
    let measured = |sequence: &Sequence| sequence.steps.len() - plan.loaded_steps(sequence);
    let enough = if lockstep::freezes(conditions)? { ENOUGH_FROZEN } else { ENOUGH_BLOCKS };
    let (course, lengths) = Course::of(plan, enough).unzip();
    let planned = if course.is_some() { 0 } else { plan.blocks };
    let mut run = Run {
        execution,
        plan,
        clock,
        course,
        lengths: lengths.unwrap_or_default(),
        extent: Extent::whole(plan),
        done: 0,
        lacks_room: false,
    };
    conditions.tell(Event::Began {
        experiment: experiment.id,
        name: experiment.name.clone(),
        trials: run.stints(1).len() * planned as usize,
        finished: run.execution.finished(plan.blocks),
        steps: sequences.iter().map(measured).max().unwrap_or(0),
        budget: plan.budget.filter(|_| run.course.is_some()),
    });
    loop {
        let stints = run.stints(run.done + 1);
        run.fit(&stints)?;
        if let Some(time) = run.out_of_time(&stints)? {
            return run.end(End::Budget(time), &standings(&run.results()?, plan)?);
        }
        run.execution.block(&stints)?;
        run.done += 1;
        if run.done == 1 && run.course.is_none() {
            run.tell_room()?;
        }
        if run.course.is_some() || plan.is_adaptive() {
            if let Some((end, found)) = run.look()? {
                return run.end(end, &found);
            }
        } else if run.done == plan.blocks {
            return run.execution.death();
        }
    }
}

/// How long loads went on for profiles in a block.
fn profiled(conditions: &Conditions<'_>, block: u32) -> Result<Duration, Error> {
    let Conditions { profiler, store, experiment, .. } = conditions;
    let taken = profiler.as_ref().map(|it| it.taken(store, experiment.id, block)).transpose()?;
    Ok(taken.unwrap_or_default())
}

/// A run between two blocks.
struct Run<'e, 'c, 'a> {
    execution: &'e mut Execution<'c, 'a>,
    plan: &'a Plan,
    clock: Clock,
    /// Chooses how to go on, if the run designs itself.
    course: Option<Course>,
    /// The lengths that it chose last.
    lengths: Lengths,
    /// The part of the plan that the next blocks run.
    extent: Extent,
    /// Blocks so far.
    done: u32,
    /// True once it was said that the budget has no room for as many blocks as a verdict needs.
    lacks_room: bool,
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

    /// Shortens the steps of the next block, if the run chooses their lengths, where as many blocks
    /// as a verdict needs would otherwise not fit into the budget.
    fn fit(&self, stints: &[Stint]) -> Result<(), Error> {
        let Some(course) = &self.course else { return Ok(()) };
        let Conditions { store, experiment, lengths, .. } = self.execution.conditions;
        let finished = stints.iter().all(|stint| self.execution.is_finished(&stint.trial));
        let used = match finished {
            true => report::time_used(&store.trials(experiment.id)?, self.done),
            // Also what an interruption has lost.
            false => self.clock.used(),
        };
        let left = self.plan.budget.map(|budget| budget.saturating_sub(used));
        lengths.replace(course.fitted(&self.lengths, &self.extent, self.done, left));
        Ok(())
    }

    /// Why the run must not start this block: the time it has used, and the time the block would
    /// take. `None` if it may.
    fn out_of_time(&self, stints: &[Stint]) -> Result<Option<Time>, Error> {
        let conditions = self.execution.conditions;
        let Conditions { store, experiment, lengths, .. } = conditions;
        let Some(budget) = self.plan.budget else { return Ok(None) };
        let mut missing = stints.to_vec();
        missing.retain(|stint| !self.execution.is_finished(&stint.trial));
        if missing.is_empty() {
            return Ok(None);
        }
        let next = match &self.course {
            Some(course) => {
                let again = in_block(self.done + 1) && self.done > 0;
                let profiles =
                    if again { profiled(conditions, self.done)? } else { Duration::ZERO };
                course.expected(&lengths.borrow(), &self.extent).map(|it| it + profiles)
            }
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
            let text = Room { budget, done: 1, used, block }.text(self.plan);
            self.execution.conditions.tell(Event::Note(text));
        }
        Ok(())
    }

    /// Looks at the results, if that is due, and decides what the next blocks run. Returns why the
    /// run ends, if it does.
    fn look(&mut self) -> Result<Option<(End, Standings)>, Error> {
        let (conditions, plan, done) = (self.execution.conditions, self.plan, self.done);
        let results = self.results()?;
        let due = results.looks.is_due(done) && !conditions.options.spends_budget;
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
            // Others take no profiles.
            let took = took.saturating_sub(profiled(conditions, done)?);
            course.ran(took, &conditions.lengths.borrow(), &self.extent);
            conditions.tell(narrowing(standings, done, self.clock.used()));
            let lacking = lacking(plan, course, &self.extent, done, used);
            if done == 1 {
                let outlook = course.outlook(standings, &self.extent, done, left, false);
                let text = || prospects(standings, &outlook);
                conditions.tell(Event::Note(lacking.clone().unwrap_or_else(text)));
                self.lengths = outlook.lengths;
            } else if let Some(text) = lacking.clone().filter(|_| !self.lacks_room) {
                conditions.tell(Event::Note(text));
            }
            self.lacks_room |= lacking.is_some();
            if !due {
                return Ok(None);
            }
        }
        if tally.open.is_empty() {
            return Ok(Some((End::Decided, found)));
        }
        // Until there are as many restarts as a verdict needs, no comparison is given up.
        let course = self.course.as_ref();
        let owes = course.is_some_and(|course| course.owes_restarts(&self.extent, done, left));
        if results.looks.is_over(done) && !owes {
            let used = self.clock.used();
            let end = match (plan.budget, &self.course) {
                (Some(budget), Some(_)) => End::Budget(Time { used, next: None, budget }),
                _ => End::Limit,
            };
            return Ok(Some((end, found)));
        }
        let outlook = course.map(|it| it.outlook(standings, &self.extent, done, left, !owes));
        let longer = self.lengthen(standings, left);
        let chosen = conditions.longer_slices.borrow().clone();
        let owed = |standing: &Standing| {
            owes || !standing.settled
                && (needs_more(standing, plan, &chosen)
                    || longer.contains(&(standing.key.1, standing.key.2)))
        };
        let further = |at: &usize| match &outlook {
            // What was given up has gaps, and stays so.
            Some(outlook) => {
                let standing = &standings[*at];
                outlook.pursued.contains(at) || owed(standing) && self.extent.runs(standing.key)
            }
            None => !standings[*at].settled,
        };
        let pursued = (0..standings.len()).filter(further).map(|at| standings[at].key);
        let pursued: Vec<_> = pursued.collect();
        if pursued.is_empty() {
            return Ok(Some((End::OutOfReach, found)));
        }
        self.extent = Extent::of(&pursued, plan);
        let (next, trials, steps) = if let Some(outlook) = outlook {
            self.lengths = outlook.lengths;
            (outlook.text, 0, 0)
        } else {
            if done == plan.blocks {
                self.hopeless(standings);
            }
            self.ahead()
        };
        let (decided, Tally { all, open, unjudged, .. }) = (tally.decided(), tally);
        let look = Look { blocks: done, decided, all, open, unjudged, next, trials, steps };
        conditions.tell(Event::Look(look));
        Ok(None)
    }

    /// Goes on with longer slices where those so far turned out to be too short, if as many blocks
    /// as a verdict needs have time. Returns the sequences and places of these steps.
    fn lengthen(
        &self,
        standings: &[Standing],
        left: Option<Duration>,
    ) -> Vec<(SequenceKey, usize)> {
        let conditions = self.execution.conditions;
        let Some(course) = &self.course else { return Vec::new() };
        let mut chosen = conditions.longer_slices.borrow_mut();
        let lengths = conditions.lengths.borrow();
        let servers = self.plan.variants.len() as f64;
        let mut block = course.expected(&lengths, &self.extent).unwrap_or_default();
        let mut places = Vec::new();
        for longer in too_short(standings, &self.extent, self.plan, &chosen) {
            // A timed step lasts for enough rounds of them.
            let more = lengths.get(&longer.place).map(|now| (seconds_of(longer.ms) - now).max(0.0));
            let with = block + Duration::from_secs_f64(servers * more.unwrap_or_default());
            if left.is_some_and(|left| with * ENOUGH_BLOCKS as u32 > left) {
                continue;
            }
            block = with;
            conditions.tell(Event::Note(format!("  {}", longer.why)));
            chosen.insert(longer.step, longer.ms);
            places.push(longer.place);
        }
        places
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
    /// point has already done so. Then reports which budget would decide the rest.
    fn end(&self, end: End, found: &Standings) -> Result<(), Error> {
        let conditions = self.execution.conditions;
        if conditions.options.spends_budget {
            // What all runs together decide is not known here.
            return Ok(());
        }
        let warning = end.warning(&found.tally(), self.done);
        conditions.tell(Event::Note(warning.text.clone()));
        conditions.warn_once(&warning)?;
        if let Some(budget) = self.enough(&found.open_to_change)? {
            conditions.tell(Event::Enough { budget, decides: !self.is_early() });
        }
        Ok(())
    }

    /// True as long as there are fewer blocks than a verdict needs: what more of them would decide
    /// is not known yet.
    fn is_early(&self) -> bool {
        self.done < ENOUGH_BLOCKS as u32
    }

    /// The budget with which the same plan would probably decide what is open, or, early on, has
    /// room for the blocks that a verdict needs; `None` if it has no budget, nothing is open, or no
    /// budget of a day would do.
    fn enough(&self, standings: &[Standing]) -> Result<Option<Duration>, Error> {
        let Some(budget) = self.plan.budget else { return Ok(None) };
        let mut open = standings.iter().filter(|standing| !standing.settled).peekable();
        if open.peek().is_none() {
            return Ok(None);
        }
        let Conditions { store, experiment, .. } = self.execution.conditions;
        let used = report::time_used(&store.trials(experiment.id)?, self.done);
        let done = self.done;
        let enough = if let Some(course) = &self.course {
            let whole = Extent::whole(self.plan);
            match self.is_early() {
                true => course
                    .shortest(&whole)
                    .map(|block| Room { budget, done, used, block }.enough(self.plan)),
                false => {
                    let further = course.outlook(standings, &whole, done, None, true).enough;
                    further.map(|further| used + further)
                }
            }
        } else {
            let further = open.filter_map(|standing| standing.comparison.further_blocks).max();
            let further = further.filter(|_| !self.is_early());
            let blocks = done.saturating_add(further.unwrap_or(0)).max(ENOUGH_BLOCKS as u32);
            let whole = Extent::whole(self.plan).stints(&self.plan.block(experiment.seed, 1));
            let block = expected(store, experiment.id, self.plan, &whole)?;
            let room = |block| Room { budget, done, used, block }.until(blocks);
            block.filter(|_| (done + 1..=self.plan.block_limit()).contains(&blocks)).map(room)
        };
        Ok(enough.map(|enough| round_up(enough.max(budget.mul_f64(MORE)))))
    }
}

/// A message that the budget of a run that designs itself has no room for as many restarts as a
/// verdict takes, even with the shortest steps.
fn lacking(
    plan: &Plan,
    course: &Course,
    extent: &Extent,
    done: u32,
    used: Duration,
) -> Option<String> {
    let (budget, block) = plan.budget.zip(course.shortest(extent))?;
    Room { budget, done, used, block }.lacking(plan)
}

/// The prospects of a run that designs itself, as far as its first restart shows: how much restarts
/// differ is not known yet, so neither is the budget that steps out of reach would take.
fn prospects(standings: &[Standing], outlook: &Outlook) -> String {
    let mut open: Vec<String> = Vec::new();
    for (at, standing) in standings.iter().enumerate() {
        if !outlook.reachable.contains(&at) && !open.contains(&standing.step) {
            open.push(standing.step.clone());
        }
    }
    if open.is_empty() {
        return outlook.text.clone();
    }
    format!(
        "{}; small differences in {} probably take a larger budget; how large is known after \
         {ENOUGH_BLOCKS} blocks",
        outlook.text,
        list(&open)
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A first restart of 10 s, in which qr100 had 2 s on each server and scatters by `sd`.
    fn first_restart(budget: &str, sd: f64) -> String {
        let text = format!(
            "budget = '{budget}'\n[variants.a]\ndbms = 'postgres@13.7'\n\
             [variants.b]\ndbms = 'postgres@14.3'\n[workload.insert]\nsteps = ['qr100']\n"
        );
        let plan = Plan::parse(&text, None, "test").unwrap();
        let (mut course, lengths) = Course::of(&plan, ENOUGH_BLOCKS).unwrap();
        let (extent, used) = (Extent::whole(&plan), Duration::from_secs(10));
        course.ran(used, &lengths, &extent);
        let (within, margin) = (sd * sd, judge::Margin::of(plan.margin));
        let restart = judge::RestartRatio::even(0.0, within, 10);
        let standing = Standing {
            key: (1, plan.workload.sequences()[0].key, 2),
            variant: "b".to_owned(),
            step: "qr100".to_owned(),
            comparison: judge::compare_slices(&[restart], margin, 0.975).unwrap(),
            scatter: Some(report::Scatter {
                restarts: 1,
                all: 0.0,
                within,
                seconds: 2.0,
                slice_ms: vec![50.0],
            }),
            settled: false,
        };
        let left = plan.budget.map(|budget| budget.saturating_sub(used));
        let standings = [standing];
        let outlook = course.outlook(&standings, &extent, 1, left, false);
        lacking(&plan, &course, &extent, 1, used).unwrap_or_else(|| prospects(&standings, &outlook))
    }

    #[test]
    fn the_first_restart_tells_what_the_budget_can_decide() {
        let quiet = first_restart("2m", 0.001);
        assert!(quiet.contains("; probably detects differences of "), "{quiet}");
        assert!(!quiet.contains("larger budget"), "{quiet}");
        for sd in [0.2, 2.0] {
            let noisy = first_restart("2m", sd);
            let unknown = "; small differences in qr100 probably take a larger budget; how large \
                           is known after 6 blocks";
            assert!(noisy.ends_with(unknown), "{noisy}");
        }
        let short = first_restart("30s", 0.2);
        assert!(short.contains(", but a verdict needs 6: qr100 will"), "{short}");
        assert!(!short.contains("detects"), "{short}");
    }
}
