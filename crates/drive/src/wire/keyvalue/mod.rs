//! Engines that store values by key, called in the clients' own threads.
//!
//! A value is sealed before it is written, and checked when it is read, so that no engine can pass
//! with wrong data.

mod key;
mod seal;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use workload::{KeyAction, KeyValue, Request, Sampler, Scan, Source};

use crate::error::{Error, ServerError};
use crate::wire::{Breaker, Connect, Handle, Reply, Session};
use key::key;
use seal::Reader;

pub use key::Key;

/// Pairs to write together.
#[derive(Debug, Default)]
pub struct Batch {
    /// Keys, and where their values end.
    keys: Vec<(Key, usize)>,
    values: Vec<u8>,
}

impl Batch {
    /// The pairs, in the order in which to write them.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&Key, &[u8])> {
        let mut begin = 0;
        self.keys.iter().map(move |(key, end)| {
            let value = self.values.get(begin..*end).unwrap_or_default();
            begin = *end;
            (key, value)
        })
    }

    /// Adds a key with a value that `draw` appends.
    fn add(&mut self, key: Key, draw: impl FnOnce(&mut Vec<u8>)) {
        let begin = self.values.len();
        draw(&mut self.values);
        seal::seal(&key, self.values.get_mut(begin..).unwrap_or_default());
        self.keys.push((key, self.values.len()));
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }
}

/// The operations of an engine. All clients call it concurrently.
///
/// `see` gets each pair that it finds: key and value. Errors have the engine's message and its
/// meaning.
#[allow(clippy::missing_errors_doc)]
pub trait KeyValueEngine: std::fmt::Debug + Send + Sync {
    /// A client's thread begins to use it.
    fn enter(&self) {}

    /// Reads the values of these keys, in one call if possible, and shows those that exist.
    fn get(&self, keys: &[Key], see: impl FnMut(&[u8], &[u8])) -> Result<(), Box<ServerError>>;

    /// Writes pairs, all or none; with `logged`, they survive a crash.
    fn put(&self, batch: &Batch, logged: bool) -> Result<(), Box<ServerError>>;

    /// Removes a key.
    fn delete(&self, key: &Key) -> Result<(), Box<ServerError>>;

    /// Calls a function that nothing else calls, at whose entry Callgrind writes its counts.
    fn mark(&self) {}

    /// Seeks to a key and shows the pairs from there, up to the number that `scan` gives.
    fn scan(
        &self,
        from: &Key,
        scan: Scan,
        see: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Box<ServerError>>;
}

impl<E: KeyValueEngine + 'static> Connect for Arc<E> {
    fn connect(&self) -> Result<Box<dyn Session>, Error> {
        self.enter();
        Ok(Box::new(EngineSession { engine: Arc::clone(self), requests: Vec::new(), values: 0 }))
    }
}

/// One client's use of an engine.
struct EngineSession<E> {
    engine: Arc<E>,
    requests: Vec<Ready>,
    /// Values read so far.
    values: u64,
}

struct Ready {
    operation: KeyValue,
    key: Sampler,
    value: Option<Sampler>,
    /// The keys of a get.
    keys: Vec<Key>,
    batch: Batch,
}

#[cold]
fn failed(error: Box<ServerError>, action: &KeyAction) -> Error {
    Error::Server { error, statement: format!("{action:?}") }
}

impl<E: KeyValueEngine> Session for EngineSession<E> {
    fn prepare(&mut self, request: &Request) -> Result<Handle, Error> {
        let Request::KeyValue(operation) = request else {
            return Err(Error::Unsupported("an engine without SQL accepts only keys and values"));
        };
        let (value, keys) = match &operation.action {
            KeyAction::Put { value, .. } => (Some(value.into()), 0),
            KeyAction::Get { keys } => (None, *keys as usize),
            KeyAction::Scan(_) | KeyAction::Delete => (None, 0),
        };
        self.requests.push(Ready {
            key: (&operation.key).into(),
            value,
            operation: operation.clone(),
            keys: vec![key(0); keys],
            batch: Batch::default(),
        });
        Ok(Handle(self.requests.len() - 1))
    }

    fn call(
        &mut self,
        handle: Handle,
        source: &mut Source<'_>,
        _row: Option<&mut Vec<Option<i64>>>,
    ) -> Result<Reply, Error> {
        let Some(ready) = self.requests.get_mut(handle.0) else {
            return Err(Error::Unsupported("it was never prepared"));
        };
        let Ready { operation, key: sampler, value, keys, batch } = ready;
        let action = &operation.action;
        let failed = |error| failed(error, action);
        match action {
            KeyAction::Get { .. } => {
                keys.iter_mut().for_each(|it| *it = key(sampler.number(source, &[])));
                let mut reader = Reader::new(&mut self.values);
                self.engine.get(keys, |key, value| reader.value(key, value)).map_err(failed)?;
                reader.reply(action)
            }
            KeyAction::Scan(scan) => {
                let from = key(sampler.number(source, &[]));
                let mut reader = Reader::new(&mut self.values);
                reader.expect_order(from, scan.reverse);
                let read = self.engine.scan(&from, *scan, |key, value| reader.value(key, value));
                read.map_err(failed)?;
                reader.reply(action)
            }
            KeyAction::Put { keys: count, logged, .. } => {
                batch.clear();
                for _ in 0..*count {
                    batch.add(key(sampler.number(source, &[])), |bytes| {
                        if let Some(value) = value {
                            value.text(source, bytes);
                        }
                    });
                }
                self.engine.put(batch, *logged).map_err(failed)?;
                Ok(Reply { rows: 0, affected: u64::from(*count) })
            }
            KeyAction::Delete => {
                self.engine.delete(&key(sampler.number(source, &[]))).map_err(failed)?;
                Ok(Reply { rows: 0, affected: 1 })
            }
        }
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn server_pid(&self) -> Option<u32> {
        Some(std::process::id())
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(Box::new(|| ()))
    }

    fn mark(&mut self) -> Result<(), Error> {
        self.engine.mark();
        Ok(())
    }

    fn stop_clock(&mut self, _second: i64) {}
}
