//! RocksDB in a process of this test's, which stands for `steelyard engine`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::common::{Place, names, variants};
use dbms::embedded::{Program, contained_in, finish};
use dbms::rocksdb::{Database, serve};
use dbms::{Endpoint, Error, Origin, Pages, ServerSpec, System};

/// From now on, engines run in [`engine`].
pub fn contain() {
    let path = std::env::current_exe().unwrap();
    // With a single thread, its name would come before what it prints.
    let words = ["--exact", "rocksdb::engine", "--nocapture", "--test-threads", "2"];
    let arguments = words.map(Into::into).into();
    contained_in(Program { path, arguments, environment: BTreeMap::new() });
}

/// Sends a word and a number to a database's process, and returns the number it answers.
pub fn ask(system: &mut dyn System, word: &str, number: u32) -> Result<i64, Error> {
    let Endpoint::Process(socket) = system.endpoint() else { panic!("no process") };
    let mut answer = String::new();
    let mut exchange = || {
        let mut stream = UnixStream::connect(&socket)?;
        writeln!(stream, "{word} {number}")?;
        BufReader::new(stream).read_line(&mut answer)
    };
    let failed = |problem: String| Error::Engine { name: word.to_owned(), problem };
    exchange().map_err(|error| failed(error.to_string()))?;
    answer.trim().parse().map_err(|_| failed(answer.trim().to_owned()))
}

fn key(number: i64) -> [u8; 20] {
    let mut key = [0; 20];
    key[..8].copy_from_slice(&number.to_be_bytes());
    key
}

fn rows(database: &Database) -> Result<i64, String> {
    let mut rows = 0;
    database.scan(&[], u32::MAX, false, |_, _| rows += 1).map(|()| rows)
}

fn put(database: &Database, keys: std::ops::Range<i64>, value: &[u8]) -> Result<(), String> {
    let pairs: Vec<_> = keys.map(key).collect();
    database.put(pairs.iter().map(|key| (&key[..], value)), true)
}

/// The action of the database's process for a word.
fn obey(database: &Database, word: &str, number: i64) -> Result<i64, String> {
    match word {
        "fill" => {
            let rows = rows(database)?;
            put(database, rows..rows + number, &[7; 100]).map(|()| number)
        }
        "rows" => rows(database),
        "long" => loop {
            std::thread::sleep(std::time::Duration::from_secs(3600));
        },
        "hoard" => loop {
            // Nothing in it repeats.
            let mut state = 1_u64;
            let mut value = vec![0; 1 << 20];
            for byte in &mut value {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
                *byte = (state >> 56) as u8;
            }
            let rows = rows(database)?;
            put(database, rows..rows + 1, &value)?;
        },
        "check" => check(database).map(|()| number),
        other => Err(format!("unknown: {other}")),
    }
}

/// Each way to read finds what was written in each way, and only that.
fn check(database: &Database) -> Result<(), String> {
    put(database, 0..1, b"one")?;
    put(database, 1..100, b"batch")?;
    database.put([(&key(100)[..], &b"unlogged"[..])].into_iter(), false)?;
    database.delete(&key(50))?;
    let get = |number: i64| {
        let mut found = Vec::new();
        database.get(&key(number), |_, value| found.push(value.to_vec())).map(|()| found)
    };
    for (number, expected) in
        [(0, Some("one")), (99, Some("batch")), (100, Some("unlogged")), (50, None), (101, None)]
    {
        let expected: Vec<_> = expected.iter().map(|text| text.as_bytes().to_vec()).collect();
        assert_eq!(get(number)?, expected, "{number}");
    }
    // More than one call of MultiGet, with two that don't exist.
    let keys: Vec<_> = (30..110).map(key).collect();
    let mut found = Vec::new();
    database.multi_get(&keys, |key, _| found.push(key.to_vec()))?;
    assert_eq!(
        found,
        [30..50, 51..101].into_iter().flatten().map(|n| key(n).to_vec()).collect::<Vec<_>>()
    );
    for (from, reverse, expected) in [
        (48, false, [48, 49, 51]),
        (51, true, [51, 49, 48]),
        (50, false, [51, 52, 53]),
        (50, true, [49, 48, 47]),
    ] {
        let mut found = Vec::new();
        database.scan(&key(from), 3, reverse, |key, _| found.push(key.to_vec()))?;
        assert_eq!(found, expected.map(|number| key(number).to_vec()));
    }
    Ok(())
}

/// The process of a database, if it was started as one.
#[test]
fn engine() {
    if std::env::var_os("STEELYARD_ROCKSDB").is_none() {
        return;
    }
    finish(serve(|stream: &UnixStream, database: &Arc<Database>| {
        let mut line = String::new();
        let _ = BufReader::new(stream).read_line(&mut line);
        // The connection that only asks whether somebody listens.
        let Some((word, number)) = line.trim().split_once(' ') else { return };
        let answer = match obey(database, word, number.parse().unwrap()) {
            Ok(answer) => answer.to_string(),
            Err(problem) => {
                eprintln!("{problem}");
                problem
            }
        };
        let _ = writeln!(&*stream, "{answer}");
    }));
}

#[test]
fn versions_do_the_same_and_start_on_copies() {
    contain();
    for variant in variants(&["rocksdb@6.8.1", "rocksdb@7.4.5", "rocksdb@10.10.1"]) {
        let place = Place::new();
        let config: BTreeMap<_, _> = [
            ("write_buffer_size", "1MB"),
            ("block_size", "8kB"),
            ("filter_policy", "bloomfilter:10:false"),
            ("block_cache", "{capacity=8388608;num_shard_bits=2}"),
            ("compression_per_level", "kNoCompression:kNoCompression:kLZ4Compression"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let start = |name: &str| place.path().join(name);
        let load = start("load");
        let spec = || ServerSpec { config: config.clone(), ..place.spec(&variant, &load) };
        let mut system = dbms::start(spec()).unwrap();
        let version = variant.name.strip_prefix("rocksdb@").unwrap();
        assert_eq!(variant.installation.version, version);
        assert_eq!(ask(system.as_mut(), "check", 1).unwrap(), 1, "{version}");
        // What it wrote down as its settings is what was set.
        let settings = system.settings().unwrap();
        let of = |name: &str| settings.iter().find(|setting| setting.name == name);
        assert_eq!(of("write_buffer_size").unwrap().value, "1048576", "{version}");
        assert_eq!(of("block_size").unwrap().boot_value.as_deref(), Some("4096"), "{version}");
        assert!(of("num_levels").is_none(), "as by default");

        ask(system.as_mut(), "fill", 30_000).unwrap();
        let settled = system.settle(&names(&["default"])).unwrap();
        assert!(settled.lines[0].contains("after: L"), "{settled:?}");
        let counted = system.counters(&[]).unwrap();
        let count = |name: &str| counted.get("rocksdb.stats", "default", name).unwrap();
        assert!(count("flush_bytes_written") > 2e6, "{version}: {counted:?}");
        assert!(count("flushes_and_compactions") >= 1.0, "{version}: {counted:?}");
        let keys = counted.get("rocksdb.properties", "default", "estimate-num-keys").unwrap();
        assert!((30_000.0..30_200.0).contains(&keys), "{version}: {counted:?}");
        let sizes = system.footprint(&names(&["default"])).unwrap().remove(0).bytes;
        let levels = sizes.iter().filter(|(name, _)| name.starts_with('L'));
        assert_eq!(levels.map(|(_, bytes)| bytes).sum::<u64>(), sizes["total"]);
        let debt = system.debt(&[]).unwrap();
        assert_eq!((debt.bytes, debt.running), (Some(sizes["total"] as f64), Vec::new()));

        let never = AtomicBool::new(false);
        let loaded = system.stop().unwrap().keep(&never).unwrap();
        let origin = Origin { loaded: &loaded, pages: Pages::Any, interrupted: &never };
        let copy = start("copy");
        let spec = ServerSpec { config: config.clone(), ..place.spec(&variant, &copy) };
        let (mut system, _) = dbms::start_on_copy(&spec, &origin).unwrap();
        assert_eq!(ask(system.as_mut(), "rows", 0).unwrap(), 30_099);
        system.stop().unwrap().discard().unwrap();
        loaded.discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn versions_take_the_settings_of_engines_that_are_frozen() {
    contain();
    for variant in variants(&["rocksdb@6.8.1", "rocksdb@7.4.5", "rocksdb@10.10.1"]) {
        let (place, timers) = (Place::new(), dbms::timers(&variant.installation, None).unwrap());
        let set = timers.iter().map(|timer| (timer.name.to_owned(), timer.for_parts(2)));
        let trial = place.path().join("trial");
        let spec = ServerSpec { config: set.collect(), ..place.spec(&variant, &trial) };
        let mut system = dbms::start(spec).unwrap();
        let settings = system.settings().unwrap();
        for timer in &timers {
            let (name, half) = (timer.name, timer.for_parts(2));
            let found = settings.iter().find(|setting| setting.name == name).unwrap();
            let built_in = Some(timer.for_parts(1));
            assert_eq!((&found.value, &found.boot_value), (&half, &built_in), "{name}");
        }
        system.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn what_is_no_library_is_refused() {
    contain();
    let place = Place::new();
    let file = place.path().join("librocksdb.so");
    for (content, message) in [("nonsense", "librocksdb.so"), ("", "librocksdb.so")] {
        std::fs::write(&file, content).unwrap();
        let reference: dbms::Reference =
            format!("rocksdb@path:{}", file.display()).parse().unwrap();
        let error = dbms::obtain(&reference, &place.cache, &|_| ()).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("RocksDB"), "{error}");
    }
    std::fs::remove_file(file).unwrap();
    let reference: dbms::Reference =
        format!("rocksdb@path:{}", place.path().display()).parse().unwrap();
    let error = dbms::obtain(&reference, &place.cache, &|_| ()).unwrap_err().to_string();
    assert!(error.contains("give the library's file"), "{error}");
}
