//! What can go wrong with valgrind and with what Callgrind wrote.

use std::io;
use std::path::PathBuf;

/// Why instructions could not be counted or their counts not be read.
#[derive(Debug, thiserror::Error)]
pub enum CallgrindError {
    /// No valgrind in `PATH`.
    #[error(
        "expected the program valgrind in PATH, found none: install it (Debian, Ubuntu, Fedora: the package valgrind), \
         or give its path"
    )]
    NotInstalled,
    /// The program does not answer as valgrind does.
    #[error(
        "expected {path} --version to print valgrind-VERSION, found {found}: give the path of valgrind"
    )]
    NotValgrind {
        /// The program asked.
        path: PathBuf,
        /// Its answer, or why there was none.
        found: String,
    },
    /// A file or directory could not be used.
    #[error("could not {action} {path}: {source}")]
    File {
        /// `read`, `list`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A line is not what the format has at this place.
    #[error(
        "{origin}, line {line}: expected {expected}, found {found}: use an unchanged file from Callgrind, or run again"
    )]
    Format {
        /// The file.
        origin: PathBuf,
        /// From 1.
        line: u64,
        /// What the format has there.
        expected: String,
        /// What stands there, shortened.
        found: String,
    },
    /// The costs of the functions do not add up to what the file says of itself.
    #[error(
        "{origin}, line {line}: expected the costs of all functions to add up to the file's total of {listed} instructions, found {summed}: the file was truncated or changed, run again"
    )]
    Sum {
        /// The file.
        origin: PathBuf,
        /// From 1: the one with the total.
        line: u64,
        /// Instructions by the line `totals:`.
        listed: u64,
        /// Instructions by the cost lines.
        summed: u64,
    },
}
