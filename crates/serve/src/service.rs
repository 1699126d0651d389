//! What is answered, without HTTP.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use site::{Catalog, Entry, Kept, media_type};
use store::Store;

use crate::Error;
use crate::access::Access;
use crate::cache::Cache;
use crate::live::Live;
use crate::metrics::{Metrics, Now};
use crate::news::News;
use crate::prepared::{self, Prepared};
use crate::start::Starter;
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
    /// What documents are made from, one at a time: who makes one holds up only others that must be
    /// made.
    making: Mutex<Store>,
    /// Where briefs are kept from one service to the next.
    kept: Option<PathBuf>,
    pub(crate) access: Access,
    pub(crate) metrics: Metrics,
    /// None for results that nobody can push to.
    pub(crate) uploads: Option<Uploads>,
    /// None for results that no run of this machine adds to.
    pub(crate) live: Option<Live>,
    /// None if documents are made only when they are asked for.
    pub(crate) prepared: Option<Prepared>,
    /// There may be new results.
    pub(crate) news: News,
}

#[derive(Debug)]
struct Work {
    store: Store,
    catalog: Arc<Catalog>,
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

/// What a path stands for.
enum Asked {
    Answered(Answer),
    /// A document of this catalog.
    Of(Arc<Catalog>, Entry),
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
        let catalog = Arc::new(Catalog::read(&store, known.clone())?);
        let service = Self {
            making: Mutex::new(Store::open_read_only(store.directory())?),
            work: Mutex::new(Work { store, catalog, counter, cache: Cache::default() }),
            kept: kept.map(Path::to_owned),
            access: Access::new(None, true),
            metrics: Metrics::default(),
            uploads: None,
            live: None,
            prepared: None,
            news: News::default(),
        };
        service.keep(&known, locked(&service.work).catalog.kept());
        Ok(service)
    }

    /// The same service, which also receives experiments and shows runs under way. Experiments that
    /// are not complete yet take at most `limit` bytes together. If it is `open`, readers of this
    /// machine need no token.
    #[must_use]
    pub fn receiving(mut self, open: bool, limit: u64) -> Self {
        let results = self.results();
        self.access = Access::new(Some(Tokens::of(&results)), open);
        self.uploads = Some(Uploads::of(&results, limit));
        self.live = Some(Live::of(results, None));
        self
    }

    /// The same service, which makes documents that take long before they are asked for, unless
    /// something is `measuring` on this machine.
    #[must_use]
    pub fn preparing(mut self, measuring: fn() -> bool) -> Self {
        let folder = self.kept.as_deref().map(prepared::folder);
        self.prepared = folder.map(|folder| Prepared::of(folder, measuring));
        self
    }

    /// The same service, which also starts runs of the plans in a directory, for anyone with a
    /// token for that. `program` is steelyard, and `words` are further ones for each run.
    #[must_use]
    pub fn starting(mut self, program: PathBuf, words: Vec<String>, plans: PathBuf) -> Self {
        let results = self.results();
        let starter = Starter::new(program, words, results.clone(), plans);
        self.live = Some(Live::of(results, Some(starter)));
        self
    }

    /// All paths.
    pub fn paths(&self) -> Vec<String> {
        locked(&self.work).catalog.entries().map(|(path, _)| path.to_owned()).collect()
    }

    /// Answers a path as [`Service::answer`] does, compressed by gzip where that makes it smaller.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn answer_packed(&self, path: &str, known: impl Fn(&str) -> bool) -> Result<Answer, Error> {
        let path = document_of(path);
        let (catalog, entry) = match self.asked(path, known)? {
            Asked::Answered(answer) => return Ok(answer),
            Asked::Of(catalog, entry) => (catalog, entry),
        };
        let (mark, media_type) = (entry.mark.clone(), media_type(path));
        let document =
            |content, packed| Answer::Document { content, mark: mark.clone(), media_type, packed };
        let packed_mark = format!("{mark}.gz");
        if let Some(packed) = locked(&self.work).cache.get(&packed_mark) {
            return Ok(document(packed, true));
        }
        let packed = match self.prepared.as_ref().and_then(|it| it.get(&mark)) {
            Some(packed) => packed,
            None => {
                let content = self.content(&catalog, &entry)?;
                if content.len() < LEAST_PACKED {
                    return Ok(document(content, false));
                }
                // Others need not wait for it.
                Bytes::from(pack(&content)?)
            }
        };
        locked(&self.work).cache.add(&packed_mark, &packed);
        Ok(document(packed, true))
    }

    /// The results directory.
    pub(crate) fn results(&self) -> PathBuf {
        locked(&self.work).store.directory().to_owned()
    }

    /// What it has done since it began, as Prometheus reads it.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) fn metrics(&self) -> Result<String, Error> {
        let experiments = locked(&self.work).store.all_experiments()?.len();
        let uploads = self.uploads.as_ref().map(Uploads::unfinished).unwrap_or_default();
        let wrong_tokens = self.access.wrong_ever.load(Ordering::Relaxed);
        Ok(self.metrics.text(Now { experiments, uploads, wrong_tokens }))
    }

    /// Answers a path, given the marks that the asker knows.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn answer(&self, path: &str, known: impl Fn(&str) -> bool) -> Result<Answer, Error> {
        let path = document_of(path);
        match self.asked(path, known)? {
            Asked::Answered(answer) => Ok(answer),
            Asked::Of(catalog, entry) => {
                let content = self.content(&catalog, &entry)?;
                let (mark, media_type) = (entry.mark, media_type(path));
                Ok(Answer::Document { content, mark, media_type, packed: false })
            }
        }
    }

    /// What is asked for, as the results are now.
    fn asked(&self, path: &str, known: impl Fn(&str) -> bool) -> Result<Asked, Error> {
        let mut work = locked(&self.work);
        let counter = work.store.change_counter()?;
        let mut before = None;
        if counter != work.counter {
            let catalog = Catalog::read(&work.store, work.catalog.kept().clone())?;
            before = Some(work.replace(catalog, counter));
            self.news.tell();
        }
        let catalog = Arc::clone(&work.catalog);
        drop(work);
        if let Some(before) = before {
            self.keep(before.kept(), catalog.kept());
        }
        let Some(entry) = catalog.entry(path).cloned() else {
            return Ok(Asked::Answered(Answer::Missing));
        };
        if known(&entry.mark) {
            return Ok(Asked::Answered(Answer::Unchanged(entry.mark)));
        }
        Ok(Asked::Of(catalog, entry))
    }

    /// The catalog as the results are now, which is read from this store while readers go on.
    pub(crate) fn renewed(&self, store: &Store) -> Result<Arc<Catalog>, Error> {
        let work = locked(&self.work);
        // A counter means something only within its connection.
        let (counter, known) = (work.store.change_counter()?, work.counter);
        let before = Arc::clone(&work.catalog);
        drop(work);
        if counter == known {
            return Ok(before);
        }
        let catalog = Catalog::read(store, before.kept().clone())?;
        let mut work = locked(&self.work);
        let replaced = (work.counter == known).then(|| work.replace(catalog, counter));
        let catalog = Arc::clone(&work.catalog);
        drop(work);
        if let Some(before) = replaced {
            self.keep(before.kept(), catalog.kept());
        }
        Ok(catalog)
    }

    /// The content of an entry.
    fn content(&self, catalog: &Catalog, entry: &Entry) -> Result<Bytes, Error> {
        if let Some(content) = entry.file() {
            return Ok(Bytes::from_static(content));
        }
        if let Some(content) = locked(&self.work).cache.get(&entry.mark) {
            return Ok(content);
        }
        if let Some(packed) = self.prepared.as_ref().and_then(|it| it.get(&entry.mark)) {
            let mut content = Vec::new();
            if GzDecoder::new(&packed[..]).read_to_end(&mut content).is_ok() {
                return Ok(content.into());
            }
        }
        let store = locked(&self.making);
        // Who had the store before may have made it.
        if let Some(content) = locked(&self.work).cache.get(&entry.mark) {
            return Ok(content);
        }
        let content = Bytes::from(catalog.make(&store, entry)?);
        locked(&self.work).cache.add(&entry.mark, &content);
        Ok(content)
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
        let store = Store::open_read_only(&self.results())?;
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
    fn keep(&self, before: &Kept, now: &Kept) {
        if let Some(file) = self.kept.as_ref().filter(|_| now != before) {
            let _ = now.write(file);
        }
    }
}

impl Work {
    /// Replaces the catalog; returns the one before.
    fn replace(&mut self, catalog: Catalog, counter: i64) -> Arc<Catalog> {
        self.counter = counter;
        std::mem::replace(&mut self.catalog, Arc::new(catalog))
    }
}

/// The path of the document that a path stands for.
fn document_of(path: &str) -> &str {
    if path.is_empty() { ROOT } else { path }
}

/// A panic of another request leaves nothing half done that later ones would see: what is changed
/// is replaced whole.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Content compressed by gzip, fast: it is made while somebody waits.
pub(crate) fn pack(content: &[u8]) -> Result<Vec<u8>, Error> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_there_is_answered_while_something_else_is_made() {
        let results = tempfile::tempdir().unwrap();
        let service = Service::open(Store::open(results.path()).unwrap(), None).unwrap();
        let known = "api/v1/overview.json";
        let first = service.answer(known, |_| false).unwrap();
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            let making = locked(&service.making);
            scope.spawn(|| {
                for path in [known, "index.html", "nothing"] {
                    tell.send(service.answer(path, |_| false).unwrap()).unwrap();
                }
            });
            let next = || told.recv_timeout(Duration::from_secs(300));
            let answers = [next(), next(), next()];
            drop(making);
            assert_eq!(answers[0], Ok(first));
            assert!(matches!(answers[1], Ok(Answer::Document { .. })), "{:?}", answers[1]);
            assert_eq!(answers[2], Ok(Answer::Missing));
        });
    }
}
