//! Obtaining binaries: from the cache, an archive, a source, or where they are.
//!
//! A `release` is fetched (`fetch`), a `source` is built (`build`), one of the distribution's
//! `packages` or a container `image` is unpacked. The result is `installed` in the `cache`;
//! `listed` says which versions there are. What one machine has obtained is `packed` and `sent` to
//! others. `unpack` reads what archives contain, `elf` a binary's
//! facts about its build, `code` tells whether two installations have the same code, and `lines`
//! where functions are in the source.

pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod code;
pub(crate) mod elf;
pub(crate) mod fetch;
pub(crate) mod image;
pub(crate) mod installed;
pub(crate) mod lines;
pub(crate) mod listed;
pub(crate) mod packages;
mod packed;
pub(crate) mod release;
pub(crate) mod sent;
pub(crate) mod source;
pub(crate) mod unpack;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::data::paths;
use crate::resolve::Form;
use crate::{Cache, Error, Installation, Reference, ServerUser};

/// Obtains the binaries that `reference` names: from the cache if possible, by building a source or
/// from where builds are shared ([`crate::obtain_builds_from`]), or, for a running server, by
/// asking it. `progress` gets lines for people.
///
/// # Errors
/// [`Error::VersionNotFound`] names the closest existing versions; [`Error::Archive`],
/// [`Error::Digest`], [`Error::Replaced`], [`Error::Unpack`], [`Error::Installation`],
/// [`Error::User`], [`Error::Unreachable`], [`Error::Source`], [`Error::Tools`], [`Error::Build`],
/// [`Error::SharedBuild`], [`Error::Connect`], [`Error::Io`].
pub fn obtain(
    reference: &Reference,
    cache: &Cache,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    obtain_interruptible(reference, cache, None, &AtomicBool::new(false), progress)
}

/// The same, but what may take minutes, a build and the fetching of an image, is aborted once
/// `interrupted` is set. If the caller is root, `server_user` unpacks archives, compiles sources
/// and runs programs to ask for their version; see [`ServerUser::choose`].
///
/// # Errors
/// As [`obtain()`]; [`Error::Interrupted`].
pub fn obtain_interruptible(
    reference: &Reference,
    cache: &Cache,
    server_user: Option<&str>,
    interrupted: &AtomicBool,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    if let Some(installation) = sent::obtain(reference, cache, server_user, progress)? {
        return Ok(installation);
    }
    let user = || ServerUser::choose(server_user);
    let kind = reference.kind;
    let describe =
        |root: &Path, source: String| Ok(Installation { source, ..kind.describe(root, &user()?)? });
    match &reference.form {
        Form::Alone => describe("".as_ref(), reference.to_string()),
        Form::Release(release) => fetch::released::obtain(kind, release, cache, &user()?, progress),
        Form::Path(path) => {
            let root = paths::expand_home(path);
            // A missing path is reported later.
            let root = std::fs::canonicalize(&root).unwrap_or(root);
            describe(&root, format!("path:{}", root.display()))
        }
        Form::Package(package) => packages::obtain(kind, package, cache, &user()?, progress),
        Form::Image(image) => image::obtain(kind, image, cache, &user()?, interrupted, progress),
        Form::Source(source) => build::obtain(kind, source, cache, &user()?, interrupted, progress),
        Form::Running(endpoint) => kind.describe_running(endpoint),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::obtain::release::Release;
    use crate::obtain::source::Source;
    use crate::{BuildOptions, Kind, Ledger, Origin, ServerSpec, Started};

    /// The least that a system has to provide.
    #[derive(Debug)]
    struct Toy;

    impl Kind for Toy {
        fn name(&self) -> &'static str {
            "toy"
        }

        fn describe(&self, root: &Path, _: &ServerUser) -> Result<Installation, Error> {
            Ok(Installation {
                dbms: "toy".to_owned(),
                version: "1.2.3".to_owned(),
                source: String::new(),
                bin_dir: Some(root.to_path_buf()),
                build: [].into(),
            })
        }

        fn start(&self, spec: &ServerSpec<'_>, _: Option<&Origin<'_>>) -> Result<Started, Error> {
            Err(self.lacks(&format!("starting {}", spec.name)))
        }
    }

    #[test]
    fn what_a_system_does_not_provide_is_reported() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::at(place.path().join("cache")).unwrap();
        let obtain = |form: Form| obtain(&Reference { kind: &Toy, form }, &cache, &|_| ());
        let installation = obtain(Form::Path(place.path().to_path_buf())).unwrap();
        assert_eq!((installation.dbms.as_str(), installation.major()), ("toy", Some(1)));
        let tree = reference::SourceTree::Git {
            repository: reference::Repository::Local("/src/toy".into()),
            revision: "main".to_owned(),
        };
        let source = Source { tree, options: BuildOptions::default() };
        let release = Release::parse(&Toy, "1.2.3").unwrap();
        for form in [Form::Release(release), Form::Source(source)] {
            let error = obtain(form).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            assert!(error.to_string().contains("(toy)"), "{error}");
        }
        let ledger = Ledger::open(place.path().join("ledger")).unwrap();
        let user = ServerUser::choose(None).unwrap();
        let spec = ServerSpec::new("a toy", &installation, place.path(), user, &cache, &ledger);
        let error = Toy.start(&spec, None).err().unwrap();
        assert!(error.to_string().contains("starting a toy"), "{error}");
    }
}
