//! One plan on several machines, through a real Slurm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};

use crate::database::Database;
use crate::place::Place;
use crate::slurm::Slurm;

/// PostgreSQL twice, in blocks of trials that load a little.
fn plan(slurm: &Slurm, rows: u32) -> String {
    let text = format!(
        "name = \"load\"\nbase = \"a\"\nblocks = 2\nsteal_limit = 1.0\n\
         settle_seconds_scale = 0.0\nconfig = {{ shared_buffers = \"16MB\" }}\n\
         [variants.a]\ndbms = \"path:/usr/lib/postgresql/15\"\n\
         [variants.b]\ndbms = \"path:/usr/lib/postgresql/15\"\n\
         [workload.insert]\nrows = {rows}\nsteps = [\"l.i0\"]\n"
    );
    let file = slurm.path().join("home/plan.toml");
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Submits it as `t` to so many machines.
fn submit(slurm: &Slurm, rows: u32, machines: &str) {
    submit_file(slurm, &plan(slurm, rows), &["--machines", machines]);
}

/// Submits a plan as `t`; what is said.
fn submit_file(slurm: &Slurm, file: &str, more: &[&str]) -> String {
    let (said, code) = slurm.run(&[&["submit", file, "--name", "t"], more].concat());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("submitted `t`: ") && said.contains("watch t --results"), "{said}");
    said
}

/// Follows `t` until all is done; what is said.
fn watch(slurm: &Slurm) -> String {
    let (said, code) = slurm.run(&["watch", "t", "--every", "1"]);
    assert_eq!(code, Some(0), "{said}\n{}", slurm.logs());
    said
}

/// That no data and no ledger entry is left on the machines.
pub fn assert_nothing_left(slurm: &Slurm) {
    let left = fs::read_dir(slurm.path().join("home/data")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no data");
    let ledger = dbms::Ledger::open(slurm.path().join("home/state")).unwrap();
    let left = ledger.records().unwrap();
    assert!(left.is_empty(), "{left:?}");
}

/// That the address has one experiment of these blocks, each of both variants, and no server runs.
fn assert_whole(slurm: &Slurm, blocks: i64) {
    let place = Place::new();
    place.steelyard(&["pull", &slurm.address()]).expect(0, &[]);
    let database = Database::of(&place.results());
    let trials = database.finished();
    let mut seen: Vec<i64> = trials.iter().map(|trial| trial.block).collect();
    seen.sort_unstable();
    let expected: Vec<i64> = (1..=blocks).flat_map(|block| [block, block]).collect();
    assert_eq!(seen, expected);
    assert_eq!(slurm.elements(), [], "nothing runs");
    assert_nothing_left(slurm);
}

#[test]
fn a_plan_runs_on_two_machines() {
    let Some(slurm) = Slurm::start(2) else { return };
    submit(&slurm, 2000, "3");
    let said = watch(&slurm);
    assert!(said.contains("t: 3 of 3 elements done\n3 elements ran on "), "{said}");
    assert!(said.contains("l.i0"), "the verdict so far: {said}");
    assert_whole(&slurm, 6);
    let (said, code) = slurm.run(&["status", "t", "--exit-code"]);
    assert_eq!(code, Some(0), "{said}");
    let (said, code) = slurm.run(&["submit", "--resume", "t"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("nothing to submit"), "{said}");
    let (said, code) = slurm.run(&["status", "other"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no submission `other`") && said.contains("there are t"), "{said}");
}

#[test]
fn killed_elements_are_run_again_and_count_once() {
    let Some(slurm) = Slurm::start(2) else { return };
    submit(&slurm, 200_000, "2");
    slurm.wait_until("both elements run", || slurm.elements().len() == 2);
    let (said, _) = slurm.run(&["status", "t"]);
    assert!(said.contains("0 of 2 elements done, 2 running"), "{said}");
    for element in slurm.elements() {
        kill(element, Signal::SIGKILL).unwrap();
    }
    let ended = || slurm.run(&["status", "t"]).0.contains("2 lost");
    slurm.wait_until("both elements are lost", ended);
    let (said, code) = slurm.run(&["status", "t", "--exit-code"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("elements 1, 2 lost; submit --resume t"), "{said}");
    assert!(
        said.contains("ended without a word; n") && said.contains("/steelyard-t-1.log"),
        "{said}"
    );
    // As before, with its logs where they were.
    let words = ["submit", "--resume", "t", "--dry-run", "--results", &slurm.address()];
    let script = slurm.command(slurm.steelyard().to_str().unwrap(), &words).stdout;
    let script = String::from_utf8(script).unwrap();
    let logs = slurm.path().join("home/steelyard-t-%a.log");
    assert!(script.contains(&format!("#SBATCH --output={}\n", logs.display())), "{script}");
    let (said, code) = slurm.run(&["submit", "--resume", "t"]);
    assert_eq!(code, Some(0), "{said}");
    watch(&slurm);
    assert_whole(&slurm, 4);
}

#[test]
fn an_element_of_a_lost_node_runs_twice_and_counts_once() {
    let Some(slurm) = Slurm::start(2) else { return };
    submit(&slurm, 400_000, "2");
    slurm.wait_until("both elements run", || slurm.elements().len() == 2);
    slurm.lose_node(2);
    watch(&slurm);
    // The lost one goes on, the other start too, and one of them is too late.
    slurm.wait_until("all starts have ended", || slurm.elements().is_empty());
    assert_whole(&slurm, 4);
}

#[test]
fn an_element_leaves_a_machine_that_is_not_fit() {
    let Some(slurm) = Slurm::start(2) else { return };
    let fit = slurm.command(slurm.steelyard().to_str().unwrap(), &["doctor", "--quick"]);
    if !fit.status.success() {
        let said = String::from_utf8_lossy(&fit.stderr);
        testing::skip(format!("this machine is not fit itself: {said}"));
        return;
    }
    slurm.lose_node(1);
    slurm.start_unfit_node(1);
    slurm.wait_until("both nodes are idle", || {
        let idle = slurm.command("sinfo", &["-h", "-t", "idle", "-o", "%D"]).stdout;
        String::from_utf8(idle).unwrap().trim() == "2"
    });
    submit_file(&slurm, &plan(&slurm, 2000), &["--machines", "2", "--strict"]);
    watch(&slurm);
    let (said, code) = slurm.run(&["status", "t"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("n1 was refused (1 start): "), "{said}");
    assert!(said.contains("open files"), "{said}");
    let hosts = said.lines().filter(|line| line.contains(" done ") && line.contains(" n2 "));
    assert_eq!(hosts.count(), 2, "{said}");
    assert_whole(&slurm, 4);
}

/// A plan of which one variant waits 50 ms at each commit, on any disk.
fn plan_with_a_slow_variant(slurm: &Slurm, blocks: u32) -> String {
    let file = plan(slurm, 2000);
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace("blocks = 2", &format!("blocks = {blocks}")).replace(
        "[variants.b]\n",
        "[variants.b]\nconfig = { fsync = \"on\", synchronous_commit = \"on\", \
         commit_delay = \"50000\", commit_siblings = \"0\" }\n",
    );
    let text = text.replace(
        "[variants.a]\n",
        "[variants.a]\nconfig = { fsync = \"off\", synchronous_commit = \"off\" }\n",
    );
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn three_machines_give_the_verdict_of_one() {
    let Some(slurm) = Slurm::start(3) else { return };
    let file = plan_with_a_slow_variant(&slurm, 2);
    submit_file(&slurm, &file, &["--machines", "3"]);
    watch(&slurm);
    assert_whole(&slurm, 6);
    let judged = |place: &Place| {
        let ended = place.steelyard(&["compare", "--format", "json"]);
        ended.expect(0, &[]);
        let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let found = &document["metrics"][0]["comparisons"][0];
        assert!(found["verdict"].is_string(), "{document:#}");
        (found["verdict"].clone(), found["blocks"].clone())
    };
    let (together, alone) = (Place::new(), Place::new());
    together.steelyard(&["pull", &slurm.address()]).expect(0, &[]);
    alone.run(&[&file, "--blocks", "6"]).expect(0, &[]);
    let [together, alone] = [together, alone].map(|place| judged(&place));
    assert_eq!(together, alone);
    assert_eq!(together, ("regression".into(), 6.into()));
}

#[test]
fn a_budget_is_spent_on_each_machine() {
    let Some(slurm) = Slurm::start(2) else { return };
    let file = plan(&slurm, 2000);
    let text = fs::read_to_string(&file).unwrap();
    let (head, _) = text.split_once("[workload.insert]").unwrap();
    let text = head.replace("blocks = 2\n", "budget = \"40s\"\n").replace(
        "[variants.b]\n",
        "[variants.b]\nconfig = { log_statement = \"all\", log_duration = \"on\" }\n",
    );
    let workload = "[workload.sysbench]\ntables = 1\nrows = 2000\nsteps = [\"point-query\"]\n";
    fs::write(&file, text + workload).unwrap();
    submit_file(&slurm, &file, &["--machines", "2"]);
    let said = watch(&slurm);
    let place = Place::new();
    place.steelyard(&["pull", &slurm.address()]).expect(0, &[]);
    let database = Database::of(&place.results());
    let sql = "SELECT CAST(count(DISTINCT block) AS TEXT) FROM trial \
               WHERE state = 'finished' AND block > 0";
    let blocks: u32 = database.texts(sql)[0].parse().unwrap();
    let sql = "SELECT CAST(blocks AS TEXT) FROM experiment";
    assert_eq!(database.texts(sql), [blocks.to_string()], "{said}");
    // A run that decides at once would end after the first blocks. A slow one has room for no more.
    let sql = "SELECT CAST(sum(ms) AS TEXT) FROM (SELECT max(ended_ms) - min(started_ms) ms \
               FROM trial WHERE state = 'finished' GROUP BY block)";
    let spent_ms: u32 = database.texts(sql)[0].parse().unwrap();
    assert!(blocks >= 4 || spent_ms > 20_000, "{said}");
    let ended = place.steelyard(&["compare", "--format", "json"]);
    ended.expect(0, &[]);
    let sql = "SELECT text FROM warning WHERE text LIKE 'the run ended%'";
    assert_eq!(database.texts(sql), [""; 0]);
}

#[test]
fn what_is_decided_early_runs_no_more_elements() {
    let Some(slurm) = Slurm::start(2) else { return };
    let file = plan_with_a_slow_variant(&slurm, 3);
    submit_file(&slurm, &file, &["--machines", "8", "--early-stop"]);
    watch(&slurm);
    let is_over = || !slurm.run(&["status", "t"]).0.contains(" running");
    slurm.wait_until("the others are canceled", is_over);
    let (said, code) = slurm.run(&["status", "t", "--exit-code"]);
    assert_eq!(code, Some(0), "{said}");
    let done = said.lines().filter(|line| line.contains(" done ")).count();
    assert!((2..8).contains(&done), "{said}");
    assert!(said.contains(&format!("{} not needed", 8 - done)), "{said}");
    assert_whole(&slurm, 3 * done as i64);
}

/// What passes on a node from the claim of an element to the start of the next.
#[test]
fn elements_follow_each_other_on_three_nodes() {
    let Some(slurm) = Slurm::start(3) else { return };
    let file = slurm.path().join("home/plan.toml");
    let text = "name = \"wait\"\nbase = \"a\"\nblocks = 1\nsteal_limit = 1.0\n\
        [variants.a]\ndbms = \"none\"\n[variants.b]\ndbms = \"none\"\n[workload.program]\n\
        [[workload.program.steps]]\nname = \"wait\"\ncommand = \"sleep 0.5\"\n";
    fs::write(&file, text).unwrap();
    let (elements, begin) = (24, Instant::now());
    submit_file(&slurm, file.to_str().unwrap(), &["--machines", "24"]);
    watch(&slurm);
    let document = |path: &Path| -> serde_json::Value {
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    let folder = slurm.path().join("shared/fleet/t");
    let claims: Vec<_> = crate::place::names(&folder.join("claims"));
    assert_eq!(claims.len(), elements);
    let mut own: Vec<f64> = Vec::new();
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    for claim in claims {
        let claim = document(&folder.join("claims").join(claim));
        let (start, done) = (&claim["started"]["at_ms"], &claim["at_ms"]);
        let (start, done) = (start.as_i64().unwrap(), done.as_i64().unwrap());
        own.push((done - start) as f64 / 1e3);
        (first, last) = (first.min(start), last.max(done));
    }
    let (all, each) = ((last - first) as f64 / 1e3, elements as f64 / 3.0);
    let own = own.iter().sum::<f64>() / elements as f64;
    let between = (all - each * own) / (each - 1.0);
    assert!(between < 60.0, "the nodes stand still: {own} {between}");
    println!(
        "{elements} elements on 3 nodes in {:.1} s: {own:.2} s each from start to claim, \
         {between:.2} s until the next starts there",
        begin.elapsed().as_secs_f64()
    );
}

#[test]
fn nothing_is_lost_while_the_storage_is_away() {
    let Some(slurm) = Slurm::start_with_versitygw(2) else { return };
    submit(&slurm, 2000, "4");
    slurm.wait_until("both elements run", || slurm.elements().len() == 2);
    let storage = slurm.storage().unwrap();
    kill(storage, Signal::SIGSTOP).unwrap();
    // Longer than a request is tried again.
    std::thread::sleep(Duration::from_secs(70));
    kill(storage, Signal::SIGCONT).unwrap();
    watch(&slurm);
    let (said, code) = slurm.run(&["status", "t", "--format", "json"]);
    assert_eq!(code, Some(0), "{said}");
    let status: serde_json::Value = serde_json::from_str(&said).unwrap();
    let elements = status[0]["status"]["elements"].as_array().unwrap();
    let starts: Vec<_> = elements.iter().map(|it| it["starts"].as_u64().unwrap()).collect();
    assert_eq!(starts, [1; 4], "{said}");
    slurm.wait_until("nothing runs", || slurm.elements().is_empty());
    assert_nothing_left(&slurm);
}

/// A program that runs steelyard with a cache for each node and one for element 0, which Slurm
/// gives no other way.
fn with_caches_of_their_own(slurm: &Slurm) -> String {
    let (file, steelyard) = (slurm.path().join("home/steelyard.sh"), slurm.steelyard());
    let text = format!(
        "#!/bin/sh\ncache=$HOME/cache-$SLURMD_NODENAME\n[ \"$SLURM_ARRAY_TASK_ID\" != 0 ] || \
         cache=$HOME/cache-0\nSTEELYARD_CACHE=$cache exec {} \"$@\"\n",
        steelyard.display()
    );
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn what_is_fetched_is_fetched_once() {
    let Some(slurm) = Slurm::start(2) else { return };
    let fetched = Place::new().steelyard(&["fetch", "postgres@14.3"]);
    fetched.expect(0, &[]);
    let bin = fetched.stdout.trim().split('\t').next_back().unwrap().to_owned();
    let (steelyard, file) = (with_caches_of_their_own(&slurm), plan(&slurm, 2000));
    let text = fs::read_to_string(&file).unwrap();
    let own = "[variants.b]\ndbms = \"path:/usr/lib/postgresql/15\"";
    fs::write(&file, text.replace(own, "[variants.b]\ndbms = \"postgres@14.3\"")).unwrap();
    let said = submit_file(&slurm, &file, &["--machines", "2", "--steelyard", &steelyard]);
    assert!(said.contains(", which obtains the systems"), "{said}");
    // Nothing can be fetched from there, so no element runs.
    let (said, code) = slurm.run(&["watch", "t", "--every", "1"]);
    assert_eq!(code, Some(1), "{said}\n{}", slurm.logs());
    assert!(said.contains("t: element 0, which obtains the programs, failed: "), "{said}");
    assert!(said.contains("postgres 14.3"), "{said}");
    let ended = || slurm.run(&["status", "t"]).0.contains("2 lost; element 0 (programs) failed");
    slurm.wait_until("the elements are canceled", ended);
    // As if it could.
    let kept = Path::new(&bin).parent().unwrap();
    let copied = slurm.command("cp", &["-r", kept.to_str().unwrap(), "cache-0"]);
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    let (said, code) = slurm.run(&["submit", "--resume", "t", "--steelyard", &steelyard]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(", which obtains the systems"), "{said}");
    watch(&slurm);
    assert_whole(&slurm, 4);
    let (said, _) = slurm.run(&["status", "t"]);
    assert!(said.contains("2 of 2 elements done\n") && !said.contains("element 0"), "{said}");
    // Each node has the same files, from the address.
    let place = Place::new();
    place.steelyard(&["pull", &slurm.address()]).expect(0, &[]);
    let sql = "SELECT build FROM variant WHERE name = 'b'";
    let [build] = <[_; 1]>::try_from(Database::of(&place.results()).texts(sql)).unwrap();
    assert!(build.contains("/builds/sent-postgres-14.3.0-"), "{build}");
    let name = kept.file_name().unwrap();
    let folder = |cache: &str| slurm.path().join("home").join(cache);
    let caches = ["cache-n1", "cache-n2"].into_iter().filter(|cache| folder(cache).exists());
    // One node may have run both.
    let sent: Vec<_> = caches
        .flat_map(|cache| {
            crate::place::names(&folder(cache)).into_iter().map(move |it| (cache, it))
        })
        .filter(|(_, name)| name.starts_with("sent-postgres-14.3.0-") && !name.ends_with(".lock"))
        .map(|(cache, name)| fs::read(folder(cache).join(name).join("bin/postgres")).unwrap())
        .collect();
    let own = fs::read(folder("cache-0").join(name).join("bin/postgres")).unwrap();
    assert!(!sent.is_empty() && sent.iter().all(|sent| *sent == own));
}

#[test]
fn kinds_of_statements_are_counted_on_two_machines() {
    if !crate::count::can_count() {
        return;
    }
    let Some(slurm) = Slurm::start(2) else { return };
    let text = "name = \"counted\"\nbase = \"a\"\n\
        [variants.a]\ndbms = \"path:/usr/lib/postgresql/15\"\n\
        [variants.b]\ndbms = \"path:/usr/lib/postgresql/15\"\n[workload.insert]\n\
        [count]\nrows = 2000\nkinds = [\"insert-100\", \"range-pdc\"]\nprotocols = [\"simple\"]\n";
    let file = slurm.path().join("home/plan.toml");
    fs::write(&file, text).unwrap();
    submit_file(&slurm, file.to_str().unwrap(), &["--count", "--machines", "2"]);
    let said = watch(&slurm);
    assert!(said.contains("insert-100") && said.contains("range-pdc"), "{said}");
    assert_nothing_left(&slurm);
    // By the submission's name, from where it is.
    let words = ["count", "-e", "t", "--results", &slurm.address(), "--format", "json"];
    let ended = Place::new().steelyard(&words);
    ended.expect(0, &[]);
    let merged: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let alone = Place::new().counted(text);
    for (kind, variant) in [("insert-100", "a"), ("insert-100", "b"), ("range-pdc", "b")] {
        let [merged, alone] = [&merged, &alone]
            .map(|document| crate::count::per_statement(document, kind, "simple", variant));
        let ratio = merged / alone;
        assert!((ratio - 1.0).abs() < 0.001, "{kind} of {variant}: {merged} and {alone}");
    }
}

#[test]
fn a_canceled_submission_leaves_nothing() {
    let Some(slurm) = Slurm::start(1) else { return };
    submit(&slurm, 2_000_000, "2");
    slurm.wait_until("an element runs", || slurm.elements().len() == 1);
    let (said, code) = slurm.run(&["cancel", "t"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("canceled `t`: 2 elements"), "{said}");
    slurm.wait_until("nothing runs", || slurm.elements().is_empty());
    let status = || slurm.run(&["status", "t"]).0;
    let ended = "0 of 2 elements done, 1 failed, 1 lost";
    slurm.wait_until("both elements have ended", || status().contains(ended));
    let said = status();
    assert!(said.contains("interrupted") && said.contains("canceled"), "{said}");
    // What the scheduler does not take is no submission.
    let file = plan(&slurm, 2000);
    let words = ["submit", &file, "--machines", "1", "--name", "u", "--partition", "none"];
    let (said, code) = slurm.run(&words);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("invalid partition"), "{said}");
    let (said, _) = slurm.run(&["status", "u"]);
    assert!(said.contains("no submission `u`"), "{said}");
    assert_nothing_left(&slurm);
}
