//! The files written by Callgrind.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::CallgrindError;

/// A dump: the counts of one process between two marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dump {
    /// The process.
    pub pid: u32,
    /// Which of its dumps, from 1.
    pub part: u32,
    /// Why it was written, in Callgrind's words: `--dump-before=NAME`, or `Program termination` for
    /// the last one.
    pub trigger: String,
    /// The file, for [`Profile::read`](super::Profile::read).
    pub path: PathBuf,
}

/// The dumps of a run, by process and in the order of writing. `out` is that of
/// [`Valgrind::command_line`](super::Valgrind::command_line).
///
/// A process that was killed, or became another program by `exec`, wrote no last dump. Its counts
/// after its last mark are lost.
///
/// # Errors
/// If the directory or a file cannot be read, or a file is not a dump.
pub fn dumps(out: &Path) -> Result<Vec<Dump>, CallgrindError> {
    let directory = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let list = |source| CallgrindError::File { action: "list", path: directory.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(list)? {
        let entry = entry.map_err(list)?;
        if let Some(pid) = out.file_name().and_then(|prefix| process_of(&entry.file_name(), prefix))
            && let Some(dump) = read_header(entry.path(), pid)?
        {
            found.push(dump);
        }
    }
    found.sort_by_key(|dump| (dump.pid, dump.part));
    Ok(found)
}

/// The pid in `PREFIX.PID` or `PREFIX.PID.PART`; nothing for other files.
fn process_of(name: &OsStr, prefix: &OsStr) -> Option<u32> {
    let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes())?;
    let rest = std::str::from_utf8(rest.strip_prefix(b".")?).ok()?;
    let (pid, part) = rest.split_once('.').unwrap_or((rest, "0"));
    if !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    pid.bytes().all(|byte| byte.is_ascii_digit()).then(|| pid.parse().ok()).flatten()
}

/// `None` for an empty file: at the start, Callgrind creates the file for the last dump, to check
/// that it can.
fn read_header(path: PathBuf, pid: u32) -> Result<Option<Dump>, CallgrindError> {
    let unreadable = |source| CallgrindError::File { action: "read", path: path.clone(), source };
    let mut reader = BufReader::new(File::open(&path).map_err(unreadable)?);
    let (mut part, mut trigger) = (None, None);
    let mut line = Vec::new();
    let mut lines = 0;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
            break;
        }
        lines += 1;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if let Some(value) = text.strip_prefix("part:") {
            part = value.trim().parse().ok();
        } else if let Some(value) = text.strip_prefix("desc: Trigger:") {
            trigger = Some(value.trim().to_owned());
        } else if text.starts_with("events:") {
            break;
        }
    }
    match (part, trigger) {
        (Some(part), Some(trigger)) => Ok(Some(Dump { pid, part, trigger, path })),
        _ if lines == 0 => Ok(None),
        _ => Err(CallgrindError::Format {
            origin: path,
            line: lines,
            expected: "the lines part: and desc: Trigger: among the first ones".to_owned(),
            found: "at most one of them".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_dumps_or_passed_over() {
        let of = |name: &str| process_of(name.as_ref(), "out".as_ref());
        assert_eq!(of("out.17"), Some(17));
        assert_eq!(of("out.17.2"), Some(17));
        for other in
            ["out", "out.", "out.log", "out.17.log", "out17", "x.17", "out.17.2.3", "out.+1"]
        {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn dumps_are_in_order_and_empty_files_are_skipped() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("out");
        let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
        for (name, part, trigger) in [
            ("out.9", 11, "Program termination"),
            ("out.9.2", 2, "--dump-before=mark"),
            ("out.9.10", 10, "--dump-before=mark"),
            ("out.8.1", 1, "--dump-before=mark"),
        ] {
            write(
                name,
                &format!(
                    "# callgrind format\npart: {part}\ndesc: Trigger: {trigger}\nevents: Ir\n"
                ),
            );
        }
        write("out.8", "");
        write("out.log", "something else");
        let found = dumps(&out).unwrap();
        let order: Vec<_> = found.iter().map(|dump| (dump.pid, dump.part)).collect();
        assert_eq!(order, [(8, 1), (9, 2), (9, 10), (9, 11)]);
        assert_eq!(found[3].trigger, "Program termination");
        assert_eq!(found[3].path, directory.path().join("out.9"));

        write("out.7", "nonsense\n");
        assert!(matches!(dumps(&out), Err(CallgrindError::Format { .. })));
        assert!(matches!(
            dumps(Path::new("/nonexistent/out")),
            Err(CallgrindError::File { action: "list", .. })
        ));
    }
}
