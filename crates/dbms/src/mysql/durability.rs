//! The failure that a commit survives, as settings that all versions have.

use super::engine::StorageEngine;
use crate::{Config, Durability};

/// The settings for `level`. The binary log is off unless the plan turns it on; then it follows.
pub(super) fn settings(engine: StorageEngine, level: Durability) -> Config {
    let full = level == Durability::Full;
    let each = if full { "1" } else { "2" };
    let log = match engine {
        StorageEngine::InnoDb => "innodb_flush_log_at_trx_commit",
        StorageEngine::MyRocks => "rocksdb_flush_log_at_trx_commit",
    };
    let mut settings = vec![(log, each), ("sync_binlog", if full { "1" } else { "0" })];
    if full && engine == StorageEngine::InnoDb {
        settings.push(("innodb_doublewrite", "ON"));
    }
    settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
