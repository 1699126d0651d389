//! Setup shared by all commands that start servers: where they run, as which user, and how to stop.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use clap::Args;
use dbms::{Cache, Ledger};
use lab::Options;

use crate::builds::BuildsFrom;
use crate::progress::Progress;

/// Where servers run on this machine, where their builds may come from, and whether to show
/// progress.
#[derive(Debug, Clone, Args)]
pub struct Machine {
    /// Where servers keep their data; a run measures the storage of this directory [default:
    /// /var/tmp/steelyard-UID]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// User to run servers as when steelyard runs as root [default: steelyard, created if missing]
    #[arg(long, value_name = "USER")]
    server_user: Option<String>,
    /// Start even if another run is measuring on this machine, which disturbs that run; while this
    /// one measures, others need the option, too
    #[arg(long)]
    allow_concurrent: bool,
    /// Show no progress, only the tables at the end
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    builds: BuildsFrom,
}

/// A machine that is ready: signals are caught, the cache and the ledger are open.
pub struct Ready {
    pub options: Options,
    pub cache: Cache,
    pub ledger: Ledger,
    pub interrupted: Arc<AtomicBool>,
    pub progress: Progress,
}

impl Machine {
    /// The options that a resumed run needs again, to run where this one does.
    pub fn again(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(directory) = &self.data_dir {
            words.extend(["--data-dir".to_owned(), directory.display().to_string()]);
        }
        if let Some(user) = &self.server_user {
            words.extend(["--server-user".to_owned(), user.clone()]);
        }
        words.extend(self.allow_concurrent.then(|| "--allow-concurrent".to_owned()));
        words.extend(self.builds.words());
        words
    }

    /// Prepares for servers whose results go to `results`.
    ///
    /// # Errors
    /// When results can't be written, the address for builds is not one, signals can't be caught,
    /// or the cache or the ledger can't be opened.
    pub fn ready(&self, results: &Path) -> anyhow::Result<Ready> {
        // Before anything is fetched or started.
        store::Store::check_writable(results)?;
        self.builds.register()?;
        let mut options = Options::new(results.to_owned(), env!("CARGO_PKG_VERSION"));
        if let Some(directory) = &self.data_dir {
            options.data_dir = std::path::absolute(directory).context("--data-dir")?;
        }
        options.server_user.clone_from(&self.server_user);
        options.allow_concurrent = self.allow_concurrent;
        Ok(Ready {
            options,
            interrupted: interrupt_flag().context("could not set signal handlers")?,
            cache: Cache::open_default()?,
            ledger: Ledger::open_default()?,
            progress: Progress::new(self.quiet).telling(results),
        })
    }
}

/// Set by the first SIGINT, SIGTERM or SIGHUP, which ends the run cleanly. A second one ends the
/// process immediately; the kernel then ends its servers. Frozen ones are ended by the next run.
fn interrupt_flag() -> std::io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in
        [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP]
    {
        // In this order: the first signal finds the flag unset and sets it.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}
