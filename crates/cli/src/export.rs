//! `steelyard export`: one experiment as a single file, or its figures in the formats of other
//! programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use report::Which;

use crate::dash::{is_stdout, print, print_file};
use crate::results::{ResultsDir, find, note_running, open};

/// Write one experiment to a file: with all its data and artifacts, or its figures for other
/// programs
///
/// `steelyard import` reads a file of the first kind on any machine. It is a compressed tar
/// archive; unpacked, it is a results directory.
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard export -o result.steelyard
  steelyard export 3 --format csv -o result.csv")]
#[command(after_long_help = COLUMNS)]
pub struct ExportArgs {
    /// The experiment, by number or name [default: the latest]
    #[arg(value_name = "EXPERIMENT")]
    experiment: Option<String>,
    /// The file to write; - for standard output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// What to write
    #[arg(long, value_enum, default_value_t = ExportFormat::Steelyard)]
    format: ExportFormat,
    #[command(flatten)]
    directory: ResultsDir,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Everything, for `steelyard import`
    Steelyard,
    /// A long table for notebooks: a line for each metric of each step of each finished trial
    Csv,
    /// The Go benchmark format; compare with `benchstat -col /variant FILE`
    Benchstat,
    /// Bencher Metric Format, JSON: medians over blocks with least and greatest values
    Bmf,
}

const COLUMNS: &str = "\
Columns of csv:
  experiment, name, workload   the experiment: its number, its name, what it runs
  variant, dbms, version       name in the plan, dbms in the plan, version that the DBMS reports
  block, trial                 trials of the same block are pairs; the trial's number
  started_ms                   when the step began, milliseconds since 1970 (UTC)
  step, dop, labels            the step, its number of clients, its labels as name=value;…
  kind                         measured, warm-up, preparation (for the steps that the plan names),
                               or loaded-once (one value for all blocks)
  metric, unit, better         as in docs/glossary.md; better is more, less or neither
  value                        with all its digits";

/// Writes the file and describes its contents.
pub fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let named = args.experiment.as_deref();
    let store = open(&args.directory.results, named.as_slice())?;
    let experiment = find(&store, named)?;
    note_running(&experiment);
    let (id, name, output) = (experiment.id, &experiment.name, args.output.display());
    let figures = || report::load(&store, Which::Id(id));
    let text = match args.format {
        ExportFormat::Steelyard => {
            let version = env!("CARGO_PKG_VERSION");
            if is_stdout(&args.output) {
                print_file(|file| Ok(archive::export(&store, id, file, version)?))?;
                return Ok(());
            }
            let content = archive::export(&store, id, &args.output, version)?.content;
            println!("exported experiment {id} `{name}` to {output}; content hash {content}");
            return Ok(());
        }
        ExportFormat::Csv => report::long_csv(&figures()?),
        ExportFormat::Benchstat => report::benchstat(&figures()?),
        ExportFormat::Bmf => report::bmf(&figures()?),
    };
    if is_stdout(&args.output) {
        return print(text.as_bytes());
    }
    archive::write_whole(&args.output, text.as_bytes())?;
    println!("exported the figures of experiment {id} `{name}` to {output}");
    Ok(())
}
