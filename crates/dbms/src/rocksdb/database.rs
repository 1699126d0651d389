//! An open database.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::fmt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::Duration;

use super::library::{Bytes, Library, Object, text};

/// Keys of one call of MultiGet; more are read by several.
const KEYS: usize = 32;

/// `PerfLevel::kDisable` in rocksdb/perf_level.h.
const NO_COUNTERS: i32 = 1;

/// How often to ask whether compactions have ended.
const LOOK: Duration = Duration::from_millis(20);

/// Compactions have ended if this many looks in a row find none: one may just be about to begin.
const QUIET: u32 = 5;

/// Properties that are zero when no work is left.
const WORK: [&str; 4] = [
    "rocksdb.mem-table-flush-pending",
    "rocksdb.num-running-flushes",
    "rocksdb.compaction-pending",
    "rocksdb.num-running-compactions",
];

/// A RocksDB database, open in this process. Any number of threads may use it. Errors are
/// RocksDB's messages.
pub struct Database {
    library: Library,
    database: Object,
    read: Object,
    logged: Object,
    unlogged: Object,
    directory: PathBuf,
}

// SAFETY: RocksDB's DB is safe to use from several threads (rocksdb/db.h), and the options are only
// read after they were made.
unsafe impl Send for Database {}
// SAFETY: the same.
unsafe impl Sync for Database {}

impl fmt::Debug for Database {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Database({})", self.directory.display())
    }
}

/// The files of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) files: u64,
    pub(super) bytes: u64,
}

impl Database {
    /// Opens the database in `directory`, or makes it. `options` is a text in RocksDB's own format,
    /// `name=value;…`; it rejects what it doesn't know.
    ///
    /// # Errors
    /// The loader's message, or RocksDB's.
    pub fn open(library: &Path, directory: &Path, options: &str) -> Result<Database, String> {
        let library = Library::load(library)?;
        let path = text(&directory.display().to_string())?;
        let options = library.options(&text(options)?)?;
        // SAFETY: the arguments are objects that the library made, texts that end with a zero, and
        // a place for an error.
        unsafe {
            (library.options_set_create_if_missing)(options, 1);
            let database = library.call(|failure| (library.open)(options, path.as_ptr(), failure));
            // An open database has its own copy.
            (library.options_destroy)(options);
            let database = database?;
            let read = (library.readoptions_create)();
            (library.readoptions_set_verify_checksums)(read, 1);
            let (logged, unlogged) =
                ((library.writeoptions_create)(), (library.writeoptions_create)());
            (library.writeoptions_disable_WAL)(unlogged, 1);
            let directory = directory.to_path_buf();
            Ok(Database { library, database, read, logged, unlogged, directory })
        }
    }

    /// To be called once by each thread that uses it. RocksDB then leaves out the counters that it
    /// keeps for each thread, as in db_bench.
    pub fn enter(&self) {
        // SAFETY: any level is allowed at any time.
        unsafe { (self.library.set_perf_level)(NO_COUNTERS) };
    }

    /// Marks a place for Callgrind.
    pub fn mark(&self) {
        self.library.mark();
    }

    /// The directory it is in.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads the value of a key, if it exists; `see` gets both.
    ///
    /// # Errors
    /// RocksDB's message, also for damaged data.
    #[inline]
    pub fn get(&self, key: &[u8], mut see: impl FnMut(&[u8], &[u8])) -> Result<(), String> {
        let library = &self.library;
        // SAFETY: the key's length is its own; the value is only used until it is destroyed.
        unsafe {
            let pinned = library.call(|failure| {
                let bytes = key.as_ptr().cast();
                (library.get_pinned)(self.database, self.read, bytes, key.len(), failure)
            })?;
            if !pinned.is_null() {
                let mut length = 0;
                let value = (library.pinnableslice_value)(pinned, &raw mut length);
                see(key, bytes(value, length));
                (library.pinnableslice_destroy)(pinned);
            }
        }
        Ok(())
    }

    /// Reads the values of those keys that exist, by MultiGet; `see` gets each pair.
    ///
    /// # Errors
    /// As [`Database::get`].
    // Beside `get` in its caller, it would take the registers from it.
    #[inline(never)]
    pub fn multi_get<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), String> {
        let library = &self.library;
        for keys in keys.chunks(KEYS) {
            let mut begins: [Bytes; KEYS] = [ptr::null(); KEYS];
            let (mut lengths, mut found_lengths) = ([0; KEYS], [0; KEYS]);
            let mut found: [*mut c_char; KEYS] = [ptr::null_mut(); KEYS];
            let mut failures: [*mut c_char; KEYS] = [ptr::null_mut(); KEYS];
            for ((begin, length), key) in begins.iter_mut().zip(&mut lengths).zip(keys) {
                let key = key.as_ref();
                (*begin, *length) = (key.as_ptr().cast(), key.len());
            }
            // SAFETY: all arrays have at least as many places as there are keys.
            unsafe {
                (library.multi_get)(
                    self.database,
                    self.read,
                    keys.len(),
                    begins.as_ptr(),
                    lengths.as_ptr(),
                    found.as_mut_ptr(),
                    found_lengths.as_mut_ptr(),
                    failures.as_mut_ptr(),
                );
            }
            let mut failure = None;
            for (place, key) in keys.iter().enumerate() {
                failure = failure.or_else(|| library.take(failures[place]));
                if !found[place].is_null() {
                    // SAFETY: the library gave the length; it is freed when it was seen.
                    unsafe {
                        see(key.as_ref(), bytes(found[place], found_lengths[place]));
                        (library.free)(found[place].cast());
                    }
                }
            }
            if let Some(failure) = failure {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Writes pairs, all or none. Those that are not `logged` are lost in a crash.
    ///
    /// # Errors
    /// RocksDB's message.
    pub fn put<'p>(
        &self,
        pairs: impl ExactSizeIterator<Item = (&'p [u8], &'p [u8])>,
        logged: bool,
    ) -> Result<(), String> {
        let (library, database) = (&self.library, self.database);
        let options = if logged { self.logged } else { self.unlogged };
        let one = pairs.len() == 1;
        // SAFETY: lengths are those of the slices; the batch is destroyed after its last use.
        unsafe {
            let batch = if one { ptr::null_mut() } else { (library.writebatch_create)() };
            let mut result = Ok(());
            for (key, value) in pairs {
                let (k, v) = (key.as_ptr().cast(), value.as_ptr().cast());
                if one {
                    result = library.call(|failure| {
                        (library.put)(database, options, k, key.len(), v, value.len(), failure);
                    });
                } else {
                    (library.writebatch_put)(batch, k, key.len(), v, value.len());
                }
            }
            if !one {
                result = library.call(|failure| (library.write)(database, options, batch, failure));
                (library.writebatch_destroy)(batch);
            }
            result
        }
    }

    /// Removes a key.
    ///
    /// # Errors
    /// RocksDB's message.
    pub fn delete(&self, key: &[u8]) -> Result<(), String> {
        let library = &self.library;
        library.call(|failure| {
            let begin = key.as_ptr().cast();
            // SAFETY: the length is that of the key.
            unsafe { (library.delete)(self.database, self.logged, begin, key.len(), failure) };
        })
    }

    /// Seeks to a key and shows at most this many pairs from there, toward smaller keys if
    /// `reverse`.
    ///
    /// # Errors
    /// As [`Database::get`].
    pub fn scan(
        &self,
        from: &[u8],
        pairs: u32,
        reverse: bool,
        mut see: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), String> {
        let library = &self.library;
        // SAFETY: keys and values are only used before the iterator moves or is destroyed.
        unsafe {
            let iterator = (library.create_iterator)(self.database, self.read);
            let seek = if reverse { library.iter_seek_for_prev } else { library.iter_seek };
            let step = if reverse { library.iter_prev } else { library.iter_next };
            seek(iterator, from.as_ptr().cast(), from.len());
            for _ in 0..pairs {
                if (library.iter_valid)(iterator) == 0 {
                    break;
                }
                let (mut key_length, mut value_length) = (0, 0);
                let key = (library.iter_key)(iterator, &raw mut key_length);
                let value = (library.iter_value)(iterator, &raw mut value_length);
                see(bytes(key, key_length), bytes(value, value_length));
                step(iterator);
            }
            let result = library.call(|failure| (library.iter_get_error)(iterator, failure));
            (library.iter_destroy)(iterator);
            result
        }
    }

    /// Writes out what is in memory.
    ///
    /// # Errors
    /// RocksDB's message.
    pub fn flush(&self) -> Result<(), String> {
        let library = &self.library;
        library.call(|failure| {
            // SAFETY: the options are used by one call, and then by nobody; they are few.
            unsafe {
                let options = (library.flushoptions_create)();
                (library.flushoptions_set_wait)(options, 1);
                (library.flush)(self.database, options, failure);
            }
        })
    }

    /// Waits until no flush or compaction runs or is due.
    ///
    /// # Errors
    /// If it doesn't know a property that tells.
    pub fn wait_for_compaction(&self) -> Result<(), String> {
        let mut quiet = 0;
        while quiet < QUIET {
            let mut work = 0.0;
            for property in WORK {
                work += self.number(property)?;
            }
            quiet = if work == 0.0 { quiet + 1 } else { 0 };
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// A property that it reports about itself.
    pub(super) fn property(&self, name: &str) -> Option<String> {
        let name = text(name).ok()?;
        // SAFETY: the name ends with a zero.
        self.library.take(unsafe { (self.library.property_value)(self.database, name.as_ptr()) })
    }

    /// The same property as a number.
    pub(super) fn number(&self, name: &str) -> Result<f64, String> {
        let found = self.property(name).and_then(|value| value.trim().parse().ok());
        found.ok_or_else(|| format!("this version has no property {name}"))
    }

    /// The shape of its tree: those levels that have files.
    pub(super) fn levels(&self) -> BTreeMap<u32, Level> {
        let library = &self.library;
        let mut levels: BTreeMap<u32, Level> = BTreeMap::new();
        // SAFETY: places are below the count, and the list is destroyed after its last use.
        unsafe {
            let files = (library.livefiles)(self.database);
            for place in 0..(library.livefiles_count)(files) {
                let level = (library.livefiles_level)(files, place).max(0).cast_unsigned();
                let level = levels.entry(level).or_default();
                level.files += 1;
                level.bytes += (library.livefiles_size)(files, place) as u64;
            }
            (library.livefiles_destroy)(files);
        }
        levels
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: nobody can use it anymore.
        unsafe { (self.library.close)(self.database) };
    }
}

/// Bytes of the library's.
///
/// # Safety
/// `begin` must point to `length` bytes that stay as long as the result.
unsafe fn bytes<'a>(begin: Bytes, length: usize) -> &'a [u8] {
    if begin.is_null() {
        return &[];
    }
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(begin.cast(), length) }
}
