//! Errors of valgrind and of reading Callgrind's files.

use std::io;
use std::path::PathBuf;

/// Why instructions could not be counted, or their counts not read.
#[derive(Debug, thiserror::Error)]
pub enum CallgrindError {
    /// No valgrind in `PATH`.
    #[error(
        "expected the program valgrind in PATH, found none: install it (Debian, Ubuntu, Fedora: the package valgrind), \
         or give its path"
    )]
    NotInstalled,
    /// The program does not answer like valgrind.
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
    /// A line does not match the format.
    #[error(
        "{origin}, line {line}: expected {expected}, found {found}: use an unchanged file from Callgrind, or run again"
    )]
    Format {
        /// The file.
        origin: PathBuf,
        /// From 1.
        line: u64,
        /// The text that the format requires there.
        expected: String,
        /// The text found there, shortened.
        found: String,
    },
    /// The costs of the functions do not add up to the file's total.
    #[error(
        "{origin}, line {line}: expected the costs of all functions to add up to the file's total of {listed} instructions, found {summed}: the file was truncated or changed, run again"
    )]
    Sum {
        /// The file.
        origin: PathBuf,
        /// The line with the total, from 1.
        line: u64,
        /// Instructions by the line `totals:`.
        listed: u64,
        /// Instructions by the cost lines.
        summed: u64,
    },
}
