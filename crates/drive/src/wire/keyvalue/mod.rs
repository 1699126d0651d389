//! Engines that store values by key, called in the clients' own threads.

use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::sync::Arc;

use workload::{KeyAction, KeyValue, Request, Sampler, Source};

use crate::error::{Error, ServerError};
use crate::target::Connect;
use crate::wire::{Breaker, Handle, Reply, Session};

/// A key: its number in the first 8 bytes, the highest first, then zeros (db_bench's layout).
pub type Key = [u8; 20];

/// What an engine does. All clients call it concurrently.
///
/// Errors have the engine's message and its meaning.
#[allow(clippy::missing_errors_doc)]
pub trait Engine: std::fmt::Debug + Send + Sync {
    /// Reads the values of these keys, in one call if possible. Returns how many exist.
    fn get(&self, keys: &[Key]) -> Result<u32, Box<ServerError>>;

    /// Writes a value.
    fn put(&self, key: &Key, value: &[u8]) -> Result<(), Box<ServerError>>;

    /// Removes a key.
    fn delete(&self, key: &Key) -> Result<(), Box<ServerError>>;

    /// Seeks to a key and reads up to this many pairs from there. Returns how many exist.
    fn scan(&self, from: &Key, pairs: u32, reverse: bool) -> Result<u32, Box<ServerError>>;
}

impl<E: Engine + 'static> Connect for Arc<E> {
    fn connect(&self) -> Result<Box<dyn Session>, Error> {
        let engine = Arc::clone(self);
        Ok(Box::new(EngineSession { engine, requests: Vec::new(), answers: VecDeque::new() }))
    }
}

/// One client's use of an engine. Sending a request executes it; its answer waits.
struct EngineSession<E> {
    engine: Arc<E>,
    requests: Vec<Ready>,
    answers: VecDeque<Result<Reply, (usize, Box<ServerError>)>>,
}

struct Ready {
    operation: KeyValue,
    key: Sampler,
    value: Option<Sampler>,
    keys: Vec<Key>,
    bytes: Vec<u8>,
}

impl<E: Engine> EngineSession<E> {
    fn run(&mut self, at: usize, source: &mut Source<'_>) -> Result<Reply, Box<ServerError>> {
        let Some(ready) = self.requests.get_mut(at) else { return Ok(Reply::default()) };
        let mut key = || {
            let mut key = [0; 20];
            key[..8].copy_from_slice(&ready.key.number(source, &[]).to_be_bytes());
            key
        };
        let found = |rows| Reply { rows, affected: 0 };
        let wrote = Reply { rows: 0, affected: 1 };
        match ready.operation.action {
            KeyAction::Get { keys } => {
                ready.keys.clear();
                ready.keys.extend((0..keys).map(|_| key()));
                self.engine.get(&ready.keys).map(found)
            }
            KeyAction::Put { .. } => {
                let key = key();
                ready.bytes.clear();
                if let Some(value) = &ready.value {
                    value.text(source.rng, &mut ready.bytes);
                }
                self.engine.put(&key, &ready.bytes).map(|()| wrote)
            }
            KeyAction::Delete => self.engine.delete(&key()).map(|()| wrote),
            KeyAction::Scan { pairs, reverse } => {
                self.engine.scan(&key(), pairs, reverse).map(found)
            }
        }
    }
}

impl<E: Engine> Session for EngineSession<E> {
    fn prepare(&mut self, request: &Request) -> Result<Handle, Error> {
        let Request::KeyValue(operation) = request else {
            return Err(Error::Unsupported("an engine without SQL accepts only keys and values"));
        };
        let value = match &operation.action {
            KeyAction::Put { value } => Some(value.into()),
            _ => None,
        };
        self.requests.push(Ready {
            key: (&operation.key).into(),
            value,
            operation: operation.clone(),
            keys: Vec::new(),
            bytes: Vec::new(),
        });
        Ok(Handle(self.requests.len() - 1))
    }

    fn send(&mut self, handle: Handle, source: &mut Source<'_>) -> Result<(), Error> {
        let answer = self.run(handle.0, source).map_err(|error| (handle.0, error));
        self.answers.push_back(answer);
        Ok(())
    }

    fn receive(&mut self, _row: Option<&mut Vec<Option<i64>>>) -> Result<Reply, Error> {
        match self.answers.pop_front() {
            Some(Ok(reply)) => Ok(reply),
            Some(Err((at, error))) => {
                let action = self.requests.get(at).map(|ready| &ready.operation.action);
                let statement = action.map_or(String::new(), |action| format!("{action:?}"));
                Err(Error::Server { error, statement })
            }
            None => Err(Error::Protocol("an answer to a request that was never sent".to_owned())),
        }
    }

    fn roll_back(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn fd(&self) -> Option<RawFd> {
        None
    }

    fn server_pid(&self) -> Option<u32> {
        Some(std::process::id())
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        Ok(Box::new(|| ()))
    }

    fn stop_clock(&mut self, _second: i64) {}
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, PoisonError};
    use std::time::{Duration, Instant};

    use workload::{Action, Class, Draw, End, Expect, Step, Stream, Width};

    use super::*;
    use crate::{Load, Outcome, Reach, Running, Target, prepare, serve};

    #[derive(Debug, Default)]
    struct Tree(Mutex<BTreeMap<Key, Vec<u8>>>);

    impl Tree {
        fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Vec<u8>>> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl Engine for Tree {
        fn get(&self, keys: &[Key]) -> Result<u32, Box<ServerError>> {
            let tree = self.lock();
            Ok(keys.iter().filter(|key| tree.contains_key(*key)).count() as u32)
        }

        fn put(&self, key: &Key, value: &[u8]) -> Result<(), Box<ServerError>> {
            self.lock().insert(*key, value.to_vec());
            Ok(())
        }

        fn delete(&self, key: &Key) -> Result<(), Box<ServerError>> {
            self.lock().remove(key);
            Ok(())
        }

        fn scan(&self, from: &Key, pairs: u32, reverse: bool) -> Result<u32, Box<ServerError>> {
            let (tree, pairs) = (self.lock(), pairs as usize);
            let found = if reverse {
                tree.range(..=*from).rev().take(pairs).count()
            } else {
                tree.range(*from..).take(pairs).count()
            };
            Ok(found as u32)
        }
    }

    fn step(action: KeyAction, expect: Expect, end: End, seconds: Option<f64>) -> Step {
        let key = Draw::Uniform { low: 0, high: 100, width: Width::Eight };
        let stream = |client| Stream {
            requests: vec![Request::KeyValue(KeyValue {
                action: action.clone(),
                key: key.clone(),
                expect,
            })],
            script: vec![Action::Run(0)],
            end: end.clone(),
            ..Stream::new(client, Class::QUERY)
        };
        Step { seconds, ..Step::new("pairs", 2, Class::QUERY, vec![stream(0), stream(1)]) }
    }

    fn start(step: Step, reach: Reach) -> Box<dyn Running> {
        let targets = vec![Target { name: "tree".to_owned(), reach }];
        let overtime = Duration::ZERO;
        let load = Load { step: Arc::new(step), targets, seed: 7, slices: None, overtime };
        prepare(&load).unwrap().go(Instant::now() + Duration::from_millis(2))
    }

    fn run(step: Step, reach: Reach) -> Outcome {
        let running = start(step, reach);
        assert!(running.wait(Duration::from_secs(60)), "the step hangs");
        running.join().remove(0)
    }

    const FILL: KeyAction = KeyAction::Put { value: Draw::Text { min: 40, max: 40 } };

    /// The same step, with its clients here and in a stand-in for another process.
    #[test]
    fn a_step_gives_the_same_wherever_its_clients_run() {
        let tree = Arc::new(Tree::default());
        // One client, because with two that write the same key, either may be last.
        let fill = || {
            let mut fill = step(FILL, Expect::affected(1), End::Rounds(1000), None);
            fill.streams.truncate(1);
            fill
        };
        let here = run(fill(), Reach::Sessions(Arc::new(Arc::clone(&tree))));
        let kept = std::mem::take(&mut *tree.lock());
        assert!(kept.values().all(|value| value.len() == 40));
        assert!(kept.keys().all(|key| key[8..] == [0; 12]));

        let (there, far) = served(&tree);
        let elsewhere = run(fill(), there);
        far.join().unwrap().unwrap();
        assert_eq!((here.operations, here.fatal), (1000, None));
        assert_eq!((elsewhere.operations, elsewhere.fatal), (1000, None));
        assert!(*tree.lock() == kept, "the same draws");
        assert_eq!(elsewhere.classes[0].latency.len(), 1000);

        let pairs = KeyAction::Scan { pairs: 3, reverse: true };
        let scan = step(pairs, Expect::Rows { min: 1, max: 3 }, End::Time, Some(0.1));
        let (there, far) = served(&tree);
        let running = start(scan, there);
        assert!(running.wait(Duration::from_secs(60)));
        assert!(running.join().remove(0).rate() > 0.0);
        far.join().unwrap().unwrap();
    }

    #[test]
    fn wrong_answers_and_requests_are_reported_from_another_process() {
        let tree = Arc::new(Tree::default());
        let get =
            step(KeyAction::Get { keys: 4 }, Expect::Rows { min: 4, max: 4 }, End::Time, None);
        let (there, far) = served(&tree);
        let outcome = run(get.clone(), there);
        assert!(outcome.fatal.unwrap().contains("expected 4 rows, got 0"));
        far.join().unwrap().unwrap();

        let mut sql = get;
        sql.streams[0].requests =
            vec![workload::Statement::plain("SELECT 1", Expect::Success).into()];
        let (there, far) = served(&tree);
        let targets = vec![Target { name: "tree".to_owned(), reach: there }];
        let step = Arc::new(sql);
        let load = Load { step, targets, seed: 7, slices: None, overtime: Duration::ZERO };
        let error = prepare(&load).err().unwrap().to_string();
        assert!(error.contains("only keys and values"), "{error}");
        far.join().unwrap().unwrap();
    }

    #[test]
    fn a_dead_engine_gives_no_result_and_an_abandoned_step_ends() {
        let tree = Arc::new(Tree::default());
        let endless = || step(FILL, Expect::affected(1), End::Time, Some(3600.0));
        let (there, far) = served(&tree);
        let running = start(endless(), there);
        running.stop();
        assert!(running.wait(Duration::from_secs(60)));
        drop(running);
        far.join().unwrap().unwrap();
        // The near end goes away in the middle.
        let (there, far) = served(&tree);
        drop(start(endless(), there));
        let _ = far.join().unwrap();
        // The far end does.
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("load");
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let far = std::thread::spawn(move || {
            use std::io::{BufRead, BufReader, Write};
            let (mut stream, _) = listener.accept().unwrap();
            let mut line = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            reader.read_line(&mut line).unwrap();
            stream.write_all(b"{\"Ready\":{\"Ok\":null}}\n").unwrap();
            reader.read_line(&mut line).unwrap();
        });
        let running = start(endless(), Reach::Process(socket));
        assert!(running.wait(Duration::from_secs(60)));
        assert!(running.join().remove(0).fatal.unwrap().contains("ended"));
        far.join().unwrap();
    }

    type Far = std::thread::JoinHandle<std::io::Result<()>>;

    /// A thread that serves one load on the tree.
    fn served(tree: &Arc<Tree>) -> (Reach, Far) {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("load");
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let connect: Arc<dyn Connect> = Arc::new(Arc::clone(tree));
        let far = std::thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            drop(directory);
            serve(&stream, &connect)
        });
        (Reach::Process(socket), far)
    }
}
