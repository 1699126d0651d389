//! Runs contenders in turn and reads the cost of each from the kernel.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// A program that performs operations and prints how many.
pub struct Contender {
    pub name: String,
    pub command: Vec<String>,
    /// Finds the number of operations in the program's output.
    pub operations: fn(&str) -> Option<f64>,
}

/// One run of a contender.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub operations: f64,
    pub seconds: f64,
    pub user_us: f64,
    pub system_us: f64,
}

impl Run {
    pub fn cpu_per_operation(&self) -> f64 {
        (self.user_us + self.system_us) / self.operations
    }
    pub fn user_per_operation(&self) -> f64 {
        self.user_us / self.operations
    }
    pub fn rate(&self) -> f64 {
        self.operations / self.seconds
    }
}

/// The most memory that a process had, in MiB (proc(5), VmHWM); `self` is this one.
pub fn peak_memory(process: &str) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|it| it.trim().split(' ').next()?.parse::<f64>().ok());
    Ok(kib.context("expected VmHWM in /proc, found none")? / 1024.0)
}

/// Runs every contender once per round, beginning with another one each round.
pub fn in_turn(contenders: &[Contender], rounds: usize) -> Result<Vec<Vec<Run>>> {
    in_turn_with(contenders, rounds, || Ok(()))
}

/// The same, with an action before each run.
pub fn in_turn_with(
    contenders: &[Contender],
    rounds: usize,
    mut before: impl FnMut() -> Result<()>,
) -> Result<Vec<Vec<Run>>> {
    let mut runs = vec![Vec::new(); contenders.len()];
    for round in 0..rounds {
        for place in 0..contenders.len() {
            let index = (round + place) % contenders.len();
            before()?;
            runs[index].push(run(&contenders[index])?);
        }
    }
    Ok(runs)
}

/// One run. The kernel adds a child's CPU time to this process's when it is waited for.
pub fn run(contender: &Contender) -> Result<Run> {
    let before = children()?;
    let begin = std::time::Instant::now();
    let output = Command::new(&contender.command[0])
        .args(&contender.command[1..])
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", contender.command[0]))?;
    let seconds = begin.elapsed().as_secs_f64();
    let after = children()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{} failed: {}{}", contender.name, text, String::from_utf8_lossy(&output.stderr));
    }
    let operations = (contender.operations)(&text)
        .with_context(|| format!("{}: no count in its output: {text}", contender.name))?;
    Ok(Run {
        operations,
        seconds,
        user_us: (after.0 - before.0) as f64,
        system_us: (after.1 - before.1) as f64,
    })
}

fn children() -> Result<(i64, i64)> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds(), usage.system_time().num_microseconds()))
}

/// The median, and the lowest and highest value.
pub fn spread(values: impl Iterator<Item = f64>) -> (f64, f64, f64) {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let median = if sorted.len().is_multiple_of(2) {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    } else {
        sorted[middle]
    };
    (median, sorted[0], sorted[sorted.len() - 1])
}
