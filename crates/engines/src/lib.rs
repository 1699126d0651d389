//! Connects loads and databases of engines that run in a process of their own.
//!
//! `dbms` has their databases, `drive` the clients. Each engine has a file that implements
//! [`drive::KeyValueEngine`], and its name in [`engine`].

pub mod rocksdb;

/// Runs a process that was started for an engine: opens the engine and serves it until the process
/// is told to end. Errors are in the log.
pub fn engine(name: &str) -> ! {
    dbms::embedded::finish(match name {
        "rocksdb" => rocksdb::serve(|stream, connect| {
            // A load whose other end is gone is ended.
            let _ = drive::serve(stream, connect);
        }),
        other => Err(format!("expected the name of an engine (rocksdb), found {other}")),
    })
}
