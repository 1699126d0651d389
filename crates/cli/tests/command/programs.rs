//! Other people's programs as the load: pgbench, sysbench, db_bench and fio, as Debian has them.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::database::Database;
use crate::place::Place;
use crate::profile;

const PGBENCH: &str = "/usr/lib/postgresql/15/bin/pgbench";

/// True if all of these programs are here; otherwise the test is skipped.
fn have(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|name| {
        let path = |directory: &str| Path::new(directory).join(name).exists();
        !dbms::PROGRAM_PATH.split(':').any(path)
    });
    if let Some(missing) = missing {
        testing::skip(format_args!("{missing} is not installed"));
    }
    missing.is_none()
}

/// Two variants without a DBMS.
fn alone(workload: &str) -> String {
    format!(
        "name = \"alone\"\nblocks = 1\nsteal_limit = 1\n\
         [variants.a]\ndbms = \"none\"\nconfig = {{ compression = \"none\" }}\n\
         [variants.b]\ndbms = \"none\"\nconfig = {{ compression = \"lz4\" }}\n{workload}"
    )
}

/// The steps that have a result: name and figure.
fn results(database: &Database) -> Vec<String> {
    database.texts(
        "SELECT DISTINCT n.text FROM step s JOIN name n ON n.id = s.name_id \
         WHERE s.kind = 'measured' AND s.state = 'finished' ORDER BY 1",
    )
}

#[test]
fn pgbench_and_sysbench_run_on_two_versions() {
    if !have(&["sysbench", PGBENCH]) {
        return;
    }
    let place = Place::new();
    let sysbench = "sysbench oltp_point_select --db-driver=pgsql --pgsql-host={host} \
        --pgsql-port={port} --pgsql-user={user} --pgsql-db={database} --tables=1 --table-size=500";
    let file = place.plan(&format!(
        "name = \"programs\"\nblocks = 1\nsteal_limit = 1\nsettle_seconds_scale = 0\n\
         restore_after = \"init\"\n\
         [variants.old]\ndbms = \"postgres@13.7\"\n[variants.new]\ndbms = \"postgres@18.1\"\n\
         [workload.program]\ninit = \"sh -c '{PGBENCH} -i -q && {sysbench} prepare'\"\n\
         seconds = 1\n\
         [[workload.program.steps]]\nname = \"select\"\nparse = \"pgbench\"\ndop = [1, 2]\n\
         command = \"{PGBENCH} -n -S -P 1 -c {{dop}} -T {{seconds}} --random-seed={{seed}}\"\n\
         [[workload.program.steps]]\nname = \"point\"\nparse = \"sysbench\"\n\
         command = \"{sysbench} --time={{seconds}} --report-interval=1 run\"\n",
    ));
    let ended = place.run(&[&file]);
    ended.expect(0, &["select", "transactions/s", "point", "init"]);
    let database = Database::of(&place.results());
    database.assert_sound();
    assert_eq!(results(&database), ["init", "point", "select"]);
    // Their response times are metrics like any, and so are their seconds.
    let named = "SELECT DISTINCT n.text FROM metric m JOIN name n ON n.id = m.name_id ORDER BY 1";
    let metrics = database.texts(named);
    for name in ["op.mean", "op.p95", "dbms.cpu/o", "client.cpu/o"] {
        assert!(metrics.iter().any(|found| found == name), "{metrics:?}");
    }
    let series = "SELECT DISTINCT n.text FROM series r JOIN name n ON n.id = r.name_id \
                  WHERE r.grp = 'throughput'";
    assert_eq!(database.texts(series), ["tp.op"]);
    let judged = place.steelyard(&["compare", "--metric", "op.mean"]);
    judged.expect(0, &[]);
    assert!(judged.stdout.contains("op.mean"), "{}", judged.stdout);
    // Their output is kept.
    let kept = fs::read_dir(place.results().join("artifacts/programs")).unwrap().count();
    assert_eq!(kept, 2 * 4, "init is kept for the load of each variant");
    place.assert_nothing_left();
}

#[test]
fn pgbench_goes_from_server_to_server() {
    if !have(&[PGBENCH]) {
        return;
    }
    let place = Place::new();
    let file = place.plan(&format!(
        "name = \"slices\"\nblocks = 2\nsteal_limit = 1\nsettle_seconds_scale = 0\n\
         pairing = \"slices\"\n\
         [variants.old]\ndbms = \"postgres@13.7\"\n[variants.new]\ndbms = \"postgres@18.1\"\n\
         [workload.program]\ninit = \"{PGBENCH} -i -q\"\nparse = \"pgbench\"\nseconds = 3\n\
         slice_seconds = 1\ncommand = \"{PGBENCH} -n -S -T {{seconds}}\"\n",
    ));
    place.run(&[&file]).expect(0, &["pgbench", "transactions/s"]);
    let database = Database::of(&place.results());
    let rounds = database.texts(
        "SELECT CAST(m.value AS TEXT) FROM metric m JOIN name n ON n.id = m.name_id \
         WHERE n.text = 'slice.rounds'",
    );
    assert_eq!(rounds, ["3.0"; 4]);
    let judged = place.steelyard(&["compare", "--format", "json"]);
    judged.expect(0, &[]);
    let document: serde_json::Value = serde_json::from_str(&judged.stdout).unwrap();
    assert_eq!(document["steps"].as_array().unwrap().len(), 2, "init and pgbench");
    place.assert_nothing_left();
}

#[test]
fn a_server_is_profiled_while_pgbench_runs_again() {
    if !have(&[PGBENCH]) || !profile::perf() {
        return;
    }
    // A busy machine may not come to write a profile in five seconds.
    let mut notes = String::new();
    let found = [5, 60].into_iter().any(|seconds| {
        let (found, noted) = a_profile_of_pgbench(seconds);
        notes.push_str(&noted);
        found
    });
    assert!(found, "{notes}");
}

/// Profiles pgbench for this many seconds; returns true if the profile has the functions that
/// pgbench executes, and the notes about it.
fn a_profile_of_pgbench(seconds: u32) -> (bool, String) {
    let place = Place::new();
    let file = place.plan(&format!(
        "name = \"profile\"\nblocks = 1\nsteal_limit = 1\nsettle_seconds_scale = 0\n\
         profile = true\nprofile_seconds = {seconds}\n\
         [variants.old]\ndbms = \"postgres@13.7\"\n\
         [workload.program]\ninit = \"{PGBENCH} -i -q\"\nparse = \"pgbench\"\nseconds = 2\n\
         command = \"{PGBENCH} -n -S -T {{seconds}}\"\n",
    ));
    place.run(&[&file]).expect(0, &["pgbench", "transactions/s"]);
    let files = profile::files(&place.results().join("artifacts/profiles"));
    let folded: Vec<String> = files.iter().filter_map(|it| fs::read_to_string(it).ok()).collect();
    let notes = Database::of(&place.results()).notes_of("pgbench").concat();
    place.assert_nothing_left();
    (folded.iter().any(|text| text.contains("exec_simple_query")), format!("{notes} {files:?}\n"))
}

#[test]
fn db_bench_runs_without_a_dbms() {
    if !have(&["db_bench"]) {
        return;
    }
    let place = Place::new();
    let file = place.plan(&alone(
        "[workload.program]\nparse = \"db_bench\"\n\
         command = \"db_bench --db={data}/db --num=20000 --compression_type={compression} \
         --histogram=1 --benchmarks=fillseq,readrandom\"\n\
         steps = [{ name = \"fill\", test = \"fillseq\" }, { name = \"readrandom\" }]\n",
    ));
    place.run(&[&file]).expect(0, &["fill", "readrandom", "operations/s"]);
    let database = Database::of(&place.results());
    assert_eq!(results(&database), ["fill", "readrandom"]);
    // Without a DBMS, the program's own cost is counted.
    let cpu = database.texts(
        "SELECT CAST(m.value AS TEXT) FROM metric m JOIN name n ON n.id = m.name_id \
         WHERE n.text = 'dbms.cpu/o'",
    );
    assert!(cpu.len() == 4 && cpu.iter().all(|us| us.parse::<f64>().unwrap() > 0.0), "{cpu:?}");
    place.assert_nothing_left();
}

#[test]
fn what_fails_is_no_result() {
    let place = Place::new();
    for (workload, code, message) in [
        (
            "[workload.program]\ncommand = \"no-such-program\"",
            2,
            "correct its name, install it, or give its full path",
        ),
        ("[workload.program]\ncommand = \"/no/such/program\"", 2, "correct its path"),
        ("[workload.program]\ncommand = \"sh -c 'echo no luck >&2; exit 3'\"", 3, "no luck"),
        ("[workload.program]\ncommand = \"echo {prot}\"", 3, "`{prot}` stands for nothing"),
        ("[workload.program]\ncommand = \"echo 5\"\nparse = \"pgbench\"", 3, "pgbench"),
        ("[workload.insert]", 2, "needs a system that accepts"),
        ("[workload.kv]", 2, "keys and values"),
    ] {
        let ended = place.run(&[&place.plan(&alone(workload))]);
        ended.expect(code, &[]);
        assert!(ended.stderr.contains(message), "{workload}: {}", ended.stderr);
        place.assert_nothing_left();
    }
}

/// It was to be continued forever.
#[test]
fn what_no_resumption_can_mend_is_not_resumed() {
    let place = Place::new();
    let workload = "[workload.program]\ncommand = \"echo hello\"\nparse = \"json:/x\"";
    let ended = place.run(&[&place.plan(&alone(workload))]);
    ended.expect(3, &["hello", "Resuming the run can't change that"]);
    assert!(!ended.stderr.contains("--resume"), "{}", ended.stderr);
    assert!(place.steelyard(&["list"]).stdout.contains("\tfailed\t0\t"));
    place.run(&["--resume"]).expect(2, &["would fail again"]);
    let compared = place.steelyard(&["compare", "--brief"]);
    compared.expect(0, &[]);
    // Wherever lines end.
    let said = compared.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(said.matches("It printed: hello").count(), 1, "{said}");
    assert!(said.contains("1 of its trials failed; correct the plan and run it again"), "{said}");
}

#[test]
fn no_program_gets_a_password_for_another_machine() {
    let place = Place::new();
    for url in ["postgres://me:s3cret@db.example/d", "mysql://me:s3cret@db.example/d"] {
        let plan = alone("[workload.program]\ncommand = \"true\"\n");
        let ended = place.run(&[&place.plan(&plan.replacen("none", url, 1))]);
        ended.expect(2, &["variant `a`", "me@db.example", "`allow_cleartext=true`"]);
        assert!(!ended.stderr.contains("s3cret"), "{}", ended.stderr);
    }
}

#[test]
fn a_program_ends_with_the_run() {
    let place = Place::new();
    let file = place
        .plan(&alone("[workload.program]\ncommand = \"sh -c 'sleep 1000 & sleep 1000'\"\ndop = 1"));
    let mut run = place.start_run(&[&file]);
    run.wait_for("trial 1/2", "dop");
    std::thread::sleep(std::time::Duration::from_millis(700));
    run.signal(Signal::SIGINT);
    run.end().expect(3, &[]);
    place.assert_nothing_left();
}

#[test]
fn fio_measures_a_directory() {
    if !have(&["fio"]) {
        return;
    }
    let place = Place::new();
    let own = place.path().join("disk");
    fs::create_dir(&own).unwrap();
    // It takes more than a second and has no runtime.
    let job = "[own]\nsize=1m\nioengine=psync\nrw=randwrite\nbs=4k\nrate_iops=160\n";
    place.file("job.fio", job);
    let storage = "[workload.storage]\nsize = \"4MB\"\ndop = 2\nseconds = 1\niodepth = 4\n\
        steps = [\"randread.4k\", \"randwrite.4k\", \"randrw.4k\", \"job\"]\njob_file = \"job.fio\"";
    let plan = alone(storage).replacen("\"none\"", &format!("\"none@path:{}\"", own.display()), 1);
    place.run(&[&place.plan(&plan)]).expect(0, &["randread.4k", "requests/s", "job"]);
    assert_eq!(fs::read_dir(&own).unwrap().count(), 0, "its files are gone");
    fs::remove_dir(own).unwrap();
    let database = Database::of(&place.results());
    assert_eq!(results(&database), ["job", "randread.4k", "randrw.4k", "randwrite.4k"]);
    // The figures are those in fio's own output.
    let programs = place.results().join("artifacts/programs");
    let printed = fs::read_dir(programs).unwrap().map(|entry| entry.unwrap().path());
    let printed = printed.filter(|path| path.to_str().unwrap().contains(".randread.4k."));
    let mut own: Vec<String> = printed
        .map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let last = text.rsplit_once("\"read\" : {").unwrap().1;
            let iops = last.split_once("\"iops\" : ").unwrap().1.split(',').next().unwrap();
            format!("{:.3}", iops.parse::<f64>().unwrap())
        })
        .collect();
    let stored = database.texts(
        "SELECT printf('%.3f', m.value) FROM metric m JOIN name n ON n.id = m.name_id \
         JOIN step s ON s.id = m.step_id JOIN name k ON k.id = s.name_id \
         WHERE n.text = 'o/s' AND k.text = 'randread.4k' ORDER BY 1",
    );
    own.sort();
    assert_eq!(own, stored);
    let table = place.steelyard(&["compare", "--tables", "latency"]);
    table.expect(0, &[]);
    for column in ["What the programs report", "MB/s", "p999", "randread.4k"] {
        assert!(table.stdout.contains(column), "{}", table.stdout);
    }
    place.assert_nothing_left();
}

#[test]
fn fio_reads_a_device_and_never_writes_it() {
    let place = Place::new();
    let disk = place.path().join("disk");
    fs::File::create(&disk).unwrap().set_len(4 << 20).unwrap();
    let made = Command::new("losetup").args(["--find", "--show"]).arg(&disk).output();
    let device = made.ok().filter(|made| made.status.success());
    let Some(device) = device.map(|made| String::from_utf8(made.stdout).unwrap()) else {
        return testing::skip("loop devices need root and losetup");
    };
    let device = device.trim();
    let plan = |steps: &str| {
        format!(
            "name = \"device\"\nblocks = 1\nsteal_limit = 1\n\
             [variants.disk]\ndbms = \"device@path:{device}\"\n\
             [workload.storage]\ndop = 1\nseconds = 1\niodepth = 4\nsteps = [{steps}]\n"
        )
    };
    let writes = place.run(&[&place.plan(&plan("\"randread.4k\", \"seqwrite.1m\""))]);
    let read = place.run(&[&place.plan(&plan("\"randread.4k\", \"randread.1m\""))]);
    let _ = Command::new("losetup").args(["--detach", device]).status();
    writes.expect(2, &[]);
    assert!(writes.stderr.contains("a device is only read"), "{}", writes.stderr);
    read.expect(0, &["randread.4k", "randread.1m"]);
    assert!(fs::read(&disk).unwrap().iter().all(|byte| *byte == 0), "it was written");
    fs::remove_file(disk).unwrap();
    place.assert_nothing_left();
}
