//! The life of a server process: started, watched, ended, cleaned up.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::launch::{end_of, spawn};
use crate::api::excerpt::last_lines;
use crate::process::freeze::{self, Freezer};
use crate::process::ipc;
use crate::process::ledger::{self, Remains};
use crate::process::proc::wait_until;
use crate::{Ending, Error, ProcessId, ServerSpec, Stopped};

/// How long a server gets in each stage if nobody waits for a graceful end.
const DROP_LIMIT: Duration = Duration::from_secs(10);

/// Number of log lines to show if a start failed.
const LOG_LINES: usize = 20;
/// Number of log lines to search for the reason.
const REASON_LINES: usize = 200;
/// How much of a log to read for its last lines.
const LOG_BYTES: u64 = 64 * 1024;

/// How much of it to read to find all that is in it.
const WHOLE_LOG: u64 = 32 * 1024 * 1024;

/// Signals that end a server: cleanly, at once (the last resort before `SIGKILL`), and from the
/// kernel when steelyard dies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signals {
    pub(crate) graceful: i32,
    pub(crate) immediate: i32,
    pub(crate) death: i32,
}

/// Makes a system abort its current work, from another thread; may be called again.
pub type Interrupter = Box<dyn Fn() + Send + Sync>;

/// A started server process and its belongings. Dropping it ends the process and removes what it
/// left.
#[derive(Debug)]
pub struct ServerProcess {
    name: String,
    child: Child,
    /// What it was started with.
    command: Option<Command>,
    /// Empty once `stop` has returned it.
    remains: Remains,
    log: PathBuf,
    signals: Signals,
    start_limit: Duration,
    stop_limit: Duration,
    ended: Option<String>,
    /// True while its processes may be frozen.
    frozen: Arc<AtomicBool>,
}

impl ServerProcess {
    /// A server that was started, and the entry it belongs to.
    pub(super) fn of(
        spec: &ServerSpec<'_>,
        (child, command): (Child, Command),
        remains: Remains,
        log: PathBuf,
        signals: Signals,
    ) -> Result<Self, Error> {
        // From here on, dropping it ends the process and removes the directory.
        let mut process = Self {
            name: spec.name.to_owned(),
            child,
            command: Some(command),
            remains,
            log,
            signals,
            start_limit: spec.start_limit,
            stop_limit: spec.stop_limit,
            ended: None,
            frozen: Arc::default(),
        };
        process.enter()?;
        Ok(process)
    }

    /// Enters the process into the ledger.
    fn enter(&mut self) -> Result<(), Error> {
        let pid = self.pid();
        self.remains.update(|record| record.process = ProcessId::of(pid))
    }

    /// Ends it in good order, and starts it again on the same data; `ready` as for
    /// [`ServerProcess::wait_ready`].
    pub(crate) fn restart(
        &mut self,
        ready: impl FnMut() -> Result<(), String>,
    ) -> Result<(), Error> {
        match self.end(true, self.stop_limit)? {
            Ending::Graceful => {}
            Ending::Died(how) => {
                return Err(self.not_started(format!("it had ended before its restart ({how})")));
            }
            _ => {
                let limit = self.stop_limit.as_secs_f64();
                let problem = format!("it did not shut down within {limit} s for its restart");
                return Err(self.not_started(problem));
            }
        }
        let Some(command) = self.command.take() else {
            return Err(self.not_started("it could not be started again before".to_owned()));
        };
        let spawned = spawn(command).map_err(|error| self.not_started(error.to_string()))?;
        (self.child, self.ended) = (spawned.0, None);
        self.command = Some(spawned.1);
        self.enter()?;
        self.wait_until_ready(None, ready, |_| None)
    }

    /// Asks `ready` until it succeeds. If the server ends, `rejection` looks in the log for
    /// complaints about its configuration. A first start on the user's data can be interrupted, as
    /// it may take long.
    pub(crate) fn wait_ready(
        &mut self,
        spec: &ServerSpec<'_>,
        ready: impl FnMut() -> Result<(), String>,
        rejection: impl Fn(&str) -> Option<Error>,
    ) -> Result<(), Error> {
        self.wait_until_ready(spec.data.map(|data| data.interrupted), ready, rejection)?;
        if !spec.wrapper.is_empty() {
            // The running program is the wrapper's, or one that it became.
            let running = fs::read_link(format!("/proc/{}/exe", self.pid())).ok();
            self.remains.update(|record| record.program = running.or(record.program.take()))?;
        }
        Ok(())
    }

    /// The error for a start that failed, with the end of the log.
    fn not_started(&self, problem: String) -> Error {
        Error::Start { variant: self.name.clone(), problem, log: self.log_tail(LOG_LINES) }
    }

    fn wait_until_ready(
        &mut self,
        interrupted: Option<&AtomicBool>,
        mut ready: impl FnMut() -> Result<(), String>,
        rejection: impl Fn(&str) -> Option<Error>,
    ) -> Result<(), Error> {
        let begin = Instant::now();
        loop {
            if !self.alive() {
                // A server may say a lot after the reason, while it ends.
                return Err(rejection(&self.log_tail(REASON_LINES)).unwrap_or_else(|| {
                    let problem =
                        format!("it ended ({})", self.ended.as_deref().unwrap_or_default());
                    self.not_started(problem)
                }));
            }
            let Err(problem) = ready() else { break };
            interrupted.map_or(Ok(()), |it| Error::check(it, "starting a server"))?;
            if begin.elapsed() >= self.start_limit {
                let limit = self.start_limit.as_secs_f64();
                let problem = format!("no answer within {limit} s ({problem})");
                return Err(self.not_started(problem));
            }
            sleep(Duration::from_millis(20));
        }
        // Objects that only a kill -9 would leave behind.
        let pid = self.pid();
        self.remains.update(|record| record.ipc = ipc::of_process(pid))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its working directory, which is its data directory.
    pub(crate) fn data_directory(&self) -> Option<PathBuf> {
        self.remains.0.as_ref()?.record().work_directory.clone()
    }

    /// Freezes all of its processes.
    pub(crate) fn freezer(&self) -> Freezer {
        let groups = self.remains.0.as_ref().map(|entry| &entry.record().cgroups[..]);
        Freezer::of(self.pid(), groups.unwrap_or_default(), Arc::clone(&self.frozen))
    }

    /// Its log, of a very long one the end.
    pub(crate) fn log(&self) -> String {
        end_of(&self.log, WHOLE_LOG)
    }

    pub(crate) fn log_tail(&self, lines: usize) -> String {
        last_lines(&end_of(&self.log, LOG_BYTES), lines)
    }

    /// Is it running? If not, reaps it.
    fn alive(&mut self) -> bool {
        if self.ended.is_none() {
            match self.child.try_wait() {
                Ok(None) => return true,
                Ok(Some(status)) => self.ended = Some(status.to_string()),
                Err(error) => {
                    self.ended = Some(format!("no longer a child of this process: {error}"))
                }
            }
        }
        false
    }

    /// How it ended, if it did.
    pub(crate) fn died(&mut self) -> Option<String> {
        self.alive();
        self.ended.clone()
    }

    /// Waits for the process itself to end.
    fn wait(&mut self, limit: Duration) -> bool {
        wait_until(limit, || !self.alive())
    }

    /// A handle that tells it to end, from any thread, even after it has ended. Servers have
    /// signals to abort a statement, but these would have no effect between two statements.
    pub(crate) fn interrupter(&self) -> Option<Interrupter> {
        let (process, signal) = (ProcessId::of(self.pid())?, self.signals.graceful);
        Some(Box::new(move || {
            let _ = process.signal(signal);
        }))
    }

    fn signal(&self, signal: i32) {
        // Not reaped yet, so the pid is still this child's.
        if self.ended.is_none()
            && let Some(process) = ProcessId::of(self.child.id())
        {
            let _ = process.signal(signal);
        }
    }

    /// Ends it: cleanly if `gracefully`, then at once, then by SIGKILL to each of its processes.
    fn end(&mut self, gracefully: bool, limit: Duration) -> Result<Ending, Error> {
        let mut ending = match (self.alive(), &self.ended) {
            (false, Some(how)) => Some(Ending::Died(how.clone())),
            _ => None,
        };
        let Some(entry) = &self.remains.0 else { return Ok(ending.unwrap_or(Ending::Graceful)) };
        let record = entry.record().clone();
        if self.frozen.load(Ordering::Relaxed) {
            // It would notice nothing.
            freeze::thaw(&record.cgroups, &ledger::processes(&record));
        }
        let mut shared = record.ipc.clone();
        let Signals { graceful, immediate, .. } = self.signals;
        // Where nothing else ends a server at once, it was killed if it had been asked before.
        let killed = gracefully && immediate == libc::SIGKILL;
        let insisted = if killed { Ending::Killed } else { Ending::Immediate };
        for (signal, result, wanted) in
            [(graceful, Ending::Graceful, gracefully), (immediate, insisted, true)]
        {
            if ending.is_none() && wanted {
                self.signal(signal);
                if self.wait(limit) {
                    ending = Some(result);
                }
            }
        }
        let ending = ending.unwrap_or(Ending::Killed);
        // Its children notice its end themselves, most of them at once.
        let orphans_go = ending != Ending::Killed
            && wait_until(Duration::from_secs(2), || ledger::processes(&record).is_empty());
        if !orphans_go {
            for process in ledger::processes(&record) {
                shared.add(&ipc::of_process(process.pid));
            }
            let left = ledger::kill_all(&record, limit.max(DROP_LIMIT));
            if !left.is_empty() {
                return Err(Error::Stuck { name: self.name.clone(), pids: left });
            }
            self.wait(limit);
        }
        shared.remove();
        Ok(ending)
    }

    /// Stops it and returns what it left.
    pub(crate) fn stop(&mut self, gracefully: bool) -> Result<Stopped, Error> {
        let begin = Instant::now();
        let ending = self.end(gracefully, self.stop_limit)?;
        self.remains.disconnect()?;
        let (seconds, log) = (begin.elapsed().as_secs_f64(), Some(self.log.clone()));
        Ok(Stopped::new(seconds, ending, log, self.remains.0.take()))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // After an error the entry stays in the ledger, and the next sweep tries again.
        if self.remains.0.is_some() && self.end(false, DROP_LIMIT).is_err() {
            self.remains.0 = None;
        }
    }
}
