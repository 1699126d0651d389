//! Finished output of other people's programs as results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::place::{Ended, Place};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../foreign/tests/fixtures").join(name)
}

pub fn text(name: &str) -> String {
    fs::read_to_string(fixture(name)).unwrap()
}

/// Writes a file in a directory of the place.
pub fn file(place: &Place, name: &str, text: &str) -> String {
    let path = place.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    name.to_owned()
}

fn json(ended: &Ended) -> Value {
    ended.expect(0, &[]);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Output of pgbench as it was, but with another rate.
pub fn pgbench(rate: f64) -> String {
    text("pgbench-15-transactions.txt").replace("338.015981", &format!("{rate:.6}"))
}

#[test]
fn an_import_is_listed_as_one_and_removed_when_asked() {
    let place = Place::new();
    let output = file(&place, "x.out", &pgbench(1000.0));
    for name in ["one", "two", "two"] {
        place.steelyard(&["import", "--name", name, &output]).expect(0, &[]);
    }
    let listed = || place.steelyard(&["list"]).stdout;
    assert_eq!(listed().matches("\timport\t").count(), 3, "{}", listed());
    place.steelyard(&["rm", "one"]).expect(2, &["no terminal", "--yes"]);
    place.steelyard(&["rm", "two", "--yes"]).expect(2, &["called `two` (3, 2)"]);
    place.steelyard(&["rm", "1", "4", "--yes"]).expect(2, &["no experiment `4`"]);
    assert_eq!(listed().lines().count(), 4, "{}", listed());
    let removed = place.steelyard(&["rm", "3", "one", "--yes"]);
    removed.expect(0, &[]);
    assert_eq!(removed.stdout, "removed experiment 3 `two`\nremoved experiment 1 `one`\n");
    let list = listed();
    assert!(list.lines().count() == 2 && list.contains("\n2\ttwo\t"), "{list}");
    // The number of a removed experiment is not used again.
    place.steelyard(&["import", "--name", "four", &output]).expect(0, &[]);
    let list = listed();
    assert!(list.contains("\n4\tfour\t"), "{list}");
}

#[test]
fn experiments_are_listed_with_their_time() {
    let place = Place::new();
    place.steelyard(&["import", &file(&place, "x.out", &pgbench(1000.0))]).expect(0, &[]);
    let database = rusqlite::Connection::open(place.results().join("steelyard.db")).unwrap();
    let change = |ended: &str| {
        let sql = format!("UPDATE experiment SET created_ms = 1656432000500, ended_ms = {ended}");
        database.execute_batch(&sql).unwrap();
        place.steelyard(&["list"]).stdout
    };
    // A file says when it was written, and not how long that took.
    let list = change("1656432000500 + 5400000");
    assert!(list.ends_with("\timport\t2022-06-28T16:00:00Z\t–\n"), "{list}");
    database.execute("UPDATE variant SET dbms = 'postgres@13.7'", []).unwrap();
    let list = change("1656432000500 + 5400000");
    assert!(list.lines().next().unwrap().ends_with("\tpurpose\tstarted\ttook"), "{list}");
    assert!(list.ends_with("\trun\t2022-06-28T16:00:00Z\t1h30m\n"), "{list}");
    let list = change("NULL");
    assert!(list.ends_with("\t2022-06-28T16:00:00Z\t–\n"), "{list}");
}

#[test]
fn two_versions_in_three_blocks_are_compared() {
    let place = Place::new();
    let runs = [("pg13.7", [1000.0, 1010.0, 990.0]), ("pg14.3", [900.0, 908.0, 892.0])];
    let mut files = Vec::new();
    for (variant, rates) in runs {
        for (block, rate) in (1..).zip(rates) {
            files.push(file(&place, &format!("{variant}/run{block}.out"), &pgbench(rate)));
        }
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let pattern = ["import", "--pattern", "{variant}/run{block}.*"];
    let import = place.steelyard(&[&pattern[..], &files].concat());
    import.expect(0, &[]);
    assert_eq!(
        import.stdout,
        "experiment 1 pgbench: 1 step of pg13.7, pg14.3, measured in 6 trials (3 blocks)\n"
    );
    let compared = json(&place.steelyard(&["compare", "--format", "json"]));
    let step = &compared["steps"][0];
    assert_eq!(
        (step["name"].as_str(), step["dop"].as_u64(), step["unit"].as_str()),
        (Some("TPC-B (sort of)"), Some(4), Some("transactions"))
    );
    let text = place.steelyard(&["compare"]);
    text.expect(0, &[]);
    for part in
        ["slower than pg13.7", "imported from 6 files of pgbench", "--- relative to first result"]
    {
        assert!(text.stdout.contains(part), "`{part}` is missing in:\n{}", text.stdout);
    }
    let variance = json(&place.steelyard(&["variance", "--format", "json"]));
    let setups = variance["workloads"][0]["setups"].as_array().unwrap();
    assert_eq!(setups[0]["steps"][0]["values"], serde_json::json!([1000.0, 1010.0, 990.0]));
    let slower = json(&place.steelyard(&["compare", "--metric", "mean", "--format", "json"]));
    let latency = &slower["metrics"][0]["comparisons"][0];
    assert!((latency["base_mean"].as_f64().unwrap() - 11_834.0).abs() < 1e-6, "{latency}");
    for command in [&["history", "--by", "date"][..], &["report", "-o", "r.html"], &["list"]] {
        place.steelyard(command).expect(0, &[]);
    }
    // The first is slower now.
    let swapped = place.steelyard(&[&pattern[..], &["--base", "pg14.3"], &files].concat());
    swapped.expect(0, &[]);
    let text = place.steelyard(&["compare"]).stdout;
    assert!(text.contains("pg13.7 is 11.1% faster than pg14.3"), "{text}");
    assert!(place.steelyard(&["compare", "-e", "1", "--gate"]).code == Some(1));
}

#[test]
fn what_was_run_differently_is_not_compared_unless_asked_for() {
    let place = Place::new();
    let run =
        |name: &str, from: &str, to: &str| file(&place, name, &pgbench(1000.0).replace(from, to));
    let old = run("old.txt", "scaling factor: 1", "scaling factor: 200");
    let new = run("new.txt", "scaling factor: 1", "scaling factor: 2");
    let differs = "scaling factor of TPC-B (sort of) with 4 clients: 200 in old.txt, 2 in new.txt";
    let refused = place.steelyard(&["import", &old, &new]);
    refused.expect(2, &[differs, "--allow-different-settings"]);
    assert!(!place.results().exists(), "nothing was stored");
    place.steelyard(&["import", "--allow-different-settings", &old, &new]).expect(0, &[]);
    let compared = place.steelyard(&["compare"]);
    compared.expect(0, &[]);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&compared.stdout).contains(&words(differs)), "{}", compared.stdout);
    // Both modes of one variant are separate steps.
    let simple = run("simple.txt", "", "");
    let prepared = run("prepared.txt", "query mode: simple", "query mode: prepared");
    place.steelyard(&["import", "--variant", "a", &simple, &prepared]).expect(0, &[]);
    let compared = json(&place.steelyard(&["compare", "--format", "json"]));
    let steps = compared["steps"].as_array().unwrap();
    let modes: Vec<_> = steps.iter().map(|step| &step["labels"]["query-mode"]).collect();
    assert_eq!(modes, ["simple", "prepared"]);
    place.steelyard(&["report", "-o", "r.html"]).expect(0, &[]);
}

#[test]
fn commands_of_hyperfine_are_compared_as_variants() {
    let place = Place::new();
    let two = fixture("hyperfine-1.15-two.json").to_str().unwrap().to_owned();
    let parameters = fixture("hyperfine-1.15-parameters.json").to_str().unwrap().to_owned();
    for file in [&*two, &*parameters] {
        let import = place.steelyard(&["import", "--variant-from", "command", file]);
        import.expect(0, &[]);
        let said = "1 step of sleep 0.01, sleep 0.02, measured in 2 trials (1 block)";
        assert!(import.stdout.contains(said), "{}", import.stdout);
    }
    // The same file with its commands as steps is another experiment, also where both are pushed.
    place.steelyard(&["import", &two]).expect(0, &[]);
    let address = format!("file://{}", place.path().join("archive").display());
    place.steelyard(&["push", "1", "3", &address]).expect(0, &[]);
    let listed = place.steelyard(&["list", "--results", &address]);
    assert_eq!(listed.stdout.matches("\timport\t").count(), 2, "{}", listed.stdout);
    place.steelyard(&["rm", "--yes", "3"]).expect(0, &[]);
    let compared = json(&place.steelyard(&["compare", "--format", "json"]));
    assert_eq!(compared["steps"].as_array().unwrap().len(), 1, "{compared}");
    let brief = place.steelyard(&["compare", "--brief"]);
    brief.expect(0, &[]);
    assert!(brief.stdout.contains("\n! imported: "), "{}", brief.stdout);
    // Single values decide nothing, and one line says so.
    assert!(!brief.stdout.contains("inconclusive"), "{}", brief.stdout);
    let why = "(…) a ratio of fewer than 6 blocks, without an interval and a verdict";
    let lines = brief.stdout.lines().filter(|line| line.starts_with(why)).count();
    assert_eq!(lines, 1, "{}", brief.stdout);
    let other = file(&place, "a.txt", &pgbench(1000.0));
    let refused = place.steelyard(&["import", "--variant-from", "command", &other]);
    refused.expect(2, &["a.txt: --variant-from command is for output of hyperfine, found pgbench"]);
}

#[test]
fn real_output_of_every_program() {
    let place = Place::new();
    for (files, name, results) in [
        (&["sysbench-point-select-intervals.txt", "sysbench-rate.txt"][..], "sysbench", 2),
        (&["db_bench-7-three.txt"], "db_bench", 3),
        (&["db_bench-7-repeats-duration.txt"], "db_bench", 4),
        (&["fio-3.33-jobfile-mixed.json", "fio-3.33-fsync.json"], "fio", 3),
        (&["iibench-derived-read-write.txt"], "iibench", 2),
        (&["hyperfine-1.15-two.json"], "hyperfine", 2),
        (&["go-1.26-count-cpu.txt", "go-1.26-benchmem.txt"], "go", 15),
        (&["rocksdb-report-8.0-published.tsv"], "rocksdb-report", 6),
    ] {
        let paths: Vec<String> =
            files.iter().map(|name| fixture(name).to_str().unwrap().to_owned()).collect();
        let mut arguments = vec!["import", "--variant", "here"];
        arguments.extend(paths.iter().map(String::as_str));
        let import = place.steelyard(&arguments);
        import.expect(0, &[]);
        let words = format!(" {name}: ");
        assert!(import.stdout.contains(&words), "{}", import.stdout);
        let number = import.stdout.split(' ').nth(1).unwrap();
        let compared = json(&place.steelyard(&["compare", "-e", number, "--format", "json"]));
        let steps = compared["steps"].as_array().unwrap();
        let of = |step: &Value| step["variants"][0]["blocks"].as_u64().unwrap();
        assert_eq!(steps.iter().map(of).sum::<u64>(), results, "{compared}");
        let plural = if steps.len() == 1 { "" } else { "s" };
        let said = format!(": {} step{plural} of here, measured in ", steps.len());
        assert!(import.stdout.contains(&said), "{}", import.stdout);
        place.steelyard(&["compare"]).expect(0, &[]);
        place.steelyard(&["report", "-o", "r.html"]).expect(0, &[]);
    }
    // Times are better if they are smaller, and say so.
    let text = place.steelyard(&["compare", "-e", "hyperfine"]).stdout;
    assert!(text.contains("sleep 0.01"), "{text}");
    // Output from which its kind cannot be recognized.
    let log = file(&place, "app.log", "started\nserved 1234.5 requests per second\n");
    let unknown = place.steelyard(&["import", &log]);
    unknown.expect(2, &["app.log: expected output of a known program", "or regex:PATTERN"]);
    let regex = r"regex:served (?P<value>[\d.]+)";
    place.steelyard(&["import", "--format", regex, "--step", "serve", &log]).expect(0, &[]);
    let rows = place.steelyard(&["compare", "--format", "json"]);
    assert_eq!(json(&rows)["steps"][0]["name"], "serve");
}

#[test]
fn what_vmstat_and_iostat_saw_is_per_operation() {
    let place = Place::new();
    let paths = ["sysbench-point-select-intervals.txt", "vmstat-4.txt", "iostat-12-x.txt"]
        .map(|name| fixture(name).to_str().unwrap().to_owned());
    let files: Vec<&str> = paths.iter().map(String::as_str).collect();
    let ended = place.steelyard(&[&["import", "--variant", "a"], &files[..]].concat());
    ended.expect(0, &[]);
    assert!(ended.stdout.contains("per operation are those of vda, the only device"));
    let database = rusqlite::Connection::open(place.results().join("steelyard.db")).unwrap();
    let metric = |name: &str| -> f64 {
        let sql = "SELECT value FROM metric JOIN name ON name.id = name_id WHERE text = ?1";
        database.query_row(sql, [name], |row| row.get(0)).unwrap()
    };
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * b;
    let rate = 16_595.58;
    assert!(close(metric("o/s"), rate));
    assert!(close(metric("cs/o"), (3808.0 + 2203.0 + 1099.0) / 3.0 / rate));
    assert!(close(metric("cpu/o"), (100.0 + 101.0 + 100.0) / 3.0 / rate));
    assert!(close(metric("r/o"), 24.0 / rate) && close(metric("rKB/o"), 130.0 / rate));
    assert!(close(metric("op.p95"), 120.0));
    let seconds: i64 = database
        .query_row(
            "SELECT count(*) FROM series JOIN name ON name.id = name_id WHERE text = 'tp.op'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(seconds, 1);
    let several = [fixture("db_bench-7-three.txt").to_str().unwrap().to_owned(), paths[1].clone()];
    let ended = place.steelyard(&["import", "--variant", "a", &several[0], &several[1]]);
    ended.expect(2, &["vmstat-4.txt", "block 1 of a has 3", "output of a single test"]);
    place.steelyard(&["import", &several[1]]).expect(2, &["found only what vmstat saw"]);
}

#[test]
fn published_tables_get_ratios_and_no_verdict() {
    let place = Place::new();
    let path = |name: &str| fixture(name).to_str().unwrap().to_owned();
    let marked = place.steelyard(&["import", &path("table-marked-metrics.txt")]);
    marked.expect(0, &[]);
    let variants = "x.pg15.pk1, x.pg16.pk1, x.pg17.pk1";
    let said =
        format!("experiment 1 table: 2 steps of {variants}, measured in 3 trials (1 block)\n");
    assert_eq!(marked.stdout, said);
    let compared = place.steelyard(&["compare"]);
    compared.expect(0, &[]);
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let found = lines(&compared.stdout);
    for line in [
        "x.pg16.pk1 162415 2801",
        "x.pg16.pk1 (1.002) (1.014)",
        "x.pg17.pk1 (0.831) (0.873)",
        "x.pg17.pk1 (1.256) (0.883) (2.000) (2.636) (1.031) (0.831)",
        "1 block: too few for a verdict",
    ] {
        assert!(found.iter().any(|found| found == line), "{line} in\n{}", compared.stdout);
    }
    assert!(compared.stdout.contains("each figure is a single value"), "{}", compared.stdout);
    assert!(!compared.stdout.contains("regression"), "{}", compared.stdout);
    // Importing the output of compare gives the same results again.
    for (format, name) in [("text", "again.txt"), ("markdown", "again.md")] {
        let printed = place.steelyard(&["compare", "-e", "1", "--format", format]);
        let again = file(&place, name, &printed.stdout);
        place.steelyard(&["import", "--format", "table", &again]).expect(0, &[]);
        let latest = place.steelyard(&["compare", "--format", "json"]);
        latest.expect(0, &["`, the latest run with results; -e names another"]);
        let second = json(&latest);
        let first = json(&place.steelyard(&["compare", "-e", "1", "--format", "json"]));
        for (one, other) in
            first["steps"].as_array().unwrap().iter().zip(second["steps"].as_array().unwrap())
        {
            assert_eq!(
                one["name"].as_str().unwrap().split('.').next(),
                other["name"].as_str().unwrap().split('.').next()
            );
            assert_eq!(
                one["variants"][2]["absolute"]["o/s"],
                other["variants"][2]["absolute"]["o/s"]
            );
        }
    }
    // Without a mark, a table must be called one.
    place.steelyard(&["import", &path("table-steps.csv")]).expect(2, &["found none", "--format"]);
    let steps = ["import", "--format", "table", "--name", "steps", &path("table-steps.csv")];
    place.steelyard(&steps).expect(0, &[]);
    let found = lines(&place.steelyard(&["compare", "--rows", "steps"]).stdout);
    assert!(found.iter().any(|line| line == "qr100 12345 12400 12100"), "{found:?}");
}

#[test]
fn one_bad_file_and_nothing_is_imported() {
    let place = Place::new();
    let good = file(&place, "a.1.txt", &pgbench(1000.0));
    let whole = text("pgbench-15-select-progress.txt");
    let cut = file(&place, "b.1.txt", &whole[..whole.len() - 40]);
    let ended = place.steelyard(&["import", &good, &cut]);
    ended.expect(2, &["b.1.txt: line 18: the output of pgbench ends in the middle"]);
    let failed = file(&place, "c.1.txt", &text("pgbench-18-failed.txt"));
    let ended = place.steelyard(&["import", &good, &failed]);
    ended.expect(2, &["c.1.txt: line 12: pgbench reports a failure", "failed transactions: 1"]);
    let other = ["import", "--format", "sysbench", &good];
    place
        .steelyard(&other)
        .expect(2, &["a.1.txt: line 1: expected", "is this the output of sysbench?"]);
    let typo = place.steelyard(&["import", "--format", "pg_bench", &good]);
    typo.expect(2, &["did you mean \"pgbench\"?"]);
    place.steelyard(&["import", "missing.txt"]).expect(2, &["cannot read missing.txt"]);
    fs::create_dir(place.path().join("runs")).unwrap();
    place.steelyard(&["import", "runs"]).expect(2, &["expected a file", "runs/*"]);
    let large = file(&place, "large.json", "{\"a\":1e999}");
    let large = ["import", "--format", "json:/a", &large];
    place.steelyard(&large).expect(2, &["large.json: line 1:", "1e999", "is too large"]);

    let named = |pattern: &str| place.steelyard(&["import", "--pattern", pattern, &good]);
    named("{variant}.{block}.log").expect(2, &["a.1.txt: its name does not match"]);
    named("{variant}.{run}.txt").expect(2, &["in braces, only {variant}, {dop}, {block}, {step}"]);
    named("*.txt").expect(2, &["it names none of {variant}"]);
    named("regex:(?P<variant>").expect(2, &["is not a usable pattern"]);
    let zero = file(&place, "a.0.txt", &pgbench(1000.0));
    let ended = place.steelyard(&["import", "--pattern", "{variant}.{block}.txt", &zero]);
    ended.expect(2, &["expected a block from 1, found \"0\""]);
    let twice = ["import", "--variant", "a", "--block", "1", &good, &zero];
    place.steelyard(&twice).expect(2, &["a.0.txt, line 14: block 1 of a has the step", "twice"]);
    place.steelyard(&["import", "--dop", "8", &good]).expect(2, &["expected 8 clients", "found 4"]);
    place.steelyard(&["import", "--base", "z", &good]).expect(2, &["the base to be one of a.1"]);
    let units = fixture("fio-3.33-fsync.json").to_str().unwrap().to_owned();
    let mixed = ["import", "--variant", "a", "--step", "s", "--dop", "4", &good];
    place.steelyard(&mixed).expect(0, &[]);
    let mixed = ["import", "--pattern", "regex:(?P<step>fsync|a)", &good, &units];
    place.steelyard(&mixed).expect(0, &[]);
    let list = place.steelyard(&["list"]).stdout;
    assert_eq!(list.lines().count(), 3, "only the last two were stored:\n{list}");
}

#[test]
fn a_store_that_cannot_be_written_gets_no_part() {
    let place = Place::new();
    let good = file(&place, "a.txt", &pgbench(1000.0));
    place.steelyard(&["import", &good]).expect(0, &[]);
    let database = rusqlite::Connection::open(place.results().join("steelyard.db")).unwrap();
    // The last thing that is written fails.
    let sql = "CREATE TRIGGER no BEFORE UPDATE OF state ON experiment BEGIN SELECT raise(ABORT, 'no'); END";
    database.execute_batch(sql).unwrap();
    assert_eq!(place.steelyard(&["import", &good]).code, Some(3));
    let count = |table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        database.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!([count("experiment"), count("trial"), count("step")], [1, 1, 1]);
}

const HEADER: &str = "ops_sec\tmb_sec\tlsm_sz\tblob_sz\tc_wgb\tw_amp\tc_mbps\tc_wsecs\tc_csecs\tb_rgb\tb_wgb\tusec_op\tp50\tp99\tp99.9\tp99.99\tpmax\tuptime\tstall%\tNstall\tu_cpu\ts_cpu\trss\ttest\tdate\tversion\tjob_id\tgithash\n";
const STEPS: &str = "fillseq,readrandom,fwdrangewhilewriting,readwhilewriting,overwrite";

/// A summary as RocksDB's scripts write it, three runs one after another. `worst` is the CV over
/// the steps of the published tables; steps that aren't in them vary more. Whatever the number of
/// threads is, revrange has one.
fn summary(dop: u32, worst: f64, place: usize) -> String {
    let names = [
        "fillseq.wal_disabled.v400".to_owned(),
        "revrange.t1".to_owned(),
        format!("readrandom.t{dop}"),
        format!("overwritesome.t{dop}.s0"),
        format!("fwdrangewhilewriting.t{dop}"),
        format!("readwhilewriting.t{dop}"),
        format!("overwriteandwait.t{dop}.s0"),
    ];
    let counted = [0, 2, 4, 5, 6];
    let largest = counted[place % counted.len()];
    let mut text = String::new();
    for run in [-1.0, 1.0, 0.0] {
        text += "# ops_sec - operations per second\n";
        for (step, name) in names.iter().enumerate() {
            let cv = if ["overwritesome", "revrange"].iter().any(|other| name.starts_with(other)) {
                0.4
            } else if step == largest {
                worst
            } else {
                worst * 0.5
            };
            // Rates m - a, m and m + a have the population deviation a·√(2/3).
            let rate = 1_000_000.0 * (1.0 + run * cv * 1.5_f64.sqrt());
            // Each test has its own header, with a blank line after it.
            text += HEADER;
            text += &format!(
                "{rate:.0}\t40.1\t165GB\t0.0GB\t7.8\tNA\t396.5\t19\t18\t0\t0\t1.0\t0.5\t2\t4\t1151\t7401\t20\t31.1\t143\t0.0\t0.0\tNA\t{name}\t2022-12-24T05:11:54\t7.8.0\t\tabc1234\n\n"
            );
        }
    }
    text
}

/// The published tables of the largest CV per server and number of clients: summaries of three runs
/// each that have these CVs give the tables back to the printed digit.
#[test]
fn the_published_tables_come_out_of_summaries() {
    let published =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../validate/published/rocksdb-variance.toml");
    let published: toml::Table = fs::read_to_string(published).unwrap().parse().unwrap();
    let servers = published["server"].as_array().unwrap();
    let place = Place::new();
    let mut chosen: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut figures = 0;
    for workload in ["cached", "io_bound"] {
        let mut files = Vec::new();
        for server in servers {
            let name = server["name"].as_str().unwrap();
            let dops = server["dop"].as_array().unwrap();
            for (dop, cv) in dops.iter().zip(server[workload].as_array().unwrap()) {
                let (dop, cv) = (dop.as_integer().unwrap(), cv.as_str().unwrap());
                let summary = summary(dop as u32, cv.parse().unwrap(), files.len());
                files.push(file(&place, &format!("{workload}/{name}.dop{dop}.tsv"), &summary));
            }
            let good = server["chosen"].as_array().unwrap();
            chosen
                .insert(name.to_owned(), good.iter().filter_map(toml::Value::as_integer).collect());
        }
        let mut arguments =
            vec!["import", "--name", workload, "--pattern", "{variant}.dop{dop}.tsv"];
        arguments.extend(files.iter().map(String::as_str));
        place.steelyard(&arguments).expect(0, &[]);
    }
    let variance = ["variance", "--all", "--steps", STEPS, "--format"];
    let text = place.steelyard(&[&variance[..], &["text"]].concat());
    text.expect(0, &[]);
    let document = json(&place.steelyard(&[&variance[..], &["json"]].concat()));
    for (workload, found) in
        ["cached", "io_bound"].into_iter().zip(document["workloads"].as_array().unwrap())
    {
        for server in servers {
            let dops = server["dop"].as_array().unwrap();
            for (dop, cv) in dops.iter().zip(server[workload].as_array().unwrap()) {
                let setup = found["setups"].as_array().unwrap().iter().find(|setup| {
                    setup["variant"].as_str() == server["name"].as_str()
                        && setup["dop"].as_i64() == dop.as_integer()
                });
                let max = setup.unwrap()["max"].as_f64().unwrap();
                assert_eq!(format!("{max:.3}"), cv.as_str().unwrap(), "{server} {dop}");
                assert_eq!(setup.unwrap()["trials"], serde_json::json!([3, 3]));
                figures += 1;
            }
        }
    }
    assert_eq!(figures, 68);
    // A row of the printed table has the figures as published, in the same order.
    let row = text.stdout.lines().find(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("m5d.4xl.ht0.io2") && words.next() == Some("0.013")
    });
    let row: Vec<&str> = row.unwrap().split_whitespace().collect();
    assert_eq!(row, ["m5d.4xl.ht0.io2", "0.013", "0.028", "0.018"]);
    // The author's list, but for two setups that are good by these tables and not in it.
    chosen.insert("m5.2xl.ht0".to_owned(), vec![4]);
    chosen.insert("m5.2xl.ht1".to_owned(), vec![4]);
    chosen.retain(|_, dops| !dops.is_empty());
    let found = document["choose"].as_array().unwrap().iter().map(|one| {
        let dops = one["dop"].as_array().unwrap().iter().filter_map(Value::as_i64).collect();
        (one["setup"].as_str().unwrap().to_owned(), dops)
    });
    assert_eq!(found.collect::<BTreeMap<String, Vec<i64>>>(), chosen);
    // With all steps, the one that varies most decides.
    let all = json(&place.steelyard(&["variance", "--all", "--format", "json"]));
    let max = all["workloads"][0]["setups"][0]["max"].as_f64().unwrap();
    assert!((max - 0.4).abs() < 1e-4, "{max}");
    let wrong = place.steelyard(&["variance", "--all", "--steps", "fillseq,readrandum"]);
    wrong.expect(2, &["expected one of the steps", "found readrandum"]);
}
