//! Where results are and which experiment is meant, shared by all subcommands that read. Only this
//! file knows what an address in place of a directory means.

use std::path::{Path, PathBuf};

use archive::{Address, Archive, Wanted};
use clap::Args;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use report::{ReportError, Results, Which};
use store::{Experiment, ExperimentId, Purpose, Store, StoreError};

use crate::exit::{WrongRequest, refuse};
use crate::pasted::pasted;

/// The results directory if none is named.
pub const RESULTS: &str = "steelyard-results";

/// Where results are.
#[derive(Debug, Clone, Args)]
pub struct ResultsDir {
    /// The results directory. To read from, also an address such as s3://BUCKET/PREFIX
    #[arg(
        long,
        value_name = "DIR",
        env = "STEELYARD_RESULTS",
        default_value = RESULTS
    )]
    pub results: PathBuf,
}

/// Which experiment in a results directory.
#[derive(Debug, Clone, Args)]
pub struct Chosen {
    #[command(flatten)]
    pub directory: ResultsDir,
    /// The experiment, by number or name [default: the latest]
    #[arg(long, short, value_name = "ID|NAME")]
    pub experiment: Option<String>,
}

impl Chosen {
    /// The words that choose the same experiment in another command.
    pub fn words(&self) -> Vec<String> {
        let mut words = self.directory.words();
        words.extend(self.experiment.iter().flat_map(|it| ["-e".to_owned(), it.clone()]));
        words
    }

    /// Opens the store and loads the experiment, or the `latest` if none is named.
    pub fn open(&self, latest: Which<'_>) -> anyhow::Result<(Store, Results)> {
        let named = self.experiment.as_deref();
        let store = open(&self.directory.results, named.as_slice())?;
        let results = self.load(&store, latest)?;
        Ok((store, results))
    }

    /// The same, with all other experiments in the store, if it is at an address.
    pub fn open_all(&self, latest: Which<'_>) -> anyhow::Result<(Store, Results)> {
        let store = open_wanted(&self.directory.results, Wanted::All)?;
        let results = self.load(&store, latest)?;
        Ok((store, results))
    }

    /// Loads the experiment and says which of several was taken.
    fn load(&self, store: &Store, latest: Which<'_>) -> anyhow::Result<Results> {
        let named = self.experiment.as_deref();
        let results = match report::load(store, named.map_or(latest, Which::Named)) {
            Err(ReportError::UnknownExperiment { asked, .. }) => {
                return refuse(absent(&asked, &self.directory.results));
            }
            loaded => loaded?,
        };
        if named.is_some() {
            note_newest(store, &results.experiment, named)?;
        } else if store.all_experiments()?.len() > 1 {
            let Experiment { id, name, purpose, .. } = &results.experiment;
            let what = match purpose {
                Purpose::Run if store.finished_trials(*id)?.is_empty() => "run",
                Purpose::Run => "run with results",
                Purpose::Count => "count",
            };
            eprintln!("note: experiment {id} `{name}`, the latest {what}; -e names another");
        }
        Ok(results)
    }
}

impl ResultsDir {
    /// The words that name it in a command; none for the default directory.
    pub fn words(&self) -> Vec<String> {
        let usual = std::env::var_os("STEELYARD_RESULTS").is_none();
        match usual && self.results == Path::new(RESULTS) {
            true => Vec::new(),
            false => vec!["--results".to_owned(), self.results.display().to_string()],
        }
    }

    /// The directory, for commands that write into it.
    pub fn writable(&self) -> anyhow::Result<&Path> {
        match address(&self.results)? {
            None => Ok(&self.results),
            Some(address) => {
                let variable = std::env::var_os("STEELYARD_RESULTS");
                let set = variable.is_some_and(|value| self.results.as_os_str() == value);
                let set = if set { ", which STEELYARD_RESULTS names" } else { "" };
                refuse(format!(
                    "results are written into a directory, not to {address}{set}; name one with --results, then `steelyard push`"
                ))
            }
        }
    }
}

/// Opens a results directory for reading.
pub fn open_directory(directory: &Path) -> anyhow::Result<Store> {
    Store::open_read_only(directory).or_else(|error| match error {
        StoreError::Missing(_) if archive::is_pushed_to(directory) => {
            let address: Address = directory.display().to_string().parse()?;
            refuse(format!(
                "{} holds pushed experiments, not results; read them with --results {address}",
                directory.display()
            ))
        }
        error => Err(error.into()),
    })
}

/// Loads an experiment of a results directory.
pub fn load_which(directory: &Path, which: Which<'_>) -> anyhow::Result<(Store, Results)> {
    let store = open_directory(directory)?;
    let results = report::load(&store, which)?;
    Ok((store, results))
}

/// Opens a results directory, or an address with at least the named experiments, for reading. If
/// none is named, the latest.
pub fn open(results: &Path, named: &[&str]) -> anyhow::Result<Store> {
    let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
    open_wanted(results, if named.is_empty() { Wanted::Latest } else { Wanted::Named(&named) })
}

/// As [`open`], with all wanted experiments.
pub fn open_wanted(results: &Path, wanted: Wanted<'_>) -> anyhow::Result<Store> {
    let Some(address) = address(results)? else { return open_directory(results) };
    let archive = open_archive(&address)?;
    Ok(Store::open_read_only(&archive.view(wanted)?)?)
}

/// Refuses a variable for a directory that is set to nothing, as a script does whose own variable
/// is missing.
pub fn check_variables() -> anyhow::Result<()> {
    for variable in ["STEELYARD_RESULTS", "STEELYARD_CACHE", "STEELYARD_STATE"] {
        if std::env::var_os(variable).is_some_and(|value| value.is_empty()) {
            return refuse(format!(
                "the environment variable {variable} is empty; set it to a directory, or unset it"
            ));
        }
    }
    Ok(())
}

/// The address that is meant instead of a results directory.
pub fn address(results: &Path) -> anyhow::Result<Option<Address>> {
    match results.to_str().filter(|text| Address::is_meant(text)) {
        Some(text) => Ok(Some(text.parse()?)),
        None => Ok(None),
    }
}

/// Opens an address to read from it, with its place in the cache.
pub fn open_archive(address: &Address) -> anyhow::Result<Archive> {
    let cache = dbms::Cache::open_default()?;
    Ok(Archive::open_to_read(address, &archives(&cache))?)
}

/// The place in the cache for data about addresses.
pub fn archives(cache: &dbms::Cache) -> PathBuf {
    cache.path().join("archives")
}

/// An experiment by its name (the newest run, or count, that has it) or number; without either, the
/// latest run with results or, if there is no run, the newest count. Says which of several with
/// this name it is.
pub fn find(store: &Store, named: Option<&str>) -> anyhow::Result<Experiment> {
    let found = match named {
        None => report::latest_or_count(store)?,
        Some(name) => called(store, name)?,
    };
    let place = store.directory().display();
    let found = found.ok_or_else(|| {
        WrongRequest(match named {
            Some(name) => absent(name, store.directory()),
            None => format!("no experiment in {place}; make one with `steelyard run`"),
        })
    })?;
    note_newest(store, &found, named)?;
    Ok(found)
}

/// The newest run, or count, of this name, or the experiment of this number.
pub fn called(store: &Store, name: &str) -> anyhow::Result<Option<Experiment>> {
    if let Some(run) = store.experiment_named(name)? {
        return Ok(Some(run));
    }
    let id = name.parse().ok().map(ExperimentId);
    let all = store.all_experiments()?;
    Ok(all.into_iter().find(|it| it.name == name || Some(it.id) == id))
}

/// Says which experiment was taken, if several have the name by which it was chosen.
fn note_newest(store: &Store, taken: &Experiment, named: Option<&str>) -> anyhow::Result<()> {
    let Experiment { id, name, purpose, .. } = taken;
    if named == Some(name.as_str()) {
        let all = store.all_experiments()?;
        let same = all.iter().filter(|it| it.name == *name && it.purpose == *purpose).count();
        if same > 1 {
            eprintln!(
                "note: experiment {id}, the newest of {same} called `{name}`; a number names another"
            );
        }
    }
    Ok(())
}

/// Adds to an error about a word that a command does not take how to name an experiment.
pub fn hint_experiment(error: &mut clap::Error, command: &clap::Command, words: &[String]) {
    let named = words.iter().find_map(|word| command.find_subcommand(word));
    let takes = named.is_some_and(|it| it.get_arguments().any(|it| it.get_short() == Some('e')));
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return };
    if takes && error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-') {
        let hint = format!("to choose an experiment, use '-e {word}'").into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    }
}

/// That a directory has no such experiment.
pub fn absent(name: &str, directory: &Path) -> String {
    let place = directory.display().to_string();
    let list = pasted(&["list", "--results", &place], &[]);
    format!("no experiment `{name}` in {place}; `{list}` shows them")
}

/// Says that an experiment is not known to have ended.
pub fn note_running(experiment: &Experiment) {
    if experiment.state == store::ExperimentState::Running {
        let (id, name) = (experiment.id, &experiment.name);
        eprintln!(
            "note: experiment {id} `{name}` is marked as running; this is its state at the moment"
        );
    }
}
