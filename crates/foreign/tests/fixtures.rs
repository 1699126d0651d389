//! Readings of the output of real programs.

use std::path::{Path, PathBuf};

use foreign::{Format, Reading, Test};

/// The directory of the outputs.
pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// An output.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(directory().join(name)).unwrap()
}

/// The formats that have a name of their own.
pub const WORDS: [&str; 11] = [
    "pgbench",
    "sysbench",
    "db_bench",
    "fio",
    "iibench",
    "hyperfine",
    "go",
    "vmstat",
    "iostat",
    "rocksdb-report",
    "table",
];

/// The format of an output, by the beginning of its name.
pub fn format_of(name: &str) -> Format {
    WORDS.into_iter().find(|word| name.starts_with(word)).unwrap().parse().unwrap()
}

/// Names of all outputs.
pub fn names() -> Vec<String> {
    let entries = std::fs::read_dir(directory()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "README.md").collect();
    names.sort();
    names
}

/// The reading of an output.
pub fn reading(name: &str) -> Reading {
    match format_of(name).read(&text(name)) {
        Ok(reading) => reading,
        Err(error) => panic!("{name}: {error}"),
    }
}

fn only(name: &str) -> Test {
    let mut tests = reading(name).tests;
    assert_eq!(tests.len(), 1, "{name}");
    tests.remove(0)
}

fn metric(test: &Test, name: &str) -> f64 {
    let found = test.metrics.iter().find(|metric| metric.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {:?}", test.metrics)).value
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

/// A metric has this value.
#[track_caller]
pub fn assert_metric(test: &Test, name: &str, expected: f64) {
    let found = metric(test, name);
    assert!(close(found, expected), "{name}: {found}, expected {expected}");
}

#[track_caller]
fn assert_value(test: &Test, expected: f64, unit: &str) {
    assert!(close(test.value, expected), "{}, expected {expected}", test.value);
    assert_eq!(test.unit, unit);
}

#[test]
fn every_output_that_can_be_read_is_recognized_by_what_is_in_it() {
    for name in names() {
        let format = format_of(&name);
        if format.read(&text(&name)).is_ok() {
            let found = Format::detect(&text(&name)).map(|format| format.to_string());
            // A table without marks is like any text.
            let known = !name.starts_with("table-") || name.starts_with("table-marked-");
            assert_eq!(found, known.then(|| format.to_string()), "{name}");
        }
    }
}

#[test]
fn pgbench_by_time_with_progress() {
    let test = only("pgbench-15-select-progress.txt");
    assert_eq!(test.name.as_deref(), Some("select only"));
    assert_eq!((test.dop, test.operations, test.line), (Some(2), Some(52_576), 18));
    assert_value(&test, 17_018.301407, "transactions/s");
    assert!((test.seconds.unwrap() - 3.089).abs() < 0.001);
    assert_metric(&test, "mean", 117.0);
    let [first, .., last] = test.series.as_slice() else { panic!("{:?}", test.series) };
    assert_eq!((first.from, first.seconds, first.value), (0.0, 1.0, 21_662.4));
    assert_eq!((last.from, last.value, last.latency_us), (2.0, 12_436.2, Some(153.0)));
    assert!(close(last.seconds, 3.1 - 2.0));
}

#[test]
fn pgbench_of_several_versions_and_options() {
    let test = only("pgbench-15-transactions.txt");
    assert_eq!((test.dop, test.operations), (Some(4), Some(800)));
    let test = only("pgbench-15-two-scripts.txt");
    assert_value(&test, 1003.488962, "transactions/s");
    assert_metric(&test, "stddev", 3842.0);
    let test = only("pgbench-15-rate-limit.txt");
    assert_metric(&test, "skipped", 18.0);
    assert_value(&only("pgbench-15-connect.txt"), 57.929195, "transactions/s");
    assert_metric(&only("pgbench-15-retried.txt"), "retried", 2.0);
    assert_eq!(only("pgbench-15-retried.txt").name.as_deref(), Some("dl.sql"));
    let stamped = only("pgbench-16-timestamp.txt");
    assert!(stamped.series[0].from.abs() < 1e-9 && stamped.series.len() == 2);
    assert!((stamped.series[1].seconds - 1.001).abs() < 1e-6);
    assert_eq!(reading("pgbench-18-tpcb.txt").version.as_deref(), Some("18.6"));
    // Without the time for connecting.
    let test = only("pgbench-12-published.txt");
    assert_value(&test, 937.678190, "transactions/s");
    assert_eq!((test.dop, test.series.len()), (Some(50), 6));
    assert_value(&only("pgbench-11-published.txt"), 20_523.650252, "transactions/s");
}

#[test]
fn several_runs_of_pgbench_in_one_file() {
    let twice = text("pgbench-15-two-scripts.txt") + &text("pgbench-12-published.txt");
    let tests = Format::Pgbench.read(&twice).unwrap().tests;
    let counts: Vec<usize> = tests.iter().map(|test| test.series.len()).collect();
    assert_eq!(counts, [2, 6]);
}

#[test]
fn sysbench_with_intervals() {
    let test = only("sysbench-point-select-intervals.txt");
    assert_eq!((test.name.as_deref(), test.dop), (None, Some(2)));
    assert_eq!((test.operations, test.seconds), (Some(50_199), Some(3.0237)));
    assert_value(&test, 16_595.58, "transactions/s");
    assert_metric(&test, "queries/s", 16_595.58);
    assert_metric(&test, "p95", 120.0);
    assert_eq!(test.series.len(), 3);
    assert_eq!(test.series[1].value, 15_506.75);
    assert_eq!(test.series[1].latency_us, Some(130.0));
}

#[test]
fn sysbench_with_other_options_and_tests() {
    let test = only("sysbench-read-write-histogram.txt");
    assert_value(&test, 486.03, "transactions/s");
    assert_metric(&test, "p99", 20_370.0);
    assert_metric(&test, "errors", 5.0);
    let test = only("sysbench-events-no-percentile.txt");
    assert_value(&test, 508.74, "transactions/s");
    assert!(test.metrics.iter().all(|metric| !metric.name.starts_with('p')));
    assert_eq!(only("sysbench-rate.txt").series.len(), 2);
    assert_value(&only("sysbench-cpu.txt"), 792.11, "events/s");
    assert_value(&only("sysbench-memory.txt"), 1_551_738.91, "ops/s");
    assert_value(&only("sysbench-fileio.txt"), 8567.0 / 1.1172, "events/s");
}

#[test]
fn sysbench_1_1_has_other_words_for_the_same_figures() {
    // Below a command line and a number of CPUs.
    let test = only("sysbench-1.1-read-write.txt");
    assert_eq!((test.dop, test.operations, test.seconds), (Some(2), Some(1099), Some(3.0062)));
    assert_value(&test, 365.58, "transactions/s");
    assert_metric(&test, "queries/s", 7311.52);
    assert_metric(&test, "p95", 12_520.0);
    let version = reading("sysbench-1.1-read-write.txt").version;
    assert_eq!(version.as_deref(), Some("1.1.0"));
    // After a warm-up, of which nothing is shown.
    let test = only("sysbench-1.1-warmup-intervals.txt");
    assert_value(&test, 71_462.19, "transactions/s");
    assert_eq!((test.series.len(), test.series[0].from, test.series[0].value), (4, 0.0, 66_003.36));
    assert_metric(&test, "p99", 60.0);
    let test = only("sysbench-1.1-histogram-intervals.txt");
    assert_value(&test, 545.83, "transactions/s");
    assert_eq!(test.series.len(), 3);
    let test = only("sysbench-1.1-no-percentile.txt");
    assert_metric(&test, "errors", 2.0);
    assert!(test.metrics.iter().all(|metric| !metric.name.starts_with('p')));
    assert_eq!(only("sysbench-1.1-rate.txt").series.len(), 2);
    assert_value(&only("sysbench-1.1-cpu.txt"), 4500.07, "events/s");
    assert_value(&only("sysbench-1.1-memory.txt"), 6_850_454.41, "ops/s");
    assert_value(&only("sysbench-1.1-mutex.txt"), 6.8454, "events/s");
    // Its test of files counts requests and ends earlier than all others.
    let test = only("sysbench-1.1-fileio.txt");
    assert_value(&test, 43_194.15 + 28_829.35 + 2992.67, "events/s");
    assert_metric(&test, "max", 4210.0);
    // A build between releases.
    let built = text("sysbench-1.1-cpu.txt").replace("1.1.0", "1.1.0-18a9f86");
    let version = Format::Sysbench.read(&built).unwrap().version;
    assert_eq!(version.as_deref(), Some("1.1.0-18a9f86"));
}

#[test]
fn db_bench_with_several_benchmarks() {
    let tests = reading("db_bench-7-three.txt").tests;
    let values: Vec<(&str, f64)> =
        tests.iter().map(|test| (test.name.as_deref().unwrap(), test.value)).collect();
    let expected = [("fillseq", 55_750.0), ("readrandom", 222_183.0), ("readseq", 806_029.0)];
    assert_eq!(values, expected);
    assert_eq!((tests[0].operations, tests[0].seconds), (Some(40_000), Some(0.717)));
    assert_metric(&tests[0], "MB/s", 6.2);
    assert_metric(&tests[1], "found", 100.0);
}

#[test]
fn db_bench_with_histogram_repeats_and_intervals() {
    let tests = reading("db_bench-7-histogram-statistics.txt").tests;
    assert_metric(&tests[0], "p99.99", 18_000.0);
    assert_metric(&tests[1], "p50", 1.05);
    assert_metric(&tests[1], "max", 9288.0);
    // Three runs; the one that warms up and the lines of means are not among them.
    let tests = reading("db_bench-7-repeats-duration.txt").tests;
    let values: Vec<f64> = tests.iter().map(|test| test.value).collect();
    assert_eq!(values, [161_328.0, 145_476.0, 216_338.0, 104_572.0]);
    let tests = reading("db_bench-7-intervals.txt").tests;
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["overwrite", "fillsync", "compact"]);
    let one = text("db_bench-7-intervals.txt");
    let one: String = one
        .lines()
        .filter(|line| !line.starts_with("fillsync") && !line.starts_with("compact"))
        .map(|line| format!("{line}\n"))
        .collect();
    let test = Format::DbBench.read(&one).unwrap().tests.remove(0);
    assert_eq!((test.series.len(), test.series[0].value), (1, 55_866.1));
    let tests = reading("db_bench-6-derived.txt").tests;
    assert_eq!((tests[0].value, tests[0].seconds, tests.len()), (401_234.0, None, 2));
}

#[test]
fn fio_of_one_group_and_with_fsync() {
    let test = only("fio-3.33-randread-group.json");
    assert_eq!((test.name.as_deref(), test.dop), (Some("randread4k"), Some(2)));
    let json: serde_json::Value =
        serde_json::from_str(&text("fio-3.33-randread-group.json")).unwrap();
    let read = &json["jobs"][0]["read"];
    assert_value(&test, read["iops"].as_f64().unwrap(), "IOPS");
    assert_metric(&test, "MB/s", read["bw_bytes"].as_f64().unwrap() / 1e6);
    let p99 = read["clat_ns"]["percentile"]["99.000000"].as_f64().unwrap();
    assert_metric(&test, "p99", p99 / 1000.0);
    assert_eq!(test.operations, read["total_ios"].as_u64());
    assert_eq!(test.seconds, Some(read["runtime"].as_f64().unwrap() / 1000.0));
    let test = only("fio-3.33-fsync.json");
    assert_metric(&test, "fsync.p99", 14_614.528);
    assert_metric(&test, "fsync.max", 63_798.624);
}

#[test]
fn fio_with_a_report_for_each_second() {
    let test = only("fio-3.33-status-interval.json");
    let seconds: f64 = test.series.iter().map(|interval| interval.seconds).sum();
    assert!((seconds - test.seconds.unwrap()).abs() < 1e-6 && test.series.len() >= 3, "{test:?}");
    let operations: f64 = test.series.iter().map(|it| it.value * it.seconds).sum();
    assert!((operations - test.operations.unwrap() as f64).abs() < 0.5, "{operations}");
}

#[test]
fn fio_of_several_jobs_which_run_at_the_same_time() {
    let tests = reading("fio-3.33-jobfile-mixed.json").tests;
    assert_eq!(tests.len(), 2);
    assert_value(&tests[0], 46_031.809145, "IOPS");
    // Two processes, each of which reads and writes.
    let test = &tests[1];
    assert_eq!(test.dop, Some(2));
    assert_value(test, 9001.998002 + 3954.045954 + 8860.139860 + 3886.113886, "IOPS");
    assert_metric(test, "write.IOPS", 3954.045954 + 3886.113886);
    assert!(test.metrics.iter().all(|metric| !metric.name.contains("p99")));
    assert!(metric(test, "read.mean") > 0.0);
    let test = only("fio-3.33-json-plus.json");
    assert_metric(&test, "p99.9", 4751.36);
    let test = only("fio-3.33-gtod-reduce.json");
    assert!(test.value > 0.0 && test.metrics.iter().all(|metric| metric.name != "mean"));
    assert!(only("fio-3.33-eta.json").value > 7000.0);
    let warned = format!("fio: a warning\n{}", text("fio-3.33-fsync.json"));
    assert_eq!(Format::Fio.read(&warned).unwrap().tests.len(), 1);
}

#[test]
fn iibench_loads_and_reads_while_writing() {
    let tests = reading("iibench-derived-load-index.txt").tests;
    assert_value(&tests[0], 50_000.0 / 3.0, "rows/s");
    assert_eq!(tests[0].series[2].value, 17_980.0);
    assert_metric(&tests[0], "max", 41_893.0);
    assert_value(&tests[1], 0.4, "s");
    assert!(tests[1].less_is_better);
    let tests = reading("iibench-derived-read-write.txt").tests;
    assert_value(&tests[0], 100.0, "rows/s");
    assert_value(&tests[1], 4112.0, "queries/s");
    assert_metric(&tests[1], "max", 2210.0);
    // The rows that were asked for were not all inserted.
    let tests = reading("iibench-derived-older.txt").tests;
    assert_value(&tests[0], 9850.0, "rows/s");
    assert_metric(&tests[0], "retries", 1.0);
    assert_value(&tests[1], 1196.8, "queries/s");
}

#[test]
fn hyperfine_of_several_commands() {
    let tests = reading("hyperfine-1.15-two.json").tests;
    assert_eq!(tests[1].name.as_deref(), Some("sleep 0.02"));
    assert_value(&tests[1], 0.023295844333333333, "s");
    assert!(tests[1].less_is_better);
    let times: Vec<f64> = tests[1].series.iter().map(|run| run.value).collect();
    assert_eq!(times, [0.021782887, 0.026606108000000003, 0.021498538]);
    assert_metric(&tests[0], "median", 0.014623361000000001);
    assert_eq!(reading("hyperfine-1.15-parameters.json").tests.len(), 2);
    let single = only("hyperfine-1.15-single.json");
    assert_eq!((single.name.as_deref(), single.operations), (Some("named"), Some(1)));
}

#[test]
fn go_with_memory_repeats_and_notes() {
    let tests = reading("go-1.26-benchmem.txt").tests;
    let sum = &tests[0];
    assert_eq!((sum.name.as_deref(), sum.dop), (Some("BenchmarkSum/n=10"), Some(2)));
    assert_value(sum, 23.17, "ns/op");
    assert_eq!((sum.operations, sum.less_is_better), (Some(1_000_000), true));
    assert_metric(sum, "MB/s", 3453.26);
    assert_metric(&tests[2], "B/op", 8.0);
    assert_metric(&tests[2], "hits%", 12.5);
    let tests = reading("go-1.26-count-cpu.txt").tests;
    let of: Vec<f64> = tests
        .iter()
        .filter(|test| test.name.as_deref() == Some("BenchmarkSum/n=10") && test.dop == Some(1))
        .map(|test| test.value)
        .collect();
    assert_eq!(of, [63.97, 53.79]);
    assert_eq!(reading("go-1.26-verbose-log.txt").tests.len(), 2);
    let both = text("go-1.26-benchmem.txt")
        + &text("go-1.26-verbose-log.txt").replace("org/sums", "org/more");
    let names: Vec<_> = Format::Go.read(&both).unwrap().tests;
    assert_eq!(names[4].name.as_deref(), Some("example.org/more.BenchmarkLog"));
}

#[test]
fn a_figure_anywhere() {
    let read = |format: &str, text: &str| {
        format.parse::<Format>().unwrap().read(text).map(|reading| reading.tests[0].value)
    };
    let json = "a note\n{\"a\": {\"b\": [1, {\"c/d\": \"12.5\"}]},\n \"e\": 7}\ndone\n";
    assert_eq!(read("json:/e", json), Ok(7.0));
    assert_eq!(read("json:/a/b/1/c~1d", json), Ok(12.5));
    assert_eq!(read("regex:took ([0-9.]+) s", "it took 3.25 s\n"), Ok(3.25));
    let named = r"regex:(\w+)=(?P<value>[\d.]+)";
    assert_eq!(read(named, "ops=12\n"), Ok(12.0));
}

#[test]
fn vmstat_without_its_first_report() {
    for (name, reports) in
        [("vmstat-4.txt", 3), ("vmstat-4-wide-timestamps.txt", 2), ("vmstat-4-megabytes.txt", 2)]
    {
        let reading = reading(name);
        assert!(reading.tests.is_empty());
        assert!(reading.columns.iter().all(|column| column.values.len() == reports), "{name}");
    }
    let columns = reading("vmstat-4.txt").columns;
    let of = |name: &str| columns.iter().find(|column| column.name == name).unwrap();
    assert_eq!(of("cs").values, [3808.0, 2203.0, 1099.0]);
    assert!(close(of("us").mean().unwrap(), (90.0 + 94.0 + 91.0) / 3.0));
}

#[test]
fn iostat_with_times_devices_only_and_plain() {
    let columns = reading("iostat-12-x.txt").columns;
    let of = |name: &str| columns.iter().find(|column| column.name == name).unwrap();
    assert_eq!(of("vda r/s").values, [47.0, 1.0]);
    assert_eq!(of("%user").values, [93.0, 90.5]);
    assert_eq!(of("vda r_await").unit, "ms");
    let columns = reading("iostat-12-x-t-m.txt").columns;
    let of = |name: &str| columns.iter().find(|column| column.name == name).unwrap();
    assert_eq!(
        (of("vda rMB/s").values.as_slice(), &*of("vda rMB/s").unit),
        (&[1.47, 0.13][..], "MB/s")
    );
    assert_eq!(of("%system").values, [10.0, 7.04]);
    let columns = reading("iostat-12-dxyt.txt").columns;
    // Its first report is left out, not the second.
    assert_eq!((&*columns[0].name, &columns[0].values), ("vda r/s", &vec![13.0, 0.0]));
    let columns = reading("iostat-12-plain.txt").columns;
    assert!(columns.iter().any(|column| column.name == "vda tps" && column.values == [37.0]));
    assert_eq!(reading("iostat-12-xz.txt").columns[0].values, [91.0]);
}

#[test]
fn iostat_with_many_devices_and_a_blank_in_place_of_the_first_report() {
    let columns = reading("iostat-12-derived-raid.txt").columns;
    let of = |name: &str| &columns.iter().find(|column| column.name == name).unwrap().values;
    assert_eq!(of("md2 wkB/s"), &[32_000.0, 64_000.0, 48_000.0]);
    assert_eq!(of("%user"), &[60.0, 61.0, 62.0]);
    // With -z, devices without requests are left out, and did nothing.
    let all = text("iostat-12-derived-raid.txt");
    let idle = all.match_indices("md3 ").nth(1).unwrap().0;
    let end = idle + all[idle..].find('\n').unwrap() + 1;
    let busy = format!("{}{}", &all[..idle], &all[end..]);
    let columns = Format::Iostat.read(&busy).unwrap().columns;
    let of = |name: &str| &columns.iter().find(|column| column.name == name).unwrap().values;
    assert_eq!(of("md3 wkB/s"), &[160.0, 0.0, 80.0]);
    // A second run begins with an average since boot, which must not be counted.
    let twice = text("iostat-12-x.txt") + &text("iostat-12-x.txt");
    let error = Format::Iostat.read(&twice).unwrap_err().to_string();
    assert!(error.contains("a second run"), "{error}");
}
