//! Engines without a server: a library in its own process.
//!
//! The process runs a program of steelyard's that contains the engine. It listens on two unix
//! sockets. On `control` it answers for the engine ([`serve`]). On `load` it accepts loads, whose
//! clients are its own threads. A process therefore has one version of a library. It is started,
//! watched, limited and ended like a server, and its cost is the engine's cost.

mod inside;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use serde::de::DeserializeOwned;

pub use inside::{Inside, Workplace, finish, refused, serve};

use crate::process::server::{ServerProcess, Signals};
use crate::process::site::Site;
use crate::{
    Debt, Endpoint, Error, Footprint, Gauges, Origin, ServerSpec, Setting, Settled, Snapshot,
    Started, System,
};
use inside::{Ask, CONTROL, GIVEN, LOAD};

/// It closes its data and ends; the next stage is SIGKILL.
const SIGNALS: Signals =
    Signals { graceful: libc::SIGTERM, immediate: libc::SIGTERM, death: libc::SIGKILL };

/// The program that contains the engine.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Where it is; the servers' user must be able to run it.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment, in addition to that of every server.
    pub environment: BTreeMap<OsString, OsString>,
}

/// False in a static program: it cannot load the library of an engine.
pub const LOADABLE: bool = !cfg!(target_feature = "crt-static");

/// The program that contains engines, where it is not this one.
static PROGRAM: RwLock<Option<Program>> = RwLock::new(None);

/// From now on, engines run in this program instead of `steelyard engine`.
pub fn contained_in(program: Program) {
    *PROGRAM.write().unwrap_or_else(PoisonError::into_inner) = Some(program);
}

/// The program that contains an engine: this one, with the arguments `engine NAME`.
pub(crate) fn program(name: &str) -> Result<Program, Error> {
    if let Some(program) = &*PROGRAM.read().unwrap_or_else(PoisonError::into_inner) {
        return Ok(program.clone());
    }
    if !LOADABLE {
        let what = format!("{name}, a library that a static program cannot load,");
        return Err(Error::unsupported(what, "use the steelyard of its .deb or wheel"));
    }
    let path = std::env::current_exe().map_err(Error::io("find", Path::new("/proc/self/exe")))?;
    let arguments = ["engine", name].map(OsString::from).into();
    Ok(Program { path, arguments, environment: BTreeMap::new() })
}

/// Starts an engine, empty or on a copy of `origin`, and waits until it answers.
///
/// # Errors
/// As [`crate::start`] and [`crate::start_on_copy`].
pub fn start(
    spec: &ServerSpec<'_>,
    origin: Option<&Origin<'_>>,
    program: &Program,
) -> Result<Started, Error> {
    spec.user.check_reach(&program.path)?;
    let mut site = Site::make(spec, &program.path)?;
    let sockets = site.socket(CONTROL)?.parent().map_or(PathBuf::new(), Path::to_path_buf);
    let restored = site.fill(origin, &[], None)?;
    let (data, config) = (site.data.clone(), spec.config.clone());
    let place = Workplace { data, sockets: sockets.clone(), config };
    let mut process = site.start(SIGNALS, |command| {
        // The ledger identifies a server by its working directory.
        command.current_dir(&place.data).args(&program.arguments).envs(&program.environment);
        command.env(GIVEN, serde_json::to_string(&place).unwrap_or_default());
    })?;
    let mut control = Control { name: spec.name.to_owned(), sockets, stream: None };
    let ready = || {
        control.open().map_err(|e| e.to_string())?;
        UnixStream::connect(control.sockets.join(LOAD)).map_err(|e| e.to_string())?;
        Ok(())
    };
    process.wait_ready(spec, ready, |log| inside::rejection(spec.name, log))?;
    Ok((Box::new(Embedded { control, process }), restored))
}

/// An engine in its own process.
struct Embedded {
    control: Control,
    process: ServerProcess,
}

/// A connection to an engine's process.
struct Control {
    /// The engine's name in messages.
    name: String,
    sockets: PathBuf,
    stream: Option<BufReader<UnixStream>>,
}

impl Control {
    fn open(&mut self) -> std::io::Result<()> {
        self.stream = Some(BufReader::new(UnixStream::connect(self.sockets.join(CONTROL))?));
        Ok(())
    }

    fn ask<T: DeserializeOwned>(&mut self, ask: &Ask) -> Result<T, Error> {
        let failed = |problem: String| Error::Engine { name: self.name.clone(), problem };
        let Some(control) = &mut self.stream else {
            return Err(failed("it has no control connection".to_owned()));
        };
        let mut exchange = || -> std::io::Result<Result<T, String>> {
            let mut line = serde_json::to_vec(ask)?;
            line.push(b'\n');
            control.get_mut().write_all(&line)?;
            let mut answer = String::new();
            if control.read_line(&mut answer)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            Ok(serde_json::from_str(&answer)?)
        };
        let answer = exchange();
        answer.map_err(|error| failed(error.to_string()))?.map_err(failed)
    }
}

impl System for Embedded {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Process(self.control.sockets.join(LOAD))
    }

    fn process(&self) -> Option<&ServerProcess> {
        Some(&self.process)
    }

    fn process_mut(&mut self) -> Option<&mut ServerProcess> {
        Some(&mut self.process)
    }

    fn settings(&mut self) -> Result<Vec<Setting>, Error> {
        self.control.ask(&Ask::Settings)
    }

    fn counters(&mut self, objects: &[String]) -> Result<Snapshot, Error> {
        self.control.ask(&Ask::Counters(objects.to_vec()))
    }

    fn footprint(&mut self, objects: &[String]) -> Result<Vec<Footprint>, Error> {
        self.control.ask(&Ask::Footprint(objects.to_vec()))
    }

    fn debt(&mut self, objects: &[String]) -> Result<Debt, Error> {
        self.control.ask(&Ask::Debt(objects.to_vec()))
    }

    fn settle(&mut self, objects: &[String]) -> Result<Settled, Error> {
        self.control.ask(&Ask::Settle(objects.to_vec()))
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.control.ask(&Ask::Flush)
    }

    fn gauges(&mut self) -> Result<Option<Gauges>, Error> {
        let Control { name, sockets, .. } = &self.control;
        let mut own = Control { name: name.clone(), sockets: sockets.clone(), stream: None };
        own.open().map_err(Error::io("connect to", &sockets.join(CONTROL)))?;
        Ok(Some(Box::new(move || own.ask(&Ask::Gauges))))
    }

    fn close(&mut self) {
        self.control.stream = None;
    }
}
