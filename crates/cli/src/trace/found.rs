//! What `steelyard trace` shows of a log, or of a table of digests.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use trace::{Databases, Format, Ranking, Statement, Summary};

/// What is found in a log.
#[derive(Debug, Serialize)]
pub(super) struct Found {
    format: Format,
    statements: u64,
    sessions: usize,
    failed: u64,
    records: u64,
    damaged: u64,
    /// Statements that failed, and are not among the others because the log lacks their values.
    without_values: u64,
    /// From the first statement to the last, in seconds.
    seconds: f64,
    /// Statements that move data in bulk, which a replay leaves out.
    bulk: u64,
    /// Statements inside of others, in whose digests they count already.
    nested: u64,
    /// How many statements each database has.
    databases: BTreeMap<String, u64>,
    forms: Vec<FoundForm>,
}

/// A form.
#[derive(Debug, Serialize)]
struct FoundForm {
    name: String,
    statements: u64,
    failed: u64,
    /// `None` if the log does not say how long any statement took.
    total_ms: Option<f64>,
    form: String,
}

/// The chosen part of a log.
#[derive(Debug, Default)]
pub(super) struct Part {
    sessions: HashSet<u32>,
    databases: Databases,
    /// Times of the first statement and the last, in microseconds.
    times: Option<(i64, i64)>,
    pub(super) statements: u64,
    pub(super) failed: u64,
    pub(super) bulk: u64,
    pub(super) nested: u64,
    /// `None` if the log doesn't say of any of them how long it took.
    pub(super) took_us: Option<u64>,
}

impl Part {
    /// Adds the time of a statement, or of those of a digest, if it is known.
    pub(super) fn add_time(&mut self, took_us: Option<u64>) {
        if let Some(us) = took_us {
            self.took_us = Some(self.took_us.unwrap_or(0).saturating_add(us));
        }
    }

    pub(super) fn add(&mut self, statement: &Statement) {
        let at = statement.at_us;
        let (first, last) = self.times.unwrap_or((at, at));
        self.times = Some((first.min(at), last.max(at)));
        self.sessions.insert(statement.session);
        self.databases.add(statement);
        self.statements += 1;
        self.failed += u64::from(statement.failed);
        self.add_time(statement.took_us);
    }
}

impl Found {
    /// The chosen part of a log, with its forms.
    pub(super) fn of(format: Format, summary: &Summary, ranking: &Ranking, part: &Part) -> Self {
        let (first, last) = part.times.unwrap_or_default();
        let form = |(number, place): (usize, &usize)| {
            let form = &ranking.forms()[*place];
            FoundForm {
                name: format!("q{number}"),
                statements: form.statements,
                failed: form.failed,
                total_ms: part.took_us.map(|_| form.took_us as f64 / 1e3),
                form: form.text.clone(),
            }
        };
        let databases = part.databases.counts();
        Self {
            format,
            statements: part.statements,
            sessions: part.sessions.len(),
            failed: part.failed,
            records: summary.records,
            damaged: summary.damaged,
            without_values: summary.without_values,
            seconds: last.saturating_sub(first) as f64 / 1e6,
            bulk: part.bulk,
            nested: part.nested,
            databases: databases.map(|(name, statements)| (name.to_owned(), statements)).collect(),
            forms: (1..).zip(&ranking.order()).map(form).collect(),
        }
    }

    /// It as text, with so many forms.
    pub(super) fn table(&self, forms: usize) -> String {
        let Found { format, statements, sessions, seconds, failed, damaged, records, .. } = self;
        let mut text = match format.is_digests() {
            true => format!(
                "{format}: {statements} statements, {failed} failed; {damaged} of the table's {records} \
                 rows damaged\n"
            ),
            false => format!(
                "{format}: {statements} statements of {sessions} sessions in {seconds:.1} s, {failed} \
                 failed; {damaged} of the log's {records} records damaged\n"
            ),
        };
        if self.bulk > 0 {
            text.push_str(&format!(
                "{} of them move data in bulk; the log does not have it, so a replay leaves them out\n",
                self.bulk
            ));
        }
        if self.nested > 0 {
            text.push_str(&format!(
                "{} more ran inside of functions; they count in what called them\n",
                self.nested
            ));
        }
        if self.without_values > 0 {
            text.push_str(&format!(
                "{} failed statements lack their values, and can't be sent; \
                 log_parameter_max_length_on_error = -1 logs them\n",
                self.without_values
            ));
        }
        if self.forms.iter().any(|form| form.total_ms.is_none()) {
            text.push_str(
                "the log doesn't say how long statements took, so the most frequent forms come first\n",
            );
        }
        text.push('\n');
        if self.databases.len() > 1 {
            let row =
                |(name, statements): (&String, &u64)| vec![name.clone(), statements.to_string()];
            let rows = self.databases.iter().map(row);
            text.push_str(&report::columns(&["database", "statements"], rows));
            text.push_str("to see one of them: --only-database NAME\n\n");
        }
        let headings = ["name", "statements", "failed", "total ms", "mean ms", "form"];
        let rows = self.forms.iter().take(forms).map(|form| {
            let mean = form.total_ms.map(|total| total / form.statements.max(1) as f64);
            let shown =
                |ms: Option<f64>, digits| ms.map_or("-".to_owned(), |ms| format!("{ms:.digits$}"));
            vec![
                form.name.clone(),
                form.statements.to_string(),
                form.failed.to_string(),
                shown(form.total_ms, 1),
                shown(mean, 3),
                form.form.clone(),
            ]
        });
        text.push_str(&report::columns(&headings, rows));
        if self.forms.len() > forms {
            text.push_str(&format!("and {} more forms\n", self.forms.len() - forms));
        }
        text
    }
}
