//! `steelyard trace`: what a log of statements has in it, a part of it, and without its values.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use trace::{Anonymizer, Format, Options, Ranking, Statement, Summary, Syntax};

use crate::dash::is_stdout;
use crate::exit::{WrongRequest, refuse};

/// Show what a log of statements has in it; cut it, or take the values out, before it leaves the
/// house
///
/// Reads PostgreSQL's logs (csvlog, jsonlog, or text with a log_line_prefix) and the general log of
/// MySQL and MariaDB, of any size. Statements that differ only in their values are one form; forms
/// come in the order of the time they took together, under the names that `steelyard run replay`
/// gives them. With -o, the statements are written in the plain format, which `run replay` reads.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  steelyard trace server.csv
  steelyard trace general.log --skip 1h --take 10m -o ten-minutes.jsonl
  steelyard trace server.csv --key-file secret -o nobody.jsonl")]
pub struct TraceArgs {
    /// The log
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Its format: postgres-csv, postgres-json, postgres-stderr, mysql-general or plain [default:
    /// found by looking]
    #[arg(long = "log-format", value_name = "FORMAT")]
    format: Option<Format>,
    /// log_line_prefix of the server that wrote it, if it is text [default: %m [%p] ]
    #[arg(long, value_name = "PREFIX")]
    line_prefix: Option<String>,
    /// Leave out so much time after the first statement, such as 1h
    #[arg(long, value_name = "TIME", value_parser = plan::parse_duration)]
    skip: Option<Duration>,
    /// Only so much time from there on, such as 10m
    #[arg(long, value_name = "TIME", value_parser = plan::parse_duration)]
    take: Option<Duration>,
    /// Replace every value by another of the same type and length. The same value becomes the same
    /// one, as the content of this file decides; keep it secret
    #[arg(long, value_name = "FILE", requires = "output")]
    key_file: Option<PathBuf>,
    /// Write the statements to this file in the plain format; - for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// So many forms [default: 20]
    #[arg(long, value_name = "N", default_value_t = 20, hide_default_value = true)]
    forms: usize,
    /// One JSON document with all forms
    #[arg(long)]
    json: bool,
}

/// Shortest key that can't be guessed, in bytes.
const KEY: usize = 16;
/// Bytes of a log that are looked at to find its format.
const START: usize = 1 << 16;

/// What is found in a log.
#[derive(Debug, Serialize)]
struct Found {
    format: Format,
    statements: u64,
    sessions: u32,
    failed: u64,
    records: u64,
    damaged: u64,
    /// From the first statement to the last, in seconds.
    seconds: f64,
    /// Statements that move data in bulk, which a replay leaves out.
    bulk: u64,
    forms: Vec<FoundForm>,
}

/// A form.
#[derive(Debug, Serialize)]
struct FoundForm {
    name: String,
    statements: u64,
    failed: u64,
    total_ms: f64,
    form: String,
}

/// Reads the log and prints what it has in it.
pub fn run(args: &TraceArgs) -> anyhow::Result<()> {
    let key = args.key_file.as_deref().map(key).transpose()?;
    let mut log = open(&args.log)?;
    let start = String::from_utf8_lossy(log.fill_buf()?).into_owned();
    let Some(format) = args.format.or_else(|| trace::detect(&start)) else {
        let known = Format::ALL.map(|format| format.to_string()).join(", ");
        let log = args.log.display();
        return refuse(format!("{log}: no known format; give --log-format, one of {known}"));
    };
    let syntax = format.syntax().unwrap_or(Syntax::Dollars);
    let anonymizer = key.map(|key| Anonymizer::new(&key));
    let to_stdout = args.output.as_deref().is_some_and(is_stdout);
    let mut output = args.output.as_deref().map(create).transpose()?;
    let mut ranking = Ranking::new(syntax);
    let (mut first, mut last, mut begin, mut bulk, mut failed) = (None, 0, None, 0, None);
    let options = Options { line_prefix: args.line_prefix.clone() };
    let summary = trace::read(format, &options, &mut log, &mut |mut statement| {
        let start = *first.get_or_insert(statement.at_us);
        if !within(args, start, &statement) {
            return ControlFlow::Continue(());
        }
        ranking.add(&statement);
        begin.get_or_insert(statement.at_us);
        last = last.max(statement.at_us);
        bulk += u64::from(trace::moves_data(&statement.text));
        let Some(output) = &mut output else { return ControlFlow::Continue(()) };
        if let Some(anonymizer) = &anonymizer {
            statement.text = anonymizer.statement(&statement.text, syntax);
        }
        match trace::write(&statement, output) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    let summary = summary.map_err(|it| WrongRequest(format!("{}: {it}", args.log.display())))?;
    if let Some(error) = failed.or_else(|| output.as_mut().and_then(|it| it.flush().err())) {
        return Err(error).context("could not write the statements");
    }
    let seconds = begin.map_or(0.0, |begin: i64| last.saturating_sub(begin) as f64 / 1e6);
    let found = found(format, &summary, &ranking, (seconds, bulk));
    let text = match args.json {
        true => serde_json::to_string_pretty(&found)? + "\n",
        false => table(&found, args.forms),
    };
    match to_stdout {
        true => eprint!("{text}"),
        false => std::io::stdout().write_all(text.as_bytes())?,
    }
    Ok(())
}

/// True if a statement belongs to the chosen part of the log.
fn within(args: &TraceArgs, start_us: i64, statement: &Statement) -> bool {
    let after = u128::try_from(statement.at_us.saturating_sub(start_us)).unwrap_or(0);
    let skip = args.skip.unwrap_or_default().as_micros();
    after >= skip && args.take.is_none_or(|take| after < skip + take.as_micros())
}

fn open(path: &Path) -> anyhow::Result<BufReader<File>> {
    let failed = |error| WrongRequest(format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(failed)?;
    if file.metadata()?.is_dir() {
        return refuse(format!("{} is a directory; name a log", path.display()));
    }
    Ok(BufReader::with_capacity(START, file))
}

fn key(path: &Path) -> anyhow::Result<Vec<u8>> {
    let failed = |error| WrongRequest(format!("cannot read {}: {error}", path.display()));
    let key = std::fs::read(path).map_err(failed)?;
    match key.len() {
        KEY.. => Ok(key),
        found => refuse(format!(
            "{}: expected a key of at least {KEY} bytes, found {found}; `head -c 32 /dev/urandom` \
             makes one",
            path.display()
        )),
    }
}

fn create(path: &Path) -> anyhow::Result<Box<dyn Write>> {
    if is_stdout(path) {
        return Ok(Box::new(std::io::stdout().lock()));
    }
    let failed = |error| WrongRequest(format!("cannot write {}: {error}", path.display()));
    Ok(Box::new(BufWriter::new(File::create(path).map_err(failed)?)))
}

fn found(
    format: Format,
    summary: &Summary,
    ranking: &Ranking,
    (seconds, bulk): (f64, u64),
) -> Found {
    let form = |(number, place): (usize, &usize)| {
        let form = &ranking.forms()[*place];
        FoundForm {
            name: format!("q{number}"),
            statements: form.statements,
            failed: form.failed,
            total_ms: form.took_us as f64 / 1e3,
            form: form.text.clone(),
        }
    };
    Found {
        format,
        statements: ranking.forms().iter().map(|form| form.statements).sum(),
        sessions: summary.sessions,
        failed: ranking.forms().iter().map(|form| form.failed).sum(),
        records: summary.records,
        damaged: summary.damaged,
        seconds,
        bulk,
        forms: (1..).zip(&ranking.order()).map(form).collect(),
    }
}

fn table(found: &Found, forms: usize) -> String {
    let mut text = format!(
        "{}: {} statements of {} sessions in {:.1} s, {} failed; {} of {} records damaged\n",
        found.format,
        found.statements,
        found.sessions,
        found.seconds,
        found.failed,
        found.damaged,
        found.records
    );
    if found.bulk > 0 {
        text.push_str(&format!(
            "{} of them move data in bulk; the log does not have it, so a replay leaves them out\n",
            found.bulk
        ));
    }
    text.push('\n');
    let headings = ["name", "statements", "failed", "total ms", "mean ms", "form"];
    let rows = found.forms.iter().take(forms).map(|form| {
        let mean = form.total_ms / form.statements.max(1) as f64;
        vec![
            form.name.clone(),
            form.statements.to_string(),
            form.failed.to_string(),
            format!("{:.1}", form.total_ms),
            format!("{mean:.3}"),
            form.form.clone(),
        ]
    });
    text.push_str(&report::columns(&headings, rows));
    if found.forms.len() > forms {
        text.push_str(&format!("and {} more forms\n", found.forms.len() - forms));
    }
    text
}
