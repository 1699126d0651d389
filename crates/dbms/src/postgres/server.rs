//! A PostgreSQL server as a `System`.

use std::path::PathBuf;

use super::control::Control;
use super::postmaster::Started;
use super::waits::Looks;
use super::{attach, counters, debt, log, postmaster, settle, tables};
use crate::process::server::ServerProcess;
use crate::{
    Debt, Ending, Endpoint, Error, Footprint, Interrupter, LogEvent, Origin, Restored, ServerSpec,
    Setting, Settled, Snapshot, Sql, Stopped, System, Transport, Waits,
};

/// A server, started here or attached to.
pub(super) struct PostgresServer {
    // Before the process, so the connection is closed first on drop.
    control: Control,
    /// The address other than the control connection's, if clients also come over TCP.
    tcp: Option<(Transport, Endpoint)>,
    postmaster: Option<ServerProcess>,
    /// The root of its process tree, if known.
    pid: Option<u32>,
    died: Option<String>,
}

impl PostgresServer {
    /// Starts one on a fresh data directory, or on a copy of `origin`.
    pub(super) fn start(
        spec: &ServerSpec<'_>,
        origin: Option<&Origin<'_>>,
    ) -> Result<(Box<dyn System>, Option<Restored>), Error> {
        let Started { process, control, tcp, restored } = postmaster::start(spec, origin)?;
        let pid = Some(process.pid());
        let server = Self { control, tcp, pid, postmaster: Some(process), died: None };
        Ok((Box::new(server), restored))
    }

    pub(super) fn attach(endpoint: &Endpoint) -> Result<Self, Error> {
        let mut control = Control::new(endpoint.clone());
        control.version()?;
        let pid = attach::find_postmaster(&mut control);
        Ok(Self { control, tcp: None, postmaster: None, pid, died: None })
    }
}

impl PostgresServer {
    fn leave(mut self: Box<Self>, gracefully: bool) -> Result<Stopped, Error> {
        self.control.close();
        match self.postmaster.take() {
            Some(postmaster) => postmaster.stop(gracefully),
            None => Ok(Stopped::new(0.0, Ending::LeftRunning, None, None)),
        }
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

    fn root_pid(&self) -> Option<u32> {
        self.pid
    }

    fn owned(&self) -> bool {
        self.postmaster.is_some()
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

    fn waits(&mut self) -> Result<Option<Box<dyn Waits>>, Error> {
        Ok(Some(Box::new(Looks::open(&mut self.control)?)))
    }

    fn events(&self, since_ms: i64) -> Vec<LogEvent> {
        let log = self.postmaster.as_ref().map(ServerProcess::log).unwrap_or_default();
        log::events(&log, since_ms)
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

    fn interrupter(&self) -> Option<Interrupter> {
        // The fast shutdown, because a signal to a backend would have no effect between two
        // statements.
        self.postmaster.as_ref()?.interrupter(libc::SIGINT)
    }

    fn log_tail(&self, lines: usize) -> String {
        self.postmaster.as_ref().map(|postmaster| postmaster.log_tail(lines)).unwrap_or_default()
    }

    fn alive(&mut self) -> bool {
        if let Some(postmaster) = &mut self.postmaster {
            return postmaster.alive();
        }
        self.died = self.control.query_i64("SELECT 1").err().map(|error| error.to_string());
        self.died.is_none()
    }

    fn died(&self) -> Option<String> {
        match &self.postmaster {
            Some(postmaster) => postmaster.died().map(str::to_owned),
            None => self.died.clone(),
        }
    }

    fn stop(self: Box<Self>) -> Result<Stopped, Error> {
        self.leave(true)
    }

    fn end(self: Box<Self>) -> Result<Stopped, Error> {
        self.leave(false)
    }
}
