//! The run: blocks of trials in their random order, each finished one kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dbms::{Cache, Ledger, ServerUser};
use plan::Plan;
use store::{
    Experiment, ExperimentId, ExperimentState, HostFact, NewExperiment, NewVariant, Purpose, Store,
    Warning, now_ms,
};

use crate::adaptive::conduct;
use crate::blocks::Course;
use crate::error::Error;
use crate::event::Event;
use crate::exclusive::Exclusive;
use crate::options::Options;
use crate::prepare::{Prepared, Subject, prepare};
use crate::profile::Profiler;
use crate::restore::Loads;
use crate::trial::Bench;

/// Whether a run begins anew or goes on.
#[derive(Debug, Clone)]
pub enum Resume {
    /// A new experiment from this plan.
    New(Box<Plan>),
    /// The latest unfinished experiment in the results directory; with a plan, the latest
    /// unfinished one of that plan.
    Latest(Option<Box<Plan>>),
}

/// Conducts a plan and returns the experiment in the store.
///
/// `interrupted` may be set from a signal handler: the run then stops its clients and its server,
/// keeps what is finished and returns [`Error::Interrupted`].
///
/// # Errors
///
/// See [`Error`]. Nothing is left running, whatever is returned.
pub fn run(
    resume: Resume,
    options: &Options,
    cache: Cache,
    ledger: &Ledger,
    interrupted: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<ExperimentId, Error> {
    let exclusive = if options.allow_concurrent { None } else { Some(Exclusive::take()?) };
    sweep(ledger, on_event)?;
    let (plan, going_on) = match resume {
        Resume::New(plan) => (*plan, None),
        Resume::Latest(plan) => {
            let store = Store::open_existing(&options.results)?;
            let (plan, experiment) = latest_unfinished(&store, plan)?;
            (plan, Some(experiment))
        }
    };
    let prepared = prepare(plan, cache, options.server_user.as_deref(), interrupted, on_event)?;
    // Only now, so that a plan which can't be run leaves no empty results behind.
    let store = Store::open(&options.results)?;
    let starts = prepared.subjects.iter().any(|subject| subject.installation.bin_dir.is_some());
    // Servers that run already need no user.
    let user = if starts {
        ServerUser::choose(options.server_user.as_deref())?
    } else {
        ServerUser::caller()
    };
    let made = make_data_dir(options)?;
    if starts {
        user.check_reach(&options.data_dir).inspect_err(|_| made.remove())?;
    }
    let database = options.results.join(store::DATABASE);
    let (experiment, held) = match going_on {
        Some(experiment) => {
            let held = Exclusive::take_experiment(&database, experiment.id.0)
                .inspect_err(|_| made.remove())?;
            store.resume_experiment(experiment.id)?;
            (experiment, held)
        }
        None => {
            let seed = prepared.plan.seed.unwrap_or_else(fresh_seed);
            let experiment = begin(&store, &prepared, options, Purpose::Run, seed)?;
            let held = Exclusive::take_experiment(&database, experiment.id.0)?;
            (experiment, held)
        }
    };
    let bench = Bench {
        prepared: &prepared,
        options,
        ledger,
        user: &user,
        interrupted,
        seed: experiment.seed,
        profiler: Profiler::for_run(&prepared.plan, &store, experiment.id)?,
        loads: Loads::default(),
    };
    let result = Course::open(&bench, &store, &experiment)
        .and_then(|mut course| conduct(&mut course, on_event));
    bench.loads.discard();
    match &result {
        Ok(()) => store.finish_experiment(experiment.id)?,
        // The store may be what failed; the error that came first is the one to tell.
        Err(_) => store.interrupt_experiment(experiment.id).unwrap_or(()),
    }
    made.remove();
    drop((held, exclusive));
    result.map(|()| {
        on_event(Event::Ended);
        experiment.id
    })
}

/// Ends and removes what killed runs have left.
pub fn sweep(ledger: &Ledger, on_event: &mut dyn FnMut(Event)) -> Result<(), Error> {
    for swept in ledger.sweep(&probe::remove_directories)? {
        let mut text = format!("cleaned up what a killed run left of `{}`:", swept.name);
        for pid in &swept.ended {
            text.push_str(&format!(" ended process {pid};"));
        }
        for directory in &swept.removed {
            text.push_str(&format!(" removed {};", directory.display()));
        }
        for problem in &swept.problems {
            text.push_str(&format!(" could not clean: {problem};"));
        }
        on_event(Event::Note(text.trim_end_matches([';', ':']).to_owned()));
    }
    Ok(())
}

/// The experiment to go on with, and its plan.
fn latest_unfinished(store: &Store, plan: Option<Box<Plan>>) -> Result<(Plan, Experiment), Error> {
    let unfinished = store
        .experiments()?
        .into_iter()
        .rev()
        .filter(|experiment| experiment.state != ExperimentState::Finished);
    for experiment in unfinished {
        let stored = Plan::parse(&experiment.plan, None, "the stored plan")
            .map_err(|error| Error::Resume(format!("the stored plan can't be read: {error}")))?;
        match &plan {
            // The stored plan has no passwords in it; the given one may.
            Some(plan) if plan::plan_without_passwords(&complete_text(plan)) == experiment.plan => {
                return Ok((plan.as_ref().clone(), experiment));
            }
            Some(_) => {}
            None if experiment.plan.contains(plan::HIDDEN) => {
                return Err(Error::Resume(format!(
                    "passwords, commands and connection strings in the plan of `{}` were not stored; name the plan's file",
                    stored.name
                )));
            }
            None => return Ok((stored, experiment)),
        }
    }
    Err(Error::Resume(match plan {
        Some(plan) => format!(
            "no unfinished experiment of this plan (`{}`) in the results directory; run it without --resume",
            plan.name
        ),
        None => "no unfinished experiment in the results directory; name a plan to run".to_owned(),
    }))
}

/// The plan's text, complete without other files and without the folder that paths in it are relative to.
fn complete_text(plan: &Plan) -> String {
    let alone = Plan::parse(&plan.text, None, "the plan's text");
    if alone.is_ok_and(|alone| alone == *plan) { plan.text.clone() } else { plan.to_toml() }
}

/// Records a new experiment with its variants and its host.
pub fn begin(
    store: &Store,
    prepared: &Prepared,
    options: &Options,
    purpose: Purpose,
    seed: u64,
) -> Result<Experiment, Error> {
    let plan = &prepared.plan;
    let id = store.begin_experiment(&NewExperiment {
        name: plan.name.clone(),
        workload: plan.workload.name().to_owned(),
        base: plan.base.clone(),
        purpose,
        seed,
        blocks: plan.blocks,
        margin: plan.margin,
        plan: plan::plan_without_passwords(&complete_text(plan)),
        steelyard: options.version.clone(),
        created_ms: now_ms(),
    })?;
    let facts: Vec<_> = probe::host_facts(&options.data_dir)
        .into_iter()
        .map(|fact| HostFact { group: fact.group, name: fact.name, value: fact.value })
        .collect();
    store.record_host(id, &facts)?;
    for subject in &prepared.subjects {
        store.add_variant(
            id,
            &NewVariant {
                name: subject.variant.name.clone(),
                dbms: plan::without_passwords(&subject.variant.dbms),
                source: subject.installation.source.clone(),
                version: subject.installation.version.clone(),
                build: subject.installation.build.clone(),
                config: subject.variant.config.clone(),
            },
        )?;
    }
    warn_of_builds(store, id, prepared)?;
    warn_of_checksums(store, id, prepared)?;
    Ok(store.experiment(id)?)
}

/// Records in what the builds differ besides their version.
fn warn_of_builds(store: &Store, id: ExperimentId, prepared: &Prepared) -> Result<(), Error> {
    let builds: Vec<_> = prepared
        .subjects
        .iter()
        .map(|subject| (subject.variant.name.as_str(), &subject.installation.build))
        .collect();
    for text in dbms::differing_builds(&builds) {
        let warning = Warning { code: "builds-differ".to_owned(), text };
        store.warn(id, None, &warning)?;
    }
    Ok(())
}

/// Records where only some variants have checksums on their pages. Data that others made is not looked at.
fn warn_of_checksums(store: &Store, id: ExperimentId, prepared: &Prepared) -> Result<(), Error> {
    let own = prepared.subjects.iter().filter(|subject| subject.installation.bin_dir.is_some());
    let variants: Vec<_> = own
        .map(|subject| {
            let Subject { variant, installation, .. } = subject;
            (variant.name.as_str(), installation.major(), variant.initdb.as_slice())
        })
        .collect();
    if let Some(text) = dbms::postgres::differing_checksums(&variants) {
        store.warn(id, None, &Warning { code: "checksums-differ".to_owned(), text })?;
    }
    Ok(())
}

/// A seed where the plan has none. Below 2^63, so that TOML and SQLite can hold it.
fn fresh_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(now_ms()) >> 1
}

/// The directory under which servers' data is made, as far as it is ours to remove.
#[derive(Default)]
pub struct DataDir {
    /// Directories that were made for it, the outermost first.
    made: Vec<PathBuf>,
}

impl DataDir {
    /// Removes what was made, as far as it is empty; another run may be using it.
    pub fn remove(&self) {
        for path in self.made.iter().rev() {
            if fs::remove_dir(path).is_err() {
                return;
            }
        }
    }
}

/// Makes the directory under which servers' data is made: passable for others, listable by none,
/// whatever the umask. The default one stands where anyone can make it first, so it must be our
/// own; one that is named with --data-dir is taken as it is.
pub fn make_data_dir(options: &Options) -> Result<DataDir, Error> {
    make_directory(&options.data_dir, options.data_dir == crate::default_data_dir())
}

/// Makes it; `shared_place`: where anyone can make it first.
fn make_directory(path: &Path, shared_place: bool) -> Result<DataDir, Error> {
    use std::os::unix::fs::PermissionsExt;
    let io = |source| Error::Io {
        path: path.to_owned(),
        source,
        remedy: "Choose a place for the servers' data with --data-dir",
    };
    let mut data = DataDir::default();
    if shared_place && path.symlink_metadata().is_ok() {
        dbms::check_private(path)?;
        data.made.push(path.to_owned());
        return Ok(data);
    }
    if path.is_dir() {
        return Ok(data);
    }
    if path.exists() {
        return Err(io(std::io::ErrorKind::NotADirectory.into()));
    }
    let mut missing: Vec<&Path> = path.ancestors().take_while(|way| !way.exists()).collect();
    missing.reverse();
    for directory in missing {
        let result = fs::create_dir(directory)
            .and_then(|()| fs::set_permissions(directory, fs::Permissions::from_mode(0o711)));
        match result {
            Ok(()) => data.made.push(directory.to_owned()),
            // Another run was first.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                if shared_place && directory == path {
                    dbms::check_private(path)?;
                }
            }
            Err(error) => {
                data.remove();
                return Err(io(error));
            }
        }
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_made_by_someone_else_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("data");
        make_directory(&path, true).unwrap();
        let data = make_directory(&path, true).unwrap();
        data.remove();
        assert!(!path.exists(), "what is ours is taken, and removed at the end");
        std::os::unix::fs::symlink(place.path(), &path).unwrap();
        let refused = |part: &str| {
            let Err(error) = make_directory(&path, true) else { panic!("expected: {part}") };
            let text = error.to_string();
            assert!(text.contains(part) && text.contains("--data-dir"), "{text}");
            assert!(error.is_request());
        };
        refused("symbolic link");
        make_directory(&path, false).unwrap();
        if !nix::unistd::geteuid().is_root() {
            eprintln!("skipped: not root, so no directory can be given away");
            return;
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).unwrap();
        refused("belongs to user");
    }
}
