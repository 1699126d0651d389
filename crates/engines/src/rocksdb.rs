//! RocksDB under load.

use std::os::unix::net::UnixStream;
use std::sync::Arc;

use dbms::rocksdb::{self, Database};
use drive::{Batch, Connect, ErrorKind, Key, KeyValueEngine, ServerError};
use workload::Scan;

/// Opens and serves the database of this process until the process is told to end.
pub(crate) fn serve(load: fn(&UnixStream, &Arc<dyn Connect>)) -> Result<(), String> {
    rocksdb::serve(move |stream, database| load(stream, &connect(Arc::clone(database))))
}

/// How the clients of a load reach a database in their own process.
pub fn connect(database: Arc<Database>) -> Arc<dyn Connect> {
    Arc::new(Arc::new(RocksDb(database)))
}

/// A database under load.
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

impl KeyValueEngine for RocksDb {
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
