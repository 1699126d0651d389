//! The commands of a build. Each is ended together with everything it starts; all output goes to
//! one log.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::api::excerpt;
use crate::data::paths;
use crate::process::launch;
use crate::{Error, ServerUser};

/// The words of a command: texts and paths.
macro_rules! words {
    ($($word:expr),* $(,)?) => { [$(std::ffi::OsString::from($word)),*] };
}
pub(crate) use words;

/// Leads a command's process group (in its own session, see [`launch::command`]). Only this shell
/// gets the kernel's SIGQUIT when steelyard is gone. It then kills everything in the group at once,
/// including itself.
const SUPERVISOR: &str = r#"trap 'kill -KILL 0' QUIT TERM; "$@" & wait "$!""#;

/// How many lines of a failed command to show.
const SHOWN_LINES: usize = 20;
/// How much of the log to read for these.
const ENOUGH: u64 = 256 * 1024;

/// Variables of the caller that a build needs to find its programs and libraries.
const PASSED_ON: [&str; 2] = ["PATH", "PKG_CONFIG_PATH"];

/// Variables that would make git use another repository, such as when steelyard runs in a git hook.
const GIT_LOCAL: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Runs the commands of one build.
pub struct Work<'a> {
    /// The name of the build, for messages.
    pub(crate) what: String,
    /// The directory of this build.
    pub(crate) workshop: PathBuf,
    /// The source in it. Its path is always the same, because debug information contains it.
    pub(crate) tree: PathBuf,
    /// Where to install it, as below `DESTDIR`.
    pub(crate) installed: PathBuf,
    /// The user that compiles.
    user: &'a ServerUser,
    /// That user's directory for temporary files, and its home.
    scratch: PathBuf,
    /// Where ccache keeps its results, if it can't be the caller's directory.
    ccache: Option<PathBuf>,
    interrupted: &'a AtomicBool,
    log: File,
    log_path: PathBuf,
}

impl<'a> Work<'a> {
    /// Begins a build in `workshop`, with its log in it.
    pub(crate) fn begin(
        what: &str,
        user: &'a ServerUser,
        workshop: &Path,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let log_path = workshop.join("log");
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log_path)
            .map_err(Error::io("create", &log_path))?;
        let work = Self {
            what: what.to_owned(),
            workshop: workshop.to_path_buf(),
            tree: workshop.join("tree"),
            installed: workshop.join("installed"),
            user,
            scratch: workshop.join("scratch"),
            ccache: None,
            interrupted,
            log,
            log_path,
        };
        work.directory(&work.scratch)?;
        Ok(work)
    }

    /// Makes ccache keep its results in `path`, unless the caller specified a directory.
    pub(crate) fn keep_ccache_in(&mut self, path: PathBuf) -> Result<(), Error> {
        if self.user.differs() && std::env::var_os("CCACHE_DIR").is_none() {
            let owner = std::fs::symlink_metadata(&path).ok().map(|found| found.uid());
            if owner.is_some_and(|owner| owner != self.user.uid) {
                // An earlier steelyard compiled as another user, whose files this user could not
                // replace.
                std::fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
            }
            if owner != Some(self.user.uid) {
                self.directory(&path)?;
            }
            self.ccache = Some(path);
        }
        Ok(())
    }

    /// Makes a directory of the user that compiles.
    pub(crate) fn directory(&self, path: &Path) -> Result<(), Error> {
        std::fs::create_dir(path).map_err(Error::io("create", path))?;
        paths::hand_over(path, self.user)
    }

    /// Runs `words` in `directory` as the user that compiles, with an environment that is the same
    /// for all.
    pub(crate) fn compile(&self, words: &[OsString], directory: &Path) -> Result<(), Error> {
        let mut command = supervised(words, Some(self.user), Some(&self.scratch))?;
        if let Some(directory) = &self.ccache {
            command.env("CCACHE_DIR", directory);
        }
        command.current_dir(directory);
        self.run(command, words)
    }

    /// Runs git as the caller, in its environment: keys, proxies and helpers are the caller's.
    pub(crate) fn git(&self, words: &[OsString], directory: &Path) -> Result<(), Error> {
        let mut command = supervised(words, None, None)?;
        command.current_dir(directory);
        self.run(command, words)
    }

    fn run(&self, mut command: Command, words: &[OsString]) -> Result<(), Error> {
        let shown = shown(words);
        let io = |doing| Error::io(doing, &self.log_path);
        writeln!(&self.log, "\n$ {shown}").map_err(io("write"))?;
        let output = || self.log.try_clone().map_err(io("share"));
        command.stdout(output()?).stderr(output()?);
        let status = launch::finish(command, self.interrupted, "building from source")?;
        if status.success() {
            return Ok(());
        }
        Err(Error::Build {
            what: self.what.clone(),
            command: shown,
            status: status.to_string(),
            lines: last_lines(&launch::end_of(&self.log_path, ENOUGH), SHOWN_LINES),
            log: self.log_path.clone(),
        })
    }
}

/// A command below the shell that ends everything with it. It runs as `user` with a clean
/// environment and a directory for its files, or (`None`) for git as the caller in its environment.
fn supervised(
    words: &[OsString],
    user: Option<&ServerUser>,
    scratch: Option<&Path>,
) -> Result<Command, Error> {
    let caller = ServerUser::caller();
    let mut command = launch::command(Path::new("/bin/sh"), user.unwrap_or(&caller), &[])?;
    command.args(["-c", SUPERVISOR, "sh"]).args(words);
    match user {
        Some(user) => clean_environment(&mut command, scratch, user),
        None => git_environment(&mut command),
    }
    Ok(command)
}

/// The output of a quick program such as `cc --version`, run as `user`, or of git, run as the
/// caller (`None`). `Err` has its error output.
pub(crate) fn ask(
    words: &[OsString],
    user: Option<&ServerUser>,
) -> Result<Result<String, String>, Error> {
    let output = launch::output(supervised(words, user, None)?, None)?;
    let text = |written: &[u8]| launch::text(written).trim().to_owned();
    Ok(if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) })
}

fn clean_environment(command: &mut Command, scratch: Option<&Path>, user: &ServerUser) {
    // The caller decides whether and where a compiler's results are cached.
    let passed = std::env::vars_os().filter(|(name, _)| {
        PASSED_ON.iter().any(|known| name == known) || name.as_bytes().starts_with(b"CCACHE_")
    });
    command.envs(passed);
    if let Some(scratch) = scratch {
        // Files that a killed compiler leaves there are removed with the workshop.
        command.env("TMPDIR", scratch);
    }
    match (std::env::var_os("HOME"), scratch) {
        (Some(home), _) if !user.differs() => command.env("HOME", home),
        (_, Some(scratch)) => command.env("HOME", scratch),
        _ => command,
    };
}

fn git_environment(command: &mut Command) {
    command.envs(std::env::vars_os());
    for name in GIT_LOCAL {
        command.env_remove(name);
    }
    // There is nobody to answer a prompt. Its messages are read by people of all languages, and
    // parsed here.
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
}

/// A command roughly as one would type it.
fn shown(words: &[OsString]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| {
            let word = word.to_string_lossy();
            if word.contains(char::is_whitespace) || word.is_empty() {
                format!("'{word}'")
            } else {
                word.into_owned()
            }
        })
        .collect();
    words.join(" ")
}

/// The last `count` lines. If several compilers run at once, the first error may be further up; it
/// is then shown first.
fn last_lines(text: &str, count: usize) -> String {
    let text = text.rsplit_once("\n$ ").map_or(text, |(_, last)| {
        // Without the line of the command itself.
        last.split_once('\n').map_or("", |(_, output)| output)
    });
    let tail = excerpt::last_lines(text, count);
    let is_error = |line: &&str| line.contains("error:") || line.contains("fatal:");
    match text.lines().find(is_error) {
        Some(first) if !tail.contains(first) => format!("{first}\n…\n{tail}"),
        _ => tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::time::{Duration, Instant};

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_failed_command_shows_its_last_lines() {
        let directory = tempfile::tempdir().unwrap();
        let (user, interrupted) = (ServerUser::caller(), AtomicBool::new(false));
        let work = Work::begin("x", &user, directory.path(), &interrupted).unwrap();
        work.compile(&words(&["sh", "-c", "echo first"]), directory.path()).unwrap();
        let script = "echo 'a.c:1: error: no' >&2; seq 1 50; exit 3";
        match work.compile(&words(&["sh", "-c", script]), directory.path()).unwrap_err() {
            Error::Build { lines, status, command, log, .. } => {
                assert!(lines.starts_with("a.c:1: error: no\n…\n31\n"), "{lines}");
                assert!(lines.ends_with("\n50"), "{lines}");
                assert!(status.contains('3') && command.starts_with("sh -c"), "{status} {command}");
                let all = std::fs::read_to_string(log).unwrap();
                assert!(all.contains("$ sh -c 'echo first'\nfirst\n"), "{all}");
            }
            other => panic!("expected Build, found {other}"),
        }
    }

    #[test]
    fn an_interrupt_ends_a_command_and_its_children() {
        let directory = tempfile::tempdir().unwrap();
        let (user, interrupted) = (ServerUser::caller(), AtomicBool::new(false));
        let work = Work::begin("x", &user, directory.path(), &interrupted).unwrap();
        let begin = Instant::now();
        let pid = directory.path().join("pid");
        let script = format!("sleep 3600 & echo $! > {0}.new; mv {0}.new {0}; wait", pid.display());
        let result = std::thread::scope(|scope| {
            let running =
                scope.spawn(|| work.compile(&words(&["sh", "-c", &script]), directory.path()));
            while !pid.exists() && begin.elapsed() < Duration::from_secs(120) {
                std::thread::sleep(Duration::from_millis(10));
            }
            interrupted.store(true, Ordering::Relaxed);
            running.join().unwrap()
        });
        assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
        assert!(begin.elapsed() < Duration::from_secs(600), "the command's end was waited for");
        let sleeper: u32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
        let gone = crate::process::proc::wait_until(Duration::from_secs(120), || {
            crate::ProcessId::of(sleeper).is_none()
        });
        assert!(gone, "the command's own child outlives it");
    }

    #[test]
    fn the_environment_of_a_build_is_not_the_callers() {
        let directory = tempfile::tempdir().unwrap();
        let (user, interrupted) = (ServerUser::caller(), AtomicBool::new(false));
        let work = Work::begin("x", &user, directory.path(), &interrupted).unwrap();
        // cargo sets this one for tests; make and configure would read ones such as MAKEFLAGS and
        // CONFIG_SITE.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        work.compile(&words(&["env"]), directory.path()).unwrap();
        let text = launch::end_of(&work.log_path, ENOUGH);
        assert!(!text.contains("CARGO"), "{text}");
        assert!(text.contains("LC_ALL=C\n") && text.contains("TMPDIR="), "{text}");
    }

    #[test]
    fn answers_and_refusals() {
        assert_eq!(
            ask(&words(&["echo", "a"]), Some(&ServerUser::caller())).unwrap(),
            Ok("a".to_owned())
        );
        let script = "echo no >&2; exit 1";
        assert_eq!(ask(&words(&["sh", "-c", script]), None).unwrap(), Err("no".to_owned()));
    }
}
