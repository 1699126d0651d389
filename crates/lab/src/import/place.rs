//! Which trial, which step: from files to their places.

use std::collections::{BTreeMap, HashMap};

use foreign::{Reading, Test};
use store::StepRecord;

use super::describe::{costs, describe};
use super::error::ImportError;
use super::{Arranged, Finished, Trial, Variant};

/// Arranges the tests of files as trials.
///
/// - A step is called as the file's `step` says, or as the test, or as the program.
/// - Its number of clients is the file's `dop`, or that of the test, or the only one in the file,
///   or 1.
/// - Its block is the file's, or k for the k-th time that the variant has this step, in the order
///   of the files and of the tests in them.
/// - What a program like `vmstat` saw becomes costs per operation of the step with the same variant
///   and block.
///
/// # Errors
/// When files contradict what was said of them or each other, or only have what others saw.
pub fn arrange(files: &[Finished]) -> Result<Arranged, ImportError> {
    let Some(first) = files.iter().find(|file| !file.reading.tests.is_empty()) else {
        let programs = files.first().map_or("", |file| file.reading.program);
        return Err(ImportError::OnlyWatched(programs.to_owned()));
    };
    let mut places = Places::default();
    for file in files {
        let variant = places.variant(file);
        places.variants[variant].files.push(file.file.clone());
        for (test, dop) in file.reading.tests.iter().zip(dops(file)?) {
            places.add(file, test, dop)?;
        }
    }
    for file in files.iter().filter(|file| !file.reading.columns.is_empty()) {
        places.watched(file)?;
    }
    let mut trials = places.trials;
    trials.sort_by_key(|trial| trial.block);
    Ok(Arranged {
        program: first.reading.program,
        variants: places.variants,
        trials,
        written_ms: files.iter().map(|file| file.written_ms).min().unwrap_or(0),
        files: files.len(),
    })
}

/// The number of clients of each test of a file.
fn dops(file: &Finished) -> Result<Vec<u32>, ImportError> {
    let tests = &file.reading.tests;
    if let Some(wanted) = file.dop {
        for test in tests {
            if let Some(found) = test.dop.filter(|found| *found != wanted) {
                let (file, line) = (file.file.clone(), test.line);
                return Err(ImportError::OtherDop { file, line, wanted, found });
            }
        }
        return Ok(vec![wanted; tests.len()]);
    }
    let mut said = tests.iter().filter_map(|test| test.dop);
    let first = said.next();
    let only = first.filter(|first| said.all(|other| other == *first)).unwrap_or(1);
    Ok(tests.iter().map(|test| test.dop.unwrap_or(only)).collect())
}

#[derive(Default)]
struct Places {
    variants: Vec<Variant>,
    trials: Vec<Trial>,
    /// Place of a trial by variant, block and number of clients.
    trial: HashMap<(usize, u32, u32), usize>,
    /// How often a variant had a step with a number of clients.
    seen: HashMap<(usize, String, u32), u32>,
    /// Units and directions of steps.
    units: HashMap<(String, u32), (String, bool)>,
    /// How many files of a program that watches a variant had.
    watched: HashMap<(usize, &'static str), u32>,
}

impl Places {
    fn variant(&mut self, file: &Finished) -> usize {
        let known = self.variants.iter().position(|variant| variant.name == file.variant);
        known.unwrap_or_else(|| {
            let (name, version) = (file.variant.clone(), version(&file.reading));
            self.variants.push(Variant { name, version, files: Vec::new() });
            self.variants.len() - 1
        })
    }

    fn add(&mut self, file: &Finished, test: &Test, dop: u32) -> Result<(), ImportError> {
        let step = named(file, test)?;
        let (unit, less) = (test.unit.to_string(), test.less_is_better);
        let known = self.units.entry((step.clone(), dop)).or_insert((unit.clone(), less));
        if *known != (unit.clone(), less) {
            let (file, line, known) = (file.file.clone(), test.line, known.0.clone());
            return Err(ImportError::OtherUnit { file, line, step, found: unit, known });
        }
        let variant = self.variant(file);
        let seen = self.seen.entry((variant, step.clone(), dop)).or_default();
        *seen += 1;
        let block = file.block.unwrap_or(*seen);
        let place = *self.trial.entry((variant, block, dop)).or_insert_with(|| {
            self.trials.push(Trial { variant, block, dop, steps: Vec::new() });
            self.trials.len() - 1
        });
        let steps = &mut self.trials[place].steps;
        if steps.iter().any(|known| known.name == step) {
            let (file, line, variant) = (file.file.clone(), test.line, file.variant.clone());
            return Err(ImportError::Twice { file, line, block, variant, step, dop });
        }
        let mut record = StepRecord::new(steps.len() as u32, &step, dop);
        record.started_ms = file.written_ms;
        describe(&mut record, test);
        steps.push(record);
        Ok(())
    }

    /// Puts what a program saw beside the only step of a trial.
    fn watched(&mut self, file: &Finished) -> Result<(), ImportError> {
        let variant = self.variant(file);
        let program = file.reading.program;
        let seen = self.watched.entry((variant, program)).or_default();
        *seen += 1;
        let block = file.block.unwrap_or(*seen);
        let trials = self.trials.iter_mut().filter(|trial| {
            trial.variant == variant
                && trial.block == block
                && file.dop.is_none_or(|dop| dop == trial.dop)
        });
        let mut steps: Vec<&mut StepRecord> = trials.flat_map(|trial| &mut trial.steps).collect();
        let [step] = steps.as_mut_slice() else {
            let (steps, variant) = (steps.len(), file.variant.clone());
            let file = file.file.clone();
            return Err(ImportError::WatchedWhat { file, program, block, variant, steps });
        };
        costs(step, &file.reading.columns);
        Ok(())
    }
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

/// The version of the system under test, where the program is built from it.
fn version(reading: &Reading) -> String {
    match reading.program {
        "db_bench" | "rocksdb-report" => reading.version.clone().unwrap_or_default(),
        _ => String::new(),
    }
}
