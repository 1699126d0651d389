//! Slurm: `sbatch`, `squeue` and `scancel`.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::job::{Job, Wishes};
use crate::scheduler::{Queued, Scheduler, Waits};

/// The script of a job that runs `elements` of the submission `name`, each on a machine of its own.
/// `command` are the words that run one; the number of the element follows. What they print is
/// appended to a file for each ([`Wishes::logs`]). If `after` is given,
/// they wait for this job, and are canceled if it fails.
///
/// ```
/// let words = ["steelyard", "element", "load"].map(str::to_owned);
/// let script = fleet::script("load", &[1, 2, 3, 5], &fleet::Wishes::default(), &words, None);
/// assert!(script.contains("#SBATCH --array=1-3,5\n#SBATCH --exclusive\n"));
/// assert!(script.ends_with("exec steelyard element load \"$SLURM_ARRAY_TASK_ID\"\n"));
/// ```
pub fn script(
    name: &str,
    elements: &[u32],
    wishes: &Wishes,
    command: &[String],
    after: Option<&str>,
) -> String {
    let mut text = String::from("#!/bin/sh\n");
    let mut option = |name: &str, value: &str| {
        // Writing to a String does not fail.
        let _ = match value {
            "" => writeln!(text, "#SBATCH --{name}"),
            value if is_plain(value) => writeln!(text, "#SBATCH --{name}={value}"),
            value => writeln!(text, "#SBATCH --{name}=\"{value}\""),
        };
    };
    let at_once = wishes.at_once.map(|most| format!("%{most}")).unwrap_or_default();
    option("job-name", &job_name(name));
    option("array", &format!("{}{at_once}", ranges(elements)));
    option("exclusive", "");
    option("nodes", "1");
    option("ntasks", "1");
    if let Some(job) = after {
        option("dependency", &format!("afterok:{job}"));
        option("kill-on-invalid-dep", "yes");
    }
    // An element whose machine was lost is started again on another.
    option("requeue", "");
    // With the credentials, whatever SBATCH_EXPORT says.
    option("export", "ALL");
    // Each machine's own limits, not those of the machine that submits.
    option("propagate", "NONE");
    option("open-mode", "append");
    option("output", &log(name, wishes, "%a"));
    for (name, value) in [
        ("partition", &wishes.partition),
        ("constraint", &wishes.constraint),
        ("exclude", &wishes.exclude),
        ("time", &wishes.time),
    ] {
        if let Some(value) = value {
            option(name, value);
        }
    }
    // Only a NUL can't be quoted, and no argument has one.
    let words = shlex::try_join(command.iter().map(String::as_str));
    let words = words.unwrap_or_else(|_| command.join(" "));
    // As the job's own process, it gets the signal that ends the job.
    text.push_str(&format!("exec {words} \"$SLURM_ARRAY_TASK_ID\"\n"));
    text
}

/// True if Slurm reads a value of `#SBATCH` as it stands.
fn is_plain(value: &str) -> bool {
    !value.contains(|c: char| c.is_whitespace() || c == '#')
}

/// The log of an element, on its machine. By default in a directory that every machine has: where
/// Slurm can't write it, it ends a job without a word.
pub(crate) fn log(name: &str, wishes: &Wishes, element: impl std::fmt::Display) -> String {
    let begin = wishes.logs.as_deref().unwrap_or("/tmp/steelyard-");
    format!("{begin}{name}-{element}.log")
}

fn job_name(name: &str) -> String {
    format!("steelyard-{name}")
}

/// Numbers as Slurm writes them: `1-3,5`.
fn ranges(numbers: &[u32]) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => found.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    found.iter().map(text).collect::<Vec<_>>().join(",")
}

/// The Slurm that `sbatch` of this machine reaches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slurm;

/// Array job, element, state, machine, reason.
const COLUMNS: &str = "%F|%K|%T|%N|%r";

impl Scheduler for Slurm {
    fn submit(&self, script: &str) -> Result<String, Error> {
        let printed =
            run("sbatch", &["--parsable"], Some(script)).map_err(|error| match error {
                Error::Scheduler { problem, .. } if is_refused(&problem) => {
                    Error::Refused { problem }
                }
                error => error,
            })?;
        // JOB, or JOB;CLUSTER.
        let job = printed.trim().split(';').next().unwrap_or_default();
        let numeric = !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit());
        match numeric {
            true => Ok(job.to_owned()),
            false => Err(failed("sbatch", format!("expected a job's number, found `{printed}`"))),
        }
    }

    fn queue(&self, jobs: &[Job]) -> Result<Vec<Queued>, Error> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        // With the numbers of jobs that it has forgotten, squeue would fail.
        let printed = run("squeue", &["--noheader", "--array", "--format", COLUMNS], None)?;
        let queue = printed.lines().map(queued).collect::<Result<Vec<_>, _>>()?;
        let ours = |it: &Queued| jobs.iter().any(|job| job.job == it.job);
        Ok(queue.into_iter().flatten().filter(ours).collect())
    }

    fn cancel(&self, jobs: &[Job]) -> Result<(), Error> {
        let jobs: Vec<&str> = jobs.iter().map(|job| job.job.as_str()).collect();
        match jobs.is_empty() {
            true => Ok(()),
            false => run("scancel", &[&["--quiet"][..], &jobs].concat(), None).map(drop),
        }
    }
}

/// True if sbatch says that there is no job, rather than that it does not know.
fn is_refused(problem: &str) -> bool {
    let unknown = ["timed out", "Timed out", "contact slurm controller", "onnection"];
    problem.contains("job submission failed") && !unknown.iter().any(|it| problem.contains(it))
}

/// A line of squeue; `None` if it is no element of an array, or one that has ended.
fn queued(line: &str) -> Result<Option<Queued>, Error> {
    let parts: Vec<&str> = line.splitn(5, '|').collect();
    let [job, element, state, host, reason] = parts[..] else {
        return Err(failed("squeue", format!("expected {COLUMNS}, found `{line}`")));
    };
    let Ok(element) = element.parse() else { return Ok(None) };
    let waits = match state {
        "RUNNING" | "COMPLETING" | "CONFIGURING" | "STAGE_OUT" | "SIGNALING" => {
            Waits::Not(host.to_owned())
        }
        "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT"
        | "RESV_DEL_HOLD" => Waits::For(reason.to_owned()),
        "SUSPENDED" | "STOPPED" => Waits::For(format!("{} on {host}", state.to_lowercase())),
        _ => return Ok(None),
    };
    Ok(Some(Queued { element, job: job.to_owned(), waits }))
}

fn failed(program: &str, problem: String) -> Error {
    Error::Scheduler { program: program.to_owned(), problem }
}

/// Runs a program with `input`, and returns what it printed.
fn run(program: &str, words: &[&str], input: Option<&str>) -> Result<String, Error> {
    use std::io::Write as _;
    let cannot = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => failed(
            program,
            "it is not installed here (Debian: the package slurm-client)".to_owned(),
        ),
        _ => failed(program, source.to_string()),
    };
    let mut command = Command::new(program);
    command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A user's defaults must not hide jobs, or choose other elements.
    let defaults = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("SQUEUE_") || ["SBATCH_ARRAY_INX", "SBATCH_EXPORT"].contains(&&*name)
    });
    for name in defaults {
        command.env_remove(name);
    }
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().map_err(cannot)?;
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), input) {
        // One that ends without reading says why.
        let _ = pipe.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(cannot)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(failed(program, if said.is_empty() { output.status.to_string() } else { said }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_ranges() {
        assert_eq!(ranges(&[1]), "1");
        assert_eq!(ranges(&[1, 2, 3]), "1-3");
        assert_eq!(ranges(&[1, 3, 4, 9]), "1,3-4,9");
    }

    #[test]
    fn wishes_become_options_and_words_are_quoted() {
        let wishes = Wishes {
            partition: Some("bench".to_owned()),
            constraint: Some("epyc".to_owned()),
            at_once: Some(2),
            ..Wishes::default()
        };
        let words = ["steelyard", "element", "--results", "/a b"].map(str::to_owned);
        let wishes = Wishes { time: Some("1 # x".to_owned()), ..wishes };
        assert!(wishes.check().is_ok());
        let text = script("x", &[4, 5], &wishes, &words, Some("17"));
        for line in [
            "#SBATCH --job-name=steelyard-x",
            "#SBATCH --array=4-5%2",
            "#SBATCH --output=/tmp/steelyard-x-%a.log",
            "#SBATCH --requeue",
            "#SBATCH --dependency=afterok:17",
            "#SBATCH --propagate=NONE",
            "#SBATCH --partition=bench",
            "#SBATCH --constraint=epyc",
            "#SBATCH --time=\"1 # x\"",
            "exec steelyard element --results '/a b' \"$SLURM_ARRAY_TASK_ID\"",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}:\n{text}");
        }
        assert!(!text.contains("--exclude"), "{text}");
        let bad = Wishes { time: Some("1\nrm -rf".to_owned()), ..Wishes::default() };
        assert!(matches!(bad.check(), Err(Error::Wish(_))));
    }

    #[test]
    fn what_may_have_been_accepted_is_not_refused() {
        let failed = "sbatch: error: Batch job submission failed: ";
        assert!(is_refused(&format!("{failed}Invalid partition name specified")));
        for unknown in [
            "Socket timed out on send/recv operation",
            "Unable to contact slurm controller (connect failure)",
        ] {
            assert!(!is_refused(&format!("{failed}{unknown}")), "{unknown}");
        }
        assert!(!is_refused("it is not installed here"));
    }

    #[test]
    fn the_queue_is_read() {
        let read = |line: &str| queued(line).unwrap();
        let waits = |line: &str| read(line).map(|it| (it.element, it.waits));
        assert_eq!(waits("12|3|PENDING||Resources"), Some((3, Waits::For("Resources".to_owned()))));
        assert_eq!(waits("12|4|RUNNING|n1|None"), Some((4, Waits::Not("n1".to_owned()))));
        // A reason may have the separator.
        assert_eq!(
            waits("12|5|PENDING||ReqNodeNotAvail, UnavailableNodes:n1|n2"),
            Some((5, Waits::For("ReqNodeNotAvail, UnavailableNodes:n1|n2".to_owned())))
        );
        assert_eq!(waits("13|N/A|RUNNING|n1|None"), None, "no array");
        assert_eq!(waits("13|1|COMPLETED|n1|None"), None);
        assert!(queued("slurm is confused").is_err());
    }
}
