//! Errors of control groups.

use std::io;
use std::path::{Path, PathBuf};

/// Why a control group could not be created, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// Neither v1 nor v2 is mounted visibly to this process.
    #[error(
        "expected a mounted control group hierarchy (cgroup or cgroup2) with CPU accounting, found none: mount one, or measure the process tree instead"
    )]
    NoHierarchy,
    /// The name is not valid for a directory.
    #[error(
        "expected a control group name of letters, digits, '.', '_' and '-' that does not start with '.', found {name:?}"
    )]
    BadName {
        /// The name asked for.
        name: String,
    },
    /// The user may not create groups here.
    #[error(
        "no permission to create the control group {path}: run as root, or delegate a group to this user \
         (systemd-run --user --scope -p Delegate=yes …), or measure the process tree instead"
    )]
    Denied {
        /// The directory to create.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A group of this name already exists.
    #[error(
        "the control group {path} already exists: remove what an earlier run left behind, or choose another name"
    )]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A memory limit was requested, but no group can have one.
    #[error(
        "a memory limit needs the memory controller, found none usable at {path} or above: as root, write +memory to cgroup.subtree_control there, or run without a limit"
    )]
    NoMemoryController {
        /// The group of this process.
        path: PathBuf,
    },
    /// A file of a group could not be used.
    #[error("could not {action} {path}: {source}")]
    File {
        /// `read`, `write …` or `remove`.
        action: String,
        /// The file or directory.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A file of a group has unexpected content.
    #[error(
        "expected {expected} in {path}, found {found:?}: is this a control group of a supported kernel?"
    )]
    Unreadable {
        /// The content that should be there.
        expected: &'static str,
        /// The file.
        path: PathBuf,
        /// The text found there, at most its first 100 characters.
        found: String,
    },
    /// Processes are still in the group.
    #[error(
        "the control group {path} still contains the processes {pids:?}: end them, then remove it again"
    )]
    Busy {
        /// The directory.
        path: PathBuf,
        /// The processes in it.
        pids: Vec<u32>,
    },
}

impl CgroupError {
    /// For `map_err`.
    pub(super) fn file(
        action: impl Into<String>,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> CgroupError {
        let (action, path) = (action.into(), path.to_owned());
        move |source| CgroupError::File { action, path, source }
    }
}
