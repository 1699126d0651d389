//! Variants of other experiments beside those of one.
//!
//! Blocks pair trials that ran shortly after one another, in random order. Trials of two
//! experiments were not interleaved like that, so a difference between them may be the machine's,
//! whatever its interval. They are shown beside each other, without a verdict. Where a step was
//! paired in another way, or came after other steps, its figures are not even related.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Pairing, Plan, Sequence, StepKey};
use store::{ExperimentId, Store, Warning};

use super::chosen::Shape;
use super::experiment::{Which, load};
use super::machine::Machine;
use super::model::{Elsewhere, Noted, Results, Sample, StepResults, VariantResults, VariantStep};
use super::pairing::Way;
use super::trials::before;
use super::wrong::WRONG_RESULT;
use crate::ReportError;
use crate::output::time::rfc3339;

/// Blocks of other experiments are renumbered by this, so that none is paired with one of this.
const APART: u32 = 1_000_000;

/// Adds variants of other experiments of a store to the results of one. `asked` names them:
/// `EXPERIMENT:VARIANT`, or `EXPERIMENT` for all of its variants.
///
/// # Errors
/// If there is no such experiment or variant, or it ran another workload or no step of this one.
pub fn join(store: &Store, results: &mut Results, asked: &[String]) -> Result<(), ReportError> {
    for (number, asked) in (1..).zip(asked) {
        let (experiment, variant) = match asked.split_once(':') {
            Some((experiment, variant)) => (experiment, Some(variant)),
            None => (asked.as_str(), None),
        };
        let other = load(store, Which::Named(experiment))?;
        if other.experiment.id == results.experiment.id {
            return Err(ReportError::SameExperiment(asked.clone()));
        }
        let places = wanted(&other, variant)?;
        check_workload(results, &other)?;
        for place in places {
            add(results, &other, place, number * APART);
        }
    }
    Ok(())
}

/// Places of the variants that are meant.
fn wanted(other: &Results, variant: Option<&str>) -> Result<Vec<usize>, ReportError> {
    let Some(name) = variant else {
        let all = (0..other.variants.len()).filter(|place| other.twin_of(*place).is_none());
        return Ok(all.collect());
    };
    other.variant_named(name).map(|place| vec![place]).ok_or_else(|| ReportError::UnknownVariant {
        asked: name.to_owned(),
        experiment: format!("{} {}", other.experiment.id, other.experiment.name),
        known: other.variants.iter().map(|it| it.variant.name.clone()).collect(),
    })
}

/// How an experiment ran its steps, as far as its plan says it.
pub(crate) struct Ran {
    plan: Option<Plan>,
    sequences: Vec<Sequence>,
}

impl Ran {
    /// That of an experiment.
    pub(crate) fn of(results: &Results) -> Self {
        let plan = Plan::parse(&results.experiment.plan, None, "the stored plan").ok();
        let sequences = plan.as_ref().map(|plan| plan.workload.sequences()).unwrap_or_default();
        Self { plan, sequences }
    }

    fn shape(&self, results: &Results) -> Shape {
        Shape::of(&results.experiment, self.plan.as_ref())
    }

    /// The steps before one, which made its data.
    pub(crate) fn before(&self, key: &StepKey) -> Vec<String> {
        before(&self.sequences, key)
    }

    /// How the trials of a variant in a step shared the machine, in words.
    pub(crate) fn ways(&self, step: &VariantStep) -> BTreeSet<&'static str> {
        let joint = self.plan.as_ref().is_some_and(|plan| plan.pairing != Pairing::Blocks);
        let way = |sample: &Sample| {
            let of = |metric: &str| step.value(sample, metric).unwrap_or(f64::NAN);
            let slice = sample.slices.as_ref().map_or(f64::NAN, |_| of(metrics::SLICE_MS.name));
            match Way::of(slice, of(metrics::SLICE_SWITCH_MS.name)) {
                Way::Whole if joint => "in turns",
                Way::Whole => "in blocks",
                Way::Sliced => "in slices",
                Way::Frozen => "in frozen slices",
            }
        };
        step.samples.iter().map(way).collect()
    }
}

fn check_workload(results: &Results, other: &Results) -> Result<(), ReportError> {
    let [here, there] = [results, other].map(|it| Ran::of(it).shape(it));
    let common = results.steps.iter().any(|step| same_step(other, step).is_some());
    let what = match here == there {
        true if common => return Ok(()),
        true => "no step in common",
        false => "another workload",
    };
    let labels = [there.label(&other.experiment), here.label(&results.experiment)];
    Err(ReportError::OtherWorkload { experiment: other.experiment.id.0, what, labels })
}

/// The same step of another experiment.
fn same_step<'a>(other: &'a Results, step: &StepResults) -> Option<&'a StepResults> {
    let counts = |it: &StepResults| (it.unit.clone(), it.class.clone(), it.better);
    other.steps.iter().find(|it| it.key == step.key && counts(it) == counts(step))
}

/// Adds a variant of another experiment, with what must be known about it.
fn add(results: &mut Results, other: &Results, place: usize, blocks: u32) {
    let Some(VariantResults { variant, settings, .. }) = other.variants.get(place) else { return };
    let experiment = other.experiment.id;
    let mut variant = variant.clone();
    variant.name = format!("{experiment}:{}", variant.name);
    if results.variant_named(&variant.name).is_some() {
        return;
    }
    let (name, new) = (variant.name.clone(), results.variants.len());
    results.variants.push(VariantResults { variant, settings: settings.clone(), twin_of: None });
    let ran = [&*results, other].map(Ran::of);
    let here = results.experiment.id;
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for step in &mut results.steps {
        let found = same_step(other, step).and_then(|it| it.variant(place));
        let mut figures = found.cloned().unwrap_or_default();
        let own = step.variants.iter().find(|it| !it.samples.is_empty());
        let unlike = || unlike(&step.key, &ran, [own?, &figures], [here, experiment]);
        let apart = failed(other, &step.key, place, &figures).or_else(unlike);
        if let Some(why) = &apart {
            told.entry(why.clone()).or_default().push(step.key.label(false));
        }
        for sample in &mut figures.samples {
            sample.block = sample.block.saturating_add(blocks);
        }
        // Answers are compared within an experiment.
        figures.answers.clear();
        figures.elsewhere = Some(Elsewhere { experiment, apart });
        step.variants.push(figures);
    }
    let told = told
        .into_iter()
        .map(|(why, steps)| warning("other-pairing", format!("{}: {why}", steps.join(", "))));
    let warnings = warnings(results, other, &name).into_iter().chain(told);
    let whole = |warning| Noted { step: None, variant: Some(new), block: None, warning };
    let mut noted: Vec<Noted> = warnings.map(whole).collect();
    let own = other.warnings.iter().filter(|noted| noted.variant.is_none_or(|it| it == place));
    noted.extend(own.map(|noted| Noted { variant: Some(new), ..noted.clone() }));
    results.warnings.extend(noted);
}

fn warning(code: &str, text: String) -> Warning {
    Warning { code: code.to_owned(), text }
}

/// What must be known about a variant of another experiment.
fn warnings(results: &Results, other: &Results, name: &str) -> Vec<Warning> {
    let (here, there) = (results.experiment.id, other.experiment.id);
    let began: String = rfc3339(other.experiment.created_ms).chars().take(10).collect();
    let mut found = vec![warning(
        "not-interleaved",
        format!(
            "{name} was measured in experiment {there}, begun {began}, and not between the trials of experiment {here}: \
             a difference may be the machine's, so it has no verdict; to get one, run both in one experiment"
        ),
    )];
    let machines = [results, other].map(|it| Machine::of(&it.host));
    let differences = machines[1].differs_from(&machines[0]);
    let several = !results.machines.is_empty() || !other.machines.is_empty();
    if several || !differences.is_empty() {
        let what = if several { "several machines".to_owned() } else { differences.join(", ") };
        let text = format!("{name} was measured on another machine: {what}");
        found.push(warning("other-machine", text));
    }
    found
}

/// That a query failed, or gave a wrong result, in its own experiment.
fn failed(other: &Results, key: &StepKey, place: usize, figures: &VariantStep) -> Option<String> {
    let wrong = |it: &&Noted| {
        let about = it.variant == Some(place) && it.step.as_ref() == Some(key);
        about && it.warning.code == WRONG_RESULT
    };
    if let Some(found) = other.warnings.iter().find(wrong) {
        return Some(found.warning.text.clone());
    }
    let words = figures.refused.values().next()?;
    Some(format!("it failed in experiment {}: {words}", other.experiment.id))
}

/// Why the figures of a step in two experiments can't be related.
fn unlike(
    key: &StepKey,
    ran: &[Ran; 2],
    figures: [&VariantStep; 2],
    experiments: [ExperimentId; 2],
) -> Option<String> {
    let [here, there] = experiments;
    if figures.iter().any(|it| it.samples.is_empty()) {
        return None;
    }
    let said = |words: &BTreeSet<&str>| words.iter().copied().collect::<Vec<_>>().join(" and ");
    let ways = [ran[0].ways(figures[0]), ran[1].ways(figures[1])];
    if ways[0] != ways[1] {
        return Some(format!(
            "it ran {} in experiment {here} and {} in experiment {there}; such figures differ also for the same system",
            said(&ways[0]),
            said(&ways[1])
        ));
    }
    let list = |names: &[String]| match names {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    };
    let before = [ran[0].before(key), ran[1].before(key)];
    (before[0] != before[1]).then(|| {
        format!(
            "it came after {} in experiment {here} and after {} in experiment {there}, so it found other data",
            list(&before[0]),
            list(&before[1])
        )
    })
}
