//! Systems that are not there: each is a directory, a number, and what the test tells it to do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dbms::{
    Cache, Debt, Diagnosis, Ending, Endpoint, Entry, Error, Footprint, Freeze, Host, Installation,
    Origin, Reference, Restored, Server, ServerSpec, ServerUser, Setting, Settled, Snapshot, Sql,
    Started, Stopped, System, Waits,
};
use drive::Target;
use lab::Systems;

use super::engine::FakeConnect;

/// A fault at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails.
    Fail,
    /// It fails, as there is no space left for the data.
    DiskFull,
    /// It fails, because the request is wrong in itself.
    Invalid,
    /// The server dies.
    Die,
    /// It does not come back until the connection is broken off.
    Hang,
    /// The user ends the run.
    Interrupt,
}

/// All fake systems of a test.
#[derive(Clone)]
pub struct World {
    cache: Cache,
    interrupted: Arc<AtomicBool>,
    state: Arc<Mutex<State>>,
}

type Delay = dyn Fn(&str, usize) -> Duration + Send;

struct State {
    version: String,
    /// How long each answer of a server takes, by its variant and how often that was started.
    delay: Box<Delay>,
    /// How long its every 20th answer takes besides, by the same.
    pause: Box<Delay>,
    /// How long a server takes to start, by the same.
    start_delay: Box<Delay>,
    /// The fault at the call of this name with this number, from 1.
    faults: Vec<(&'static str, usize, Fault)>,
    counts: BTreeMap<&'static str, usize>,
    /// All but requests, in their order: `start a`.
    calls: Vec<String>,
    /// Calls that were made after the user had ended the run.
    late: Vec<&'static str>,
    up: Vec<Arc<Running>>,
    started: BTreeMap<String, usize>,
    port: u16,
    /// A table that somebody else has made.
    strangers: Option<&'static str>,
    /// True if nothing can be known that only explains a step.
    inexplicable: bool,
}

/// A fake server under way.
#[derive(Debug)]
pub struct Running {
    pub name: String,
    pub delay: Duration,
    pub pause: Duration,
    pub answers: AtomicUsize,
    port: u16,
    dead: AtomicBool,
    frozen: AtomicBool,
}

impl Running {
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    pub fn is_frozen(&self) -> bool {
        self.frozen.load(Ordering::Acquire)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

impl World {
    pub fn new(directory: &Path) -> World {
        World {
            cache: Cache::at(directory.join("cache")).unwrap(),
            interrupted: Arc::default(),
            state: Arc::new(Mutex::new(State {
                version: "14.3".to_owned(),
                delay: Box::new(|_, _| Duration::ZERO),
                pause: Box::new(|_, _| Duration::ZERO),
                start_delay: Box::new(|_, _| Duration::ZERO),
                faults: Vec::new(),
                counts: BTreeMap::new(),
                calls: Vec::new(),
                late: Vec::new(),
                up: Vec::new(),
                started: BTreeMap::new(),
                port: 0,
                strangers: None,
                inexplicable: false,
            })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn interrupted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupted)
    }

    pub fn set_delay(&self, delay: impl Fn(&str, usize) -> Duration + Send + 'static) {
        self.lock().delay = Box::new(delay);
    }

    pub fn set_pause(&self, pause: impl Fn(&str, usize) -> Duration + Send + 'static) {
        self.lock().pause = Box::new(pause);
    }

    pub fn set_start_delay(&self, delay: impl Fn(&str, usize) -> Duration + Send + 'static) {
        self.lock().start_delay = Box::new(delay);
    }

    /// Systems obtained from now on are of this version.
    pub fn set_version(&self, version: &str) {
        version.clone_into(&mut self.lock().version);
    }

    /// Nothing can be known that only explains a step.
    pub fn explains_nothing(&self) {
        self.lock().inexplicable = true;
    }

    /// Somebody else has made a table on the servers.
    pub fn has_table(&self, table: &'static str) {
        self.lock().strangers = Some(table);
    }

    pub fn at(&self, call: &'static str, number: usize, fault: Fault) {
        self.lock().faults.push((call, number, fault));
    }

    /// A new process: no faults, no interrupt.
    pub fn restart(&self) {
        let mut state = self.lock();
        state.faults.clear();
        state.calls.clear();
        state.late.clear();
        state.counts.clear();
        self.interrupted.store(false, Ordering::Relaxed);
    }

    /// How often each call was made.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        self.lock().counts.clone()
    }

    pub fn count(&self, call: &str) -> usize {
        self.lock().counts.get(call).copied().unwrap_or(0)
    }

    pub fn calls(&self) -> Vec<String> {
        self.lock().calls.clone()
    }

    /// The calls that begin with one of these words.
    pub fn calls_of(&self, words: &[&str]) -> Vec<String> {
        let mut calls = self.calls();
        calls.retain(|call| words.iter().any(|word| call.split(' ').next() == Some(word)));
        calls
    }

    /// Calls that were made after the user had ended the run, each once.
    pub fn late(&self) -> BTreeSet<&'static str> {
        self.lock().late.iter().copied().collect()
    }

    pub fn up(&self) -> Vec<String> {
        self.lock().up.iter().map(|server| server.name.clone()).collect()
    }

    /// Records a call, and returns the fault planned for it.
    pub fn meets(&self, call: &'static str, server: &Running) -> Option<Fault> {
        let fault = self.call(call, &server.name);
        if fault == Some(Fault::Die) {
            server.dead.store(true, Ordering::Relaxed);
        }
        fault
    }

    fn call(&self, call: &'static str, who: &str) -> Option<Fault> {
        let mut state = self.lock();
        if self.interrupted.load(Ordering::Relaxed) {
            state.late.push(call);
        }
        let count = state.counts.entry(call).or_default();
        *count += 1;
        let number = *count;
        if call != "request" {
            state.calls.push(format!("{call} {who}"));
        }
        let due = |(name, at, _): &&(&str, usize, Fault)| (*name, *at) == (call, number);
        let fault = state.faults.iter().find(due).map(|(.., fault)| *fault);
        if fault == Some(Fault::Interrupt) {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        fault
    }

    fn begin(&self, name: &str, owned: bool, entry: Option<Entry>, data: PathBuf) -> FakeSystem {
        let mut state = self.lock();
        let twice = state.up.iter().any(|server| server.name == name);
        assert!(!owned || !twice, "{name} is up already");
        // A server of others is always the same.
        state.port += u16::from(owned);
        let number = state.started.entry(name.to_owned()).or_default();
        *number += 1;
        let number = *number;
        let running = Arc::new(Running {
            name: name.to_owned(),
            delay: (state.delay)(name, number),
            pause: (state.pause)(name, number),
            answers: AtomicUsize::new(0),
            port: state.port,
            dead: AtomicBool::new(false),
            frozen: AtomicBool::new(false),
        });
        state.up.push(Arc::clone(&running));
        FakeSystem { world: self.clone(), running, entry, data, owned }
    }
}

impl Systems for World {
    fn cache(&self) -> &Cache {
        &self.cache
    }

    fn obtain(
        &self,
        reference: &Reference,
        _: Option<&str>,
        _: &AtomicBool,
        _: &dyn Fn(&str),
    ) -> Result<Installation, Error> {
        let running = reference.to_string().contains("://");
        Ok(Installation {
            dbms: "postgres".to_owned(),
            version: self.lock().version.clone(),
            source: "nowhere".to_owned(),
            bin_dir: (!running).then(|| PathBuf::from("/nowhere")),
            build: BTreeMap::new(),
        })
    }

    fn user(&self, _: Option<&str>) -> Result<ServerUser, Error> {
        Ok(ServerUser::caller())
    }

    fn start(&self, spec: ServerSpec<'_>, origin: Option<&Origin<'_>>) -> Result<Started, Error> {
        let call = if origin.is_some() { "copy" } else { "start" };
        if matches!(self.call(call, spec.name), Some(Fault::Fail | Fault::Die)) {
            return Err(failed(call));
        }
        let delay = {
            let state = self.lock();
            (state.start_delay)(spec.name, state.started.get(spec.name).copied().unwrap_or(0) + 1)
        };
        std::thread::sleep(delay);
        let mut entry = spec.ledger.enter(spec.name)?;
        entry.make_directory(spec.directory, 0o700)?;
        let data = spec.directory.join("data");
        fs::create_dir(&data).unwrap();
        entry.update(|record| record.work_directory = Some(data.clone()))?;
        fs::write(spec.directory.join("server.log"), format!("{} is up\n", spec.name)).unwrap();
        let restored = origin.map(|origin| {
            fs::copy(origin.loaded.data().join("rows"), data.join("rows")).unwrap();
            let manifest = origin.loaded.manifest();
            Restored {
                digest: manifest.digest(),
                files: manifest.files(),
                bytes: manifest.bytes(),
                shared: false,
                copy_seconds: 0.1,
                check_seconds: 0.1,
                read_seconds: 0.0,
            }
        });
        if restored.is_none() {
            fs::write(data.join("rows"), spec.name).unwrap();
        }
        Ok((Box::new(self.begin(spec.name, true, Some(entry), data)), restored))
    }

    fn attach(&self, reference: &Reference) -> Result<Box<dyn System>, Error> {
        let name = reference.to_string();
        if self.call("attach", &name) == Some(Fault::Fail) {
            return Err(failed("attach"));
        }
        Ok(Box::new(self.begin(&name, false, None, PathBuf::new())))
    }

    fn target(&self, variant: &str, endpoint: Endpoint) -> Target {
        let Endpoint::Postgres(Server { port, .. }) = endpoint else { panic!("not of this world") };
        let state = self.lock();
        let server = state.up.iter().find(|server| server.port == port).unwrap();
        let connect = FakeConnect { world: self.clone(), server: Arc::clone(server) };
        Target::new(variant, connect)
    }
}

fn failed(what: &str) -> Error {
    Error::Query {
        sql: what.to_owned(),
        message: "refused".to_owned(),
        code: None,
        diagnosis: None,
    }
}

/// A fake server as `lab` has it.
struct FakeSystem {
    world: World,
    running: Arc<Running>,
    /// Its files on disk; `None` if they are not ours.
    entry: Option<Entry>,
    data: PathBuf,
    owned: bool,
}

/// Freezes a fake server: its sessions don't answer.
struct FakeFreezer {
    world: World,
    running: Arc<Running>,
}

impl Freeze for FakeFreezer {
    fn freeze(&mut self) -> Result<(), String> {
        self.running.frozen.store(true, Ordering::Release);
        match self.world.meets("freeze", &self.running) {
            Some(Fault::Fail) => Err("it can't be frozen".to_owned()),
            _ => Ok(()),
        }
    }

    fn thaw(&mut self) -> Result<(), String> {
        self.running.frozen.store(false, Ordering::Release);
        Ok(())
    }
}

impl Drop for FakeFreezer {
    fn drop(&mut self) {
        self.running.frozen.store(false, Ordering::Release);
    }
}

impl FakeSystem {
    fn meets(&self, call: &'static str) -> Result<(), Error> {
        let fault = self.world.meets(call, &self.running);
        if fault == Some(Fault::Fail) || self.running.is_dead() {
            return Err(failed(call));
        }
        Ok(())
    }

    /// Answers a request that only explains a step, or fails if that can't be known.
    fn explained<T: Default>(&self, what: &str) -> Result<T, Error> {
        if self.world.lock().inexplicable { Err(failed(what)) } else { Ok(T::default()) }
    }

    fn leave(&self) {
        let mut state = self.world.lock();
        state.up.retain(|server| !Arc::ptr_eq(server, &self.running));
    }
}

impl System for FakeSystem {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Postgres(Server {
            host: Host::Socket(PathBuf::from("/nowhere")),
            port: self.running.port,
            user: "fake".to_owned(),
            password: None,
            database: "fake".to_owned(),
        })
    }

    fn owned(&self) -> bool {
        self.owned
    }

    fn sql(&mut self) -> Option<&mut dyn Sql> {
        Some(self)
    }

    fn settings(&mut self) -> Result<Vec<Setting>, Error> {
        self.meets("settings").map(|()| Vec::new())
    }

    fn counters(&mut self, _: &[String]) -> Result<Snapshot, Error> {
        self.meets("counters").map(|()| Snapshot::default())
    }

    fn debt(&mut self, _: &[String]) -> Result<Debt, Error> {
        self.explained("debt")
    }

    fn query_plan(&mut self, _: &str) -> Result<Option<String>, Error> {
        self.explained("plan")
    }

    fn waits(&mut self) -> Result<Option<Waits>, Error> {
        let blind = || -> Waits { Box::new(|| Err(failed("look"))) };
        Ok(self.world.lock().inexplicable.then(blind))
    }

    fn footprint(&mut self, _: &[String]) -> Result<Vec<Footprint>, Error> {
        self.meets("footprint").map(|()| Vec::new())
    }

    fn settle(&mut self, _: &[String]) -> Result<Settled, Error> {
        self.meets("settle").map(|()| Settled::default())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.meets("flush")
    }

    fn freezer(&self) -> Option<Box<dyn Freeze>> {
        let (world, running) = (self.world.clone(), Arc::clone(&self.running));
        Some(Box::new(FakeFreezer { world, running }))
    }

    fn log_tail(&self, _: usize) -> String {
        "the last line\n".to_owned()
    }

    fn diagnose(&self) -> Option<Diagnosis> {
        None
    }

    fn died(&mut self) -> Option<String> {
        self.running.is_dead().then(|| "signal: 9".to_owned())
    }

    fn end(self: Box<Self>) -> Result<Stopped, Error> {
        self.stop()
    }

    fn stop(mut self: Box<Self>) -> Result<Stopped, Error> {
        assert!(!self.running.is_frozen(), "{} is stopped while it is frozen", self.running.name);
        // What is refused still ends the server, when `self` is dropped.
        self.meets("stop")
            .or_else(|error| if self.running.is_dead() { Ok(()) } else { Err(error) })?;
        let ending = match (self.owned, self.running.is_dead()) {
            (false, _) => Ending::LeftRunning,
            (true, true) => Ending::Died("signal: 9".to_owned()),
            (true, false) => Ending::Graceful,
        };
        let log = self.data.parent().filter(|_| self.owned).map(|place| place.join("server.log"));
        Ok(Stopped::new(0.0, ending, log, self.entry.take()))
    }
}

impl Drop for FakeSystem {
    fn drop(&mut self) {
        self.leave();
        if let Some(entry) = self.entry.take() {
            entry.remove().unwrap();
        }
    }
}

impl Sql for FakeSystem {
    fn execute(&mut self, _: &str) -> Result<u64, Error> {
        self.meets("execute").map(|()| 0)
    }

    fn query_rows(&mut self, _: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
        self.meets("query").map(|()| Vec::new())
    }

    fn query_i64(&mut self, _: &str) -> Result<i64, Error> {
        self.meets("query").map(|()| 0)
    }

    fn create_marked(&mut self, _: &[String], _: &[String]) -> Result<(), Error> {
        self.meets("create_marked")
    }

    fn drop_marked(&mut self, _: &[String]) -> Result<Option<String>, Error> {
        self.meets("drop_marked").map(|()| self.world.lock().strangers.map(str::to_owned))
    }
}
