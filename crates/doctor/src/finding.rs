//! Findings about the machine, and their fixes.

use std::path::PathBuf;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It spoils nothing.
    Ok,
    /// It can't be seen here.
    Unknown,
    /// It may spoil results.
    Warn,
    /// It spoils results, or ends runs.
    Fail,
}

impl State {
    /// In tables.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Unknown => "?",
            State::Warn => "warn",
            State::Fail => "fail",
        }
    }
}

/// One thing about the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The name of the check, such as `swappiness`.
    pub name: String,
    /// How bad it is.
    pub state: State,
    /// The value or state found.
    pub found: String,
    /// Why it matters, in a sentence; empty if all is well.
    pub why: String,
    /// How to mend it; empty if there is nothing to mend.
    pub mend: String,
    /// The value to write and the file to write it to, if that is safe and takes effect at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Finding {
    /// Its state and what was found, on one line without its name.
    pub fn line(&self) -> String {
        format!("{}: {}", self.state.as_str(), self.found)
    }

    /// A finding without advice.
    pub(crate) fn new(name: &str, state: State, found: impl Into<String>) -> Finding {
        let (why, mend) = (String::new(), String::new());
        Finding { name: name.to_owned(), state, found: found.into(), why, mend, fix: None }
    }

    /// Why it matters and how to mend it, unless all is well.
    pub(crate) fn advise(mut self, why: &str, mend: &str) -> Finding {
        if self.state > State::Ok {
            self.why = why.to_owned();
        }
        if self.state > State::Unknown {
            self.mend = mend.to_owned();
        }
        self
    }
}

/// A value to write into a file of the kernel's, which it keeps until the next boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// The files; each gets the same value.
    pub files: Vec<PathBuf>,
    /// The value.
    pub value: String,
}
