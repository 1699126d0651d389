//! The server of a trial: started, given its tables, stopped.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dbms::{
    Cache, Ledger, Loaded, Origin, Pages, Programs, ServerSpec, ServerUser, Sql, Started, Stopped,
};
use plan::{Pairing, SequenceKey};
use probe::{Cgroup, Group};
use store::Setting;
use workload::{Benchmark, Phase, Program};

use crate::error::Error;
use crate::event::Event;
use crate::observe::fitness::Fitness;
use crate::options::Options;
use crate::own_data::START_LIMIT;
use crate::subject::Subject;
use crate::systems::Systems;
use crate::trial::attempt::{Attempt, Entered, Trouble, at_once};
use crate::trial::conditions::{Conditions, Lengths};
use crate::trial::loads::{load_phases, restore_record};
use crate::trial::program::check_words;
use crate::trial::settle::interruptible;
use crate::trial::{terms, timers};

/// Starts the servers of trials, all at the same time: each on a copy of its load if the plan loads
/// once, otherwise empty. Their tables are still to be made or found ([`set_up`]). If one does not
/// start, the others can still be stopped. `frozen`: true if a server is frozen while others have
/// the load.
pub fn begin<'a>(
    conditions: &Conditions<'a>,
    trials: &[Entered],
    frozen: &(dyn Fn(&Subject, &Benchmark) -> bool + Sync),
) -> (Vec<Attempt<'a>>, Result<(), Error>) {
    let prepared = trials.iter().map(|trial| Prepared::of(conditions, *trial)).collect();
    let prepared: Vec<Prepared<'a>> = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let Conditions { lineup, options, systems, ledger, user, interrupted, .. } = conditions;
    let cache = &lineup.cache;
    let servers = prepared.len();
    let systems = *systems;
    let starter = Starter { frozen, servers, cache, options, systems, ledger, user };
    let started = at_once(&prepared, |prepared| starter.start(prepared, interrupted));
    let (mut attempts, mut result) = (Vec::new(), Ok(()));
    for (prepared, started) in prepared.into_iter().zip(started) {
        match started {
            Ok(started) => attempts.push(prepared.attempt(conditions, started)),
            Err(error) => result = result.and(Err(error)),
        }
    }
    (attempts, result)
}

/// Everything a trial needs before its server can be started.
struct Prepared<'a> {
    entered: Entered,
    subject: &'a Subject,
    benchmark: Benchmark,
    loaded: Option<Arc<Loaded>>,
    cgroup: Option<Cgroup>,
    directory: PathBuf,
    began_ms: i64,
}

impl<'a> Prepared<'a> {
    fn of(conditions: &Conditions<'a>, entered: Entered) -> Result<Self, Error> {
        let subject = &conditions.lineup.subjects[entered.variant];
        let mut benchmark = subject.benchmark(&conditions.plan().workload, entered.sequence)?;
        end_after(&mut benchmark.phases, entered.steps);
        set_lengths(&mut benchmark.phases, entered.sequence, &conditions.lengths.borrow());
        let loaded = conditions.loads.of(entered);
        if loaded.is_some() || subject.own_data.is_some() {
            conditions.tell(Event::untimed_began("restore"));
        }
        let cgroup = cgroup(conditions, entered, subject)?;
        let name = format!("{}-t{}", std::process::id(), entered.trial);
        let directory = conditions.options.data_dir.join(name);
        let began_ms = store::now_ms();
        Ok(Self { entered, subject, benchmark, loaded, cgroup, directory, began_ms })
    }

    fn attempt(self, conditions: &Conditions<'a>, (mut server, restored): Started) -> Attempt<'a> {
        let Self { entered, subject, benchmark, cgroup, began_ms, .. } = self;
        let first = restored.as_ref().map_or(0, |_| load_phases(conditions.plan(), &benchmark));
        let restored = restored.map(|r| restore_record(&r, first, began_ms));
        if let Some(record) = &restored {
            conditions.tell(Event::step_ended(record, entered.clients, None));
        }
        let group = server.root_pid().map(|root_pid| match cgroup {
            Some(cgroup) => Group::Cgroup { cgroup: Arc::new(cgroup), root_pid },
            None => Group::Tree(root_pid),
        });
        let data = group.as_ref().and_then(|_| server.data_directory());
        Attempt {
            entered,
            subject,
            benchmark: Arc::new(benchmark),
            server,
            group,
            device: data.and_then(|path| probe::block_device_of(&path)),
            counted: None,
            among: None,
            first,
            restored,
            asked: None,
            fitness: Fitness::Clean,
        }
    }
}

/// Creates the tables, where they do not come with a copy of the load, and records the server's
/// settings.
pub fn set_up(conditions: &Conditions<'_>, attempt: &mut Attempt<'_>) -> Result<(), Error> {
    let trial = attempt.entered.trial;
    check_words(conditions, attempt)
        .map_err(|trouble| attempt.error("setup", attempt.entered.clients, trouble))?;
    if let Some(record) = &attempt.restored {
        conditions.store.record_step(trial, record)?;
    } else {
        create_tables(conditions, attempt).map_err(|error| match error {
            Error::Dbms(source) => {
                attempt.error("setup", attempt.entered.clients, Trouble::from(*source))
            }
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
    Ok(conditions.store.record_settings(trial, &settings)?)
}

fn create_tables(conditions: &Conditions<'_>, attempt: &mut Attempt<'_>) -> Result<(), Error> {
    let Attempt { subject, benchmark, server, .. } = attempt;
    if benchmark.setup.is_empty() {
        return Ok(());
    }
    let owned = server.owned();
    if !owned && let Some(table) = drop_ours(server.need_sql()?, benchmark)? {
        return Err(Error::TableExists { variant: subject.variant.name.clone(), table });
    }
    interruptible(server.as_mut(), conditions.interrupted, |server| {
        let sql = server.need_sql()?;
        if !owned {
            return sql.create_marked(&benchmark.setup, &benchmark.tables);
        }
        for statement in &benchmark.setup {
            sql.execute(statement)?;
        }
        Ok(())
    })
}

/// Drops what the benchmark makes on a server that is somebody else's; returns a table of the same
/// name that isn't ours.
fn drop_ours(sql: &mut dyn Sql, benchmark: &Benchmark) -> Result<Option<String>, dbms::Error> {
    let others = sql.drop_marked(&benchmark.tables)?;
    for statement in benchmark.teardown.iter().filter(|_| others.is_none()) {
        sql.execute(statement)?;
    }
    Ok(others)
}

/// The fate of a stopped server's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// Others start on it: the server shuts down in good order.
    Kept,
    /// It is removed: the server is ended at once, without writing back data that nobody will read.
    Removed,
}

/// Stops the servers of trials, all at the same time, and returns what they left on disk, which is
/// removed when dropped; the servers' logs are kept. `results` is the outcome of each trial's
/// steps: a failure there takes precedence over a failure to stop.
pub fn stop(
    conditions: &Conditions<'_>,
    mut attempts: Vec<Attempt<'_>>,
    results: Vec<Result<(), Error>>,
    data: Data,
) -> Vec<Result<Stopped, Error>> {
    let before = |(attempt, result): (&mut Attempt<'_>, Result<(), Error>)| {
        let result =
            result.map_err(|error| explain_out_of_memory(error, attempt.cgroup().map(Arc::as_ref)));
        if attempt.server.owned() {
            return result;
        }
        // What is ours is removed, whatever became of the trial.
        let benchmark = &attempt.benchmark;
        let dropped = attempt.server.need_sql().and_then(|sql| drop_ours(sql, benchmark));
        result.and_then(|()| Ok(dropped.map(drop)?))
    };
    let results: Vec<_> = attempts.iter_mut().zip(results).map(before).collect();
    let owned = attempts.iter().filter(|attempt| attempt.server.owned());
    let programs = Programs::of(owned.filter_map(|attempt| attempt.server.root_pid()));
    let (trials, servers): (Vec<_>, Vec<_>) = attempts
        .into_iter()
        .map(|attempt| ((attempt.entered, attempt.subject, attempt.group), attempt.server))
        .unzip();
    let stopped = at_once(servers, |server| match data {
        Data::Kept => server.stop(),
        Data::Removed => server.end(),
    });
    if conditions.go_on().is_ok() {
        // No build is to keep its luck.
        programs.place_anew();
    }
    let after = |((entered, subject, _), stopped): ((_, _, _), Result<Stopped, dbms::Error>)| {
        let log = stopped.as_ref().ok().and_then(|stopped| stopped.log.as_deref());
        let kept = log.and_then(|log| keep_log(conditions, entered, subject, log));
        (stopped.map_err(Error::from), kept)
    };
    let stopped = trials.into_iter().zip(stopped).map(after);
    let whole = |((stopped, kept), result): ((_, _), Result<(), Error>)| {
        result.map_err(|error| error.with_log_file(kept)).and(stopped)
    };
    stopped.zip(results).map(whole).collect()
}

/// A control group for the server: needed for a memory limit, and otherwise the better way to
/// count.
fn cgroup(
    conditions: &Conditions<'_>,
    entered: Entered,
    subject: &Subject,
) -> Result<Option<Cgroup>, Error> {
    if !subject.installation.is_ours() {
        return Ok(None);
    }
    let name = format!("steelyard-{}-t{}", std::process::id(), entered.trial);
    match Cgroup::create(&name, subject.variant.memory_limit) {
        Ok(mut cgroup) => {
            if matches!(conditions.plan().pairing, Pairing::Frozen | Pairing::Auto) {
                // Where it can't, its processes are stopped by signals.
                cgroup.make_freezable();
            }
            Ok(Some(cgroup))
        }
        Err(source) if subject.variant.memory_limit.is_some() => {
            Err(Error::MemoryLimit { variant: subject.variant.name.clone(), source })
        }
        Err(error) => {
            let text = format!(
                "no control group for the server ({error}); its CPU is summed over its processes \
                 instead"
            );
            conditions.warn(Some(entered.trial), "no-cgroup", text)?;
            Ok(None)
        }
    }
}

/// The parts of an experiment that starting a server needs.
struct Starter<'c> {
    /// True if a server is frozen while others have the load.
    frozen: &'c (dyn Fn(&Subject, &Benchmark) -> bool + Sync),
    /// How many start together.
    servers: usize,
    cache: &'c Cache,
    options: &'c Options,
    systems: &'c dyn Systems,
    ledger: &'c Ledger,
    user: &'c ServerUser,
}

impl Starter<'_> {
    fn start(&self, prepared: &Prepared<'_>, interrupted: &AtomicBool) -> Result<Started, Error> {
        let Prepared { subject, directory, .. } = prepared;
        if !subject.installation.is_ours() {
            let attached = self.systems.attach(&subject.reference);
            return attached
                .map(|server| (server, None))
                .map_err(|error| Error::of(&subject.variant.name, error));
        }
        let limited = subject.variant.memory_limit.is_some();
        let origin = prepared.loaded.as_deref().map(|loaded| Origin {
            loaded,
            pages: if limited { Pages::Charged } else { Pages::Alike },
            interrupted,
        });
        let text = subject.variant.config_text.as_ref();
        let config_file = text.map(|text| write_config(text, directory)).transpose()?;
        let transports = terms::transports(&prepared.benchmark);
        let mut config = subject.config(&prepared.benchmark);
        if (self.frozen)(subject, &prepared.benchmark) {
            config.extend(timers::settings(self.servers, subject, &config));
        }
        let data = subject.own_data.as_ref().map(|own| own.data(interrupted));
        let first = data.is_some() && origin.is_none();
        let start_limit = if first { START_LIMIT } else { self.options.start_limit };
        let spec = ServerSpec {
            data,
            config,
            config_file: config_file.clone(),
            procs_files: prepared.cgroup.as_ref().map(Cgroup::procs_files).unwrap_or_default(),
            transports: &transports,
            start_limit,
            stop_limit: self.options.stop_limit,
            ..subject.spec(directory, self.user, self.cache, self.ledger)
        };
        let started = self.systems.start(spec, origin.as_ref());
        if let Some(file) = config_file {
            // It has been copied into the server's own configuration.
            let _ = fs::remove_file(file);
        }
        Ok(started?)
    }
}

/// Keeps the server's log among the artifacts and returns its place. Failing to keep it does not
/// fail the trial.
fn keep_log(
    conditions: &Conditions<'_>,
    entered: Entered,
    subject: &Subject,
    log: &Path,
) -> Option<PathBuf> {
    let Entered { trial, block, clients, .. } = entered;
    let directory = conditions.options.results.join("artifacts").join("logs");
    let dop = clients.to_string().replace(" to ", "-").replace(' ', "");
    let name = format!("{}.b{block}.{dop}.t{trial}.log", subject.variant.name);
    let place = directory.join(name);
    if let Err(error) = fs::create_dir_all(&directory).and_then(|()| fs::copy(log, &place)) {
        let text = format!("could not keep the server's log: {error}");
        let _ = conditions.warn(Some(trial), "log-not-kept", text);
        return None;
    }
    Some(place)
}

/// Writes a variant's configuration file, from the text that the plan keeps of it, next to the
/// directory of its server.
pub fn write_config(text: &str, directory: &Path) -> Result<PathBuf, Error> {
    let path = directory.with_extension("conf");
    fs::write(&path, text).map_err(|source| Error::Io {
        path: path.clone(),
        source,
        remedy: "Choose another directory with --data-dir",
    })?;
    Ok(path)
}

/// Leaves out the phases after this many measured steps, but not the check of the last; if all are
/// wanted, settling after the last stays.
fn end_after(phases: &mut Vec<Phase>, steps: usize) {
    let measured = phases.iter().enumerate().filter(|(_, p)| p.step().is_some());
    let ends: Vec<usize> = measured.map(|(place, _)| place + 1).collect();
    if steps < ends.len() {
        let end = steps.checked_sub(1).map_or(0, |last| ends[last]);
        let checks = phases[end..].iter().take_while(|phase| matches!(phase, Phase::Check(_)));
        phases.truncate(end + checks.count());
    }
}

/// Has timed steps last as long as the run chose, unless their clients think, which takes time.
fn set_lengths(phases: &mut [Phase], sequence: SequenceKey, lengths: &Lengths) {
    let steps = phases.iter_mut().filter_map(|phase| match phase {
        Phase::Step(step) | Phase::Program(Program { step, .. }) => Some(step),
        Phase::Settle { .. } | Phase::Check(_) => None,
    });
    for (place, step) in steps.enumerate().filter(|(_, step)| !step.thinks()) {
        if let (Some(seconds), Some(chosen)) = (&mut step.seconds, lengths.get(&(sequence, place)))
        {
            *seconds = *chosen;
        }
    }
}

/// Reports if the kernel killed a process of the server because of its memory limit, because the
/// server's own log only mentions a killed process.
fn explain_out_of_memory(mut error: Error, cgroup: Option<&Cgroup>) -> Error {
    let killed = cgroup.and_then(Cgroup::oom_kills).is_some_and(|kills| kills > 0);
    if let (true, Error::Step { reason, .. }) = (killed, &mut error) {
        reason.push_str(
            ". The kernel ended a process of the server because of the memory limit: raise \
             `memory_limit`, or lower the server's settings such as maintenance_work_mem",
        );
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::phase_name;
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
