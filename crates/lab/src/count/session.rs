//! A server under Callgrind, and one session on it after another: N requests, marks around them,
//! and what Callgrind wrote.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dbms::{Loaded, Paused, SqlCount, System, asleep};
use drive::{Prepared, Single, Target};
use plan::Protocol;
use probe::callgrind::{CallgrindError, Dump, Event, Profile, SEES_RETURNS, dumps};
use workload::{Expect, Request, Sent, Statement, stream_seed};

use super::counter::{Counter, failed};
use super::jobs::{Item, Job};
use super::phases;
use crate::error::Error;
use crate::systems::target;
use crate::trial::attempt::last_lines;

/// How many dumps a session makes: to the first mark, between the first two, between the last two.
const DUMPS: usize = 3;

/// How long may pass until a process waits or is gone.
const REST_LIMIT: Duration = Duration::from_secs(120);
/// How long between two looks at whether it does.
const LOOK: Duration = Duration::from_micros(100);

impl Counter<'_> {
    /// Counts the items of a job on a server of their own, the `number`th.
    pub fn count(
        &self,
        number: usize,
        job: &Job,
        loaded: &Loaded,
        done: &Sender<(Item, Vec<Profile>)>,
    ) -> Result<(), Error> {
        let directory = self.place(&number.to_string());
        // In the data directory, where the server may write and which goes with it.
        let out = directory.join("data").join("callgrind");
        let method = self.method(job.variant);
        let mark = Some(method.mark_function);
        let wrapper = self.valgrind.command_line(&out, mark, method.only_in, self.events.len() > 1);
        let mut server = self.start(job.variant, &directory, Some(loaded), wrapper)?;
        self.count_on(server.as_mut(), job, &out, done).map_err(|error| match error {
            Error::Count { variant, kind, reason, .. } if !server.alive() => {
                Error::Count { variant, kind, reason, log: last_lines(server.as_ref()) }
            }
            other => other,
        })
        // Dropping it ends the server at once, without a checkpoint under Callgrind: nothing from
        // this server is needed any more.
    }

    /// Reads the counts of N executions in `process` from the dumps with the prefix `out`: a
    /// profile for each event.
    fn counted(&self, item: Item, process: u32, out: &Path) -> Result<Vec<Profile>, Error> {
        let method = self.method(item.variant);
        let function = method.mark_function;
        let mut written = dumps(out)?;
        written.retain(|dump| dump.pid == process && dump.trigger.contains(function));
        let [_, counted, mark] = written.as_slice() else {
            let found = written.len();
            let reason = format!(
                "expected {DUMPS} dumps of Callgrind from process {process}, found {found}: is the \
                 symbol {function} in the program?"
            );
            return Err(self.uncounted(item, reason));
        };
        let mut profiles = Vec::new();
        for &event in self.events {
            let read = |dump: &Dump| {
                let profile = Profile::read(&dump.path, event)?;
                Ok::<_, CallgrindError>(match SEES_RETURNS {
                    true => profile,
                    false => profile.without_calls(),
                })
            };
            let (stretch, mark) = (read(counted)?, read(mark)?);
            let [with, without] = [stretch.total, mark.total];
            let statements = phases::statements(stretch, mark, method);
            if event == Event::Instructions && statements.total == 0 {
                let reason = format!(
                    "Callgrind counted {with} instructions with the statements and {without} \
                     without; less what is left out, nothing is left for them. Try another version \
                     of valgrind, or count on another machine"
                );
                return Err(self.uncounted(item, reason));
            }
            profiles.push(statements);
        }
        // The files are large, and the next session of this server lists them again.
        for dump in written {
            let _ = fs::remove_file(dump.path);
        }
        Ok(profiles)
    }

    fn uncounted(&self, item: Item, reason: String) -> Error {
        failed(&self.subject(item.variant).variant.name, &self.kind(item).name, reason)
    }

    fn count_on(
        &self,
        server: &mut dyn System,
        job: &Job,
        out: &Path,
        done: &Sender<(Item, Vec<Profile>)>,
    ) -> Result<(), Error> {
        let name = &self.subject(job.variant).variant.name;
        let mut held = None;
        let mut before = None;
        for &(item, database) in &job.items {
            let target = target(name, server.endpoint().in_database(&database.to_string()));
            let root = server.root_pid();
            let process = match &self.method(job.variant).sql {
                Some(method) => {
                    if let (Some(warm), false) = (method.warm, self.kind(item).reads_only) {
                        warm(server.need_sql()?, &database.to_string())?;
                    }
                    let session =
                        Session { counter: self, method, item, target: &target, root, before };
                    session.execute(&mut held)?
                }
                None => {
                    self.call(&target, item)?;
                    root.unwrap_or_default()
                }
            };
            before = Some(process);
            let _ = done.send((item, self.counted(item, process, out)?));
        }
        Ok(())
    }
}

/// Holds back a server's background work for as long as it exists.
struct Held {
    _stopped: Paused,
    _bystander: Option<Single>,
}

/// A session that executes one item and has it counted.
struct Session<'a> {
    counter: &'a Counter<'a>,
    method: &'a SqlCount,
    item: Item,
    /// The server and the database.
    target: &'a Target,
    /// The process that starts those that serve sessions.
    root: Option<u32>,
    /// The process that counted before, which may still be about to end.
    before: Option<u32>,
}

impl Session<'_> {
    /// Connects, executes, and returns the pid of the process that executed. The first session of a
    /// server has work in the background `held` back.
    fn execute(&self, held: &mut Option<Held>) -> Result<u32, Error> {
        let (counter, method) = (self.counter, self.method);
        let kind = counter.kind(self.item);
        let catalogue = &counter.catalogues[self.item.variant];
        let says = |error: drive::Error| self.failed(error);
        // A process that serves begins with a copy of its parent's memory, which holds something
        // for each that is not gone yet.
        let gone = |pid| !Path::new(&format!("/proc/{pid}")).exists();
        if method.own_process.is_some() {
            self.wait("the previous backend did not exit", || self.before.is_none_or(gone))?;
        }
        self.wait("the server did not become idle", || self.root.is_none_or(asleep))?;
        let seed = stream_seed(counter.seed, &kind.name, 1, 0, "count");
        let mut single = Single::connect(self.target, seed, catalogue.cells).map_err(says)?;
        let process = match method.own_process {
            Some(query) => {
                let own = Statement::plain(query, Expect::Rows { min: 1, max: 1 });
                let row = single.row(&own).map_err(says)?;
                row.first().copied().flatten().and_then(|pid| u32::try_from(pid).ok())
            }
            None => self.root,
        };
        let process = process.ok_or_else(|| self.failed("the backend has no pid"))?;
        if held.is_none() {
            *held = Some(Held {
                _stopped: self.hold_paused(&mut single)?,
                _bystander: self.bystander()?,
            });
        }
        if let Some(refresh) = &catalogue.refresh {
            single.refresh(refresh).map_err(says)?;
        }
        let mut request = kind.request.clone();
        let prepared = self.item.protocol == Protocol::Prepared;
        match &mut request {
            Request::Sql(statement) => statement.sent = Sent::prepared(prepared),
            Request::Script(scripts) => {
                let sent = if prepared { Sent::Described } else { Sent::Text };
                Arc::make_mut(scripts).sent = sent;
            }
            _ => {}
        }
        let statement = single.prepare(request).map_err(says)?;
        let mut plain =
            |text| single.prepare(Statement::plain(text, Expect::Success)).map_err(says);
        let mark = plain(method.mark)?;
        let report = method.before_mark.map(plain).transpose()?;
        for stretch in 0..2 {
            if kind.reads_only {
                // Queries find in the server's memory what they read: the same once more.
                single.reseed(seed);
            }
            let executions = counter.executions(self.item);
            // The first stretch is not counted.
            let warm_up = match stretch {
                0 if !kind.reads_only => self.method.warm_up.min(10 * executions),
                _ => 0,
            };
            for _ in 0..executions.max(warm_up) {
                self.run(&mut single, process, statement)?;
                if let Some((cell, by)) = kind.adds {
                    single.add(cell, by);
                }
            }
            if let (0, Some(report)) = (stretch, report) {
                self.run(&mut single, process, report)?;
            }
            self.run(&mut single, process, mark)?;
        }
        self.run(&mut single, process, mark)?;
        Ok(process)
    }

    /// Opens the session that holds back threads of this server.
    fn bystander(&self) -> Result<Option<Single>, Error> {
        let Some(text) = self.method.bystander else { return Ok(None) };
        let open = || {
            let mut session = Single::connect(self.target, 0, 0)?;
            let statement = session.prepare(Statement::plain(text, Expect::Success))?;
            session.run(statement)?;
            Ok(session)
        };
        open().map(Some).map_err(|error: drive::Error| self.failed(error))
    }

    /// Stops this server's periodic work.
    fn hold_paused(&self, single: &mut Single) -> Result<Paused, Error> {
        let Some(query) = self.method.periodic else { return Ok(Paused::default()) };
        let query = Statement::plain(query, Expect::Rows { min: 1, max: 1 });
        let mut found = Ok(Vec::new());
        // They begin alongside the first session.
        self.wait("the server's writers did not start", || {
            found = single.row(&query);
            let answered = !found.as_ref().is_ok_and(|row| row.contains(&None));
            if !answered {
                sleep(Duration::from_millis(50));
            }
            answered
        })?;
        let pids = found.map_err(|error| self.failed(error))?.into_iter().flatten();
        let mut paused = Paused::default();
        for pid in pids.filter_map(|pid| u32::try_from(pid).ok()) {
            self.wait("the server's writers did not become idle", || asleep(pid))?;
            paused.hold(pid);
        }
        Ok(paused)
    }

    /// Executes a statement when the server's process is waiting for one. If it were sent earlier,
    /// chance would decide whether it arrives before the process looks, and that changes the count
    /// by some hundred instructions of waiting.
    fn run(&self, single: &mut Single, process: u32, statement: Prepared) -> Result<(), Error> {
        let mut not_ready = None;
        let mut ready = || {
            self.wait("the backend did not become idle", || asleep(process)).map_err(|error| {
                not_ready = Some(error);
                drive::Error::Load("the backend is busy")
            })
        };
        let ran = single.run_when(statement, &mut ready);
        ran.map_err(|error| not_ready.unwrap_or_else(|| self.failed(error)))
    }

    /// Waits until a condition holds, or fails and names the condition.
    fn wait(&self, otherwise: &str, mut done: impl FnMut() -> bool) -> Result<(), Error> {
        let begin = Instant::now();
        while !done() {
            self.counter.unless_interrupted()?;
            if begin.elapsed() > REST_LIMIT {
                return Err(self.failed(format!("{otherwise} within {} s", REST_LIMIT.as_secs())));
            }
            sleep(LOOK);
        }
        self.counter.unless_interrupted()
    }

    fn failed(&self, reason: impl std::fmt::Display) -> Error {
        failed(&self.target.name, &self.counter.kind(self.item).name, reason)
    }
}
