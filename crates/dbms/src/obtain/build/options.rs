//! How to build a system from source.

use serde::{Deserialize, Serialize};

use crate::Error;

/// Default flags of the C compiler: optimized like releases, with the information that a profiler
/// needs. Frame pointers cost a register, equally in all variants built this way.
pub const DEFAULT_CFLAGS: &str = "-O2 -fno-omit-frame-pointer -g";

/// The default C compiler.
pub const DEFAULT_COMPILER: &str = "cc";

/// Options of `configure` and of `meson setup` that steelyard chooses itself, and why.
const OWN_OPTIONS: [(&str, &str); 7] = [
    (
        "--prefix --exec-prefix -Dprefix",
        "all builds use the same prefix, so they differ in nothing else",
    ),
    (
        "--bindir --sbindir --libexecdir --sysconfdir --sharedstatedir --localstatedir \
         --libdir --includedir --datarootdir --datadir --localedir --mandir --docdir \
         --htmldir --with-system-tzdata -Dbindir -Dsbindir -Dlibexecdir -Dsysconfdir \
         -Dsharedstatedir -Dlocalstatedir -Dlibdir -Dincludedir -Ddatadir -Dlocaledir \
         -Dmandir -Dsystem_tzdata -Drpath",
        "the server must find its files next to itself, wherever the cache is",
    ),
    ("--srcdir --cache-file -C --config-cache", "steelyard builds in its own tree"),
    ("CFLAGS -Dc_args", "it has its own key, `cflags`"),
    (
        "--buildtype -Dbuildtype -Doptimization -Ddebug -Dc_link_args",
        "all flags come from `cflags`",
    ),
    (
        "--wrap-mode -Dwrap_mode --destdir --reconfigure --wipe",
        "steelyard builds in its own tree, and fetches nothing for it",
    ),
    ("CC", "it has its own key, `compiler`"),
];

/// A build system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuildSystem {
    /// The configure script and make.
    Make,
    /// Meson and ninja: PostgreSQL from 16 on.
    Meson,
}

impl BuildSystem {
    /// Its name in plans.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Make => "make",
            Self::Meson => "meson",
        }
    }
}

/// Options for building a system. The same options and the same commit or tarball are built once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildOptions {
    /// Flags of the C compiler, separated by spaces: [`DEFAULT_CFLAGS`].
    pub cflags: String,
    /// The C compiler with words before or after it, such as `clang-16` or `ccache cc`:
    /// [`DEFAULT_COMPILER`].
    pub compiler: String,
    /// Further options of the configure script, such as `--with-llvm`, or of `meson setup`, such as
    /// `-Dcassert=true`.
    pub configure: Vec<String>,
    /// The build system; `None`: make if the source has a configure script, otherwise Meson.
    pub system: Option<BuildSystem>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            cflags: DEFAULT_CFLAGS.to_owned(),
            compiler: DEFAULT_COMPILER.to_owned(),
            configure: Vec::new(),
            system: None,
        }
    }
}

impl BuildOptions {
    /// Checks that no option is set that steelyard must choose.
    ///
    /// # Errors
    /// [`Error::BuildOption`].
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |option: &str, reason: &'static str| {
            Err(Error::BuildOption { option: option.to_owned(), reason })
        };
        if self.compiler.split_ascii_whitespace().next().is_none() {
            return refuse("compiler", "it is empty; leave it out to use `cc`");
        }
        for text in [&self.compiler, &self.cflags] {
            // configure and make pass them through shells and their own quoting.
            if text.chars().any(|c| c.is_control() || "'\"\\$`#".contains(c)) {
                return refuse(
                    text,
                    "it contains a character that a makefile or shell would expand",
                );
            }
        }
        for option in &self.configure {
            if option.is_empty() || option.chars().any(char::is_control) {
                return refuse(option, "it is empty or contains a control character");
            }
            let name = option.split('=').next().unwrap_or_default();
            for (own, reason) in OWN_OPTIONS {
                if own.split_ascii_whitespace().any(|own| own == name) {
                    return refuse(option, reason);
                }
            }
            if !option.starts_with("--") && !option.contains('=') {
                return refuse(option, "expected an option (`--name`) or a variable (NAME=VALUE)");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &BuildOptions) -> bool {
        matches!(options.check(), Err(Error::BuildOption { .. }))
    }

    #[test]
    fn own_options_are_refused() {
        let with = |option: &str| BuildOptions {
            configure: vec![option.to_owned()],
            ..BuildOptions::default()
        };
        for bad in [
            "-Dc_args=-O3",
            "-Dbuildtype=debug",
            "-Dlibdir=/x",
            "--prefix=/x",
            "--libdir=/x",
            "CFLAGS=-O3",
            "CC=clang",
            "--prefix",
            "x",
            "",
            "a\nb",
        ] {
            assert!(refused(&with(bad)), "{bad:?}");
        }
        for good in [
            "-Dcassert=true",
            "--with-llvm",
            "--with-blocksize=16",
            "LDFLAGS=-L/opt/lib",
            "--enable-cassert",
        ] {
            with(good).check().unwrap();
        }
    }

    #[test]
    fn characters_that_a_shell_would_expand_are_refused() {
        for cflags in ["-O2 '-DX=1'", "-O2 $(date)", "-O2\n-g", "-O2 # x"] {
            assert!(refused(&BuildOptions {
                cflags: cflags.to_owned(),
                ..BuildOptions::default()
            }));
        }
        assert!(refused(&BuildOptions { compiler: " ".to_owned(), ..BuildOptions::default() }));
        let clang =
            BuildOptions { compiler: "ccache clang-16".to_owned(), ..BuildOptions::default() };
        clang.check().unwrap();
        BuildOptions { cflags: String::new(), ..clang }.check().unwrap();
    }
}
