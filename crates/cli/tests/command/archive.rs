//! One experiment as a file, and experiments in object storage: what comes back is the same, and
//! what went wrong leaves nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use store::{ExperimentId, NewExperiment, NewTrial, NewVariant, Purpose, StepRecord, Store};

use crate::moto::{Moto, SECRET};
use crate::place::{Ended, Place, names};
use crate::plans::{BOTH, plan};

const BUCKET: &str = "s3://bucket/some/prefix";

/// Adds an experiment of two variants and three blocks, as a run stores it, with a log of so many
/// bytes that don't compress.
pub fn add(results: &Path, name: &str, created_ms: i64, log: usize) -> ExperimentId {
    let store = Store::open(results).unwrap();
    let experiment = store
        .begin_experiment(&NewExperiment {
            purpose: Purpose::Run,
            name: name.to_owned(),
            workload: "insert".to_owned(),
            base: "pg13.7".to_owned(),
            seed: 7,
            blocks: 3,
            margin: 0.02,
            plan: plan(BOTH, "blocks = 3", "steps = [\"l.i0\"]"),
            steelyard: "0.1.0".to_owned(),
            created_ms,
        })
        .unwrap();
    for (place, (name, dbms)) in (0..).zip(BOTH) {
        let new = NewVariant {
            name: (*name).to_owned(),
            dbms: (*dbms).to_owned(),
            source: "archive".to_owned(),
            version: name.trim_start_matches("pg").to_owned(),
            build: BTreeMap::new(),
            config: BTreeMap::new(),
        };
        let variant = store.add_variant(experiment, &new).unwrap();
        for block in 1..=3 {
            let started_ms = created_ms + i64::from(block);
            let new = NewTrial { experiment, variant, block, position: 1, sequence: 1, started_ms };
            let trial = store.begin_trial(&new).unwrap();
            let mut step = StepRecord::new(0, "l.i0", 1);
            step.seconds = 2.5;
            step.operations = 1000;
            step.measure.unit = "rows".to_owned();
            let rate = 400.0 + f64::from(block) - 50.0 * f64::from(place);
            step.metrics.push(("o/s".to_owned(), rate));
            step.metrics.push(("cpu/o".to_owned(), 1e6 / rate));
            store.record_step(trial, &step).unwrap();
            store.finish_trial(trial).unwrap();
            let logs = store.artifacts().join("logs");
            fs::create_dir_all(&logs).unwrap();
            let log = if (place, block) == (0, 1) { testing::noise(log) } else { Vec::new() };
            fs::write(logs.join(format!("{name}.b{block}.dop1.t{trial}.log")), log).unwrap();
        }
    }
    store.finish_experiment(experiment).unwrap();
    experiment
}

/// A command of steelyard with its own cache.
pub fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("STEELYARD_CACHE", place.path().join("cache"));
    for name in ["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"] {
        command.env_remove(name);
    }
    command.env("HOME", place.path());
    command
}

/// Runs a command with the server's address and credentials. The secret is never in what it prints.
fn at(moto: &Moto, place: &Place, arguments: &[&str]) -> Ended {
    let mut command = command(place, arguments);
    moto.with(&mut command);
    without_secret(place.spawn(command).end())
}

fn without_secret(ended: Ended) -> Ended {
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(!said.contains(SECRET) && !said.contains("wrong-secret"), "{said}");
    ended
}

/// What commands print of a results directory or address.
fn printed(ask: impl Fn(&[&str]) -> Ended, results: &str) -> Vec<String> {
    let commands: [&[&str]; 5] = [
        &["list"],
        &["compare"],
        &["compare", "--format", "json"],
        &["explain", "l.i0"],
        &["history", "--format", "json"],
    ];
    let print = |command: &&[&str]| {
        let ended = ask(&[command, &["--results", results][..]].concat());
        ended.expect(0, &[]);
        ended.stdout.replace(results, "RESULTS")
    };
    commands.iter().map(print).collect()
}

#[test]
fn a_run_exported_and_imported_prints_the_same() {
    let place = Place::new();
    let file = place.plan(&plan(BOTH, "blocks = 2", "steps = [\"l.i0\", \"l.x\"]"));
    place.run(&[&file]).expect(0, &[]);
    place.steelyard(&["export", "-o", "small.steelyard"]).expect(0, &[]);
    let elsewhere = place.path().join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    place.steelyard(&["import", "small.steelyard", "--results", elsewhere]).expect(0, &[]);
    let results = place.results();
    let results = results.to_str().unwrap();
    let ask = |arguments: &[&str]| place.steelyard(arguments);
    assert_eq!(printed(ask, results), printed(ask, elsewhere));
    assert_eq!(names(&Path::new(elsewhere).join("artifacts/logs")).len(), 4);
    let page = |results: &str| {
        place.steelyard(&["report", "--results", results, "-o", "r.html"]).expect(0, &[]);
        let page = fs::read_to_string(place.path().join("r.html")).unwrap();
        let (before, after) = page.split_once("\"generated\":\"").unwrap();
        // All but when it was written.
        format!("{before}{}", after.split_once('"').unwrap().1)
    };
    if report::has_page() {
        assert!(page(results) == page(elsewhere), "the pages differ");
    } else {
        testing::skip("built without the page; make build builds it");
    }
    let again = place.steelyard(&["import", "small.steelyard"]);
    again.expect(0, &[]);
    assert!(again.stdout.contains("already there: experiment 1"), "{}", again.stdout);
    assert!(names(place.path()).iter().all(|name| !name.starts_with('.')));
}

#[test]
fn requests_about_files_are_checked() {
    let place = Place::new();
    add(&place.results(), "load", 1, 10);
    place.steelyard(&["export", "none", "-o", "x"]).expect(2, &["no experiment `none`", "list"]);
    place.steelyard(&["export", "-o", "no/x"]).expect(2, &["no"]);
    place.steelyard(&["export", "load", "-o", "x"]).expect(0, &[]);
    let other = place.file("other", "{}");
    place
        .steelyard(&["import", &other])
        .expect(2, &["expected output of a known program", "found"]);
    let to_bucket = ["import", "x", "--results", BUCKET];
    place.steelyard(&to_bucket).expect(2, &["written into a directory", "push"]);
    place.steelyard(&["run", "insert", "--results", BUCKET]).expect(2, &[]);
}

#[test]
fn what_unpacks_to_more_than_was_allowed_leaves_nothing() {
    let place = Place::new();
    add(&place.results(), "load", 1, 3 << 20);
    place.steelyard(&["export", "load", "-o", "x"]).expect(0, &[]);
    let elsewhere = place.path().join("elsewhere");
    let import = |gigabytes: &str| {
        let arguments = ["import", "x", "--results", elsewhere.to_str().unwrap()];
        let mut command = command(&place, &arguments);
        command.env("STEELYARD_LARGEST_IMPORT", gigabytes);
        place.spawn(command).end()
    };
    import("0.002").expect(2, &["x unpacks to more than 0.002 GB", "STEELYARD_LARGEST_IMPORT"]);
    import("a lot").expect(2, &["expected a number of GB", "STEELYARD_LARGEST_IMPORT", "`a lot`"]);
    assert!(!elsewhere.exists());
    import("0.1").expect(0, &[]);
}

#[test]
fn figures_are_exported_for_other_programs() {
    let place = Place::new();
    add(&place.results(), "load", 1_000, 10);
    let export = |format: &str| {
        place.steelyard(&["export", "--format", format, "-o", "x"]).expect(0, &[]);
        fs::read_to_string(place.path().join("x")).unwrap()
    };
    let csv = export("csv");
    let mut lines = csv.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let line = lines.find(|line| line.contains(",o/s,")).unwrap();
    let fields: BTreeMap<&str, &str> = columns.iter().copied().zip(line.split(',')).collect();
    for (column, value) in [
        ("name", "load"),
        ("variant", "pg13.7"),
        ("block", "1"),
        ("step", "l.i0"),
        ("kind", "measured"),
        ("unit", "rows/s"),
        ("better", "more"),
        ("value", "401"),
    ] {
        assert_eq!(fields[column], value, "{line}");
    }
    // Two metrics of one step in six trials.
    assert_eq!(csv.lines().count(), 13);

    let go = export("benchstat");
    assert!(go.contains("Unit rows/s better=higher\n"), "{go}");
    assert!(go.contains("Unit cpu/o-%·s better=lower\n"), "{go}");
    let line = "BenchmarkStep/step=l.i0/dop=1/variant=pg14.3 1 ";
    assert_eq!(go.matches(line).count(), 3, "{go}");
    assert!(go.contains(" 1 351 rows/s "), "{go}");

    let bmf: serde_json::Value = serde_json::from_str(&export("bmf")).unwrap();
    let throughput = &bmf["pg13.7/l.i0.1"]["throughput"];
    let expected = serde_json::json!({"value": 402.0, "lower_value": 401.0, "upper_value": 403.0});
    assert_eq!(*throughput, expected);
    place.steelyard(&["export", "--format", "csv", "-o", "no/x"]).expect(2, &["no"]);
}

#[test]
fn an_import_that_is_killed_leaves_nothing_or_all() {
    let place = Place::new();
    add(&place.results(), "load", 1, 4 << 20);
    place.steelyard(&["export", "-o", "x"]).expect(0, &[]);
    let results = place.path().join("elsewhere");
    let arguments = ["import", "x", "--results", results.to_str().unwrap()];
    let begin = Instant::now();
    place.steelyard(&arguments).expect(0, &[]);
    let whole = begin.elapsed();
    for part in 1..12u32 {
        fs::remove_dir_all(&results).unwrap();
        add(&results, "other", 2, 10);
        let running = place.start(&arguments);
        std::thread::sleep(whole * part / 12);
        running.signal(Signal::SIGKILL);
        running.end();
        // Opening it for writing removes what is left.
        let store = Store::open(&results).unwrap();
        let there = store.all_experiments().unwrap().len();
        let logs = names(&store.artifacts().join("logs")).len();
        assert_eq!(logs, 6 * there, "after {part}/12");
        let left = names(&results);
        assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
    }
}

#[test]
fn what_is_pushed_is_pulled_the_same_and_pushed_once() {
    let Some(moto) = Moto::start(None) else { return };
    let place = Place::new();
    add(&place.results(), "load", 1_000, 10);
    add(&place.results(), "other", 2_000, 10 << 20);
    let pushed = at(&moto, &place, &["push", BUCKET]);
    pushed.expect(0, &[]);
    assert!(pushed.stdout.contains("pushed experiment 1 `load`"), "{}", pushed.stdout);

    let before = moto.log().len();
    let again = at(&moto, &place, &["push", "load", BUCKET]);
    again.expect(0, &[]);
    assert!(again.stdout.contains("experiment 1 `load` is already at"), "{}", again.stdout);
    let requests = moto.requests(before);
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].starts_with("HEAD "), "{requests:?}");

    let elsewhere = place.path().join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    at(&moto, &place, &["pull", BUCKET, "--results", elsewhere]).expect(0, &[]);
    let results = place.results();
    let ask = |arguments: &[&str]| at(&moto, &place, arguments);
    let all = printed(ask, results.to_str().unwrap());
    assert_eq!(printed(ask, elsewhere), all);
    // Without a pull, too; and the second time only the names are read.
    assert_eq!(printed(ask, BUCKET), all);
    let before = moto.log().len();
    assert_eq!(printed(ask, BUCKET), all);
    let requests = moto.requests(before);
    assert_eq!(requests.len(), 5, "{requests:?}");
    assert!(requests.iter().all(|it| it.starts_with("GET /bucket?list-type=2")), "{requests:?}");
    let named = at(&moto, &place, &["compare", "-e", "load", "--results", BUCKET]);
    named.expect(0, &[]);
    let twice = at(&moto, &place, &["pull", BUCKET, "load", "--results", elsewhere]);
    assert!(twice.stdout.contains("already there"), "{}", twice.stdout);
    let none = ["pull", BUCKET, "none", "--results", elsewhere];
    at(&moto, &place, &none).expect(2, &["no experiment `none`"]);

    // An older one pushed later takes its place in the order.
    let third = Place::new();
    add(&third.results(), "first", 500, 10);
    at(&moto, &third, &["push", BUCKET]).expect(0, &[]);
    let listed = at(&moto, &place, &["list", "--results", BUCKET]).stdout;
    let order: Vec<&str> = listed.lines().skip(1).map(|line| &line[..7]).collect();
    assert_eq!(order, ["3\tother", "2\tload\t", "1\tfirst"], "{listed}");
    let by_number = at(&moto, &place, &["compare", "-e", "2", "--results", BUCKET]);
    assert_eq!(by_number.stdout, named.stdout);
}

#[test]
fn a_directory_is_an_address_too() {
    let place = Place::new();
    add(&place.results(), "load", 1_000, 10);
    let archive = place.path().join("archive");
    let address = format!("file://{}", archive.display());
    let ask = |arguments: &[&str]| place.spawn(command(&place, arguments)).end();
    ask(&["push", archive.to_str().unwrap()]).expect(0, &[]);
    let again = ask(&["push", &address]);
    assert!(again.stdout.contains("already at"), "{}", again.stdout);
    let results = place.results();
    assert_eq!(printed(ask, results.to_str().unwrap()), printed(ask, &address));
    ask(&["pull", &address, "--results", "elsewhere"]).expect(0, &[]);
    ask(&["pull", "file:///var/none/at/all"]).expect(2, &["no experiments at"]);
    fs::remove_dir("/var/none/at/all").unwrap();
    fs::remove_dir("/var/none/at").unwrap();
    fs::remove_dir("/var/none").unwrap();
}

#[test]
fn two_who_push_at_once_lose_nothing() {
    let Some(moto) = Moto::start(None) else { return };
    let places = [Place::new(), Place::new()];
    for (place, own) in places.iter().zip(["one", "another"]) {
        add(&place.results(), "shared", 1_000, 100_000);
        add(&place.results(), own, 2_000, 100_000);
        add(&place.results(), "last", 3_000, 9 << 20);
    }
    // The same content, apart from when it ended.
    for place in &places {
        let database = rusqlite::Connection::open(place.results().join("steelyard.db")).unwrap();
        let same = "UPDATE experiment SET ended_ms = 5; UPDATE trial SET ended_ms = 5";
        database.execute_batch(same).unwrap();
    }
    let running = places.each_ref().map(|place| {
        let mut command = command(place, &["push", BUCKET]);
        moto.with(&mut command);
        place.spawn(command)
    });
    for one in running {
        one.end().expect(0, &[]);
    }
    let listed = at(&moto, &places[0], &["list", "--results", BUCKET]).stdout;
    assert_eq!(listed.lines().count(), 5, "{listed}");
    at(&moto, &places[0], &["pull", BUCKET, "--results", "elsewhere"]).expect(0, &[]);
}

#[test]
fn a_push_killed_in_the_middle_is_not_seen() {
    let Some(moto) = Moto::start(None) else { return };
    let place = Place::new();
    add(&place.results(), "load", 1_000, 60 << 20);
    let mut command = command(&place, &["push", BUCKET]);
    moto.with(&mut command);
    let running = place.spawn(command);
    let begin = Instant::now();
    while !moto.log().contains("partNumber=2") {
        assert!(begin.elapsed() < Duration::from_secs(120), "{}", moto.log());
        std::thread::sleep(Duration::from_millis(2));
    }
    running.signal(Signal::SIGKILL);
    let ended = running.end();
    assert_eq!(ended.code, None, "it was not killed in time: {}", ended.stdout);
    let listed = at(&moto, &place, &["list", "--results", BUCKET]);
    listed.expect(0, &[]);
    assert_eq!(listed.stdout.lines().count(), 1, "{}", listed.stdout);
    let (_, objects) = moto.http("GET", "/bucket?list-type=2", b"");
    assert!(!String::from_utf8_lossy(&objects).contains("<Key>"));
    at(&moto, &place, &["push", BUCKET]).expect(0, &[]);
    at(&moto, &place, &["pull", BUCKET, "--results", "elsewhere"]).expect(0, &[]);
    let caches = place.path().join("cache/archives");
    for cache in names(&caches) {
        let left = names(&caches.join(cache));
        assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
    }
}

/// The object below the bucket whose name has this ending, with its content.
fn object(moto: &Moto, ending: &str) -> (String, Vec<u8>) {
    let listing = String::from_utf8(moto.http("GET", "/bucket?list-type=2", b"").1).unwrap();
    let mut keys = listing.split("<Key>").skip(1).map(|rest| rest.split('<').next().unwrap());
    let path = format!("/bucket/{}", keys.find(|key| key.ends_with(ending)).unwrap());
    let (status, content) = moto.http("GET", &path, b"");
    assert_eq!(status, 200);
    (path, content)
}

#[test]
fn objects_that_are_damaged_or_newer_are_not_pulled() {
    let Some(moto) = Moto::start(None) else { return };
    let place = Place::new();
    add(&place.results(), "load", 1_000, 100_000);
    at(&moto, &place, &["push", BUCKET]).expect(0, &[]);
    let pull = |said: &[&str]| {
        let results = place.path().join("elsewhere");
        let pull = ["pull", BUCKET, "--results", results.to_str().unwrap()];
        at(&moto, &place, &pull).expect(2, said);
        assert!(!results.exists());
        at(&moto, &place, &["compare", "--results", BUCKET]).expect(2, said);
    };
    let (path, whole) = object(&moto, ".steelyard");
    for length in [0, 20, whole.len() / 2, whole.len() - 1] {
        moto.http("PUT", &path, &whole[..length]);
        pull(&[BUCKET]);
    }
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    moto.http("PUT", &path, &changed);
    pull(&["is damaged"]);
    // A good file in the place of another.
    let other = Place::new();
    add(&other.results(), "other", 7, 10);
    other.steelyard(&["export", "-o", "x"]).expect(0, &[]);
    moto.http("PUT", &path, &fs::read(other.path().join("x")).unwrap());
    pull(&["expected the content hash"]);
    moto.http("PUT", &path, &whole);

    let (path, entry) = object(&moto, ".json");
    let entry = String::from_utf8(entry).unwrap();
    let schema = format!("\"schema\": {}", Store::schema());
    let newer = entry.replace(&schema, "\"schema\": 99").replace("0.1.0", "9.0.0");
    assert_ne!(newer, entry);
    moto.http("PUT", &path, newer.as_bytes());
    // What was read of the index before would be taken from the cache.
    fs::remove_dir_all(place.path().join("cache")).unwrap();
    pull(&["newer steelyard (9.0.0; format 1, schema 99)", "update steelyard"]);
    moto.http("PUT", &path, b"{");
    fs::remove_dir_all(place.path().join("cache")).unwrap();
    pull(&["is damaged", "index entry"]);
}

#[test]
fn who_may_not_is_told_so() {
    // Three requests set things up; from then on credentials are checked.
    let Some(moto) = Moto::start(Some(4)) else { return };
    let keys = moto.python(
        "client('s3').create_bucket(Bucket='bucket')\n\
         iam = client('iam')\n\
         iam.create_user(UserName='u')\n\
         key = iam.create_access_key(UserName='u')['AccessKey']\n\
         iam.create_user(UserName='v')\n\
         print(key['AccessKeyId'], key['SecretAccessKey'])",
    );
    let (id, secret) = keys.trim().split_once(' ').unwrap();
    let place = Place::new();
    add(&place.results(), "load", 1_000, 10);
    let ask = |id: &str, secret: &str, arguments: &[&str]| {
        let mut command = command(&place, arguments);
        moto.with(&mut command);
        command.env("AWS_ACCESS_KEY_ID", id).env("AWS_SECRET_ACCESS_KEY", secret);
        without_secret(place.spawn(command).end())
    };
    for arguments in [&["list", "--results", BUCKET][..], &["pull", BUCKET], &["push", BUCKET]] {
        let wrong = ask(id, "wrong-secret-of-forty-characters-or-more", arguments);
        wrong.expect(3, &["credentials", BUCKET]);
        ask("AKIAUNKNOWN", secret, arguments).expect(3, &["credentials"]);
        let forbidden = ask(id, secret, arguments);
        forbidden.expect(3, &["no permission"]);
        assert!(!forbidden.stderr.contains(secret), "{}", forbidden.stderr);
    }
    let kept = Store::open_read_only(&place.results()).unwrap().all_experiments().unwrap();
    assert_eq!(kept.len(), 1, "nothing was pulled");
}

#[test]
fn an_address_that_cannot_be_used_is_explained() {
    let place = Place::new();
    add(&place.results(), "load", 1_000, 10);
    let ask = |arguments: &[&str]| without_secret(place.spawn(command(&place, arguments)).end());
    ask(&["push", "s3://bucket/x"]).expect(2, &["no credentials", "AWS_ACCESS_KEY_ID"]);
    let with_secret = format!("s3://me:{SECRET}@bucket/x");
    ask(&["push", &with_secret]).expect(2, &["credentials", "environment"]);
    ask(&["list", "--results", "ftp://host/x"]).expect(2, &["expected s3://"]);

    let Some(moto) = Moto::start(None) else { return };
    for arguments in [&["push", "s3://none/x"][..], &["pull", "s3://none/x"]] {
        at(&moto, &place, arguments).expect(3, &["no such bucket", "AWS_REGION"]);
    }
    let mut plain = command(&place, &["push", BUCKET]);
    moto.with(&mut plain).env_remove("AWS_ALLOW_HTTP");
    place.spawn(plain).end().expect(3, &["AWS_ALLOW_HTTP"]);
    // The files that the AWS command line uses.
    let aws = place.path().join(".aws");
    fs::create_dir(&aws).unwrap();
    let credentials = format!("[dev]\naws_access_key_id = A\naws_secret_access_key = {SECRET}\n");
    fs::write(aws.join("credentials"), credentials).unwrap();
    let mut by_profile = command(&place, &["push", BUCKET]);
    moto.with(&mut by_profile).env("AWS_PROFILE", "dev");
    by_profile.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    without_secret(place.spawn(by_profile).end()).expect(0, &[]);
}

#[test]
fn a_full_disk_leaves_nothing() {
    let place = Place::new();
    add(&place.results(), "load", 1_000, 6 << 20);
    let archive = place.path().join("archive");
    let address = archive.to_str().unwrap();
    place.spawn(command(&place, &["push", address])).end().expect(0, &[]);
    let small = place.path().join("small");
    fs::create_dir(&small).unwrap();
    let script = "mount -t tmpfs -o size=4m none \"$SMALL\" && mkdir \"$SMALL/cache\" || exit 99\n\
                  \"$@\"; code=$?; find \"$SMALL\" -name '*.log' -o -name pulled; exit $code";
    for (cache, results) in [("cache", "small/results"), ("small/cache", "results-there")] {
        let inner = command(&place, &["pull", address, "--results", results]);
        let mut outer = Command::new("unshare");
        outer.args(["--mount", "--", "sh", "-c", script, "sh"]).arg(inner.get_program());
        outer.args(inner.get_args()).current_dir(place.path()).env("SMALL", &small);
        outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        outer.env("STEELYARD_CACHE", place.path().join(cache));
        outer.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let ended = place.spawn(outer).end();
        if ended.code == Some(99) || ended.stderr.contains("unshare") {
            return testing::skip(format!("cannot mount a small filesystem: {}", ended.stderr));
        }
        ended.expect(3, &["no space left", "free some space"]);
        assert_eq!(ended.stdout, "", "left on the full disk");
    }
}
