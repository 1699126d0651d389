//! A dash in place of a file: standard output for files to write, standard input for files to read.

use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use plan::{Layer, Plan, WorkloadPlan};
use store::{Experiment, Store};
use tempfile::TempDir;

use crate::exit::{WrongRequest, refuse};
use crate::results::find;

/// The name of standard input in messages.
pub const INPUT: &str = "stdin";

/// True if standard input is meant.
pub fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// True if standard output is meant, also by its other names: nothing else may be printed there.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Prints content that would otherwise go to a file.
pub fn print(content: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(content)?;
    Ok(stdout.flush()?)
}

/// Prints a binary file that is written as a whole. It is kept from a terminal.
pub fn print_file<T>(write: impl FnOnce(&Path) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let mut stdout = std::io::stdout().lock();
    if stdout.is_terminal() {
        return refuse("this is no text for a terminal; redirect the output, or name a file");
    }
    let directory = TempDir::new().context("could not create a temporary directory")?;
    let file = directory.path().join("stdout");
    let told = write(&file)?;
    std::io::copy(&mut std::fs::File::open(&file)?, &mut stdout)?;
    stdout.flush()?;
    Ok(told)
}

/// Standard input, as text.
pub fn read() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| WrongRequest(format!("could not read standard input: {error}")))?;
    Ok(text)
}

/// The plan in a file, of an exported experiment, or from standard input, with a layer over it.
/// Other files of a plan from standard input are looked up in the current directory.
pub fn read_plan(path: &Path, layer: &Layer) -> anyhow::Result<Plan> {
    if is_dash(path) {
        return Ok(Plan::parse_with(&read()?, Some(Path::new(".")), INPUT, layer)?);
    }
    if archive::is_archive(path).unwrap_or(false) {
        let unpacked = TempDir::new().context("could not create a temporary directory")?;
        archive::import(path, unpacked.path())?;
        let store = Store::open_existing(unpacked.path())?;
        return plan_of(&find(&store, None)?, &path.display().to_string(), layer);
    }
    Ok(Plan::read_with(path, layer)?)
}

/// The plan of a stored experiment, from this `place`, with a layer over it.
pub fn plan_of(experiment: &Experiment, place: &str, layer: &Layer) -> anyhow::Result<Plan> {
    let from = format!("the plan of experiment {} in {place}", experiment.id);
    Ok(Plan::parse_with(&experiment.plan, None, &from, layer)?)
}

/// As [`read_plan`], where the name of a workload could have been meant.
pub fn read_named(path: &Path, layer: &Layer) -> anyhow::Result<Plan> {
    if !is_dash(path) && !path.exists() && path.extension().is_none() {
        return refuse(unknown(&path.display().to_string()));
    }
    read_plan(path, layer)
}

/// That a word is neither a file nor the name of a workload, or that a file is needed.
fn unknown(word: &str) -> String {
    if WorkloadPlan::named(word).is_some() {
        return format!(
            "expected a plan file, found the workload {word}; `steelyard run {word} -v … --write-plan > {word}.toml` writes one"
        );
    }
    let names = WorkloadPlan::names();
    let meant = plan::nearest(word, names.iter().copied());
    let meant = meant.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    format!(
        "`{word}` is neither a plan file nor a workload{meant} (workloads: {})",
        names.join(", ")
    )
}

/// Files to read. A copy of standard input is kept as long as this lives.
pub struct Inputs {
    pub files: Vec<PathBuf>,
    kept: Option<TempDir>,
}

impl Inputs {
    /// Keeps the files in the given order. One of them may be a dash.
    pub fn of(given: &[PathBuf]) -> anyhow::Result<Self> {
        let dashes = given.iter().filter(|path| is_dash(path)).count();
        if dashes > 1 {
            return refuse("standard input (-) can be read only once; leave out the others");
        }
        let mut files = given.to_vec();
        let Some(file) = files.iter_mut().find(|path| is_dash(path)) else {
            return Ok(Self { files, kept: None });
        };
        let directory = TempDir::new().context("could not create a temporary directory")?;
        *file = directory.path().join(INPUT);
        std::io::copy(&mut std::io::stdin().lock(), &mut std::fs::File::create(&file)?)
            .map_err(|error| WrongRequest(format!("could not read standard input: {error}")))?;
        Ok(Self { files, kept: Some(directory) })
    }

    /// The name of one of them in messages.
    pub fn name(&self, path: &Path) -> String {
        let from_stdin = self.kept.as_ref().is_some_and(|kept| path.starts_with(kept.path()));
        if from_stdin { INPUT.to_owned() } else { path.display().to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_workload_is_answered_with_the_nearest() {
        let told = unknown("insrt");
        assert!(told.contains("a workload; did you mean `insert`? (workloads: insert, sys"));
        let told = unknown("nosql");
        assert!(told.contains("a workload (workloads: insert, sys"), "{told}");
        let told = unknown("insert");
        assert!(told.contains("run insert -v … --write-plan > insert.toml"), "{told}");
    }
}
