//! The commands of programs that are the load, filled in for one system.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use dbms::Endpoint;
use store::StepRecord;
use workload::{Phase, Program, fill};

use crate::error::Error;
use crate::subject::Subject;
use crate::trial::attempt::{Attempt, Trouble};
use crate::trial::conditions::Conditions;

/// Seeds of other programs are often read as signed numbers of 32 bits.
const SEEDS: u64 = 1 << 31;

/// Checks that the programs of `phases` are on this machine, as far as their names are known now.
///
/// # Errors
/// [`Error::NoProgram`].
pub fn check_present(subject: &Subject, phases: &[Phase]) -> Result<(), Error> {
    for phase in phases {
        let Phase::Program(Program { prepare, command, .. }) = phase else { continue };
        for name in [prepare, command].into_iter().filter_map(|words| words.first()) {
            let found = |directory: &str| Path::new(directory).join(name).is_file();
            if name.contains('{') || dbms::PROGRAM_PATH.split(':').any(found) {
                continue;
            }
            return Err(Error::NoProgram {
                variant: subject.variant.name.clone(),
                program: name.clone(),
                package: foreign::Format::package(name),
            });
        }
    }
    Ok(())
}

/// Checks that the placeholders in all commands of a trial stand for something.
pub fn check_words(conditions: &Conditions<'_>, attempt: &mut Attempt<'_>) -> Result<(), Trouble> {
    let benchmark = attempt.benchmark.clone();
    for phase in &benchmark.phases {
        let Phase::Program(program) = phase else { continue };
        let places = places(conditions, attempt, program);
        for word in program.prepare.iter().chain(&program.command) {
            fill(word, &places).map_err(|error| Trouble::unfit(of(program, &error)))?;
        }
    }
    Ok(())
}

/// A command of a program, run by the servers' user: `words` with their placeholders filled in.
pub fn command(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    program: &Program,
    words: &[String],
) -> Result<Command, Trouble> {
    let places = places(conditions, attempt, program);
    let filled: Result<Vec<String>, String> =
        words.iter().map(|word| fill(word, &places)).collect();
    let filled = filled.map_err(|error| Trouble::unfit(of(program, &error)))?;
    let endpoint = attempt.server.endpoint();
    // Without a DBMS the program is what is limited and counted.
    let alone = matches!(endpoint, Endpoint::Nowhere { .. });
    let groups = attempt.cgroup().filter(|_| alone).map(|group| group.procs_files());
    let mut words = filled.iter();
    let first = words.next().map_or("", String::as_str);
    let mut command = dbms::command(first, conditions.user, &groups.unwrap_or_default())?;
    command.args(words).envs(endpoint.environment()?);
    if let (true, Some(data)) = (alone, places.get("data")) {
        command.current_dir(data);
    }
    Ok(command)
}

/// The command of a program that runs once more while its server is profiled; `None` where nothing
/// is, or where there is no server.
pub fn command_for_profile(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    program: &Program,
) -> Result<Option<Command>, Trouble> {
    let block = attempt.entered.block;
    let profiler = conditions.profiler.as_ref().filter(|_| attempt.group.is_some());
    let length = profiler.map(|it| it.overtime(&program.step, block).as_secs_f64());
    let alone = matches!(attempt.server.endpoint(), Endpoint::Nowhere { .. });
    let Some(length) = length.filter(|length| *length > 0.0 && !alone) else { return Ok(None) };
    let mut again = program.clone();
    again.step.seconds = Some(length);
    command(conditions, attempt, &again, &program.command).map(Some)
}

/// Returns the values of the placeholders.
fn places(
    conditions: &Conditions<'_>,
    attempt: &mut Attempt<'_>,
    program: &Program,
) -> BTreeMap<String, String> {
    let step = &program.step;
    let mut places = attempt.server.endpoint().places();
    let mut add = |name: &str, value: String| places.insert(name.to_owned(), value);
    add("dop", step.key.dop.to_string());
    add("seed", (conditions.draw_seed(attempt.entered.block) % SEEDS).to_string());
    if let Some(seconds) = step.seconds {
        add("seconds", seconds.ceil().to_string());
    }
    let programs = attempt.subject.installation.bin_dir.as_ref();
    if let Some(directory) = programs.filter(|directory| !directory.as_os_str().is_empty()) {
        add("bin", directory.display().to_string());
    }
    if let Some(data) = attempt.server.data_directory() {
        let directory = if data.is_dir() { Some(data.as_path()) } else { data.parent() };
        directory.map(|directory| add("data", directory.display().to_string()));
    }
    places
}

/// Keeps a program's output among the artifacts. Failing to keep it is noted, and does not fail the
/// step.
pub fn keep_output(
    conditions: &Conditions<'_>,
    attempt: &Attempt<'_>,
    record: &mut StepRecord,
    printed: &str,
) {
    let directory = conditions.options.results.join("artifacts").join("programs");
    let (block, trial) = (attempt.entered.block, attempt.entered.trial);
    let name = format!(
        "{}.b{block}.{}.dop{}.t{trial}.txt",
        attempt.subject.variant.name, record.key.name, record.key.dop
    );
    let kept =
        fs::create_dir_all(&directory).and_then(|()| fs::write(directory.join(name), printed));
    if let Err(error) = kept {
        record.notes.push(format!("could not keep what the program printed: {error}"));
    }
}

fn of(program: &Program, error: &str) -> String {
    format!("the command of `{}`: {error}", program.step.key.name)
}
