//! From start to stop.

use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use super::subjects::{first, subjects};
use crate::common::{Place, processes_in, wait_for};
use dbms::{Diagnosis, Ending, Error, ProcessId, ServerSpec, ServerUser};

#[test]
fn starts_answers_and_stops() {
    for subject in subjects() {
        let place = Place::new();
        let mut system = subject.start(&place);
        assert!(system.alive() && system.owned());
        assert_eq!((system.died(), system.diagnose()), (None, None));
        assert!(system.log_tail(5).contains(subject.facts.says.0), "{}", system.log_tail(5));

        // Under the unprivileged user, with data that nobody else can read.
        let user = ServerUser::choose(None).unwrap();
        let pid = system.root_pid().unwrap();
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let uids = status.lines().find(|line| line.starts_with("Uid:")).unwrap();
        let mut uids = uids.split_ascii_whitespace().skip(1);
        assert!(uids.all(|uid| uid == user.uid.to_string()), "{status}");
        assert_ne!(user.uid, 0);
        let data = system.data_directory().unwrap();
        assert!(data.starts_with(place.trial()), "{}", data.display());
        assert_eq!(std::fs::metadata(data).unwrap().mode() & 0o777, 0o700);

        // The entry names it, and a sweep by others leaves it alone.
        let record = place.ledger.records().unwrap().remove(0);
        assert_eq!(record.process, ProcessId::of(pid));
        assert!(place.ledger.sweep(&|_| ()).unwrap().is_empty());

        (subject.facts.fill)(system.as_mut(), 100);
        assert_eq!((subject.facts.rows)(system.as_mut()), 100);
        let stopped = system.stop().unwrap();
        assert_eq!(stopped.ending, Ending::Graceful);
        let log = std::fs::read_to_string(stopped.log.as_ref().unwrap()).unwrap();
        assert!(log.contains(subject.facts.says.1), "{log}");
        assert!(processes_in(place.path()).is_empty());
        stopped.discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn whoever_stops_a_frozen_system_thaws_it() {
    for subject in first() {
        let place = Place::new();
        let mut system = subject.start(&place);
        (subject.facts.fill)(system.as_mut(), 10);
        let mut freezer = system.freezer().unwrap();
        for _ in 0..3 {
            freezer.freeze().unwrap();
            freezer.thaw().unwrap();
        }
        assert_eq!((subject.facts.rows)(system.as_mut()), 10);
        freezer.freeze().unwrap();
        // Nobody else does it.
        std::mem::forget(freezer);
        assert_eq!(system.stop().unwrap().ending, Ending::Graceful);
        assert!(processes_in(place.path()).is_empty());
    }
}

#[test]
fn restarted_it_goes_on_with_its_data() {
    for subject in subjects() {
        let place = Place::new();
        let mut system = subject.start(&place);
        if system.sql().is_none() {
            // An engine in the process of its clients.
            let refused = system.restart().unwrap_err();
            assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
            continue;
        }
        (subject.facts.fill)(system.as_mut(), 10);
        let before = system.root_pid().unwrap();
        system.restart().unwrap();
        let after = system.root_pid().unwrap();
        assert!(after != before && system.alive());
        assert_eq!(place.ledger.records().unwrap().remove(0).process, ProcessId::of(after));
        assert_eq!((subject.facts.rows)(system.as_mut()), 10);
        // One that has died is not started again as if nothing had happened.
        ProcessId::of(after).unwrap().signal(libc::SIGKILL).unwrap();
        wait_for("its end", || !system.alive());
        let refused = system.restart().unwrap_err().to_string();
        assert!(refused.contains("it had ended before its restart"), "{refused}");
        drop(system);
        place.assert_clean();
    }
}

#[test]
fn dropped_it_leaves_nothing() {
    for subject in first() {
        let place = Place::new();
        let mut system = subject.start(&place);
        (subject.facts.fill)(system.as_mut(), 10);
        drop(system);
        assert!(processes_in(place.path()).is_empty());
        place.assert_clean();
    }
}

#[test]
fn several_run_at_once() {
    for subject in first() {
        let place = Place::new();
        let mut systems: Vec<_> = std::thread::scope(|scope| {
            let start = |i: u32| {
                let directory = place.path().join(format!("trial{i}"));
                dbms::start(subject.spec(&place, &directory)).unwrap()
            };
            let threads: Vec<_> = (0..3).map(|i| scope.spawn(move || start(i))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        // The threads that started them are gone, the systems are not.
        for (system, rows) in systems.iter_mut().zip(1..) {
            (subject.facts.fill)(system.as_mut(), rows);
        }
        drop(systems.remove(1));
        for (system, rows) in systems.iter_mut().zip([1, 3]) {
            assert!(system.alive());
            assert_eq!((subject.facts.rows)(system.as_mut()), rows);
        }
        for system in systems {
            assert_eq!(system.stop().unwrap().ending, Ending::Graceful);
        }
        place.assert_clean();
    }
}

#[test]
fn leftovers_exist_until_they_are_discarded() {
    for subject in first() {
        let place = Place::new();
        let mut system = subject.start(&place);
        let data = system.data_directory().unwrap();
        let stopped = system.stop().unwrap();
        assert!(std::fs::read_dir(&data).unwrap().count() > 0);
        assert!(place.trial().join(dbms::MARKER).exists());
        drop(stopped);
        assert!(!data.exists());
        place.assert_clean();
    }
}

#[test]
fn work_is_broken_off_from_another_thread() {
    for subject in subjects() {
        let place = Place::new();
        let mut system = subject.start(&place);
        let interrupt = system.interrupter().unwrap();
        let error = std::thread::scope(|scope| {
            let working = scope.spawn(|| (subject.facts.long)(system.as_mut()).unwrap_err());
            std::thread::sleep(Duration::from_millis(300));
            assert!(!working.is_finished(), "{:?}", working.join());
            let begin = Instant::now();
            while !working.is_finished() {
                assert!(begin.elapsed() < Duration::from_secs(120), "it is not broken off");
                interrupt();
                std::thread::sleep(Duration::from_millis(20));
            }
            working.join().unwrap()
        });
        // The connection may break before it says why, or before the work begins.
        let interrupted = error.diagnosis() == Some(Diagnosis::Interrupted);
        let cut_off = matches!(
            error,
            Error::Connect { .. } | Error::Query { code: None, .. } | Error::Engine { .. }
        );
        assert!(interrupted || cut_off, "{error:?}");
        system.stop().unwrap().discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn one_that_will_not_end_gracefully_is_ended() {
    for subject in first() {
        let place = Place::new();
        let trial = place.trial();
        let stop_limit = Duration::from_millis(300);
        let spec = ServerSpec { stop_limit, ..subject.spec(&place, &trial) };
        let system = dbms::start(spec).unwrap();
        // Stopped processes react to nothing but SIGKILL.
        ProcessId::of(system.root_pid().unwrap()).unwrap().signal(libc::SIGSTOP).unwrap();
        let stopped = system.stop().unwrap();
        assert_eq!(stopped.ending, Ending::Killed);
        assert!(processes_in(place.path()).is_empty());
        stopped.discard().unwrap();
        place.assert_clean();
    }
}

#[test]
fn it_enters_its_control_group_before_it_runs() {
    // Where version 2 of control groups is mounted, alone or alongside version 1.
    let roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(std::path::Path::new);
    let Some(root) = roots.iter().find(|root| root.join("cgroup.procs").exists()) else {
        return testing::skip("there are no control groups of version 2");
    };
    let group = root.join(format!("dbms-test-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir(&group) {
        return testing::skip(format_args!("no control group can be made: {error}"));
    }
    let result = std::panic::catch_unwind(|| {
        for subject in first() {
            let place = Place::new();
            let trial = place.trial();
            let procs_files = vec![group.join("cgroup.procs")];
            let spec = ServerSpec { procs_files, ..subject.spec(&place, &trial) };
            let system = dbms::start(spec).unwrap();
            let members = std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
            for pid in processes_in(place.path()) {
                assert!(members.lines().any(|line| line == pid.to_string()), "{pid}: {members}");
            }
            assert_eq!(place.ledger.records().unwrap().remove(0).cgroups[0], group);
            system.stop().unwrap().discard().unwrap();
            place.assert_clean();
        }
    });
    std::fs::remove_dir(&group).unwrap();
    result.unwrap();
}
