//! A PostgreSQL server as a `System`.

use std::path::PathBuf;

use super::control::Control;
use super::{attach, counters, debt, log, ready, settle, tables, waits};
use crate::api::system::no_restart;
use crate::process::server::ServerProcess;
use crate::{
    Debt, Endpoint, Error, Footprint, LogEvent, Setting, Settled, Snapshot, Sql, System, Transport,
    Waits,
};

/// A server, started here or attached to.
pub(super) struct PostgresServer {
    // Before the process, so the connection is closed first on drop.
    pub(super) control: Control,
    /// The address other than the control connection's, if clients also come over TCP.
    pub(super) tcp: Option<(Transport, Endpoint)>,
    pub(super) postmaster: Option<ServerProcess>,
    /// The root of its process tree, if known.
    pub(super) pid: Option<u32>,
}

impl PostgresServer {
    pub(super) fn attach(endpoint: &Endpoint) -> Result<Self, Error> {
        let mut control = Control::new(endpoint.clone());
        control.version()?;
        let pid = attach::find_postmaster(&mut control);
        Ok(Self { control, tcp: None, postmaster: None, pid })
    }
}

impl System for PostgresServer {
    fn endpoint(&self) -> Endpoint {
        self.control.endpoint().clone()
    }

    fn endpoint_by(&self, transport: Transport) -> Result<Endpoint, Error> {
        match &self.tcp {
            Some((by, endpoint)) if *by == transport => Ok(endpoint.clone()),
            _ => self.endpoint().only_by(transport),
        }
    }

    fn process(&self) -> Option<&ServerProcess> {
        self.postmaster.as_ref()
    }

    fn process_mut(&mut self) -> Option<&mut ServerProcess> {
        self.postmaster.as_mut()
    }

    fn root_pid(&self) -> Option<u32> {
        self.pid
    }

    fn data_directory(&mut self) -> Option<PathBuf> {
        match &self.postmaster {
            Some(postmaster) => postmaster.data_directory(),
            // On another machine there may be a directory of the same name.
            None => {
                self.pid.and_then(|_| self.control.text("SHOW data_directory").ok()).map(Into::into)
            }
        }
        .filter(|path| path.exists())
    }

    fn sql(&mut self) -> Option<&mut dyn Sql> {
        Some(&mut self.control)
    }

    fn settings(&mut self) -> Result<Vec<Setting>, Error> {
        tables::settings(&mut self.control)
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
        waits::open(&mut self.control).map(Some)
    }

    fn events(&self, since_ms: i64) -> Vec<LogEvent> {
        self.process().map_or(Vec::new(), |process| log::events(&process.log(), since_ms))
    }

    fn query_plan(&mut self, statement: &str) -> Result<Option<String>, Error> {
        match self.control.query_rows(&format!("EXPLAIN (COSTS OFF) {statement}")) {
            Ok(lines) => {
                Ok(Some(lines.into_iter().flatten().flatten().collect::<Vec<_>>().join("\n")))
            }
            // A statement that it can't explain.
            Err(Error::Query { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn settle(&mut self, tables: &[String]) -> Result<Settled, Error> {
        settle::settle(&mut self.control, tables)
    }

    fn flush(&mut self) -> Result<(), Error> {
        settle::checkpoint(&mut self.control).map(|_| ())
    }

    fn restart(&mut self) -> Result<(), Error> {
        let says = self.control.version()? / 10_000 >= ready::SAYS;
        self.control.close();
        let Some(postmaster) = &mut self.postmaster else {
            return Err(no_restart(self.control.endpoint()));
        };
        let data = postmaster.data_directory().unwrap_or_default();
        postmaster.restart(|| ready::ask(&data, says, &mut self.control))?;
        self.pid = Some(postmaster.pid());
        Ok(())
    }

    fn close(&mut self) {
        self.control.close();
    }
}
