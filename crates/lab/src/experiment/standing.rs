//! The state of each comparison after a number of blocks, judged as in `compare`.

use judge::{Comparison, Verdict, decided};
use plan::{Plan, SequenceKey};
use report::{Outcome, Results, Scatter, Unjudged};

use crate::error::Error;

/// Maximum number of comparisons or steps to name; the rest are only counted.
const NAMED: usize = 8;

/// A comparison of a variant with the base in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Place of the variant in the plan, key of the sequence, place of the step in it.
    pub key: (usize, SequenceKey, usize),
    /// The variant.
    pub variant: String,
    /// The step; with its number of clients where it runs with several.
    pub step: String,
    /// The comparison itself.
    pub comparison: Comparison,
    /// Its spread, if it ran in slices.
    pub scatter: Option<Scatter>,
    /// True if further blocks would change nothing.
    pub settled: bool,
}

impl Standing {
    /// For people: `pg14.3 l.i1 ±3.1%`.
    pub fn text(&self) -> String {
        let half = self.comparison.half_width();
        let half = half.map_or(String::new(), |half| format!(" {}", report::half_width(half)));
        format!("{} {}{half}", self.variant, self.step)
    }
}

/// The state of all comparisons.
#[derive(Debug, Default)]
pub struct Standings {
    /// Those that further blocks can change.
    pub open_to_change: Vec<Standing>,
    /// How many have a verdict without an interval: the variant did nothing while the base worked.
    pub certain: usize,
    /// Those that can't be judged, with the reason, for people. Further blocks can't help, because
    /// the blocks that prevent a verdict remain.
    pub unjudged: Vec<String>,
}

impl Standings {
    /// Summarizes the standings for people.
    pub fn tally(&self) -> Tally {
        let open = self.open_to_change.iter().filter(|standing| !standing.settled);
        let narrow = |standing: &&Standing| {
            standing.settled && standing.comparison.verdict == Verdict::Inconclusive
        };
        Tally {
            narrow: self.open_to_change.iter().filter(narrow).count(),
            all: self.open_to_change.len() + self.certain + self.unjudged.len(),
            open: open.map(Standing::text).collect(),
            unjudged: self.unjudged.clone(),
        }
    }

    fn without_interval(&mut self, variant: &str, step: &str, found: &Unjudged) {
        match found.verdict {
            // There is nothing to compare.
            None => {}
            Some(Verdict::Inconclusive) => {
                self.unjudged.push(format!("{variant} {step} ({})", found.reason));
            }
            Some(_) => self.certain += 1,
        }
    }
}

/// How far the comparisons are, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there are.
    pub all: usize,
    /// How many have an interval as narrow as asked, and no verdict.
    pub narrow: usize,
    /// Those that are undecided, such as `pg14.3 l.i1 ±3.1%`.
    pub open: Vec<String>,
    /// Those that can't be judged, such as `pg14.3 l.i1 (pg14.3 did nothing in …)`.
    pub unjudged: Vec<String>,
}

impl Tally {
    /// How many are decided.
    pub fn decided(&self) -> usize {
        self.all - self.open.len() - self.unjudged.len()
    }
}

/// The first of some names, and how many more there are.
pub fn list(all: &[String]) -> String {
    let mut names: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
    let more = format!("{} more", all.len().saturating_sub(NAMED));
    if all.len() > NAMED {
        names.push(&more);
    }
    names.join(", ")
}

/// Judges all comparisons by the plan's base and margin.
pub fn standings(results: &Results, plan: &Plan) -> Result<Standings, Error> {
    let judged = report::judge_results(results, None, None)?;
    let sequences = plan.workload.sequences();
    // Twins are there to show the noise; they are what is compared where there is nothing else.
    let base = plan.base_index();
    let only_twins =
        plan.variants.iter().enumerate().all(|(v, it)| v == base || it.twin_of.is_some());
    let mut found = Standings::default();
    for (row, result) in results.steps.iter().enumerate() {
        let Some((sequence, step)) =
            sequences.iter().find_map(|it| Some((it, it.place(&result.key)?)))
        else {
            continue;
        };
        if plan.only_prepares(sequence, step) {
            continue;
        }
        for (place, variant) in plan.variants.iter().enumerate() {
            let Some(column) = results.variant_named(&variant.name) else { continue };
            let of_twin = || {
                let mut twins = judged.twins.iter().filter(|_| only_twins);
                twins.find(|twin| (twin.step, twin.twin) == (row, column))
            };
            let twin = of_twin();
            let label = results.step_label(result);
            let outcome = judged.steps.get(row).and_then(|variants| variants.get(column));
            let comparison = match (outcome, twin) {
                (Some(Outcome::Compared(comparison)), _) => comparison,
                (Some(Outcome::Unjudged(unjudged)), _) => {
                    found.without_interval(&variant.name, &label, unjudged);
                    continue;
                }
                (_, Some(twin)) => &twin.comparison,
                (_, None) => {
                    if let Some(original) = variant.twin_of.as_ref().filter(|_| only_twins)
                        && !result.warm_up
                    {
                        let text =
                            format!("{} {label} (can't be compared with {original})", variant.name);
                        found.unjudged.push(text);
                    }
                    continue;
                }
            };
            let other = twin.map_or(judged.base, |twin| twin.original);
            let sides = result.variant(other).zip(result.variant(column));
            found.open_to_change.push(Standing {
                key: (place, sequence.key, step),
                variant: variant.name.clone(),
                step: label,
                settled: decided(comparison, plan.precision),
                scatter: sides
                    .and_then(|(base, variant)| report::scatter(base, variant, Some(comparison))),
                comparison: comparison.clone(),
            });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use report::Which;
    use store::{Experiment, NewExperiment, NewTrial, NewVariant, Purpose, StepRecord, Store};

    use super::*;

    /// An experiment with these rates of `a` (the base), `b` and `c` in the first step, and of `a`
    /// in the second, which is the same for all.
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
                    let mut record = StepRecord::new(ordinal, &step.key.name, 1);
                    record.add("o/s", rate);
                    store.record_step(trial, &record).unwrap();
                }
                store.finish_trial(trial).unwrap();
            }
        }
        let experiment = store.experiment(id).unwrap();
        (store, experiment)
    }

    /// All comparisons over the first six blocks.
    fn judged(store: &Store, experiment: &Experiment, plan: &Plan) -> Vec<Standing> {
        let mut results = report::load(store, Which::Id(experiment.id)).unwrap();
        results.keep_blocks(6);
        standings(&results, plan).unwrap().open_to_change
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
        let plan = three_variants("blocks = 6\nmax_blocks = 9");
        // b is slower for sure, c may be anything; a later block would make it clear.
        let first = [[100.0, 50.0, 90.0], [101.0, 50.2, 110.0], [99.0, 49.7, 100.0]].repeat(2);
        let rates = [first, vec![[100.0, 50.0, 1e9]]].concat();
        let (store, experiment) = stored(directory.path(), &plan, &rates);
        let open = |plan: &Plan| open(&store, &experiment, plan);
        let all = judged(&store, &experiment, &plan);
        assert_eq!(all.len(), 4);
        let [one] = &open(&plan)[..] else { panic!("{all:?}") };
        assert_eq!(one.key, (2, SequenceKey::ONLY, 0));
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
    fn what_cannot_be_judged_is_counted_apart() {
        let plan = three_variants("blocks = 6\nmax_blocks = 9");
        let tally = |rates: &[[f64; 3]]| {
            let directory = tempfile::tempdir().unwrap();
            let (store, experiment) = stored(directory.path(), &plan, rates);
            let results = report::load(&store, Which::Id(experiment.id)).unwrap();
            standings(&results, &plan).unwrap().tally()
        };
        // l.x is the same for all, and decided. b is slower for sure; c did nothing once.
        let mut rates = [[100.0, 50.0, 90.0], [101.0, 50.2, 95.0], [99.0, 49.7, 100.0]].repeat(2);
        rates[1][2] = 0.0;
        let once = tally(&rates);
        assert_eq!((once.all, once.decided(), &once.open[..]), (4, 3, &[][..]));
        assert_eq!(once.unjudged, ["c l.i0 (c did nothing in 1 of 6 blocks (2), but a did)"]);
        // However clear, three blocks decide nothing.
        let few = tally(&[[100.0, 50.0, 90.0], [101.0, 50.2, 95.0], [99.0, 49.7, 100.0]]);
        assert_eq!((few.all, few.decided(), few.open.len()), (4, 0, 4), "{few:?}");
        // A variant that never did anything is slower for sure: that is a decision.
        rates.iter_mut().for_each(|rates| rates[2] = 0.0);
        let never = tally(&rates);
        assert_eq!((never.all, never.decided(), &never.unjudged[..]), (4, 4, &[][..]));
        // Before the first block.
        let none = tally(&[]);
        assert_eq!((none.all, none.decided(), none.unjudged.len()), (4, 0, 4), "{none:?}");
    }

    #[test]
    fn twins_are_decided_where_there_is_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let both = three_variants("blocks = 6\nmax_blocks = 9");
        let twins = |twins: &[usize]| {
            let mut plan = both.clone();
            twins.iter().for_each(|v| plan.variants[*v].twin_of = Some("a".to_owned()));
            plan.text = plan.to_toml();
            plan
        };
        let rates = [[100.0, 90.0, 90.0], [101.0, 111.0, 110.0], [99.0, 100.0, 100.0]].repeat(2);
        let keys = |plan: &Plan, name: &str| {
            let (store, experiment) = stored(&directory.path().join(name), plan, &rates);
            let open = open(&store, &experiment, plan);
            open.iter().map(|open| open.key).collect::<Vec<_>>()
        };
        let only = SequenceKey::ONLY;
        assert_eq!(keys(&both, "both"), [(1, only, 0), (2, only, 0)]);
        assert_eq!(keys(&twins(&[1, 2]), "twins"), [(1, only, 0), (2, only, 0)]);
        // The difference between identical variants decides nothing.
        assert_eq!(keys(&twins(&[1]), "one"), [(2, only, 0)]);
    }

    #[test]
    fn many_are_counted() {
        let names = |count: usize| (0..count).map(|n| format!("s{n}")).collect::<Vec<_>>();
        assert_eq!(list(&names(8)), "s0, s1, s2, s3, s4, s5, s6, s7");
        assert!(list(&names(11)).ends_with("s7, 3 more"));
    }
}
