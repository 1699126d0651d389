//! One trial: a variant on a fresh server going through the steps.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dbms::{Ledger, Server, ServerSpec, ServerUser};
use probe::{Cgroup, Group};
use store::{ExperimentId, Setting, StepRecord, StepState, Store, TrialId, Warning};
use workload::{Benchmark, Phase, stream_seed};

use crate::attached;
use crate::error::Error;
use crate::event::Event;
use crate::options::Options;
use crate::prepare::{Prepared, Subject, benchmark};
use crate::settle::{interruptible, rest, settle};
use crate::step::{Surroundings, Trouble};

/// Log lines that an error shows.
const LOG_LINES: usize = 12;

/// What all trials of a run share.
pub struct Bench<'a> {
    pub prepared: &'a Prepared,
    pub options: &'a Options,
    pub ledger: &'a Ledger,
    pub user: &'a ServerUser,
    pub interrupted: &'a AtomicBool,
    pub seed: u64,
}

/// Which trial it is.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub experiment: ExperimentId,
    pub trial: TrialId,
    pub variant: usize,
    pub block: u32,
    pub dop: u32,
}

impl Bench<'_> {
    /// Runs one trial; every finished step is in the store when this returns, whatever it returns.
    pub fn trial(
        &self,
        place: Place,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        let subject = &self.prepared.subjects[place.variant];
        let benchmark = benchmark(&self.prepared.plan.workload, place.dop, subject)?;
        let cgroup = self.cgroup(place, subject, store)?;
        let directory =
            self.options.data_dir.join(format!("{}-t{}", std::process::id(), place.trial));
        let mut server = self.start(subject, &directory, cgroup.as_deref())?;
        let group = server.root_pid().map(|root_pid| match &cgroup {
            Some(cgroup) => Group::Cgroup { cgroup: Arc::clone(cgroup), root_pid },
            None => Group::Tree(root_pid),
        });
        let result = self
            .steps(place, subject, &benchmark, server.as_mut(), group, store, on_event)
            .map_err(|error| explain_out_of_memory(error, cgroup.as_deref()));
        if !owned(subject) {
            let dropped = attached::drop_tables(server.as_mut(), &benchmark.tables);
            if result.is_ok() {
                dropped?;
            }
        }
        let stopped = server.stop();
        if let Ok(stopped) = &stopped
            && let Some(log) = &stopped.log
        {
            self.keep_log(place, subject, log, store);
        }
        // A failure of the trial itself says more than one of the stop after it.
        result?;
        stopped?.discard()?;
        Ok(())
    }

    /// A control group for the server: needed for a memory limit, else the better way to count.
    fn cgroup(
        &self,
        place: Place,
        subject: &Subject,
        store: &Store,
    ) -> Result<Option<Arc<Cgroup>>, Error> {
        if !owned(subject) {
            return Ok(None);
        }
        let name = format!("steelyard-{}-t{}", std::process::id(), place.trial);
        match Cgroup::create(&name, subject.variant.memory_limit) {
            Ok(cgroup) => Ok(Some(Arc::new(cgroup))),
            Err(source) if subject.variant.memory_limit.is_some() => {
                Err(Error::MemoryLimit { variant: subject.variant.name.clone(), source })
            }
            Err(error) => {
                let text = format!(
                    "no control group for the server ({error}); its CPU is added up over its \
                     processes instead"
                );
                let code = "no-cgroup".to_owned();
                store.warn(place.experiment, Some(place.trial), &Warning { code, text })?;
                Ok(None)
            }
        }
    }

    fn start(
        &self,
        subject: &Subject,
        directory: &Path,
        cgroup: Option<&Cgroup>,
    ) -> Result<Box<dyn Server>, Error> {
        if !owned(subject) {
            return dbms::attach(&subject.reference).map_err(|source| Error::Variant {
                variant: subject.variant.name.clone(),
                source: Box::new(source),
            });
        }
        let config_file = match &subject.variant.config_text {
            Some(text) => Some(self.write_config(text, directory)?),
            None => None,
        };
        let started = dbms::start(ServerSpec {
            installation: &subject.installation,
            reference: &subject.reference,
            name: &subject.variant.name,
            directory,
            config: subject.variant.config.clone(),
            config_file: config_file.clone(),
            initdb: subject.variant.initdb.clone(),
            procs_files: cgroup.map(Cgroup::procs_files).unwrap_or_default(),
            user: self.user.clone(),
            start_limit: self.options.start_limit,
            stop_limit: self.options.stop_limit,
            cache: &self.prepared.cache,
            ledger: self.ledger,
        });
        if let Some(file) = config_file {
            // It has been copied into the server's own configuration.
            let _ = fs::remove_file(file);
        }
        Ok(started?)
    }

    /// The variant's configuration file, from the text that the plan keeps of it.
    fn write_config(&self, text: &str, directory: &Path) -> Result<PathBuf, Error> {
        let path = directory.with_extension("conf");
        fs::write(&path, text).map_err(|source| Error::Io {
            path: path.clone(),
            source,
            remedy: "Choose another place with --data-dir",
        })?;
        Ok(path)
    }

    /// The server's log among the artifacts. A log that can't be kept is no reason to lose a trial.
    fn keep_log(&self, place: Place, subject: &Subject, log: &Path, store: &Store) {
        let directory = self.options.results.join("artifacts").join("logs");
        let name = format!(
            "{}.b{}.dop{}.t{}.log",
            subject.variant.name, place.block, place.dop, place.trial
        );
        let kept = fs::create_dir_all(&directory)
            .and_then(|()| fs::copy(log, directory.join(name)).map(|_| ()));
        if let Err(error) = kept {
            let text = format!("the server's log could not be kept: {error}");
            let warning = Warning { code: "log-not-kept".to_owned(), text };
            let _ = store.warn(place.experiment, Some(place.trial), &warning);
        }
    }

    #[allow(clippy::too_many_arguments)] // one caller, and a struct for it would say no more
    fn steps(
        &self,
        place: Place,
        subject: &Subject,
        benchmark: &Benchmark,
        server: &mut dyn Server,
        group: Option<Group>,
        store: &Store,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<(), Error> {
        self.set_up(subject, benchmark, server).map_err(|error| match error {
            Error::Dbms(source) => self.failed(place, subject, "setup", source.to_string(), server),
            other => other,
        })?;
        let settings: Vec<_> = server
            .settings()?
            .into_iter()
            .map(|setting| Setting {
                name: setting.name,
                value: setting.value,
                unit: setting.unit.unwrap_or_default(),
                source: setting.source,
                boot_value: setting.boot_value.unwrap_or_default(),
            })
            .collect();
        store.record_settings(place.trial, &settings)?;
        let device = match (&group, owned(subject)) {
            (Some(_), true) => probe::block_device_of(&self.options.data_dir),
            (Some(_), false) => data_directory(server).and_then(|p| probe::block_device_of(&p)),
            (None, _) => None,
        };
        let mut counted = None;
        for (ordinal, phase) in benchmark.phases.iter().enumerate() {
            let name = match phase {
                Phase::Step(step) => step.name.as_str(),
                Phase::Settle { .. } => "settle",
            };
            let mut record = StepRecord::new(ordinal as u32, name, place.dop);
            record.started_ms = store::now_ms();
            on_event(began(phase, place.dop));
            let outcome = match phase {
                Phase::Settle { rows } => {
                    counted = None;
                    let pause = rest(*rows, self.prepared.plan.settle_seconds_scale);
                    let tables = &benchmark.tables;
                    let ours = owned(subject);
                    let directory = ours.then_some(self.options.data_dir.as_path());
                    settle(server, ours, tables, directory, pause, self.interrupted, record)
                        .map(|record| (record, None))
                        .map_err(|error| match error {
                            Error::Interrupted => Trouble::Interrupted,
                            error => Trouble::Failed(error.to_string()),
                        })
                }
                Phase::Step(step) => Surroundings {
                    server,
                    variant: &subject.variant.name,
                    group: group.clone(),
                    device: device.clone(),
                    tables: &benchmark.tables,
                    counted: &mut counted,
                    seed: stream_seed(self.seed, "block", 0, place.block, ""),
                    answer_limit: self.options.answer_limit,
                    interrupted: self.interrupted,
                }
                .run(&Arc::new(step.clone()), record, on_event),
            };
            let trouble = match outcome {
                Ok((record, trouble)) => {
                    store.record_step(place.trial, &record)?;
                    if trouble.is_none() {
                        on_event(ended(phase, &record));
                    }
                    trouble
                }
                Err(trouble) => {
                    let mut record = StepRecord::new(ordinal as u32, name, place.dop);
                    record.started_ms = store::now_ms();
                    record.state = StepState::Failed;
                    // The trouble is what to tell, even where it can't be stored.
                    let _ = store.record_step(place.trial, &record);
                    Some(trouble)
                }
            };
            match trouble {
                None if self.interrupted.load(Ordering::Relaxed) => return Err(Error::Interrupted),
                None => {}
                Some(Trouble::Interrupted) => return Err(Error::Interrupted),
                Some(Trouble::Failed(reason)) => {
                    return Err(self.failed(place, subject, name, reason, server));
                }
            }
        }
        Ok(())
    }

    /// Creates the tables.
    fn set_up(
        &self,
        subject: &Subject,
        benchmark: &Benchmark,
        server: &mut dyn Server,
    ) -> Result<(), Error> {
        if !owned(subject) {
            attached::clear(server, &subject.variant.name, &benchmark.tables)?;
        }
        interruptible(server, owned(subject), self.interrupted, |server| {
            if !owned(subject) {
                return attached::create(server, &benchmark.setup, &benchmark.tables);
            }
            for statement in &benchmark.setup {
                server.execute(statement)?;
            }
            Ok(())
        })
    }

    fn failed(
        &self,
        place: Place,
        subject: &Subject,
        step: &str,
        reason: String,
        server: &mut dyn Server,
    ) -> Error {
        let tail = server.log_tail(LOG_LINES);
        let log = if tail.trim().is_empty() {
            String::new()
        } else {
            format!("\nlast lines of the server's log:\n{}", tail.trim_end())
        };
        let full = reason.contains("53100") || tail.contains("No space left on device");
        let remedy = if full {
            ". The disk with the data directory is full: free space there, or choose another place with --data-dir"
        } else {
            ""
        };
        Error::Step {
            variant: subject.variant.name.clone(),
            block: place.block,
            dop: place.dop,
            step: step.to_owned(),
            reason: format!("{reason}{remedy}"),
            log,
        }
    }
}

/// Says so where the kernel ended a process of the server because of its memory limit: the server's
/// own log only tells of a killed process.
fn explain_out_of_memory(error: Error, cgroup: Option<&Cgroup>) -> Error {
    let killed = cgroup.and_then(Cgroup::oom_kills).is_some_and(|kills| kills > 0);
    match error {
        Error::Step { variant, block, dop, step, reason, log } if killed => Error::Step {
            variant,
            block,
            dop,
            step,
            reason: format!(
                "{reason}. The kernel ended a process of the server for want of memory: raise \
                 `memory_limit`, or lower the server's settings such as maintenance_work_mem"
            ),
            log,
        },
        error => error,
    }
}

/// Whether steelyard started the server (or would), rather than found it running.
fn owned(subject: &Subject) -> bool {
    subject.installation.bin_dir.is_some()
}

/// Where a server that is not ours keeps its data, if it tells and that is here.
fn data_directory(server: &mut dyn Server) -> Option<PathBuf> {
    let rows = server.query_rows("SHOW data_directory").ok()?;
    let path = PathBuf::from(rows.first()?.first()?.as_deref()?);
    path.exists().then_some(path)
}

fn began(phase: &Phase, dop: u32) -> Event {
    match phase {
        Phase::Step(step) => Event::StepBegan {
            name: step.name.clone(),
            dop,
            operations: planned(step),
            seconds: step.seconds,
            unit: step.unit.name(),
        },
        Phase::Settle { .. } => Event::StepBegan {
            name: "settle".to_owned(),
            dop,
            operations: None,
            seconds: None,
            unit: "",
        },
    }
}

/// Operations of a step that ends by its work; `None` for one that can't show how far it is.
fn planned(step: &workload::Step) -> Option<u64> {
    if step.operations.is_some() {
        return None;
    }
    step.streams
        .iter()
        .filter(|stream| stream.class == step.counted)
        .map(|stream| match stream.end {
            workload::End::Rounds(rounds) => Some(rounds * stream.operations_per_round),
            workload::End::Time | workload::End::CaughtUp => None,
        })
        .sum()
}

fn ended(phase: &Phase, record: &StepRecord) -> Event {
    let (rate, unit) = match phase {
        Phase::Step(step) => (Some(record.operations as f64 / record.seconds), step.unit.name()),
        Phase::Settle { .. } => (None, ""),
    };
    Event::StepEnded {
        name: record.name.clone(),
        rate,
        unit,
        seconds: record.seconds,
        warnings: record.warnings.iter().map(|warning| warning.text.clone()).collect(),
    }
}
