//! Data directories of the user's: whether a server can start on a copy of one, and how the copy
//! becomes one of steelyard's.
//!
//! Nothing of how the user's server was configured acts on a copy: it has the configuration of
//! other clusters made here, no replication slots, and its subscriptions are disabled.

use std::fs;
use std::path::Path;

use super::binaries;
use super::initdb::ROLE;
use crate::data::paths;
use crate::process::site::Site;
use crate::process::{identity, launch};
use crate::{DataDirectory, Error, Installation, ServerSpec};

const VERSION: &str = "PG_VERSION";
const CONTROL: &str = "global/pg_control";
const SLOTS: &str = "pg_replslot";

/// Files of a server that runs, or that does not begin where it ended.
const NOT_READY: [(&str, &str); 5] = [
    (
        "postmaster.pid",
        "a server runs on it, or was killed; stop it in good order (pg_ctl stop -m fast), after a \
         start if it was killed",
    ),
    ("recovery.signal", NOT_RECOVERED),
    ("standby.signal", NOT_RECOVERED),
    ("recovery.conf", NOT_RECOVERED),
    ("backup_label", NOT_RECOVERED),
];
const NOT_RECOVERED: &str = "it is a backup or a standby; start a server on a copy of it, promote \
                             it if it follows another, stop it in good order, and name that copy";

/// DBState in src/include/catalog/pg_control.h, as pg_controldata writes it.
const STATES: [&str; 7] = [
    "starting up",
    "shut down",
    "shut down in recovery",
    "shutting down",
    "in crash recovery",
    "in archive recovery",
    "in production",
];
const SHUT_DOWN: &str = STATES[1];

/// The beginning of pg_control, the same in all versions: the cluster's number, that of its state,
/// and the place of the last checkpoint.
#[derive(Debug, PartialEq)]
struct ControlFile {
    system: u64,
    state: u32,
    checkpoint: u64,
}

impl ControlFile {
    fn read(bytes: &[u8]) -> Option<Self> {
        let system = u64::from_ne_bytes(bytes.get(..8)?.try_into().ok()?);
        // After the versions of the file and of the catalogs.
        let state = u32::from_ne_bytes(bytes.get(16..20)?.try_into().ok()?);
        // After the time.
        let checkpoint = u64::from_ne_bytes(bytes.get(32..40)?.try_into().ok()?);
        Some(Self { system, state, checkpoint })
    }
}

/// Checks that a server of `installation` can start on a copy of it; returns what identifies it.
pub(super) fn check(
    installation: &Installation,
    data: &DataDirectory<'_>,
) -> Result<String, Error> {
    let read = |name: &str| {
        fs::read(data.path.join(name)).map_err(|error| {
            data.refuse(format!(
                "it is not a data directory of PostgreSQL: {name} cannot be read ({error}); name \
                 the directory that has it"
            ))
        })
    };
    let version = String::from_utf8_lossy(&read(VERSION)?).trim().to_owned();
    let control = ControlFile::read(&read(CONTROL)?)
        .ok_or_else(|| data.refuse(format!("{CONTROL} is cut off; restore it from a backup")))?;
    let own = series(&installation.version);
    if version != own {
        return Err(data.refuse(format!(
            "it is of PostgreSQL {version}, but the variant is {own} ({}); upgrade a copy of it \
             with pg_upgrade and name both in `restore`, or load a dump with `init`",
            installation.version
        )));
    }
    data.check_absent(&NOT_READY)?;
    let state = STATES.get(control.state as usize).copied().unwrap_or("unknown");
    if state != SHUT_DOWN {
        return Err(data.refuse(format!(
            "expected the state `{SHUT_DOWN}`, found `{state}`; start a server on it, or on a copy, \
             and stop it in good order"
        )));
    }
    data.check_plain()?;
    let (high, low) = (control.checkpoint >> 32, control.checkpoint & u64::from(u32::MAX));
    Ok(format!("system identifier {}, checkpoint {high:X}/{low:X}", control.system))
}

/// The part of a version that PG_VERSION has: 13 of 13.7, 9.6 of 9.6.24.
fn series(version: &str) -> String {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    match (numbers.next(), numbers.next()) {
        (Some("9"), Some(second)) => format!("9.{second}"),
        (first, _) => first.unwrap_or_default().to_owned(),
    }
}

/// Makes the copy in `site` one of steelyard's. Its postgresql.conf is written already; the files
/// beside it come from the directory `ours`.
pub(super) fn adopt(
    spec: &ServerSpec<'_>,
    data: &DataDirectory<'_>,
    site: &Site<'_>,
    bin_dir: &Path,
    ours: &Path,
) -> Result<(), Error> {
    for name in ["pg_hba.conf", "pg_ident.conf", "postgresql.auto.conf"] {
        site.rewrite(&ours.join(name), &site.data.join(name), "")?;
    }
    identity::as_user(&spec.user, || {
        // A backup may have opened it.
        paths::set_mode(&site.data, 0o700)?;
        let slots = site.data.join(SLOTS);
        let entries = fs::read_dir(&slots).map_err(Error::io("read", &slots))?;
        entries
            .flatten()
            .map(|entry| entry.path())
            .try_for_each(|slot| fs::remove_dir_all(&slot).map_err(Error::io("remove", &slot)))
    })?;
    let mut single = binaries::command(&bin_dir.join("postgres"), &spec.user)?;
    // Its words are read.
    single
        .args(["--single", "-c", "lc_messages=C", "-c", "log_min_messages=warning", "-j", "-D"])
        .arg(&site.data)
        .arg(data.database);
    let said = launch::run(
        single,
        "making a role in the copy",
        Some(&statements(&spec.installation.version)),
    )
    .map_err(|error| match error {
        Error::Program { output, .. } if output.contains("does not exist") => {
            let database = data.database;
            data.refuse(format!("it has no database `{database}`; correct `database`"))
        }
        other => other,
    })?;
    let failed = |line: &&str| line.contains("ERROR:") && !line.contains("already exists");
    match said.lines().find(failed) {
        Some(line) => {
            let problem = format!("a role for steelyard can't be made in the copy: {line}");
            Err(data.refuse(format!("{problem}; drop a role `{ROLE}` there, if there is one")))
        }
        None => Ok(()),
    }
}

/// What a server alone with the copy executes. The first may fail, where the role is there.
fn statements(version: &str) -> String {
    let mut all = vec![
        // The database may have it on.
        "SET default_transaction_read_only = off".to_owned(),
        format!("CREATE ROLE {ROLE}"),
        format!("ALTER ROLE {ROLE} SUPERUSER LOGIN CONNECTION LIMIT -1 VALID UNTIL 'infinity'"),
        format!("ALTER ROLE {ROLE} RESET ALL"),
    ];
    if !version.starts_with("9.") {
        // Otherwise it would connect to the server that the user's one subscribes to.
        all.push("UPDATE pg_catalog.pg_subscription SET subenabled = false".to_owned());
    }
    all.iter().map(|statement| format!("{statement};\n\n")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn control(state: u32) -> Vec<u8> {
        let mut bytes = 7_234_u64.to_ne_bytes().to_vec();
        bytes.extend([0; 8]);
        bytes.extend(state.to_ne_bytes());
        bytes.extend([0; 12]);
        bytes.extend(0x0000_0002_0A00_0028_u64.to_ne_bytes());
        bytes.extend([0; 100]);
        bytes
    }

    fn checked(path: &Path, version: &str) -> Result<String, String> {
        let installation = Installation::of("postgres", version);
        let data = DataDirectory { path, database: "shop", interrupted: &GO_ON };
        check(&installation, &data).map_err(|error| {
            assert!(error.is_request(), "{error}");
            error.to_string()
        })
    }

    #[test]
    fn what_a_server_can_not_start_from_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let refused = |version: &str, part: &str| {
            let error = checked(path, version).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        refused("15.8", "is not a data directory of PostgreSQL: PG_VERSION cannot be read");
        for inner in ["global", SLOTS] {
            fs::create_dir(path.join(inner)).unwrap();
        }
        fs::write(path.join(VERSION), "15\n").unwrap();
        fs::write(path.join(CONTROL), [0; 9]).unwrap();
        refused("15.8", "cut off");
        fs::write(path.join(CONTROL), control(6)).unwrap();
        refused("15.8", "expected the state `shut down`, found `in production`");
        fs::write(path.join(CONTROL), control(77)).unwrap();
        refused("15.8", "found `unknown`");
        fs::write(path.join(CONTROL), control(1)).unwrap();
        assert_eq!(checked(path, "15.8").unwrap(), "system identifier 7234, checkpoint 2/A000028");
        refused("16.1", "it is of PostgreSQL 15, but the variant is 16 (16.1); upgrade");
        for (name, _) in NOT_READY {
            fs::write(path.join(name), "").unwrap();
            refused("15.8", &format!("it has {name}: "));
            fs::remove_file(path.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("/elsewhere", path.join("pg_wal")).unwrap();
        refused("15.8", "pg_wal is a symbolic link");
    }

    #[test]
    fn the_version_of_a_cluster_is_that_of_its_series() {
        let of = ["13.7", "9.6.24", "18devel", "17"].map(series);
        assert_eq!(of, ["13", "9.6", "18", "17"]);
    }
}
