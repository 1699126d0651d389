//! Where the tests of imported files belong.

use std::collections::BTreeMap;

use foreign::{Format, Reading};
use lab::{Finished, ImportError, arrange};

fn go(lines: &str) -> Reading {
    Format::Go.read(&format!("{lines}PASS\n")).unwrap()
}

fn file(name: &str, reading: Reading) -> Finished {
    Finished {
        file: name.to_owned(),
        variant: Some("a".to_owned()),
        dop: None,
        block: None,
        step: None,
        written_ms: 0,
        reading,
    }
}

#[test]
fn one_name_cannot_stand_for_two_units() {
    let times = file("times", go("BenchmarkA \t 10\t 5 ns/op\n"));
    let rates = file("rates", go("BenchmarkA \t 10\t 5 MB/s\n"));
    let error = arrange(&[times, rates], None, false).unwrap_err();
    assert!(matches!(&error, ImportError::OtherUnit { line: 1, .. }), "{error}");
    assert!(error.to_string().contains("is in MB/s here, and in ns/op"), "{error}");
}

#[test]
fn one_name_cannot_be_given_to_several_tests() {
    let two = || go("BenchmarkA \t 10\t 5 ns/op\nBenchmarkB \t 10\t 5 ns/op\n");
    let named = Finished { step: Some("s".to_owned()), ..file("two", two()) };
    let error = arrange(&[named], None, false).unwrap_err();
    assert!(
        matches!(&error, ImportError::SeveralSteps { found, .. } if found.len() == 2),
        "{error}"
    );
    // Repeats of one test are no other test.
    let repeats = go("BenchmarkA \t 10\t 5 ns/op\nBenchmarkA \t 10\t 6 ns/op\n");
    let named = Finished { step: Some("s".to_owned()), ..file("repeats", repeats) };
    assert!(arrange(&[named], None, false).is_ok());
}

#[test]
fn a_given_block_has_a_step_once() {
    let repeats = || go("BenchmarkA-2 \t 10\t 5 ns/op\nBenchmarkA-2 \t 10\t 6 ns/op\n");
    let error = arrange(&[Finished { block: Some(3), ..file("repeats", repeats()) }], None, false)
        .unwrap_err();
    assert!(matches!(&error, ImportError::Twice { block: 3, line: 2, dop: 2, .. }), "{error}");
    let error = arrange(&[Finished { dop: Some(1), ..file("repeats", repeats()) }], None, false)
        .unwrap_err();
    assert!(matches!(&error, ImportError::OtherDop { wanted: 1, found: 2, .. }), "{error}");
}

/// A report as RocksDB's scripts write it: the load says nothing, revrange always has 1 client.
fn report(dop: u32, rate: f64) -> Reading {
    let header = "ops_sec\tmb_sec\ttest\n";
    let tests = ["fillseq.wal_disabled.v400", "revrange.t1", &format!("readrandom.t{dop}")];
    let rows: String = tests.iter().map(|test| format!("{rate}\t1\t{test}\n\n")).collect();
    Format::RocksdbReport.read(&format!("{header}{rows}")).unwrap()
}

#[test]
fn a_number_that_was_given_is_for_tests_that_do_not_say_theirs() {
    // One setup with 1, 2 and 4 clients, two runs each, as a pattern with {dop} and {block} reads.
    let files = [1, 2, 4].into_iter().flat_map(|dop| {
        [1, 2].map(|block| Finished {
            dop: Some(dop),
            block: Some(block),
            ..file("report.tsv", report(dop, f64::from(1000 * dop + block)))
        })
    });
    let files: Vec<Finished> = files.collect();
    let given = arrange(&files, None, false).unwrap();
    // As many without: the number of the file is that of readrandom.
    let without = files.iter().map(|file| Finished { dop: None, ..file.clone() });
    let said = arrange(&without.collect::<Vec<_>>(), None, false).unwrap();
    for arranged in [given, said] {
        let directory = tempfile::tempdir().unwrap();
        let store = store::Store::open(directory.path()).unwrap();
        let imported = arranged.store(&store, "byrx", None, "test").unwrap();
        assert_eq!((imported.trials, imported.blocks, imported.steps), (6, 2, 9));
        let steps = store.steps(imported.experiment, store::Scope::Results).unwrap();
        let of = |name: &str| {
            let of = steps.iter().filter(|step| step.key.name == name);
            let mut of: Vec<(u32, Option<String>)> =
                of.map(|step| (step.key.dop, step.key.labels.get("run-dop").cloned())).collect();
            of.sort();
            of.dedup();
            of
        };
        let own = [(1, None), (2, None), (4, None)];
        assert_eq!((of("fillseq"), of("readrandom")), (own.to_vec(), own.to_vec()));
        // Of three runs of 1, 2 and 4 clients, each of which has one with 1.
        let label = |run: u32| (1, Some(run.to_string()));
        assert_eq!(of("revrange"), [(1, None), label(2), label(4)]);
    }
    let wrong =
        arrange(&[Finished { dop: Some(8), ..file("report.tsv", report(4, 1.0)) }], None, false);
    let wrong = wrong.unwrap_err();
    assert!(matches!(wrong, ImportError::OtherDop { line: 6, wanted: 8, found: 4, .. }), "{wrong}");
}

#[test]
fn an_output_of_several_variants_names_them_unless_one_is_given() {
    let rows = "100\t1\treadrandom.t4\n90\t1\treadrandom.t4\n";
    let text = format!("/x/7.1/report.tsv\n/x/7.2/report.tsv\n\nops_sec\tmb_sec\ttest\n{rows}");
    let reading = Format::RocksdbReport.read(&text).unwrap();
    let own = Finished { variant: None, ..file("summary.tsv", reading) };
    let given = Finished { variant: Some("m5".to_owned()), ..own.clone() };
    for (file, variants, blocks, warnings) in
        [(own, &["7.1", "7.2"][..], 1, 1), (given, &["m5"][..], 2, 2)]
    {
        let directory = tempfile::tempdir().unwrap();
        let store = store::Store::open(directory.path()).unwrap();
        let imported =
            arrange(&[file], None, false).unwrap().store(&store, "x", None, "test").unwrap();
        assert_eq!(
            (imported.variants, imported.blocks),
            (variants.iter().map(|name| (*name).to_owned()).collect(), blocks)
        );
        assert_eq!(store.warnings(imported.experiment).unwrap().len(), warnings);
    }
}

/// The output of iostat: a device with its kilobytes read and written per second.
fn iostat(devices: &[(&str, f64, f64)]) -> Reading {
    let rows = devices.iter().map(|(name, read, written)| format!("{name} 1 {read} 2 {written}\n"));
    let rows: String = rows.collect();
    let report = format!("Device r/s rkB/s w/s wkB/s\n{rows}\n");
    Format::Iostat.read(&format!("{report}{report}")).unwrap()
}

/// Imports a rate of 10/s per variant with what iostat saw; KB written per operation and the notes.
fn written(seen: &[Reading], device: Option<&str>) -> Result<(Vec<f64>, String), ImportError> {
    let rate = || "regex:rate (.*)".parse::<Format>().unwrap().read("rate 10\n").unwrap();
    let mut files = Vec::new();
    for (variant, reading) in ["a", "b", "c"].iter().zip(seen) {
        let named = |name: &str, reading: Reading| Finished {
            variant: Some((*variant).to_owned()),
            ..file(name, reading)
        };
        files.extend([named("rate", rate()), named("io", reading.clone())]);
    }
    let arranged = arrange(&files, device, false)?;
    let directory = tempfile::tempdir().unwrap();
    let store = store::Store::open(directory.path()).unwrap();
    let imported = arranged.store(&store, "x", None, "test").unwrap();
    let (id, results) = (imported.experiment, store::Scope::Results);
    let values = store.step_values(id, &["wKB/o"], results).unwrap();
    Ok((values.iter().map(|row| row.values[0]).collect(), imported.notes.join("\n")))
}

#[test]
fn the_device_is_the_one_to_which_most_was_written_or_the_given() {
    // A mirror of two: below it, everything is counted again, and other file systems' writes too.
    let raid = iostat(&[("md2", 5.0, 600.0), ("md3", 0.0, 90.0), ("nvme0n1", 3.0, 700.0)]);
    let (values, notes) = written(std::slice::from_ref(&raid), None).unwrap();
    assert_eq!(values, [60.0]);
    assert!(notes.contains("those of md2, to which most was written"), "{notes}");
    assert!(notes.contains("--device chooses another of md3, nvme0n1"), "{notes}");
    let (values, notes) = written(std::slice::from_ref(&raid), Some("nvme0n1")).unwrap();
    assert_eq!(
        (values, &*notes),
        (vec![70.0], "reads and writes per operation are those of nvme0n1, as given")
    );
    let error = written(std::slice::from_ref(&raid), Some("sdb")).unwrap_err().to_string();
    assert!(error.contains("(md2, md3, nvme0n1), found sdb"), "{error}");
    // One for all files, even if it is not the first in each.
    let one = iostat(&[("sda", 0.0, 50.0), ("sdb", 0.0, 40.0)]);
    let other = iostat(&[("sda", 0.0, 10.0), ("sdb", 0.0, 500.0)]);
    assert_eq!(written(&[one, other], None).unwrap().0, [4.0, 50.0]);
    // Reads without writes but those of a log.
    let reads = iostat(&[("sda", 0.0, 20.0), ("nvme0n1", 90_000.0, 0.0)]);
    let (values, notes) = written(&[reads], None).unwrap();
    assert_eq!(values, [0.0]);
    assert!(notes.contains("those of nvme0n1, from which most was read"), "{notes}");
}

#[test]
fn what_was_seen_belongs_to_the_step_of_its_name() {
    let rate = |rate: f64| {
        let format: Format = "regex:rate (.*)".parse().unwrap();
        format.read(&format!("rate {rate}\n")).unwrap()
    };
    let seen = || iostat(&[("sda", 0.0, 100.0)]);
    let of = |step: &str, reading| Finished { step: Some(step.to_owned()), ..file(step, reading) };
    let files = [of("x", rate(10.0)), of("y", rate(20.0)), of("x", seen()), of("y", seen())];
    let directory = tempfile::tempdir().unwrap();
    let store = store::Store::open(directory.path()).unwrap();
    let imported = arrange(&files, None, false).unwrap().store(&store, "x", None, "test").unwrap();
    let (id, results) = (imported.experiment, store::Scope::Results);
    let values = store.step_values(id, &["wKB/o"], results).unwrap();
    assert_eq!(values.iter().map(|row| row.values[0]).collect::<Vec<_>>(), [10.0, 5.0]);
    let unnamed = [files[0].clone(), files[1].clone(), file("io", seen())];
    let error = arrange(&unnamed, None, false).unwrap_err().to_string();
    assert!(error.contains("{step} in --pattern"), "{error}");
}

/// A run of pgbench with a query mode, a scaling factor and a rate.
fn pgbench(mode: &str, scale: u32, rate: f64) -> Reading {
    let text = format!(
        "transaction type: <builtin: select only>\nscaling factor: {scale}\nquery mode: {mode}\n\
         number of clients: 2\nnumber of threads: 1\nduration: 10 s\n\
         tps = {rate} (without initial connection time)\n"
    );
    Format::Pgbench.read(&text).unwrap()
}

/// Imports files, allowing different settings or not: the store and what was imported.
fn stored(files: &[Finished], allowed: bool) -> (tempfile::TempDir, store::Store, lab::Imported) {
    let directory = tempfile::tempdir().unwrap();
    let store = store::Store::open(directory.path()).unwrap();
    let arranged = arrange(files, None, allowed).unwrap();
    let imported = arranged.store(&store, "x", None, "test").unwrap();
    (directory, store, imported)
}

#[test]
fn settings_within_a_variant_are_labels() {
    let of = |variant: &str, mode: &str, rate| Finished {
        variant: Some(variant.to_owned()),
        ..file(mode, pgbench(mode, 1, rate))
    };
    let files = [
        of("a", "simple", 10.0),
        of("a", "prepared", 20.0),
        of("b", "simple", 11.0),
        of("b", "prepared", 21.0),
        of("b", "prepared", 22.0),
    ];
    let (_directory, store, imported) = stored(&files, false);
    assert_eq!((imported.trials, imported.blocks, imported.steps), (3, 2, 2));
    let steps = store.steps(imported.experiment, store::Scope::Results).unwrap();
    let mut labels: Vec<_> = steps.iter().map(|step| step.key.labels.clone()).collect();
    labels.sort();
    labels.dedup();
    let mode = |mode: &str| BTreeMap::from([("query-mode".to_owned(), mode.to_owned())]);
    assert_eq!(labels, [mode("prepared"), mode("simple")]);
    // Twice in a block is still twice.
    let twice = [&files[3], &files[4]].map(|it| Finished { block: Some(1), ..it.clone() });
    let error = arrange(&twice, None, false).unwrap_err();
    assert!(matches!(error, ImportError::Twice { block: 1, .. }), "{error}");
}

#[test]
fn settings_that_differ_between_variants_are_refused_or_a_warning() {
    let of = |name: &str, scale| Finished {
        variant: Some(name.to_owned()),
        ..file(name, pgbench("simple", scale, 10.0))
    };
    let files = [of("old", 200), of("new", 2)];
    let error = arrange(&files, None, false).unwrap_err();
    assert!(error.is_request());
    let error = error.to_string();
    let differs = "scaling factor of select only with 2 clients: 200 in old, 2 in new";
    for part in [differs, "--allow-different-settings"] {
        assert!(error.contains(part), "{error}");
    }
    for same in ["query mode", "duration", "threads"] {
        assert!(!error.contains(same), "{error}");
    }
    let (_directory, store, imported) = stored(&files, true);
    assert_eq!((imported.trials, imported.steps), (2, 1));
    let steps = store.steps(imported.experiment, store::Scope::Results).unwrap();
    assert!(steps.iter().all(|step| step.key.labels.is_empty()));
    let warnings = store.warnings(imported.experiment).unwrap();
    let warned = warnings.iter().filter(|it| it.warning.code == "settings-differ");
    let texts: Vec<&str> = warned.map(|it| it.warning.text.as_str()).collect();
    assert_eq!(texts, [differs]);
}

#[test]
fn other_programs_are_not_compared_without_a_word() {
    let of = |name: &str, step: Option<&str>, reading| Finished {
        variant: Some(name.to_owned()),
        step: step.map(str::to_owned),
        ..file(name, reading)
    };
    let db_bench = "readrandom : 2.0 micros/op 500000 ops/sec 2.0 seconds 1000000 operations;\n";
    let db_bench = || Format::DbBench.read(db_bench).unwrap();
    let figure = || Format::Json("/x".to_owned()).read("{\"x\": 5}").unwrap();
    // One step of both.
    let same = [of("a", Some("s"), figure()), of("b", Some("s"), db_bench())];
    let units = [same[0].reading.tests[0].unit.clone(), same[1].reading.tests[0].unit.clone()];
    let error = arrange(&same, None, false).unwrap_err().to_string();
    assert!(
        error.contains("program of s with 1 client: json in a, db_bench in b"),
        "{error} {units:?}"
    );
    // Steps of their own.
    let (_directory, store, imported) =
        stored(&[of("a", None, figure()), of("b", None, db_bench())], false);
    let said = "the files are of different programs (json in a, db_bench in b)";
    assert!(imported.notes.iter().any(|it| it.contains(said)), "{imported:?}");
    let warnings = store.warnings(imported.experiment).unwrap();
    assert!(warnings.iter().any(|it| it.warning.code == "programs-differ"), "{warnings:?}");
    let text = |it: &store::StoredWarning| it.warning.text.contains("2 files of json and db_bench");
    assert!(warnings.iter().any(text), "{warnings:?}");
}

#[test]
fn experiments_with_other_settings_are_of_another_workload() {
    let plan = |scale| {
        let (_directory, store, imported) =
            stored(&[file("x", pgbench("simple", scale, 10.0))], false);
        let experiments = store.all_experiments().unwrap();
        assert_eq!(experiments[0].id, imported.experiment);
        experiments[0].plan.clone()
    };
    assert_eq!(plan(1), plan(1));
    assert_ne!(plan(1), plan(2));
    assert!(plan(2).contains("scaling factor \"2\""), "{}", plan(2));
}
