//! Engines that run in a process of their own: their loads and their databases come together here.

use std::sync::Arc;

use dbms::rocksdb::{self, Database};
use drive::{Batch, Connect, Engine, ErrorKind, Key, ServerError};
use workload::Scan;

/// The whole of a process that was started for an engine: opens and serves it until the process is
/// told to end. What goes wrong is in the log.
pub fn engine(name: &str) -> ! {
    dbms::embedded::finish(match name {
        "rocksdb" => rocksdb::serve(|stream, database| {
            let connect = connect_rocksdb(Arc::clone(database));
            // A load whose other end is gone is ended.
            let _ = drive::serve(stream, &connect);
        }),
        other => Err(format!("expected the name of an engine (rocksdb), found {other}")),
    })
}

/// How the clients of a load reach a database in their own process.
pub fn connect_rocksdb(database: Arc<Database>) -> Arc<dyn Connect> {
    Arc::new(Arc::new(RocksDb(database)))
}

/// A RocksDB database under load.
#[derive(Debug)]
struct RocksDb(Arc<Database>);

impl RocksDb {
    fn error(message: String) -> Box<ServerError> {
        // For the log, in which the cause of a failure is looked for.
        eprintln!("{message}");
        let full = message.contains("No space left on device");
        Box::new(ServerError {
            severity: "ERROR".to_owned(),
            kind: if full { ErrorKind::DiskFull } else { ErrorKind::Other },
            message,
            ..ServerError::default()
        })
    }
}

impl Engine for RocksDb {
    fn enter(&self) {
        self.0.enter();
    }

    #[inline]
    fn get(&self, keys: &[Key], see: impl FnMut(&[u8], &[u8])) -> Result<(), Box<ServerError>> {
        match keys {
            [key] => self.0.get(key, see),
            keys => self.0.multi_get(keys, see),
        }
        .map_err(Self::error)
    }

    fn put(&self, batch: &Batch, logged: bool) -> Result<(), Box<ServerError>> {
        let pairs = batch.pairs().map(|(key, value)| (&key[..], value));
        self.0.put(pairs, logged).map_err(Self::error)
    }

    fn delete(&self, key: &Key) -> Result<(), Box<ServerError>> {
        self.0.delete(key).map_err(Self::error)
    }

    fn mark(&self) {
        self.0.mark();
    }

    fn scan(
        &self,
        from: &Key,
        scan: Scan,
        see: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Box<ServerError>> {
        self.0.scan(from, scan.pairs, scan.reverse, see).map_err(Self::error)
    }
}
