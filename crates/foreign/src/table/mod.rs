//! Published tables: text, Markdown, tab-separated values or CSV.
//!
//! Three shapes are known: a row per variant with a column per metric, of which one is a rate; a
//! row per variant with a column per step; and a row per step, or number of clients, with a column
//! per variant. The header of the column of names tells which shape a table has. Tables that stand
//! after a mark such as `--- relative to first result` are skipped, since they follow from the
//! absolute ones.

mod cells;
mod find;

use find::{Found, PROGRAM, Row, Tables, is_absolute, tables};

use crate::error::shortened;
use crate::lines::{lines, other};
use crate::{ForeignError, Metric, Reading, Test};
use cells::Cell;

/// Headers of the column with the names of variants.
const VARIANT: [&str; 9] =
    ["dbms", "version", "variant", "system", "setup", "config", "server", "engine", "build"];
/// Headers of the column with the names of steps.
const STEP: [&str; 6] = ["step", "test", "workload", "benchmark", "query", ""];
/// Headers of the column with numbers of clients.
const CLIENTS: [&str; 5] = ["clients", "dop", "threads", "connections", "nt"];
/// Headers of the column that is judged, with its unit.
const RATES: [(&str, &str); 14] = [
    ("o/s", "operations/s"),
    ("op/s", "operations/s"),
    ("ops/s", "operations/s"),
    ("ops/sec", "operations/s"),
    ("ops_sec", "operations/s"),
    ("ops", "operations/s"),
    ("operations/s", "operations/s"),
    ("throughput", "operations/s"),
    ("qps", "queries/s"),
    ("queries/s", "queries/s"),
    ("tps", "transactions/s"),
    ("transactions/s", "transactions/s"),
    ("ips", "rows/s"),
    ("rows/s", "rows/s"),
];

/// Recognizes only text with a mark and a table of metrics or with a title of its own.
pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| is_absolute(line.text))
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    if let Some(last) = lines(text).next_back().filter(|line| !line.ended) {
        let found = "its last line has no end, so a part may be missing";
        return Err(unsupported(last.number, found, "If it is whole, end it with a line break."));
    }
    let Tables { found, names, relative } = tables(text)?;
    let mut tests = Tests::default();
    for table in &found {
        tests.add(table, &|name| names.get(name).map_or(name, String::as_str).to_owned())?;
    }
    if tests.tests.is_empty() {
        let expected = "a table with a header and rows of figures";
        return Err(if relative {
            unsupported(1, "it has only relative figures", "Import the absolute ones.")
        } else {
            other(PROGRAM, expected, text)
        });
    }
    if tests.unnamed > 1 {
        let found = format!("{} tables of metrics have no step", tests.unnamed);
        let remedy = "Write the name of its step in a line above each, in at most four words.";
        return Err(unsupported(tests.unnamed_at, found, remedy));
    }
    Ok(Reading { program: PROGRAM, tests: tests.tests, ..Reading::default() })
}

fn unsupported(line: usize, found: impl Into<String>, remedy: &'static str) -> ForeignError {
    ForeignError::Unsupported { program: PROGRAM, line, found: found.into(), remedy }
}

/// The place of the first or last column with one of these names.
fn corner(header: &[String], names: &[&str]) -> Option<usize> {
    let is = |place: &usize| names.contains(&header[*place].to_lowercase().as_str());
    [0, header.len() - 1].into_iter().find(is)
}

/// The known facts about the rows and columns of a table.
enum Layout {
    /// Columns of the variants' names and of the judged rate, with its unit.
    Metrics { variant: usize, rate: usize, unit: &'static str },
    /// Names of variants in this column, steps in all others.
    Steps { variant: usize },
    /// Names of steps in this column, variants in all others.
    Variants { step: usize },
    /// Names of steps in a column without a header.
    Nameless,
    /// Numbers of clients in this column, variants in all others.
    Clients { clients: usize },
}

impl Layout {
    fn of(table: &Found) -> Result<Self, ForeignError> {
        let header = &table.header;
        if table.rows.first().is_some_and(|row| row.cells.len() > header.len()) {
            return Ok(Self::Nameless);
        }
        let rate = RATES.iter().find_map(|(name, unit)| Some((table.column(&[name])?, *unit)));
        if let (Some(variant), Some((rate, unit))) = (table.column(&VARIANT), rate) {
            return Ok(Self::Metrics { variant, rate, unit });
        }
        if let Some(variant) = corner(header, &VARIANT) {
            if header.iter().any(|name| name.ends_with("/o")) {
                return Err(unsupported(
                    table.line,
                    format!("{} has costs but no rate", shortened(&header.join(" "))),
                    "Costs per operation belong to a rate; add a column o/s.",
                ));
            }
            return Ok(Self::Steps { variant });
        }
        if let Some(clients) = corner(header, &CLIENTS) {
            return Ok(Self::Clients { clients });
        }
        corner(header, &STEP).map(|step| Self::Variants { step }).ok_or_else(|| {
            unsupported(
                table.line,
                format!("the header {:?} does not say of what the rows are", header.join(" ")),
                "Call its first or last column version (or dbms), step or clients.",
            )
        })
    }
}

impl Layout {
    /// The tests of a row that has one in each cell but that with its name.
    fn of_cells(
        &self,
        table: &Found,
        row: &Row,
        title: Option<&String>,
        full: &dyn Fn(&str) -> String,
    ) -> Result<Vec<Test>, ForeignError> {
        let named = match self {
            Self::Steps { variant: at } | Self::Variants { step: at } => *at,
            Self::Clients { clients: at } => *at,
            _ if row.cells.first().is_some_and(|cell| Cell::of(cell) == Cell::Word) => 0,
            _ => table.header.len(),
        };
        let cells = (0..row.cells.len()).filter(|place| *place != named);
        // Where names have no header, it is one shorter than the rows.
        let heads = table.header.iter().enumerate();
        let heads = heads.filter(|(place, _)| *place != named || matches!(self, Self::Nameless));
        let mut tests = Vec::new();
        for ((_, head), cell) in heads.zip(cells) {
            let (of_row, of_column) = (full(&row.cells[named]), full(head));
            let (name, variant, dop) = match self {
                Self::Steps { .. } => (Some(of_column), of_row, None),
                Self::Clients { .. } => (title.cloned(), of_column, of_row.parse().ok()),
                _ => (Some(of_row), of_column, None),
            };
            let (variant, unit) = (Some(variant), "operations/s".into());
            tests.extend(row.test(cell, Test { name, variant, dop, unit, ..Test::default() })?);
        }
        Ok(tests)
    }
}

#[derive(Default)]
struct Tests {
    tests: Vec<Test>,
    /// The number of tables without the name of a step that needed one, and the line of the last.
    unnamed: usize,
    unnamed_at: usize,
}

impl Tests {
    fn add(&mut self, table: &Found, full: &dyn Fn(&str) -> String) -> Result<(), ForeignError> {
        let (layout, known) = (Layout::of(table)?, self.tests.len());
        let (title, dop) = table.title.as_deref().map_or((None, None), step_of);
        let needs = match layout {
            Layout::Metrics { .. } => table.column(&STEP).is_none(),
            Layout::Clients { .. } => true,
            _ => false,
        };
        if needs && title.is_none() {
            (self.unnamed, self.unnamed_at) = (self.unnamed + 1, table.line);
        }
        for row in &table.rows {
            let tests = match layout {
                Layout::Metrics { variant, rate, unit } => {
                    let name = table.column(&STEP).map(|at| row.cells[at].clone());
                    let (name, dop) = (name.or_else(|| title.clone()), table.clients(row).or(dop));
                    let variant = Some(full(&row.cells[variant]));
                    let more = Test { name, variant, dop, unit: unit.into(), ..Test::default() };
                    let test = row.test(rate, more)?;
                    let metrics = table.metrics(row)?;
                    test.map(|test| Test { metrics, ..test }).into_iter().collect()
                }
                _ => layout.of_cells(table, row, title.as_ref(), full)?,
            };
            for test in tests {
                self.push(test, known)?;
            }
        }
        Ok(())
    }

    /// If an earlier table has the same figure, the test gets the metrics of both. Within a table,
    /// the same step and variant are repeats.
    fn push(&mut self, test: Test, known: usize) -> Result<(), ForeignError> {
        let same = |other: &&mut Test| {
            (&other.name, &other.variant, other.dop) == (&test.name, &test.variant, test.dop)
        };
        let Some(other) = self.tests[..known].iter_mut().find(same) else {
            self.tests.push(test);
            return Ok(());
        };
        if (other.value - test.value).abs() > 1e-9 * test.value {
            let name = test.name.unwrap_or_default();
            let variant = test.variant.unwrap_or_default();
            let found = format!(
                "{name} of {variant} is {} here and {} in line {}",
                test.value, other.value, other.line
            );
            return Err(unsupported(test.line, found, "Import these tables in separate calls."));
        }
        other.metrics.extend(test.metrics);
        Ok(())
    }
}

impl Row {
    /// The figure in a cell; `None` if it is not known.
    fn figure(&self, place: usize) -> Result<Option<f64>, ForeignError> {
        let cell = self.cells.get(place).map_or("", String::as_str);
        match Cell::of(cell) {
            Cell::Figure(value) => Ok(Some(value)),
            Cell::Missing => Ok(None),
            Cell::Word => Err(self.not_a_figure(cell)),
        }
    }

    /// A test with the figure in a cell as its value.
    fn test(&self, place: usize, test: Test) -> Result<Option<Test>, ForeignError> {
        let Some(value) = self.figure(place)? else { return Ok(None) };
        if value <= 0.0 {
            return Err(self.not_a_figure(&self.cells[place]));
        }
        Ok(Some(Test { value, line: self.line, ..test }))
    }

    fn not_a_figure(&self, cell: &str) -> ForeignError {
        let (line, found) = (self.line, shortened(cell));
        ForeignError::NotAFigure { program: PROGRAM, line, what: "figure", found }
    }
}

impl Found {
    /// The column with one of these names.
    fn column(&self, names: &[&str]) -> Option<usize> {
        let is = |name: &String| !name.is_empty() && names.contains(&name.to_lowercase().as_str());
        self.header.iter().position(is)
    }

    /// The number of clients in a row of metrics.
    fn clients(&self, row: &Row) -> Option<u32> {
        row.cells.get(self.column(&CLIENTS)?)?.parse().ok()
    }

    /// The figures of a row other than the judged one.
    fn metrics(&self, row: &Row) -> Result<Vec<Metric>, ForeignError> {
        let mut metrics = Vec::new();
        for (place, name) in self.header.iter().enumerate() {
            let lower = name.to_lowercase();
            let known = [&VARIANT[..], &STEP, &CLIENTS].concat().contains(&lower.as_str())
                || RATES.iter().any(|(rate, _)| *rate == lower);
            let value = if known { None } else { row.figure(place)? };
            metrics.extend(value.map(|value| Metric::new(name.clone(), value, "")));
        }
        Ok(metrics)
    }
}

/// The step that a title names, and its number of clients: `sb.met.scan.dop40`, or what follows
/// a colon, or a few words. More, or those with a period, are prose, which may name it too.
fn step_of(title: &str) -> (Option<String>, Option<u32>) {
    let title = title.trim_start_matches('#').replace('\\', "");
    let after_colon = || title.rsplit(": ").next().unwrap_or_default().trim();
    let name = step_in(&title).unwrap_or_else(after_colon);
    let name =
        ["sb.met.", "sb.prepare.met."].iter().find_map(|it| name.strip_prefix(it)).unwrap_or(name);
    let (name, dop) = match name.rsplit_once(".dop").map(|(name, dop)| (name, dop.parse().ok())) {
        Some((name, Some(dop))) => (name, Some(dop)),
        _ => (name, None),
    };
    let name = name.trim_end_matches(':');
    let usable = (1..=4).contains(&name.split_whitespace().count()) && !name.ends_with('.');
    (usable.then(|| name.to_owned()), dop)
}

/// The step of `For STEP …`, `For the STEP test …`, `… for STEP`, if no other word looks like the
/// name of one.
fn step_in(prose: &str) -> Option<&str> {
    let words: Vec<&str> = prose.split_whitespace().collect();
    let all = words.iter().copied().enumerate();
    let mut named = all.filter_map(|(at, word)| Some((at, name_of(word)?)));
    let (Some((at, name)), None) = (named.next(), named.next()) else { return None };
    let (before, after) = (&words[..at], &words[at + 1..]);
    let before = before.strip_suffix(&["the"]).unwrap_or(before);
    let begins = before.len() == 1;
    let ends = match after {
        [] => true,
        [word] => ["test", "step", "workload"].contains(&word.trim_end_matches(PUNCTUATION)),
        _ => false,
    };
    let is_for = before.last().is_some_and(|word| word.eq_ignore_ascii_case("for"));
    (is_for && (begins || ends)).then_some(name)
}

const PUNCTUATION: [char; 6] = [',', ';', ':', '.', '(', ')'];
const QUOTES: [char; 8] = ['"', '\'', '`', '*', '“', '”', '‘', '’'];

/// The word without the characters around it, if it looks like the name of a step: `update-zipf`,
/// `l.i0`, or anything in quotes. A word that begins with a digit is a version or a number.
fn name_of(word: &str) -> Option<&str> {
    let word = word.trim_matches(PUNCTUATION);
    let name = word.trim_matches(QUOTES);
    let quoted = word.starts_with(QUOTES) && word.ends_with(QUOTES);
    let marked = name.contains(|letter: char| "-._=".contains(letter) || letter.is_ascii_digit());
    let begins = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    (begins && (quoted || marked) && !name.contains(QUOTES)).then_some(name)
}
