//! `steelyard import`: finished output of other people's benchmark programs, and exported
//! experiments.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use archive::Imported;
use clap::{Args, ValueEnum};
use lab::{Finished, Pattern};
use metrics::counted;
use store::Store;

use crate::dash::Inputs;
use crate::exit::{WrongRequest, refuse};
use crate::pasted::pasted;
use crate::results::ResultsDir;

/// Import finished output of pgbench, sysbench, db_bench, fio and others, published tables, or
/// exported experiments
///
/// Files that `steelyard export` wrote are added as they are. Of other programs' output, all files
/// become trials of one new experiment, so name the files of all variants in one call. Without
/// --variant or --pattern, each file is a variant named after it. Without a block, a variant's k-th
/// result of a test belongs to block k. Settings that the outputs name tell steps apart; variants
/// that ran a step with different ones, or by different programs, are refused. Figures of vmstat or
/// iostat become costs per operation of the test with the same variant, block and step. If one file
/// is incomplete or reports a failure, nothing is imported.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard import old.txt new.txt
  steelyard import --pattern '{variant}/sb.{dop}.run{block}.txt' pg13/*.txt pg14/*.txt
  steelyard import --name byrx --pattern '{variant}.dop{dop}/report.tsv' */report.tsv
  steelyard import --format table --name published results.tsv")]
pub struct ImportArgs {
    /// The files; - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    directory: ResultsDir,
    #[arg(long, value_name = "FORMAT", help = formats())]
    format: Option<String>,
    /// The variant that all files are about [default: from the output, or the file's name]
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Which part of the output names the variants: command, for hyperfine, whose commands are then
    /// compared with each other
    #[arg(long, value_name = "PART", conflicts_with = "variant")]
    variant_from: Option<VariantFrom>,
    /// Number of clients of tests that don't say theirs [default: from the output, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    dop: Option<u32>,
    /// Number of the block, from 1
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    block: Option<u32>,
    /// Name of the step [default: the test's name in the output, or the program's]
    #[arg(long, value_name = "NAME")]
    step: Option<String>,
    /// The device whose reads and writes count in iostat's files [default: the one to which most
    /// was written]
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// How to read the files' names: the end of a path with {variant}, {dop}, {block}, {step} and
    /// *, or regex: and an expression with groups of these names
    #[arg(long, value_name = "PATTERN")]
    pattern: Option<String>,
    /// Name of the experiment; imports of the same name count as the same workload [default: the
    /// program]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The variant that others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    /// Compare variants even if they were run with different settings, such as pgbench's scaling
    /// factor, or by different programs; a warning says which
    #[arg(long)]
    allow_different_settings: bool,
}

/// The formats, as help.
fn formats() -> String {
    format!("{} [default: as each file looks]", foreign::Format::known())
}

/// A part of an output that can name its variants.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum VariantFrom {
    Command,
}

/// Imports experiments one by one; other output all together.
pub fn run(args: &ImportArgs) -> anyhow::Result<()> {
    let results = args.directory.writable()?;
    let (mut experiments, mut outputs) = (Vec::new(), Vec::new());
    let inputs = Inputs::of(&args.files)?;
    for file in &inputs.files {
        if file.is_dir() {
            return refuse(format!(
                "expected a file, found the directory {0}; name the files in it: {0}/*",
                file.display()
            ));
        }
        if archive::is_archive(file)? { &mut experiments } else { &mut outputs }.push(file);
    }
    if !experiments.is_empty() && !outputs.is_empty() {
        return refuse(
            "some files are exported experiments, others are not; import them in separate calls",
        );
    }
    if let (Some(name), false) = (&args.name, experiments.is_empty()) {
        return refuse(format!(
            "`--name {name}`: exported experiments keep their own names; remove it"
        ));
    }
    for file in experiments {
        let name = inputs.name(file);
        say("imported", &archive::import_named(file, &name, results, None)?, results);
    }
    if outputs.is_empty() { Ok(()) } else { import(args, &inputs, results) }
}

/// Reports the result for an experiment that came from elsewhere.
pub fn say(what: &str, imported: &Imported, results: &Path) {
    let place = results.display();
    match imported {
        Imported::Added(id, it) => println!("{what} `{}` as experiment {id} of {place}", it.name),
        Imported::Present(id, it) => {
            println!("`{}` is already there: experiment {id} of {place}", it.name);
        }
    }
}

/// Reads all files, then stores their contents.
fn import(args: &ImportArgs, inputs: &Inputs, results: &Path) -> anyhow::Result<()> {
    let format = args.format.as_deref().map(str::parse::<foreign::Format>);
    let format = format.transpose().map_err(|error| WrongRequest(error.to_string()))?;
    let pattern = args.pattern.as_deref().map(Pattern::new).transpose()?;
    let mut files = Vec::new();
    for path in &inputs.files {
        files.push(finished(args, path, inputs.name(path), format.as_ref(), pattern.as_ref())?);
    }
    let arranged = lab::arrange(&files, args.device.as_deref(), args.allow_different_settings)?;
    let name = args.name.as_deref().unwrap_or_else(|| arranged.default_name()).to_owned();
    let store = Store::open(results)?;
    let base = args.base.as_deref();
    let imported = arranged.store(&store, &name, base, env!("CARGO_PKG_VERSION"))?;
    let lab::Imported { experiment, name, variants, blocks, trials, steps, notes } = imported;
    writeln!(
        std::io::stdout(),
        "experiment {experiment} {name}: {} of {}, measured in {} ({})",
        counted(steps, "step"),
        variants.join(", "),
        counted(trials, "trial"),
        counted(blocks as usize, "block")
    )?;
    // Files of several variants are compared with each other.
    let commands = (variants.len() == 1).then(|| commands(args, &files)).flatten();
    for note in notes.into_iter().chain(commands) {
        writeln!(std::io::stdout(), "{note}")?;
    }
    Ok(())
}

/// How commands that became steps of one variant are compared with each other.
fn commands(args: &ImportArgs, files: &[Finished]) -> Option<String> {
    let is_theirs = |file: &&Finished| {
        let format = file.reading.program.parse::<foreign::Format>();
        format.is_ok_and(|format| format.names_commands())
    };
    let tests = files.iter().filter(is_theirs).flat_map(|file| &file.reading.tests);
    let names: BTreeSet<&str> = tests.filter_map(|test| test.name.as_deref()).collect();
    if names.len() < 2 || args.variant.is_some() || args.variant_from.is_some() {
        return None;
    }
    let words = std::env::args_os().skip(1).map(|word| word.into_string().ok());
    let given: Vec<String> = words.collect::<Option<_>>()?;
    let (first, rest) = given.split_first()?;
    Some(format!(
        "the {} commands became steps, which are not compared with each other; to compare them: {}",
        names.len(),
        pasted(&[first, "--variant-from", "command"], rest)
    ))
}

/// Reads a file, with what its name and the options say about it.
fn finished(
    args: &ImportArgs,
    path: &Path,
    file: String,
    format: Option<&foreign::Format>,
    pattern: Option<&Pattern>,
) -> anyhow::Result<Finished> {
    let read = || -> std::io::Result<(Vec<u8>, std::time::SystemTime)> {
        Ok((std::fs::read(path)?, std::fs::metadata(path)?.modified()?))
    };
    let (bytes, written) =
        read().map_err(|error| WrongRequest(format!("could not read {file}: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let Some(format) = format.cloned().or_else(|| foreign::Format::detect(&text)) else {
        return refuse(format!(
            "{file}: expected output of a known program, found none; name the program with \
             --format, or the figure with --format json:/POINTER or regex:PATTERN"
        ));
    };
    let mut reading =
        format.read(&text).map_err(|error| WrongRequest(format!("{file}: {error}")))?;
    if let Some(VariantFrom::Command) = args.variant_from {
        if !format.names_commands() {
            return refuse(format!(
                "{file}: --variant-from command is for output of hyperfine, found {format}"
            ));
        }
        for test in &mut reading.tests {
            test.variant = test.name.take();
            // The command already includes its parameters.
            test.settings.clear();
        }
    }
    let named = pattern.map(|pattern| pattern.read(&file)).transpose()?.unwrap_or_default();
    let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Finished {
        variant: named.variant.or_else(|| args.variant.clone()),
        dop: named.dop.or(args.dop),
        block: named.block.or(args.block),
        step: named.step.or_else(|| args.step.clone()),
        written_ms: i64::try_from(since.as_millis())?,
        file,
        reading,
    })
}
