//! Tests of PostgreSQL only: sockets, orphans, and its messages about settings.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::common::{
    Place, Variant, ipc_exists, processes_in, socket_directory, variant, variants, wait_for,
};
use dbms::{Ending, Error, ProcessId, ServerSpec, ServerUser, System};

/// A process of `nobody`, and one of the server's group alone, is refused by the kernel.
fn others_cannot_connect(sockets: &std::path::Path) {
    use std::os::unix::process::CommandExt;
    if !nix::unistd::geteuid().is_root() {
        return testing::skip("not root, so no process of another user can be started");
    }
    let socket = sockets.join(".s.PGSQL.5432");
    std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap();
    let group = ServerUser::choose(None).unwrap().gid;
    for (uid, gid) in [(nobody.uid.as_raw(), nobody.gid.as_raw()), (12_345, group)] {
        let socket = socket.clone();
        let mut command = std::process::Command::new("/bin/true");
        command.uid(uid).gid(gid);
        // SAFETY: after the change of user, the child makes system calls only: socket, connect,
        // close.
        unsafe {
            command.pre_exec(move || std::os::unix::net::UnixStream::connect(&socket).map(drop));
        }
        let error = command.status().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "{uid}: {error}");
    }
}

#[test]
fn nobody_else_can_connect() {
    for variant in variants(&["postgres@13.7", "path:/usr/lib/postgresql/15"]) {
        let place = Place::new();
        let mut server = place.start(&variant, &[]).unwrap();
        let directory = socket_directory(server.as_ref());
        let sockets = fs::metadata(&directory).unwrap();
        assert_eq!(sockets.mode() & 0o777, 0o700);
        assert_eq!(sockets.uid(), ServerUser::choose(None).unwrap().uid);
        let shown = server.sql().unwrap().query_rows("show listen_addresses").unwrap();
        assert_eq!(shown[0][0].as_deref(), Some(""));
        others_cannot_connect(&directory);
        let shown = server.sql().unwrap().query_rows("show server_version").unwrap();
        assert!(shown[0][0].as_ref().unwrap().starts_with(&variant.installation.version));
    }
}

#[test]
fn a_path_too_long_for_a_socket_falls_back_to_a_short_one() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let mut server = place.start_in(&variant, &[], &place.path().join("x".repeat(120))).unwrap();
    let sockets = socket_directory(server.as_ref());
    assert!(sockets.starts_with("/tmp"), "{}", sockets.display());
    assert_eq!(fs::metadata(&sockets).unwrap().mode() & 0o777, 0o700);
    assert_eq!(server.sql().unwrap().query_i64("select 1").unwrap(), 1);
    let stopped = server.stop().unwrap();
    assert!(sockets.parent().unwrap().exists());
    stopped.discard().unwrap();
    assert!(!sockets.parent().unwrap().exists());
    place.assert_clean();
}

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
fn settings_that_steelyard_chooses_are_refused() {
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

/// A backend that computes without interruption, so it does not notice that its postmaster is gone.
fn keep_a_backend_busy(server: &dyn System) -> std::thread::JoinHandle<()> {
    let mut config = postgres::Config::new();
    config.host_path(socket_directory(server)).user("steelyard").dbname("steelyard");
    let mut client = config.connect(postgres::NoTls).unwrap();
    std::thread::spawn(move || {
        let _ = client.simple_query("select count(*) from generate_series(1, 3000000000)");
    })
}

#[test]
fn a_killed_postmaster_is_noticed_and_its_orphans_are_ended() {
    for variant in variants(&["postgres@13.7"]) {
        kill_the_postmaster(&variant);
    }
}

fn kill_the_postmaster(variant: &Variant) {
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
    // The connection's backend ends as soon as it notices.
    wait_for("the end of the connection", || server.sql().unwrap().execute("select 1").is_err());
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
