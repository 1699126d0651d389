//! What goes wrong: each failure has a clear error and leaves nothing.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::common::{Place, names, processes_in, socket_directory, variant};
use dbms::{Cache, Ending, Error, ProcessId, ServerSpec, ServerUser, System};

fn message(result: Result<Box<dyn System>, Error>) -> String {
    match result {
        Ok(_) => panic!("the server must not start"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn settings_the_server_rejects_are_named_with_its_own_words() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let banana = message(place.start(&variant, &[("work_mem", "banana")]));
    for part in ["postgres@13.7", "work_mem = banana", "invalid value for parameter", "config"] {
        assert!(banana.contains(part), "{part} is missing in: {banana}");
    }
    // Unknown here, though a later version has it.
    let unknown = message(place.start(&variant, &[("io_method", "worker")]));
    assert!(
        unknown.contains("io_method = worker") && unknown.contains("unrecognized"),
        "{unknown}"
    );
    let range = message(place.start(&variant, &[("max_connections", "0")]));
    assert!(
        range.contains("max_connections = 0") && range.contains("outside the valid range"),
        "{range}"
    );
    // Only found out when the server really starts.
    let late = message(place.start(&variant, &[("wal_level", "minimal")]));
    assert!(late.contains("max_wal_senders"), "{late}");
    place.assert_clean();
}

#[test]
fn what_steelyard_chooses_itself_is_refused() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    for setting in
        ["listen_addresses", "unix_socket_directories", "port", "Data_Directory", "Include_Dir"]
    {
        let error = place.start(&variant, &[(setting, "1")]).err().unwrap();
        assert!(matches!(error, Error::Reserved { .. }), "{error}");
        assert!(error.to_string().contains(setting), "{error}");
    }
    let initdb = vec!["--waldir=/tmp/wal".to_owned()];
    let trial = place.trial();
    let error = dbms::start(ServerSpec { initdb, ..place.spec(&variant, &trial) }).err().unwrap();
    assert!(error.to_string().contains("--waldir"), "{error}");
    let file = place.path().join("my.conf");
    for line in [
        "  data_directory = '/x'",
        "include '/x'",
        "\tINCLUDE='/x'",
        "include_dir /x # y",
        "Include_If_Exists'/x'",
    ] {
        fs::write(&file, format!("shared_buffers = 16MB\n{line}\n")).unwrap();
        let config_file = Some(file.clone());
        let error =
            dbms::start(ServerSpec { config_file, ..place.spec(&variant, &trial) }).err().unwrap();
        assert!(matches!(error, Error::Reserved { .. }), "{error}");
        assert!(error.to_string().contains("my.conf"), "{error}");
    }
    fs::remove_file(file).unwrap();
    place.assert_clean();
}

#[test]
fn a_directory_in_use_is_left_as_it_is() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    fs::create_dir(place.trial()).unwrap();
    let precious = place.trial().join("precious");
    fs::write(&precious, "x").unwrap();
    let error = place.start(&variant, &[]).err().unwrap();
    assert!(matches!(error, Error::DirectoryInUse { .. }), "{error}");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "x");
    assert!(place.ledger.records().unwrap().is_empty());
}

#[test]
fn a_directory_the_servers_user_cannot_enter_is_named() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    if ServerUser::choose(None).unwrap().uid == nix::unistd::geteuid().as_raw() {
        return testing::skip("not root, so servers run as the calling user");
    }
    let closed = place.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let error = place.start_in(&variant, &[], &closed.join("trial")).err().unwrap();
    assert!(
        matches!(&error, Error::Unreachable { barred_by, .. } if *barred_by == closed),
        "{error}"
    );
    let cache = Cache::at(closed.join("cache")).unwrap();
    let trial = place.trial();
    let error =
        dbms::start(ServerSpec { cache: &cache, ..place.spec(&variant, &trial) }).err().unwrap();
    assert!(
        matches!(&error, Error::Unreachable { barred_by, .. } if *barred_by == closed),
        "{error}"
    );
    fs::remove_dir_all(closed).unwrap();
    place.assert_clean();
}

/// A backend that computes and never looks up: it does not notice that its postmaster is gone.
fn keep_a_backend_busy(server: &dyn System) -> std::thread::JoinHandle<()> {
    let mut config = postgres::Config::new();
    config.host_path(socket_directory(server)).user("steelyard").dbname("steelyard");
    let mut client = config.connect(postgres::NoTls).unwrap();
    std::thread::spawn(move || {
        let _ = client.simple_query("select count(*) from generate_series(1, 3000000000)");
    })
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{what} does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn ipc_exists(objects: &dbms::IpcObjects) -> bool {
    let listed = |path: &str, id: i32| {
        let list = fs::read_to_string(path).unwrap();
        list.lines().any(|line| line.split_ascii_whitespace().nth(1) == Some(&id.to_string()))
    };
    objects.segments.iter().any(|(id, _)| listed("/proc/sysvipc/shm", *id))
        || objects.semaphores.iter().any(|set| listed("/proc/sysvipc/sem", set.id))
        || objects.files.iter().any(|(name, _)| Path::new("/dev/shm").join(name).exists())
}

#[test]
fn a_killed_postmaster_is_noticed_and_its_orphans_are_ended() {
    for variant in crate::common::variants(&["postgres@13.7"]) {
        kill_the_postmaster(&variant);
    }
}

fn kill_the_postmaster(variant: &crate::common::Variant) {
    let place = Place::new();
    let mut server = place.start(variant, &[]).unwrap();
    let record = place.ledger.records().unwrap().remove(0);
    assert!(!record.ipc.segments.is_empty() && !record.ipc.files.is_empty(), "{record:?}");
    // Only versions before 10 use semaphores of this kind on Linux.
    assert_eq!(record.ipc.semaphores.is_empty(), !variant.installation.version.starts_with("9."));
    let busy = keep_a_backend_busy(server.as_ref());
    wait_for("the busy query", || {
        server.sql().unwrap().query_i64("select count(*) from pg_stat_activity where query like '%3000000000)' and state = 'active'")
            .unwrap()
            == 1
    });
    ProcessId::of(server.root_pid().unwrap()).unwrap().signal(libc::SIGKILL).unwrap();
    wait_for("the end of the postmaster", || !server.alive());
    assert!(server.died().unwrap().contains('9'), "{:?}", server.died());
    assert!(server.log_tail(5).contains("ready to accept connections"), "{}", server.log_tail(5));
    assert!(server.sql().unwrap().execute("select 1").is_err());
    assert!(!processes_in(place.path()).is_empty(), "the busy backend is still there");
    assert!(ipc_exists(&record.ipc));
    let stopped = server.stop().unwrap();
    assert!(
        matches!(&stopped.ending, Ending::Died(how) if how.contains('9')),
        "{:?}",
        stopped.ending
    );
    busy.join().unwrap();
    assert!(processes_in(place.path()).is_empty());
    assert!(!ipc_exists(&record.ipc));
    drop(stopped);
    place.assert_clean();
}

#[test]
fn a_sweep_ends_servers_whose_owner_is_gone() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let mut server = place.start(&variant, &[]).unwrap();
    // As if another steelyard had started it and were gone: another start time of the owner is another process.
    let record = place.ledger.records().unwrap().remove(0);
    let path = place.ledger.path().join(format!("{}.json", record.id));
    let text = fs::read_to_string(&path).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["owner"]["start_time"] = 1.into();
    fs::write(&path, json.to_string()).unwrap();
    let pid = server.root_pid().unwrap();
    let swept = place.ledger.sweep(&|_| ()).unwrap();
    assert_eq!(swept.len(), 1);
    assert!(swept[0].ended.contains(&pid), "{swept:?}");
    assert_eq!(swept[0].problems, names(&[]));
    assert_eq!(swept[0].removed, [place.trial()]);
    assert!(!server.alive());
    assert!(processes_in(place.path()).is_empty());
    assert!(!ipc_exists(&record.ipc));
    place.assert_clean();
}

#[test]
fn a_full_disk_is_named_and_leaves_nothing() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let small = place.path().join("small");
    fs::create_dir(&small).unwrap();
    // A data directory takes about 40 MB.
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=10m,mode=755", "none"])
        .arg(&small)
        .output()
        .is_ok_and(|output| output.status.success());
    if mounted {
        let error = place.start_in(&variant, &[], &small.join("trial")).err();
        let left = fs::read_dir(&small).unwrap().count();
        assert!(std::process::Command::new("umount").arg(&small).status().unwrap().success());
        let text = error.unwrap().to_string();
        assert!(text.contains("too little space") && text.contains("free space"), "{text}");
        assert_eq!(left, 0);
    } else {
        testing::skip("no file system can be mounted");
    }
    fs::remove_dir(&small).unwrap();
    place.assert_clean();
}
