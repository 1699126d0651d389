//! Trials grouped into lines, runs and steps.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::order::{Order, Version, commit, same_commit};
use crate::ReportError;
use crate::load::trials::{Configuration, Trials, Value};
use crate::output::table::place_of;
use crate::output::time::rfc3339;

/// Lines and the runs they go through.
pub(super) struct Lines<'a> {
    /// In order.
    pub(super) runs: Vec<Run>,
    pub(super) lines: Vec<Line<'a>>,
    /// Systems without a commit, or with one that is not in the given order.
    pub(super) left_out: BTreeSet<String>,
}

/// A position in the order.
pub(super) struct Run {
    key: RunKey,
    pub(super) name: String,
    pub(super) started_ms: i64,
    /// Places in [`Trials::experiments`].
    pub(super) experiments: BTreeSet<usize>,
    pub(super) versions: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum RunKey {
    Version(Version),
    /// Place of the experiment.
    Experiment(usize),
    /// Position in the given order, if any; the commit.
    Commit(Option<usize>, String),
}

/// One system over the runs.
pub(super) struct Line<'a> {
    pub(super) key: LineKey<'a>,
    pub(super) label: String,
    names: BTreeSet<String>,
    pub(super) steps: Vec<StepLine<'a>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct LineKey<'a> {
    pub(super) workload: usize,
    pub(super) machine: &'a str,
    pub(super) system: Followed<'a>,
}

/// The property that stays the same along a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Followed<'a> {
    Name(&'a str),
    Configuration(&'a Configuration),
}

/// One step of a line.
pub(super) struct StepLine<'a> {
    /// Place in [`Trials::steps`].
    pub(super) step: usize,
    /// Values by run (place in [`Lines::runs`]), in that order.
    pub(super) points: BTreeMap<usize, Vec<&'a Value>>,
}

impl<'a> Line<'a> {
    fn add(&mut self, run: usize, value: &'a Value) {
        let new = StepLine { step: value.step, points: BTreeMap::new() };
        let place = place_of(&mut self.steps, new, |known, new| known.step == new.step);
        self.steps[place].points.entry(run).or_default().push(value);
    }
}

impl StepLine<'_> {
    /// True if every run was measured in the same experiments, side by side, so changes of the
    /// machine affect all runs alike.
    pub(super) fn is_interleaved(&self) -> bool {
        let experiments = |values: &Vec<&Value>| -> BTreeSet<usize> {
            values.iter().map(|value| value.experiment).collect()
        };
        let mut sets = self.points.values().map(experiments);
        let first = sets.next();
        sets.all(|set| Some(&set) == first.as_ref())
    }
}

/// By version if any system was measured in several, otherwise by date.
pub(super) fn usual_order(trials: &Trials) -> Order {
    let mut versions: Vec<(LineKey<'_>, Version)> = Vec::new();
    let mut seen = HashSet::new();
    for value in &trials.values {
        if !seen.insert((value.experiment, value.trial)) {
            continue;
        }
        let Some(version) = Version::of(&trials.system(value).version) else { continue };
        let key = line_key(trials, value, Order::Version);
        if versions.iter().any(|(known, other)| *known == key && *other != version) {
            return Order::Version;
        }
        versions.push((key, version));
        versions.dedup();
    }
    Order::Date
}

fn line_key<'a>(trials: &'a Trials, value: &Value, order: Order) -> LineKey<'a> {
    let system = trials.system(value);
    LineKey {
        workload: trials.conducted(value).workload,
        machine: trials.machine(value),
        system: match order {
            Order::Date => Followed::Name(&system.name),
            Order::Version | Order::Commit => Followed::Configuration(&system.configuration),
        },
    }
}

/// Groups the values; runs come in order.
pub(super) fn lines<'a>(
    trials: &'a Trials,
    order: Order,
    commits: &[String],
) -> Result<Lines<'a>, ReportError> {
    let mut found = Lines { runs: Vec::new(), lines: Vec::new(), left_out: BTreeSet::new() };
    let mut placed: Vec<(usize, &Value)> = Vec::new();
    // All values of a trial belong to the same run, and to the same line.
    let mut runs: HashMap<_, Option<usize>> = HashMap::new();
    for value in &trials.values {
        let run = *runs.entry((value.experiment, value.trial)).or_insert_with(|| {
            let Some(key) = run_key(trials, value, order, commits) else {
                found.left_out.insert(trials.system(value).name.clone());
                return None;
            };
            Some(found.run(trials, key, value))
        });
        placed.extend(run.map(|run| (run, value)));
    }
    if placed.is_empty() {
        return Err(ReportError::NoRuns {
            order: order.as_str(),
            systems: found.left_out.into_iter().collect(),
        });
    }
    let places = found.sort_runs();
    let mut known = HashMap::new();
    for (run, value) in placed {
        let line = *known
            .entry((value.experiment, value.trial))
            .or_insert_with(|| found.line(trials, order, value));
        found.lines[line].add(places[run], value);
    }
    for line in &mut found.lines {
        line.steps.sort_by_key(|step| step.step);
    }
    found.name_runs(trials);
    found.name_lines(order);
    Ok(found)
}

fn run_key(trials: &Trials, value: &Value, order: Order, commits: &[String]) -> Option<RunKey> {
    let system = trials.system(value);
    match order {
        Order::Date => Some(RunKey::Experiment(value.experiment)),
        Order::Version => Version::of(&system.version).map(RunKey::Version),
        Order::Commit => {
            let recorded = system.build.iter().filter(|(name, _)| !name.starts_with("sha256"));
            let found = recorded
                .map(|(_, value)| value.as_str())
                .chain([system.dbms.as_str(), &system.name, &system.version])
                .find_map(commit)?;
            let place = commits.iter().position(|known| same_commit(known, &found));
            (commits.is_empty() || place.is_some()).then_some(RunKey::Commit(place, found))
        }
    }
}

impl<'a> Lines<'a> {
    /// True if the order of commits was given.
    pub(super) fn runs_are_ordered(&self) -> bool {
        self.runs.iter().all(|run| matches!(run.key, RunKey::Commit(Some(_), _)))
    }

    /// The index of a run, for now in order of appearance.
    fn run(&mut self, trials: &Trials, key: RunKey, value: &Value) -> usize {
        let conducted = trials.conducted(value);
        let started_ms = conducted
            .durations
            .get(&value.trial)
            .map_or(conducted.experiment.created_ms, |(begin, _)| *begin);
        let new = Run {
            key,
            name: String::new(),
            started_ms,
            experiments: BTreeSet::new(),
            versions: BTreeSet::new(),
        };
        let place = place_of(&mut self.runs, new, |known, new| match (&known.key, &new.key) {
            (RunKey::Commit(_, one), RunKey::Commit(_, other)) => same_commit(one, other),
            (one, other) => one == other,
        });
        let run = &mut self.runs[place];
        run.started_ms = run.started_ms.min(started_ms);
        run.experiments.insert(value.experiment);
        run.versions.insert(trials.system(value).version.clone());
        place
    }

    /// Sorts the runs and returns the new index of each.
    fn sort_runs(&mut self) -> Vec<usize> {
        let mut sorted: Vec<(usize, Run)> =
            std::mem::take(&mut self.runs).into_iter().enumerate().collect();
        sorted.sort_by(|(_, a), (_, b)| match (&a.key, &b.key) {
            (RunKey::Version(one), RunKey::Version(other)) => one.cmp(other),
            (RunKey::Experiment(one), RunKey::Experiment(other)) => one.cmp(other),
            (RunKey::Commit(Some(one), _), RunKey::Commit(Some(other), _)) => one.cmp(other),
            _ => a.started_ms.cmp(&b.started_ms),
        });
        let mut places = vec![0; sorted.len()];
        for (new, (old, run)) in sorted.into_iter().enumerate() {
            places[old] = new;
            self.runs.push(run);
        }
        places
    }

    /// The index of the line of a trial, which has this value.
    fn line(&mut self, trials: &'a Trials, order: Order, value: &Value) -> usize {
        let system = trials.system(value);
        let key = line_key(trials, value, order);
        let new = Line { key, label: String::new(), names: BTreeSet::new(), steps: Vec::new() };
        let place = place_of(&mut self.lines, new, |known, new| known.key == new.key);
        self.lines[place].names.insert(without_version(&system.name, &system.version));
        place
    }

    fn name_runs(&mut self, trials: &Trials) {
        let names: Vec<String> = self
            .runs
            .iter()
            .map(|run| match &run.key {
                RunKey::Version(_) => run.versions.first().map(|v| short(v)).unwrap_or_default(),
                RunKey::Commit(_, commit) => commit.chars().take(10).collect(),
                RunKey::Experiment(_) => rfc3339(run.started_ms).chars().take(10).collect(),
            })
            .collect();
        let several = names.iter().collect::<BTreeSet<_>>().len() < names.len();
        for (run, name) in self.runs.iter_mut().zip(names) {
            run.name = name;
            if let (true, RunKey::Experiment(place)) = (several, &run.key) {
                // Several on the same day get the time, and several in the same minute get their
                // number.
                let time: String = rfc3339(run.started_ms).chars().skip(11).take(5).collect();
                let id = trials.experiments[*place].experiment.id;
                run.name = format!("{} {time} #{id}", run.name);
            }
        }
    }

    /// Names lines after their variants without the version (`pg13.7.cx5`: `pg.cx5`), or after the
    /// DBMS where those differ; adds machine, workload and settings where lines differ in them.
    fn name_lines(&mut self, order: Order) {
        let plain = |line: &Line<'_>| match (&line.key.system, line.names.len()) {
            (Followed::Name(name), _) => (*name).to_owned(),
            (Followed::Configuration(_), 1) if order == Order::Version => {
                line.names.first().cloned().unwrap_or_default()
            }
            (Followed::Configuration(configuration), _) => configuration.family.clone(),
        };
        let labels: Vec<String> = self
            .lines
            .iter()
            .map(|line| {
                let label = plain(line);
                let namesakes: Vec<&Line<'_>> = self
                    .lines
                    .iter()
                    .filter(|other| {
                        plain(other) == label
                            && other.key.workload == line.key.workload
                            && other.key.machine == line.key.machine
                    })
                    .collect();
                match &line.key.system {
                    Followed::Configuration(of) if namesakes.len() > 1 => {
                        format!("{label} ({})", particular(of, &namesakes))
                    }
                    _ => label,
                }
            })
            .collect();
        for (line, label) in self.lines.iter_mut().zip(labels) {
            line.label = label;
        }
    }
}

/// The settings in which a configuration differs from any of the others.
fn particular(of: &Configuration, all: &[&Line<'_>]) -> String {
    let others = || {
        all.iter().filter_map(|line| match line.key.system {
            Followed::Configuration(other) if other != of => Some(other),
            _ => None,
        })
    };
    let mut names: BTreeSet<&String> = of.config.keys().collect();
    names.extend(others().flat_map(|other| other.config.keys()));
    let differing: Vec<String> = names
        .into_iter()
        .filter(|name| others().any(|other| other.config.get(*name) != of.config.get(*name)))
        .map(|name| match of.config.get(name) {
            Some(value) => format!("{name}={value}"),
            None => format!("{name} by default"),
        })
        .collect();
    if differing.is_empty() {
        let place = all.iter().position(|line| line.key.system == Followed::Configuration(of));
        format!("configuration {}", place.unwrap_or_default() + 1)
    } else {
        differing.join(", ")
    }
}

/// `pg13.7.cx5` and `13.7` give `pg.cx5`.
fn without_version(name: &str, version: &str) -> String {
    let version = short(version);
    match name.split_once(&version) {
        Some((before, after)) if !version.is_empty() => format!("{before}{after}"),
        _ => name.to_owned(),
    }
}

/// The version alone of a text such as `PostgreSQL 14.3 (Debian 14.3-1)`.
pub(super) fn short(version: &str) -> String {
    version
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(version)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_called_by_what_stays() {
        assert_eq!(without_version("pg13.7.cx5", "13.7"), "pg.cx5");
        assert_eq!(without_version("old", "13.7"), "old");
        assert_eq!(without_version("pg16beta1", "PostgreSQL 16beta1 (Debian)"), "pg");
        assert_eq!(without_version("pg", ""), "pg");
    }
}
