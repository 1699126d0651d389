//! `steelyard doctor`: whether this machine is fit to measure on.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use doctor::{Finding, State};

use crate::exit::Unfit;

/// Is this machine fit to measure on?
///
/// Looks at everything that is known to have spoiled results: how the machine is set up, what
/// others do on it for 10 seconds, and how evenly it works, wakes up and writes for 30 seconds.
/// Each finding is `ok`, `warn`, `fail`, or `?` if it can't be seen. Exits with 1 if one fails.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard doctor
  steelyard doctor --quick
  steelyard doctor --fix")]
pub struct DoctorArgs {
    /// Where servers would keep their data: this storage is looked at [default:
    /// /var/tmp/steelyard-UID]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Only look at how the machine is set up, which takes no time
    #[arg(long)]
    quick: bool,
    /// Set what can be set safely until the next boot, and say how to undo it: with
    /// /run/steelyard-doctor-undo.sh, which has each command before its change is made
    #[arg(long)]
    fix: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each finding, and what to do
    Text,
    /// A list of findings: name, state, found, why, mend, fix
    Json,
}

/// How long others are watched, and how long the machine is measured.
const WATCHED: Duration = Duration::from_secs(10);
const MEASURED: Duration = Duration::from_secs(30);

/// The script that undoes the changes. It is gone after the next boot, like the changes.
const UNDO: &str = "/run/steelyard-doctor-undo.sh";

/// Examines the machine and prints the findings.
pub fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    let data_dir = match &args.data_dir {
        Some(directory) => std::path::absolute(directory).context("--data-dir")?,
        None => lab::Options::new(PathBuf::new(), "").data_dir,
    };
    let mut findings = doctor::settings(&data_dir);
    if args.fix {
        mend(&findings)?;
        findings = doctor::settings(&data_dir);
    }
    if !args.quick {
        eprintln!("watching what others do for 10 s, then measuring for 30 s");
        findings.extend(doctor::watch(&data_dir, WATCHED));
        findings.extend(doctor::noise(&data_dir, MEASURED));
    }
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(&findings)?)?,
        Format::Text => out.write_all(text(&findings).as_bytes())?,
    }
    fit(&findings)
}

/// An error if something fails.
fn fit(findings: &[Finding]) -> anyhow::Result<()> {
    let failed = findings.iter().filter(|finding| finding.state == State::Fail);
    let failed: Vec<String> = failed.map(|it| format!("{}: {}", it.name, it.found)).collect();
    if failed.is_empty() { Ok(()) } else { Err(Unfit(failed).into()) }
}

/// Prints one line about findings that may spoil a run, and returns all findings. With `strict`, a
/// failed check is an error.
pub fn before_run(
    data_dir: &Path,
    strict: bool,
    tell: &mut dyn FnMut(String),
) -> anyhow::Result<Vec<Finding>> {
    let findings = doctor::settings(data_dir);
    if strict {
        fit(&findings)?;
    }
    let bad = findings.iter().filter(|finding| finding.state >= State::Warn);
    let bad: Vec<_> = bad.map(|it| format!("{} ({})", it.name, it.found)).collect();
    if !bad.is_empty() {
        tell(format!("this machine may spoil results: {}; see steelyard doctor", bad.join(", ")));
    }
    Ok(findings)
}

/// Sets what can be set; prints the changes and how to undo them, even if something can't be set.
fn mend(findings: &[Finding]) -> anyhow::Result<()> {
    let undo = Path::new(UNDO);
    let mended = doctor::mend(findings, undo, |finding, fix| {
        eprintln!("{}: {} is now {}", finding.name, finding.found, fix.value);
    });
    if let Ok(commands) = std::fs::read_to_string(undo) {
        eprintln!("until the next boot; to undo it: sh {UNDO}");
        commands.lines().for_each(|command| eprintln!("  {command}"));
    }
    Ok(mended?)
}

fn text(findings: &[Finding]) -> String {
    let width = findings.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for Finding { name, state, found, why, mend, .. } in findings {
        out.push_str(&format!("{:<5} {name:<width$}  {found}\n", state.as_str()));
        let indent = " ".repeat(width + 8);
        for (label, advice) in [("", why), ("mend: ", mend)] {
            if !advice.is_empty() {
                out.push_str(&format!("{indent}{label}{advice}\n"));
            }
        }
    }
    let number = |state| findings.iter().filter(|it| it.state == state).count();
    out.push_str(&format!(
        "{} ok, {} to mind, {} failed, {} not visible here\n",
        number(State::Ok),
        number(State::Warn),
        number(State::Fail),
        number(State::Unknown)
    ));
    out
}
