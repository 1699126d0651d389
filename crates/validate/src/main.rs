//! `make validate`: simulates experiments with known truth, prints the verdicts of `judge` on them
//! as Markdown, and puts the tables into VALIDATION.md. Exit code 1 when a bound is missed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;
use validate::{SUBJECTS, Size, document};

/// Simulated experiments with known truth, and the judge's verdicts on them.
#[derive(Debug, Parser)]
#[command(name = "validate")]
struct Cli {
    /// Few experiments, as in the tests
    #[arg(long, conflicts_with = "document")]
    short: bool,
    /// Only these subjects
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Put the tables between the markers of this file
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    let cli = Cli::parse();
    let size = if cli.short { Size::Short } else { Size::Long };
    let known: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
    if let Some(name) = cli.only.iter().find(|name| !known.contains(&name.as_str())) {
        anyhow::bail!("expected one of {}, found {name}", known.join(", "));
    }
    let mut missed = 0;
    for subject in SUBJECTS {
        if !cli.only.is_empty() && !cli.only.iter().any(|name| name == subject.name) {
            continue;
        }
        let begin = Instant::now();
        let findings = subject.findings(size);
        missed += findings.missed().count();
        println!("## {}\n\n{}", subject.name, findings.to_markdown());
        eprintln!("{}: {:.1} s", subject.name, begin.elapsed().as_secs_f64());
        if let Some(path) = &cli.document {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let new = document::replace(&text, subject, &findings, &subject.findings(Size::Short))
                .with_context(|| format!("{} has no place for {}", path.display(), subject.name))?;
            std::fs::write(path, new)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
