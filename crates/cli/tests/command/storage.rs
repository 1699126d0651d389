//! Experiments in object storage: the pulled copy is the same, and a failure leaves nothing behind.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use store::Store;

use crate::archive::{BUCKET, add, command, printed};
use crate::moto::{Moto, SECRET};
use crate::place::{Ended, Place, names};

/// Runs a command with the server's address and credentials. Its output never has the secret.
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
    // The same without a pull; the second time, only the names are read.
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
    let read = format!("--results {address}");
    for command in ["list", "compare"] {
        let told = ask(&[command, "--results", "archive"]);
        told.expect(2, &["archive holds pushed experiments", &read]);
    }
    assert_eq!(printed(ask, results.to_str().unwrap()), printed(ask, &address));
    ask(&["pull", &address, "--results", "elsewhere"]).expect(0, &[]);
    ask(&["pull", "file:///var/none/at/all"]).expect(2, &["cannot read /var/none/at/all"]);
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
fn objects_that_are_damaged_or_of_another_version_are_not_pulled() {
    let Some(moto) = Moto::start(None) else { return };
    let place = Place::new();
    add(&place.results(), "load", 1_000, 100_000);
    at(&moto, &place, &["push", BUCKET]).expect(0, &[]);
    let pull = |said: &[&str]| {
        let results = place.path().join("elsewhere");
        let pull = ["pull", BUCKET, "--results", results.to_str().unwrap()];
        at(&moto, &place, &pull).expect(3, said);
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
    for (version, said) in [
        ("99", ["newer steelyard (9.0.0; format 1, schema 99)", "update steelyard"]),
        ("1", ["earlier development version of steelyard (9.0.0)", "measure again"]),
    ] {
        let other = entry.replace(&schema, &format!("\"schema\": {version}"));
        let other = other.replace("0.1.0", "9.0.0");
        assert_ne!(other, entry);
        moto.http("PUT", &path, other.as_bytes());
        // Without this, the index read before would be taken from the cache.
        fs::remove_dir_all(place.path().join("cache")).unwrap();
        pull(&said);
    }
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
