//! Output that is not a result.

use foreign::{ForeignError, Format};

use crate::fixtures::{format_of, text};

fn error(format: &str, text: &str) -> ForeignError {
    format.parse::<Format>().unwrap().read(text).unwrap_err()
}

fn of(name: &str) -> ForeignError {
    format_of(name).read(&text(name)).unwrap_err()
}

#[test]
fn what_the_program_calls_a_failure() {
    for (name, line, words) in [
        ("pgbench-15-aborted.txt", 2, "client 0 script 0 aborted"),
        ("pgbench-18-failed.txt", 12, "number of failed transactions: 1"),
        ("sysbench-1.1-fatal.txt", 10, "relation \"sbtest2\" does not exist"),
        ("sysbench-fatal.txt", 10, "relation \"sbtest2\" does not exist"),
        ("db_bench-7-unknown.txt", 27, "nosuchbench"),
        ("fio-3.33-error.json", 1, "No space left on device"),
        ("hyperfine-1.15-failed.json", 4, "sh -c"),
        ("go-1.26-failed.txt", 1, "BenchmarkBroken"),
    ] {
        match of(name) {
            ForeignError::Failed { line: found, said, .. } => {
                assert_eq!(found, line, "{name}");
                assert!(said.contains(words), "{name}: {said}");
            }
            other => panic!("{name}: {other}"),
        }
    }
    // fio's JSON alone says it too.
    let json = text("fio-3.33-error.json");
    let json = &json[json.find('{').unwrap()..];
    let error = error("fio", json);
    assert!(matches!(&error, ForeignError::Failed { line: 12, .. }), "{error}");
    let stopped = format!("fio: terminating on signal 2\n{}", text("fio-3.33-fsync.json"));
    assert!(matches!(Format::Fio.read(&stopped), Err(ForeignError::Failed { line: 1, .. })));
}

#[test]
fn what_cannot_be_read_names_the_remedy() {
    // Cut between two reports, so that its end is a whole report.
    let reports = text("fio-3.33-status-interval.json");
    let (whole, _) = reports.rsplit_once("\n{\n").unwrap();
    let early = error("fio", whole);
    assert!(early.to_string().contains("--time_based"), "{early}");
    for (name, words) in [
        ("fio-3.33-text.txt", "--output-format=json"),
        ("hyperfine-1.15-two.txt", "--export-json"),
        ("sysbench-checkpoint.txt", "--report-checkpoints"),
    ] {
        let error = of(name);
        assert!(matches!(error, ForeignError::Unsupported { .. }), "{name}: {error}");
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
    let older = text("sysbench-cpu.txt").replace("sysbench 1.0.20", "sysbench 0.5:  multi");
    assert!(error("sysbench", &older).to_string().contains("version 0.5"));
}

#[test]
fn output_of_another_program() {
    let go = text("go-1.26-benchmem.txt");
    for format in [
        "pgbench",
        "sysbench",
        "db_bench",
        "fio",
        "iibench",
        "hyperfine",
        "vmstat",
        "iostat",
        "rocksdb-report",
        "json:/a",
        "regex:tps = (.*)",
    ] {
        let error = error(format, &go);
        assert!(matches!(error, ForeignError::Other { line: 1, .. }), "{format}: {error}");
        assert!(error.to_string().contains("goos: linux"), "{format}: {error}");
    }
    assert!(matches!(error("go", &text("sysbench-cpu.txt")), ForeignError::Other { .. }));
    // pgbench -i loads and has no result.
    assert!(matches!(of("pgbench-15-init.txt"), ForeignError::Other { .. }));
}

#[test]
fn a_run_that_ended_early() {
    for (name, last) in [
        ("pgbench-15-select-progress.txt", "latency stddev"),
        ("pgbench-12-published.txt", "tps = 937.638183"),
        ("sysbench-point-select-intervals.txt", "    events (avg/stddev)"),
        ("sysbench-1.1-read-write.txt", "    events (avg/stddev)"),
        ("sysbench-1.1-warmup-intervals.txt", "    total number of events"),
        ("sysbench-1.1-fileio.txt", "         max:"),
        ("db_bench-7-histogram-statistics.txt", "(       1,       2 ]"),
        ("db_bench-7-repeats-duration.txt", "readrandom [AVG 2 runs]"),
        ("fio-3.33-fsync.json", "  \"jobs\""),
        ("iibench-derived-load-index.txt", "Totals"),
        ("hyperfine-1.15-two.json", "      \"exit_codes\""),
        ("go-1.26-benchmem.txt", "BenchmarkJoin"),
        ("vmstat-4.txt", " 8  0"),
        ("iostat-12-x.txt", "vda"),
    ] {
        let whole = text(name);
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let end = lines.iter().position(|line| line.starts_with(last)).unwrap() + 1;
        match format_of(name).read(&lines[..end].concat()) {
            Err(ForeignError::CutOff { line, .. }) => assert_eq!(line, end, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    // Within its last line.
    let report = text("rocksdb-report-8.0-published.tsv");
    let cut = &report[..report.len() - 30];
    assert!(matches!(error("rocksdb-report", cut), ForeignError::CutOff { line: 10, .. }));
}

#[test]
fn figures_that_are_none() {
    let report = text("rocksdb-report-8.0-published.tsv");
    for figure in ["NA", "0", "-1", "1e999", ""] {
        let error = error("rocksdb-report", &report.replacen("1480156", figure, 1));
        assert!(matches!(error, ForeignError::NotAFigure { line: 5, .. }), "{error}");
    }
    let typo = report.replacen("\t327\t", "\t327:q\t", 1);
    let found = error("rocksdb-report", &typo);
    assert!(found.to_string().contains("327:q"), "{found}");
    let none = text("sysbench-rate.txt").replace("(100.69 per sec.)", "(0.00 per sec.)");
    assert!(matches!(error("sysbench", &none), ForeignError::NotAFigure { line: 24, .. }));
    for (format, text) in [
        ("json:/a", "{\"a\": null}"),
        ("json:/a", "{\"a\": -1}"),
        ("json:/a", "{\"a\": \"inf\"}"),
        ("json:/a", "{\"a\": true}"),
        (r"regex:v=(\S+)", "v=NaN"),
        (r"regex:v=(\S*)", "v="),
    ] {
        assert!(matches!(error(format, text), ForeignError::NotAFigure { line: 1, .. }), "{text}");
    }
    let large = error("json:/a", "{\"a\":1e999}").to_string();
    assert!(large.contains("1e999") && large.contains("too large"), "{large}");
    for (format, text) in [("sysbench", ""), ("json:/a", "\n"), (r"regex:v=(\S*)", "v=")] {
        let nothing = error(format, text).to_string();
        assert!(nothing.contains("found nothing"), "{nothing}");
    }
    let nothing = error("json:/b", "{\"a\": 1}").to_string();
    assert!(nothing.contains("nothing is at /b") && nothing.contains("it has a"), "{nothing}");
    assert!(matches!(error("json:/a", "{\"a\": 1"), ForeignError::CutOff { .. }));
    let twice = error(r"regex:v=(\d)", "v=1\nv=2\n");
    assert!(matches!(twice, ForeignError::Unsupported { line: 2, .. }), "{twice}");
}
