//! The `steelyard` command: one file per subcommand, without logic of its own.

mod advise;
mod bisect;
mod builds;
mod changes;
mod compare;
mod complete;
mod count;
mod dash;
mod destination;
mod doctor;
mod engine;
mod estimate;
mod exit;
mod explain;
mod export;
mod fetch;
mod format;
mod gate;
mod generate;
mod help;
mod history;
mod import;
mod intervals;
mod list;
mod live;
mod machine;
mod manual;
mod note;
mod pasted;
mod planned;
mod progress;
mod pull;
mod push;
mod report;
mod reporting;
mod results;
mod rm;
mod run;
mod serve;
mod setup;
mod short;
mod site;
mod sources;
mod submissions;
mod terminal;
mod trace;
mod variance;
mod version;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

/// Weigh database systems against each other.
///
/// steelyard fetches several versions of a DBMS, runs well-defined benchmarks on them side by side,
/// and says what got slower, by how much, and how certain that is. To begin:
/// `steelyard run insert -v postgres@13.7 -v postgres@18.1 --budget 5m`.
#[derive(Debug, Parser)]
#[command(name = "steelyard", version = version::SHORT.as_str())]
#[command(long_version = version::LONG.as_str(), max_term_width = short::HELP_WIDTH)]
#[command(
    after_help = "Exit codes: 0 success, 1 a gate failed, 2 the request was wrong, 3 the run failed or was interrupted."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Setup(setup::SetupArgs),
    Doctor(doctor::DoctorArgs),
    Run(run::RunArgs),
    Fetch(fetch::FetchArgs),
    Compare(compare::CompareArgs),
    Explain(explain::ExplainArgs),
    Count(count::CountArgs),
    Bisect(Box<bisect::BisectArgs>),
    Gate(gate::GateArgs),
    Variance(variance::VarianceArgs),
    History(history::HistoryArgs),
    Advise(advise::AdviseArgs),
    Report(report::ReportArgs),
    Site(site::SiteArgs),
    Serve(serve::ServeArgs),
    List(list::ListArgs),
    Note(note::NoteArgs),
    Rm(rm::RmArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Push(push::PushArgs),
    Pull(pull::PullArgs),
    Submit(Box<submissions::submit::SubmitArgs>),
    Status(submissions::status::StatusArgs),
    Watch(submissions::watch::WatchArgs),
    Cancel(submissions::cancel::CancelArgs),
    Element(submissions::element::ElementArgs),
    Trace(trace::TraceArgs),
    Generate(generate::GenerateArgs),
    #[command(hide = true)]
    Engine(engine::EngineArgs),
}

fn main() -> ExitCode {
    complete::answer(Cli::command);
    let parsed = Cli::try_parse();
    // An empty variable looks like an option without its value.
    if parsed.as_ref().err().is_none_or(clap::Error::use_stderr)
        && let Err(error) = results::check_variables()
    {
        return exit::explain(&error);
    }
    let cli = match parsed {
        Ok(cli) => cli,
        Err(mut error) => {
            let words: Vec<String> = short::typed().collect();
            if error.kind() == ErrorKind::DisplayHelp {
                let asked = help::asked(Cli::command(), &words);
                error = asked.try_get_matches_from(words).err().unwrap_or(error);
            } else {
                results::hint_experiment(&mut error, &Cli::command(), &words);
            }
            return exit::usage(&error);
        }
    };
    let result = match &cli.command {
        Command::Setup(args) => setup::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Run(args) => run::run(args),
        Command::Fetch(args) => fetch::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Count(args) => count::run(args),
        Command::Bisect(args) => bisect::run(args),
        Command::Gate(args) => gate::run(args),
        Command::Variance(args) => variance::run(args),
        Command::History(args) => history::run(args),
        Command::Advise(args) => advise::run(args),
        Command::Report(args) => report::run(args),
        Command::Site(args) => site::run(args),
        Command::Serve(args) => serve::run(args),
        Command::List(args) => list::run(args),
        Command::Note(args) => note::run(args),
        Command::Rm(args) => rm::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Push(args) => push::run(args),
        Command::Pull(args) => pull::run(args),
        Command::Submit(args) => submissions::submit::run(args),
        Command::Status(args) => submissions::status::run(args),
        Command::Watch(args) => submissions::watch::run(args),
        Command::Cancel(args) => submissions::cancel::run(args),
        Command::Element(args) => submissions::element::run(args),
        Command::Trace(args) => trace::run(args),
        Command::Generate(args) => generate::run(args, Cli::command()),
        Command::Engine(args) => engine::run(args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::explain(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &[&str]) -> String {
        let words = [&["steelyard"][..], words].concat();
        let mut error = Cli::try_parse_from(&words).unwrap_err();
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        results::hint_experiment(&mut error, &Cli::command(), &words);
        error.to_string()
    }

    #[test]
    fn who_names_an_experiment_without_e_is_told() {
        for words in [&["compare", "1"][..], &["report", "1"], &["variance", "1"]] {
            let told = told(words);
            assert!(told.contains("tip: to choose an experiment, use '-e 1'"), "{told}");
        }
        for words in [&["list", "1"][..], &["compare", "--tabels", "all"]] {
            let told = told(words);
            assert!(!told.contains("to choose an experiment"), "{told}");
        }
    }
}
