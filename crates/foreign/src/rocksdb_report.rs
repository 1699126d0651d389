//! The summaries that RocksDB's benchmark scripts write: `report.tsv` has a line per test of a
//! run, `summary.tsv` the lines of several runs, test by test, below the paths of their files.

use std::sync::LazyLock;

use regex::Regex;

use crate::lines::{Line, cut_off, lines, number, other};
use crate::{ForeignError, Metric, Reading, Test};

const PROGRAM: &str = "rocksdb-report";

/// Parts of a test's name that say how it ran: `.t4` (threads), `.s0` (sync), `.v400` (value
/// size), `.wal_disabled`.
static PART: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:t(\d+)|[sv]\d+|wal_(?:dis|en)abled)$").expect("a pattern"));

/// A size: `165GB`, `0.0GB,`, `512MB`.
static SIZE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^([0-9.]+)([KMGT]?)B?,?$").expect("a pattern"));

/// A directory that only numbers the runs of a setup: `run2`, `rep-3`.
static RUN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:run|rep|repeat|block|trial)[_.-]?\d+$").expect("a pattern"));

/// The columns that become metrics: name in the file, name and unit of the metric, factor. CPU is
/// printed in thousands of seconds.
const COLUMNS: [(&str, &str, &str, f64); 20] = [
    ("mb_sec", "MB/s", "MB/s", 1.0),
    ("c_wgb", "c_wgb", "GB", 1.0),
    ("w_amp", "w_amp", "", 1.0),
    ("c_mbps", "c_mbps", "MB/s", 1.0),
    ("c_wsecs", "c_wsecs", "s", 1.0),
    ("c_csecs", "c_csecs", "s", 1.0),
    ("b_rgb", "b_rgb", "GB", 1.0),
    ("b_wgb", "b_wgb", "GB", 1.0),
    ("usec_op", "mean", "µs", 1.0),
    ("p50", "p50", "µs", 1.0),
    ("p75", "p75", "µs", 1.0),
    ("p99", "p99", "µs", 1.0),
    ("p99.9", "p99.9", "µs", 1.0),
    ("p99.99", "p99.99", "µs", 1.0),
    ("pmax", "max", "µs", 1.0),
    ("stall%", "stall%", "%", 1.0),
    ("nstall", "Nstall", "", 1.0),
    ("u_cpu", "u_cpu", "s", 1000.0),
    ("s_cpu", "s_cpu", "s", 1000.0),
    ("rss", "rss", "GB", 1.0),
];
const SIZES: [&str; 2] = ["lsm_sz", "blob_sz"];

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| header(line.text).is_some())
}

/// The columns, if this is a header. Up to version 6 they were called `ops/sec`, `Test`.
fn header(text: &str) -> Option<Vec<String>> {
    if text.starts_with('#') || !text.contains('\t') {
        return None;
    }
    let names = text.split('\t').map(|name| name.trim().to_lowercase().replace('/', "_"));
    let names: Vec<String> = names.collect();
    let has = |name: &str| names.iter().any(|known| known == name);
    (has("ops_sec") && has("test")).then_some(names)
}

/// The directories above a `report.tsv`. The scripts name the last one after the version.
/// Directories above that one are left out if they only number runs, so runs with equal lists
/// belong to one setup.
fn setup_of(text: &str) -> Option<Vec<&str>> {
    let path = text.trim().strip_suffix("/report.tsv").filter(|path| !path.contains('\t'))?;
    let (above, last) = path.rsplit_once('/').unwrap_or(("", path));
    let above = above.split('/').filter(|name| !name.is_empty() && !RUN.is_match(name));
    (!last.is_empty()).then(|| above.chain([last]).collect())
}

/// The names of setups: for each, the shortest end of its path that differs from all others.
fn names(setups: &[Vec<&str>]) -> Vec<String> {
    let mut names = Vec::new();
    for setup in setups {
        let shared = |end: &[&str]| {
            let mut others = setups.iter().filter(|other| *other != setup);
            others.any(|other| other.ends_with(end))
        };
        let begin = (0..setup.len()).rev().find(|begin| !shared(&setup[*begin..]));
        names.push(setup[begin.unwrap_or(0)..].join("/"));
    }
    names
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    let mut columns: Option<Vec<String>> = None;
    let (mut version, mut tests) = (None, Vec::new());
    let mut setups: Vec<Vec<&str>> = Vec::new();
    let mut runs = Runs::default();
    for line in lines(text) {
        if line.text.trim().is_empty() || line.text.starts_with('#') {
            continue;
        }
        if let Some(found) = header(line.text).filter(|_| line.ended) {
            runs.end(text)?;
            if columns.is_none() {
                runs.names = names(&setups);
            }
            columns = Some(found);
            continue;
        }
        if let (None, Some(setup)) = (&columns, setup_of(line.text)) {
            setups.push(setup);
            continue;
        }
        let Some(columns) = &columns else {
            let expected = "the header that begins with \"ops_sec\"";
            return Err(other(PROGRAM, expected, text));
        };
        let fields: Vec<&str> = line.text.split('\t').map(str::trim).collect();
        // The last columns are words that may be absent. A line that was cut has no end.
        let test_at = columns.iter().position(|name| name == "test").unwrap_or_default();
        if !line.ended || fields.len() <= test_at {
            return Err(cut_off(PROGRAM, "as many values as the header has columns", text));
        }
        if fields.len() > columns.len() {
            let found = format!("{} values under {} columns", fields.len(), columns.len());
            let remedy = "Each line needs the columns of the header above it.";
            let (program, line) = (PROGRAM, line.number);
            return Err(ForeignError::Unsupported { program, line, found, remedy });
        }
        let field = |name: &str| {
            let place = columns.iter().position(|column| column == name)?;
            fields.get(place).copied().filter(|value| !value.is_empty() && *value != "NA")
        };
        if let Some(found) = field("version") {
            version = Some(found.to_owned());
        }
        let mut test = test(&line, &field)?;
        runs.name(&mut test, &line)?;
        tests.push(test);
    }
    runs.end(text)?;
    if tests.is_empty() {
        return Err(match columns {
            Some(_) => cut_off(PROGRAM, "a line for each test", text),
            None => other(PROGRAM, "the header that begins with \"ops_sec\"", text),
        });
    }
    let dop = clients(&tests);
    Ok(Reading { program: PROGRAM, version, is_part: true, dop, tests, ..Reading::default() })
}

/// The runs of a `summary.tsv`. Below each header, the k-th line is of the k-th of them.
#[derive(Default)]
struct Runs {
    /// Their variants.
    names: Vec<String>,
    /// How many lines the last header has, and the name of their test.
    found: (usize, Option<String>),
}

impl Runs {
    fn name(&mut self, test: &mut Test, line: &Line<'_>) -> Result<(), ForeignError> {
        if self.names.is_empty() {
            return Ok(());
        }
        let (place, name) = &mut self.found;
        if *place > 0 && *name != test.name || *place == self.names.len() {
            return Err(ForeignError::Unsupported {
                program: PROGRAM,
                line: line.number,
                found: format!(
                    "below this header, each of {} files at the top should have one line of the \
                     same test",
                    self.names.len()
                ),
                remedy: "Import the report.tsv files themselves.",
            });
        }
        test.variant = Some(self.names[*place].clone());
        *place += 1;
        name.clone_from(&test.name);
        Ok(())
    }

    /// Ends what belongs to a header.
    fn end(&mut self, text: &str) -> Result<(), ForeignError> {
        match std::mem::take(&mut self.found) {
            (found, _) if found > 0 && found < self.names.len() => {
                Err(cut_off(PROGRAM, "a line for each of the files at the top", text))
            }
            _ => Ok(()),
        }
    }
}

/// The number of threads of a run, from readrandom. `revrange` can't tell, because it always has
/// one thread, so that compaction can catch up after the load. The load doesn't state it.
fn clients(tests: &[Test]) -> Option<u32> {
    let only = |is: &dyn Fn(&str) -> bool| {
        let of = tests.iter().filter(|test| is(test.name.as_deref().unwrap_or_default()));
        let mut said = of.filter_map(|test| test.dop);
        let first = said.next()?;
        said.all(|other| other == first).then_some(first)
    };
    only(&|name| name == "readrandom").or_else(|| only(&|name| name != "revrange"))
}

fn test<'a>(
    line: &Line<'_>,
    field: &dyn Fn(&str) -> Option<&'a str>,
) -> Result<Test, ForeignError> {
    let value = line.positive(PROGRAM, "value of ops_sec", field("ops_sec").unwrap_or("NA"))?;
    let mut metrics = Vec::new();
    for (column, name, unit, factor) in COLUMNS {
        if let Some(found) = field(column) {
            let value = line.number(PROGRAM, "figure", found)?;
            metrics.push(Metric::new(name, value * factor, unit));
        }
    }
    for name in SIZES {
        if let Some(found) = field(name) {
            let size = gigabytes(found);
            let size = size.map_or_else(|| line.number(PROGRAM, "size", found), Ok)?;
            metrics.push(Metric::new(name, size, "GB"));
        }
    }
    let (name, dop) = named(field("test").unwrap_or_default());
    if name.is_empty() {
        return Err(ForeignError::Other {
            program: PROGRAM,
            line: line.number,
            expected: "the name of a test",
            found: line.text.to_owned(),
        });
    }
    Ok(Test {
        name: Some(name),
        dop,
        value,
        unit: "ops/s".into(),
        metrics,
        line: line.number,
        ..Test::default()
    })
}

/// The step and the number of threads in a test's name.
fn named(test: &str) -> (String, Option<u32>) {
    let mut dop = None;
    let mut parts = Vec::new();
    for part in test.split('.') {
        match PART.captures(part) {
            Some(found) => dop = found.get(1).and_then(|count| count.as_str().parse().ok()).or(dop),
            None => parts.push(part),
        }
    }
    // It waits for compaction after writing, which its throughput doesn't include.
    let name = match parts.join(".").as_str() {
        "overwriteandwait" => "overwrite".to_owned(),
        name => name.to_owned(),
    };
    (name, dop)
}

/// A size in GB (2^30 bytes).
fn gigabytes(text: &str) -> Option<f64> {
    let found = SIZE.captures(text)?;
    let unit = match &found[2] {
        "K" => 1.0 / (1024.0 * 1024.0),
        "M" => 1.0 / 1024.0,
        "G" => 1.0,
        "T" => 1024.0,
        _ => 1.0 / (1024.0 * 1024.0 * 1024.0),
    };
    number(&found[1]).map(|size| size * unit)
}
