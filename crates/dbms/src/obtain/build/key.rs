//! The key of a build: everything it depends on, as far as that is known before building.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::{hash, paths};
use crate::obtain::installed::KEY;
use crate::{BuildOptions, Error};

/// Everything that a build depends on.
///
/// It does not contain the versions of make, bison, flex, perl, meson and of libraries that are
/// linked. Distributions rarely change them within a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildKey {
    /// Which system: `postgres`.
    pub dbms: String,
    /// Changes whenever this steelyard builds that system differently than an earlier one.
    pub recipe: String,
    /// The kind of source: `git` for a commit, `src` for a tarball.
    pub kind: String,
    /// The commit's whole object name, or the tarball's SHA-256.
    pub source: String,
    /// How to build it.
    #[serde(flatten)]
    pub options: BuildOptions,
    /// The version that the compiler prints; `None` if this machine does not have it.
    pub compiler_version: Option<String>,
    /// The processor's architecture: `x86_64`.
    pub processor: String,
    /// Distribution and C library: `debian-12-glibc-2.36`. A build may depend on their headers and
    /// libraries, so machines share it only with the same.
    pub platform: String,
}

impl BuildKey {
    /// The key of a build on this machine. `recipe`, `kind` and `source` as in the fields.
    pub(super) fn new(
        dbms: &str,
        [recipe, kind, source]: [&str; 3],
        options: &BuildOptions,
        compiler_version: Option<String>,
    ) -> Self {
        Self {
            dbms: dbms.to_owned(),
            recipe: recipe.to_owned(),
            kind: kind.to_owned(),
            source: source.to_owned(),
            options: options.clone(),
            compiler_version,
            processor: std::env::consts::ARCH.to_owned(),
            platform: platform(),
        }
    }

    /// The first digits of the source, for messages.
    pub fn short(&self) -> &str {
        self.source.get(..12).unwrap_or(&self.source)
    }

    /// The prefix that the names of all builds of its source share.
    pub fn prefix(&self) -> String {
        format!("{}-{}-{}-", self.dbms, self.kind, self.short())
    }

    /// Its name in a cache, without the platform.
    pub(crate) fn name(&self) -> String {
        let BuildOptions { cflags, compiler, configure, system } = &self.options;
        let mut parts = vec![&self.recipe, &self.kind, &self.source, cflags, compiler];
        parts.extend(&self.compiler_version);
        parts.push(&self.processor);
        parts.extend(configure);
        let by = system.iter().map(|system| format!("by {}", system.name()));
        let hash = hash::of_texts(parts.into_iter().cloned().chain(by));
        format!("{}{}", self.prefix(), &hash[..12])
    }

    /// Its name where machines share it.
    pub fn shared_name(&self) -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        let platform = self.platform.replace(|c| !fits(c), "_");
        format!("{}-{platform}", self.name())
    }

    /// True if this build is what a machine with the key `wanted` would build. If that machine has
    /// no compiler, any compiler will do.
    pub fn fits(&self, wanted: &Self) -> bool {
        let compiler = wanted.compiler_version.is_none();
        let compiler_version =
            if compiler { &self.compiler_version } else { &wanted.compiler_version };
        let wanted = Self { compiler_version: compiler_version.clone(), ..wanted.clone() };
        *self == wanted
    }

    /// Why it makes no sense on another machine, if so.
    pub fn unshareable(&self) -> Option<&'static str> {
        let BuildOptions { cflags, compiler, configure, .. } = &self.options;
        let mut texts = configure.iter().chain([cflags, compiler]);
        texts
            .any(|text| text.contains("=native"))
            .then_some("its options (`=native`) make code for the processor of one machine")
    }

    /// The key of the finished build in `directory`; `None` if an earlier steelyard built it, or if
    /// the file is damaged.
    pub(super) fn read(directory: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(directory.join(KEY)).ok()?).ok()
    }

    /// Writes it into a build that is not published yet.
    pub(super) fn write(&self, directory: &Path) -> Result<(), Error> {
        let path = directory.join(KEY);
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::answer("a key that can be written", error))?;
        fs::write(&path, text).map_err(Error::io("write", &path))?;
        paths::set_mode(&path, 0o644)
    }
}

/// Distribution and C library of this machine (os-release(5)).
fn platform() -> String {
    let read = |path: &str| fs::read_to_string(path);
    let text = read("/etc/os-release").or_else(|_| read("/usr/lib/os-release"));
    let text = text.unwrap_or_default();
    let field = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.map(|value| value.trim_matches(['"', '\'']).to_owned()).filter(|v| !v.is_empty())
    };
    // Rolling distributions have no version.
    let id = field("ID").unwrap_or_else(|| "linux".to_owned());
    let parts = [Some(id), field("VERSION_ID"), Some(c_library())];
    parts.into_iter().flatten().collect::<Vec<_>>().join("-")
}

#[cfg(target_env = "gnu")]
fn c_library() -> String {
    use std::ffi::CStr;
    // SAFETY: it returns a string that is never changed or freed (gnu_get_libc_version(3)).
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc-{}", version.to_string_lossy())
}

#[cfg(not(target_env = "gnu"))]
fn c_library() -> String {
    "libc".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BuildSystem;

    fn key(options: &BuildOptions, compiler: &str) -> BuildKey {
        let source = "a".repeat(40);
        BuildKey::new("x", ["r", "git", &source], options, Some(compiler.to_owned()))
    }

    #[test]
    fn names_differ_with_all_that_matters() {
        let options = BuildOptions::default();
        let first = key(&options, "cc 12");
        assert_eq!(first, key(&options, "cc 12"));
        let other = |options: BuildOptions| key(&options, "cc 12");
        let keys = [
            first.clone(),
            BuildKey { kind: "src".to_owned(), ..first.clone() },
            BuildKey { source: "b".repeat(40), ..first.clone() },
            BuildKey { recipe: "r2".to_owned(), ..first.clone() },
            BuildKey { processor: "m68k".to_owned(), ..first.clone() },
            key(&options, "cc 13"),
            other(BuildOptions { cflags: "-O3".to_owned(), ..options.clone() }),
            other(BuildOptions { compiler: "clang".to_owned(), ..options.clone() }),
            other(BuildOptions { configure: vec!["--with-icu".to_owned()], ..options.clone() }),
            other(BuildOptions { system: Some(BuildSystem::Make), ..options.clone() }),
            other(BuildOptions { system: Some(BuildSystem::Meson), ..options.clone() }),
        ];
        let mut names: Vec<String> = keys.iter().map(BuildKey::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), keys.len());
        // Only what fits is taken.
        assert_eq!(keys.iter().filter(|key| key.fits(&first)).count(), 1);
        let without = BuildKey { compiler_version: None, ..first.clone() };
        let fitting: Vec<_> = keys.iter().filter(|key| key.fits(&without)).collect();
        assert_eq!(fitting, [&keys[0], &keys[5]]);
    }

    #[test]
    fn another_platform_is_another_build_where_machines_share_it() {
        let one = key(&BuildOptions::default(), "cc 12");
        assert!(one.platform.contains("libc"), "{}", one.platform);
        let other = BuildKey { platform: "other 7/../x".to_owned(), ..one.clone() };
        assert_eq!(one.name(), other.name());
        assert!(other.shared_name().ends_with("-other_7_.._x"), "{}", other.shared_name());
        assert!(one.shared_name() != other.shared_name() && !other.fits(&one));
    }

    #[test]
    fn code_for_one_processor_is_not_shared() {
        let of = |cflags: &str, configure: &[&str]| {
            let configure = configure.iter().map(|&option| option.to_owned()).collect();
            let options =
                BuildOptions { cflags: cflags.to_owned(), configure, ..BuildOptions::default() };
            key(&options, "cc").unshareable().is_some()
        };
        assert!(of("-O2 -march=native", &[]) && of("-O2", &["CXXFLAGS=-mtune=native"]));
        assert!(!of("-O2 -march=x86-64-v3", &[]));
    }
}
