//! The requests that a database answers in its process, and the process itself.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::database::Database;
use super::library::{Library, text};
use super::options;
use super::stats::{self, LEVELS, PROCESS, STATS, Stats};
use crate::embedded::{self, Inside, Workplace};
use crate::{Config, Counter, Debt, Footprint, Gauge, Setting, Settled, Snapshot};

/// The variable in which the process finds its library.
pub(super) const LIBRARY: &str = "STEELYARD_ROCKSDB";

/// The only column family, which takes the place of a table.
pub(super) const FAMILY: &str = "default";

/// The view of its properties other than those of [`stats`].
const PROPERTIES: &str = "rocksdb.properties";

/// 2^20 bytes, which RocksDB calls MB.
const MB: f64 = (1 << 20) as f64;

/// Gauges read each second: property, label, unit, and the divisor of its number.
const GAUGES: [(&str, &str, &str, f64); 5] = [
    ("estimate-pending-compaction-bytes", "pending compaction", "MB", MB),
    ("size-all-mem-tables", "memtables", "MB", MB),
    ("block-cache-usage", "block cache", "MB", MB),
    ("num-running-compactions", "running compactions", "", 1.0),
    ("is-write-stopped", "writes stopped", "", 1.0),
];

/// Runs a process that was started for a database: opens the database and serves it until the
/// process is told to end. `load` gets each connection that brings a load.
///
/// # Errors
/// A message for the log, if it cannot be opened or served.
pub fn serve(
    load: impl Fn(&UnixStream, &Arc<Database>) + Send + Sync + 'static,
) -> Result<(), String> {
    let library = std::env::var_os(LIBRARY).map(PathBuf::from);
    let library = library.ok_or("this process was not started for a RocksDB database")?;
    let Some(place) = Workplace::given() else {
        println!("{}", describe(&library)?);
        return Ok(());
    };
    let defaults = defaults(&library, &place.data.join("defaults"))?.1;
    let options = options::text(&place.config);
    let database = Database::open(&library, &place.data, &options).map_err(|problem| {
        embedded::refused(rejected(&library, &place.config).as_deref(), &problem)
    })?;
    let database = Arc::new(database);
    println!("opened {}", place.data.display());
    let inside = Opened { database: Arc::clone(&database), config: place.config.clone(), defaults };
    let shared = Arc::clone(&database);
    embedded::serve(&place, inside, move |stream| load(stream, &shared))
        .map_err(|error| error.to_string())?;
    println!("closing {}", place.data.display());
    // Threads that still hold it keep it open; closing is not needed to keep what was logged, but
    // what was not logged has to be written out.
    database.flush()
}

/// The first setting that the library itself refuses.
fn rejected(library: &Path, config: &Config) -> Option<String> {
    let library = Library::load(library).ok()?;
    let refused = |(name, value): &(&String, &String)| {
        let one = Config::from([((*name).clone(), (*value).clone())]);
        text(&options::text(&one)).and_then(|one| library.options(&one)).is_err()
    };
    config.iter().find(refused).map(|(name, value)| format!("{name} = {value}"))
}

/// The version of a library, if it works.
fn describe(library: &Path) -> Result<String, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    defaults(library, &directory.path().join("defaults"))?
        .0
        .ok_or_else(|| "it doesn't say its version".to_owned())
}

/// The version of a library, and its settings if none is given; `directory` is for a database of
/// that kind.
fn defaults(library: &Path, directory: &Path) -> Result<(Option<String>, Config), String> {
    let database = Database::open(library, directory, "")?;
    let effective = effective(&database);
    drop(database);
    fs::remove_dir_all(directory).map_err(|error| error.to_string())?;
    effective
}

/// Resident memory of this process in bytes.
fn resident() -> Option<f64> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as f64)
}

/// The settings that a database wrote down.
fn effective(database: &Database) -> Result<(Option<String>, Config), String> {
    let directory = database.directory();
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", directory.display());
    let files = fs::read_dir(directory).map_err(failed)?.flatten().map(|entry| entry.path());
    let number = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        name.strip_prefix("OPTIONS-")?.parse::<u64>().ok()
    };
    let newest = files.filter(|path| number(path).is_some()).max_by_key(number);
    let newest = newest.ok_or_else(|| format!("{} has no OPTIONS file", directory.display()))?;
    Ok(options::read(&fs::read_to_string(newest).map_err(failed)?))
}

/// An open database.
struct Opened {
    database: Arc<Database>,
    /// The plan's settings.
    config: Config,
    /// Their defaults.
    defaults: Config,
}

impl Opened {
    /// Its shape in words: `L0 2 files 31 MB, L1 …`.
    fn shape(&self) -> String {
        let level = |(level, files): (&u32, &super::database::Level)| {
            let megabytes = files.bytes as f64 / 1e6;
            format!("L{level}: {} files, {megabytes:.1} MB", files.files)
        };
        self.database.levels().iter().map(level).collect::<Vec<_>>().join("; ")
    }

    /// Fails for anything but the column family.
    fn known(objects: &[String]) -> Result<(), String> {
        match objects.iter().find(|object| *object != FAMILY) {
            Some(object) => Err(format!("there is no column family {object}")),
            None => Ok(()),
        }
    }
}

impl Inside for Opened {
    fn settings(&mut self) -> Result<Vec<Setting>, String> {
        let different = |(name, value): &(String, String)| self.defaults.get(name) != Some(value);
        let setting = |(name, value): (String, String)| Setting {
            unit: None,
            source: if self.config.contains_key(&name) { "plan" } else { "derived" }.to_owned(),
            boot_value: self.defaults.get(&name).cloned(),
            name,
            value,
        };
        Ok(effective(&self.database)?.1.into_iter().filter(different).map(setting).collect())
    }

    fn counters(&mut self, _objects: &[String]) -> Result<Snapshot, String> {
        let counter = |view: &str, object: &str, name: &str, value: f64| {
            let [view, object, name] = [view, object, name].map(str::to_owned);
            Counter { view, object, name, value }
        };
        let mut state = Vec::new();
        for (level, files) in self.database.levels() {
            let level = format!("L{level}");
            state.push(counter(LEVELS, &level, "bytes", files.bytes as f64));
            state.push(counter(LEVELS, &level, "files", files.files as f64));
        }
        if let Ok(keys) = self.database.number("rocksdb.estimate-num-keys") {
            state.push(counter(PROPERTIES, FAMILY, "estimate-num-keys", keys));
        }
        let resident = resident().map(|bytes| counter(PROCESS, "", "resident_bytes", bytes));
        state.extend(resident);
        let mut rows = Vec::new();
        let text = self.database.property("rocksdb.stats");
        let stats = Stats::read(&text.ok_or("it has no property rocksdb.stats")?);
        for (name, value) in [
            ("compaction_bytes_read", stats.read),
            ("cpu_seconds", stats.cpu_seconds),
            ("flush_bytes_written", stats.flushed),
            ("flushes_and_compactions", stats.jobs),
            ("seconds", stats.seconds),
            ("stall_seconds", stats.stalled),
            ("stalls", stats.stalls),
            ("bytes_written", stats.written),
        ] {
            // An unknown figure is missing, not a number.
            rows.extend(value.is_finite().then(|| counter(STATS, FAMILY, name, value)));
        }
        Ok(Snapshot { rows, state, absent: Vec::new() })
    }

    fn footprint(&mut self, objects: &[String]) -> Result<Vec<Footprint>, String> {
        Self::known(objects)?;
        let levels = self.database.levels();
        let mut bytes: BTreeMap<String, u64> =
            levels.iter().map(|(level, files)| (format!("L{level}"), files.bytes)).collect();
        bytes.insert("total".to_owned(), levels.values().map(|files| files.bytes).sum());
        let footprint =
            |object: &String| Footprint { object: object.clone(), bytes: bytes.clone() };
        Ok(objects.iter().map(footprint).collect())
    }

    fn debt(&mut self, _objects: &[String]) -> Result<Debt, String> {
        let work =
            [("mem-table-flush-pending", "flush"), ("num-running-compactions", "compaction")];
        let running = |(name, what): &(&str, &str)| {
            let found = self.database.number(&format!("rocksdb.{name}")).is_ok_and(|n| n > 0.0);
            found.then(|| (*what).to_owned())
        };
        Ok(Debt {
            bytes: Some(self.database.levels().values().map(|files| files.bytes as f64).sum()),
            running: work.iter().filter_map(running).collect(),
            ..Debt::default()
        })
    }

    /// The levels of the tree, and those [`GAUGES`] that this version knows.
    fn gauges(&mut self) -> Result<Vec<Gauge>, String> {
        let gauge = |name: &str, label: &str, unit: &str, value: f64| Gauge {
            name: format!("state.{name}"),
            label: label.to_owned(),
            unit: unit.to_owned(),
            value,
        };
        // A list of all files would take long in a large tree.
        let text = self.database.property("rocksdb.levelstats").unwrap_or_default();
        let levels = stats::levels(&text);
        let mut found = Vec::new();
        if let Some((level, files, _)) = levels.first() {
            found.push(gauge("L0.files", &format!("L{level} files"), "", *files));
        }
        found.extend(levels.iter().map(|(level, _, megabytes)| {
            gauge(&format!("L{level}"), &format!("L{level}"), "MB", *megabytes)
        }));
        for (property, label, unit, divisor) in GAUGES {
            let value = self.database.number(&format!("rocksdb.{property}"));
            found.extend(value.ok().map(|value| gauge(property, label, unit, value / divisor)));
        }
        Ok(found)
    }

    /// Flushes, and waits for compactions.
    fn settle(&mut self, objects: &[String]) -> Result<Settled, String> {
        Self::known(objects)?;
        let begin = Instant::now();
        let before = self.shape();
        self.database.flush()?;
        self.database.wait_for_compaction()?;
        let lines =
            vec![format!("flush, waitforcompaction; before: {before}; after: {}", self.shape())];
        Ok(Settled { seconds: begin.elapsed().as_secs_f64(), lines })
    }

    fn flush(&mut self) -> Result<(), String> {
        self.database.flush()
    }
}
