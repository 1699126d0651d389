#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use workload::{Class, Draw, End, Expect, Scan, Step, Stream, Width};

use super::*;
use crate::{Load, Outcome, Reach, Running, Target, prepare, serve};

/// Anything that takes longer than this hangs, even on the slowest machine.
const HANG: Duration = Duration::from_secs(600);

#[derive(Debug, Default)]
struct Tree(Mutex<BTreeMap<Key, Vec<u8>>>);

impl Tree {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyValueEngine for Tree {
    fn get(&self, keys: &[Key], mut see: impl FnMut(&[u8], &[u8])) -> Result<(), Box<ServerError>> {
        let tree = self.lock();
        keys.iter().filter_map(|key| tree.get_key_value(key)).for_each(|(key, it)| see(key, it));
        Ok(())
    }

    fn put(&self, batch: &Batch, _logged: bool) -> Result<(), Box<ServerError>> {
        self.lock().extend(batch.pairs().map(|(key, value)| (*key, value.to_vec())));
        Ok(())
    }

    fn delete(&self, key: &Key) -> Result<(), Box<ServerError>> {
        self.lock().remove(key);
        Ok(())
    }

    fn scan(
        &self,
        from: &Key,
        scan: Scan,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Box<ServerError>> {
        let (tree, pairs) = (self.lock(), scan.pairs as usize);
        if scan.reverse {
            tree.range(..=*from).rev().take(pairs).for_each(|(key, value)| see(key, value));
        } else {
            tree.range(*from..).take(pairs).for_each(|(key, value)| see(key, value));
        }
        Ok(())
    }
}

fn step(action: KeyAction, expect: Expect, end: End, seconds: Option<f64>) -> Step {
    let key = Draw::Uniform { low: 0, high: 100, width: Width::Eight };
    let request = KeyValue { action, key, expect };
    let stream = |client| Stream {
        end: end.clone(),
        ..Stream::repeating(client, Class::QUERY, request.clone())
    };
    Step { seconds, ..Step::new("pairs", 2, Class::QUERY, vec![stream(0), stream(1)]) }
}

fn start(step: Step, reach: Reach) -> Box<dyn Running> {
    let targets = vec![Target { name: "tree".to_owned(), reach }];
    let load = Load::new(Arc::new(step), targets, 7);
    prepare(&load).unwrap().go(Instant::now() + Duration::from_millis(2))
}

fn run(step: Step, reach: Reach) -> Outcome {
    let running = start(step, reach);
    assert!(running.wait(HANG), "the step hangs");
    running.join().remove(0)
}

const FILL: KeyAction =
    KeyAction::Put { keys: 1, value: Draw::Text { min: 40, max: 40 }, logged: true };

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
    assert!(kept.keys().all(|key| key[8..] == [b'0'; 12]));

    let (there, far) = served(&tree);
    let elsewhere = run(fill(), there);
    far.join().unwrap().unwrap();
    assert_eq!((here.operations, here.fatal), (1000, None));
    assert_eq!((elsewhere.operations, elsewhere.fatal), (1000, None));
    assert!(*tree.lock() == kept, "the same draws");
    assert_eq!(elsewhere.classes[0].latency.len(), 1000);

    let pairs = KeyAction::Scan(Scan { pairs: 3, reverse: true });
    let scan = step(pairs, Expect::Rows { min: 1, max: 3 }, End::Time, Some(0.5));
    let (there, far) = served(&tree);
    let running = start(scan, there);
    assert!(running.wait(HANG));
    assert!(running.join().remove(0).rate() > 0.0);
    far.join().unwrap().unwrap();
}

/// Clients compare what they read with what was written, and find any mistake of an engine.
#[test]
fn damaged_misplaced_and_unordered_pairs_fail_a_step() {
    let filled = || {
        let tree = Arc::new(Tree::default());
        let fill = step(FILL, Expect::affected(1), End::Rounds(2000), None);
        assert_eq!(run(fill, Reach::Sessions(Arc::new(Arc::clone(&tree)))).fatal, None);
        tree
    };
    let read = |tree: &Arc<Tree>, action: KeyAction| {
        let step = step(action, Expect::Rows { min: 0, max: 100 }, End::Rounds(2000), None);
        run(step, Reach::Sessions(Arc::new(Arc::clone(tree)))).fatal.unwrap_or_default()
    };
    let get = || KeyAction::Get { keys: 1 };
    assert_eq!(read(&filled(), get()), "");

    let damaged = filled();
    damaged.lock().values_mut().for_each(|value| value[30] ^= 1);
    let said = read(&damaged, get());
    assert!(said.contains("its checksum"), "{said}");
    let short = filled();
    short.lock().values_mut().for_each(|value| value.truncate(11));
    assert!(read(&short, get()).contains("got 11 bytes"));

    let swapped = filled();
    let (two, three) = (key(2), key(3));
    let mut pairs = swapped.lock();
    let (a, b) = (pairs[&two].clone(), pairs[&three].clone());
    pairs.extend([(two, b), (three, a)]);
    drop(pairs);
    let said = read(&swapped, get());
    assert!(said.contains("expected the value of key"), "{said}");

    #[derive(Debug)]
    struct Unordered(Arc<Tree>);
    impl KeyValueEngine for Unordered {
        fn get(&self, keys: &[Key], see: impl FnMut(&[u8], &[u8])) -> Result<(), Box<ServerError>> {
            self.0.get(keys, see)
        }
        fn put(&self, batch: &Batch, logged: bool) -> Result<(), Box<ServerError>> {
            self.0.put(batch, logged)
        }
        fn delete(&self, key: &Key) -> Result<(), Box<ServerError>> {
            self.0.delete(key)
        }
        fn scan(
            &self,
            from: &Key,
            scan: Scan,
            see: impl FnMut(&[u8], &[u8]),
        ) -> Result<(), Box<ServerError>> {
            let other = Scan { reverse: !scan.reverse, ..scan };
            self.0.scan(from, other, see)
        }
    }
    let scan = step(
        KeyAction::Scan(Scan { pairs: 3, reverse: false }),
        Expect::Rows { min: 0, max: 3 },
        End::Rounds(1000),
        None,
    );
    let said = run(scan, Reach::Sessions(Arc::new(Arc::new(Unordered(filled()))))).fatal.unwrap();
    assert!(said.contains("expected a key after"), "{said}");
}

#[test]
fn wrong_answers_and_requests_are_reported_from_another_process() {
    let tree = Arc::new(Tree::default());
    let get = step(KeyAction::Get { keys: 4 }, Expect::Rows { min: 4, max: 4 }, End::Time, None);
    let (there, far) = served(&tree);
    let outcome = run(get.clone(), there);
    assert!(outcome.fatal.unwrap().contains("expected 4 rows, got 0"));
    far.join().unwrap().unwrap();

    let mut sql = get;
    sql.streams[0].requests = vec![workload::Statement::plain("SELECT 1", Expect::Success).into()];
    let (there, far) = served(&tree);
    let targets = vec![Target { name: "tree".to_owned(), reach: there }];
    let load = Load::new(Arc::new(sql), targets, 7);
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
    assert!(running.wait(HANG));
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
    assert!(running.wait(HANG));
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

/// The load moves between processes as it does between targets of one.
#[test]
fn several_processes_have_the_load_in_turn() {
    let trees = [Arc::new(Tree::default()), Arc::new(Tree::default())];
    let (targets, far): (Vec<_>, Vec<_>) = trees
        .iter()
        .map(|tree| {
            let (reach, far) = served(tree);
            (Target { name: "tree".to_owned(), reach }, far)
        })
        .unzip();
    let lengths = vec![Duration::from_millis(10)];
    let slices = crate::Slices { seed: 3, lengths, lead_in: 0.2 };
    let step = Arc::new(step(FILL, Expect::affected(1), End::Time, Some(0.3)));
    let load = Load { slices: Some(slices), ..Load::new(step, targets, 7) };
    let running = prepare(&load).unwrap().go(Instant::now() + Duration::from_millis(2));
    assert_eq!(running.measured_until(), None);
    assert!(running.wait(HANG));
    let measured = running.measured_until().unwrap();
    assert_eq!(measured, Duration::from_millis(600));
    let outcomes = running.join();
    for (outcome, tree) in outcomes.iter().zip(&trees) {
        assert_eq!(outcome.fatal, None);
        assert_eq!(outcome.slices.len(), 30);
        // A busy machine may leave out some.
        assert!(outcome.rate() > 0.0 && !tree.lock().is_empty());
    }
    far.into_iter().for_each(|far| far.join().unwrap().unwrap());

    // A step that ends by its work has to end in each process by itself.
    let (targets, _far): (Vec<_>, Vec<_>) = trees
        .iter()
        .map(|tree| {
            let (reach, far) = served(tree);
            (Target { name: "tree".to_owned(), reach }, far)
        })
        .unzip();
    let step = Arc::new(self::step(FILL, Expect::affected(1), End::Rounds(9), None));
    let error = prepare(&Load { step, targets, ..load }).err().unwrap().to_string();
    assert!(error.contains("a step that ends by time"), "{error}");
}
