//! The formats, by name.

use std::fmt;
use std::mem::discriminant;
use std::str::FromStr;

use regex::Regex;

use crate::{
    ForeignError, Reading, db_bench, figure, fio, go, hyperfine, iibench, iostat, pgbench,
    rocksdb_report, sysbench, table, vmstat,
};

/// Whose output it is.
#[derive(Debug, Clone)]
pub enum Format {
    /// pgbench 9.x to 18: its summary, and the progress lines of `-P`.
    Pgbench,
    /// sysbench 1.0 and 1.1: its summary, and the lines of `--report-interval`.
    Sysbench,
    /// RocksDB's `db_bench`.
    DbBench,
    /// fio with `--output-format=json` or `json+`.
    Fio,
    /// The Python client of the insert benchmark, `iibench.py`.
    Iibench,
    /// hyperfine: the file of `--export-json`.
    Hyperfine,
    /// `go test -bench`.
    Go,
    /// The number at a JSON pointer (RFC 6901) in any program's JSON output.
    Json(String),
    /// The number that a regular expression captures in its group `value`, or in its first group.
    Regex(Regex),
    /// `vmstat SECONDS`.
    Vmstat,
    /// `iostat SECONDS`, best with `-x`.
    Iostat,
    /// The tab-separated summary (`report.tsv`) that RocksDB's benchmark scripts write.
    RocksdbReport,
    /// A published table: text, Markdown, tab-separated values or CSV.
    Table,
}

const WORDS: [(&str, Format); 11] = [
    ("pgbench", Format::Pgbench),
    ("sysbench", Format::Sysbench),
    ("db_bench", Format::DbBench),
    ("fio", Format::Fio),
    ("iibench", Format::Iibench),
    ("hyperfine", Format::Hyperfine),
    ("go", Format::Go),
    ("vmstat", Format::Vmstat),
    ("iostat", Format::Iostat),
    ("rocksdb-report", Format::RocksdbReport),
    ("table", Format::Table),
];

/// Formats that are no words.
const OTHERS: [&str; 2] = ["json:/POINTER", "regex:PATTERN"];

impl Format {
    /// All formats as they are given, with remarks: `pgbench, sysbench, …, regex:PATTERN`.
    pub fn known() -> String {
        let word = |(word, format): (&str, Self)| match format.remark() {
            "" => word.to_owned(),
            remark => format!("{word} ({remark})"),
        };
        let others = OTHERS.into_iter().map(str::to_owned);
        WORDS.into_iter().map(word).chain(others).collect::<Vec<_>>().join(", ")
    }

    /// Which of its outputs is meant, where there are others.
    fn remark(&self) -> &'static str {
        match self {
            Self::Fio | Self::Hyperfine => "JSON",
            Self::Go => "test -bench",
            Self::Table => "a published one: text, Markdown, TSV, CSV",
            _ => "",
        }
    }

    /// The package of Debian and Ubuntu with the program of this name, if its output can be read
    /// and there is one.
    pub fn package(program: &str) -> Option<&'static str> {
        let (word, format) = WORDS.into_iter().find(|(word, _)| *word == program)?;
        match format {
            Self::Pgbench => Some("postgresql-contrib"),
            Self::DbBench => Some("rocksdb-tools"),
            Self::Sysbench | Self::Fio | Self::Hyperfine => Some(word),
            _ => None,
        }
    }

    /// Reads the finished output of a program.
    ///
    /// # Errors
    /// When the output is cut off, another program's, of a kind that can't be read, without a
    /// figure, or when the program reports a failure.
    pub fn read(&self, text: &str) -> Result<Reading, ForeignError> {
        match self {
            Self::Pgbench => pgbench::read(text),
            Self::Sysbench => sysbench::read(text),
            Self::DbBench => db_bench::read(text),
            Self::Fio => fio::read(text),
            Self::Iibench => iibench::read(text),
            Self::Hyperfine => hyperfine::read(text),
            Self::Go => go::read(text),
            Self::Json(pointer) => figure::read_json(text, pointer),
            Self::Regex(pattern) => figure::read_regex(text, pattern),
            Self::Vmstat => vmstat::read(text),
            Self::Iostat => iostat::read(text),
            Self::RocksdbReport => rocksdb_report::read(text),
            Self::Table => table::read(text),
        }
    }

    /// The format of a text, recognized by lines that only one program prints. `None` if it is
    /// unknown.
    pub fn detect(text: &str) -> Option<Self> {
        WORDS.into_iter().map(|(_, format)| format).find(|format| match format {
            Self::Pgbench => pgbench::detect(text),
            Self::Sysbench => sysbench::detect(text),
            Self::DbBench => db_bench::detect(text),
            Self::Fio => fio::detect(text),
            Self::Iibench => iibench::detect(text),
            Self::Hyperfine => hyperfine::detect(text),
            Self::Go => go::detect(text),
            Self::Vmstat => vmstat::detect(text),
            Self::Iostat => iostat::detect(text),
            Self::RocksdbReport => rocksdb_report::detect(text),
            Self::Table => table::detect(text),
            Self::Json(_) | Self::Regex(_) => false,
        })
    }

    /// The unit of the figure, and true if less is better: the name of operations, such as
    /// `transactions`, or the unit of a cost, such as `ns/op`. A number in any other output is
    /// taken for a rate, because nothing is known about it.
    pub fn counts(&self) -> (&'static str, bool) {
        match self {
            Self::Pgbench | Self::Sysbench => ("transactions", false),
            Self::Fio => ("requests", false),
            Self::Iibench => ("rows", false),
            Self::Hyperfine => ("s", true),
            Self::Go => ("ns/op", true),
            _ => ("operations", false),
        }
    }

    /// True if its output says which direction is better.
    pub fn knows_direction(&self) -> bool {
        !matches!(self, Self::Json(_) | Self::Regex(_))
    }

    /// True if its tests are called by the commands that were run.
    pub fn names_commands(&self) -> bool {
        matches!(self, Self::Hyperfine)
    }

    /// True if this program only watches others: its [`Reading`] has columns instead of tests.
    pub fn watches(&self) -> bool {
        matches!(self, Self::Vmstat | Self::Iostat)
    }
}

impl FromStr for Format {
    type Err = ForeignError;

    fn from_str(given: &str) -> Result<Self, ForeignError> {
        let bad = |why: String| ForeignError::BadFormat { given: given.to_owned(), why };
        if let Some(pointer) = given.strip_prefix("json:") {
            if !pointer.is_empty() && !pointer.starts_with('/') {
                let why = format!("a JSON pointer begins with a slash, as in json:/{pointer}");
                return Err(bad(why));
            }
            return Ok(Self::Json(pointer.to_owned()));
        }
        if let Some(pattern) = given.strip_prefix("regex:") {
            let pattern = Regex::new(pattern).map_err(|error| bad(error.to_string()))?;
            if pattern.captures_len() < 2 {
                let why = r"it has no group; put the number in one, as in regex:tps = ([\d.]+)";
                return Err(bad(why.to_owned()));
            }
            return Ok(Self::Regex(pattern));
        }
        let known = WORDS.into_iter().find(|(word, _)| *word == given);
        known.map(|(_, format)| format).ok_or_else(|| {
            let words = WORDS.iter().map(|(word, _)| *word).chain(["json:/", "regex:"]);
            let near = words
                .map(|word| (strsim::damerau_levenshtein(word, given), word))
                .filter(|(distance, word)| *distance <= word.len().div_ceil(3))
                .min_by_key(|(distance, _)| *distance);
            let nearest = near.map(|(_, word)| word);
            ForeignError::UnknownFormat { given: given.to_owned(), nearest }
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(pointer) => write!(f, "json:{pointer}"),
            Self::Regex(pattern) => write!(f, "regex:{pattern}"),
            other => {
                let same = |(_, named): &&(&str, Self)| discriminant(named) == discriminant(other);
                f.write_str(WORDS.iter().find(same).map_or("", |(word, _)| word))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_told_where_one_is_unknown() {
        let error = "tabel".parse::<Format>().unwrap_err().to_string();
        assert!(error.contains("did you mean \"table\"") && error.ends_with(&Format::known()));
        for (word, _) in WORDS {
            assert!(Format::known().contains(word), "{word}");
        }
        for other in OTHERS {
            assert!(other.parse::<Format>().is_err() == other.starts_with("regex"), "{other}");
        }
    }
}
