//! A trial under way: a variant's server, started for it, with what its steps need.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dbms::{Diagnosis, Origin, Pages, Restored, ServerSpec, Snapshot, Stopped, System};
use probe::{Cgroup, Device, Group};
use store::{Setting, StepRecord, Store, Warning};
use workload::{Benchmark, Phase};

use crate::attached;
use crate::error::Error;
use crate::fitness::Fitness;
use crate::prepare::{Subject, benchmark};
use crate::restore::{load_phases, restore_record};
use crate::settle::interruptible;
use crate::trial::{Bench, Place};

/// Log lines that an error shows.
const LOG_LINES: usize = 12;

/// A trial under way. [`Bench::end`] stops its server and tells whether that went well; dropping
/// it stops the server too.
pub struct Attempt<'a> {
    /// Which trial it is.
    pub place: Place,
    /// Its variant.
    pub subject: &'a Subject,
    /// What it goes through.
    pub benchmark: Arc<Benchmark>,
    /// The server.
    pub server: Box<dyn System>,
    /// The server's control group, where there is one.
    pub cgroup: Option<Arc<Cgroup>>,
    /// How the kernel knows the server; `None` where it is not on this machine.
    pub group: Option<Group>,
    /// The device that holds its data.
    pub device: Option<Device>,
    /// The server's counters as the step before left them; `None` where something else came
    /// between. To read them takes a good half second, in which the server's last numbers arrive.
    pub counted: Option<Snapshot>,
    /// How its next step runs among those of other trials under way, for people; `None` where it is
    /// the only one.
    pub among: Option<String>,
    /// How many phases of the benchmark a copy of the load has done already; the trial goes through the others.
    pub first: usize,
    /// What to record of making that copy; `None` where the server began empty.
    pub restored: Option<StepRecord>,
    /// What its steps so far say of its worth.
    pub fitness: Fitness,
    /// The share of stolen CPU time above which a step pollutes it, as the plan has it.
    pub steal_limit: f64,
}

impl<'a> Bench<'a> {
    /// Starts a server for a trial: on a copy of what was loaded for it where the plan loads once,
    /// else empty. Its tables are still to be made or found ([`Bench::set_up`]).
    pub fn begin(&self, place: Place, store: &Store) -> Result<Attempt<'a>, Error> {
        let subject = &self.prepared.subjects[place.variant];
        let mut benchmark = benchmark(&self.prepared.plan.workload, place.dop, subject)?;
        end_after(&mut benchmark.phases, place.steps);
        let benchmark = Arc::new(benchmark);
        let cgroup = self.cgroup(place, subject, store)?;
        let directory =
            self.options.data_dir.join(format!("{}-t{}", std::process::id(), place.trial));
        let began_ms = store::now_ms();
        let loaded = self.loads.of(place);
        let limited = subject.variant.memory_limit.is_some();
        let origin = loaded.as_deref().map(|loaded| Origin {
            loaded,
            pages: if limited { Pages::Charged } else { Pages::Alike },
            interrupted: self.interrupted,
        });
        let (mut server, restored) =
            self.start(subject, &directory, cgroup.as_deref(), origin.as_ref())?;
        let first = restored.as_ref().map_or(0, |_| load_phases(&self.prepared.plan, &benchmark));
        let restored = restored.map(|r| restore_record(&r, first, place.dop, began_ms));
        let group = server.root_pid().map(|root_pid| match &cgroup {
            Some(cgroup) => Group::Cgroup { cgroup: Arc::clone(cgroup), root_pid },
            None => Group::Tree(root_pid),
        });
        let data = group.as_ref().and_then(|_| server.data_directory());
        let device = data.and_then(|path| probe::block_device_of(&path));
        Ok(Attempt {
            place,
            subject,
            benchmark,
            server,
            cgroup,
            group,
            device,
            counted: None,
            among: None,
            first,
            restored,
            fitness: Fitness::Clean,
            steal_limit: self.prepared.plan.steal_limit,
        })
    }

    /// Creates the tables, where they do not come with a copy of the load, and records the server's
    /// settings.
    pub fn set_up(&self, attempt: &mut Attempt<'_>, store: &Store) -> Result<(), Error> {
        if let Some(record) = &attempt.restored {
            store.record_step(attempt.place.trial, record)?;
        } else {
            self.create_tables(attempt).map_err(|error| match error {
                Error::Dbms(source) => attempt.failed("setup", source.to_string()),
                other => other,
            })?;
        }
        let settings: Vec<_> = attempt
            .server
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
        store.record_settings(attempt.place.trial, &settings)?;
        Ok(())
    }

    fn create_tables(&self, attempt: &mut Attempt<'_>) -> Result<(), Error> {
        let Attempt { subject, benchmark, server, .. } = attempt;
        let owned = server.owned();
        if !owned {
            attached::clear(server.need_sql()?, &subject.variant.name, &benchmark.tables)?;
        }
        interruptible(server.as_mut(), self.interrupted, |server| {
            let sql = server.need_sql()?;
            if !owned {
                return attached::create(sql, &benchmark.setup, &benchmark.tables);
            }
            for statement in &benchmark.setup {
                sql.execute(statement)?;
            }
            Ok(())
        })
    }

    /// Ends a trial whose steps came to `result`: nothing of it is left but what is in the store
    /// and the server's log.
    pub fn end(
        &self,
        attempt: Attempt<'_>,
        result: Result<(), Error>,
        store: &Store,
    ) -> Result<(), Error> {
        Ok(self.stop(attempt, result, store)?.discard()?)
    }

    /// As [`Bench::end`], but hands over what the server has left on disk.
    pub fn stop(
        &self,
        mut attempt: Attempt<'_>,
        result: Result<(), Error>,
        store: &Store,
    ) -> Result<Stopped, Error> {
        let (place, subject) = (attempt.place, attempt.subject);
        let result =
            result.map_err(|error| explain_out_of_memory(error, attempt.cgroup.as_deref()));
        if !attempt.server.owned() {
            let tables = &attempt.benchmark.tables;
            let dropped = attempt
                .server
                .need_sql()
                .map_err(Error::from)
                .and_then(|sql| attached::drop_tables(sql, tables));
            if result.is_ok() {
                dropped?;
            }
        }
        let stopped = attempt.server.stop();
        if let Ok(stopped) = &stopped
            && let Some(log) = &stopped.log
        {
            self.keep_log(place, subject, log, store);
        }
        // A failure of the trial itself says more than one of the stop after it.
        result?;
        Ok(stopped?)
    }

    /// A control group for the server: needed for a memory limit, else the better way to count.
    fn cgroup(
        &self,
        place: Place,
        subject: &Subject,
        store: &Store,
    ) -> Result<Option<Arc<Cgroup>>, Error> {
        if !subject.installation.is_ours() {
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
        origin: Option<&Origin<'_>>,
    ) -> Result<(Box<dyn System>, Option<Restored>), Error> {
        if !subject.installation.is_ours() {
            let attached = dbms::attach(&subject.reference).map_err(|source| Error::Variant {
                variant: subject.variant.name.clone(),
                source: Box::new(source),
            })?;
            return Ok((attached, None));
        }
        let config_file = match &subject.variant.config_text {
            Some(text) => Some(write_config(text, directory)?),
            None => None,
        };
        let spec = ServerSpec {
            installation: &subject.installation,
            name: &subject.variant.name,
            directory,
            config: subject.variant.config.clone(),
            config_file: config_file.clone(),
            initdb: subject.variant.initdb.clone(),
            procs_files: cgroup.map(Cgroup::procs_files).unwrap_or_default(),
            wrapper: Vec::new(),
            user: self.user.clone(),
            start_limit: self.options.start_limit,
            stop_limit: self.options.stop_limit,
            cache: &self.prepared.cache,
            ledger: self.ledger,
        };
        let started = match origin {
            Some(origin) => dbms::start_on_copy(&spec, origin)
                .map(|(server, restored)| (server, Some(restored))),
            None => dbms::start(spec).map(|server| (server, None)),
        };
        if let Some(file) = config_file {
            // It has been copied into the server's own configuration.
            let _ = fs::remove_file(file);
        }
        Ok(started?)
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
}

impl Attempt<'_> {
    /// Whether it is to be broken off: it is polluted and will be run again.
    pub fn in_vain(&self) -> bool {
        self.place.again && self.fitness.is_polluted()
    }

    /// The error for a step that failed, with the end of the server's log.
    pub fn failed(&mut self, step: &str, reason: String) -> Error {
        let tail = self.server.log_tail(LOG_LINES);
        let log = if tail.trim().is_empty() {
            String::new()
        } else {
            format!("\nlast lines of the server's log:\n{}", tail.trim_end())
        };
        // SQLSTATE disk_full, in what the load says.
        let full = self.server.diagnose() == Some(Diagnosis::DiskFull) || reason.contains("53100");
        let remedy = if full {
            ". The disk with the data directory is full: free space there, or choose another place with --data-dir"
        } else {
            ""
        };
        Error::Step {
            variant: self.subject.variant.name.clone(),
            block: self.place.block,
            dop: self.place.dop,
            step: step.to_owned(),
            reason: format!("{reason}{remedy}"),
            log,
        }
    }
}

/// A variant's configuration file, from the text that the plan keeps of it, beside the directory of its server.
pub fn write_config(text: &str, directory: &Path) -> Result<PathBuf, Error> {
    let path = directory.with_extension("conf");
    fs::write(&path, text).map_err(|source| Error::Io {
        path: path.clone(),
        source,
        remedy: "Choose another place with --data-dir",
    })?;
    Ok(path)
}

/// Leaves out the phases after so many measured steps; where all are wanted, settling after the last stays.
fn end_after(phases: &mut Vec<Phase>, steps: usize) {
    let measured = phases.iter().enumerate().filter(|(_, p)| matches!(p, Phase::Step(_)));
    let ends: Vec<usize> = measured.map(|(place, _)| place + 1).collect();
    if steps < ends.len() {
        phases.truncate(steps.checked_sub(1).map_or(0, |last| ends[last]));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::phase_name;
    use workload::Dialect;

    #[test]
    fn a_shorter_trial_ends_with_its_last_step() {
        let insert = plan::InsertPlan::default();
        let phases = workload::insert::benchmark(&insert, 1, Dialect::postgres(14)).unwrap().phases;
        let names = |steps| {
            let mut cut = phases.clone();
            end_after(&mut cut, steps);
            cut.iter().map(|phase| phase_name(phase).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(1), ["l.i0"]);
        assert_eq!(names(4), ["l.i0", "l.x", "l.i1", "l.i2"], "without settling for what follows");
        assert_eq!(names(5), ["l.i0", "l.x", "l.i1", "l.i2", "settle", "qr100"]);
        assert_eq!(names(10).len(), phases.len());
        assert_eq!(names(0), [""; 0]);
    }
}
