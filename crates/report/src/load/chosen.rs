//! Which experiments of results directories, and which of them ran the same.

use std::collections::HashMap;

use plan::{Plan, WorkloadPlan};
use store::{Experiment, ExperimentId, Store};

use super::experiment::unknown_experiment;
use crate::ReportError;
use crate::output::number::count;

/// A results directory.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// Its database, open for reading.
    pub store: &'a Store,
    /// Its name in messages.
    pub directory: String,
    /// Name of its machine; `None`: the facts recorded with each trial identify the machine.
    pub machine: Option<String>,
}

/// Which experiments of the results directories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Chosen {
    /// Those that ran the same workload as the newest: the same except for the numbers of clients
    /// and the list of steps.
    #[default]
    SameWorkload,
    /// Those that ran the same workload as this one of the first results directory.
    LikeExperiment(ExperimentId),
    /// These of the first results directory.
    Ids(Vec<ExperimentId>),
    /// All.
    All,
    /// Those with one of these names or numbers; a name selects every experiment that has it.
    Named(Vec<String>),
}

/// The workload of an experiment, apart from numbers of clients and the list of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workload {
    /// Its name in tables.
    pub(crate) label: String,
    pub(crate) shape: Shape,
}

/// The part of a workload by which two are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Without numbers of clients and steps.
    Plan(Box<WorkloadPlan>),
    /// A plan that this steelyard cannot read, which only equals itself.
    Unread(String),
}

/// The chosen experiments with their plans, ordered by when they began.
pub(crate) fn experiments(
    sources: &[Source<'_>],
    chosen: &Chosen,
) -> Result<Vec<(usize, Experiment, Option<Plan>)>, ReportError> {
    let mut all = Vec::new();
    // Many experiments of a plan have its text.
    let mut plans: HashMap<String, Option<Plan>> = HashMap::new();
    for (place, source) in sources.iter().enumerate() {
        for experiment in source.store.experiments()? {
            if let Chosen::Ids(ids) = chosen
                && !(place == 0 && ids.contains(&experiment.id))
            {
                continue;
            }
            let parse = |text: &str| Plan::parse(text, None, "the stored plan").ok();
            let plan = match plans.get(&experiment.plan) {
                Some(plan) => plan.clone(),
                None => {
                    plans.entry(experiment.plan.clone()).or_insert(parse(&experiment.plan)).clone()
                }
            };
            all.push((place, experiment, plan));
        }
    }
    all.sort_by_key(|(place, experiment, _)| (experiment.created_ms, *place, experiment.id));
    let shape = |(_, experiment, plan): &(usize, Experiment, Option<Plan>)| {
        Shape::of(experiment, plan.as_ref())
    };
    match chosen {
        Chosen::All | Chosen::Ids(_) => {}
        Chosen::SameWorkload => {
            if all.is_empty() {
                return Err(ReportError::NoExperiment);
            }
            // The newest with results, because one that has just begun has nothing to show.
            let mut wanted = None;
            for one in all.iter().rev() {
                if !sources[one.0].store.finished_trials(one.1.id)?.is_empty() {
                    wanted = Some(shape(one));
                    break;
                }
            }
            let wanted = wanted.ok_or(ReportError::NoTrials)?;
            all.retain(|one| shape(one) == wanted);
        }
        Chosen::LikeExperiment(id) => {
            let wanted = all.iter().find(|one| one.0 == 0 && one.1.id == *id).map(shape);
            all.retain(|one| Some(shape(one)) == wanted);
        }
        Chosen::Named(names) => {
            let named = |experiment: &Experiment, asked: &str| {
                experiment.name == asked
                    || asked.parse().is_ok_and(|id| ExperimentId(id) == experiment.id)
            };
            for asked in names {
                if !all.iter().any(|(_, experiment, _)| named(experiment, asked)) {
                    let known = all.iter().map(|(_, experiment, _)| experiment.name.clone());
                    return Err(unknown_experiment(asked, known));
                }
            }
            all.retain(|(_, experiment, _)| names.iter().any(|asked| named(experiment, asked)));
        }
    }
    Ok(all)
}

impl Shape {
    /// The workload of an experiment.
    pub(crate) fn of(experiment: &Experiment, plan: Option<&Plan>) -> Self {
        match plan {
            Some(plan) => Self::Plan(Box::new(plan.workload.without_steps())),
            None => Self::Unread(format!("{}\n{}", experiment.workload, experiment.plan)),
        }
    }

    /// Its name in tables.
    pub(crate) fn label(&self, experiment: &Experiment) -> String {
        match self {
            Self::Plan(workload) => {
                let rows: Vec<String> =
                    workload.rows().into_iter().map(|rows| count(rows as f64)).collect();
                format!("{}, {} rows", workload.name(), rows.join(" + "))
            }
            Self::Unread(_) => format!("{} of {}", experiment.workload, experiment.name),
        }
    }
}
