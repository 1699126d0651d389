//! The engine of a fake: sessions that give the right answer to anything.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drive::{Breaker, Connect, Error, ErrorKind, Handle, Reply, ServerError, Session};
use workload::{Expect, Request, Source};

use super::world::{Fault, Running, World};

/// How clients come to a fake server.
#[derive(Debug)]
pub struct FakeConnect {
    pub world: World,
    pub server: Arc<Running>,
}

impl Connect for FakeConnect {
    fn connect(&self) -> Result<Box<dyn Session>, Error> {
        let session = FakeSession {
            world: self.world.clone(),
            server: Arc::clone(&self.server),
            requests: Vec::new(),
            sent: VecDeque::new(),
            broken: Arc::default(),
        };
        session.meets("connect")?;
        Ok(Box::new(session))
    }
}

struct FakeSession {
    world: World,
    server: Arc<Running>,
    requests: Vec<Request>,
    sent: VecDeque<Handle>,
    broken: Arc<AtomicBool>,
}

fn refused(kind: ErrorKind) -> Error {
    let error = ServerError {
        kind,
        severity: "ERROR".to_owned(),
        code: "XX000".to_owned(),
        message: "refused".to_owned(),
        ..ServerError::default()
    };
    Error::Server { error: Box::new(error), statement: "fake".to_owned() }
}

impl FakeSession {
    fn meets(&self, call: &'static str) -> Result<(), Error> {
        let broken = || Error::Broken(std::io::ErrorKind::ConnectionReset.into());
        match self.world.meets(call, &self.server) {
            Some(Fault::Fail) => return Err(refused(ErrorKind::Other)),
            Some(Fault::DiskFull) => return Err(refused(ErrorKind::DiskFull)),
            Some(Fault::Invalid) => return Err(refused(ErrorKind::Invalid)),
            Some(Fault::Hang) => {
                while !self.broken.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            Some(Fault::Die | Fault::Interrupt) | None => {}
        }
        if self.server.is_dead() || self.broken.load(Ordering::Relaxed) {
            return Err(broken());
        }
        Ok(())
    }
}

impl Session for FakeSession {
    fn prepare(&mut self, request: &Request) -> Result<Handle, Error> {
        self.requests.push(request.clone());
        Ok(Handle(self.requests.len() - 1))
    }

    fn send(&mut self, handle: Handle, _: &mut Source<'_>) -> Result<(), Error> {
        self.sent.push_back(handle);
        Ok(())
    }

    fn receive(&mut self, row: Option<&mut Vec<Option<i64>>>) -> Result<Reply, Error> {
        let Some(handle) = self.sent.pop_front() else { return Err(refused(ErrorKind::Other)) };
        let answers = self.server.answers.fetch_add(1, Ordering::Relaxed);
        let pause = if answers % 20 == 19 { self.server.pause } else { Duration::ZERO };
        if !(self.server.delay + pause).is_zero() {
            std::thread::sleep(self.server.delay + pause);
        }
        while self.server.is_frozen() && !self.broken.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_micros(50));
        }
        self.meets("request")?;
        if let Some(row) = row {
            *row = vec![Some(1)];
        }
        Ok(match self.requests[handle.0].expect() {
            Expect::Rows { max, .. } => Reply { rows: max, affected: 0 },
            Expect::Affected { max, .. } => Reply { rows: 0, affected: max },
            Expect::Success => Reply::default(),
        })
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn fd(&self) -> Option<i32> {
        None
    }

    fn server_pid(&self) -> Option<u32> {
        None
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        let broken = Arc::clone(&self.broken);
        Ok(Box::new(move || broken.store(true, Ordering::Relaxed)))
    }

    fn stop_clock(&mut self, _: i64) {}
}
