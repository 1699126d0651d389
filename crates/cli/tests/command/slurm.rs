//! A Slurm of our own for one test: a controller and nodes, each in a network namespace of its own,
//! all as Slurm's unprivileged user, with their own munge.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::moto;

/// How long anything may take on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(600);
/// The user that Debian's package makes.
const USER: &str = "slurm";
/// The name of the S3 servers' user.
const KEY: &str = "AKIAIOSFODNN7EXAMPLE";
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
const PROGRAMS: [&str; 7] = ["slurmctld", "slurmd", "sbatch", "munged", "ip", "nsenter", "setpriv"];

/// Ended when dropped.
pub struct Slurm {
    folder: tempfile::TempDir,
    /// Names of the namespaces: the controller's, then the nodes'.
    namespaces: Vec<String>,
    /// An S3 server where the controller is; otherwise results go to a shared directory.
    storage: Option<Child>,
}

impl Slurm {
    /// Starts one; `None` if that is impossible here.
    pub fn start(nodes: usize) -> Option<Self> {
        if !nix::unistd::geteuid().is_root() {
            testing::skip("network namespaces need root");
            return None;
        }
        let there = |program: &&str| PATH.split(':').any(|it| Path::new(it).join(program).exists());
        if let Some(missing) = PROGRAMS.iter().find(|program| !there(program)) {
            testing::skip(format!("{missing} is not installed; scripts/setup.sh test installs it"));
            return None;
        }
        let folder = testing::directory();
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let namespaces = (0..=nodes).map(|node| format!("sy{process}-{count}-{node}")).collect();
        let slurm = Self { folder, namespaces, storage: None };
        slurm.set_up(nodes);
        Some(slurm)
    }

    /// The same with moto as S3 server, which all nodes reach.
    pub fn start_with_moto(nodes: usize) -> Option<Self> {
        let server = moto::program("moto", "moto_server")?;
        let mut slurm = Self::start(nodes)?;
        let mut command = slurm.inside(0, server.to_str().unwrap());
        slurm.serve(command.args(["-H", "10.77.0.1", "-p", "5000"]));
        let bucket = "import boto3\nboto3.client('s3').create_bucket(Bucket='bucket')\n";
        let python = moto::program("moto", "python")?;
        slurm.wait_until("there is a bucket", || {
            let output = slurm.command(python.to_str().unwrap(), &["-c", bucket]);
            output.status.success()
        });
        Some(slurm)
    }

    /// The same with VersityGW as S3 server, which keeps objects as files.
    pub fn start_with_versitygw(nodes: usize) -> Option<Self> {
        let server = moto::program("versitygw", "versitygw")?;
        let mut slurm = Self::start(nodes)?;
        let bucket = slurm.command("mkdir", &["-p", "objects/bucket"]);
        assert!(bucket.status.success());
        let mut command = slurm.inside(0, server.to_str().unwrap());
        command.env("ROOT_ACCESS_KEY", KEY).env("ROOT_SECRET_KEY", moto::SECRET);
        slurm.serve(command.args(["--port", "10.77.0.1:5000", "posix", "objects"]));
        let address = slurm.address();
        slurm.wait_until("the server answers", || {
            let words = ["status", "--results", &address];
            slurm.command(slurm.steelyard().to_str().unwrap(), &words).status.success()
        });
        Some(slurm)
    }

    fn serve(&mut self, command: &mut Command) {
        let log = File::create(self.path().join("log/storage.log")).unwrap();
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.storage = Some(command.spawn().unwrap());
    }

    /// The process of the S3 server.
    pub fn storage(&self) -> Option<Pid> {
        Some(Pid::from_raw(self.storage.as_ref()?.id().cast_signed()))
    }

    fn set_up(&self, nodes: usize) {
        for folder in ["state", "log", "run", "home", "shared"] {
            fs::create_dir_all(self.path().join(folder)).unwrap();
        }
        for node in 1..=nodes {
            fs::create_dir_all(self.path().join(format!("spool-n{node}"))).unwrap();
        }
        // Where that user may run it.
        fs::copy(cargo_bin!("steelyard"), self.steelyard()).unwrap();
        let key: Vec<u8> = testing::noise(1024);
        fs::write(self.path().join("munge.key"), key).unwrap();
        done(Command::new("chmod").arg("400").arg(self.path().join("munge.key")));
        self.configure(nodes);
        done(Command::new("chown").args(["-R", USER]).arg(self.path()));
        let ip = |words: &str| done(Command::new("ip").args(words.split(' ')));
        let control = &self.namespaces[0];
        for (node, namespace) in self.namespaces.iter().enumerate() {
            ip(&format!("netns add {namespace}"));
            ip(&format!("-n {namespace} link set lo up"));
            if node == 0 {
                ip(&format!("-n {control} link add br0 type bridge"));
                ip(&format!("-n {control} addr add 10.77.0.1/24 dev br0"));
                ip(&format!("-n {control} link set br0 up"));
                continue;
            }
            ip(&format!(
                "-n {control} link add v{node} type veth peer name eth0 netns {namespace}"
            ));
            ip(&format!("-n {control} link set v{node} master br0 up"));
            ip(&format!("-n {namespace} addr add 10.77.0.1{node}/24 dev eth0"));
            ip(&format!("-n {namespace} link set eth0 up"));
        }
        let run = self.path().join("run");
        let of = |option: &str, file: PathBuf| format!("--{option}={}", file.display());
        // In the controller's namespace, so that it ends with the rest.
        done(self.inside(0, "munged").args([
            of("key-file", self.path().join("munge.key")),
            of("socket", run.join("munge.socket")),
            of("pid-file", run.join("munged.pid")),
            of("seed-file", run.join("seed")),
            of("log-file", self.path().join("log/munged.log")),
        ]));
        self.start_controller();
        for node in 1..=nodes {
            self.start_node(node);
        }
        let ready =
            || String::from_utf8(self.command("sinfo", &["-h", "-t", "idle", "-o", "%D"]).stdout);
        self.wait_until("the nodes are idle", || ready().unwrap().trim() == nodes.to_string());
    }

    /// Writes the files of `steelyard setup cluster`, and after them what differs here: Slurm runs
    /// as a user, in this place, without control groups. Of a setting that is there twice, Slurm
    /// takes the last.
    fn configure(&self, nodes: usize) {
        let place = self.path().display();
        let lines = (1..=nodes).map(|node| {
            format!(
                "NodeName=n{node} NodeAddr=10.77.0.1{node} CPUs=1 RealMemory=1000\n\
                 UpTime=0-00:00:01\n"
            )
        });
        let (file, folder) = (self.path().join("nodes.txt"), self.path().join("cluster"));
        fs::write(&file, lines.collect::<String>()).unwrap();
        let mut command = Command::new(self.steelyard());
        command.args(["setup", "cluster", "--controller", "n0(10.77.0.1)", "--nodes"]);
        command.arg(&file).arg("--steelyard").arg(self.steelyard()).arg("-o").arg(&folder);
        done(command.env("HOME", self.path()));
        let written = fs::read_to_string(folder.join("slurm.conf")).unwrap();
        let own = format!(
            "SlurmUser={USER}\nSlurmdUser={USER}\n\
             AuthInfo=socket={place}/run/munge.socket,cred_expire=5\n\
             StateSaveLocation={place}/state\nSlurmdSpoolDir={place}/spool-%n\n\
             SlurmctldPidFile={place}/run/slurmctld.pid\nSlurmdPidFile={place}/run/slurmd-%n.pid\n\
             SlurmctldLogFile={place}/log/slurmctld.txt\nSlurmdLogFile={place}/log/slurmd-%n.txt\n\
             JobCompLoc={place}/log/jobs.txt\nProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\nSlurmdTimeout=10\nKillWait=10\n\
             SchedulerParameters=nohold_on_prolog_fail,batch_sched_delay=0,sched_interval=1\n\
             Prolog=/bin/true\n"
        );
        fs::write(self.path().join("slurm.conf"), written + &own).unwrap();
    }

    /// Starts the controller.
    pub fn start_controller(&self) {
        self.spawn(0, "slurmctld", &["-D"]);
    }

    /// Starts a node's daemon.
    pub fn start_node(&self, node: usize) {
        self.spawn(node, "slurmd", &["-D", "-N", &format!("n{node}")]);
    }

    /// Starts a node's daemon where processes may open few files, as `doctor` says.
    pub fn start_unfit_node(&self, node: usize) {
        let name = format!("n{node}");
        self.spawn(node, "prlimit", &["--nofile=1024:1024", "slurmd", "-D", "-N", &name]);
    }

    fn spawn(&self, node: usize, program: &str, words: &[&str]) {
        let log = File::create(self.path().join(format!("log/{program}-{node}.log"))).unwrap();
        let errors = log.try_clone().unwrap();
        let mut command = self.inside(node, program);
        command.args(words).stdin(Stdio::null()).stdout(log).stderr(errors);
        // What is left of it is ended with its namespace.
        drop(command.spawn().unwrap());
    }

    /// Ends the controller.
    pub fn lose_controller(&self) {
        self.kill(0, "slurmctld");
    }

    /// Connects a node with the others, or cuts it off.
    pub fn connect(&self, node: usize, connected: bool) {
        let (control, state) = (&self.namespaces[0], if connected { "up" } else { "down" });
        let words = format!("-n {control} link set v{node} {state}");
        done(Command::new("ip").args(words.split(' ')));
    }

    /// Ends a node's daemon, as if the node could not be reached: Slurm takes it for lost, while
    /// what runs there goes on.
    pub fn lose_node(&self, node: usize) {
        self.kill(node, "slurmd");
    }

    fn kill(&self, node: usize, program: &str) {
        let is = |pid: &Pid| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            name.trim() == program
        };
        for pid in pids(&self.namespaces[node]).into_iter().filter(is) {
            kill(pid, Signal::SIGKILL).unwrap();
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The command, where that user may run it.
    pub fn steelyard(&self) -> PathBuf {
        self.path().join("steelyard")
    }

    /// The address that all nodes reach.
    pub fn address(&self) -> String {
        if self.storage.is_some() {
            return "s3://bucket/bench".to_owned();
        }
        format!("file://{}", self.path().join("shared").display())
    }

    /// A program on a node, or where the controller is (0), run by Slurm's user.
    fn inside(&self, node: usize, program: &str) -> Command {
        let net = format!("--net=/run/netns/{}", self.namespaces[node]);
        let mut command = Command::new("nsenter");
        let script = format!("hostname n{node} && exec \"$@\"");
        command.args([&net, "unshare", "--uts", "sh", "-c", &script, "-"]);
        command.args(["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"]);
        command.arg(program).current_dir(self.path().join("home")).env_clear();
        command
            .env("PATH", PATH)
            .env("HOME", self.path().join("home"))
            .env("SLURM_CONF", self.path().join("slurm.conf"))
            .env("STEELYARD_CACHE", self.path().join("home/cache"))
            .env("STEELYARD_STATE", self.path().join("home/state"))
            // Those of the S3 server, if there is one.
            .env("AWS_ENDPOINT_URL", "http://10.77.0.1:5000")
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_DEFAULT_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", KEY)
            .env("AWS_SECRET_ACCESS_KEY", moto::SECRET);
        command
    }

    /// Starts a program on a node.
    pub fn background(&self, node: usize, program: &str, words: &[&str]) -> Child {
        let mut command = self.inside(node, program);
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs a program where the controller is.
    pub fn command(&self, program: &str, words: &[&str]) -> Output {
        let mut command = self.inside(0, program);
        command.args(words).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs steelyard there, with the shared address; what it printed, and its exit code. All nodes
    /// are one machine, and leave data and logs where they are removed.
    pub fn run(&self, words: &[&str]) -> (String, Option<i32>) {
        let (program, address) = (self.steelyard(), self.address());
        let [logs, data] = ["home", "home/data"].map(|it| self.path().join(it));
        let [logs, data] = [&logs, &data].map(|it| it.to_str().unwrap());
        let here = ["--allow-concurrent", "--log-dir", logs, "--data-dir", data];
        let here = if words.first() == Some(&"submit") { &here[..] } else { &[] };
        let words = [words, here, &["--results", &address]].concat();
        let output = self.command(program.to_str().unwrap(), &words);
        let text = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        (text.concat(), output.status.code())
    }

    /// Processes of steelyard on all nodes that run an element.
    pub fn elements(&self) -> Vec<Pid> {
        let is = |pid: &Pid| {
            let words = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.split('\0').any(|word| word == "element")
        };
        self.namespaces.iter().flat_map(|it| pids(it)).filter(is).collect()
    }

    /// Waits, and says what it waited for and what the logs say if that does not come.
    pub fn wait_until(&self, what: &str, mut is: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !is() {
            assert!(begin.elapsed() < LIMIT, "not true that {what}:\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// The queue, and the ends of all logs.
    pub fn logs(&self) -> String {
        let queue = self.command("squeue", &["--array", "--format", "%F %K %T %N %r"]);
        let mut text = String::from_utf8_lossy(&queue.stdout).into_owned();
        for folder in ["log", "home"] {
            for entry in fs::read_dir(self.path().join(folder)).unwrap().flatten() {
                let Ok(log) = fs::read_to_string(entry.path()) else { continue };
                let lines: Vec<&str> = log.lines().collect();
                let last = lines.len().saturating_sub(20);
                text.push_str(&format!(
                    "== {}\n{}\n",
                    entry.path().display(),
                    lines[last..].join("\n")
                ));
            }
        }
        text
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // Nothing else is in these namespaces. A node's job may start one more process.
        for _ in 0..20 {
            let left: Vec<_> = self.namespaces.iter().flat_map(|it| pids(it)).collect();
            if left.is_empty() {
                break;
            }
            for pid in left {
                let _ = kill(pid, Signal::SIGKILL);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        if let Some(mut storage) = self.storage.take() {
            // It was in the controller's namespace, too.
            let _ = storage.wait();
        }
        for namespace in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "del", namespace]).status();
        }
    }
}

/// The processes in a network namespace.
fn pids(namespace: &str) -> Vec<Pid> {
    let output = Command::new("ip").args(["netns", "pids", namespace]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(|pid| Pid::from_raw(pid.parse().unwrap())).collect()
}

/// Runs a command that must succeed.
fn done(command: &mut Command) {
    command.stdin(Stdio::null());
    let output = loop {
        match command.output() {
            // A process that another test has just forked still has it open for writing.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(20));
            }
            output => break output.unwrap(),
        }
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}: {said}", output.status);
}
