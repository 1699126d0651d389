//! The library, loaded into this process, and the functions of its C interface (`rocksdb/c.h`).

use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr;

/// An object of the library's.
pub(super) type Object = *mut c_void;
/// Bytes that the library only reads.
pub(super) type Bytes = *const c_char;
/// Where the library puts an error: null, or a text to be freed.
pub(super) type Failure = *mut *mut c_char;

/// The function that marks a place for Callgrind ([`Library::mark`]).
pub(super) const MARK: &str = "rocksdb_envoptions_create";

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that are used. Every version from 6.8 on has them. Each has the meaning
        /// given in c.h.
        #[allow(non_snake_case)]
        pub(super) struct Library {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// It is never unloaded: its threads may outlive any database.
            _loaded: ManuallyDrop<libloading::os::unix::Library>,
        }

        impl Library {
            /// Finds the functions in a library that was loaded.
            fn find(loaded: libloading::os::unix::Library) -> Result<Library, String> {
                Ok(Library {
                    $($name: {
                        let name = concat!("rocksdb_", stringify!($name));
                        // SAFETY: the type is the one that c.h declares for this name.
                        let found = unsafe { loaded.get(name.as_bytes()) };
                        *found.map_err(|_| format!("it has no function {name}"))?
                    },)*
                    _loaded: ManuallyDrop::new(loaded),
                })
            }
        }
    };
}

functions! {
    open(Object, Bytes, Failure) -> Object;
    close(Object);
    free(Object);
    options_create() -> Object;
    options_destroy(Object);
    options_set_create_if_missing(Object, c_uchar);
    get_options_from_string(Object, Bytes, Object, Failure);
    readoptions_create() -> Object;
    readoptions_set_verify_checksums(Object, c_uchar);
    writeoptions_create() -> Object;
    writeoptions_disable_WAL(Object, c_int);
    flushoptions_create() -> Object;
    flushoptions_set_wait(Object, c_uchar);
    set_perf_level(c_int);
    get_pinned(Object, Object, Bytes, usize, Failure) -> Object;
    pinnableslice_value(Object, *mut usize) -> Bytes;
    pinnableslice_destroy(Object);
    multi_get(
        Object, Object, usize, *const Bytes, *const usize, *mut *mut c_char, *mut usize, Failure
    );
    put(Object, Object, Bytes, usize, Bytes, usize, Failure);
    delete(Object, Object, Bytes, usize, Failure);
    writebatch_create() -> Object;
    writebatch_put(Object, Bytes, usize, Bytes, usize);
    writebatch_destroy(Object);
    write(Object, Object, Object, Failure);
    create_iterator(Object, Object) -> Object;
    iter_valid(Object) -> c_uchar;
    iter_seek(Object, Bytes, usize);
    iter_seek_for_prev(Object, Bytes, usize);
    iter_next(Object);
    iter_prev(Object);
    iter_key(Object, *mut usize) -> Bytes;
    iter_value(Object, *mut usize) -> Bytes;
    iter_get_error(Object, Failure);
    iter_destroy(Object);
    flush(Object, Object, Failure);
    property_value(Object, Bytes) -> *mut c_char;
    livefiles(Object) -> Object;
    livefiles_count(Object) -> c_int;
    livefiles_level(Object, c_int) -> c_int;
    livefiles_size(Object, c_int) -> usize;
    livefiles_destroy(Object);
    envoptions_create() -> Object;
    envoptions_destroy(Object);
}

impl Library {
    /// Loads a library. A process should load only one: two versions in one may abort it.
    pub(super) fn load(path: &Path) -> Result<Library, String> {
        // SAFETY: its initializers run, which is what the user asked for by naming it.
        let loaded = unsafe {
            libloading::os::unix::Library::open(Some(path), libc::RTLD_NOW | libc::RTLD_LOCAL)
        };
        Library::find(loaded.map_err(|error| error.to_string())?)
    }

    /// Makes options from a text in RocksDB's own format, to be destroyed.
    pub(super) fn options(&self, text: &CStr) -> Result<Object, String> {
        // SAFETY: the objects are the library's own, and the text ends with a zero.
        unsafe {
            let (base, all) = ((self.options_create)(), (self.options_create)());
            let parsed = self.call(|failure| {
                (self.get_options_from_string)(base, text.as_ptr(), all, failure);
            });
            (self.options_destroy)(base);
            match parsed {
                Ok(()) => Ok(all),
                Err(problem) => {
                    (self.options_destroy)(all);
                    Err(problem)
                }
            }
        }
    }

    /// Calls [`MARK`], which nothing else does.
    pub(super) fn mark(&self) {
        // SAFETY: what was made is destroyed, and used by nobody.
        unsafe { (self.envoptions_destroy)((self.envoptions_create)()) };
    }

    /// Calls a function that may fail: its last argument is where it puts an error.
    #[inline]
    pub(super) fn call<T>(&self, function: impl FnOnce(Failure) -> T) -> Result<T, String> {
        let mut failure = ptr::null_mut();
        let result = function(&raw mut failure);
        if failure.is_null() { Ok(result) } else { Err(self.take(failure).unwrap_or_default()) }
    }

    /// A text of the library's, which is freed.
    pub(super) fn take(&self, text: *mut c_char) -> Option<String> {
        if text.is_null() {
            return None;
        }
        // SAFETY: the library ends its texts with a zero.
        let taken = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        // SAFETY: it allocated it, and nobody has it anymore.
        unsafe { (self.free)(text.cast()) };
        Some(taken)
    }
}

/// A text for the library.
pub(super) fn text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("{text:?} contains a zero byte"))
}
