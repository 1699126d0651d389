//! Exit codes, the same for every subcommand.

use std::io::Write;
use std::process::ExitCode;

/// A gate failed: there is a regression, or something that can't be judged, or, with the strict
/// gate, something undecided. Or the machine is not fit.
const GATE: u8 = 1;
/// The request was wrong; repeating it can't help.
const WRONG_REQUEST: u8 = 2;
/// The request was fine, but carrying it out failed.
const FAILED: u8 = 3;

/// A request that the command itself finds wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongRequest(pub String);

/// Refuses a request with this sentence.
pub fn refuse<T>(text: impl Into<String>) -> anyhow::Result<T> {
    Err(WrongRequest(text.into()).into())
}

/// The reasons why the gate failed, one sentence each.
#[derive(Debug, thiserror::Error)]
#[error("the gate failed:\n  {}", .0.join("\n  "))]
pub struct GateFailed(pub Vec<String>);

/// A run that ended early, with what to do next.
#[derive(Debug, thiserror::Error)]
#[error("{error}\n{next}")]
pub struct Unfinished {
    /// Why it ended.
    #[source]
    pub error: lab::Error,
    /// The remedy.
    pub next: String,
}

/// The checks that failed in `doctor`, each with what was found.
#[derive(Debug, thiserror::Error)]
#[error("this machine is not fit to measure on:\n  {}", .0.join("\n  "))]
pub struct Unfit(pub Vec<String>);

/// Fails if there are reasons to.
pub fn gate(reasons: Vec<String>) -> anyhow::Result<()> {
    if reasons.is_empty() { Ok(()) } else { Err(GateFailed(reasons).into()) }
}

/// Prints the mistake in the command line, or the help that it asks for.
pub fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if untold(&text) == text {
        // In colors on a terminal.
        let _ = error.print();
    } else {
        say(text.trim_end());
    }
    if error.use_stderr() { ExitCode::from(WRONG_REQUEST) } else { ExitCode::SUCCESS }
}

/// Prints an error with its causes and returns the exit code.
pub fn explain(error: &anyhow::Error) -> ExitCode {
    if broken_pipe(error) {
        // The reader, such as `head`, has read enough.
        return ExitCode::SUCCESS;
    }
    if error.is::<GateFailed>() || error.is::<Unfit>() {
        say(&error.to_string());
        return ExitCode::from(GATE);
    }
    // Before the sentence that says what happened, which stays in view.
    if let Some(error) = of_lab(error) {
        if !error.log().is_empty() {
            say(error.log());
        }
        if let Some(file) = error.log_file() {
            say(&format!("the whole log: {}", file.display()));
        }
    }
    say(&format!("error: {error}"));
    let mut last = error.to_string();
    for cause in error.chain().skip(1) {
        let text = cause.to_string();
        // Many errors already repeat the text of their cause.
        if !last.contains(&text) {
            say(&format!("  because: {text}"));
        }
        last = text;
    }
    ExitCode::from(if is_request(error) { WRONG_REQUEST } else { FAILED })
}

/// Prints a line to stderr, without passwords, because it may repeat user input. A failure to print
/// is ignored, because the exit code remains.
fn say(text: &str) {
    let text = untold(text);
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A text without passwords. Arguments that it repeats are looked up in full, because where one
/// ends can't be told from the text.
fn untold(text: &str) -> String {
    let mut text = text.to_owned();
    for argument in std::env::args_os() {
        let argument = argument.to_string_lossy();
        let given = reference::split_name(&argument).1;
        if reference::without_passwords(given) != given {
            text = text.replace(given, &reference::hidden(given));
        }
    }
    reference::without_passwords(&text)
}

fn broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The error of `lab` that an error is or stands for.
fn of_lab(error: &anyhow::Error) -> Option<&lab::Error> {
    let of_run = error.downcast_ref::<Unfinished>().map(|it| &it.error);
    of_run.or_else(|| error.downcast_ref())
}

fn is_request(error: &anyhow::Error) -> bool {
    error.is::<WrongRequest>()
        || error.is::<plan::PlanError>()
        || error.downcast_ref::<lab::Error>().is_some_and(lab::Error::is_request)
        || error.downcast_ref::<Unfinished>().is_some_and(|it| it.error.is_request())
        || error.downcast_ref::<dbms::Error>().is_some_and(dbms::Error::is_request)
        || error.downcast_ref::<lab::ImportError>().is_some_and(lab::ImportError::is_request)
        || error.downcast_ref::<store::StoreError>().is_some_and(store::StoreError::is_request)
        || error.downcast_ref::<archive::Error>().is_some_and(archive::Error::is_request)
        || error.downcast_ref::<fleet::Error>().is_some_and(fleet::Error::is_request)
        || error.downcast_ref::<::site::Error>().is_some_and(::site::Error::is_request)
        || error.downcast_ref::<::serve::Error>().is_some_and(::serve::Error::is_request)
        || error.is::<report::ReportError>()
}
