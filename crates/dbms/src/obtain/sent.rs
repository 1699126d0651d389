//! Programs that one machine has obtained for many: fetched, unpacked from an image or a package,
//! or built. The others get the same files, whatever a version or a tag means by then.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use super::{installed, packed};
use crate::api::builds::{OBTAINED, SERVER_HASH};
use crate::data::hash;
use crate::process::loader;
use crate::{Cache, Error, Installation, Kind, Reference, ServerUser};

/// A system's programs on the machine that obtained them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// What they were obtained for ([`Reference::program`]).
    pub reference: String,
    /// Their name in a cache.
    pub name: String,
    /// The processor's architecture: `x86_64`.
    pub processor: String,
    /// What is known about them, without a directory.
    pub installation: Installation,
}

/// Knows which programs were obtained, and where they are.
pub trait ProgramSource: Send + Sync {
    /// The programs for a reference, if they were obtained for machines like this one.
    fn find(&self, reference: &str) -> Option<Program>;

    /// Writes what [`Program::pack`] wrote into the new file `to`, with its hash verified; the
    /// address of the object, for messages.
    ///
    /// # Errors
    /// If it can't be reached or is damaged.
    fn fetch(&self, program: &Program, to: &Path) -> Result<String, String>;
}

/// Where programs come from.
static SOURCE: RwLock<Option<Arc<dyn ProgramSource>>> = RwLock::new(None);

/// From now on, programs that were obtained there are not obtained again.
pub fn obtain_programs_from(source: Arc<dyn ProgramSource>) {
    *SOURCE.write().unwrap_or_else(PoisonError::into_inner) = Some(source);
}

/// The programs that were obtained for `reference`, if they were.
pub(super) fn obtain(
    reference: &Reference,
    cache: &Cache,
    server_user: Option<&str>,
    progress: &dyn Fn(&str),
) -> Result<Option<Installation>, Error> {
    let source = SOURCE.read().unwrap_or_else(PoisonError::into_inner).clone();
    let wanted = source.zip(reference.program());
    let Some((source, program)) = wanted.and_then(|(source, text)| {
        let program = source.find(&text)?;
        Some((source, program))
    }) else {
        return Ok(None);
    };
    let user = ServerUser::choose(server_user)?;
    user.check_reach(cache.path())?;
    program.install(reference.kind, &*source, cache, &user, progress).map(Some)
}

impl Program {
    /// The programs of `installation`, which were obtained for `reference`; `None` if they are not
    /// in the cache, but where a plan says.
    pub fn of(reference: &Reference, installation: &Installation, cache: &Cache) -> Option<Self> {
        let place = installation.bin_dir.as_deref()?.strip_prefix(cache.path()).ok()?;
        let name = place.components().next()?.as_os_str().to_str()?.to_owned();
        let mut installation = Installation { bin_dir: None, ..installation.clone() };
        installation.build.remove(OBTAINED);
        let processor = std::env::consts::ARCH.to_owned();
        Some(Self { reference: reference.program()?, name, processor, installation })
    }

    /// A name for them among those of all machines: other files have another.
    pub fn shared_name(&self) -> String {
        let facts = self.installation.build.iter().map(|(fact, value)| format!("{fact}={value}"));
        let hash = hash::of_texts([self.processor.clone()].into_iter().chain(facts));
        format!("sent-{}-{}", self.name, &hash[..12])
    }

    /// Packs them into the new file `to`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn pack(&self, cache: &Cache, to: &Path) -> Result<(), Error> {
        packed::pack(&cache.finished(&self.name), &self.installation, to)
    }

    fn hash(&self) -> Option<&String> {
        self.installation.build.get(SERVER_HASH)
    }

    /// Installs them in this machine's cache, unless they are there.
    fn install(
        &self,
        kind: &'static dyn Kind,
        source: &dyn ProgramSource,
        cache: &Cache,
        user: &ServerUser,
        progress: &dyn Fn(&str),
    ) -> Result<Installation, Error> {
        let failed = |problem| Error::SentProgram { what: self.reference.clone(), problem };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if self.name.starts_with('.') || !self.name.chars().all(plain) {
            return Err(failed(format!("`{}` can't be a name in the cache", self.name)));
        }
        // Its own may be those; a build of the same name may also have come out otherwise here.
        if let Some(own) = self.found(kind, &cache.finished(&self.name), user) {
            return Ok(own);
        }
        let name = self.shared_name();
        let _lock = cache.lock(&name)?;
        let target = cache.finished(&name);
        if let Some(known) = self.found(kind, &target, user) {
            return Ok(known);
        }
        let workshop = cache.workshop(&name)?;
        let file = workshop.path().join("packed");
        let from = source.fetch(self, &file).map_err(failed)?;
        let made = packed::unpack(&file, workshop.path(), user, &from)?;
        let found = kind.describe(&root(kind, &made), user)?;
        if found.build.get(SERVER_HASH) != self.hash() {
            let (expected, found) = (self.hash(), found.build.get(SERVER_HASH));
            let problem = format!("expected {SERVER_HASH} {expected:?}, found {found:?} in {from}");
            return Err(failed(problem));
        }
        if installed::is_described(&made) {
            installed::publish(cache, &name, &made, &mut self.installation.clone())?;
        } else {
            cache.publish(&made, &name)?;
        }
        let source = &self.installation.source;
        progress(&format!("{source}: obtained {from}, unpacked into {}", target.display()));
        let installed = self.found(kind, &target, user);
        let mut installation =
            installed.ok_or_else(|| failed(format!("{} has others", target.display())))?;
        installation.build.insert(OBTAINED.to_owned(), from);
        Ok(installation)
    }

    /// The installation in `tree`, if it is this one.
    fn found(&self, kind: &dyn Kind, tree: &Path, user: &ServerUser) -> Option<Installation> {
        let found = tree.is_dir().then(|| kind.describe(&root(kind, tree), user).ok())??;
        (found.build.get(SERVER_HASH) == self.hash())
            .then(|| Installation { bin_dir: found.bin_dir, ..self.installation.clone() })
    }
}

/// The root of the installation in a directory of the cache.
fn root(kind: &dyn Kind, tree: &Path) -> PathBuf {
    let image = tree.join(loader::ROOT);
    match loader::is_in_image(&image) {
        _ if installed::is_described(tree) => tree.to_path_buf(),
        true => kind.packaged(&image),
        false => kind.packaged(tree),
    }
}
