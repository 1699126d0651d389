//! `steelyard trace`: what a log of statements, or a table of digests, has in it; a part of it, and
//! without its values.

mod found;
mod queries;
mod scripts;

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use tempfile::NamedTempFile;
use trace::{Anonymizer, Databases, Digest, Format, Options, Ranking, Statement, Summary, Syntax};

use crate::changes::named;
use crate::dash::is_stdout;
use crate::exit::{WrongRequest, refuse};
use found::{Found, Part};
use queries::Queries;
use scripts::{Amount, Mix};

/// Show what a log of statements has in it; cut it, or take the values out, before it leaves the
/// house
///
/// Reads PostgreSQL's logs (csvlog, jsonlog, or text with a log_line_prefix) and the general and
/// slow logs of MySQL and MariaDB, of any size; also pg_stat_statements and performance_schema's
/// digests as tables. Statements that differ only in their values are one form; forms come in the
/// order of the time they took together, under the names that `steelyard run replay` gives them.
/// With -o, the statements are written in the plain format, which `run replay` reads. A cut loses
/// what a session did before it: BEGIN, SET, temporary tables. With --queries, forms that only read
/// become files for `steelyard run queries`; with --scripts, scripts for `steelyard run script`.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard trace server.csv
  steelyard trace slow.log --skip 1h --take 10m -o ten-minutes.jsonl
  steelyard trace server.csv --queries my-queries --forms 50
  steelyard trace pg_stat_statements.csv --scripts my-mix
  steelyard trace server.csv --key-file secret -o nobody.jsonl")]
pub struct TraceArgs {
    /// The log, or the table of digests
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Its format: postgres-csv, postgres-json, postgres-stderr, mysql-general, mysql-slow, plain,
    /// postgres-digests or mysql-digests [default: found by looking]
    #[arg(long = "log-format", value_name = "FORMAT")]
    format: Option<Format>,
    /// log_line_prefix of the server that wrote it, if it is text [default:
    /// PostgreSQL's, %m [%p] , or Debian's]
    #[arg(long, value_name = "PREFIX")]
    line_prefix: Option<String>,
    /// Only the statements of this database
    #[arg(long, value_name = "NAME")]
    only_database: Option<String>,
    /// How its statements are divided into tokens, if it is plain: dollars (as PostgreSQL does) or
    /// backslashes (as MySQL and MariaDB do)
    #[arg(long, value_name = "HOW", value_parser = named(&SYNTAXES))]
    syntax: Option<Syntax>,
    /// Leave out so much time after the first statement, such as 1h
    #[arg(long, value_name = "TIME", value_parser = plan::parse_duration)]
    skip: Option<Duration>,
    /// Only so much time from there on, such as 10m
    #[arg(long, value_name = "TIME", value_parser = plan::parse_duration)]
    take: Option<Duration>,
    /// Replace values by others of the same length, letters by letters and digits by digits. The
    /// content of this file decides by which; keep it secret
    #[arg(long, value_name = "FILE", requires = "output")]
    key_file: Option<PathBuf>,
    /// Write the statements to this file in the plain format; - for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write those of the first forms (--forms) that only read into this new directory, each with
    /// up to 20 rows of the values it had
    #[arg(long, value_name = "DIR", conflicts_with = "key_file")]
    queries: Option<PathBuf>,
    /// Write the first forms (--forms) into this new directory as pgbench scripts, and print the
    /// command that runs them, weighted by how often each form occurs
    #[arg(long, value_name = "DIR", conflicts_with = "key_file")]
    scripts: Option<PathBuf>,
    /// So many forms
    #[arg(long, value_name = "N", default_value_t = 20)]
    forms: usize,
    /// One JSON document with all forms
    #[arg(long)]
    json: bool,
}

/// The ways to divide statements into tokens.
const SYNTAXES: [(&str, Syntax); 2] =
    [("dollars", Syntax::Dollars), ("backslashes", Syntax::Backslashes)];
/// Shortest key that can't be guessed, in bytes.
const KEY: usize = 16;
/// Bytes of a log that are looked at to find its format.
const START: usize = 1 << 16;

/// Reads the log and prints what it has in it.
pub fn run(args: &TraceArgs) -> anyhow::Result<()> {
    let key = args.key_file.as_deref().map(key).transpose()?;
    let mut log = open(&args.log)?;
    let unread = |it| WrongRequest(format!("{}: {it}", args.log.display()));
    let format = trace::format_of(args.format, &mut log).map_err(unread)?;
    if format.is_digests() {
        args.check_digests(format)?;
    }
    let known = format.syntax().or(args.syntax);
    let written = args.queries.is_some() || args.scripts.is_some();
    if known.is_none() && (key.is_some() || written) {
        // Read by the wrong rules, a value may look like a name, or the other way round.
        return refuse("a plain log does not say how its statements are written; give --syntax");
    }
    let mut taken = Taken::new(args, known.unwrap_or(Syntax::Dollars))?;
    let summary = match format.is_digests() {
        true => {
            let each = &mut |digest| taken.add_digest(&digest);
            trace::read_digests(format, &mut log, each).map_err(unread)?
        }
        false => {
            let anonymizer = key.map(|key| Anonymizer::new(&key));
            read_log(args, format, &mut log, anonymizer.as_ref(), &mut taken)?
        }
    };
    taken.write(args)?;
    let found = Found::of(format, &summary, &taken.ranking, &taken.part);
    let text = match args.json {
        true => serde_json::to_string_pretty(&found)? + "\n",
        false => found.table(args.forms),
    };
    match args.output.as_deref().is_some_and(is_stdout) {
        true => eprint!("{text}"),
        false => std::io::stdout().write_all(text.as_bytes())?,
    }
    Ok(())
}

impl TraceArgs {
    /// Refuses what only a log can be asked for.
    fn check_digests(&self, format: Format) -> anyhow::Result<()> {
        let given = [
            ("--skip", self.skip.is_some()),
            ("--take", self.take.is_some()),
            ("--key-file", self.key_file.is_some()),
            ("--output", self.output.is_some()),
            ("--line-prefix", self.line_prefix.is_some()),
            ("--only-database", self.only_database.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => refuse(format!(
                "{}: {option} is for logs, but {format} has no single statements and times; \
                 --scripts DIR writes a mix of its statements",
                self.log.display()
            )),
        }
    }
}

/// What is kept of the statements.
struct Taken {
    syntax: Syntax,
    ranking: Ranking,
    part: Part,
    /// Those of all statements, also where only one is chosen.
    known: Databases,
    queries: Option<Queries>,
    mix: Option<Mix>,
}

impl Taken {
    fn new(args: &TraceArgs, syntax: Syntax) -> anyhow::Result<Taken> {
        let queries = args.queries.as_deref().map(|directory| Queries::at(directory, syntax));
        let mix = args.scripts.as_deref().map(|directory| Mix::at(directory, syntax));
        let (queries, mix) = (queries.transpose()?, mix.transpose()?);
        let (ranking, part, known) = (Ranking::new(syntax), Part::default(), Databases::default());
        Ok(Taken { syntax, ranking, part, known, queries, mix })
    }

    fn add(&mut self, statement: &Statement) {
        self.part.add(statement);
        // A replay leaves them out, and names the forms of the others.
        if trace::moves_data(&statement.text, self.syntax) {
            self.part.bulk += 1;
            return;
        }
        let place = self.ranking.add(statement);
        if let Some(queries) = &mut self.queries {
            queries.add(place, statement);
        }
        if let Some(mix) = &mut self.mix {
            mix.scripts.add(place, statement);
        }
    }

    fn add_digest(&mut self, digest: &Digest) {
        if digest.nested {
            self.part.nested = self.part.nested.saturating_add(digest.calls);
            return;
        }
        self.part.statements = self.part.statements.saturating_add(digest.calls);
        self.part.failed = self.part.failed.saturating_add(digest.failed);
        self.part.add_time(Some(digest.took_us));
        let place = self.ranking.add_digest(digest);
        if let (Some(queries), Some(sample)) = (&mut self.queries, &digest.sample) {
            queries.add(place, &Statement { text: sample.clone(), ..Statement::default() });
        }
        if let Some(mix) = &mut self.mix {
            mix.scripts.add_digest(place, digest);
        }
    }

    fn write(&self, args: &TraceArgs) -> anyhow::Result<()> {
        if let Some(queries) = &self.queries {
            eprintln!("{}", queries.write(&self.ranking, args.forms)?);
        }
        if let Some(mix) = &self.mix {
            let Part { statements, took_us, .. } = self.part;
            let all = Amount { statements, took_us: took_us.unwrap_or(0) };
            eprint!("{}", mix.write(&self.ranking, args.forms, all)?);
        }
        Ok(())
    }
}

/// Reads a log; writes the statements of the chosen part if that is wanted.
fn read_log(
    args: &TraceArgs,
    format: Format,
    log: &mut BufReader<File>,
    anonymizer: Option<&Anonymizer>,
    taken: &mut Taken,
) -> anyhow::Result<Summary> {
    let mut output = args.output.as_deref().map(Output::create).transpose()?;
    let (mut first, mut failed) = (None, None);
    let options = Options { line_prefix: args.line_prefix.clone() };
    let named = args.only_database.is_some() && names_databases(args, format, &options)?;
    let summary = trace::read(format, &options, log, &mut |mut statement| {
        let start = *first.get_or_insert(statement.at_us);
        taken.known.add(&statement);
        if !within(args, start, &statement) || !chosen(args, named, &statement) {
            return ControlFlow::Continue(());
        }
        taken.add(&statement);
        let Some(output) = &mut output else { return ControlFlow::Continue(()) };
        if let Some(anonymizer) = anonymizer {
            anonymizer.statement(&mut statement, taken.syntax);
        }
        match trace::write(&statement, output.to()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    let summary = summary.map_err(|it| WrongRequest(format!("{}: {it}", args.log.display())))?;
    if let Some(name) = &args.only_database
        && named
        && !taken.known.counts().any(|(known, _)| known == name)
    {
        let (log, known) = (args.log.display(), &taken.known);
        return refuse(format!(
            "{log} has no statements of the database {name}, but those of {known}"
        ));
    }
    if let Some(error) = failed {
        return Err(error).context("could not write the statements");
    }
    output.map_or(Ok(()), Output::finish)?;
    Ok(summary)
}

/// True if a statement belongs to the chosen part of the log.
fn within(args: &TraceArgs, start_us: i64, statement: &Statement) -> bool {
    let after = u128::try_from(statement.at_us.saturating_sub(start_us)).unwrap_or(0);
    let skip = args.skip.unwrap_or_default().as_micros();
    after >= skip && args.take.is_none_or(|take| after < skip + take.as_micros())
}

/// True if a log says of any statement which database it went to. Only a file can be read twice.
fn names_databases(args: &TraceArgs, format: Format, options: &Options) -> anyhow::Result<bool> {
    if !args.log.metadata()?.is_file() {
        return Ok(true);
    }
    let mut named = false;
    let read = trace::read(format, options, &mut open(&args.log)?, &mut |statement| {
        named = statement.database.is_some();
        if named { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    read.map_err(|it| WrongRequest(format!("{}: {it}", args.log.display())))?;
    Ok(named)
}

/// True if a statement went to the chosen database, or its log names none.
fn chosen(args: &TraceArgs, named: bool, statement: &Statement) -> bool {
    let Some(wanted) = &args.only_database else { return true };
    statement.database.as_deref().map_or(!named, |found| found == wanted)
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

/// Where statements go: standard output, or a file that gets its name when it is whole.
enum Output {
    Stdout(std::io::StdoutLock<'static>),
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Output {
    fn create(path: &Path) -> anyhow::Result<Output> {
        if is_stdout(path) {
            return Ok(Output::Stdout(std::io::stdout().lock()));
        }
        let failed = |error| WrongRequest(format!("cannot write {}: {error}", path.display()));
        let directory = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
        let file = NamedTempFile::new_in(directory).map_err(failed)?;
        Ok(Output::File(BufWriter::new(file), path.to_owned()))
    }

    fn to(&mut self) -> &mut dyn Write {
        match self {
            Output::Stdout(stdout) => stdout,
            Output::File(file, _) => file,
        }
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Output::Stdout(mut stdout) => Ok(stdout.flush()?),
            Output::File(file, path) => {
                let whole = || format!("could not write {}", path.display());
                let file = file.into_inner().map_err(|it| it.into_error()).with_context(whole)?;
                file.persist(&path).map(drop).with_context(whole)
            }
        }
    }
}
