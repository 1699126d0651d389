//! A search that is killed again and again.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, ensure};
use nix::sys::signal::Signal;

use super::search::Search;
use crate::steelyard::{Steelyard, bound};

/// The longest life of the search, in looks beside builds; the others are shorter by equal steps.
/// Alone, as here, a look takes half of that.
const LONGEST: f64 = 1.0;
/// How often it is looked whether the search has ended by itself.
const PAUSE: Duration = Duration::from_millis(20);

/// Searches anew, whose looks take so many seconds, kills that so many times, each time after a
/// longer life, and lets it end; says how that went.
pub fn killed(
    steelyard: &Steelyard,
    search: &Search<'_>,
    seconds: f64,
    kills: usize,
) -> Result<String> {
    if search.results.exists() {
        fs::remove_dir_all(&search.results)?;
    }
    let all = search.words();
    let (mut done, mut looks) = (0, Vec::new());
    for number in 1..=kills {
        let life = Duration::from_secs_f64(seconds * LONGEST * number as f64 / kills as f64);
        let begin = Instant::now();
        let mut child = start(steelyard, &all)?;
        while begin.elapsed() < life && child.try_wait()?.is_none() {
            thread::sleep(PAUSE);
        }
        if child.try_wait()?.is_some() {
            break;
        }
        child.kill()?;
        child.wait()?;
        done += 1;
        looks.push(search.known());
    }
    ensure!(done == kills, "the search ended after {done} of {kills} kills");
    let answer = search.run(steelyard)?;
    let known: Vec<String> = looks.iter().map(ToString::to_string).collect();
    Ok(format!(
        "Killed (`kill -9`) {done} times, when {} looks were known, the search of the first \
         history named the same commits after {} looks.",
        known.join(", "),
        answer.seconds().len()
    ))
}

fn start(steelyard: &Steelyard, all: &[String]) -> Result<Child> {
    let mut command = Command::new(&steelyard.program);
    command.args(all).stdout(Stdio::null()).stderr(Stdio::null());
    let child = bound(&mut command, Signal::SIGTERM).spawn();
    child.with_context(|| format!("cannot run {}: make build", steelyard.program.display()))
}
