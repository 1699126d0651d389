//! Finished output of other people's programs, stored as trials of one experiment.
//!
//! [`arrange`] decides where everything belongs, without touching a store: the tests of a file are
//! steps, and each variant, block and number of clients is a trial. [`Arranged::store`] then writes
//! all of it in one transaction.

mod arrange;
mod costs;
mod describe;
mod error;
mod pattern;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use metrics::counted;
use store::{
    ExperimentId, IMPORTED, NewExperiment, NewTrial, NewVariant, Purpose, StepRecord, Store,
    Warning, now_ms,
};

pub use arrange::arrange;
pub use describe::describe;
pub use error::ImportError;
pub use pattern::{Named, Pattern};

/// A file that was read.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its name in messages.
    pub file: String,
    /// The variant that it is about; `None` if the output or the file's name says.
    pub variant: Option<String>,
    /// The number of clients of tests that don't say theirs; `None`: as the output says.
    pub dop: Option<u32>,
    /// The block; `None`: a variant's k-th result of a step belongs to block k.
    pub block: Option<u32>,
    /// The name of its step; `None`: as the output says.
    pub step: Option<String>,
    /// When it was last written, in milliseconds since 1970 (UTC).
    pub written_ms: i64,
    /// Its contents.
    pub reading: foreign::Reading,
}

/// Trials, ready to be stored.
#[derive(Debug, Clone)]
pub struct Arranged {
    /// The programs whose output it is, each with the first of its files; never empty.
    programs: Vec<(&'static str, String)>,
    /// In the order of the files.
    variants: Vec<Variant>,
    /// By block, then in the order of the files.
    trials: Vec<Trial>,
    /// When the oldest file was written.
    written_ms: i64,
    files: usize,
    /// Notes about files taken as runs of one variant although the output names several.
    merged: Vec<String>,
    /// Notes about the devices that were chosen.
    said: Vec<String>,
    /// How the steps were run according to the outputs, as lines of the plan.
    settings: BTreeSet<String>,
    /// Settings that differ between variants.
    differences: Vec<String>,
}

/// A variant and its files.
#[derive(Debug, Clone)]
struct Variant {
    name: String,
    /// Its version, if the output says so; otherwise empty.
    version: String,
    files: Vec<String>,
}

/// A variant in a block, in a run with one number of clients.
#[derive(Debug, Clone)]
struct Trial {
    /// Place in [`Arranged::variants`].
    variant: usize,
    block: u32,
    dop: u32,
    steps: Vec<StepRecord>,
}

/// The experiment that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its number.
    pub experiment: ExperimentId,
    /// Its name.
    pub name: String,
    /// Its variants; the first is the base.
    pub variants: Vec<String>,
    /// The largest number of a block.
    pub blocks: u32,
    /// How many trials it has.
    pub trials: usize,
    /// How many different steps these have.
    pub steps: usize,
    /// Choices that were made among several, and a warning about what was mixed, in sentences.
    pub notes: Vec<String>,
}

/// Stands in for a plan; the steps' settings follow it. Experiments with the same text and name are
/// of the same workload.
const PLAN: &str = "# Imported output of other programs: there is no plan.\n";

impl Arranged {
    /// The default name of the experiment: that of the program.
    pub fn default_name(&self) -> &'static str {
        self.programs[0].0
    }

    /// The warning about steps of several programs.
    fn mixed(&self) -> Option<Warning> {
        let said = self.programs.iter().map(|(program, file)| format!("{program} in {file}"));
        let said = said.collect::<Vec<_>>().join(", ");
        (self.programs.len() > 1).then(|| {
            let text = format!(
                "the files are of different programs ({said}), whose steps are not comparable; \
                 import each program by itself if they have nothing to do with each other"
            );
            Warning::new("programs-differ", text)
        })
    }

    /// Takes the place of a seed, since nothing here is drawn at random. With name and time, it
    /// tells experiments apart, even if the same files were arranged as other variants.
    fn arrangement(&self) -> u64 {
        let variants = self.variants.iter().map(|variant| (&variant.name, &variant.version));
        let mut hasher = DefaultHasher::new();
        format!("{:?} {:?}", variants.collect::<Vec<_>>(), self.trials).hash(&mut hasher);
        // Fits in the integers of all readers of JSON.
        hasher.finish() >> 16
    }

    /// Stores everything as one experiment: all of it or, if something fails, nothing. `base` is
    /// the variant that others are compared with; `None`: the first.
    ///
    /// # Errors
    /// When there is no such variant, or it cannot be written.
    pub fn store(
        self,
        store: &Store,
        name: &str,
        base: Option<&str>,
        steelyard: &str,
    ) -> Result<Imported, ImportError> {
        let names: Vec<String> = self.variants.iter().map(|variant| variant.name.clone()).collect();
        let base = base.unwrap_or(&names[0]).to_owned();
        if !names.contains(&base) {
            return Err(ImportError::UnknownBase { base, known: names });
        }
        store.at_once(|| self.write(store, name, base, steelyard))
    }

    fn write(
        self,
        store: &Store,
        name: &str,
        base: String,
        steelyard: &str,
    ) -> Result<Imported, ImportError> {
        let blocks = self.trials.iter().map(|trial| trial.block).max().unwrap_or(0);
        let (program, mixed) = (self.default_name(), self.mixed());
        let experiment = store.begin_experiment(&NewExperiment {
            purpose: Purpose::Run,
            name: name.to_owned(),
            workload: name.to_owned(),
            base,
            seed: self.arrangement(),
            blocks,
            margin: plan::DEFAULT_MARGIN,
            plan: std::iter::once(PLAN.to_owned()).chain(self.settings).collect(),
            steelyard: steelyard.to_owned(),
            created_ms: self.written_ms,
        })?;
        let mut variants = Vec::new();
        for Variant { name, version, files } in &self.variants {
            variants.push(store.add_variant(
                experiment,
                &NewVariant {
                    name: name.clone(),
                    dbms: format!("{IMPORTED}{program}"),
                    source: format!("imported from {}", files.join(", ")),
                    version: version.clone(),
                    build: BTreeMap::new(),
                    config: BTreeMap::new(),
                },
            )?);
        }
        let single = match blocks {
            1 => "; each figure is a single value, so ratios have neither interval nor verdict",
            _ => "",
        };
        let text = format!(
            "imported from {} of {}: in which order the variants ran, on which machine and \
             with which configuration is not known, and blocks are paired by their numbers{single}",
            counted(self.files, "file"),
            self.programs.iter().map(|(program, _)| *program).collect::<Vec<_>>().join(" and ")
        );
        for text in std::iter::once(text).chain(self.merged) {
            store.warn(experiment, None, &Warning::new("imported", text))?;
        }
        for text in self.differences {
            store.warn(experiment, None, &Warning::new("settings-differ", text))?;
        }
        if let Some(warning) = &mixed {
            store.warn(experiment, None, warning)?;
        }
        let (mut positions, mut steps) = (BTreeMap::new(), BTreeSet::new());
        let trials = self.trials.len();
        for trial in self.trials {
            let position: &mut u32 = positions.entry(trial.block).or_default();
            *position += 1;
            let seconds: f64 = trial.steps.iter().map(|step| step.seconds).sum();
            let id = store.begin_trial(&NewTrial {
                experiment,
                variant: variants[trial.variant],
                block: trial.block,
                position: *position,
                sequence: trial.dop,
                started_ms: now_ms() - (seconds * 1000.0) as i64,
            })?;
            for step in &trial.steps {
                store.record_step(id, step)?;
                steps.insert(step.key.clone());
            }
            store.finish_trial(id)?;
        }
        store.finish_experiment(experiment)?;
        let variants = self.variants.into_iter().map(|variant| variant.name).collect();
        let name = name.to_owned();
        let mixed = mixed.map(|warning| format!("warning: {}", warning.text));
        let (steps, notes) = (steps.len(), self.said.into_iter().chain(mixed).collect());
        Ok(Imported { experiment, name, variants, blocks, trials, steps, notes })
    }
}
