//! The key-value steps of db_bench, for engines in their clients' process.
//!
//! fillseq writes all keys, so each read must find its key. Before a step that reads, after steps
//! that write, memory is flushed and compactions finish, so no read runs on a tree whose shape was
//! left to chance.

mod catalogue;

use std::collections::BTreeMap;

pub use catalogue::catalogue;
use plan::{KEY_BYTES, KvMode, KvPlan, kv_test};

use crate::class::{Class, Effect};
use crate::draw::{Cell, Draw, Width};
use crate::phase::{Benchmark, Phase};
use crate::request::{Expect, KeyAction, KeyValue, Scan};
use crate::step::{End, Pace, Role, Step, Stream};
use crate::{Dialect, Error};

/// New keys.
const PUT: Class = Class::new("put", "puts", "keys", Effect::Adds);
/// New values of keys.
const OVERWRITE: Class = Class::new("overwrite", "overwrites", "keys", Effect::Changes);
/// Values read, as db_bench counts them: each of a MultiGet.
const GET: Class = Class::new("get", "gets", "keys", Effect::Reads);
/// Ranges read.
const RANGE: Class = Class::new("range", "ranges", "ranges", Effect::Reads);

/// The only column family of a database.
const FAMILY: &str = "default";

/// The benchmark of `plan`.
///
/// # Errors
/// [`Error::Unfit`] if the system speaks SQL, [`Error::UnknownStep`] for a step that is not in
/// [`plan::KV_STEPS`].
pub fn benchmark(plan: &KvPlan, dialect: Dialect) -> Result<Benchmark, Error> {
    check(dialect)?;
    let mut phases = Vec::new();
    let mut written = false;
    for name in &plan.steps {
        let test = kv_test(name);
        let dops = if ends_by_work(test) { &[1][..] } else { &plan.dop };
        for dop in dops {
            let step = step(plan, name, test, *dop)?;
            if written && step.counted.effect == Effect::Reads {
                phases.push(Phase::Settle { rows: None });
                written = false;
            }
            written |= step.streams.iter().any(|stream| stream.class.effect != Effect::Reads);
            phases.push(Phase::Step(step));
        }
    }
    let tables = vec![FAMILY.to_owned()];
    Ok(Benchmark { setup: Vec::new(), teardown: Vec::new(), tables, phases, config: config(plan) })
}

/// Fails for a system that has no keys and values.
fn check(dialect: Dialect) -> Result<(), Error> {
    match dialect {
        Dialect::KeyValue => Ok(()),
        _ => Err(Error::Unfit { workload: "kv", needs: "keys and values" }),
    }
}

/// True if a step ends when its work is done.
fn ends_by_work(test: &str) -> bool {
    matches!(test, "fillseq" | "overwritesome")
}

fn step(plan: &KvPlan, name: &str, test: &str, dop: u32) -> Result<Step, Error> {
    let unknown = || Error::UnknownStep {
        workload: "kv",
        step: name.to_owned(),
        known: plan::KV_STEPS.join(", "),
    };
    let (read, writes_beside) = match test.strip_suffix("whilewriting") {
        Some("read") => ("readrandom", true),
        Some(range) => (range, true),
        None => (test, false),
    };
    let scan = |reverse| KeyAction::Scan(Scan { pairs: plan.range_pairs, reverse });
    // Where a range begins, so that it has all of its pairs.
    let last = plan.keys as i64 - i64::from(plan.range_pairs);
    let (class, action, key) = match read {
        "fillseq" => (PUT, put(plan, 1, false), Draw::Value(Cell(0))),
        "overwritesome" | "overwrite" => (OVERWRITE, put(plan, 1, true), any(0, plan.keys as i64)),
        "readrandom" => (GET, KeyAction::Get { keys: 1 }, any(0, plan.keys as i64)),
        "multireadrandom" => {
            (GET, KeyAction::Get { keys: plan.multiget_keys }, any(0, plan.keys as i64))
        }
        "fwdrange" => (RANGE, scan(false), any(0, last + 1)),
        "revrange" => (RANGE, scan(true), any(plan.keys as i64 - last - 1, plan.keys as i64)),
        _ => return Err(unknown()),
    };
    let rows = |rows| Expect::Rows { min: rows, max: rows };
    let (expect, operations) = match &action {
        KeyAction::Get { keys } => (rows(*keys), u64::from(*keys)),
        KeyAction::Scan(scan) => (rows(scan.pairs), 1),
        KeyAction::Put { .. } | KeyAction::Delete => (Expect::affected(1), 1),
    };
    let request = KeyValue { action, key, expect };
    let stream = |client| Stream {
        operations_per_round: operations,
        end: match test {
            "fillseq" => End::Rounds(plan.keys),
            "overwritesome" => End::Rounds(plan.overwritten()),
            _ => End::Time,
        },
        // The next key is the number of keys so far.
        adds_to: (test == "fillseq").then_some(Cell(0)),
        ..Stream::repeating(client, class.clone(), request.clone())
    };
    let mut streams: Vec<Stream> = (0..dop).map(stream).collect();
    streams.extend(writes_beside.then(|| writer(plan, dop)));
    let mut step = Step::new(name, dop, class.clone(), streams);
    step.cells = 1;
    let pairs = if class == RANGE { plan.range_pairs } else { 1 };
    step.bytes = Some(u64::from(pairs) * u64::from(KEY_BYTES + plan.value_bytes));
    step.seconds = (!ends_by_work(test)).then_some(f64::from(plan.seconds));
    Ok(step)
}

/// Each number from `low` to below `high` alike.
fn any(low: i64, high: i64) -> Draw {
    Draw::Uniform { low, high, width: Width::Eight }
}

fn put(plan: &KvPlan, keys: u32, logged: bool) -> KeyAction {
    let value = Draw::Text { min: plan.value_bytes, max: plan.value_bytes };
    KeyAction::Put { keys, value, logged }
}

/// The stream that writes while others read.
fn writer(plan: &KvPlan, client: u32) -> Stream {
    let bytes = f64::from(KEY_BYTES + plan.value_bytes);
    let (action, key) = (put(plan, 1, true), any(0, plan.keys as i64));
    let request = KeyValue { action, key, expect: Expect::affected(1) };
    Stream {
        role: Role::Background,
        pace: plan.write_rate.map_or(Pace::Free, |rate| Pace::Rate(rate as f64 / bytes)),
        ..Stream::repeating(client, OVERWRITE, request)
    }
}

/// The settings listed in docs/plans.md, by RocksDB's names. They include defaults of RocksDB where
/// versions differ.
fn config(plan: &KvPlan) -> BTreeMap<String, String> {
    let small = 8 << 20;
    let cache = plan.cache.unwrap_or(match plan.mode {
        KvMode::Byrx => (2 * plan.bytes()).max(64 << 20),
        KvMode::Byos | KvMode::Mmap => small,
        KvMode::Iobuf | KvMode::Iodir => (plan.bytes() / 16).max(small),
    });
    let (direct, mapped) = (plan.mode == KvMode::Iodir, plan.mode == KvMode::Mmap);
    [
        ("compaction_style", "kCompactionStyleLevel".to_owned()),
        ("compaction_pri", "kMinOverlappingRatio".to_owned()),
        ("compaction_readahead_size", "2MB".to_owned()),
        ("num_levels", "8".to_owned()),
        ("max_bytes_for_level_multiplier", "8".to_owned()),
        ("level_compaction_dynamic_level_bytes", "true".to_owned()),
        ("write_buffer_size", "16MB".to_owned()),
        ("target_file_size_base", "16MB".to_owned()),
        ("max_bytes_for_level_base", "64MB".to_owned()),
        ("max_open_files", "-1".to_owned()),
        ("max_background_jobs", plan.background_jobs.to_string()),
        // None in level 0 and the first one below it, which change most.
        ("compression_per_level", "kNoCompression:kNoCompression:kLZ4Compression".to_owned()),
        ("block_cache", format!("{{capacity={cache};num_shard_bits=6}}")),
        ("block_size", "8kB".to_owned()),
        ("cache_index_and_filter_blocks", "true".to_owned()),
        ("checksum", "kCRC32c".to_owned()),
        ("filter_policy", "bloomfilter:10:false".to_owned()),
        ("format_version", "5".to_owned()),
        ("use_direct_reads", direct.to_string()),
        ("use_direct_io_for_flush_and_compaction", direct.to_string()),
        ("allow_mmap_reads", mapped.to_string()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;

    fn made(steps: &[&str], more: KvPlan) -> Benchmark {
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        benchmark(&KvPlan { steps, ..more }, Dialect::KeyValue).unwrap()
    }

    #[test]
    fn reads_follow_a_settled_tree() {
        let plan = KvPlan { dop: vec![1, 2], ..KvPlan::default() };
        let steps = ["fillseq", "overwritesome", "readrandom", "fwdrangewhilewriting", "revrange"];
        let phase = |phase: &Phase| match phase {
            Phase::Settle { rows: None } => "settle".to_owned(),
            Phase::Step(step) => format!("{} {}", step.key.name, step.key.dop),
            other => panic!("{other:?}"),
        };
        let phases: Vec<_> = made(&steps, plan).phases.iter().map(phase).collect();
        assert_eq!(
            phases,
            [
                "fillseq 1",
                "overwritesome 1",
                "settle",
                "readrandom 1",
                "readrandom 2",
                "fwdrangewhilewriting 1",
                "settle",
                "fwdrangewhilewriting 2",
                "settle",
                "revrange 1",
                "revrange 2",
            ]
        );
    }

    #[test]
    fn every_step_is_what_its_name_says() {
        let benchmark = made(&plan::KV_STEPS, KvPlan { keys: 100, ..KvPlan::default() });
        let steps: Vec<&Step> = benchmark.phases.iter().filter_map(Phase::step).collect();
        assert_eq!(steps.len(), plan::KV_STEPS.len());
        let of = |name: &str| *steps.iter().find(|step| step.key.name == name).unwrap();
        assert_eq!(of("fillseq").streams[0].end, End::Rounds(100));
        assert_eq!(of("overwritesome").streams[0].end, End::Rounds(10));
        assert_eq!(of("multireadrandom").streams[0].operations_per_round, 10);
        let key = |step: &Step| match &step.streams[0].requests[0] {
            Request::KeyValue(operation) => operation.key.clone(),
            other => panic!("{other:?}"),
        };
        // All pairs of a range exist.
        assert_eq!(key(of("fwdrange")), any(0, 91));
        assert_eq!(key(of("revrange")), any(9, 100));
        for name in ["readwhilewriting", "fwdrangewhilewriting", "revrangewhilewriting"] {
            let [reader, writer] = &of(name).streams[..] else { panic!("{name}") };
            assert_eq!((reader.role, writer.role), (Role::Lead, Role::Background));
            assert_eq!(writer.pace, Pace::Rate(f64::from(2 << 20) / 420.0));
        }
        let logged = |name: &str| match &of(name).streams[0].requests[0] {
            Request::KeyValue(KeyValue { action: KeyAction::Put { logged, .. }, .. }) => *logged,
            other => panic!("{other:?}"),
        };
        assert_eq!((logged("fillseq"), logged("overwrite")), (false, true));
        assert!(benchmark.config.contains_key("block_cache"));
        let unfit = Error::Unfit { workload: "kv", needs: "keys and values" };
        let sql = super::benchmark(&KvPlan::default(), Dialect::postgres(15));
        assert_eq!(sql, Err(unfit));
    }
}
