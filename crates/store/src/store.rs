//! Opening a results directory.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{Result, StoreError};
use crate::schema::{APPLICATION_ID, VERSION, create, is_upgraded, user_version};

/// Name of the database in a results directory.
pub const DATABASE: &str = "steelyard.db";
/// Name of the directory for files in a results directory.
pub const ARTIFACTS: &str = "artifacts";

/// How long to wait for another process that is writing.
const BUSY: Duration = Duration::from_secs(10);
/// Number of prepared statements to keep; more than this crate has.
const STATEMENTS: usize = 64;

/// A results directory: `steelyard.db` and `artifacts/`.
///
/// It can be sent to another thread but not shared; every thread or process opens its own. Several
/// may read while one writes. Writers wait for each other up to 10 seconds.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    directory: PathBuf,
    database: PathBuf,
}

impl Store {
    /// Opens the store in a directory for writing and reading. Creates missing directories and
    /// files. Upgrades a database of an earlier version, which is kept in [`Store::backup_file`].
    ///
    /// # Errors
    /// If the directory cannot be created or written, or `steelyard.db` is something else, has a
    /// newer version of the schema or one too old to be upgraded, or has to be upgraded while
    /// another process has it open.
    pub fn open(directory: &Path) -> Result<Store> {
        let mut existing = Store::writable(directory)?;
        if let Some(found) = existing.as_ref().and_then(Store::older) {
            drop(existing);
            Store::upgrade(directory, found)?;
            existing = Store::writable(directory)?;
        }
        let wrap = |source| StoreError::Directory { path: directory.to_owned(), source };
        fs::create_dir_all(directory.join(ARTIFACTS)).map_err(wrap)?;
        let new = existing.is_none();
        let store = match existing {
            Some(store) => store,
            None => Store::connect_writing(directory, OpenFlags::SQLITE_OPEN_CREATE)?,
        };
        store.wrap(store.prepare_writing())?;
        store.wrap(create(&store.connection))?;
        store.sweep_incoming();
        if new {
            // The names of the new files must also survive a power failure.
            for folder in [Some(directory), directory.parent()].into_iter().flatten() {
                if folder != Path::new("") {
                    File::open(folder).and_then(|f| f.sync_all()).map_err(wrap)?;
                }
            }
        }
        Ok(store)
    }

    /// Checks that [`Store::open`] can write in a directory, which need not exist. Creates nothing.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn check_writable(directory: &Path) -> Result<()> {
        Store::writable(directory).map(drop)
    }

    /// As [`Store::open`], for a store that must already exist, as for `run --resume`.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if it does not, [`StoreError::Unreadable`] if that cannot be seen;
    /// otherwise as [`Store::open`].
    pub fn open_existing(directory: &Path) -> Result<Store> {
        existing(directory)?;
        Store::open(directory)
    }

    /// Opens a store for reading only, even in a directory that is not writable. A database of an
    /// earlier version is upgraded first.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Unreadable`], [`StoreError::NotADatabase`],
    /// [`StoreError::Newer`], [`StoreError::Older`], [`StoreError::NotUpgraded`], or
    /// [`StoreError::Busy`] while another process has a database open that has to be upgraded.
    pub fn open_read_only(directory: &Path) -> Result<Store> {
        match Store::open_as_it_is(directory) {
            Err(StoreError::Older { found, .. }) if is_upgraded(found) => {
                Store::upgrade(directory, found)?;
                Store::open_as_it_is(directory)
            }
            opened => opened,
        }
    }

    /// As [`Store::open_read_only`], but refuses a database of an earlier version.
    ///
    /// # Errors
    /// [`StoreError::Older`], also if it could be upgraded; otherwise as [`Store::open_read_only`].
    pub fn open_as_it_is(directory: &Path) -> Result<Store> {
        let database = existing(directory)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let store = Store::connect(directory, flags, database.as_os_str()).map_err(|error| {
            // SQLite does not say why.
            match File::open(&database) {
                Err(source) => StoreError::unreadable(&database)(source),
                Ok(_) => error,
            }
        })?;
        match store.check(false) {
            // Reading in WAL mode needs two files next to the database, which SQLite cannot create
            // in a read-only directory. Without a WAL, no data can be missed and there is no
            // writer, so the file can be opened as immutable.
            Err(StoreError::Sqlite { .. }) if !wal_in_use(&database) => {
                let uri = immutable_uri(&database);
                let flags = flags | OpenFlags::SQLITE_OPEN_URI;
                let store = Store::connect(directory, flags, uri.as_ref())?;
                store.check(false)?;
                Ok(store)
            }
            checked => checked.map(|()| store),
        }
    }

    /// The store in a directory where [`Store::open`] can write; `None` if it has to be created.
    /// Creates nothing.
    fn writable(directory: &Path) -> Result<Option<Store>> {
        let refused = |source| StoreError::from_io(directory, source);
        let absolute = std::path::absolute(directory).map_err(refused)?;
        for folder in [absolute.clone(), absolute.join(ARTIFACTS)] {
            // A missing folder will be created in the nearest ancestor that exists.
            let place = folder.ancestors().find(|way| way.exists()).unwrap_or(&folder);
            tempfile::tempfile_in(place).map_err(|source| StoreError::from_io(&folder, source))?;
        }
        let database = directory.join(DATABASE);
        if !database.exists() {
            return Ok(None);
        }
        let opened = File::options().write(true).open(&database);
        opened.map_err(|source| StoreError::from_io(&database, source))?;
        Store::connect_writing(directory, OpenFlags::empty()).map(Some)
    }

    /// Connects with these flags and those for writing. Changes nothing.
    pub(crate) fn connect_writing(directory: &Path, flags: OpenFlags) -> Result<Store> {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE;
        let store = Store::connect(directory, flags, directory.join(DATABASE).as_os_str())?;
        store.check(true)?;
        Ok(store)
    }

    fn connect(directory: &Path, flags: OpenFlags, name: &std::ffi::OsStr) -> Result<Store> {
        let database = directory.join(DATABASE);
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(name, flags)
            .and_then(|connection| {
                connection.busy_timeout(BUSY)?;
                // A database may come from elsewhere: its schema must not run functions.
                connection.pragma_update(None, "trusted_schema", false)?;
                connection.set_prepared_statement_cache_capacity(STATEMENTS);
                Ok(connection)
            })
            .map_err(|e| StoreError::from_sqlite(&database, e))?;
        Ok(Store { connection, directory: directory.to_owned(), database })
    }

    /// Checks that the file is steelyard's and has this version, or, for `writing`, one that can be
    /// upgraded to it; before changing anything in it.
    fn check(&self, writing: bool) -> Result<()> {
        let look = || -> rusqlite::Result<(i64, i64, i64)> {
            // As it was at one moment, since another process may be creating the tables.
            let _moment = self.connection.unchecked_transaction()?;
            let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get(0));
            let objects = "SELECT count(*) FROM sqlite_schema";
            let objects = self.connection.query_row(objects, [], |row| row.get(0))?;
            Ok((pragma("application_id")?, user_version(&self.connection)?, objects))
        };
        let (application, found, objects) = self.wrap(look())?;
        let path = self.database.clone();
        let known = i64::from(VERSION);
        if objects == 0 && application == 0 && found == 0 {
            // An empty file is new, or was left by a process killed while creating the store.
            return if writing { Ok(()) } else { Err(StoreError::Missing(self.directory.clone())) };
        }
        if application != APPLICATION_ID {
            return Err(StoreError::NotADatabase {
                path,
                found: "a database that belongs to another program".to_owned(),
            });
        }
        if found > known {
            return Err(StoreError::Newer { path, found, known });
        }
        if found < known && !(writing && is_upgraded(found)) {
            return Err(StoreError::Older { path, found, known });
        }
        Ok(())
    }

    /// The version of its schema, if it has to be upgraded.
    fn older(&self) -> Option<i64> {
        user_version(&self.connection).ok().filter(|version| is_upgraded(*version))
    }

    fn prepare_writing(&self) -> rusqlite::Result<()> {
        let connection = &self.connection;
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode != "wal" {
            connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        }
        // FULL syncs the WAL at every commit: a step reported as stored survives a power failure.
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)
    }

    /// The version of the schema that this crate reads and writes, after upgrading others to it.
    pub fn schema() -> u32 {
        VERSION
    }

    /// True if a database of this version can be read, as it is or after an upgrade.
    pub fn reads(schema: u32) -> bool {
        schema == VERSION || is_upgraded(schema.into())
    }

    /// Closes a store that nobody else has open, leaving a single file without a write-ahead log.
    ///
    /// # Errors
    /// If the log cannot be written back.
    pub fn into_single_file(self) -> Result<PathBuf> {
        let mode =
            self.connection.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()));
        self.wrap(mode)?;
        Ok(self.database)
    }

    /// The results directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory for files such as server logs.
    pub fn artifacts(&self) -> PathBuf {
        self.directory.join(ARTIFACTS)
    }

    /// The file of the database.
    pub fn database(&self) -> &Path {
        &self.database
    }

    /// Adds location and kind to an SQLite error.
    pub(crate) fn wrap<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|e| StoreError::from_sqlite(&self.database, e))
    }

    /// Runs several functions that write in one transaction: all of them or, if one fails, none.
    ///
    /// # Errors
    /// That of `work`, or if it cannot be written.
    pub fn at_once<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let transaction = self.begin()?;
        let value = work()?; // an error rolls back when the transaction is dropped
        self.wrap(transaction.commit())?;
        Ok(value)
    }

    /// Runs something in one transaction: all of it or nothing. Within [`Store::at_once`], it is
    /// a part of that transaction.
    pub(crate) fn transaction<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if !self.connection.is_autocommit() {
            return work(&self.connection);
        }
        self.at_once(|| work(&self.connection))
    }

    fn begin(&self) -> Result<Transaction<'_>> {
        // IMMEDIATE waits for another writer here, instead of failing at the first write.
        let behavior = TransactionBehavior::Immediate;
        self.wrap(Transaction::new_unchecked(&self.connection, behavior))
    }
}

/// Now, in milliseconds since 1970 (UTC).
pub fn now_ms() -> i64 {
    // A clock before 1970 gives 0.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The database of a directory.
fn existing(directory: &Path) -> Result<PathBuf> {
    let database = directory.join(DATABASE);
    match fs::metadata(&database) {
        Ok(found) if found.is_file() => Ok(database),
        Err(source) if source.kind() != ErrorKind::NotFound => {
            Err(StoreError::unreadable(&database)(source))
        }
        _ => Err(StoreError::Missing(directory.to_owned())),
    }
}

fn wal_in_use(database: &Path) -> bool {
    let mut wal = database.as_os_str().to_owned();
    wal.push("-wal");
    fs::metadata(wal).is_ok_and(|meta| meta.len() > 0)
}

/// `file:…?immutable=1` (sqlite.org/uri.html): every byte that could have a meaning is escaped.
fn immutable_uri(database: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let absolute = std::path::absolute(database).unwrap_or_else(|_| database.to_owned());
    let mut uri = String::from("file://");
    for byte in absolute.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri.push_str("?immutable=1");
    uri
}
