//! Reads what other people's benchmark programs print.
//!
//! Pure functions over text: no files, no processes. A [`Format`] names a program, and
//! [`Format::read`] turns its finished output into a [`Reading`]: the program's tests, each with
//! the figure that is judged, its unit and direction, latencies and the values per interval.
//!
//! Only finished output is read. If it ends early, or if the program says that something failed,
//! the result is a [`ForeignError`] that names the line and what to do, never a part of the tests.
//! Programs that print one line per finished test and nothing at the end (`db_bench`,
//! `rocksdb-report`, `vmstat`) can be cut between two lines without a trace; the tests up to there
//! are then complete.
//!
//! ```
//! let format: foreign::Format = "go".parse().unwrap();
//! let text = "pkg: example.org/sums\n\
//!             BenchmarkSum-2 \t 1000\t 1500 ns/op\n\
//!             PASS\n\
//!             ok  \texample.org/sums\t0.1s\n";
//! let reading = format.read(text).unwrap();
//! let test = &reading.tests[0];
//! assert_eq!(test.name.as_deref(), Some("BenchmarkSum"));
//! assert_eq!((test.value, &*test.unit, test.less_is_better), (1500.0, "ns/op", true));
//!
//! let unfinished = format.read("BenchmarkSum-2 \t 1000\t 1500 ns/op\n").unwrap_err();
//! assert!(unfinished.to_string().contains("ends in the middle"));
//! ```

mod db_bench;
mod error;
mod figure;
mod fio;
mod format;
mod go;
mod hyperfine;
mod iibench;
mod iostat;
mod json;
mod lines;
mod pgbench;
mod rocksdb_report;
mod sysbench;
mod table;
mod vmstat;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use error::ForeignError;
pub use format::Format;

/// A program's output.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// The program, as [`Format`] names it.
    pub program: &'static str,
    /// Its version, if the output says so.
    pub version: Option<String>,
    /// True if the program is a part of the system under test, so this is also the system's
    /// version.
    pub is_part: bool,
    /// Number of clients for tests that don't state their own, if the output states it elsewhere.
    pub dop: Option<u32>,
    /// Its tests in the order of the output. Tests with the same name and number of clients are
    /// repeats, in order. Empty for programs that only watch (`vmstat`, `iostat`).
    pub tests: Vec<Test>,
    /// The columns of a program that watches (`vmstat`, `iostat`). Empty for all others.
    pub columns: Vec<Column>,
}

/// A test and its figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Test {
    /// `readrandom`, `BenchmarkFoo/x`, a job of fio, a command. `None` if the output names none.
    pub name: Option<String>,
    /// The variant, if the output is of several and names them.
    pub variant: Option<String>,
    /// Number of clients, threads or jobs, if the output says so.
    pub dop: Option<u32>,
    /// Settings of the test according to the output, by the program's names: `scaling factor`,
    /// `query mode`.
    pub settings: BTreeMap<String, String>,
    /// Number of operations, if the output says so.
    pub operations: Option<u64>,
    /// How long they took, if the output says so.
    pub seconds: Option<f64>,
    /// The figure that is judged: finite and greater than 0.
    pub value: f64,
    /// Its unit: `transactions/s`, `IOPS`, `ns/op`. Empty if the output has none.
    pub unit: Cow<'static, str>,
    /// True if a smaller value is better: times and costs.
    pub less_is_better: bool,
    /// The other figures.
    pub metrics: Vec<Metric>,
    /// The value per interval, if the program printed it.
    pub series: Vec<Interval>,
    /// The line of the output (from 1) that has the value.
    pub line: usize,
}

/// A figure in addition to the judged one.
///
/// Latencies are in microseconds (unit `µs`) and called `mean`, `min`, `max`, `stddev` and `p50`,
/// `p99`, `p99.9`. fio's have the direction in front (`read.p99`) if a test has several.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its value; finite.
    pub value: f64,
    /// Its unit; empty for a count.
    pub unit: Cow<'static, str>,
}

/// A report on a part of a test's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// When it began, in seconds from the test's start.
    pub from: f64,
    /// Its length in seconds.
    pub seconds: f64,
    /// The value, in the unit of the test's.
    pub value: f64,
    /// The latency in microseconds that the program prints with it, as it defines it: the mean
    /// (pgbench) or a percentile (sysbench).
    pub latency_us: Option<f64>,
}

/// A column of a program that watches.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name in the output: `cs`, `us`; with the device in front for devices: `sda r/s`.
    pub name: String,
    /// Its unit, if the output or the program's manual says so.
    pub unit: Cow<'static, str>,
    /// The values, one per report. The first report, an average since boot, is left out.
    pub values: Vec<f64>,
}

impl Column {
    /// The mean; `None` if there is no value.
    pub fn mean(&self) -> Option<f64> {
        let count = self.values.len();
        (count > 0).then(|| self.values.iter().sum::<f64>() / count as f64)
    }
}

impl Metric {
    fn new(name: impl Into<String>, value: f64, unit: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), value, unit: unit.into() }
    }

    /// A latency that the program printed in milliseconds.
    fn from_ms(name: impl Into<String>, ms: f64) -> Self {
        Self::new(name, ms * 1000.0, "µs")
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
