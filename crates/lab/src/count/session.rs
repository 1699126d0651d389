//! One backend under Callgrind: N statements, marks around them, and what Callgrind wrote.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use drive::{Prepared, Single, Target};
use plan::Protocol;
use probe::callgrind::{Profile, dumps};
use workload::{Catalogue, Expect, Kind, Statement, stream_seed};

use super::phases;
use super::still::{self, Still};
use crate::error::Error;

/// The function at whose entry Callgrind writes what it has counted: the statement [`MARK`] calls it, and nothing else does.
pub const MARK_FUNCTION: &str = "pg_sleep";
/// The statement between stretches that are counted apart.
const MARK: &str = "SELECT pg_sleep(0)";
/// Has the backend report its statistics now. It does so again when a second has passed, by when cheap statements have been counted, in
/// which the timers that it sets around a report would be seen.
const REPORT: &str = "SELECT pg_stat_force_next_flush()";
/// The first version that has it, and such timers.
const REPORT_SINCE: u32 = 15;
/// How many dumps a session makes: to the first mark, between the first two, between the last two.
const DUMPS: usize = 3;
/// How long may pass until a process waits or is gone.
const REST_LIMIT: Duration = Duration::from_secs(120);
/// How long between two looks at whether it does.
const LOOK: Duration = Duration::from_micros(100);

/// What a session executes.
pub struct Session<'a> {
    /// The server and the database.
    pub target: &'a Target,
    /// The server's major version.
    pub major: u32,
    /// The process that starts the backends.
    pub postmaster: u32,
    /// The backend that counted before, which may still be about to end.
    pub before: Option<u32>,
    pub catalogue: &'a Catalogue,
    pub kind: &'a Kind,
    pub protocol: Protocol,
    /// N: executions that are counted, after as many that are not.
    pub executions: u32,
    pub seed: u64,
    pub interrupted: &'a AtomicBool,
}

impl Session<'_> {
    /// Connects, executes, and reads what was counted of N executions from the dumps with the prefix `out`; and the pid of the
    /// backend. The first session of a server has processes held `still`.
    pub fn count(&self, out: &Path, still: &mut Option<Still>) -> Result<(Profile, u32), Error> {
        let pid = self.execute(still)?;
        let mut written = dumps(out)?;
        written.retain(|dump| dump.pid == pid && dump.trigger.contains(MARK_FUNCTION));
        let profile = match written.as_slice() {
            [_, counted, mark] => {
                phases::statements(Profile::read(&counted.path)?, Profile::read(&mark.path)?)
            }
            other => {
                let found = other.len();
                return Err(self.failed(format!(
                    "expected {DUMPS} dumps of Callgrind from backend {pid}, found {found}: is the symbol {MARK_FUNCTION} in the \
                     server's program?"
                )));
            }
        };
        // The files are large, and the next session of this server lists them again.
        for dump in written {
            let _ = fs::remove_file(dump.path);
        }
        Ok((profile, pid))
    }

    fn execute(&self, still: &mut Option<Still>) -> Result<u32, Error> {
        // A backend begins with a copy of the postmaster's memory, which holds something for each that is not gone yet.
        let gone = |pid| !Path::new(&format!("/proc/{pid}")).exists();
        self.wait(|| self.before.is_none_or(gone), "the backend before did not end")?;
        self.wait(|| asleep(self.postmaster), "the server did not come to rest")?;
        let seed = stream_seed(self.seed, &self.kind.name, 1, 0, "count");
        let mut single =
            Single::connect(self.target, seed, self.catalogue.cells).map_err(self.says())?;
        let own = Statement::plain("SELECT pg_backend_pid()", Expect::Rows { min: 1, max: 1 });
        let row = single.row(&own).map_err(self.says())?;
        let pid = row.first().copied().flatten().and_then(|pid| u32::try_from(pid).ok());
        let pid = pid.ok_or_else(|| self.failed("the backend has no pid".to_owned()))?;
        if still.is_none() {
            *still = Some(self.hold_still(&mut single)?);
        }
        if let Some(refresh) = &self.catalogue.refresh {
            single.refresh(refresh).map_err(self.says())?;
        }
        let statement = Statement {
            prepared: self.protocol == Protocol::Prepared,
            ..self.kind.statement.clone()
        };
        let statement = single.prepare(&statement).map_err(self.says())?;
        let mark = single.prepare(&Statement::plain(MARK, Expect::Success)).map_err(self.says())?;
        let report = (self.major >= REPORT_SINCE)
            .then(|| single.prepare(&Statement::plain(REPORT, Expect::Success)))
            .transpose()
            .map_err(self.says())?;
        for stretch in 0..2 {
            if self.kind.reads_only {
                // Queries find in the server's memory what they read: the same once more.
                single.reseed(seed);
            }
            for _ in 0..self.executions {
                self.run(&mut single, pid, statement)?;
                if let Some((cell, by)) = self.kind.adds {
                    single.add(cell, by);
                }
            }
            if let (0, Some(report)) = (stretch, report) {
                self.run(&mut single, pid, report)?;
            }
            self.run(&mut single, pid, mark)?;
        }
        self.run(&mut single, pid, mark)?;
        Ok(pid)
    }

    /// Stops what works by the clock in this server.
    fn hold_still(&self, single: &mut Single) -> Result<Still, Error> {
        let mut pids = Vec::new();
        if self.major >= still::SINCE {
            let query = Statement::plain(still::BY_THE_CLOCK, Expect::Rows { min: 1, max: 1 });
            let begin = Instant::now();
            // They begin beside the first backend.
            while begin.elapsed() < REST_LIMIT {
                unless(self.interrupted)?;
                let found = single.row(&query).map_err(self.says())?;
                pids =
                    found.into_iter().flatten().filter_map(|pid| u32::try_from(pid).ok()).collect();
                if pids.len() == 2 {
                    break;
                }
                sleep(Duration::from_millis(50));
            }
        }
        Still::hold(&pids, |done| self.wait(done, "the server's writers did not come to rest"))
    }

    /// Executes a statement when the backend waits for one. If it were sent earlier, whether it is there by the time the
    /// backend looks would be a matter of luck, and with it some hundred instructions of waiting.
    fn run(&self, single: &mut Single, pid: u32, statement: Prepared) -> Result<(), Error> {
        self.wait(|| asleep(pid), "the backend did not come to rest")?;
        single.run(statement).map_err(self.says())
    }

    /// Waits until something is so, or fails with what was not so.
    fn wait(&self, done: impl Fn() -> bool, otherwise: &str) -> Result<(), Error> {
        let begin = Instant::now();
        loop {
            unless(self.interrupted)?;
            if done() {
                return Ok(());
            }
            if begin.elapsed() > REST_LIMIT {
                return Err(self.failed(format!("{otherwise} within {} s", REST_LIMIT.as_secs())));
            }
            sleep(LOOK);
        }
    }

    fn says(&self) -> impl Fn(drive::Error) -> Error {
        |error| self.failed(error.to_string())
    }

    fn failed(&self, reason: String) -> Error {
        Error::Count {
            variant: self.target.name.clone(),
            kind: self.kind.name.clone(),
            reason,
            log: String::new(),
        }
    }
}

/// Whether a process sleeps in the kernel until something happens, as a backend does that waits for a statement. A process that is
/// gone sleeps too: the connection says what became of it.
pub fn asleep(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    // The command name stands in parentheses and may itself hold some (proc(5)).
    stat.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().next()) == Some("S")
}

/// An error once the user has ended the command.
pub fn unless(interrupted: &AtomicBool) -> Result<(), Error> {
    if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_that_waits_is_asleep_and_one_that_computes_is_not() {
        let mut waits = Command::new("sleep").arg("30").spawn().unwrap();
        let mut computes = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        // It has to be started before it can sleep.
        assert!((0..6000).any(|_| {
            sleep(Duration::from_millis(10));
            asleep(waits.id())
        }));
        assert!((0..50).all(|_| !asleep(computes.id())));
        for child in [&mut waits, &mut computes] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
