//! Running the command.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;

/// The command.
pub struct Steelyard {
    /// Where it is.
    pub program: PathBuf,
}

impl Steelyard {
    /// Runs it with a plan, which is kept with its results.
    pub fn run(&self, word: &str, plan: &str, results: &Path, more: &[&str]) -> Result<()> {
        let file = results.with_extension("toml");
        std::fs::write(&file, plan).with_context(|| format!("cannot write {}", file.display()))?;
        let mut command = Command::new(&self.program);
        command.arg(word).arg(&file).arg("--results").arg(results).args(more).stdout(Stdio::null());
        // A run that is sent this stops its servers.
        let status = bound(&mut command, Signal::SIGTERM)
            .status()
            .with_context(|| format!("cannot run {}: make build", self.program.display()))?;
        ensure!(status.success(), "steelyard {word} {} failed: {status}", file.display());
        Ok(())
    }

    /// What it prints.
    pub fn prints(&self, arguments: &[&str]) -> Result<String> {
        let (code, printed) = self.ends(arguments)?;
        ensure!(code == Some(0), "steelyard {} failed", arguments.join(" "));
        Ok(printed)
    }

    /// How it ends, and what it prints.
    pub fn ends(&self, arguments: &[&str]) -> Result<(Option<i32>, String)> {
        let mut command = Command::new(&self.program);
        command.args(arguments).stderr(Stdio::inherit());
        let output = bound(&mut command, Signal::SIGTERM)
            .output()
            .with_context(|| format!("cannot run {}: make build", self.program.display()))?;
        Ok((output.status.code(), String::from_utf8(output.stdout)?))
    }
}

/// Makes the kernel send the command's process a signal when this process ends, for any reason. The
/// command gets its own process group, so Ctrl-C doesn't reach it a second time.
pub fn bound(command: &mut Command, signal: Signal) -> &mut Command {
    command.process_group(0);
    // SAFETY: between fork and exec this makes one system call and allocates nothing.
    unsafe { command.pre_exec(move || Ok(set_pdeathsig(signal)?)) }
}
