//! Control groups of the real kernel: accounting, limits, cleaning up.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use probe::{Cgroup, CgroupError, Layout};

const MIB: u64 = 1 << 20;

fn name(what: &str) -> String {
    format!("probe-{what}-{}", std::process::id())
}

/// Runs a shell command inside a group, to its end.
fn run_in(group: &Cgroup, command: &str) -> std::process::ExitStatus {
    let joins: String =
        group.procs_files().iter().map(|file| format!("echo 0 > {}; ", file.display())).collect();
    Command::new("sh")
        .args(["-c", &format!("{joins}{command}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
}

/// `None`, with the reason printed, if this machine does not allow it.
fn made(result: Result<Cgroup, CgroupError>) -> Option<Cgroup> {
    match result {
        Ok(group) => Some(group),
        Err(
            error @ (CgroupError::Denied { .. }
            | CgroupError::NoHierarchy
            | CgroupError::NoMemoryController { .. }),
        ) => {
            testing::skip(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn burns_are_counted(group: Cgroup) {
    let before = group.cpu().unwrap();
    let meter = group.cpu_meter().unwrap();
    let first = meter.read().unwrap();
    let status = run_in(&group, "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done");
    assert!(status.success());
    let after = group.cpu().unwrap();
    let used = after.user_us + after.system_us - before.user_us - before.system_us;
    assert!(used > 10_000, "{used} µs");
    assert!(after.user_us - before.user_us > used / 2);
    // Nothing runs in the group anymore, so the cheap reading is also exact.
    let metered = (meter.read().unwrap() - first).as_micros() as i64;
    assert!((metered - used as i64).abs() < 2_000, "{metered} µs metered, {used} µs used");
    let directories = group.directories().to_vec();
    assert!(!directories.is_empty() && directories.iter().all(|d| d.is_dir()));
    group.remove().unwrap();
    assert!(directories.iter().all(|d| !d.exists()));
}

#[test]
fn cpu_time_is_counted_as_this_machine_does_it() {
    if let Some(group) = made(Cgroup::create(&name("cpu"), None)) {
        burns_are_counted(group);
    }
}

#[test]
fn cpu_time_is_counted_by_v2_without_controllers() {
    let read = |path| std::fs::read_to_string(path).unwrap();
    let mounts = read("/proc/self/mountinfo");
    let without_v1: Vec<&str> =
        mounts.lines().filter(|line| !line.contains(" - cgroup ")).collect();
    let layout = Layout::from_texts(&without_v1.join("\n"), &read("/proc/self/cgroup"));
    let result = layout.and_then(|layout| Cgroup::create_in(&layout, &name("v2"), None));
    if let Some(group) = made(result) {
        assert_eq!(group.procs_files().len(), 1);
        burns_are_counted(group);
    }
}

#[test]
fn a_memory_limit_holds_the_page_cache() {
    let Some(group) = made(Cgroup::create(&name("cache"), Some(24 * MIB))) else {
        return;
    };
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = directory.path().join("cache");
    let status = run_in(
        &group,
        &format!("head -c 80000000 /dev/zero > {0}; cat {0} > /dev/null", file.display()),
    );
    assert!(status.success());
    let current = group.memory_current().unwrap();
    assert!(current > 4 * MIB && current <= 24 * MIB, "{current}");
    assert_eq!(group.oom_kills().unwrap_or(0), 0);
    group.remove().unwrap();
}

#[test]
fn a_memory_limit_holds_anonymous_memory() {
    let Some(group) = made(Cgroup::create(&name("anon"), Some(24 * MIB))) else {
        return;
    };
    // dd's buffer is its own anonymous memory, touched as it is filled.
    let within = run_in(&group, "exec dd if=/dev/zero of=/dev/null bs=8M count=1");
    assert!(within.success());
    let beyond = run_in(&group, "exec dd if=/dev/zero of=/dev/null bs=64M count=1");
    assert!(!beyond.success(), "64 MiB fitted into 24 MiB");
    if let Some(kills) = group.oom_kills() {
        assert_eq!(kills, 1);
    }
    group.remove().unwrap();
}

#[test]
fn a_group_with_processes_is_not_removed_and_says_whose() {
    let Some(group) = made(Cgroup::create(&name("busy"), None)) else {
        return;
    };
    let mut child = Command::new("sleep").arg("30").spawn().unwrap();
    for file in group.procs_files() {
        std::fs::write(file, child.id().to_string()).unwrap();
    }
    assert_eq!(group.pids(), [child.id()]);
    let directories = group.directories().to_vec();
    let error = group.remove().unwrap_err();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(&error, CgroupError::Busy { pids, .. } if *pids == [child.id()]), "{error}");
    // What a killed run leaves.
    probe::remove_directories(&directories);
    assert!(directories.iter().all(|directory| !directory.exists()));
}

#[test]
fn a_dropped_group_is_gone_and_a_name_is_taken_once() {
    let name = name("drop");
    let Some(group) = made(Cgroup::create(&name, None)) else {
        return;
    };
    let directories = group.directories().to_vec();
    assert!(matches!(Cgroup::create(&name, None), Err(CgroupError::Exists { .. })));
    assert!(directories.iter().all(|d| d.is_dir()), "the first one was harmed");
    drop(group);
    assert!(directories.iter().all(|d| !d.exists()));
}

#[test]
fn names_that_climb_are_refused() {
    for name in ["", "..", "a/b", ".hidden", "a b"] {
        let result = Cgroup::create(name, None);
        assert!(matches!(result, Err(CgroupError::BadName { .. })), "{name:?}");
    }
}

#[test]
fn only_control_groups_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    probe::remove_directories(&[kept.clone(), PathBuf::from("/nowhere/at/all")]);
    assert!(kept.is_dir());
}

/// A v2 tree made of plain files: how the place for a group is chosen.
#[test]
fn a_v2_group_with_a_limit_goes_where_memory_is_delegated() {
    let root = tempfile::tempdir().unwrap();
    let own = root.path().join("user.slice/session.scope");
    std::fs::create_dir_all(&own).unwrap();
    let slice = root.path().join("user.slice");
    std::fs::write(own.join("cgroup.subtree_control"), "").unwrap();
    std::fs::write(slice.join("cgroup.subtree_control"), "memory pids\n").unwrap();
    let mountinfo = format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n", root.path().display());
    let layout = Layout::from_texts(&mountinfo, "0::/user.slice/session.scope\n").unwrap();
    // Plain directories have no memory.max: the limit cannot be set, and nothing may stay.
    let error = Cgroup::create_in(&layout, "db", Some(MIB)).unwrap_err();
    assert!(matches!(error, CgroupError::NoMemoryController { .. }), "{error}");
    assert!(!slice.join("db").exists());
    let group = Cgroup::create_in(&layout, "db", None).unwrap();
    assert_eq!(group.directories(), [slice.join("db")]);
    std::fs::write(slice.join("db/cpu.stat"), "usage_usec 30\nuser_usec 10\nsystem_usec 20\n")
        .unwrap();
    let time = group.cpu().unwrap();
    assert_eq!((time.user_us, time.system_us), (10, 20));
    std::fs::write(slice.join("db/cpu.stat"), "nonsense").unwrap();
    let error = group.cpu().unwrap_err().to_string();
    assert!(error.contains("usage_usec") && error.contains("nonsense"), "{error}");
}

#[test]
fn a_controller_enabled_for_a_group_that_failed_is_taken_back() {
    let root = tempfile::tempdir().unwrap();
    let slice = root.path().join("user.slice");
    std::fs::create_dir_all(&slice).unwrap();
    for directory in [root.path(), &slice] {
        std::fs::write(directory.join("cgroup.subtree_control"), "").unwrap();
    }
    std::fs::write(root.path().join("cgroup.controllers"), "cpu memory io\n").unwrap();
    let mountinfo = format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n", root.path().display());
    let layout = Layout::from_texts(&mountinfo, "0::/user.slice\n").unwrap();
    let error = Cgroup::create_in(&layout, "db", Some(MIB)).unwrap_err();
    assert!(matches!(error, CgroupError::NoMemoryController { .. }), "{error}");
    assert!(!root.path().join("db").exists() && !slice.join("db").exists());
    let control = std::fs::read_to_string(root.path().join("cgroup.subtree_control")).unwrap();
    assert_eq!(control, "-memory");
}
