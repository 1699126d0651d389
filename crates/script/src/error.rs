//! Errors in a script, with their places, and errors while an expression is evaluated.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::slot::Slot;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
}

/// Where the lines of a script start.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Lines<'a> {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines { text, starts: [0].into_iter().chain(ends).collect() }
    }

    /// The place of a byte of the text.
    pub(crate) fn place(&self, at: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..at).unwrap_or_default();
        Position { line: line as u32, column: before.chars().count() as u32 + 1 }
    }
}

/// A script that cannot run, with the place of its first mistake.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{}:{}: {problem}", place.line, place.column)]
pub struct ScriptError {
    /// The script's name.
    pub file: String,
    /// Where the mistake is.
    pub place: Position,
    /// The problem.
    pub problem: Problem,
}

/// A mistake in a script. Fields named `found` have texts of the script.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// No such command.
    #[error("expected a pgbench command, found \\{found}{}", meant(hint.as_deref(), "\\"))]
    UnknownCommand {
        /// Its name.
        found: String,
        /// The command that was probably meant.
        hint: Option<String>,
    },
    /// `\shell` or `\setshell`.
    #[error(
        "\\{command} is not supported: a shell command would be part of what is measured; \
         run it before the measurement and pass its result as a variable"
    )]
    Shell {
        /// Which of the two.
        command: String,
    },
    /// A command ends too soon.
    #[error("\\{command} needs {expected}, found the end of the line")]
    MissingArgument {
        /// The command's name.
        command: String,
        /// The text that must follow.
        expected: &'static str,
    },
    /// A command goes on after its end.
    #[error("expected the end of the line after \\{command}, found {found:?}")]
    UnexpectedArgument {
        /// The command's name.
        command: String,
        /// The first word too many.
        found: String,
    },
    /// Not a variable's name.
    #[error(
        "expected the name of a variable (letters, digits and _; no digit first), found {found:?}"
    )]
    BadName {
        /// The word.
        found: String,
    },
    /// Not a time to sleep.
    #[error("expected a whole number or a :variable as time to sleep, found {found:?}")]
    BadSleep {
        /// The word.
        found: String,
    },
    /// Not a unit of time.
    #[error("expected us, ms or s as unit of time, found {found:?}")]
    BadUnit {
        /// The word.
        found: String,
    },
    /// Not part of the expression language.
    #[error("unexpected character {0:?} in an expression")]
    UnexpectedCharacter(char),
    /// An expression that is not well-formed.
    #[error("expected {expected}, found {found}")]
    Syntax {
        /// The text expected here.
        expected: &'static str,
        /// The text found here.
        found: String,
    },
    /// A whole number of more than 64 bits.
    #[error("expected a whole number of at most 64 bits, found {found}")]
    IntegerTooLarge {
        /// The number.
        found: String,
    },
    /// A number that a double cannot hold.
    #[error("expected a number that a double can hold, found {found}")]
    DoubleOutOfRange {
        /// The number.
        found: String,
    },
    /// No such function.
    #[error("expected a function of pgbench, found {found}(){}", meant(hint.as_deref(), ""))]
    UnknownFunction {
        /// Its name.
        found: String,
        /// The function that was probably meant.
        hint: Option<String>,
    },
    /// A function with too few or too many arguments.
    #[error("{function}() takes {expected}, found {found}")]
    ArgumentCount {
        /// The function's name.
        function: &'static str,
        /// How many it takes, in words.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// An expression inside an expression inside …
    #[error("expressions may be nested {limit} deep; split this one with \\set")]
    TooDeep {
        /// The deepest that is allowed.
        limit: usize,
    },
    /// A misplaced `\elif`, `\else` or `\endif`, or an `\if` that isn't ended.
    #[error("{0}")]
    Nesting(&'static str),
    /// `\gset` or `\aset` without a statement.
    #[error(
        "\\{command} takes the results of the SQL command right before it, found {found}; \
         put it right after the command"
    )]
    NoStatement {
        /// `gset` or `aset`.
        command: String,
        /// The thing before it.
        found: &'static str,
    },
    /// A quoted text or comment that isn't ended.
    #[error("{what} starts here and does not end")]
    Unterminated {
        /// The kind of text.
        what: &'static str,
    },
    /// A parenthesis in a statement that isn't closed.
    #[error("this parenthesis is not closed where the SQL command ends")]
    OpenParenthesis,
    /// A variable that never gets a value.
    #[error(
        "nothing sets the variable :{name}{}; assign it with \\set or \\gset, or pass a value for it",
        meant(hint.as_deref(), ":")
    )]
    MissingVariable {
        /// Its name.
        name: String,
        /// The variable that was probably meant.
        hint: Option<String>,
    },
    /// A variable that is part of a quoted text, so no parameter can stand for it.
    #[error(
        "the variable :{name} is inside quotes, where the extended protocol has no parameters; \
         use the simple protocol, or put it outside the quotes and join the texts with ||"
    )]
    QuotedVariable {
        /// Its name.
        name: String,
    },
    /// More parameters than pgbench takes.
    #[error("a statement may have {limit} variables, found {found}")]
    TooManyVariables {
        /// The most that are allowed.
        limit: usize,
        /// How many there are.
        found: usize,
    },
    /// A pipeline that is started twice, isn't started or isn't ended, or a command that is not
    /// allowed in one.
    #[error("{0}")]
    Pipeline(&'static str),
    /// A script without commands.
    #[error("expected at least one command, found none")]
    Empty,
}

fn meant(hint: Option<&str>, sign: &str) -> String {
    hint.map(|hint| format!(" (did you mean {sign}{hint}?)")).unwrap_or_default()
}

/// The known word nearest to a mistyped one. A third of the letters may be wrong, at least one.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let folded = word.to_ascii_lowercase();
    let limit = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| {
            (strsim::osa_distance(&folded, &candidate.to_ascii_lowercase()), candidate)
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

/// A mistake at a byte of the text, before its line is counted.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) problem: Problem,
}

impl Fault {
    pub(crate) fn new(at: usize, problem: Problem) -> Fault {
        Fault { at, problem }
    }

    pub(crate) fn in_file(self, file: &str, text: &str) -> ScriptError {
        let place = Lines::new(text).place(self.at);
        ScriptError { file: file.to_owned(), place, problem: self.problem }
    }
}

/// Why an expression or a time to sleep has no value. The client cannot go on with its script.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EvalError {
    /// The variable was not assigned yet. [`EvalError::explain`] knows its name.
    #[error("a variable has no value")]
    Undefined(Slot),
    /// The value's text is neither a number nor a truth value nor `NULL`.
    #[error("expected a number, true, false or NULL as the value of a variable, found {0:?}")]
    Malformed(String),
    /// The value is of a type that cannot be used here.
    #[error("expected a value of type {to}, found {from}")]
    Coercion {
        /// The value's type.
        from: &'static str,
        /// The type that is needed.
        to: &'static str,
    },
    /// A double that isn't a whole number of 64 bits, however it is rounded.
    #[error("expected a double that fits into 64 bits as a whole number, found {0}")]
    DoubleToInt(f64),
    /// A result of more than 64 bits.
    #[error("the result of {0} does not fit into 64 bits")]
    Overflow(&'static str),
    /// A whole number divided by 0.
    #[error("division by zero")]
    DivisionByZero,
    /// The smallest number is above the largest one.
    #[error("a random number was wanted from {min} to {max}, which is an empty range")]
    EmptyRange {
        /// The first argument.
        min: i64,
        /// The second argument.
        max: i64,
    },
    /// More than 2^63 - 1 numbers.
    #[error("a random number was wanted from {min} to {max}, which are too many numbers")]
    RangeTooLarge {
        /// The first argument.
        min: i64,
        /// The second argument.
        max: i64,
    },
    /// The third argument of a random function is out of bounds.
    #[error("{function}() needs a parameter {bounds}, found {found}")]
    Parameter {
        /// The function's name.
        function: &'static str,
        /// Its bounds, in words.
        bounds: &'static str,
        /// The parameter.
        found: f64,
    },
    /// `permute` of nothing.
    #[error("permute() needs a size above 0, found {0}")]
    PermuteSize(i64),
    /// The index of a text that is none of those to choose from.
    #[error("expected an index below {count}, found {found}")]
    Index {
        /// The number of texts.
        count: usize,
        /// The index.
        found: i64,
    },
    /// A variable that holds no time to sleep.
    #[error("expected a whole number as time to sleep, found {0:?}")]
    Sleep(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let text = "a\nöäx\n";
        let at = text.find('x').unwrap();
        let lines = Lines::new(text);
        assert_eq!(lines.place(at), Position { line: 2, column: 3 });
        assert_eq!(lines.place(text.len()), Position { line: 3, column: 1 });
        assert_eq!(lines.place(0), Position { line: 1, column: 1 });
    }

    #[test]
    fn hints_are_near() {
        assert_eq!(nearest("randm", ["random", "int"]).as_deref(), Some("random"));
        assert_eq!(nearest("ELS", ["else", "elif"]).as_deref(), Some("else"));
        assert_eq!(nearest("foo", ["random", "int"]), None);
    }
}
