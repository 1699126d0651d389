//! `steelyard status`: how far a submission is.

use std::collections::BTreeSet;
use std::io::Write;

use clap::{Args, ValueEnum};
use fleet::{Depot, Named, Slurm, State, Status};

use super::{Shared, work};
use crate::exit::GateFailed;
use crate::results::open_archive;
use crate::submissions::element::conclude;

/// How far submissions are
#[derive(Debug, Args)]
#[command(before_help = "Examples:
  steelyard status --results s3://team/bench
  steelyard status --results s3://team/bench nightly --exit-code")]
pub struct StatusArgs {
    /// The name of the submission [default: a line for each]
    #[arg(value_name = "SUBMISSION")]
    name: Option<String>,
    #[command(flatten)]
    shared: Shared,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Exit with 1 if an element failed or is lost, or if elements wait and nothing has run or
    /// happened for more than 5 minutes
    #[arg(long)]
    exit_code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each element
    Text,
    /// All that is known
    Json,
}

/// Prints it.
pub fn run(args: &StatusArgs) -> anyhow::Result<()> {
    let address = args.shared.address()?;
    let names = match &args.name {
        Some(name) => vec![Named { name: name.clone(), is_whole: false }],
        None => Depot::all_named(&address, &work()?)?,
    };
    let mut out = std::io::stdout();
    let (mut all, mut trouble) = (Vec::new(), Vec::new());
    let detailed = args.name.is_some() || args.format == Format::Json;
    for Named { name, is_whole } in &names {
        if *is_whole && !detailed {
            // Nothing more is asked about the many that have been.
            writeln!(out, "{name}: all elements done")?;
            continue;
        }
        let found = || -> anyhow::Result<Status> {
            let depot = Depot::open(&address, name, &work()?)?;
            let mut status = fleet::status(&depot, &Slurm, store::now_ms())?;
            if detailed {
                status.name_machines(&depot)?;
            }
            if status.is_complete() {
                // The last element may have been killed before it could.
                conclude(&depot, &open_archive(&address)?)?;
            }
            Ok(status)
        };
        match found() {
            Ok(status) => {
                trouble.extend(problems(name, &status));
                all.push((name, status));
            }
            // It hides no other.
            Err(error) if args.name.is_none() => {
                eprintln!("{name}: {error:#}");
                trouble.push(format!("{name}: {error:#}"));
            }
            Err(error) => return Err(error),
        }
    }
    match args.format {
        Format::Json => {
            let all: Vec<_> = all
                .iter()
                .map(|(name, status)| serde_json::json!({ "name": name, "status": status }))
                .collect();
            writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
        }
        Format::Text => {
            for (name, status) in &all {
                writeln!(out, "{name}: {}", summary(status))?;
                if args.name.is_some() {
                    write!(out, "{}", lines(status))?;
                }
                for line in machines(status) {
                    writeln!(out, "{line}")?;
                }
            }
            if names.is_empty() {
                writeln!(out, "no submissions at {address}")?;
            }
        }
    }
    match args.exit_code && !trouble.is_empty() {
        true => Err(GateFailed(trouble).into()),
        false => Ok(()),
    }
}

/// What should be known about machines: those that were refused, and if there were fewer than
/// elements.
pub fn machines(status: &Status) -> Vec<String> {
    let refused = status.unfit.iter().map(|(host, fleet::Unfit { why, starts })| {
        let starts = metrics::counted(*starts, "start");
        format!("{host} was refused ({starts}): {}", why.replace('\n', " "))
    });
    let mut said: Vec<String> = refused.collect();
    let done: Vec<&str> = status.those(State::Done).filter_map(|it| it.host.as_deref()).collect();
    let (elements, count) = (done.len(), done.iter().collect::<BTreeSet<_>>().len());
    if count > 0 && count < elements {
        let (elements, on) =
            (metrics::counted(elements, "element"), metrics::counted(count, "machine"));
        said.push(format!("{elements} ran on {on}"));
    }
    said
}

/// `3 of 4 elements done, 1 running`.
pub fn summary(status: &Status) -> String {
    let count = |state: State| status.those(state).count();
    let rest = [State::Running, State::Waiting, State::Failed, State::Lost, State::Unneeded]
        .map(|state| (count(state), state.as_str()))
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!(", {count} {word}"));
    let rest: String = rest.collect();
    let programs = status.programs.as_ref().filter(|_| !status.has_programs());
    let programs = programs.map(|it| format!("; element 0 (programs) {}", it.state.as_str()));
    let (done, programs) = (count(State::Done), programs.unwrap_or_default());
    format!("{done} of {} elements done{rest}{programs}", status.elements.len())
}

/// What needs a person.
pub fn problems(name: &str, status: &Status) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(it) = &status.programs
        && matches!(it.state, State::Failed | State::Lost)
    {
        let why = it.why.as_deref().unwrap_or("it is lost").replace('\n', " ");
        found.push(format!("{name}: element 0, which obtains the programs, failed: {why}"));
    }
    for (state, said) in [(State::Failed, "failed"), (State::Lost, "lost")] {
        let those: Vec<String> = status.those(state).map(|it| it.element.to_string()).collect();
        if !those.is_empty() {
            let (all, these) = (those.join(", "), if those.len() == 1 { "" } else { "s" });
            let again = format!("submit --resume {name} runs what is not done");
            found.push(format!("{name}: element{these} {all} {said}; {again}"));
        }
    }
    found.extend(stuck(name, status));
    found
}

/// That nothing happens in the queue, and for what it waits.
pub fn stuck(name: &str, status: &Status) -> Option<String> {
    let since = report::rfc3339(status.stuck_since_ms? / 1000 * 1000);
    let waiting = status.programs.iter().filter(|it| it.state == State::Waiting);
    let waiting = waiting.chain(status.those(State::Waiting));
    let reasons = waiting.filter_map(|it| it.why.as_deref()).map(|why| why.replace('\n', " "));
    let reasons: BTreeSet<String> = reasons.collect();
    let reasons = reasons.into_iter().collect::<Vec<_>>().join(", ");
    Some(format!("{name}: nothing runs, and nothing has happened since {since} ({reasons})"))
}

/// A line for each element.
fn lines(status: &Status) -> String {
    let cells = |it: &fleet::Element| {
        let host = it.host.clone().unwrap_or_else(|| "–".to_owned());
        let why = it.why.as_deref().unwrap_or_default().replace('\n', " ");
        vec![it.element.to_string(), it.state.as_str().to_owned(), host, it.starts.to_string(), why]
    };
    let headings = ["element", "state", "machine", "starts", "why"];
    let programs = status.programs.iter().filter(|it| it.state != State::Done);
    report::columns(&headings, programs.chain(&status.elements).map(cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_listed_with_reasons() {
        let element = |element, state, why: Option<&str>| fleet::Element {
            element,
            state,
            host: Some("node1".to_owned()),
            starts: 1,
            why: why.map(str::to_owned),
        };
        let elements = vec![
            element(1, State::Done, None),
            element(2, State::Waiting, Some("Resources")),
            element(3, State::Failed, Some("no\nspace")),
        ];
        let (stuck_since_ms, programs, unfit) = (None, None, Default::default());
        let status = Status { elements, programs, stuck_since_ms, stopped: false, unfit };
        assert_eq!(summary(&status), "1 of 3 elements done, 1 waiting, 1 failed");
        assert_eq!(
            lines(&status),
            "element  state    machine  starts  why\n\
             1        done     node1         1\n\
             2        waiting  node1         1  Resources\n\
             3        failed   node1         1  no space\n"
        );
        let found = problems("x", &status);
        assert_eq!(found, ["x: element 3 failed; submit --resume x runs what is not done"]);
    }
}
