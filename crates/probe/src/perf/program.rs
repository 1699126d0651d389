//! The installed `perf`, and what it can do on this machine.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use metrics::STEP_EVENTS;

use super::PerfError;
use super::events::{IN_KERNEL, parse};
use crate::files::read_trimmed;
use crate::installed::in_path;

/// The `perf` of this machine.
#[derive(Debug, Clone)]
pub struct Perf {
    /// The program.
    pub path: PathBuf,
    /// Its version, such as `6.1.158`.
    pub version: String,
    /// The event for samples: `cycles`, counted by hardware, or, without hardware counters,
    /// `cpu-clock`, a kernel timer that runs while the process is on a CPU. It cannot interrupt
    /// code that runs with interrupts off; the time of such code is charged to whatever enables
    /// them again.
    pub event: &'static str,
    /// True if only user mode is visible: without root if `kernel.perf_event_paranoid` is 2.
    pub user_only: bool,
    /// The events of [`STEP_EVENTS`] that this machine counts, in that order.
    pub counters: Vec<String>,
    /// The others.
    pub missing: Vec<String>,
}

impl Perf {
    /// Looks for `perf` in `PATH` and tries what it can do; takes a few hundredths of a second.
    ///
    /// # Errors
    /// [`PerfError::NotInstalled`], [`PerfError::NotPermitted`], or that it fails.
    pub fn find() -> Result<Perf, PerfError> {
        let path = in_path("perf").ok_or(PerfError::NotInstalled)?;
        let told = run(Command::new(&path).arg("--version").env("LC_ALL", "C"))?;
        let text = String::from_utf8_lossy(&told.stdout).trim().to_owned();
        let Some(version) = text.strip_prefix("perf version ").map(str::to_owned) else {
            // On Ubuntu, a script replaces the real one and says which package is missing.
            let said = String::from_utf8_lossy(&told.stderr);
            return Err(failed("perf --version", "its version", &format!("{text}\n{said}")));
        };
        let root = nix::unistd::geteuid().is_root();
        let paranoid = paranoid();
        if !root && paranoid > 2 {
            return Err(PerfError::NotPermitted { paranoid });
        }
        let mut perf = Perf {
            path,
            version,
            event: "cpu-clock",
            user_only: !root && paranoid > 1,
            counters: Vec::new(),
            missing: Vec::new(),
        };
        perf.try_counters()?;
        if perf.counters.iter().any(|counter| counter == "cycles") {
            perf.event = "cycles";
        }
        Ok(perf)
    }

    /// A command with the options that all have in common: no network requests (debuginfod), and
    /// numbers with decimal points.
    pub(super) fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.path);
        command.arg(subcommand).env("LC_ALL", "C").env_remove("DEBUGINFOD_URLS");
        command
    }

    /// An event's name with the modifier that this user needs.
    pub(super) fn event_name(&self, event: &str) -> String {
        if self.user_only { format!("{event}:u") } else { event.to_owned() }
    }

    fn try_counters(&mut self) -> Result<(), PerfError> {
        let events: Vec<String> = STEP_EVENTS.iter().map(|event| self.event_name(event)).collect();
        let events = events.join(",");
        let tried = run(self.command("stat").args(["-x,", "-e", &events, "--", "true"]))?;
        let text = String::from_utf8_lossy(&tried.stderr).into_owned();
        let lines = parse(&text);
        let counted =
            |wanted: &str| lines.iter().any(|count| count.event == wanted && count.value.is_some());
        if !counted("task-clock") {
            return Err(failed("perf stat true", "counts of events", &text));
        }
        for event in STEP_EVENTS {
            let visible = !self.user_only || !IN_KERNEL.contains(event);
            let list =
                if counted(event) && visible { &mut self.counters } else { &mut self.missing };
            list.push((*event).to_owned());
        }
        Ok(())
    }
}

/// `kernel.perf_event_paranoid`; -1 (everything allowed) if it cannot be read, so trying decides.
pub(super) fn paranoid() -> i32 {
    read_trimmed("/proc/sys/kernel/perf_event_paranoid")
        .and_then(|text| text.parse().ok())
        .unwrap_or(-1)
}

pub(super) fn run(command: &mut Command) -> Result<Output, PerfError> {
    command.stdin(Stdio::null());
    command.output().map_err(|error| PerfError::io("run", command.get_program())(error))
}

pub(super) fn failed(program: &str, expected: &'static str, said: &str) -> PerfError {
    PerfError::Failed { program: program.to_owned(), expected, output: tail(said) }
}

/// The last lines of a text, in one.
pub(super) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(4)..).unwrap_or_default();
    if last.is_empty() { "nothing".to_owned() } else { last.join(" / ") }
}
