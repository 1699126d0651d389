//! Readings of the reports of the scripts that come with RocksDB.

use foreign::Format;

use crate::fixtures::{assert_metric, reading, text};

#[test]
fn reports_of_the_scripts_of_rocksdb() {
    let reading = reading("rocksdb-report-8.0-published.tsv");
    assert_eq!(reading.version.as_deref(), Some("8.0.0"));
    let runs: Vec<_> = reading
        .tests
        .iter()
        .map(|test| (test.name.as_deref().unwrap(), test.dop, test.value))
        .collect();
    let threads = Some(32);
    assert_eq!(
        runs,
        [
            ("bulkload", None, 1_536_598.0),
            ("readrandom", threads, 1_480_156.0),
            ("bulkload", None, 1_546_717.0),
            ("readrandom", threads, 810_797.0),
            ("multireadrandom", threads, 817_781.0),
            ("multireadrandom", threads, 800_529.0),
        ]
    );
    let test = &reading.tests[2];
    assert_metric(test, "lsm_sz", 177.0);
    assert_metric(test, "u_cpu", 2200.0);
    assert!(test.metrics.iter().all(|metric| metric.name != "rss"), "NA is no value");
    assert_metric(&reading.tests[1], "p99.9", 696.0);
}

#[test]
fn names_of_tests_in_reports_of_several_versions() {
    let tests = reading("rocksdb-report-7.3-published.tsv").tests;
    let names: Vec<_> =
        tests.iter().map(|test| (test.name.as_deref().unwrap(), test.dop)).collect();
    assert_eq!(
        names,
        [
            ("fillseq", None),
            ("readrandom", Some(1)),
            ("overwritesome", Some(1)),
            ("fwdrangewhilewriting", Some(1)),
            ("readwhilewriting", Some(1)),
            ("overwrite", Some(1)),
        ]
    );
    assert_metric(&tests[0], "blob_sz", 0.0);
    assert_eq!(reading("rocksdb-report-6-derived.tsv").tests.len(), 2);
    let waits = text("rocksdb-report-7.3-published.tsv").replace("overwrite.", "overwriteandwait.");
    let tests = Format::RocksdbReport.read(&waits).unwrap().tests;
    assert_eq!(tests[5].name.as_deref(), Some("overwrite"));
}

#[test]
fn a_report_has_one_number_of_clients_although_one_test_has_its_own() {
    let reading = reading("rocksdb-report-7.8-derived-three-runs.tsv");
    assert_eq!(reading.dop, Some(4));
    let names: Vec<_> =
        reading.tests.iter().map(|test| (test.name.as_deref().unwrap(), test.dop)).collect();
    assert_eq!(names.len(), 3 * 8);
    assert_eq!(names[..3], [("fillseq", None), ("revrange", Some(1)), ("readrandom", Some(4))]);
    assert_eq!(names[..8], names[16..], "blank lines and headers are no tests");
    let alone = text("rocksdb-report-6-derived.tsv");
    assert_eq!(Format::RocksdbReport.read(&alone).unwrap().dop, Some(1));
}

#[test]
fn a_summary_of_several_versions_says_which_line_is_whose() {
    let name = "rocksdb-report-7.8-derived-summary.tsv";
    let tests = reading(name).tests;
    let variants: Vec<_> = tests.iter().map(|test| test.variant.as_deref().unwrap()).collect();
    assert_eq!((variants.len(), &variants[..3]), (16, &["7.7.8", "7.8.3", "7.7.8"][..]));
    assert_eq!((tests[4].value, tests[5].value), (400_000.0, 388_000.0));
    // A version without one of the tests.
    let lines: Vec<String> = text(name).lines().map(|line| format!("{line}\n")).collect();
    let less = |without: usize| {
        let kept = lines.iter().enumerate().filter(|(place, _)| *place != without);
        let text: String = kept.map(|(_, line)| line.as_str()).collect();
        Format::RocksdbReport.read(&text).unwrap_err().to_string()
    };
    assert!(less(5).contains("a line for each of the files at the top"), "{}", less(5));
    assert!(less(lines.len() - 2).contains("ends in the middle"));
    // Without the header of the second test, there are four lines below the first.
    let more = less(7);
    assert!(more.contains("each of 2 files") && more.contains("report.tsv files"), "{more}");
}

#[test]
fn setups_of_a_summary_with_equal_last_directories_have_names_of_their_own() {
    let variants = |paths: &[&str]| -> Vec<String> {
        let files: String = paths.iter().map(|path| format!("{path}/report.tsv\n")).collect();
        let rows: String = (1..=paths.len()).map(|at| format!("{at}00\t1\tfillseq\n")).collect();
        let text = format!("{files}\nops_sec\tmb_sec\ttest\n{rows}");
        let tests = Format::RocksdbReport.read(&text).unwrap().tests;
        tests.into_iter().map(|test| test.variant.unwrap()).collect()
    };
    let machines = variants(&["/runs/m5.2xl/7.8.3", "/runs/c6i.2xl/7.8.3"]);
    assert_eq!(machines, ["m5.2xl/7.8.3", "c6i.2xl/7.8.3"]);
    // As much of a path as it takes, and no more.
    let more = variants(&["/a/m5/7.7", "/a/m5/7.8", "/b/m5/7.8", "/c6i/7.8"]);
    assert_eq!(more, ["7.7", "a/m5/7.8", "b/m5/7.8", "c6i/7.8"]);
    assert_eq!(variants(&["7.8", "m5/7.8"]), ["7.8", "m5/7.8"]);
    // Runs of one setup, by their paths or by their numbers, are its blocks.
    assert_eq!(variants(&["/a/7.8", "/a/7.7", "/a/7.8"]), ["7.8", "7.7", "7.8"]);
    let runs = ["/run1/7.7", "/run1/7.8", "/run2/7.7", "/run2/7.8", "/run3/7.7", "/run3/7.8"];
    assert_eq!(variants(&runs), ["7.7", "7.8"].repeat(3));
    let both = variants(&["/m5/run1/7.8", "/c6i/run1/7.8", "/m5/run2/7.8", "/c6i/run2/7.8"]);
    assert_eq!(both, ["m5/7.8", "c6i/7.8"].repeat(2));
    // The last directory is what was compared, even if only its number differs.
    assert_eq!(variants(&["/a/run1", "/a/run2"]), ["run1", "run2"]);
}
