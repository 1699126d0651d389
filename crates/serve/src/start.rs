//! Starting runs. A plan is code, so this is off unless the service was given a directory of plans,
//! and takes a right of its own.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// A run that has not failed within this time has begun.
const BEGINS: Duration = Duration::from_secs(10);
/// The file for what the last run that was started has said.
const SAID: &str = "started.log";
/// That file until it has begun.
const NEW: &str = "started.new";
/// Bytes of that which are told if it failed, at most.
const TOLD: usize = 4 << 10;

/// Starts runs of the plans of a directory.
#[derive(Debug)]
pub(crate) struct Starter {
    /// The program, and further words for its runs.
    program: PathBuf,
    words: Vec<String>,
    /// Where results go, and where the plans are.
    results: PathBuf,
    plans: PathBuf,
    /// Held while one begins.
    turn: Mutex<()>,
}

/// What is to be started.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// Name of a plan.
    plan: String,
    /// True if its latest unfinished run is to continue. A run of another plan never does: somebody
    /// may have pushed it.
    #[serde(default)]
    resume: bool,
}

/// Why a run was not started.
#[derive(Debug)]
pub(crate) enum Unstarted {
    NoPlan,
    /// Another one is being started.
    Busy,
    /// What it said.
    Failed(String),
}

impl Starter {
    pub(crate) fn new(
        program: PathBuf,
        words: Vec<String>,
        results: PathBuf,
        plans: PathBuf,
    ) -> Self {
        Starter { program, words, results, plans, turn: Mutex::default() }
    }

    /// Names of the plans, sorted.
    pub(crate) fn plans(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.plans).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut plans: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
        plans.sort_unstable();
        plans
    }

    /// Starts a run that outlives the service, and returns its process. What it says is kept beside
    /// what runs tell.
    pub(crate) fn start(&self, Asked { plan, resume }: &Asked) -> Result<u32, Unstarted> {
        if !self.plans().contains(plan) {
            return Err(Unstarted::NoPlan);
        }
        let _turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(Unstarted::Busy),
        };
        let folder = site::live::folder(&self.results);
        // One that is refused leaves the log of the one before it alone.
        let [said, new] = [SAID, NEW].map(|name| folder.join(name));
        let words = [OsStr::new("run"), self.plans.join(plan).as_os_str()].map(OsStr::to_owned);
        let mut command = Command::new(&self.program);
        command.args(words).args(resume.then_some("--resume"));
        command.arg("--results").arg(&self.results).args(&self.words);
        let spawned =
            fs::create_dir_all(&folder).and_then(|()| File::create(&new)).and_then(|it| {
                command
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(it)
                    .process_group(0)
                    .spawn()
            });
        let mut child = spawned.map_err(|error| Unstarted::Failed(error.to_string()))?;
        let (process, begin) = (child.id(), Instant::now());
        let began = || {
            let runs = site::live::runs(&self.results).runs;
            runs.iter().any(|run| run.process == process && run.experiment.is_some())
        };
        while begin.elapsed() < BEGINS && !began() {
            match child.try_wait() {
                Ok(Some(status)) if !status.success() => {
                    return Err(Unstarted::Failed(end_of(&new)));
                }
                Ok(Some(_)) | Err(_) => break,
                Ok(None) => thread::sleep(Duration::from_millis(50)),
            }
        }
        let _ = fs::rename(&new, &said);
        // So that it is no zombie when it has ended.
        thread::spawn(move || child.wait());
        Ok(process)
    }
}

/// The end of what a run has said.
fn end_of(said: &Path) -> String {
    let text = fs::read(said).unwrap_or_default();
    let from = text.len().saturating_sub(TOLD);
    String::from_utf8_lossy(&text[from..]).trim().to_owned()
}
