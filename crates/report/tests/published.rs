//! Published figures as a test: relative tables follow from absolute ones, and ours read like the
//! originals.

use crate::common::{Lab, counter, plan, record};
use report::{Format, Section};

/// "Insert Benchmark for Postgres 12, 13, 14 and 15", June 2022, cached workload: throughput
/// relative to 13.7.
#[test]
fn relative_throughput_of_the_insert_benchmark() {
    let variants = ["13.7", "14.3", "15b1"];
    let steps = ["l.i0", "l.i1", "qr100"];
    // Absolute figures of a run that has the published quotients.
    let absolute = [
        [250_000.0, 80_000.0, 10_000.0],
        [233_500.0, 77_680.0, 9_710.0],
        [214_000.0, 75_680.0, 9_530.0],
    ];
    let lab = Lab::new(&variants, &plan(&variants, &steps, 2, &[1]), 2);
    lab.run(&steps, 2, 1, &|name, place, _| {
        record(name, absolute[place][steps.iter().position(|step| *step == name).unwrap()])
    });
    let text = lab.compare().render(Format::Text).unwrap();
    let published = "\
--- relative to first result
variant   l.i0   l.i1  qr100
14.3     0.934  0.971  0.971
15b1     0.856  0.946  0.953
";
    assert!(text.contains(published), "{text}");
}

/// IO-bound sysbench insert on Postgres 15 to 18, 2025: hardware per operation, absolute and
/// relative (two digits).
#[test]
fn hardware_per_operation() {
    let variants = ["15.15", "16.11", "17.7", "18.1"];
    let columns = ["cpu/o", "cs/o", "r/o", "rKB/o", "wKB/o", "o/s"];
    let absolute = [
        [0.000_780, 5.017, 0.407, 8.937, 24.2, 34_164.0],
        [0.000_755, 5.090, 0.409, 9.002, 24.648, 34_833.0],
        [0.000_800, 5.114, 0.418, 9.146, 24.626, 34_195.0],
        [0.000_939, 5.251, 0.477, 11.186, 31.197, 27_304.0],
    ];
    let relative = [
        [0.97, 1.01, 1.00, 1.01, 1.02, 1.02],
        [1.03, 1.02, 1.03, 1.02, 1.02, 1.00],
        [1.20, 1.05, 1.17, 1.25, 1.29, 0.80],
    ];
    let lab = Lab::new(&variants, &plan(&variants, &["l.i0"], 2, &[1]), 2);
    lab.run(&["l.i0"], 2, 1, &|name, place, _| {
        let mut step = record(name, absolute[place][5]);
        let costs = columns.iter().zip(absolute[place]).take(5);
        step.metrics.extend(costs.map(|(name, value)| ((*name).to_owned(), value)));
        step
    });
    let found = lab.compare();
    let tables: Vec<_> = found.tables.iter().filter(|t| t.section == Section::Hardware).collect();
    let [absolutes, relatives] = tables[..] else { panic!("two tables, not {}", tables.len()) };
    let place = |name: &str| absolutes.columns.iter().position(|c| c == name).unwrap() - 1;
    assert_eq!(absolutes.rows[3].cells[place("cpu/o")], "0.000939");
    assert_eq!(absolutes.rows[3].cells[place("o/s")], "27304");
    assert!(absolutes.legend.iter().any(|line| line.starts_with("cpu/o (cpupq) - ")));
    assert!(absolutes.notes[0].contains("dbms.cpu/o, client.cpu/o"), "{:?}", absolutes.notes);
    for (row, expected) in relatives.rows.iter().zip(relative) {
        for (name, expected) in columns.iter().zip(expected) {
            let found: f64 = row.cells[place(name)].parse().unwrap();
            assert!(
                (found - expected).abs() < 0.0051,
                "{} {name}: {found}, published {expected}",
                row.label
            );
        }
    }
}

/// The same report: sizes at the end of l.i1 and of the read+write steps, and pg_stat_wal at the
/// end of l.i0.
#[test]
fn sizes_and_counters() {
    const MB: u64 = 1_048_576;
    let variants = ["13.7", "14.3", "15b1"];
    let steps = ["l.i0", "l.i1", "qr1000"];
    let lab = Lab::new(&variants, &plan(&variants, &steps, 1, &[1]), 1);
    lab.run(&steps, 1, 1, &|name, place, _| {
        let mut step = record(name, 1000.0);
        let (index, rel, total) = match name {
            "l.i1" => (5308, 3069, 8378),
            "qr1000" => (8333, 3950, 12_283),
            _ => (428, 1531, 1959),
        };
        for (name, size) in [("index", index), ("rel", rel), ("total", total)] {
            let (object, name) = ("pi1".to_owned(), name.to_owned());
            step.sizes.push(store::Size { object, name, bytes: size * MB });
        }
        if place > 0 && name == "l.i0" {
            for (name, values) in [
                ("wal_records", [1_010_000_000.0, 1_020_000_000.0]),
                ("wal_fpi", [3_020_000.0, 3_010_000.0]),
                ("wal_bytes", [109_200_000_000.0, 109_500_000_000.0]),
                ("wal_buffers_full", [0.0, 0.0]),
                ("wal_sync", [103_100.0, 102_900.0]),
            ] {
                step.counters.push(counter("pg_stat_wal", "", name, values[place - 1]));
            }
        } else if place == 0 {
            step.absent.push("pg_stat_wal".to_owned());
        }
        step
    });
    let options = report::CompareOptions {
        sections: Some(vec![Section::Size, Section::Counters]),
        ..Default::default()
    };
    let text = report::compare(&lab.results(), &options).unwrap().render(Format::Text).unwrap();
    for published in [
        "variant  index   rel  total\n13.7      5308  3069   8378\n",
        "variant  index   rel  total\n13.7      8333  3950    12G\n",
        "wal_records     –    1.0B    1.0B\n",
        "wal_fpi         –    3.0M    3.0M\n",
        "wal_bytes       –  109.2B  109.5B\n",
        "wal_sync        –    103K    103K\n",
        "13.7 has no pg_stat_wal\n",
    ] {
        assert!(text.contains(published), "expected {published:?} in\n{text}");
    }
    assert!(!text.contains("wal_buffers_full"), "stood still everywhere");
}
