//! Published tables.

use foreign::{ForeignError, Format, Test};

use crate::fixtures::text;

fn read(text: &str) -> Result<Vec<Test>, ForeignError> {
    Format::Table.read(text).map(|reading| reading.tests)
}

/// Step, variant, number of clients and value of each test.
fn figures(tests: &[Test]) -> Vec<(&str, &str, Option<u32>, f64)> {
    tests
        .iter()
        .map(|test| {
            let (name, variant) = (test.name.as_deref(), test.variant.as_deref());
            (name.unwrap_or_default(), variant.unwrap_or_default(), test.dop, test.value)
        })
        .collect()
}

fn error(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn a_row_per_variant_and_a_column_per_metric() {
    let tests = read(&text("table-marked-metrics.txt")).unwrap();
    let (update, scan) = ("update-index.range100.pk1", "scan.range100.pk1");
    let found = figures(&tests);
    assert_eq!(found.len(), 6, "relative rows are skipped: {found:?}");
    assert_eq!(found[0], (update, "x.pg15.pk1", Some(40), 162_046.0));
    assert_eq!(found[5], (scan, "x.pg17.pk1", Some(40), 2410.0));
    let metrics: Vec<(&str, f64)> =
        tests[2].metrics.iter().map(|it| (it.name.as_str(), it.value)).collect();
    let (reads, written) = ([("r/o", 0.002), ("rKB/o", 0.029)], ("wKB/o", 0.764));
    let expected = [("cpu/o", 0.000353), ("cs/o", 11.028), reads[0], reads[1], written];
    assert_eq!(metrics, expected);
    // Prose around a single table, whose columns one space separates.
    let tests = read(&text("table-marked-prose.txt")).unwrap();
    let rows = [("", "15.15", None, 34_264.0), ("", "16.11", None, 34_933.0)];
    assert_eq!(figures(&tests), [rows[0], rows[1], ("", "18.1", None, 27_404.0)]);
    // Steps and clients in columns of their own.
    let long = "step,clients,version,tps,p99\nread,4,17,100,5\nread,4,18,90,6\nwrite,8,17,10,7\n";
    let found = read(long).unwrap();
    assert_eq!(figures(&found)[2], ("write", "17", Some(8), 10.0));
    assert_eq!((&*found[0].unit, found[0].metrics.len()), ("transactions/s", 1));
}

#[test]
fn steps_in_prose_above_tables() {
    let tests = read(&text("table-marked-titles.txt")).unwrap();
    let found = figures(&tests);
    let of = |step, variant, rate| (step, variant, None, rate);
    assert_eq!(found.len(), 9, "{found:?}");
    assert_eq!(found[0], of("update-hot", "15.8", 50_210.0));
    assert_eq!(found[4], of("read-write_range=50", "16.4", 29_790.0));
    assert_eq!(found[8], of("insert", "17.2", 34_850.0));
    let step = |title: &str| {
        let tests = read(&format!("{title}\n--- absolute\no/s dbms\n5 pg16\n")).unwrap();
        tests[0].name.clone()
    };
    for (title, name) in [
        ("For l.i0:", "l.i0"),
        ("## For `scan` everything is as it was in 15.8, and as it will be", "scan"),
        ("for update-one.dop40, more CPU is used per operation (CPU/o)", "update-one"),
        ("More CPU is used by the newer versions for read-only_range=10", "read-only_range=10"),
    ] {
        assert_eq!(step(title).as_deref(), Some(name), "{title}");
    }
    for ambiguous in [
        "For update-one and update-zipf more CPU is used per operation",
        "For the scan test more CPU is used per operation than before",
        "For 18.1 more CPU is used per operation than for any other version",
        "For the write-heavy steps, in particular update-zipf, more CPU is used",
        "More CPU is used for update-zipf by the newer versions than before",
        "The step update-zipf needs more CPU per operation than before",
    ] {
        assert_eq!(step(ambiguous), None, "{ambiguous}");
    }
}

#[test]
fn markdown_without_outer_bars() {
    let steps = "version | l.i0 | l.x\n--- | ---: | :---:\npg 16 | 5 | –\npg 17 | 7 | 8\n";
    let tests = read(steps).unwrap();
    let (load, index) = (("l.i0", "pg 16", None, 5.0), ("l.x", "pg 17", None, 8.0));
    assert_eq!(figures(&tests), [load, ("l.i0", "pg 17", None, 7.0), index]);
    let metrics = "l.i0\n\ncpu/o|o/s|dbms\n-|-|-\n0.1|5|pg 16, patched\n";
    let tests = read(metrics).unwrap();
    assert_eq!(figures(&tests), [("l.i0", "pg 16, patched", None, 5.0)]);
    assert_eq!(tests[0].metrics.len(), 1);
}

#[test]
fn a_row_per_step_and_a_column_per_variant() {
    let tests = read(&text("table-steps.tsv")).unwrap();
    let found = figures(&tests);
    assert_eq!(found.len(), 8, "what is not known is left out");
    assert_eq!(found[1], ("hot-points range=100", "x.my8044.pk1", None, 45_603.0));
    let tests = read(&text("table-steps.csv")).unwrap();
    let found = figures(&tests);
    assert_eq!(found.len(), 8);
    assert_eq!(found[2], ("l.i0", "pg 18, patched", None, 119_000.0));
    assert_eq!(found[3], ("l.x", "pg 17", None, 98_000.5));
    assert_eq!(found[5], ("qr100", "pg 16", None, 12_345.0));
}

#[test]
fn a_row_per_variant_and_a_column_per_step_or_a_row_per_number_of_clients() {
    let tests = read(&text("table-versions.md")).unwrap();
    let found = figures(&tests);
    assert_eq!(found.len(), 7);
    assert_eq!(found[3], ("qp100", "pg16.11", None, 11_000.0));
    let tests = read(&text("table-clients.txt")).unwrap();
    let found = figures(&tests);
    assert_eq!(found.len(), 9);
    assert_eq!(found[5], ("point select", "18.1 io_uring", Some(16), 345_001.0));
}

#[test]
fn what_steelyard_prints() {
    let golden = |name: &str| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/golden/");
        std::fs::read_to_string(format!("{path}{name}")).unwrap()
    };
    for name in ["compare.txt", "compare.md", "steps.txt"] {
        let tests = read(&golden(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = figures(&tests);
        for expected in [("l.i0", "pg13.7", None, 120_000.0), ("qr100", "pg15.0", None, 7707.0)] {
            let times = found.iter().filter(|found| **found == expected).count();
            assert_eq!(times, 1, "{name}: {expected:?} in {found:?}");
        }
        assert_eq!(found.len(), 9, "{name}: {found:?}");
        // What its tables of throughput and of hardware say belongs together.
        let first = tests[0].metrics.iter().find(|metric| metric.name == "cs/o");
        let costs = (name != "steps.txt").then_some(5.017);
        assert_eq!(first.map(|metric| metric.value), costs, "{name}");
    }
    let sweep = read(&golden("sweep.txt")).unwrap();
    let sweep = figures(&sweep);
    assert!(sweep.contains(&("select", "patched colocated", Some(64), 1_518_988.0)), "{sweep:?}");
}

#[test]
fn tables_that_say_too_little() {
    let relative = "--- relative to first result\n0.99 0.96 1.02 hot-points\n";
    assert!(error(relative).contains("only relative figures"), "{}", error(relative));
    let corner = error("what pg16 pg17\nl.i0 5 6\n");
    assert!(corner.contains("\"what pg16 pg17\"") && corner.contains("step"), "{corner}");
    let costs = error("cpu/o cs/o dbms\n0.1 5 pg16\n");
    assert!(costs.contains("add a column o/s"), "{costs}");
    let table = "--- absolute\no/s dbms\n5 pg16\n";
    let unnamed = error(&format!("{table}\n{table}"));
    assert!(unnamed.contains("line 6") && unnamed.contains("in a line above each"), "{unnamed}");
    let named = |title: &str| format!("{title}\n{table}\n");
    assert!(read(&(named("l.i0") + &named("l.i1"))).is_ok());
    let twice = error(&(named("l.i0") + &named("l.i0").replace('5', "6")));
    assert!(twice.contains("l.i0 of pg16 is 6 here and 5 in line 4"), "{twice}");
    let typo = error("step pg16 pg17\nl.i0 5 x6\n");
    assert!(typo.contains("found \"x6\""), "{typo}");
    assert!(error("step pg16 pg17\nl.i0 5 0\n").contains("greater than 0"));
    assert!(error("It was fast.\n").contains("expected a table"));
}

#[test]
fn tables_that_were_cut() {
    let whole = text("table-marked-metrics.txt");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let until = |count: usize| error(&lines[..count].concat());
    // Without its last relative row; within a name; with fewer cells.
    assert!(until(lines.len() - 2).contains("a relative row for each"), "{}", until(16));
    let cut = error(whole.trim_end());
    assert!(cut.contains("last line has no end"), "{cut}");
    // Before any mark, a table of ratios would look like one of rates.
    let titles = text("table-marked-titles.txt");
    let first = titles.lines().take(5).map(|line| format!("{line}\n")).collect::<String>();
    assert!(error(&first).contains("only relative figures"));
    let marked = "For update-one, relative to 15.8\n--- absolute\no/s dbms\n5 pg16\n";
    assert_eq!(read(marked).unwrap().len(), 1, "a mark says more than a title");
    let short = whole.replacen("\t162415\tx.pg16.pk1", "", 1);
    assert!(error(&short).contains("as many cells as the header has columns"));
}
