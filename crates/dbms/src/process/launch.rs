//! Running programs as the unprivileged user.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::process::loader;
use crate::process::proc::wait_until;
use crate::{Error, ServerUser};

/// Where programs are looked for, in the form of the environment variable PATH.
pub const PROGRAM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// How long to wait for killed processes to disappear.
const DEATH: Duration = Duration::from_secs(2);

/// A command that runs `program` as `user`, one of a container image with the libraries of that
/// image. From the environment it gets only what its libraries
/// need, so two runs see the same. It has umask 077 and its own session, so Ctrl-C in a terminal
/// doesn't reach it. It gets SIGQUIT when the thread that starts it ends, as when steelyard dies.
/// It is in the control groups of the given `cgroup.procs` files.
///
/// # Errors
/// [`Error::Io`] if one of the files can't be written to.
pub fn command(
    program: impl AsRef<Path>,
    user: &ServerUser,
    procs_files: &[PathBuf],
) -> Result<Command, Error> {
    command_in(None, libc::SIGQUIT, program.as_ref(), user, procs_files)
}

/// The same, with another signal when steelyard dies, and in another network namespace if one is
/// given (a file as in `/proc/PID/ns/net`).
pub(crate) fn command_in(
    network: Option<File>,
    death: libc::c_int,
    program: &Path,
    user: &ServerUser,
    procs_files: &[PathBuf],
) -> Result<Command, Error> {
    let groups = procs_files
        .iter()
        .map(|path| OpenOptions::new().write(true).open(path).map_err(Error::io("open", path)))
        .collect::<Result<Vec<File>, Error>>()?;
    let words = loader::words(program);
    let mut command = Command::new(words.first().map_or(program.as_os_str(), |word| word));
    command.args(words.iter().skip(1));
    command.env_clear().stdin(Stdio::null()).current_dir("/");
    for (name, value) in [("PATH", PROGRAM_PATH), ("LC_ALL", "C"), ("TZ", "UTC")] {
        command.env(name, value);
    }
    for name in ["LD_LIBRARY_PATH", "LD_PRELOAD"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let (uid, gid, change) = (user.uid, user.gid, user.differs());
    let parent = std::process::id();
    // SAFETY: the closure runs between fork and exec and makes only system calls that are
    // async-signal-safe; it allocates nothing and takes no lock. The files it holds were opened
    // before.
    unsafe {
        command.pre_exec(move || {
            prepare(&groups, network.as_ref())?;
            become_user(uid, gid, change, parent, death)
        });
    }
    Ok(command)
}

/// The environment variable with which a program finds libraries in these directories first.
pub(crate) fn libraries(directories: &[PathBuf]) -> Option<(&'static str, OsString)> {
    const NAME: &str = "LD_LIBRARY_PATH";
    if directories.is_empty() {
        return None;
    }
    let inherited = std::env::var_os(NAME).unwrap_or_default();
    let inherited: Vec<PathBuf> = std::env::split_paths(&inherited).collect();
    let all = directories.iter().chain(&inherited);
    std::env::join_paths(all).ok().map(|path| (NAME, path))
}

/// Prepares the new process, before it gives up permissions and becomes the program.
fn prepare(groups: &[File], network: Option<&File>) -> io::Result<()> {
    for group in groups {
        // "0" means the writing process, see Control Group v2, "cgroup.procs".
        // SAFETY: the descriptor is open, the buffer is static and its length is given.
        check(unsafe { libc::write(group.as_raw_fd(), b"0\n".as_ptr().cast(), 2) } as libc::c_int)?;
    }
    if let Some(network) = network {
        // SAFETY: the descriptor is open.
        check(unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) })?;
    }
    Ok(())
}

/// Runs in the new process after that.
fn become_user(
    uid: u32,
    gid: u32,
    change: bool,
    parent: u32,
    death: libc::c_int,
) -> io::Result<()> {
    // SAFETY: these take integers only, but for setgroups, which gets a pointer to one valid gid.
    unsafe {
        check(libc::setsid())?;
        libc::umask(0o077);
        // A shell makes its background jobs ignore SIGQUIT, and their programs inherit that. Here
        // the signal must end them.
        for signal in [libc::SIGQUIT, libc::SIGTERM] {
            if libc::signal(signal, libc::SIG_DFL) == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
        if change {
            check(libc::setgroups(1, &raw const gid))?;
            check(libc::setgid(gid))?;
            check(libc::setuid(uid))?;
        }
        // A change of user clears this, so it comes afterwards (prctl(2)).
        check(libc::prctl(libc::PR_SET_PDEATHSIG, death))?;
        // If the parent died before that call, no signal would ever come.
        if libc::getppid().cast_unsigned() != parent {
            return Err(io::Error::from_raw_os_error(libc::ECHILD));
        }
    }
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Spawns `command` from a thread that lives as long as this process. For the death signal, the
/// kernel's parent is the thread that forked, not the process (prctl(2), PR_SET_PDEATHSIG). Returns
/// the command too, which can be spawned again.
pub(crate) fn spawn(command: Command) -> io::Result<(Child, Command)> {
    type Job = (Command, Sender<io::Result<(Child, Command)>>);
    static KEEPER: OnceLock<Sender<Job>> = OnceLock::new();
    let keeper = match KEEPER.get() {
        Some(keeper) => keeper,
        None => {
            let (sender, receiver) = channel::<Job>();
            std::thread::Builder::new().name("steelyard-spawn".to_owned()).spawn(move || {
                for (mut command, reply) in receiver {
                    let _ = reply.send(command.spawn().map(|child| (child, command)));
                }
            })?;
            // If two threads get here at once, one loses; its keeper ends unused.
            KEEPER.get_or_init(|| sender)
        }
    };
    let (reply, answer) = channel();
    keeper.send((command, reply)).map_err(io::Error::other)?;
    answer.recv().map_err(io::Error::other)?
}

/// Runs a program to its end. Once `interrupted` is set, it is killed with everything it started.
///
/// # Errors
/// [`Error::Interrupted`] says what the program was `doing`.
pub(crate) fn finish(
    command: Command,
    interrupted: &AtomicBool,
    doing: &'static str,
) -> Result<ExitStatus, Error> {
    let program = PathBuf::from(command.get_program());
    let (mut child, _) = spawn(command).map_err(Error::io("run", &program))?;
    let error = loop {
        match child.try_wait().map_err(Error::io("wait for", &program)) {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {}
            Err(error) => break error,
        }
        if let Err(interrupted) = Error::check(interrupted, doing) {
            break interrupted;
        }
        sleep(Duration::from_millis(5));
    };
    // It leads its group and has not been waited for, so no other group can have that number.
    let group = i32::try_from(child.id()).map(Pid::from_raw);
    let signal = |signal: Option<Signal>| group.is_ok_and(|group| killpg(group, signal).is_ok());
    signal(Some(Signal::SIGKILL));
    let _ = child.wait();
    // The process that it started dies at the same time, but is not gone at once.
    wait_until(DEATH, || !signal(None));
    Err(error)
}

/// Runs a program to its end with `input` on its standard input.
pub(crate) fn output(mut command: Command, input: Option<&str>) -> Result<Output, Error> {
    let program = PathBuf::from(command.get_program());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let (mut child, _) = spawn(command).map_err(Error::io("run", &program))?;
    if let (Some(text), Some(mut stdin)) = (input, child.stdin.take()) {
        // If a program ends early without reading, its output says why.
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait_with_output().map_err(Error::io("wait for", &program))
}

/// The same for a helper program; returns all that it wrote.
///
/// # Errors
/// [`Error::Program`] with the last lines of its output if it fails.
pub(crate) fn run(command: Command, what: &str, input: Option<&str>) -> Result<String, Error> {
    let program = PathBuf::from(command.get_program());
    let output = output(command, input)?;
    let text = text(&output.stdout) + &text(&output.stderr);
    if output.status.success() {
        return Ok(text);
    }
    let program = format!("{} ({what})", program.display());
    Err(Error::program(program, output.status, &text))
}

/// The output of a program as text.
pub(crate) fn text(written: &[u8]) -> String {
    String::from_utf8_lossy(written).into_owned()
}

/// The end of a file, at most its last `most` bytes; empty if it cannot be read.
pub(crate) fn end_of(path: &Path, most: u64) -> String {
    let mut end = Vec::new();
    let mut read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
        file.read_to_end(&mut end)
    };
    // Whatever was read before an error is used.
    let _ = read();
    String::from_utf8_lossy(&end).into_owned()
}
