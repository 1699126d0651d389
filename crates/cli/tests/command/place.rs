//! A place for one test: directories of its own, and the proof at the end that nothing is left.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Longer than any command of these tests takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(900);
/// Processes whose parent was killed get this long to notice.
const NOTICE: Duration = Duration::from_secs(300);

/// Directories of one test. Checks when dropped that no process, no data, no ledger entry and no
/// control group is left of the commands that ran in it.
pub struct Place {
    directory: tempfile::TempDir,
    pids: RefCell<Vec<u32>>,
    /// Control groups of others. A run may get the pid of a killed one that has left some.
    groups: Vec<PathBuf>,
}

/// A command that has ended.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A command that runs.
pub struct Running {
    child: Child,
    lines: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<String>>,
}

impl Place {
    pub fn new() -> Self {
        let (directory, pids) = (testing::directory(), RefCell::default());
        Self { directory, pids, groups: control_groups() }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn results(&self) -> PathBuf {
        self.path().join("results")
    }

    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub fn ledger(&self) -> dbms::Ledger {
        dbms::Ledger::open(self.path().join("state")).unwrap()
    }

    /// Writes a plan and returns its path.
    pub fn plan(&self, text: &str) -> String {
        self.file("plan.toml", text)
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The command with this test's directories.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("steelyard"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("STEELYARD_STATE", self.path().join("state"))
            .env("STEELYARD_RESULTS", self.results())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a command that does not measure, or not alone.
    pub fn start(&self, arguments: &[&str]) -> Running {
        self.spawn(self.command(arguments))
    }

    /// Starts a command made by [`Place::command`], or one that becomes such a command.
    pub fn spawn(&self, mut command: Command) -> Running {
        let mut child = command.spawn().unwrap();
        self.pids.borrow_mut().push(child.id());
        let lines = Arc::new(Mutex::new(String::new()));
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let heard = Arc::clone(&lines);
        let readers = vec![
            std::thread::spawn(move || read_all(stdout)),
            std::thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    let mut heard = heard.lock().unwrap();
                    heard.push_str(&line);
                    heard.push('\n');
                }
                String::new()
            }),
        ];
        Running { child, lines, readers }
    }

    pub fn steelyard(&self, arguments: &[&str]) -> Ended {
        self.start(arguments).end()
    }

    /// Starts `steelyard run` in parallel with other tests, with the data in this place.
    pub fn start_run(&self, arguments: &[&str]) -> Running {
        let data = self.data();
        let mut all = vec!["run", "--allow-concurrent", "--data-dir", data.to_str().unwrap()];
        all.extend(arguments);
        self.start(&all)
    }

    /// The same with something around the command, which in the end becomes it.
    pub fn start_run_in(
        &self,
        around: impl Fn(&Command) -> Command,
        arguments: &[&str],
    ) -> Running {
        let data = self.data();
        let mut all = vec!["run", "--allow-concurrent", "--data-dir", data.to_str().unwrap()];
        all.extend(arguments);
        let inner = self.command(&all);
        let mut command = around(&inner);
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        self.spawn(command)
    }

    /// Starts a run whose stderr is closed.
    pub fn start_deaf_run(&self, arguments: &[&str]) -> Child {
        let data = self.data();
        let mut all = vec!["run", "--allow-concurrent", "--data-dir", data.to_str().unwrap()];
        all.extend(arguments);
        let mut child = self.command(&all).stdout(Stdio::null()).spawn().unwrap();
        self.pids.borrow_mut().push(child.id());
        drop(child.stderr.take());
        child
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        self.start_run(arguments).end()
    }

    /// Asserts that no command that ran here left anything behind. Drop checks it too.
    pub fn assert_nothing_left(&self) {
        let pids = self.pids.borrow();
        let begin = Instant::now();
        while !processes_of(self.path()).is_empty() && begin.elapsed() < NOTICE {
            std::thread::sleep(Duration::from_millis(20));
        }
        let running: Vec<_> =
            processes_of(self.path()).into_iter().filter(|pid| !pids.contains(pid)).collect();
        assert!(running.is_empty(), "processes are left: {running:?}");
        let data = names(&self.data());
        assert!(data.is_empty(), "left in the data directory: {data:?}");
        let entries = self.ledger().records().unwrap();
        assert!(entries.is_empty(), "entries are left in the ledger: {entries:?}");
        let prefixes: Vec<_> = pids.iter().map(|pid| format!("steelyard-{pid}-")).collect();
        let own = |group: &PathBuf| {
            let name = group.file_name().unwrap_or_default().to_string_lossy();
            prefixes.iter().any(|prefix| name.starts_with(prefix)) && !self.groups.contains(group)
        };
        let groups: Vec<_> = control_groups().into_iter().filter(own).collect();
        assert!(groups.is_empty(), "control groups are left: {groups:?}");
    }

    /// Waits until the server of a variant is under load, however long that takes to begin, and
    /// returns its pid: one of its sessions has used so much CPU time that it must be a client's.
    /// It asks for no more than that, because a client needs little where commits are slow.
    pub fn wait_for_load(&self, variant: &str) -> Pid {
        let records = self.ledger().records().unwrap();
        // One without a process is of data that was loaded.
        let mut own = records.iter().filter(|record| record.name == variant);
        let server = own.find_map(|record| record.process.as_ref()).unwrap().pid;
        let (begin, mut first) = (Instant::now(), HashMap::new());
        let worked = |(session, used): (u32, Duration), first: &mut HashMap<_, _>| {
            used - *first.entry(session).or_insert(used) > Duration::from_millis(30)
        };
        while !sessions_of(server).into_iter().any(|session| worked(session, &mut first)) {
            assert!(begin.elapsed() < LIMIT, "no load begins on {variant}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Pid::from_raw(server as i32)
    }

    /// Waits until a process has used CPU time again, 0.05 s, however long that takes.
    pub fn wait_for_work(&self, process: Pid) {
        let used = || {
            let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
            let (_, fields) = text.rsplit_once(')').unwrap();
            // utime and stime, in ticks (proc(5)).
            let fields = fields.split_whitespace().skip(14 - 3).take(2);
            fields.map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
        };
        let (begin, first) = (Instant::now(), used());
        while used() < first + 5 {
            assert!(begin.elapsed() < LIMIT, "process {process} does nothing");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the kernel has ended the processes of a command that was killed.
    pub fn wait_until_gone(&self) {
        let begin = Instant::now();
        while !processes_of(self.path()).is_empty() {
            assert!(begin.elapsed() < NOTICE, "{:?}", processes_of(self.path()));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A failed test must not leave servers on the machine.
            for pid in processes_of(self.path()) {
                let _ = kill(Pid::from_raw(pid as i32), Signal::SIGKILL);
            }
        } else {
            self.assert_nothing_left();
        }
    }
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// What it has written to stderr so far.
    pub fn heard(&self) -> String {
        self.lines.lock().unwrap().clone()
    }

    /// Waits until stderr has `after` and, later, `text`.
    pub fn wait_for(&mut self, after: &str, text: &str) {
        let begin = Instant::now();
        loop {
            let heard = self.heard();
            if heard.split_once(after).is_some_and(|(_, rest)| rest.contains(text)) {
                return;
            }
            let ended = self.child.try_wait().unwrap();
            if ended.is_some() || begin.elapsed() > LIMIT {
                let _ = self.child.kill();
                panic!("`{after}` … `{text}` does not come ({ended:?}):\n{heard}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the end.
    pub fn end(mut self) -> Ended {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > LIMIT {
                let _ = self.child.kill();
                panic!("no end after {LIMIT:?}:\n{}", self.lines.lock().unwrap());
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut stdout = String::new();
        for reader in self.readers.drain(..) {
            stdout.push_str(&reader.join().unwrap());
        }
        let stderr = self.lines.lock().unwrap().clone();
        Ended { code: status.code(), stdout, stderr }
    }
}

impl Ended {
    /// It ended with `code`, and stderr has all `parts`.
    #[track_caller]
    pub fn expect(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "`{part}` is missing in:\n{}", self.stderr);
        }
    }
}

fn read_all(mut from: impl Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}

/// Names in a directory; empty if it does not exist.
pub fn names(directory: &Path) -> Vec<String> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

/// Processes whose working directory or command line has something to do with `directory`.
pub fn processes_of(directory: &Path) -> Vec<u32> {
    let text = directory.to_str().unwrap();
    let all = fs::read_dir("/proc").unwrap();
    all.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != std::process::id())
        .filter(|pid| {
            fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(directory))
                || fs::read(format!("/proc/{pid}/cmdline"))
                    .is_ok_and(|line| String::from_utf8_lossy(&line).contains(text))
        })
        .collect()
}

/// The sessions of a server on this machine, with the CPU time that each has used.
fn sessions_of(server: u32) -> Vec<(u32, Duration)> {
    let children = fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
    let children = children.unwrap_or_default();
    let session = |pid: u32| {
        let title = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let used = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
        let used = used.split_whitespace().next()?.parse().ok()?;
        let local = String::from_utf8_lossy(&title).contains("[local]");
        local.then_some((pid, Duration::from_nanos(used)))
    };
    children.split_whitespace().filter_map(|pid| session(pid.parse().ok()?)).collect()
}

/// Control groups of all runs.
fn control_groups() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(directory) = left.pop() {
        let Ok(listing) = fs::read_dir(&directory) else { continue };
        for entry in listing.flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with("steelyard-") {
                found.push(entry.path());
            }
            left.push(entry.path());
        }
    }
    found
}
