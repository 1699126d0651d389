//! Pages and commands with a million step results (`bench pages`).

mod asked;
#[path = "../../../site/tests/common/mod.rs"]
#[allow(clippy::unwrap_used, dead_code, reason = "it is shared with tests")]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use store::Store;

use self::asked::Service;
use self::common::{Size, fill};
use crate::publish::{self, WIDTH};
use crate::steelyard::Steelyard;

/// How quickly pages load and commands finish with a million step results
#[derive(Debug, Args)]
pub struct PagesArgs {
    /// Where the results are; they are made if they are not there
    #[arg(long, default_value = "target/pages")]
    directory: PathBuf,
    /// The steelyard that is measured
    #[arg(long, env = "STEELYARD", default_value = "target/release/steelyard")]
    steelyard: PathBuf,
    /// Pages of a kind that are asked for, at most
    #[arg(long, default_value_t = 200)]
    pages: usize,
    /// Put the tables between the markers of this file
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
}

/// 1,000,320 step results on 12 machines over half a year: two versions in blocks, every night.
const HALF_A_YEAR: Size = Size {
    experiments: 2084,
    machines: 12,
    steps: &["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"],
    dops: &[1, 4, 8, 16],
    blocks: 6,
    seconds: 10,
};
/// How long to wait for all pages.
const LIMIT: Duration = Duration::from_secs(3600);
/// How often a command runs.
const TIMES: usize = 5;
const HEAD: &str = "page | pages | not prepared: p95 | p50 | p95 | longest | largest, compressed";

/// Makes the results, asks for pages, and runs commands.
pub fn pages(args: &PagesArgs) -> Result<()> {
    let directory = std::path::absolute(&args.directory)?;
    let results = directory.join("results");
    if !results.exists() {
        fill(&results, &HALF_A_YEAR, 0);
    }
    // Earlier measurements each added one.
    let experiments = Store::open_read_only(&results)?.all_experiments()?.len();
    let cache = directory.join("cache");
    let _ = fs::remove_dir_all(&cache);
    let mut said = Vec::new();
    let service = Service::start(&args.steelyard, &results, &cache)?;
    let (first, begin) = (service.start, Instant::now());
    let kinds = kinds(&service, args.pages)?;
    let alone = kinds.iter().map(|kind| kind.ask(&service)).collect::<Result<Vec<_>>>()?;
    let files = prepared(&cache, &kinds)?;
    let (prepared, memory) = (begin.elapsed().as_secs_f64(), service.memory()?);
    drop(service);
    let service = Service::start(&args.steelyard, &results, &cache)?;
    let asked = kinds.iter().map(|kind| kind.ask(&service)).collect::<Result<Vec<_>>>()?;
    let rows = kinds.iter().zip(alone.iter().zip(&asked));
    let rows = rows.map(|(kind, (alone, asked))| row(kind, alone, asked));
    let rows = rows.collect::<Result<Vec<_>>>()?;
    said.push(format!(
        "The service starts in {first:.1} s, later in {:.1} s; {files} pages that take long were \
         prepared within {prepared:.0} s. The first had {memory:.0} MiB of memory at most, the \
         second {:.0} MiB.",
        service.start,
        service.memory()?
    ));
    drop(service);
    said.push(commands(&args.steelyard, &results)?);
    let more =
        || fill(&results, &Size { experiments: experiments + 1, ..HALF_A_YEAR }, experiments);
    said.push(site(args, &directory, &results, more)?);
    let mut tables = publish::table(HEAD, rows.into_iter());
    for text in said {
        tables += &format!("\n{}", report::wrapped(&format!("- {text}"), WIDTH).join("\n"));
    }
    println!("{tables}");
    match &args.document {
        Some(file) => publish::put(file, "pages", &tables),
        None => Ok(()),
    }
}

/// Pages of a kind.
struct Kind {
    name: &'static str,
    /// All of them.
    count: usize,
    /// Those that are asked for.
    paths: Vec<String>,
    takes_long: bool,
}

/// What came of asking for each of them.
#[derive(Default)]
struct Asked {
    milliseconds: Vec<f64>,
    /// Bytes of the largest, compressed.
    largest: usize,
}

impl Kind {
    fn ask(&self, service: &Service) -> Result<Asked> {
        let mut asked = Asked::default();
        for path in &self.paths {
            let (took, bytes, _) = service.get(path)?;
            asked.milliseconds.push(took);
            asked.largest = asked.largest.max(bytes);
        }
        Ok(asked)
    }
}

/// All kinds of pages.
fn kinds(service: &Service, most: usize) -> Result<Vec<Kind>> {
    let of = |path: &str| -> Result<Value> { Ok(serde_json::from_slice(&service.get(path)?.2)?) };
    let experiments = of("api/v1/experiments.json")?;
    let histories = of("api/v1/history.json")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let each = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let ids = each(&experiments["experiments"]);
    let ids = ids.iter().map(|it| format!("api/v1/experiments/{}.json", it["id"])).collect();
    let mut lines = Vec::new();
    for it in each(&histories["histories"]) {
        for order in each(&it["orders"]) {
            for metric in each(&it["metrics"]) {
                let parts = [&it["workload"], &it["machine"], &order, &metric["key"]].map(text);
                lines.push(format!("api/v1/history/{}.json", parts.join("/")));
            }
        }
    }
    let kind = |name, all: Vec<String>, takes_long| {
        let (count, apart) = (all.len(), all.len().div_ceil(most));
        Kind { name, count, paths: all.into_iter().step_by(apart).collect(), takes_long }
    };
    // A short one is asked for as often.
    let short = |name, file: &str| kind(name, vec![format!("api/v1/{file}.json"); most], false);
    Ok(vec![
        short("overview", "overview"),
        short("experiments", "experiments"),
        short("machines", "machines"),
        short("list of histories", "history"),
        kind("experiment", ids, true),
        kind("history", lines, true),
    ])
}

/// Waits until all pages that take long are there, and returns their number.
fn prepared(cache: &Path, kinds: &[Kind]) -> Result<usize> {
    let wanted = kinds.iter().filter(|kind| kind.takes_long).map(|kind| kind.count).sum();
    let begin = Instant::now();
    loop {
        let mut found = 0;
        for entry in fs::read_dir(cache.join("briefs"))? {
            let path = entry?.path();
            if path.is_dir() {
                found += fs::read_dir(path)?.count();
            }
        }
        if found >= wanted {
            return Ok(found);
        }
        ensure!(
            begin.elapsed() < LIMIT,
            "expected {wanted} pages to be prepared within an hour, found {found}; wait until \
             nothing is measured on this machine, and try again"
        );
        thread::sleep(Duration::from_secs(1));
    }
}

fn row(kind: &Kind, alone: &Asked, asked: &Asked) -> Result<Vec<String>> {
    let of = |asked: &Asked, p| judge::quantile(&asked.milliseconds, p).context("no pages");
    let p95 =
        if kind.takes_long { format!("{:.0} ms", of(alone, 0.95)?) } else { "–".to_owned() };
    Ok(vec![
        kind.name.to_owned(),
        if kind.takes_long { kind.count.to_string() } else { "1".to_owned() },
        p95,
        format!("{:.1} ms", of(asked, 0.5)?),
        format!("{:.1} ms", of(asked, 0.95)?),
        format!("{:.1} ms", of(asked, 1.0)?),
        format!("{} KiB", asked.largest.div_ceil(1024)),
    ])
}

/// How long commands take.
fn commands(program: &Path, results: &Path) -> Result<String> {
    let steelyard = Steelyard { program: program.to_owned() };
    let results = results.to_str().context("a path that is no text")?;
    let mut told = Vec::new();
    for command in ["list", "compare", "history"] {
        let mut took = Vec::new();
        for _ in 0..TIMES {
            let begin = Instant::now();
            steelyard.prints(&[command, "--results", results])?;
            took.push(begin.elapsed().as_secs_f64());
        }
        told.push(format!("`{command}` {:.2} s", judge::median(&took).unwrap_or(0.0)));
    }
    Ok(format!("Commands, the median of {TIMES}: {}.", told.join(", ")))
}

/// How long a site takes, and its renewal for another experiment.
fn site(args: &PagesArgs, directory: &Path, results: &Path, more: impl FnOnce()) -> Result<String> {
    let steelyard = Steelyard { program: args.steelyard.clone() };
    let site = directory.join("site");
    let _ = fs::remove_dir_all(&site);
    let write = || -> Result<f64> {
        let words = [results, &site].map(|path| path.display().to_string());
        let begin = Instant::now();
        steelyard.prints(&["site", "--results", &words[0], "-o", &words[1]])?;
        Ok(begin.elapsed().as_secs_f64())
    };
    let first = write()?;
    more();
    let renewed = write()?;
    let again = write()?;
    Ok(format!(
        "A site is written in {first:.0} s, renewed for one more experiment in {renewed:.1} s, and \
         checked for changes in {again:.1} s."
    ))
}
