//! The CPU time of a process tree with many short-lived children, compared with the kernel's own
//! sum.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use probe::{Cgroup, Tree, TreeError, Usage};

/// A shell that runs commands line by line, in a control group if possible.
struct Shell {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Shell {
    fn start(group: Option<&Cgroup>) -> Shell {
        let mut child =
            Command::new("sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut shell = Shell {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        for file in group.map(Cgroup::procs_files).unwrap_or_default() {
            shell.run(&format!("echo 0 > {}", file.display()));
        }
        shell
    }

    fn say(&mut self, command: &str) {
        writeln!(self.stdin, "{command}").unwrap();
    }

    /// Waits for the line `done`.
    fn wait(&mut self) {
        let mut line = String::new();
        while line.trim() != "done" {
            line.clear();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the shell ended");
        }
    }

    fn run(&mut self, command: &str) {
        self.say(&format!("{command}; echo done"));
        self.wait();
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn group(name: &str) -> Option<Cgroup> {
    Cgroup::create(&format!("probe-{name}-{}", std::process::id()), None)
        .map_err(|error| eprintln!("without a control group: {error}"))
        .ok()
}

fn total_us(usage: &Usage) -> f64 {
    (usage.user_us + usage.system_us) as f64
}

fn group_us(group: &Cgroup) -> f64 {
    let time = group.cpu().unwrap();
    (time.user_us + time.system_us) as f64
}

/// 300 children, three at a time, each a new program that burns a few milliseconds.
const STORM: &str = "burn='i=0; while [ $i -lt 12000 ]; do i=$((i+1)); done'; n=0; \
    while [ $n -lt 100 ]; do n=$((n+1)); \
    sh -c \"$burn\" & sh -c \"$burn\" & sh -c \"$burn; head -c 100000 /dev/urandom >/dev/null\" & wait; done";

#[test]
fn a_storm_of_children_is_counted_within_two_percent() {
    let Some(group) = group("storm") else {
        return against_getrusage();
    };
    let mut shell = Shell::start(Some(&group));
    let mut tree = Tree::new(shell.child.id()).unwrap();
    let first = tree.sample().unwrap();
    let group_first = group_us(&group);
    shell.say(&format!("({STORM}); echo done"));
    let mut last = first;
    let mut worst: f64 = 0.0;
    let mut samples = 0;
    let mut most = 0;
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1500) {
        std::thread::sleep(Duration::from_millis(15));
        let before = group_us(&group) - group_first;
        let now = tree.sample().unwrap();
        let after = group_us(&group) - group_first;
        assert!(now.user_us >= last.user_us && now.system_us >= last.system_us);
        assert!(now.switches >= last.switches);
        let mine = total_us(&now) - total_us(&first);
        let off = (before - mine).max(mine - after).max(0.0);
        worst = worst.max(off);
        most = most.max(now.processes);
        last = now;
        samples += 1;
    }
    shell.wait();
    let end = tree.sample().unwrap();
    let mine = total_us(&end) - total_us(&first);
    let kernel = group_us(&group) - group_first;
    let off = (mine / kernel - 1.0).abs();
    println!(
        "tree {mine} µs, group {kernel} µs, off by {:.3}%; worst of {samples} samples on the way {worst} µs; \
         at most {most} processes",
        off * 100.0
    );
    assert!(kernel > 1e6, "the storm was too small to tell: {kernel} µs");
    assert!(off < 0.02, "tree {mine} µs, group {kernel} µs");
    assert!(most >= 3);
    let time = group.cpu().unwrap();
    let share = |user: u64, system: u64| user as f64 / (user + system) as f64;
    let apart = share(end.user_us, end.system_us) - share(time.user_us, time.system_us);
    assert!(apart.abs() < 0.1, "{end:?} {time:?}");
    drop(shell);
    let directories = group.directories().to_vec();
    group.remove().unwrap();
    assert!(directories.iter().all(|directory| !directory.exists()));
}

/// Compares with the kernel's sum for the children that a parent waited for, if no group can be
/// created.
fn against_getrusage() {
    let children_us = || {
        let usage =
            nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN).unwrap();
        let us =
            |time: nix::sys::time::TimeVal| (time.tv_sec() * 1_000_000 + time.tv_usec()) as f64;
        us(usage.user_time()) + us(usage.system_time())
    };
    let before = children_us();
    let mut shell = Shell::start(None);
    let mut tree = Tree::new(shell.child.id()).unwrap();
    shell.run(STORM);
    let mine = total_us(&tree.sample().unwrap());
    shell.say("exit");
    shell.child.wait().unwrap();
    let kernel = children_us() - before;
    assert!((mine / kernel - 1.0).abs() < 0.02, "tree {mine} µs, getrusage {kernel} µs");
}

#[test]
fn orphans_and_their_usage_stay_in_the_tree() {
    let group = group("orphan");
    let mut shell = Shell::start(group.as_ref());
    let mut tree = Tree::new(shell.child.id()).unwrap();
    let first = total_us(&tree.sample().unwrap());
    let group_first = group.as_ref().map(group_us);
    // The middle shell ends first; its child burns on as a child of init, then ends too. It rests
    // before it ends, so all its usage is seen, however rarely it is sampled.
    shell.say("sh -c '(i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done; sleep 2) & sleep 1' &");
    let begun = Instant::now();
    let mut orphaned = false;
    let mut used = 0.0;
    let mut most = 0;
    while begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(10));
        let now = tree.sample().unwrap();
        used = total_us(&now) - first;
        most = most.max(now.processes);
        // The root, the middle shell and its sleep, the child; then no middle shell any more.
        orphaned |= most >= 4 && (2..4).contains(&now.processes);
        if orphaned && now.processes == 1 {
            break;
        }
    }
    assert_eq!(tree.last().processes, 1);
    assert!(orphaned, "the orphan was not followed");
    assert!(used > 20_000.0, "the orphan's time was lost: {used} µs");
    if let (Some(group), Some(group_first)) = (&group, group_first) {
        let kernel = group_us(group) - group_first;
        println!("tree {used} µs, group {kernel} µs");
        // The tree lacks up to two ticks of what its children used, and the last moments of each
        // child, which only the group is charged for.
        let difference = (kernel - used).abs();
        assert!(difference < 0.05 * kernel + 20_000.0, "tree {used} µs, group {kernel} µs");
    }
}

#[test]
fn bytes_of_ended_children_stay_counted() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = directory.path().join("bytes");
    let mut shell = Shell::start(None);
    let mut tree = Tree::new(shell.child.id()).unwrap();
    let before = tree.sample().unwrap();
    if !before.io_known {
        return testing::skip("this user may not read byte counts");
    }
    shell.run(&format!("head -c 3000000 /dev/zero > {}", file.display()));
    let after = tree.sample().unwrap();
    let written = after.write_bytes - before.write_bytes;
    assert!((3_000_000..3_200_000).contains(&written), "{written}");
}

#[test]
fn an_ended_root_is_reported_as_gone() {
    let mut shell = Shell::start(None);
    let pid = shell.child.id();
    let mut tree = Tree::new(pid).unwrap();
    let last = tree.sample().unwrap();
    shell.say("exit");
    shell.child.wait().unwrap();
    assert!(matches!(tree.sample(), Err(TreeError::Gone { pid: gone }) if gone == pid));
    assert_eq!(tree.last(), last);
    assert!(matches!(Tree::new(pid), Err(TreeError::Gone { .. })));
}

#[test]
fn threads_of_members_are_counted() {
    // This process as the tree: a second thread burns, switches and ends.
    let mut tree = Tree::new(std::process::id()).unwrap();
    let before = tree.sample().unwrap();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let worker = std::thread::spawn(move || {
        while stopped.recv_timeout(Duration::from_micros(50)).is_err() {}
        crate::sampling::burn(Duration::from_millis(30));
    });
    let begun = Instant::now();
    let mut middle = before;
    while middle.switches <= before.switches + 20 {
        assert!(begun.elapsed() < Duration::from_secs(600), "{before:?} {middle:?}");
        middle = tree.sample().unwrap();
    }
    stop.send(()).unwrap();
    worker.join().unwrap();
    let after = tree.sample().unwrap();
    assert!(after.switches >= middle.switches);
    assert!(total_us(&after) > total_us(&before) + 10_000.0);
}
