//! Real servers from start to stop.

use std::os::unix::fs::MetadataExt;

use crate::common::{Place, processes_in, socket_directory, variant};
use dbms::{Ending, ProcessId, ServerUser};

/// A process of `nobody`, and one of the server's group alone, is refused by the kernel.
fn others_cannot_connect(sockets: &std::path::Path) {
    use std::os::unix::process::CommandExt;
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: not root, so no process of another user can be started");
        return;
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

fn start_and_stop(text: &str) {
    let Some(variant) = variant(text) else { return };
    let place = Place::new();
    let mut server = place.start(&variant, &[]).unwrap();
    let user = ServerUser::choose(None).unwrap();
    assert!(server.alive());
    assert_eq!(server.died(), None);
    let shown = server.sql().unwrap().query_rows("show server_version").unwrap();
    assert!(shown[0][0].as_ref().unwrap().starts_with(&variant.installation.version));

    // Under the unprivileged user, in a private socket directory, listening nowhere else.
    let pid = server.root_pid().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let uids = status.lines().find(|line| line.starts_with("Uid:")).unwrap();
    assert!(uids.split_ascii_whitespace().skip(1).all(|uid| uid == user.uid.to_string()), "{uids}");
    assert_ne!(user.uid, 0);
    let sockets = std::fs::metadata(socket_directory(server.as_ref())).unwrap();
    assert_eq!(sockets.mode() & 0o777, 0o700);
    assert_eq!(sockets.uid(), user.uid);
    assert_eq!(
        server.sql().unwrap().query_rows("show listen_addresses").unwrap()[0][0].as_deref(),
        Some("")
    );
    assert_eq!(std::fs::metadata(place.trial().join("data")).unwrap().mode() & 0o777, 0o700);
    others_cannot_connect(&socket_directory(server.as_ref()));

    // The entry names it, and a sweep by others leaves it alone.
    let record = place.ledger.records().unwrap().remove(0);
    assert_eq!(record.process, ProcessId::of(pid));
    assert!(place.ledger.sweep(&|_| ()).unwrap().is_empty());

    server
        .sql()
        .unwrap()
        .execute("create table t (a int); insert into t select generate_series(1, 100)")
        .unwrap();
    assert_eq!(server.sql().unwrap().query_i64("select count(*) from t").unwrap(), 100);
    let stopped = server.stop().unwrap();
    assert_eq!(stopped.ending, Ending::Graceful);
    let log = std::fs::read_to_string(stopped.log.as_ref().unwrap()).unwrap();
    assert!(log.contains("database system is shut down"), "{log}");
    assert!(processes_in(place.path()).is_empty());
    stopped.discard().unwrap();
    place.assert_clean();
}

#[test]
fn starts_and_stops_13_7() {
    start_and_stop("postgres@13.7");
}

#[test]
fn starts_and_stops_an_installation() {
    start_and_stop("path:/usr/lib/postgresql/15");
}

#[test]
fn a_dropped_server_leaves_nothing() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let mut server = place.start(&variant, &[]).unwrap();
    server.sql().unwrap().execute("create table t (a int)").unwrap();
    drop(server);
    assert!(processes_in(place.path()).is_empty());
    place.assert_clean();
}

#[test]
fn a_path_too_long_for_a_socket_falls_back_to_a_short_one() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let mut server = place.start_in(&variant, &[], &place.path().join("x".repeat(120))).unwrap();
    let sockets = socket_directory(server.as_ref());
    assert!(sockets.starts_with("/tmp"), "{}", sockets.display());
    assert_eq!(std::fs::metadata(&sockets).unwrap().mode() & 0o777, 0o700);
    assert_eq!(server.sql().unwrap().query_i64("select 1").unwrap(), 1);
    let stopped = server.stop().unwrap();
    assert!(sockets.parent().unwrap().exists());
    stopped.discard().unwrap();
    assert!(!sockets.parent().unwrap().exists());
    place.assert_clean();
}

#[test]
fn several_servers_run_at_once() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let mut servers: Vec<_> = std::thread::scope(|scope| {
        let start = |i: usize| {
            place.start_in(&variant, &[], &place.path().join(format!("trial{i}"))).unwrap()
        };
        let threads: Vec<_> = (0..3).map(|i| scope.spawn(move || start(i))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // The threads that started them are gone, the servers are not.
    for (i, server) in servers.iter_mut().enumerate() {
        server.sql().unwrap().execute(&format!("create table t as select {i} a")).unwrap();
    }
    drop(servers.remove(1));
    for (server, expected) in servers.iter_mut().zip([0, 2]) {
        assert!(server.alive());
        assert_eq!(server.sql().unwrap().query_i64("select a from t").unwrap(), expected);
    }
    for server in servers {
        assert_eq!(server.stop().unwrap().ending, Ending::Graceful);
    }
    place.assert_clean();
}

#[test]
fn data_that_is_kept_is_the_callers() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let server = place.start(&variant, &[]).unwrap();
    server.stop().unwrap().hand_over().unwrap();
    assert!(place.trial().join("data/PG_VERSION").exists());
    assert!(!place.trial().join(dbms::MARKER).exists());
    assert!(place.ledger.records().unwrap().is_empty());
    std::fs::remove_dir_all(place.trial()).unwrap();
    place.assert_clean();
}

#[test]
fn a_server_that_will_not_end_gracefully_is_ended() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    let trial = place.trial();
    let stop_limit = std::time::Duration::from_millis(300);
    let server =
        dbms::start(dbms::ServerSpec { stop_limit, ..place.spec(&variant, &trial) }).unwrap();
    // Stopped processes react to nothing but SIGKILL.
    ProcessId::of(server.root_pid().unwrap()).unwrap().signal(libc::SIGSTOP).unwrap();
    let stopped = server.stop().unwrap();
    assert_eq!(stopped.ending, Ending::Killed);
    assert!(processes_in(place.path()).is_empty());
    stopped.discard().unwrap();
    place.assert_clean();
}

#[test]
fn the_server_enters_its_control_group_before_it_runs() {
    let variant = variant("postgres@13.7").unwrap();
    let place = Place::new();
    // Where version 2 of control groups is, alone or beside version 1.
    let roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(std::path::Path::new);
    let Some(root) = roots.iter().find(|root| root.join("cgroup.procs").exists()) else {
        return testing::skip("there are no control groups of version 2");
    };
    let group = root.join(format!("dbms-test-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir(&group) {
        return testing::skip(format_args!("no control group can be made: {error}"));
    }
    let trial = place.trial();
    let procs_files = vec![group.join("cgroup.procs")];
    let started = dbms::start(dbms::ServerSpec { procs_files, ..place.spec(&variant, &trial) });
    let checked = started.and_then(|server| {
        let members = std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
        let expected = processes_in(place.path());
        let recorded = place.ledger.records().unwrap().remove(0).cgroups;
        server.stop()?.discard()?;
        Ok((members, expected, recorded))
    });
    std::fs::remove_dir(&group).unwrap();
    let (members, expected, recorded) = checked.unwrap();
    for pid in expected {
        assert!(members.lines().any(|line| line == pid.to_string()), "{pid} is not in {members}");
    }
    assert_eq!(recorded, [group]);
    place.assert_clean();
}
