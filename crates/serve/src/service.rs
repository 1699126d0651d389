//! What is answered, without HTTP.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use site::{Catalog, Kept, media_type};
use store::Store;

use crate::Error;
use crate::access::Access;
use crate::cache::Cache;
use crate::metrics::{Metrics, Now};
use crate::tokens::Tokens;
use crate::uploads::Uploads;

/// Content of fewer bytes is not compressed.
const LEAST_PACKED: usize = 1024;
/// The page that is answered for the root.
const ROOT: &str = "index.html";

/// The documents of a results directory, as they are when they are asked for.
#[derive(Debug)]
pub struct Service {
    work: Mutex<Work>,
    /// Where briefs are kept from one service to the next.
    kept: Option<PathBuf>,
    pub(crate) access: Access,
    pub(crate) metrics: Metrics,
    /// None for results that nobody can push to.
    pub(crate) uploads: Option<Uploads>,
}

#[derive(Debug)]
struct Work {
    store: Store,
    catalog: Catalog,
    /// The store's counter of changes when the catalog was read.
    counter: i64,
    cache: Cache,
}

/// The answer to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The document.
    Document {
        /// Its content.
        content: Bytes,
        /// Changes whenever the content may change.
        mark: String,
        /// Its media type.
        media_type: &'static str,
        /// True if the content is compressed by gzip.
        packed: bool,
    },
    /// The asker has the document with this mark.
    Unchanged(String),
    /// There is no such path.
    Missing,
}

impl Service {
    /// Reads which documents a results directory has. Briefs are kept in the file `kept`, if one is
    /// given, and taken from there.
    ///
    /// # Errors
    /// If the store cannot be read, or the binary was built without the app.
    pub fn open(store: Store, kept: Option<&Path>) -> Result<Self, Error> {
        if !site::has_app() {
            return Err(site::Error::NoApp.into());
        }
        let known = kept.map(Kept::read).unwrap_or_default();
        let counter = store.change_counter()?;
        let catalog = Catalog::read(&store, known.clone())?;
        let service = Self {
            work: Mutex::new(Work { store, catalog, counter, cache: Cache::default() }),
            kept: kept.map(Path::to_owned),
            access: Access::new(None, true),
            metrics: Metrics::default(),
            uploads: None,
        };
        service.keep(&known, &service.work());
        Ok(service)
    }

    /// The same service, which also receives experiments. Those that are not complete yet take at
    /// most `limit` bytes together. If it is `open`, readers of this machine need no token.
    #[must_use]
    pub fn receiving(mut self, open: bool, limit: u64) -> Self {
        let results = self.work().store.directory().to_owned();
        self.access = Access::new(Some(Tokens::of(&results)), open);
        self.uploads = Some(Uploads::of(&results, limit));
        self
    }

    /// All paths.
    pub fn paths(&self) -> Vec<String> {
        self.work().catalog.entries().map(|(path, _)| path.to_owned()).collect()
    }

    /// Answers a path as [`Service::answer`] does, compressed by gzip where that makes it smaller.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn answer_packed(&self, path: &str, known: impl Fn(&str) -> bool) -> Result<Answer, Error> {
        let answer = self.answer(path, known)?;
        let Answer::Document { content, mark, media_type, .. } = answer else { return Ok(answer) };
        if content.len() < LEAST_PACKED {
            return Ok(Answer::Document { content, mark, media_type, packed: false });
        }
        let packed_mark = format!("{mark}.gz");
        let found = self.work().cache.get(&packed_mark);
        let content = match found {
            Some(packed) => packed,
            None => {
                // Others need not wait for it.
                let packed = Bytes::from(pack(&content)?);
                self.work().cache.add(&packed_mark, &packed);
                packed
            }
        };
        Ok(Answer::Document { content, mark, media_type, packed: true })
    }

    /// What it has done since it began, as Prometheus reads it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) fn metrics(&self) -> Result<String, Error> {
        let experiments = self.work().store.all_experiments()?.len();
        let uploads = self.uploads.as_ref().map(Uploads::unfinished).unwrap_or_default();
        let wrong_tokens = self.access.wrong_ever.load(Ordering::Relaxed);
        Ok(self.metrics.text(Now { experiments, uploads, wrong_tokens }))
    }

    /// Answers a path, given the marks that the asker knows.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn answer(&self, path: &str, known: impl Fn(&str) -> bool) -> Result<Answer, Error> {
        let path = if path.is_empty() { ROOT } else { path };
        let mut work = self.work();
        let counter = work.store.change_counter()?;
        if counter != work.counter {
            let kept = work.catalog.kept().clone();
            work.catalog = Catalog::read(&work.store, kept.clone())?;
            work.counter = counter;
            self.keep(&kept, &work);
        }
        let Work { store, catalog, cache, .. } = &mut *work;
        let Some(entry) = catalog.entry(path) else { return Ok(Answer::Missing) };
        if known(&entry.mark) {
            return Ok(Answer::Unchanged(entry.mark.clone()));
        }
        let content = match cache.get(&entry.mark) {
            Some(content) => content,
            None => {
                let content = Bytes::from(catalog.make(store, entry)?);
                cache.add(&entry.mark, &content);
                content
            }
        };
        let mark = entry.mark.clone();
        Ok(Answer::Document { content, mark, media_type: media_type(path), packed: false })
    }

    /// The number of the experiment that began in this millisecond and has this content hash, if it
    /// has all notes with these marks.
    pub(crate) fn number<'a>(
        &self,
        content: &str,
        began: i64,
        mut notes: impl Iterator<Item = &'a str>,
    ) -> Result<Option<i64>, Error> {
        // Not the store of the readers, who would wait.
        let directory = self.work().store.directory().to_owned();
        let store = Store::open_read_only(&directory)?;
        let all = store.all_experiments()?;
        for experiment in all.into_iter().filter(|it| it.created_ms == began) {
            if store.content_hash(experiment.id)? == content {
                let known = store.note_marks(experiment.id)?;
                return Ok(notes.all(|mark| known.contains(mark)).then_some(experiment.id.0));
            }
        }
        Ok(None)
    }

    /// Writes what is known now, if it is not what was known `before`: each step of a run changes
    /// the store. A failure costs only time: the next service reads all experiments.
    fn keep(&self, before: &Kept, work: &Work) {
        if let Some(file) = self.kept.as_ref().filter(|_| work.catalog.kept() != before) {
            let _ = work.catalog.kept().write(file);
        }
    }

    /// A panic of another request leaves nothing half done that later ones would see: what is
    /// changed is replaced whole.
    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Content compressed by gzip, fast: it is made while somebody waits.
fn pack(content: &[u8]) -> Result<Vec<u8>, Error> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}
