//! Errors in a program's output.

/// Why nothing was read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForeignError {
    /// No such format.
    #[error(
        "there is no format {given:?}{}; known are {}",
        .nearest.map(|nearest| format!(" (did you mean {nearest:?}?)")).unwrap_or_default(),
        crate::Format::known()
    )]
    UnknownFormat {
        /// The word.
        given: String,
        /// The nearest known one.
        nearest: Option<&'static str>,
    },
    /// A JSON pointer or regular expression that isn't one.
    #[error("{given:?} is not a usable format: {why}")]
    BadFormat {
        /// The given format.
        given: String,
        /// The problem with it, and what to do.
        why: String,
    },
    /// Something else than the program's output.
    #[error(
        "line {line}: expected {expected}, found {}; is this the output of {program}?",
        quoted(.found)
    )]
    Other {
        /// Whose output was expected.
        program: &'static str,
        /// From 1.
        line: usize,
        /// The text expected there.
        expected: &'static str,
        /// The text found there, shortened.
        found: String,
    },
    /// The end is missing.
    #[error(
        "line {line}: the output of {program} ends in the middle: expected {expected}. Nothing of \
         it is used; run the program to its end"
    )]
    CutOff {
        /// Whose output it is.
        program: &'static str,
        /// The last line; from 1.
        line: usize,
        /// The text that should have followed.
        expected: &'static str,
    },
    /// No figure where one should be, or one that cannot be judged.
    #[error(
        "line {line}: expected a {what} greater than 0 from {program}, found {}",
        quoted(.found)
    )]
    NotAFigure {
        /// Whose output it is.
        program: &'static str,
        /// From 1.
        line: usize,
        /// Which figure.
        what: &'static str,
        /// The text found there.
        found: String,
    },
    /// The program says that something went wrong.
    #[error("line {line}: {program} reports a failure, so this is not a result: {said}")]
    Failed {
        /// Whose output it is.
        program: &'static str,
        /// From 1.
        line: usize,
        /// Its words, shortened.
        said: String,
    },
    /// Output of another version or with other options, which can't be read.
    #[error("line {line}: this output of {program} can't be read: {found}. {remedy}")]
    Unsupported {
        /// Whose output it is.
        program: &'static str,
        /// From 1.
        line: usize,
        /// The part that can't be read.
        found: String,
        /// The remedy.
        remedy: &'static str,
    },
}

/// Puts the found text in quotes, unless it is empty.
fn quoted(found: &str) -> String {
    if found.is_empty() { "nothing".to_owned() } else { format!("{found:?}") }
}

/// At most 120 characters of a line.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
