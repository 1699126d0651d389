//! Changes settings. Each change can be undone even if a later one fails or the process is killed,
//! because the command that undoes it is on disk before it is made.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::{Finding, Fix};

/// Why not everything could be set.
#[derive(Debug, thiserror::Error)]
pub enum MendError {
    /// A file of the kernel's can't be read or written.
    #[error("could not set {name} to {value}: cannot {action} {}: {source}; are you root?", file.display())]
    Set {
        /// The name of the finding.
        name: String,
        /// The value.
        value: String,
        /// The attempted action.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The command that would undo it can't be kept, so the change was not made.
    #[error("did not set {name}, because what undoes it cannot be written to {}: {source}; are you root?", script.display())]
    Undo {
        /// The name of the finding.
        name: String,
        /// The script.
        script: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Applies the fixes of the findings, and calls `tell` with each finding that was fixed. The
/// commands that undo it are appended to the shell script `undo`, each before its change is made.
///
/// # Errors
/// At the first file that can't be read or written. Values set before that stay set, and the script
/// can undo them.
pub fn mend(
    findings: &[Finding],
    undo: &Path,
    mut tell: impl FnMut(&Finding, &Fix),
) -> Result<(), MendError> {
    for finding in findings {
        let Some(fix) = &finding.fix else { continue };
        let name = || finding.name.clone();
        for file in &fix.files {
            let failed = |action| {
                let (name, value, file) = (name(), fix.value.clone(), file.clone());
                move |source| MendError::Set { name, value, action, file, source }
            };
            let before = fs::read_to_string(file).map_err(failed("read"))?;
            let before = probe::chosen(before.trim());
            // A try that failed has set it already; its value before is in the script.
            if before == fix.value {
                continue;
            }
            let command = format!("echo '{before}' > '{}'\n", file.display());
            keep(undo, &command).map_err(|source| {
                let script = undo.to_owned();
                MendError::Undo { name: name(), script, source }
            })?;
            fs::write(file, &fix.value).map_err(failed("write"))?;
        }
        tell(finding, fix);
    }
    Ok(())
}

/// Appends a command to a script, durably.
fn keep(script: &Path, command: &str) -> io::Result<()> {
    let mut file = File::options().create(true).append(true).open(script)?;
    file.write_all(command.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn finding(files: &[&Path]) -> Finding {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let fix = Some(Fix { files, value: "madvise".to_owned() });
        Finding { fix, ..Finding::new("huge pages", State::Warn, "always") }
    }

    /// Runs the script, which then is gone.
    fn undo(script: &Path) {
        assert!(std::process::Command::new("sh").arg(script).status().unwrap().success());
        fs::remove_file(script).unwrap();
    }

    #[test]
    fn what_was_set_can_be_undone_although_a_later_step_failed() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let [a, b, c, script] = ["a", "b", "c", "undo.sh"].map(at);
        let reset = || {
            for file in [&a, &b, &c] {
                fs::write(file, "[always] madvise never\n").unwrap();
            }
        };
        let all = || [&a, &b, &c].map(|file| fs::read_to_string(file).unwrap());
        for (files, set) in [
            (vec![vec![&*a], vec![&*b, Path::new("/proc/none")], vec![&*c]], 2),
            (vec![vec![&*a, &*b, &*c], vec![Path::new("/proc/none")]], 3),
            (vec![vec![&*a], vec![&*b], vec![&*c]], 3),
        ] {
            reset();
            let findings: Vec<Finding> = files.iter().map(|files| finding(files)).collect();
            // A second try must not take what the first one set for what was there before.
            for _ in 0..2 {
                let result = mend(&findings, &script, |_, _| ());
                let changed = all().iter().filter(|found| *found == "madvise").count();
                assert_eq!(changed, set);
                if let Err(error) = result {
                    let error = error.to_string();
                    assert!(error.contains("could not set huge pages to madvise"), "{error}");
                    assert!(error.contains(" /proc/"), "{error}");
                }
            }
            assert_eq!(fs::read_to_string(&script).unwrap().lines().count(), set);
            undo(&script);
            let undone = all().iter().filter(|found| found.trim() == "always").count();
            assert_eq!(undone, set);
        }
    }

    #[test]
    fn what_undoes_it_is_written_first() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("undo.sh");
        // Nobody may write to this file, not even root.
        let error = mend(&[finding(&[Path::new("/proc/version")])], &script, |_, _| ());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("cannot write /proc/version") && error.contains("root"), "{error}");
        let kept = fs::read_to_string(&script).unwrap();
        assert!(kept.starts_with("echo 'Linux") && kept.ends_with("/proc/version'\n"), "{kept}");
    }

    #[test]
    fn what_could_not_be_undone_is_not_set() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("enabled");
        fs::write(&file, "always").unwrap();
        let error = mend(&[finding(&[&file])], &directory.path().join("no/undo"), |_, _| ());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("did not set huge pages") && error.contains("no/undo"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "always");
    }
}
