//! The state of each comparison after a number of blocks, judged as in `compare`.

use judge::{Comparison, Verdict, decided};
use plan::{Plan, Sequence};
use report::{Results, Scatter};

use crate::error::Error;

/// A comparison of a variant with the base in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Place of the variant in the plan, key of the sequence, place of the step in it.
    pub key: (usize, u32, usize),
    /// The variant.
    pub variant: String,
    /// The step; with its number of clients where it runs with several.
    pub step: String,
    /// What is known of it.
    pub comparison: Comparison,
    /// Its spread, if it ran in slices.
    pub scatter: Option<Scatter>,
    /// Whether further blocks would change nothing.
    pub settled: bool,
}

impl Standing {
    /// For people: `pg14.3 l.i1 ±3.1%`.
    pub fn text(&self) -> String {
        let half = self.comparison.half_width().map_or(String::new(), |half| {
            // A long interval is no more readable with decimals.
            let percent = 100.0 * half;
            let digits = usize::from(percent < 10.0);
            format!(" ±{percent:.digits$}%")
        });
        format!("{} {}{half}", self.variant, self.step)
    }
}

/// Judges all comparisons that further blocks could change, by the plan's base and margin.
pub fn standings(results: &Results, plan: &Plan) -> Result<Vec<Standing>, Error> {
    let judged = report::judge_results(results, None, None)?;
    let sequences = plan.workload.sequences();
    // Twins are there to show the noise; they are what is compared where there is nothing else.
    let base = plan.base_index();
    let only_twins =
        plan.variants.iter().enumerate().all(|(v, it)| v == base || it.twin_of.is_some());
    let mut found = Vec::new();
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
            let twin = of_twin();
            let comparison = judged.of(row, column).or(twin.map(|twin| &twin.comparison));
            let Some(comparison) = comparison else { continue };
            let other = twin.map_or(judged.base, |twin| twin.original);
            let sides = result.variant(other).zip(result.variant(column));
            found.push(Standing {
                key: (place, sequence.key, step),
                variant: variant.name.clone(),
                step: results.step_label(result),
                settled: settled(comparison, plan),
                scatter: sides.and_then(|(base, variant)| report::scatter(base, variant)),
                comparison: comparison.clone(),
            });
        }
    }
    Ok(found)
}

/// Whether further blocks would be useless. Equivalence counts only within the requested margin: if
/// twins raise the margin, more blocks bring it down again.
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

#[cfg(test)]
mod tests {
    use report::Which;
    use store::{Experiment, NewExperiment, NewTrial, NewVariant, Purpose, StepRecord, Store};

    use super::*;

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

    /// All comparisons over the first three blocks.
    fn judged(store: &Store, experiment: &Experiment, plan: &Plan) -> Vec<Standing> {
        let mut results = report::load(store, Which::Id(experiment.id)).unwrap();
        results.keep_blocks(3);
        standings(&results, plan).unwrap()
    }

    fn open(store: &Store, experiment: &Experiment, plan: &Plan) -> Vec<Standing> {
        judged(store, experiment, plan).into_iter().filter(|standing| !standing.settled).collect()
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
        let open = |plan: &Plan| open(&store, &experiment, plan);
        let all = judged(&store, &experiment, &plan);
        assert_eq!(all.len(), 4);
        let [one] = &open(&plan)[..] else { panic!("{all:?}") };
        assert_eq!(one.key, (2, 1, 0));
        assert!(one.text().starts_with("c l.i0 ±"), "{}", one.text());
        // A precision that is reached decides as well as a verdict does.
        let coarse = Plan { precision: Some(0.8), ..plan.clone() };
        assert_eq!(open(&coarse), []);
        let fine = Plan { precision: Some(0.1), ..plan.clone() };
        assert_eq!(open(&fine).len(), 1);
        // What is loaded once has one value, however many blocks there are.
        let loaded = Plan { restore_after: Some("l.i0".to_owned()), ..plan };
        assert_eq!(open(&loaded), []);
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
        let keys = |plan: &Plan, name: &str| {
            let (store, experiment) = stored(&directory.path().join(name), plan, &rates);
            let open = open(&store, &experiment, plan);
            open.iter().map(|open| open.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&both, "both"), [(1, 1, 0), (2, 1, 0)]);
        assert_eq!(keys(&twins(&[1, 2]), "twins"), [(1, 1, 0), (2, 1, 0)]);
        // The noise that the twin shows raises the margin so far that the other is equivalent; that
        // is no reason to stop.
        assert_eq!(keys(&twins(&[1]), "one"), [(2, 1, 0)]);
    }
}
