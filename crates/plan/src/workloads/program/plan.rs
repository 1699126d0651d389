//! The contents of `[workload.program]`.

use std::path::Path;

/// The name of the step that loads the data.
pub const INIT: &str = "init";

/// The format of programs whose time is the figure.
pub(super) const TIME: &str = "time";

/// The value of `{seconds}` unless the plan sets it.
pub(super) const SECONDS: u32 = 10;

/// The words of a command line, with quotes as in a shell and nothing else that a shell does.
pub(super) fn words(text: &str) -> Result<Vec<String>, String> {
    shlex::split(text).ok_or_else(|| "expected a command line; a quote is not closed".to_owned())
}

/// Other people's programs as the load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramPlan {
    /// The command that loads the data, the first step of each trial.
    pub init: Option<String>,
    /// Settings of steps that don't set their own.
    pub all: Run,
    /// The steps in order. Without any there is one, as `all` says.
    pub steps: Vec<ProgramStep>,
}

/// A step and its own settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramStep {
    /// Its name in results.
    pub name: String,
    /// The command to run.
    pub run: Run,
}

/// A program to run; fields that are `None` are set elsewhere or have a default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// The program and its arguments, with placeholders.
    pub command: Option<String>,
    /// The format of its output: what [`foreign::Format`] reads, or `time`, the default.
    pub parse: Option<String>,
    /// The test to take if its output has several; by default the one with the step's name.
    pub test: Option<String>,
    /// The name of one operation, such as `transactions`; of a cost, its unit.
    pub unit: Option<String>,
    /// True if the figure is a cost.
    pub less_is_better: Option<bool>,
    /// Numbers of clients, each 1 to 10000, without repetition; default 1.
    pub dop: Option<Vec<u32>>,
    /// The value of `{seconds}`; default 10.
    pub seconds: Option<u32>,
    /// For how many seconds it may run at a time if the load moves between servers in slices.
    pub slice_seconds: Option<u32>,
}

impl ProgramPlan {
    /// The steps, each with all that holds for it.
    pub fn runs(&self) -> Vec<ProgramStep> {
        if self.steps.is_empty() {
            let program = self.all.words().into_iter().next().unwrap_or_default();
            let name = Path::new(&program).file_name().unwrap_or_default();
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            let name: String = name.to_string_lossy().chars().filter(|c| plain(*c)).collect();
            let name = if name.is_empty() { "run".to_owned() } else { name };
            return vec![ProgramStep { name, run: self.all.clone() }];
        }
        let of = |step: &ProgramStep| ProgramStep {
            name: step.name.clone(),
            run: step.run.clone().or(&self.all),
        };
        self.steps.iter().map(of).collect()
    }
}

impl Run {
    /// The same, with the fields of `other` where this has none.
    fn or(self, other: &Run) -> Run {
        Run {
            command: self.command.or_else(|| other.command.clone()),
            parse: self.parse.or_else(|| other.parse.clone()),
            test: self.test.or_else(|| other.test.clone()),
            unit: self.unit.or_else(|| other.unit.clone()),
            less_is_better: self.less_is_better.or(other.less_is_better),
            dop: self.dop.or_else(|| other.dop.clone()),
            seconds: self.seconds.or(other.seconds),
            slice_seconds: self.slice_seconds.or(other.slice_seconds),
        }
    }

    /// The words of its command; none if there is no command.
    pub fn words(&self) -> Vec<String> {
        self.command.as_deref().and_then(|command| words(command).ok()).unwrap_or_default()
    }

    /// The format of its output; `None`: its time is the figure.
    pub fn format(&self) -> Option<foreign::Format> {
        self.parse.as_deref().filter(|parse| *parse != TIME)?.parse().ok()
    }

    /// Its numbers of clients.
    pub fn dops(&self) -> Vec<u32> {
        self.dop.clone().unwrap_or_else(|| vec![1])
    }

    /// The value of `{seconds}`.
    pub fn seconds(&self) -> u32 {
        self.seconds.unwrap_or(SECONDS)
    }

    /// True if it ends after a time that it is told.
    pub fn is_timed(&self) -> bool {
        self.mentions("{seconds}")
    }

    /// True if its command has this placeholder.
    pub(super) fn mentions(&self, placeholder: &str) -> bool {
        self.command.as_ref().is_some_and(|command| command.contains(placeholder))
    }
}
