//! A server that is killed and started again on what it left.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use dbms::System;
use drive::{Single, Target};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::wait_for;

/// The new process, which ends on drop, or with the process that tests.
pub struct Revived(Child);

/// How long it may take to end when asked to.
const PATIENCE: Duration = Duration::from_secs(60);

fn signal(pid: u32, signal: Signal) {
    // It fails only if the process has ended already.
    let _ = kill(Pid::from_raw(pid as i32), signal);
}

impl Revived {
    /// Kills all processes of a server at once, and starts the same program with the same arguments
    /// as the same user; returns when it accepts connections.
    pub fn of(server: &mut dyn System, target: &Target) -> Revived {
        let pid = server.root_pid().unwrap();
        let directory = PathBuf::from(format!("/proc/{pid}"));
        let list = |name: &str| -> Vec<OsString> {
            let bytes = fs::read(directory.join(name)).unwrap();
            let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
            words.map(|word| OsString::from_vec(word.to_vec())).collect()
        };
        let program = fs::read_link(directory.join("exe")).unwrap();
        let place = fs::read_link(directory.join("cwd")).unwrap();
        let (arguments, variables) = (list("cmdline"), list("environ"));
        let owner = fs::metadata(&directory).unwrap();
        let start = || {
            let mut command = Command::new(&program);
            command.arg0(&arguments[0]).args(&arguments[1..]).env_clear().current_dir(&place);
            for variable in &variables {
                let (name, value) = variable.to_str().unwrap().split_once('=').unwrap();
                command.env(name, value);
            }
            if nix::unistd::geteuid().is_root() {
                command.uid(owner.uid()).gid(owner.gid());
            }
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // SAFETY: between fork and exec this makes one system call and allocates nothing.
            unsafe { command.pre_exec(|| Ok(set_pdeathsig(Signal::SIGKILL)?)) };
            command.spawn().unwrap()
        };
        // While it is stopped, it neither notices nor starts others.
        signal(pid, Signal::SIGSTOP);
        let children = fs::read_to_string(directory.join(format!("task/{pid}/children"))).unwrap();
        let children = children.split_whitespace().map(|child| child.parse().unwrap());
        children.for_each(|child| signal(child, Signal::SIGKILL));
        signal(pid, Signal::SIGKILL);
        wait_for("its end", || server.died().is_some());
        let mut revived = Revived(start());
        wait_for("recovery", || {
            // While processes of the old one are still there, the new one may refuse to start.
            if revived.0.try_wait().unwrap().is_some() {
                thread::sleep(Duration::from_millis(100));
                revived = Revived(start());
            }
            Single::connect(target, 0, 0).is_ok()
        });
        revived
    }
}

impl Drop for Revived {
    fn drop(&mut self) {
        // It removes what it shares with its processes in memory.
        signal(self.0.id(), Signal::SIGTERM);
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE && matches!(self.0.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(20));
        }
        // Both fail only if it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
