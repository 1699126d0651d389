//! readrandom in the engine's process compared with db_bench's, with the same library file and
//! settings.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use dbms::rocksdb::{Database, options_text};
use drive::{Load, Reach, Target};
use plan::KvPlan;
use workload::{Dialect, Phase};

use crate::measure::{Contender, Run, in_turn, spread};
use crate::rivals::{ourselves, plain};

/// Debian's library, which its db_bench is linked with.
const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/librocksdb.so.7.8";

/// Keys, all of them in the block cache.
const KEYS: u64 = 200_000;

/// The CPU time of a get may be this part of db_bench's.
const BOUND: f64 = 1.0;

fn plan() -> KvPlan {
    let steps = ["fillseq", "readrandom"].map(str::to_owned).into();
    KvPlan { keys: KEYS, steps, ..KvPlan::default() }
}

/// The settings of the workload as db_bench's options.
fn options(directory: &Path) -> Vec<String> {
    let cache: u64 = 2 * plan().bytes();
    let mut options = vec![format!("--db={}", directory.display())];
    options.extend(
        [
            "--key_size=20",
            "--value_size=400",
            "--compression_ratio=0.5",
            "--num_levels=8",
            "--max_bytes_for_level_multiplier=8",
            "--level_compaction_dynamic_level_bytes=1",
            "--write_buffer_size=16777216",
            "--target_file_size_base=16777216",
            "--max_bytes_for_level_base=67108864",
            "--open_files=-1",
            "--max_background_jobs=2",
            "--compression_type=lz4",
            "--min_level_to_compress=2",
            "--cache_numshardbits=6",
            "--cache_high_pri_pool_ratio=0.5",
            "--block_size=8192",
            "--cache_index_and_filter_blocks=1",
            "--bloom_bits=10",
            "--format_version=5",
            "--verify_checksum=1",
            "--statistics=0",
            "--threads=1",
            // It measures response times, as for published results (its benchmark.sh).
            "--histogram=1",
        ]
        .map(str::to_owned),
    );
    options.push(format!("--num={KEYS}"));
    options.push(format!("--cache_size={cache}"));
    options
}

/// Runs both in turn, each on its own database, and prints what a get costs.
pub fn side_by_side(rounds: usize, seconds: f64) -> Result<()> {
    let directory = testing::directory();
    let [own, theirs] = ["own", "theirs"].map(|name| directory.path().join(name));
    run(Path::new(LIBRARY), &own, "fillseq", None)?;
    let fill = Command::new("db_bench")
        .args(options(&theirs))
        .args(["--benchmarks=fillseq,flush,waitforcompaction", "--disable_wal=1"])
        .output()
        .context("cannot run db_bench: install rocksdb-tools")?;
    ensure!(fill.status.success(), "db_bench: {}", String::from_utf8_lossy(&fill.stderr));
    let db_bench = |name: &str, directory: &Path| {
        let mut command = vec!["db_bench".to_owned()];
        command.extend(options(directory));
        command.extend(["--benchmarks=readrandom", "--use_existing_db=1"].map(str::to_owned));
        command.push(format!("--duration={seconds}"));
        Contender { name: name.to_owned(), command, operations: gets }
    };
    let contenders = [
        Contender {
            name: "steelyard".to_owned(),
            command: ourselves(vec![
                "get".to_owned(),
                own.display().to_string(),
                seconds.to_string(),
            ]),
            operations: plain,
        },
        db_bench("db_bench", &theirs),
        // Its reads of our database: they tell whether the reads differ, or the trees.
        db_bench("db_bench, our database", &own),
    ];
    let runs = in_turn(&contenders, rounds)?;
    let cost = |runs: &[Run]| spread(runs.iter().map(Run::cpu_per_operation));
    println!(
        "readrandom of {KEYS} keys in the cache of {LIBRARY}, one client, {rounds} rounds of \
         {seconds} s in turn\n\nµs of CPU per get             median    lowest..highest"
    );
    for (contender, runs) in contenders.iter().zip(&runs) {
        let (median, low, high) = cost(runs);
        println!("{:<30}{median:>6.3}    {low:.3}..{high:.3}", contender.name);
    }
    let pairs = runs[0].iter().zip(&runs[1]);
    let ratios = pairs.map(|(own, other)| own.cpu_per_operation() / other.cpu_per_operation());
    let (_, low, high) = spread(ratios);
    let ratio = cost(&runs[0]).0 / cost(&runs[1]).0;
    let holds = if ratio <= BOUND { "holds" } else { "MISSED" };
    println!(
        "  steelyard / db_bench        {ratio:>6.3}    ({low:.3}..{high:.3} by round)  bound {BOUND}: {holds}"
    );
    Ok(())
}

/// `readrandom : 1.9 micros/op 525000 ops/sec 5.0 seconds 2625000 operations; …` → 2625000.
fn gets(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("readrandom"))?;
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let place = words.iter().position(|word| word.starts_with("operations"))?;
    words.get(place.checked_sub(1)?)?.parse().ok()
}

/// Runs this program as a contender: it reads for this many seconds and prints the number of gets.
pub fn get(directory: PathBuf, seconds: f64) -> Result<()> {
    println!("{}", run(Path::new(LIBRARY), &directory, "readrandom", Some(seconds))?);
    Ok(())
}

/// Runs a step on a database in this process; the number of its operations.
fn run(library: &Path, directory: &Path, name: &str, seconds: Option<f64>) -> Result<u64> {
    let benchmark = workload::kv::benchmark(&plan(), Dialect::KeyValue)?;
    let options = options_text(&benchmark.config);
    let database = Database::open(library, directory, &options).map_err(|error| anyhow!(error))?;
    let database = Arc::new(database);
    let step = benchmark.phases.iter().filter_map(Phase::step).find(|step| step.key.name == name);
    let mut step = step.context("the benchmark lacks the step")?.clone();
    step.seconds = seconds;
    let reach = Reach::Sessions(engines::rocksdb::connect(Arc::clone(&database)));
    let targets = vec![Target { name: name.to_owned(), reach }];
    let load = Load::new(Arc::new(step), targets, 42);
    let running = drive::prepare(&load)?.go(Instant::now() + Duration::from_millis(1));
    while !running.wait(Duration::from_secs(10)) {}
    let outcome = running.join().into_iter().next().context("no outcome")?;
    if let Some(fatal) = outcome.fatal {
        bail!(fatal);
    }
    if seconds.is_none() {
        let settled = database.flush().and_then(|()| database.wait_for_compaction());
        settled.map_err(|error| anyhow!(error))?;
    }
    Ok(outcome.operations)
}
