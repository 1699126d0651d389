//! Upgrading a database that an earlier version of steelyard wrote.
//!
//! It is done by whoever opens it first, in one transaction, after the database as it was has been
//! copied to a file beside it. Whoever is killed in between leaves the old database.

use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::error::{Result, StoreError};
use crate::schema::{VERSION, apply_upgrades, is_upgraded, user_version};
use crate::store::{DATABASE, Store};

impl Store {
    /// The file next to the database that holds what was there before an upgrade from `version`.
    pub fn backup(directory: &Path, version: u32) -> PathBuf {
        directory.join(format!("{DATABASE}.schema-{version}"))
    }

    /// Upgrades the database if it is of an earlier version.
    pub(crate) fn upgrade(&self) -> Result<()> {
        if self.wrap(user_version(&self.connection))? == i64::from(VERSION) {
            return Ok(());
        }
        let set =
            |checked: bool| self.wrap(self.connection.pragma_update(None, "foreign_keys", checked));
        // Otherwise a table that is made anew would lose the rows that refer to it.
        set(false)?;
        let upgraded = self.upgrade_unchecked();
        set(true)?;
        upgraded
    }

    fn upgrade_unchecked(&self) -> Result<()> {
        let incoming = self.incoming()?;
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.wrap(Transaction::new_unchecked(&self.connection, behavior))?;
        // Another process may have been faster.
        let version = self.wrap(user_version(&transaction))?;
        if !is_upgraded(version) {
            return Ok(());
        }
        self.back_up(version, &incoming.results())?;
        self.wrap(apply_upgrades(&transaction, version))?;
        self.wrap(transaction.commit())
    }

    /// Copies the database, which nobody can write now, to a file beside it, by way of `copy`.
    fn back_up(&self, version: i64, copy: &Path) -> Result<()> {
        let reader = Connection::open_with_flags(self.database(), OpenFlags::SQLITE_OPEN_READ_ONLY);
        let copied = reader.and_then(|it| it.backup("main", copy, None::<fn(_)>));
        copied.map_err(|error| StoreError::from_sqlite(copy, error))?;
        let beside = Store::backup(self.directory(), u32::try_from(version).unwrap_or_default());
        let durable = || {
            File::open(copy)?.sync_all()?;
            // One that is there was made by an upgrade that did not end, or of a database that was
            // put back since.
            std::fs::rename(copy, &beside)?;
            File::open(self.directory())?.sync_all()
        };
        durable().map_err(|source| StoreError::from_io(&beside, source))
    }
}
