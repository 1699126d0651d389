//! Going through the blocks of a plan, and adding blocks for what is undecided.

use std::time::Duration;

use judge::{Comparison, Verdict, decided};
use plan::{Plan, Sequence, format_duration};
use report::Which;
use store::{Experiment, Store, Warning};

use crate::error::Error;
use crate::event::Event;
use crate::experiment::blocks::{Execution, Stint};
use crate::experiment::budget::{Clock, expected};
use crate::experiment::extent::Extent;
use crate::trial::conditions::Conditions;

/// So many undecided comparisons are named; of more only the number is told.
const NAMED: usize = 8;

/// Goes through the blocks of the plan. An adaptive run looks at its results after planned numbers
/// of blocks, and ends when all comparisons are decided, its limit is reached, or its time is over.
///
/// What a look says follows from the stored blocks up to it alone, so that a resumed run comes to
/// the same.
pub fn conduct(execution: &mut Execution<'_, '_>) -> Result<(), Error> {
    let conditions = execution.conditions;
    let (plan, store, experiment) = (conditions.plan(), conditions.store, conditions.experiment);
    let clock = Clock::start(store, experiment.id)?;
    let sequences = plan.workload.sequences();
    let measured = |sequence: &Sequence| sequence.steps.len() - plan.loaded_steps(sequence);
    let mut extent = Extent::whole(plan);
    conditions.tell(Event::Began {
        name: experiment.name.clone(),
        trials: extent.stints(&plan.block(experiment.seed, 1)).len() * plan.blocks as usize,
        finished: execution.finished(plan.blocks),
        steps: sequences.iter().map(measured).max().unwrap_or(0),
    });
    let looks = plan.looks();
    let mut done = 0;
    for (place, look) in looks.iter().enumerate() {
        for number in done + 1..=*look {
            let stints = extent.stints(&plan.block(experiment.seed, number));
            if let Some(time) = out_of_time(execution, &clock, &stints)? {
                let open = undecided(store, experiment, plan, done)?.open;
                return end(conditions, End::Budget { time, open }, done);
            }
            execution.block(&stints)?;
            done = number;
        }
        if !plan.is_adaptive() {
            return Ok(());
        }
        let found = undecided(store, experiment, plan, done)?;
        if found.open.is_empty() {
            return end(conditions, End::Decided, done);
        }
        let Some(next) = looks.get(place + 1) else {
            return end(conditions, End::Limit { open: found.open }, done);
        };
        let keys: Vec<_> = found.open.iter().map(|open| open.key).collect();
        extent = Extent::of(&keys, plan);
        let more = next - done;
        let ahead: Vec<Stint> = (done + 1..=*next)
            .flat_map(|number| extent.stints(&plan.block(experiment.seed, number)))
            .collect();
        let missing = ahead.iter().filter(|stint| !execution.is_finished(&stint.trial));
        conditions.tell(Event::Look {
            blocks: done,
            decided: found.decided,
            open: found.open.iter().map(|open| open.text.clone()).collect(),
            next: goes_on(plan, &extent, more),
            trials: ahead.len(),
            steps: missing.map(|stint| measured_in(plan, &sequences, stint)).sum(),
        });
    }
    Ok(())
}

/// How many steps a trial measures beyond the load.
fn measured_in(plan: &Plan, sequences: &[Sequence], stint: &Stint) -> usize {
    let sequence = sequences.iter().find(|sequence| sequence.key == stint.trial.sequence);
    stint.steps.saturating_sub(sequence.map_or(0, |sequence| plan.loaded_steps(sequence)))
}

/// A comparison that is not decided yet.
#[derive(Debug, Clone, PartialEq)]
struct Open {
    /// Place of the variant in the plan, key of the sequence, place of the step in it.
    key: (usize, u32, usize),
    /// For people: `pg14.3 l.i1 ±3.1%`.
    text: String,
}

/// What a look has found.
struct Found {
    /// Number of comparisons that are decided.
    decided: usize,
    open: Vec<Open>,
}

/// Judges the first `blocks` blocks as `compare` would, by the plan's base and margin.
fn undecided(
    store: &Store,
    experiment: &Experiment,
    plan: &Plan,
    blocks: u32,
) -> Result<Found, Error> {
    let mut results = report::load(store, Which::Id(experiment.id))?;
    results.keep_blocks(blocks);
    let judged = report::judge_results(&results, None, None)?;
    let sequences = plan.workload.sequences();
    let mut dops: Vec<u32> = sequences.iter().flat_map(|s| &s.steps).map(|step| step.dop).collect();
    dops.sort_unstable();
    dops.dedup();
    let several_dops = dops.len() > 1;
    // Twins are there to show the noise; they are what is compared where there is nothing else.
    let base = plan.base_index();
    let only_twins =
        plan.variants.iter().enumerate().all(|(v, it)| v == base || it.twin_of.is_some());
    let mut found = Found { decided: 0, open: Vec::new() };
    for (row, result) in results.steps.iter().enumerate() {
        let place = |sequence: &Sequence| {
            sequence.place(&result.key.name, result.key.dop, &result.key.labels)
        };
        let Some((sequence, step)) = sequences.iter().find_map(|s| Some((s, place(s)?))) else {
            continue;
        };
        // What is loaded once for all trials has one value, which no further block changes.
        if step < plan.loaded_steps(sequence) {
            continue;
        }
        for (place, variant) in plan.variants.iter().enumerate() {
            // Where nothing can be compared, further blocks would not change that.
            let Some(column) = results.variant_named(&variant.name) else { continue };
            let of_twin = || {
                let mut twins = judged.twins.iter().filter(|_| only_twins);
                twins.find(|twin| (twin.step, twin.twin) == (row, column))
            };
            let comparison =
                judged.of(row, column).or_else(|| of_twin().map(|twin| &twin.comparison));
            let Some(comparison) = comparison else { continue };
            if settled(comparison, plan) {
                found.decided += 1;
                continue;
            }
            let dop = if several_dops { format!(" dop {}", result.key.dop) } else { String::new() };
            let half = comparison.half_width().map_or(String::new(), |half| {
                // A long interval is no more readable with decimals.
                let percent = 100.0 * half;
                let digits = usize::from(percent < 10.0);
                format!(" ±{percent:.digits$}%")
            });
            found.open.push(Open {
                key: (place, sequence.key, step),
                text: format!("{} {}{dop}{half}", variant.name, result.key.name),
            });
        }
    }
    Ok(found)
}

/// Whether further blocks would be in vain. Equivalence counts within the margin that was asked for
/// only: where twins raise it, more blocks are what brings it down again.
fn settled(comparison: &Comparison, plan: &Plan) -> bool {
    let exact = |wanted: f64| comparison.half_width().is_some_and(|half| half <= wanted);
    let inside = || {
        let edges = comparison.low.zip(comparison.high);
        edges.is_some_and(|(low, high)| low >= 1.0 - plan.margin && high <= 1.0 + plan.margin)
    };
    decided(comparison, plan.precision)
        && (comparison.verdict != Verdict::Equivalent
            || plan.precision.is_some_and(exact)
            || inside())
}

/// Why the run must not begin this block: the time that it has used, and that the block would take.
/// `None` when it may.
fn out_of_time(
    execution: &Execution<'_, '_>,
    clock: &Clock,
    stints: &[Stint],
) -> Result<Option<Time>, Error> {
    let Conditions { store, experiment, .. } = execution.conditions;
    let plan = execution.conditions.plan();
    let Some(budget) = plan.budget else { return Ok(None) };
    let missing: Vec<Stint> =
        stints.iter().filter(|stint| !execution.is_finished(&stint.trial)).copied().collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let next = expected(store, experiment.id, plan, &missing)?;
    let used = clock.used();
    let over = used + next.unwrap_or_default() > budget;
    Ok(over.then_some(Time { used, next, budget }))
}

/// Where a budget has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Time {
    used: Duration,
    next: Option<Duration>,
    budget: Duration,
}

/// Why an adaptive run has ended.
#[derive(Debug, Clone, PartialEq)]
enum End {
    Decided,
    Limit { open: Vec<Open> },
    Budget { time: Time, open: Vec<Open> },
}

impl End {
    /// What is stored and shown of it.
    fn warning(&self, blocks: u32) -> Warning {
        let blocks = if blocks == 1 { "1 block".to_owned() } else { format!("{blocks} blocks") };
        let (code, text) = match self {
            End::Decided => ("all-decided", format!("every comparison was decided after {blocks}")),
            End::Limit { open } => (
                "block-limit",
                format!(
                    "the run ended at its limit of {blocks} with undecided comparisons: {}",
                    list(open)
                ),
            ),
            End::Budget { time, open } => {
                let next = time.next.map_or(String::new(), |next| {
                    format!(", and the next block would have taken about {}", rounded(next))
                });
                let open = if open.is_empty() {
                    "nothing was undecided".to_owned()
                } else {
                    format!("undecided: {}", list(open))
                };
                let used = rounded(time.used.min(time.budget));
                let budget = format_duration(time.budget);
                let text = format!(
                    "the run ended after {blocks}: of its budget of {budget} it had used {used}{next}; {open}"
                );
                ("budget-spent", text)
            }
        };
        Warning::new(code, text)
    }
}

/// Tells why the run has ended, and keeps it with the results; a run that was killed just here has
/// it already.
fn end(conditions: &Conditions<'_>, end: End, blocks: u32) -> Result<(), Error> {
    let warning = end.warning(blocks);
    conditions.tell(Event::Note(warning.text.clone()));
    Ok(conditions.warn_once(&warning)?)
}

fn list(open: &[Open]) -> String {
    let mut names: Vec<&str> = open.iter().take(NAMED).map(|open| open.text.as_str()).collect();
    let more = format!("{} more", open.len().saturating_sub(NAMED));
    if open.len() > NAMED {
        names.push(&more);
    }
    names.join(", ")
}

/// What the blocks until the next look are.
fn goes_on(plan: &Plan, extent: &Extent, blocks: u32) -> String {
    let many =
        if blocks == 1 { "1 more block".to_owned() } else { format!("{blocks} more blocks") };
    let mut text = format!("{many} of {}", extent.variants(plan).join(", "));
    let some = extent.sequences();
    if some.len() < plan.workload.sequences().len() {
        let keys: Vec<String> = some.iter().map(u32::to_string).collect();
        text.push_str(&format!(" at dop {}", keys.join(", ")));
    }
    if let Some(step) = extent.last_step(plan) {
        text.push_str(&format!(", up to {step}"));
    }
    text
}

/// A time as people say it: seconds only where they matter.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let step = if seconds < 600.0 { 1.0 } else { 60.0 };
    format_duration(Duration::from_secs_f64((seconds / step).round() * step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{NewExperiment, NewTrial, NewVariant, Purpose, StepRecord};

    fn open(count: usize) -> Vec<Open> {
        (0..count).map(|n| Open { key: (1, 1, n), text: format!("b s{n} ±1.0%") }).collect()
    }

    #[test]
    fn the_end_is_told_with_its_reason() {
        let told = |end: End| end.warning(9).text;
        assert_eq!(told(End::Decided), "every comparison was decided after 9 blocks");
        assert_eq!(
            told(End::Limit { open: open(2) }),
            "the run ended at its limit of 9 blocks with undecided comparisons: b s0 ±1.0%, b s1 ±1.0%"
        );
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let time = Time { used: minutes(115), next: Some(minutes(12)), budget: minutes(120) };
        assert_eq!(
            told(End::Budget { time, open: open(1) }),
            "the run ended after 9 blocks: of its budget of 2h it had used 1h55m, and the next block would have \
             taken about 12m; undecided: b s0 ±1.0%"
        );
        let over = Time { used: minutes(125), next: None, budget: minutes(120) };
        assert_eq!(
            told(End::Budget { time: over, open: vec![] }),
            "the run ended after 9 blocks: of its budget of 2h it had used 2h; nothing was undecided"
        );
    }

    /// An experiment of two blocks and more with these rates of `a` (the base), `b` and `c` in the
    /// first step, and of `a` in the second, which is the same for all.
    fn stored(directory: &std::path::Path, plan: &Plan, rates: &[[f64; 3]]) -> (Store, Experiment) {
        let store = Store::open(directory).unwrap();
        let id = store
            .begin_experiment(&NewExperiment {
                purpose: Purpose::Run,
                name: plan.name.clone(),
                workload: "insert".to_owned(),
                base: plan.base.clone(),
                seed: 1,
                blocks: plan.blocks,
                margin: plan.margin,
                plan: plan.text.clone(),
                steelyard: "test".to_owned(),
                created_ms: 0,
            })
            .unwrap();
        let variants: Vec<_> = plan
            .variants
            .iter()
            .map(|variant| {
                let new = NewVariant {
                    name: variant.name.clone(),
                    dbms: variant.dbms.clone(),
                    source: String::new(),
                    version: "14.3".to_owned(),
                    build: Default::default(),
                    config: Default::default(),
                };
                store.add_variant(id, &new).unwrap()
            })
            .collect();
        for (block, rates) in (1..).zip(rates) {
            for (position, (variant, rate)) in (1..).zip(variants.iter().zip(rates)) {
                let (variant, sequence, started_ms) = (*variant, 1, 0);
                let new =
                    NewTrial { experiment: id, variant, block, position, sequence, started_ms };
                let trial = store.begin_trial(&new).unwrap();
                for (ordinal, (step, rate)) in
                    (0..).zip(plan.workload.sequences()[0].steps.iter().zip([*rate, 5.0]))
                {
                    let mut record = StepRecord::new(ordinal, &step.name, 1);
                    record.add("o/s", rate);
                    store.record_step(trial, &record).unwrap();
                }
                store.finish_trial(trial).unwrap();
            }
        }
        let experiment = store.experiment(id).unwrap();
        (store, experiment)
    }

    fn three_variants(whole: &str) -> Plan {
        let variants =
            ["a", "b", "c"].map(|v| format!("[variants.{v}]\ndbms = \"postgres@14.3\"\n"));
        let text = format!(
            "{whole}\n{}[workload.insert]\nsteps = [\"l.i0\", \"l.x\"]\n",
            variants.concat()
        );
        Plan::parse(&text, None, "test").unwrap()
    }

    #[test]
    fn what_is_wide_is_undecided() {
        let directory = tempfile::tempdir().unwrap();
        let plan = three_variants("blocks = 3\nmax_blocks = 6");
        // b is slower for sure, c may be anything; a later block would make it clear.
        let rates =
            [[100.0, 50.0, 90.0], [101.0, 50.2, 110.0], [99.0, 49.7, 100.0], [100.0, 50.0, 1e9]];
        let (store, experiment) = stored(directory.path(), &plan, &rates);
        let found = undecided(&store, &experiment, &plan, 3).unwrap();
        assert_eq!((found.decided, found.open.len()), (3, 1), "{:?}", found.open);
        assert_eq!(found.open[0].key, (2, 1, 0));
        assert!(found.open[0].text.starts_with("c l.i0 ±"), "{}", found.open[0].text);
        // A precision that is reached decides as well as a verdict does.
        let coarse = Plan { precision: Some(0.8), ..plan.clone() };
        assert_eq!(undecided(&store, &experiment, &coarse, 3).unwrap().open, []);
        let fine = Plan { precision: Some(0.1), ..plan.clone() };
        assert_eq!(undecided(&store, &experiment, &fine, 3).unwrap().open, found.open);
        // What is loaded once has one value, however many blocks there are.
        let loaded = Plan { restore_after: Some("l.i0".to_owned()), ..plan };
        assert_eq!(undecided(&store, &experiment, &loaded, 3).unwrap().open, []);
    }

    #[test]
    fn twins_are_decided_where_there_is_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let both = three_variants("blocks = 3\nmax_blocks = 6");
        let twins = |twins: &[usize]| {
            let mut plan = both.clone();
            twins.iter().for_each(|v| plan.variants[*v].twin_of = Some("a".to_owned()));
            plan.text = plan.to_toml();
            plan
        };
        let rates = [[100.0, 90.0, 90.0], [101.0, 111.0, 110.0], [99.0, 100.0, 100.0]];
        let open = |plan: &Plan, name: &str| {
            let (store, experiment) = stored(&directory.path().join(name), plan, &rates);
            let open = undecided(&store, &experiment, plan, 3).unwrap().open;
            open.iter().map(|open| open.key).collect::<Vec<_>>()
        };
        assert_eq!(open(&both, "both"), [(1, 1, 0), (2, 1, 0)]);
        assert_eq!(open(&twins(&[1, 2]), "twins"), [(1, 1, 0), (2, 1, 0)]);
        // The noise that the twin shows raises the margin so far that the other is equivalent; that
        // is no reason to stop.
        assert_eq!(open(&twins(&[1]), "one"), [(2, 1, 0)]);
    }

    #[test]
    fn many_are_counted() {
        assert_eq!(list(&open(8)).matches("b s").count(), 8);
        assert!(list(&open(11)).ends_with("b s7 ±1.0%, 3 more"));
    }

    #[test]
    fn times_are_rounded() {
        assert_eq!(rounded(Duration::from_millis(59_600)), "1m");
        assert_eq!(rounded(Duration::from_secs(7_199)), "2h");
        assert_eq!(rounded(Duration::from_millis(90)), "0s");
    }
}
