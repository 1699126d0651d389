//! A MySQL or MariaDB server as a `System`.

use std::path::PathBuf;

use super::control::Control;
use super::gauges::Watch;
use super::{attach, counters, debt, log, plans, settings, settle, tables, waits};
use crate::api::system::no_restart;
use crate::process::server::ServerProcess;
use crate::{
    Debt, Diagnosis, Endpoint, Error, Footprint, Gauges, LogEvent, Setting, Settled, Snapshot, Sql,
    System, Waits,
};

/// Number of log lines to search for a diagnosis. A server that can't go on describes its end at
/// length.
const DIAGNOSED_LINES: usize = 300;
/// Messages about a full disk in the logs of various versions.
const FULL: [&str; 8] = [
    "No space left on device",
    "Disk is full",
    "disk is full",
    "Disk full",
    "Out of disk space",
    "failed with error 28",
    // 5.6 loses the operating system's number.
    "Check also that the disk is not full",
    "Operating system error number 28",
];

/// A server, started here or attached to.
pub(super) struct MysqlServer {
    // Before the process, so the connection is closed first on drop.
    pub(super) control: Control,
    pub(super) process: Option<ServerProcess>,
    /// Names of settings that steelyard gave to it.
    pub(super) configured: Vec<String>,
    /// The root of its process tree, if known.
    pub(super) pid: Option<u32>,
}

impl MysqlServer {
    pub(super) fn attach(endpoint: &Endpoint) -> Result<Self, Error> {
        let mut control = Control::new(endpoint.clone());
        control.version()?;
        let pid = attach::find_process(&mut control);
        Ok(Self { control, process: None, configured: Vec::new(), pid })
    }
}

impl System for MysqlServer {
    fn endpoint(&self) -> Endpoint {
        self.control.endpoint().clone()
    }

    fn process(&self) -> Option<&ServerProcess> {
        self.process.as_ref()
    }

    fn process_mut(&mut self) -> Option<&mut ServerProcess> {
        self.process.as_mut()
    }

    fn root_pid(&self) -> Option<u32> {
        self.pid
    }

    fn data_directory(&mut self) -> Option<PathBuf> {
        match &self.process {
            Some(process) => process.data_directory(),
            // On another machine there may be a directory of the same name.
            None => {
                self.pid.and_then(|_| self.control.variable("datadir").ok()?).map(PathBuf::from)
            }
        }
        .filter(|path| path.exists())
    }

    fn sql(&mut self) -> Option<&mut dyn Sql> {
        Some(&mut self.control)
    }

    fn settings(&mut self) -> Result<Vec<Setting>, Error> {
        settings::settings(&mut self.control, &self.configured)
    }

    fn counters(&mut self, tables: &[String]) -> Result<Snapshot, Error> {
        counters::snapshot(&mut self.control, tables)
    }

    fn footprint(&mut self, tables: &[String]) -> Result<Vec<Footprint>, Error> {
        tables::footprint(&mut self.control, tables)
    }

    fn debt(&mut self, tables: &[String]) -> Result<Debt, Error> {
        debt::debt(&mut self.control, tables)
    }

    fn waits(&mut self) -> Result<Option<Waits>, Error> {
        waits::open(&self.control).map(Some)
    }

    fn gauges(&mut self) -> Result<Option<Gauges>, Error> {
        let mut watch = Watch::open(&self.control)?;
        Ok(Some(Box::new(move || watch.look())))
    }

    fn events(&self, since_ms: i64) -> Vec<LogEvent> {
        self.process().map_or(Vec::new(), |process| log::events(&process.log(), since_ms))
    }

    fn query_plan(&mut self, statement: &str) -> Result<Option<String>, Error> {
        plans::query_plan(&mut self.control, statement)
    }

    fn settle(&mut self, tables: &[String]) -> Result<Settled, Error> {
        settle::settle(&mut self.control, tables)
    }

    fn flush(&mut self) -> Result<(), Error> {
        settle::flush(&mut self.control)
    }

    fn diagnose(&self) -> Option<Diagnosis> {
        let tail = self.log_tail(DIAGNOSED_LINES);
        FULL.iter().any(|part| tail.contains(part)).then_some(Diagnosis::DiskFull)
    }

    fn restart(&mut self) -> Result<(), Error> {
        self.control.close();
        let Some(process) = &mut self.process else {
            return Err(no_restart(self.control.endpoint()));
        };
        let answers = || self.control.query_i64("SELECT 1").map(drop).map_err(|it| it.to_string());
        process.restart(answers)?;
        self.pid = Some(process.pid());
        Ok(())
    }

    fn close(&mut self) {
        self.control.close();
    }
}
