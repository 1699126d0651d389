//! An experiment at a glance.

use std::collections::BTreeSet;

use judge::Verdict;
use metrics::{COSTS, OPS};
use plan::Plan;
use serde::{Deserialize, Serialize};
use store::{Experiment, ExperimentState, Purpose, Store, TrialState};

use crate::ReportError;
use crate::count::counted::{CountVerdict, Counted};
use crate::judging::judged::{Finding, Judged};
use crate::judging::steps::judge_results;
use crate::load::chosen::Shape;
use crate::load::experiment::{Which, load_figures};
use crate::load::machine::Machine;
use crate::load::model::Results;
use crate::load::trials::family;
use crate::load::wrong::{QUERY_FAILED, WRONG_RESULT};
use crate::output::time::rfc3339;

/// Regressions of an experiment that a brief names, and as many improvements: the largest.
const NAMED: usize = 3;
/// Trials that a spread takes at least.
const SPREAD: usize = 2;

/// An experiment at a glance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default)]
pub struct Brief {
    /// Its number.
    pub id: i64,
    /// Name from the plan.
    pub name: String,
    /// Name of the workload, such as `insert`.
    pub workload: String,
    /// The workload with its rows, as in tables.
    pub label: String,
    /// Name in addresses of the workload without its steps: experiments with the same can be
    /// followed over time. Empty for a count.
    pub history: String,
    /// `run`, `count` or `import`.
    pub purpose: String,
    /// `finished`, `unfinished` or `failed`.
    pub state: String,
    /// The variant that the others are compared with.
    pub base: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Finished trials, without loads.
    pub trials: usize,
    /// Trials without a result.
    pub lost: usize,
    /// In the order of the plan.
    pub variants: Vec<BriefVariant>,
    /// Names in addresses of the machines that it ran on.
    pub machines: Vec<String>,
    /// Verdicts on throughput, of a count on instructions.
    pub verdicts: VerdictCounts,
    /// The largest regressions, then the largest improvements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<Moved>>", optional))]
    pub moved: Vec<Moved>,
    /// Deviation of throughput between the trials of a variant / its mean, as a fraction: the
    /// median over steps and variants. Absent with fewer than two trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// Metrics that can be followed over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub metrics: Vec<String>,
    /// Number of warnings about the figures, except those about plans of statements.
    pub warnings: usize,
    /// Queries that a variant refuses or answers otherwise than the base, by step and variant.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(test, ts(as = "Option<usize>", optional))]
    pub wrong: usize,
    /// Why there are no results to show, if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A variant of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BriefVariant {
    /// Name from the plan.
    pub name: String,
    /// Which DBMS, such as `postgres`.
    pub system: String,
    /// As the DBMS reports it.
    pub version: String,
}

/// How many verdicts there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct VerdictCounts {
    /// Confirmed regressions.
    pub regression: usize,
    /// Confirmed improvements.
    pub improvement: usize,
    /// Differences that are certainly small.
    pub equivalent: usize,
    /// What is undecided, or cannot be judged.
    pub inconclusive: usize,
}

/// A confirmed regression or improvement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Moved {
    /// Name of the step; of a count, the kind of statement.
    pub step: String,
    /// Number of the step on the page of its experiment, from 1; 0 for a count.
    pub place: usize,
    /// The variant.
    pub variant: String,
    /// `regression` or `improvement`.
    #[cfg_attr(test, ts(type = "Verdict"))]
    pub verdict: String,
    /// Value / the base's.
    pub ratio: Option<f64>,
    /// The comparison in plain words.
    pub sentence: String,
    /// What somebody noted about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub noted: Option<String>,
}

impl VerdictCounts {
    fn add(&mut self, verdict: Option<Verdict>) {
        match verdict {
            Some(Verdict::Regression) => self.regression += 1,
            Some(Verdict::Improvement) => self.improvement += 1,
            Some(Verdict::Equivalent) => self.equivalent += 1,
            Some(Verdict::Inconclusive) | None => self.inconclusive += 1,
        }
    }
}

impl Brief {
    /// Reads an experiment. What can't be shown of it is said in [`Brief::problem`].
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(store: &Store, experiment: &Experiment) -> Result<Self, ReportError> {
        let made = match experiment.purpose {
            Purpose::Run => Self::of_run(store, experiment),
            Purpose::Count => Self::of_count(store, experiment),
        };
        match made {
            Ok(brief) => Ok(brief),
            Err(ReportError::Store(error)) => Err(error.into()),
            Err(error) => Ok(Self { problem: Some(error.to_string()), ..Self::row(experiment) }),
        }
    }

    /// What its row says.
    fn row(experiment: &Experiment) -> Self {
        let finished = experiment.state == ExperimentState::Finished;
        Self {
            id: experiment.id.0,
            name: experiment.name.clone(),
            workload: experiment.workload.clone(),
            label: experiment.workload.clone(),
            purpose: experiment.purpose.as_str().to_owned(),
            state: if finished { "finished" } else { "unfinished" }.to_owned(),
            base: experiment.base.clone(),
            started: rfc3339(experiment.created_ms),
            ended: experiment.ended_ms.map(rfc3339),
            ..Self::default()
        }
    }

    fn of_run(store: &Store, experiment: &Experiment) -> Result<Self, ReportError> {
        let results = load_figures(store, Which::Id(experiment.id))?;
        let judged = judge_results(&results, None, None)?;
        let plan = Plan::parse(&experiment.plan, None, "the stored plan").ok();
        let shape = Shape::of(experiment, plan.as_ref());
        let findings = judged.findings(&results);
        let mut verdicts = VerdictCounts::default();
        findings.iter().for_each(|finding| verdicts.add(finding.verdict));
        let row = Self::row(experiment);
        Ok(Self {
            label: shape.label(experiment),
            history: shape.key(&experiment.workload),
            purpose: if results.is_imported() { "import".to_owned() } else { row.purpose },
            state: if results.would_fail_again() { store::FAILED.to_owned() } else { row.state },
            trials: finished(store, experiment)?,
            lost: results.failed.len(),
            variants: results.variants.iter().map(|it| BriefVariant::of(&it.variant)).collect(),
            machines: machines(store, experiment)?,
            verdicts,
            moved: moved(&results, &judged, &findings),
            noise: noise(&results),
            metrics: followed(&results),
            warnings: results.warnings.len(),
            wrong: wrong(&results),
            ..row
        })
    }

    fn of_count(store: &Store, experiment: &Experiment) -> Result<Self, ReportError> {
        let counted = Counted::read(store, experiment.id, None, None, None)?;
        let (mut verdicts, mut moved) = (VerdictCounts::default(), Vec::new());
        for kind in &counted.kinds {
            for place in counted.counted() {
                let Some(found) = counted.difference(kind, place) else { continue };
                let verdict = match found.verdict {
                    CountVerdict::Regression => Verdict::Regression,
                    CountVerdict::Improvement => Verdict::Improvement,
                    CountVerdict::Equivalent | CountVerdict::Same => Verdict::Equivalent,
                    CountVerdict::Inconclusive => Verdict::Inconclusive,
                };
                verdicts.add(Some(verdict));
                if matches!(verdict, Verdict::Regression | Verdict::Improvement) {
                    let (variant, base) = (counted.name(place), counted.name(counted.base));
                    let of = format!("{} of {variant} against {base}", kind.kind);
                    moved.push(Moved {
                        step: kind.kind.clone(),
                        place: 0,
                        variant: variant.to_owned(),
                        verdict: verdict.to_string(),
                        ratio: Some(found.ratio),
                        sentence: format!("{of}: {:.4} times the instructions", found.ratio),
                        noted: None,
                    });
                }
            }
        }
        Ok(Self {
            variants: counted.variants.iter().map(BriefVariant::of).collect(),
            machines: vec![Machine::of(&store.host_facts(experiment.id)?).key()],
            verdicts,
            moved: largest(moved),
            warnings: counted.warnings.len(),
            ..Self::row(experiment)
        })
    }
}

impl BriefVariant {
    fn of(variant: &store::Variant) -> Self {
        Self {
            name: variant.name.clone(),
            system: family(&variant.dbms),
            version: variant.version.clone(),
        }
    }
}

/// Block 0 holds the loads of a plan that loads once.
fn finished(store: &Store, experiment: &Experiment) -> Result<usize, ReportError> {
    let trials = store.finished_trials(experiment.id)?;
    Ok(trials.iter().filter(|(block, ..)| *block > 0).count())
}

/// The machines of the finished trials; without any, that of the experiment.
fn machines(store: &Store, experiment: &Experiment) -> Result<Vec<String>, ReportError> {
    let trials = store.trials(experiment.id)?;
    let finished = trials.iter().filter(|trial| trial.state == TrialState::Finished);
    let finished: BTreeSet<_> = finished.map(|trial| trial.id).collect();
    let mut found = BTreeSet::new();
    for (facts, ran) in store.trial_hosts(experiment.id)? {
        if ran.iter().any(|trial| finished.contains(trial)) {
            found.insert(Machine::of(&facts).key());
        }
    }
    if found.is_empty() {
        found.insert(Machine::of(&store.host_facts(experiment.id)?).key());
    }
    Ok(found.into_iter().collect())
}

/// Counts the warnings about queries that failed, or whose results are wrong.
fn wrong(results: &Results) -> usize {
    let codes = [WRONG_RESULT, QUERY_FAILED];
    results.warnings.iter().filter(|it| codes.contains(&it.warning.code.as_str())).count()
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn moved(results: &Results, judged: &Judged, findings: &[Finding<'_>]) -> Vec<Moved> {
    let of = |finding: &Finding<'_>| {
        let verdict = finding.verdict?;
        let step = results.steps.get(finding.step)?;
        let confirmed = matches!(verdict, Verdict::Regression | Verdict::Improvement);
        confirmed.then(|| Moved {
            step: results.step_label(step),
            place: finding.step + 1,
            variant: results.variant_name(finding.variant).to_owned(),
            verdict: verdict.to_string(),
            ratio: judged.of(finding.step, finding.variant).map(|found| found.ratio),
            sentence: finding.sentence.clone(),
            noted: results.note_on(finding.step, finding.variant).map(str::to_owned),
        })
    };
    largest(findings.iter().filter_map(of).collect())
}

/// The largest regressions, then the largest improvements; first those without a note.
fn largest(mut all: Vec<Moved>) -> Vec<Moved> {
    let size = |moved: &Moved| moved.ratio.map_or(0.0, |ratio| ratio.ln().abs());
    all.sort_by(|one, other| {
        let by_size = size(other).total_cmp(&size(one));
        one.noted.is_some().cmp(&other.noted.is_some()).then(by_size)
    });
    let of = |verdict: Verdict| {
        let same = all.iter().filter(move |moved| moved.verdict == verdict.to_string());
        same.take(NAMED).cloned().collect::<Vec<_>>()
    };
    [of(Verdict::Regression), of(Verdict::Improvement)].concat()
}

fn noise(results: &Results) -> Option<f64> {
    let steps = results.steps.iter().filter(|step| !step.prepares && !step.warm_up);
    let spread = |variant: &crate::VariantStep| {
        let values: Vec<f64> = variant.values(OPS.name).into_iter().map(|(_, it)| it).collect();
        judge::cv_sample(&values).filter(|_| values.len() >= SPREAD)
    };
    let spreads: Vec<f64> = steps.flat_map(|step| &step.variants).filter_map(spread).collect();
    judge::median(&spreads)
}

/// The metrics that any measured step has.
fn followed(results: &Results) -> Vec<String> {
    let known = |name: &str| {
        let mut variants = results.steps.iter().flat_map(|step| &step.variants);
        variants.any(|variant| variant.median(name).is_some())
    };
    let all = [&OPS].into_iter().chain(COSTS).map(|metric| metric.name);
    all.filter(|name| known(name)).map(str::to_owned).collect()
}
