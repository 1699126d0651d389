//! Builds that machines share: one builds and pushes, others obtain the result. [`BuildSource`]
//! knows where they are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use super::key::BuildKey;
use crate::api::builds::{CODE_HASH, OBTAINED, SERVER_HASH};
use crate::obtain::code::code_hash;
use crate::obtain::installed::{self, DESCRIPTION};
use crate::obtain::packed as files;
use crate::{Cache, Error, Installation, Kind, ServerUser};

/// The place of work. Whoever uses it holds the lock of all builds.
const WORKSHOP: &str = "obtained";

/// A place from which finished builds can be obtained.
pub trait BuildSource: Send + Sync {
    /// Its address, for messages.
    fn address(&self) -> String;

    /// Writes the packed build that fits `wanted` ([`BuildKey::fits`]) into the new file `to`, with
    /// size and hash verified; `None` if there is none, or if several fit.
    ///
    /// # Errors
    /// If it cannot be reached, or what it has is damaged.
    fn fetch(&self, wanted: &BuildKey, to: &Path) -> Result<Option<BuildOffer>, BuildSourceError>;
}

/// A build from another machine.
#[derive(Clone, Debug)]
pub struct BuildOffer {
    /// Its key.
    pub key: BuildKey,
    /// The address of the object, for messages.
    pub object: String,
}

/// Why a build could not be obtained.
#[derive(Debug, thiserror::Error)]
pub enum BuildSourceError {
    /// It cannot be reached: the build is made here instead.
    #[error("{0}")]
    Unreachable(String),
    /// The build found there is not the expected one: a person must look at it.
    #[error("{object}: {problem}")]
    Damaged {
        /// The address of the object.
        object: String,
        /// The problem.
        problem: String,
    },
}

/// Where to obtain builds.
static SOURCE: RwLock<Option<Arc<dyn BuildSource>>> = RwLock::new(None);

/// From now on, builds are looked for there before they are made.
pub fn obtain_builds_from(source: Arc<dyn BuildSource>) {
    *SOURCE.write().unwrap_or_else(PoisonError::into_inner) = Some(source);
}

/// The build for `key` from the shared place, published in the cache. `None` if it has to be made
/// here; the reason is reported. The caller holds the lock of all builds.
///
/// # Errors
/// [`Error::SharedBuild`], [`Error::Unpack`]: the build found there is not the expected one.
/// [`Error::Unreachable`], [`Error::Io`].
pub(super) fn obtain(
    kind: &dyn Kind,
    key: &BuildKey,
    cache: &Cache,
    user: &ServerUser,
    what: &str,
    progress: &dyn Fn(&str),
) -> Result<Option<Installation>, Error> {
    let Some(source) = SOURCE.read().unwrap_or_else(PoisonError::into_inner).clone() else {
        return Ok(None);
    };
    if let Some(why) = key.unshareable() {
        progress(&format!("{what} is not obtained from {}: {why}", source.address()));
        return Ok(None);
    }
    user.check_reach(cache.path())?;
    let workshop = cache.workshop(WORKSHOP)?;
    let packed = workshop.path().join("packed");
    let Some(BuildOffer { key: found, object }) = fetch(&*source, key, &packed, progress)? else {
        return Ok(None);
    };
    let wrong = |problem: String| Error::SharedBuild { object: object.clone(), problem };
    let size = fs::metadata(&packed).map_err(Error::io("read", &packed))?.len();
    let megabytes = size as f64 / 1e6;
    let made = files::unpack(&packed, workshop.path(), user, &object)?;
    if !found.fits(key) || BuildKey::read(&made).as_ref() != Some(&found) {
        let problem = "it is another build than its name and description say";
        return Err(wrong(problem.to_owned()));
    }
    let described = fs::read(made.join(DESCRIPTION)).map_err(|error| error.to_string());
    let described: Installation = described
        .and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()))
        .map_err(|problem| wrong(format!("its {DESCRIPTION} cannot be read ({problem})")))?;
    // It may need libraries that this machine does not have.
    let mut installation = match kind.describe(&made, user) {
        Ok(installation) => Installation { source: what.to_owned(), ..installation },
        Err(error) => {
            progress(&format!("the build {object} does not run on this machine: {error}"));
            return Ok(None);
        }
    };
    let [expected, found_hash] =
        [&described, &installation].map(|one| one.build.get(SERVER_HASH).cloned());
    if expected != found_hash {
        return Err(wrong(format!("expected {SERVER_HASH} {expected:?}, found {found_hash:?}")));
    }
    let code = code_hash(&installation)?;
    installation.build.extend(described.build);
    installation.build.insert(CODE_HASH.to_owned(), code);
    installation.build.insert(OBTAINED.to_owned(), object.clone());
    let name = found.name();
    installed::publish(cache, &name, &made, &mut installation)?;
    progress(&format!(
        "obtained {} {} from {object}: {megabytes:.1} MB, unpacked into {}",
        kind.name(),
        installation.version,
        cache.finished(&name).display()
    ));
    Ok(Some(installation))
}

/// Fetches the packed build for `key` into `packed`. `None` if it has to be made here; the reason
/// is reported.
fn fetch(
    source: &dyn BuildSource,
    key: &BuildKey,
    packed: &Path,
    progress: &dyn Fn(&str),
) -> Result<Option<BuildOffer>, Error> {
    let address = source.address();
    match source.fetch(key, packed) {
        Ok(Some(offer)) => return Ok(Some(offer)),
        Ok(None) => {
            let (none, by) = match key.compiler_version {
                Some(_) => ("no build", " by this compiler"),
                None => ("no build, or several by different compilers,", ""),
            };
            let (dbms, short, platform) = (&key.dbms, key.short(), &key.platform);
            progress(&format!(
                "{address} has {none} of {dbms} {short} with these options{by} for {platform}"
            ));
        }
        Err(BuildSourceError::Unreachable(problem)) => {
            progress(&format!("cannot obtain builds from {address}: {problem}"));
        }
        Err(BuildSourceError::Damaged { object, problem }) => {
            return Err(Error::SharedBuild { object, problem });
        }
    }
    Ok(None)
}

/// The only build in the cache that fits a key without a compiler.
pub(super) fn only_one(
    kind: &dyn Kind,
    key: &BuildKey,
    cache: &Cache,
    user: &ServerUser,
) -> Result<Option<Installation>, Error> {
    let mut names = cache.names(&key.prefix());
    names.retain(|name| {
        let found = BuildKey::read(&cache.finished(name));
        found.is_some_and(|found| found.fits(key)) && installed::is_complete(cache, name)
    });
    match names.as_slice() {
        [name] => installed::find(kind, cache, name, user),
        _ => Ok(None),
    }
}

/// A finished build in a cache.
#[derive(Clone, Debug)]
pub struct FinishedBuild {
    /// Its directory.
    pub directory: PathBuf,
    /// Its key; `None` if an earlier steelyard built it.
    pub key: Option<BuildKey>,
}

/// All finished builds in a cache, in order of their names.
pub fn finished_builds(cache: &Cache) -> Vec<FinishedBuild> {
    let mut names = cache.names("");
    names.retain(|name| {
        let built = ["-git-", "-src-"].iter().any(|kind| name.contains(kind));
        built && !name.starts_with('.') && installed::is_complete(cache, name)
    });
    names.sort();
    let finished = |name: &String| {
        let directory = cache.finished(name);
        FinishedBuild { key: BuildKey::read(&directory), directory }
    };
    names.iter().map(finished).collect()
}

impl FinishedBuild {
    /// Packs it into the new file `to`: a tar archive compressed with gzip. The same build gives
    /// the same bytes; nothing in it says where it was built.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn pack(&self, to: &Path) -> Result<(), Error> {
        files::pack(&self.directory, &self.description()?, to)
    }

    /// The build's description without what only its machine knows.
    fn description(&self) -> Result<Installation, Error> {
        let path = self.directory.join(DESCRIPTION);
        let text = fs::read(&path).map_err(Error::io("read", &path))?;
        let unreadable = |error| Error::answer("a description of a build", error);
        let mut described: Installation = serde_json::from_slice(&text).map_err(unreadable)?;
        described.bin_dir = None;
        described.source =
            self.key.as_ref().map_or(String::new(), |key| format!("{} {}", key.kind, key.source));
        described.build.remove(OBTAINED);
        Ok(described)
    }
}
