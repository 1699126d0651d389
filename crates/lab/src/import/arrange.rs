//! Which trial, which step: from files to their places.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use foreign::{Reading, Test};
use plan::{Labels, StepKey};
use store::StepRecord;

use super::costs::{Devices, costs};
use super::describe::describe;
use super::error::ImportError;
use super::settings::{Told, comment, tell_apart};
use super::{Arranged, Finished, Trial, Variant};

/// Arranges the tests of files as trials.
///
/// - A variant is named by the file's `variant`, or the output, or the file's name.
/// - A step is named by the file's `step`, or the test, or the program.
/// - Its number of clients is that of the test, or the file's `dop`, or that of the whole output,
///   or the only one in the file, or 1. A test with another number than its run's gets a label.
/// - Settings that its output names, and that differ within a variant, are labels of the step.
///   Those that only differ between variants are refused unless `allowed`, then they are a warning.
///   The program counts as a setting.
/// - Its block is the file's. Otherwise a variant's k-th result of a step belongs to block k, in
///   the order of the files and of the tests in them.
/// - Figures of a program that watches the machine become costs per operation of the step with the
///   same variant and block and, if the file gives them, number of clients and name. `device` is
///   the one whose reads and writes count; `None`: that to which most was written.
///
/// # Errors
/// When files contradict each other or what was said about them, or none has a benchmark's result.
pub fn arrange(
    files: &[Finished],
    device: Option<&str>,
    allowed: bool,
) -> Result<Arranged, ImportError> {
    if files.iter().all(|file| file.reading.tests.is_empty()) {
        let programs = files.first().map_or("", |file| file.reading.program);
        return Err(ImportError::OnlyWatched(programs.to_owned()));
    }
    let mut tests = Vec::new();
    for file in files {
        for (test, clients) in file.reading.tests.iter().zip(clients(file)?) {
            tests.push((file, test, clients, named(file, test)?));
        }
    }
    let told = tests.iter().map(|&(file, test, clients, ref step)| Told {
        file: &file.file,
        variant: variant_name(file, Some(test)),
        step,
        dop: clients.dop,
        program: file.reading.program,
        settings: &test.settings,
    });
    let told: Vec<Told<'_>> = told.collect();
    let (labels, differences) = tell_apart(&told, allowed)?;
    let settings = told.iter().filter_map(comment).collect();
    let mut places = Places::default();
    for ((file, test, clients, step), labels) in tests.into_iter().zip(labels) {
        places.add(file, test, clients, step, labels)?;
    }
    let devices = Devices::choose(files, device)?;
    let watched = || files.iter().filter(|file| !file.reading.columns.is_empty());
    for file in watched() {
        places.watched(file, &devices)?;
    }
    let said: BTreeSet<String> =
        watched().filter_map(|file| devices.said(&file.reading.columns)).collect();
    let mut trials = places.trials;
    trials.sort_by_key(|trial| trial.block);
    Ok(Arranged {
        programs: programs(files),
        variants: places.variants,
        trials,
        written_ms: files.iter().map(|file| file.written_ms).min().unwrap_or(0),
        files: files.len(),
        merged: files.iter().filter_map(merged).collect(),
        said: said.into_iter().collect(),
        settings,
        differences,
    })
}

/// The programs with tests, each with the first of its files.
fn programs(files: &[Finished]) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for file in files.iter().filter(|file| !file.reading.tests.is_empty()) {
        if found.iter().all(|(program, _)| *program != file.reading.program) {
            found.push((file.reading.program, file.file.clone()));
        }
    }
    found
}

/// How many clients a test had.
#[derive(Debug, Clone, Copy)]
struct Clients {
    dop: u32,
    /// The number of the run that it is a part of, if that is known and another one.
    run: Option<u32>,
}

/// The label of a step that says the number of clients of its run.
const RUN: &str = "run-dop";

/// The number of clients of each test of a file. A test's own wins; one that was given, or that of
/// the whole output, is for the others.
fn clients(file: &Finished) -> Result<Vec<Clients>, ImportError> {
    let Reading { tests, dop: all, .. } = &file.reading;
    if let Some(wanted) = file.dop {
        let own = |test: &Test| test.dop.or(*all).unwrap_or(wanted);
        let other =
            |test: &&Test| own(test) != wanted && all.is_none_or(|all| test.dop == Some(all));
        let contradicts = match all {
            Some(all) => *all != wanted,
            None => tests.iter().all(|test| own(test) != wanted),
        };
        if let Some(test) = tests.iter().find(other).filter(|_| contradicts) {
            let (file, line, found) = (file.file.clone(), test.line, own(test));
            return Err(ImportError::OtherDop { file, line, wanted, found });
        }
    }
    let mut said = tests.iter().filter_map(|test| test.dop);
    let first = said.next();
    let only = first.filter(|first| said.all(|other| other == *first));
    let run = file.dop.or(*all);
    let others = run.or(only).unwrap_or(1);
    let of = |test: &Test| {
        let dop = test.dop.unwrap_or(others);
        Clients { dop, run: run.filter(|run| *run != dop) }
    };
    Ok(tests.iter().map(of).collect())
}

/// A variant, a program that watches it, the number of clients and the step that were given.
type Watched = (usize, &'static str, Option<u32>, Option<String>);

#[derive(Default)]
struct Places {
    variants: Vec<Variant>,
    trials: Vec<Trial>,
    /// Place of a trial by variant, block and number of clients of the run.
    trial: HashMap<(usize, u32, u32), usize>,
    /// How often a variant had a step.
    seen: HashMap<(usize, StepKey), u32>,
    /// Units and directions of steps.
    units: HashMap<(String, u32), (String, bool)>,
    /// How many files of a watching program there are for a variant.
    watched: HashMap<Watched, u32>,
}

impl Places {
    /// The place of the variant that a file, or a test in it, is about.
    fn variant(&mut self, file: &Finished, test: Option<&Test>) -> usize {
        let name = variant_name(file, test);
        let known = self.variants.iter().position(|variant| variant.name == name);
        let place = known.unwrap_or_else(|| {
            let said = test.is_some_and(|test| test.variant.is_some());
            let version = file.reading.version.clone().filter(|_| file.reading.is_part && !said);
            let version = version.unwrap_or_default();
            self.variants.push(Variant { name, version, files: Vec::new() });
            self.variants.len() - 1
        });
        let files = &mut self.variants[place].files;
        if files.last() != Some(&file.file) {
            files.push(file.file.clone());
        }
        place
    }

    fn add(
        &mut self,
        file: &Finished,
        test: &Test,
        of: Clients,
        step: String,
        mut labels: Labels,
    ) -> Result<(), ImportError> {
        let dop = of.dop;
        labels.extend(of.run.map(|run| (RUN.to_owned(), run.to_string())));
        let (unit, less) = (test.unit.to_string(), test.less_is_better);
        let known = self.units.entry((step.clone(), dop)).or_insert((unit.clone(), less));
        if *known != (unit.clone(), less) {
            let (file, line, known) = (file.file.clone(), test.line, known.0.clone());
            return Err(ImportError::OtherUnit { file, line, step, found: unit, known });
        }
        let variant = self.variant(file, Some(test));
        let key = StepKey { name: step, dop, labels };
        let seen = self.seen.entry((variant, key.clone())).or_default();
        *seen += 1;
        let block = file.block.unwrap_or(*seen);
        let run = of.run.unwrap_or(dop);
        let place = *self.trial.entry((variant, block, run)).or_insert_with(|| {
            self.trials.push(Trial { variant, block, dop: run, steps: Vec::new() });
            self.trials.len() - 1
        });
        let steps = &mut self.trials[place].steps;
        if steps.iter().any(|known| known.key == key) {
            let (file, line) = (file.file.clone(), test.line);
            let variant = self.variants[variant].name.clone();
            return Err(ImportError::Twice { file, line, block, variant, step: key.name, dop });
        }
        let (ordinal, started_ms) = (steps.len() as u32, file.written_ms);
        let mut record = StepRecord { ordinal, key, started_ms, ..StepRecord::default() };
        describe(&mut record, test);
        steps.push(record);
        Ok(())
    }

    /// Adds what a program saw to the only step of a trial, or to the one of its name.
    fn watched(&mut self, file: &Finished, devices: &Devices) -> Result<(), ImportError> {
        let variant = self.variant(file, None);
        let program = file.reading.program;
        let key = (variant, program, file.dop, file.step.clone());
        let seen = self.watched.entry(key).or_default();
        *seen += 1;
        let block = file.block.unwrap_or(*seen);
        let trials = self.trials.iter_mut().filter(|trial| {
            trial.variant == variant
                && trial.block == block
                && file.dop.is_none_or(|dop| dop == trial.dop)
        });
        let named =
            |step: &&mut StepRecord| file.step.as_ref().is_none_or(|it| *it == step.key.name);
        let mut steps: Vec<&mut StepRecord> =
            trials.flat_map(|trial| &mut trial.steps).filter(named).collect();
        let [step] = steps.as_mut_slice() else {
            let (steps, variant) = (steps.len(), self.variants[variant].name.clone());
            let file = file.file.clone();
            return Err(ImportError::WatchedWhat { file, program, block, variant, steps });
        };
        costs(step, &file.reading.columns, devices);
        Ok(())
    }
}

/// The name of the variant that a file, or a test in it, is about.
fn variant_name(file: &Finished, test: Option<&Test>) -> String {
    let said = test.and_then(|test| test.variant.as_ref());
    file.variant.as_ref().or(said).cloned().unwrap_or_else(|| stem(&file.file))
}

/// The name of a file without its extension.
fn stem(file: &str) -> String {
    let stem = Path::new(file).file_stem();
    stem.map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// The note about a file that names several variants itself, although one was given for it.
fn merged(file: &Finished) -> Option<String> {
    let given = file.variant.as_ref()?;
    let said = file.reading.tests.iter().filter_map(|test| test.variant.as_deref());
    let said: BTreeSet<&str> = said.collect();
    let names = said.iter().copied().collect::<Vec<_>>().join(", ");
    (said.len() > 1).then(|| format!("{}: {names} were taken as runs of {given}", file.file))
}

/// The name of a test's step.
fn named(file: &Finished, test: &Test) -> Result<String, ImportError> {
    let own = |test: &Test| test.name.clone().unwrap_or_else(|| file.reading.program.to_owned());
    let Some(step) = &file.step else {
        return Ok(own(test));
    };
    let found: BTreeMap<String, ()> =
        file.reading.tests.iter().map(|test| (own(test), ())).collect();
    if found.len() > 1 {
        let found = found.into_keys().collect();
        let (file, step) = (file.file.clone(), step.clone());
        return Err(ImportError::SeveralSteps { file, step, found });
    }
    Ok(step.clone())
}
