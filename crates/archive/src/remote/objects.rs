//! The objects at an address.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path as Key;
use object_store::{
    Attribute, Attributes, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
    WriteMultipart,
};
use tokio::runtime::Runtime;

use super::address::Address;
use super::connect::connect;
use super::explain::{failed, is_missing_object};
use crate::Error;
use crate::bounded::too_large;

/// Larger files are uploaded in parts of this size, of which the last makes them visible.
pub(super) const PART: usize = 8 << 20;
/// How many parts of a file are uploaded at once.
const AT_ONCE: usize = 4;
/// How many small objects are read at once.
const SMALL_AT_ONCE: usize = 16;
/// How many names an answer to a request for a list has.
const PAGE: u64 = 1000;

/// An object in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The last part of its name.
    pub name: String,
    /// When it was written, by the clock of the storage, milliseconds since 1970 (UTC).
    pub at_ms: i64,
    /// Its size in bytes and its tag; other content has another.
    pub(crate) version: (u64, Option<String>),
}

/// How often an address was asked for something by this process, without retries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Requests {
    /// For up to 1000 names.
    pub lists: u64,
    /// For an object.
    pub reads: u64,
    /// To write an object, or a part of it.
    pub writes: u64,
}

/// The objects at an address. All functions wait for the result.
#[derive(Debug)]
pub(crate) struct Objects {
    address: Address,
    store: Arc<dyn ObjectStore>,
    runtime: Runtime,
    asked: Asked,
}

#[derive(Debug, Default)]
struct Asked {
    lists: AtomicU64,
    reads: AtomicU64,
    writes: AtomicU64,
}

impl Objects {
    /// Connects, as far as that is possible without a request.
    ///
    /// # Errors
    /// If credentials are missing or make no sense.
    pub(crate) fn open(address: &Address) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(Error::io("start a runtime for", Path::new("object storage")))?;
        let store = connect(address)?;
        Ok(Self { address: address.clone(), store, runtime, asked: Asked::default() })
    }

    /// What was asked so far.
    pub(crate) fn requests(&self) -> Requests {
        let [lists, reads, writes] = [&self.asked.lists, &self.asked.reads, &self.asked.writes]
            .map(|count| count.load(Ordering::Relaxed));
        Requests { lists, reads, writes }
    }

    /// The same, where a directory must exist already.
    ///
    /// # Errors
    /// If credentials are missing or make no sense; if the directory can't be read.
    pub(crate) fn open_to_read(address: &Address) -> Result<Self, Error> {
        if let Some(path) = address.directory() {
            std::fs::read_dir(path).map_err(Error::io("read", path))?;
        }
        Self::open(address)
    }

    /// The address.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    fn key(&self, name: &str) -> Key {
        Key::from_iter(self.address.prefix.parts().chain(Key::from(name).parts()))
    }

    /// The last parts of the names that begin with `folder/`.
    pub(crate) fn names(&self, folder: &str) -> Result<Vec<String>, Error> {
        Ok(self.listed(folder)?.into_iter().map(|object| object.name).collect())
    }

    /// The objects whose names begin with `folder/`.
    pub(crate) fn listed(&self, folder: &str) -> Result<Vec<Listed>, Error> {
        let key = self.key(folder);
        let listing = self.store.list(Some(&key)).map_ok(|object| {
            let name = object.location.filename()?.to_owned();
            let at_ms = object.last_modified.timestamp_millis();
            Some(Listed { name, at_ms, version: (object.size, object.e_tag) })
        });
        let found = self.runtime.block_on(listing.try_collect::<Vec<_>>());
        let pages = found.as_ref().map_or(1, |found| (found.len() as u64).div_ceil(PAGE).max(1));
        self.asked.lists.fetch_add(pages, Ordering::Relaxed);
        let found = found.map_err(failed(&self.address, &format!("list {folder}")))?;
        Ok(found.into_iter().flatten().collect())
    }

    /// True if there is an object of this name.
    pub(crate) fn has(&self, name: &str) -> Result<bool, Error> {
        let key = self.key(name);
        let missing = |error: &object_store::Error| {
            // A bucket that does not exist is not found either, and its answer has no text.
            matches!(error, object_store::Error::NotFound { .. })
        };
        self.asked.reads.fetch_add(1, Ordering::Relaxed);
        match self.runtime.block_on(self.store.head(&key)) {
            Ok(_) => Ok(true),
            Err(error) if missing(&error) => Ok(false),
            Err(error) => Err(failed(&self.address, &format!("look for {name}"))(error)),
        }
    }

    /// Adds a small object; `false` if there is one of this name.
    pub(crate) fn add(&self, name: &str, content: Vec<u8>) -> Result<bool, Error> {
        let mut added = self.put(name, content.clone(), PutMode::Create);
        if matches!(&added, Err(error) if without_conditions(error)) {
            // Whoever writes this name writes the same content, so nothing can be lost.
            added = self.put(name, content, PutMode::Overwrite);
        }
        self.added(name, added)
    }

    /// Adds a small object; `false` if there is one of this name. Of several writers with
    /// different contents, one succeeds.
    pub(crate) fn claim(&self, name: &str, content: Vec<u8>) -> Result<bool, Error> {
        let added = self.put(name, content, PutMode::Create);
        self.added(name, added)
    }

    fn put(&self, name: &str, content: Vec<u8>, mode: PutMode) -> object_store::Result<()> {
        let options = PutOptions { mode, ..PutOptions::default() };
        let (key, payload) = (self.key(name), PutPayload::from(content));
        self.asked.writes.fetch_add(1, Ordering::Relaxed);
        self.runtime.block_on(self.store.put_opts(&key, payload, options)).map(drop)
    }

    /// Writes an object, or another content of it, with a media type.
    pub(crate) fn replace(
        &self,
        name: &str,
        content: Vec<u8>,
        media_type: &'static str,
    ) -> Result<(), Error> {
        let attributes = Attributes::from_iter([
            (Attribute::ContentType, media_type),
            (Attribute::CacheControl, "no-cache"),
        ]);
        let options = PutOptions { attributes, ..PutOptions::from(PutMode::Overwrite) };
        let (key, payload) = (self.key(name), PutPayload::from(content));
        let put = self.runtime.block_on(self.store.put_opts(&key, payload, options));
        put.map(drop).map_err(failed(&self.address, &format!("write {name}")))
    }

    /// True if there is no object.
    pub(crate) fn is_empty(&self) -> Result<bool, Error> {
        let first = async { self.store.list(Some(&self.address.prefix)).next().await.transpose() };
        let first = self.runtime.block_on(first);
        Ok(first.map_err(failed(&self.address, "list the objects"))?.is_none())
    }

    fn added(&self, name: &str, added: object_store::Result<()>) -> Result<bool, Error> {
        match added {
            Ok(()) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(failed(&self.address, &format!("write {name}"))(error)),
        }
    }

    /// Adds a file, which becomes visible when it is complete.
    pub(crate) fn add_file(&self, name: &str, path: &Path) -> Result<(), Error> {
        let mut file = File::open(path).map_err(Error::io("read", path))?;
        let bytes = file.metadata().map_err(Error::io("read", path))?.len();
        if bytes <= PART as u64 {
            let mut content = Vec::new();
            file.read_to_end(&mut content).map_err(Error::io("read", path))?;
            return self.add(name, content).map(|_| ());
        }
        let key = self.key(name);
        let wrap = |error| failed(&self.address, &format!("upload {name}"))(error);
        // It is begun and completed, too.
        self.asked.writes.fetch_add(bytes.div_ceil(PART as u64) + 2, Ordering::Relaxed);
        self.runtime.block_on(async {
            let upload = self.store.put_multipart(&key).await.map_err(wrap)?;
            let mut upload = WriteMultipart::new_with_chunk_size(upload, PART);
            let mut buffer = vec![0; 1 << 20];
            loop {
                let read = match file.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => read,
                    Err(error) => {
                        let _ = upload.abort().await;
                        return Err(Error::io("read", path)(error));
                    }
                };
                upload.write(buffer.get(..read).unwrap_or_default());
                if let Err(error) = upload.wait_for_capacity(AT_ONCE).await {
                    let _ = upload.abort().await;
                    return Err(wrap(error));
                }
            }
            // It aborts by itself if it fails.
            upload.finish().await.map(|_| ()).map_err(wrap)
        })
    }

    /// A small object, if it is there.
    pub(crate) fn read_if_there(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let key = self.key(name);
        self.asked.reads.fetch_add(1, Ordering::Relaxed);
        let get = async { self.store.get(&key).await?.bytes().await };
        match self.runtime.block_on(get) {
            Ok(content) => Ok(Some(content.to_vec())),
            Err(error) if is_missing_object(&error) => Ok(None),
            Err(error) => Err(failed(&self.address, &format!("read {name}"))(error)),
        }
    }

    /// Removes an object.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        self.asked.writes.fetch_add(1, Ordering::Relaxed);
        let removed = self.runtime.block_on(self.store.delete(&self.key(name)));
        removed.map_err(failed(&self.address, &format!("remove {name}")))
    }

    /// Removes an object, if it is there.
    pub(crate) fn remove_if_there(&self, name: &str) -> Result<(), Error> {
        match self.runtime.block_on(self.store.delete(&self.key(name))) {
            Ok(()) => Ok(()),
            Err(error) if is_missing_object(&error) => Ok(()),
            Err(error) => Err(failed(&self.address, &format!("remove {name}"))(error)),
        }
    }

    /// Small objects by their names, all of which exist.
    pub(crate) fn read(&self, names: &[String]) -> Result<Vec<Vec<u8>>, Error> {
        let get = |name: &String| {
            let key = self.key(name);
            let store = Arc::clone(&self.store);
            async move { store.get(&key).await?.bytes().await.map(|bytes| bytes.to_vec()) }
        };
        self.asked.reads.fetch_add(names.len() as u64, Ordering::Relaxed);
        let all = stream::iter(names.iter().map(get)).buffered(SMALL_AT_ONCE).try_collect();
        self.runtime.block_on(all).map_err(failed(&self.address, "read the index"))
    }

    /// Downloads an object of at most `most` bytes into a new file.
    pub(crate) fn read_file(&self, name: &str, most: u64, to: &Path) -> Result<(), Error> {
        let key = self.key(name);
        let wrap = |error| failed(&self.address, &format!("download {name}"))(error);
        let mut file = File::create_new(to).map_err(Error::io("create", to))?;
        self.asked.reads.fetch_add(1, Ordering::Relaxed);
        self.runtime.block_on(async {
            let found = self.store.get(&key).await.map_err(wrap)?;
            let expected = found.meta.size;
            if expected > most {
                return Err(too_large(&format!("{}/{name}", self.address), most));
            }
            let mut chunks = found.into_stream();
            let mut written = 0;
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(wrap)?;
                file.write_all(&chunk).map_err(Error::io("write", to))?;
                written += chunk.len() as u64;
            }
            if written != expected {
                let problem = format!("expected {expected} bytes, received {written}");
                return Err(Error::Damaged { name: format!("{}/{name}", self.address), problem });
            }
            file.sync_all().map_err(Error::io("write", to))
        })
    }
}

/// Some services that speak like S3 know no conditions.
fn without_conditions(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotImplemented { .. })
        || error.to_string().contains("<Code>NotImplemented</Code>")
}
