//! Upgrading a database that an earlier version of steelyard wrote.
//!
//! It is done by whoever opens it first while nobody else has it open, in one transaction. The
//! database as it was is kept in a file beside it. Whoever is killed in between leaves the old
//! database.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{Result, StoreError};
use crate::schema::{VERSION, apply_upgrades, is_upgraded, user_version};
use crate::store::{DATABASE, Store};
use crate::transfer::Incoming;

/// How long to wait for others who have the database open. Most have it for a moment, runs for
/// hours.
const PATIENCE: Duration = Duration::from_secs(2);

impl Store {
    /// The file next to the database that holds what was there before an upgrade from `version`;
    /// `number`: the first, the second, …, if an old database was put there several times.
    pub fn backup_file(directory: &Path, version: u32, number: u32) -> PathBuf {
        let more = if number > 1 { format!(".{number}") } else { String::new() };
        directory.join(format!("{DATABASE}.schema-{version}{more}"))
    }

    /// Upgrades the database of a directory, which was found to be of an earlier version.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process has it open, such as a run of the earlier steelyard;
    /// [`StoreError::Full`], or [`StoreError::NotUpgraded`].
    pub(crate) fn upgrade(directory: &Path, found: i64) -> Result<()> {
        let (path, known) = (directory.join(DATABASE), i64::from(VERSION));
        upgrade(directory).map_err(|why| match why {
            StoreError::Busy(_) | StoreError::Full(_) => why,
            why => StoreError::NotUpgraded { path, found, known, why: Box::new(why) },
        })
    }
}

fn upgrade(directory: &Path) -> Result<()> {
    // Nobody else may have it open who waits for the same.
    let place = Incoming::begin(directory)?;
    let store = Store::connect_writing(directory, OpenFlags::empty())?;
    let found = store.wrap(user_version(&store.connection))?;
    if !is_upgraded(found) {
        // Another process was faster.
        return Ok(());
    }
    store.wrap(lock(&store.connection))?;
    let copy = place.file();
    store.wrap(store.connection.backup("main", &copy, None::<fn(_)>))?;
    // Otherwise a table that is made anew would lose the rows that refer to it.
    store.wrap(store.connection.pragma_update(None, "foreign_keys", false))?;
    let behavior = TransactionBehavior::Exclusive;
    let transaction = store.wrap(Transaction::new_unchecked(&store.connection, behavior))?;
    store.wrap(apply_upgrades(&transaction, found))?;
    keep(&store, &copy, found).map_err(|source| StoreError::from_io(directory, source))?;
    store.wrap(transaction.commit())
}

/// Locks the database, so that no other process can read or write it until the connection is
/// closed. Waits a while for those who have it open.
fn lock(connection: &Connection) -> rusqlite::Result<()> {
    let begin = Instant::now();
    let leave = || -> rusqlite::Result<()> {
        connection.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))
    };
    // This fails as long as another connection has a write-ahead log in use.
    while let Err(error) = leave() {
        let busy = matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        );
        if !busy || begin.elapsed() >= PATIENCE {
            return Err(error);
        }
        sleep(Duration::from_millis(20));
    }
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    connection.execute_batch("BEGIN EXCLUSIVE; COMMIT")
}

/// Gives a copy of the database its place beside it, with the same owner and mode.
fn keep(store: &Store, copy: &Path, version: i64) -> io::Result<()> {
    let like = fs::metadata(store.database())?;
    fs::set_permissions(copy, like.permissions())?;
    // Only root may; whoever else can write there keeps their own.
    let _ = chown(copy, Some(like.uid()), Some(like.gid()));
    File::open(copy)?.sync_all()?;
    let version = u32::try_from(version).unwrap_or_default();
    let mut places = (1..).map(|number| Store::backup_file(store.directory(), version, number));
    // The lock keeps others from taking it.
    let free = places.find(|place| !place.exists()).ok_or(io::ErrorKind::AlreadyExists)?;
    fs::rename(copy, free)?;
    File::open(store.directory())?.sync_all()
}
