//! Facts about builds, and warnings for comparing builds that differ in more than their version.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Durability, Installation};

/// Key of [`crate::Installation::build`]: SHA-256 of the server's binary, which identifies an
/// installation.
pub const SERVER_HASH: &str = "sha256 of the server";
/// Key: SHA-256 of everything in an installation that a run can depend on, without debug
/// information, build ids and what else compilers note about themselves. Only of builds from
/// source; those with equal ones perform alike.
pub const CODE_HASH: &str = "sha256 of the code";
/// Key: the output of `select version()`.
pub const VERSION: &str = "version()";
/// Key: the output of `postgres --version`.
pub const BANNER: &str = "postgres --version";
/// Key: the compiler as it calls itself, `GCC: (Debian 10.2.1-6) 10.2.1 20210110`: from `.comment`,
/// or from `version()` if that is missing or names several.
pub const COMPILER: &str = "compiler";
/// Key: the section `.comment` of the server's ELF file: the tools that wrote the objects it was
/// linked from.
pub const COMMENT: &str = ".comment";
/// Key: flags of the C compiler, as printed by `pg_config --cflags`. If that program is missing,
/// the same text from the server's binary.
pub const CFLAGS: &str = "pg_config --cflags";
/// Key: options of configure, as printed by `pg_config --configure`, or from the server's binary.
/// If steelyard built with Meson, options of `meson setup`, since pg_config then has none.
pub const CONFIGURE: &str = "pg_config --configure";
/// Key: the compiler's command, as printed by `pg_config --cc`; absent without that program.
pub const CC: &str = "pg_config --cc";
/// Key: `yes` if the server's binary contains DWARF debug information, otherwise `no`.
pub const DEBUG_INFO: &str = "debug info";
/// Key: which symbols the server's binary contains: `all (.symtab)`, `exported (.dynsym)`, `none`,
/// or `unknown: …`.
pub const SYMBOLS: &str = "symbols";
/// Key: `yes` or `no`: do the flags keep frame pointers? Absent if the flags are unknown.
pub const FRAME_POINTERS: &str = "frame pointers";
/// Key: `yes` or `no`: are assertions compiled in? Absent if the options of configure are unknown.
pub const ASSERTS: &str = "assertions";
/// Key: the build system, `make` or `Meson`, if steelyard built it.
pub const BUILD_SYSTEM: &str = "build system";
/// Key: the commit that was built.
pub const COMMIT: &str = "commit";
/// Key: when that commit was made, ISO 8601.
pub const COMMIT_DATE: &str = "commit date";
/// Key: the first line of that commit's message.
pub const COMMIT_SUBJECT: &str = "commit subject";
/// Key: SHA-256 of the tarball that was built.
pub const TARBALL_HASH: &str = "tarball sha256";
/// Key: the address of the object from which a build was obtained that another machine made.
pub const OBTAINED: &str = "obtained from";
/// Key: SHA-256 of the archive that was fetched.
pub const ARCHIVE_HASH: &str = "sha256 of the archive";

/// Key: the digest of the container image, as its registry knows it; of `docker save`, the image's
/// ID.
pub const IMAGE: &str = "image";

/// Options of configure and Meson that change the server's code, except assertions, which are a
/// separate fact.
const OPTIONS: &str = "--enable-profiling --enable-coverage --enable-dtrace --enable-injection-points \
    --with-llvm --with-blocksize --with-wal-blocksize --with-segsize --disable-spinlocks \
    --disable-atomics -Db_coverage -Ddtrace -Dinjection_points -Dllvm -Dblocksize \
    -Dwal_blocksize -Dsegsize";

/// A variant that is compared with others.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// Its name.
    pub name: &'a str,
    /// The binaries that it runs.
    pub installation: &'a Installation,
    /// Options that create its data directory.
    pub initdb: &'a [String],
    /// The storage engine that it names.
    pub engine: Option<&'a str>,
    /// Its durability, if that is declared rather than left to its settings.
    pub durability: Option<Durability>,
}

/// A difference between variants, besides their version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kind of difference: `builds-differ`.
    pub code: &'static str,
    /// A sentence that must be shown with the comparison.
    pub text: String,
}

/// The sentences that must be shown with a comparison of these builds (name of the variant, its
/// [`crate::Installation::build`]). There is one for each difference that is not part of the
/// version. A fact known for only one build is not a difference.
pub(crate) fn differing_builds(builds: &[(&str, &BTreeMap<String, String>)]) -> Vec<String> {
    let compilers = grouped(builds, |build| build.get(COMPILER).map(|text| short_compiler(text)));
    let systems = grouped(builds, |build| build.get(BUILD_SYSTEM).cloned());
    let mut said = Vec::new();
    said.extend(made_by(&compilers, "compiled", ": differences may come from the compiler"));
    let flags = ", and each adds its own compiler flags: differences may come from those";
    said.extend(made_by(&systems, "built", flags));
    said.extend(differing_flags(builds));
    said.extend(differing_options(builds));
    let facts = [
        (ASSERTS, "assertions compiled in", "which make it slower", "which make them slower"),
        (
            FRAME_POINTERS,
            "frame pointers",
            "which cost every function a register and instructions",
            "which cost every function a register and instructions",
        ),
        (
            DEBUG_INFO,
            "debug information",
            "so a profile names more of its functions",
            "so a profile names more of their functions",
        ),
    ];
    for (key, what, one, many) in facts {
        let of = |wanted: &str| -> Vec<&str> {
            let has = |build: &&(&str, &BTreeMap<String, String>)| {
                build.1.get(key).is_some_and(|value| value == wanted)
            };
            builds.iter().filter(has).map(|(name, _)| *name).collect()
        };
        let (with, without) = (of("yes"), of("no"));
        if !with.is_empty() && !without.is_empty() {
            let (has, note) = if with.len() == 1 { ("has", one) } else { ("have", many) };
            let lack = if without.len() == 1 { "has" } else { "have" };
            said.push(format!(
                "{} {has} {what}, {note}; {} {lack} none",
                list(&with),
                list(&without)
            ));
        }
    }
    said
}

/// Says what made each group, if there are several, and what follows from it.
fn made_by(groups: &[(String, Vec<&str>)], made: &str, note: &str) -> Option<String> {
    let [(first, names), others @ ..] = groups else { return None };
    if others.is_empty() {
        return None;
    }
    let others: Vec<String> =
        others.iter().map(|(maker, names)| format!("{} by {maker}", list(names))).collect();
    Some(format!("{} {} {made} by {first}, {}{note}", list(names), was(names), others.join(", ")))
}

/// Variants grouped by a fact, in their order; without variants for which it is unknown.
pub(crate) fn grouped<'a, B, T: PartialEq>(
    variants: &[(&'a str, B)],
    fact: impl Fn(&B) -> Option<T>,
) -> Vec<(T, Vec<&'a str>)> {
    let mut groups: Vec<(T, Vec<&str>)> = Vec::new();
    for (name, known) in variants {
        let Some(value) = fact(known) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, names)) => names.push(name),
            None => groups.push((value, vec![name])),
        }
    }
    groups
}

/// Flags that affect the compiler's code, in order, because the last of several wins.
fn differing_flags(builds: &[(&str, &BTreeMap<String, String>)]) -> Option<String> {
    let groups = grouped(builds, |build| {
        let flags = build.get(CFLAGS)?.split_ascii_whitespace();
        // Warnings, debug information and the locations of sources and headers change no
        // instruction.
        let irrelevant = |flag: &&str| {
            (flag.starts_with("-W") && !flag.starts_with("-Wa,"))
                || (flag.starts_with("-g") && !flag.starts_with("-gno"))
                || flag.contains("-prefix-map=")
                || flag.starts_with("-fpch-")
                // Has its own sentence.
                || flag.ends_with("omit-frame-pointer")
        };
        Some(flags.filter(|flag| !irrelevant(flag)).map(str::to_owned).collect::<Vec<_>>())
    });
    sentence(&groups, "flags of the compiler")
}

fn differing_options(builds: &[(&str, &BTreeMap<String, String>)]) -> Option<String> {
    let groups = grouped(builds, |build| {
        let options = build.get(CONFIGURE)?.split('\'').filter(|option| {
            let name = option.split('=').next().unwrap_or_default();
            OPTIONS.split_ascii_whitespace().any(|known| known == name)
        });
        Some(options.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>())
    });
    sentence(&groups, "options of configure")
}

/// Says what some groups have and others don't.
fn sentence(groups: &[(Vec<String>, Vec<&str>)], what: &str) -> Option<String> {
    let [(first, _), others @ ..] = groups else { return None };
    if others.is_empty() {
        return None;
    }
    let common: Vec<&String> =
        first.iter().filter(|word| others.iter().all(|(words, _)| words.contains(word))).collect();
    // The same words in another order: the last one wins.
    let only_order = groups.iter().all(|(words, _)| words.iter().all(|w| common.contains(&w)));
    let parts: Vec<String> = groups
        .iter()
        .map(|(words, names)| {
            let own: Vec<&str> = words
                .iter()
                .filter(|word| only_order || !common.contains(word))
                .map(String::as_str)
                .collect();
            let own = if own.is_empty() { "none of these".to_owned() } else { own.join(" ") };
            format!("{}: {own}", list(names))
        })
        .collect();
    Some(format!("{what} differ ({}): differences may come from them", parts.join("; ")))
}

/// `gcc (Debian 10.2.1-6) 10.2.1 20210110` and `GCC: (Debian 10.2.1-6) 10.2.1 20210110` → `GCC
/// 10.2.1`. A distribution's name for its own build of a compiler is left out.
fn short_compiler(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    // GCC called as `cc` gives that name; others give their own.
    let family = [("clang", "Clang"), ("gcc", "GCC"), ("icc", "ICC"), ("cc (", "GCC")]
        .iter()
        .find(|(name, _)| lower.contains(name))
        .map(|(_, family)| *family);
    let without_brackets = {
        let mut depth = 0_u32;
        let mut out = String::new();
        for c in text.chars() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                c if depth == 0 => out.push(c),
                _ => {}
            }
        }
        out
    };
    // Meson writes `gcc-12.2.0`.
    let version = without_brackets
        .split(|c: char| c.is_whitespace() || c == '-' || c == ';')
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'));
    match (family, version) {
        (Some(family), Some(version)) => format!("{family} {version}"),
        _ => text.to_owned(),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn was(names: &[&str]) -> &'static str {
    if names.len() == 1 { "was" } else { "were" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn build(facts: &[(&str, &str)]) -> BTreeMap<String, String> {
        facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn compilers_for_short() {
        for (long, short) in [
            ("gcc (Ubuntu 4.8.4-2ubuntu1~14.04.4) 4.8.4", "GCC 4.8.4"),
            ("GCC: (Debian 12.2.0-14+deb12u1) 12.2.0", "GCC 12.2.0"),
            ("gcc (Debian 10.2.1-6) 10.2.1 20210110", "GCC 10.2.1"),
            ("gcc-12.2.0", "GCC 12.2.0"),
            ("cc (Debian 12.2.0-14+deb12u1) 12.2.0", "GCC 12.2.0"),
            ("Debian clang version 14.0.6", "Clang 14.0.6"),
            ("clang-16.0.6", "Clang 16.0.6"),
            ("something else", "something else"),
        ] {
            assert_eq!(short_compiler(long), short);
        }
    }

    #[test]
    fn the_build_system_is_reported() {
        let of = |system: &str, flags: &str| build(&[(BUILD_SYSTEM, system), (CFLAGS, flags)]);
        let (make, meson) = (of("make", "-O2 -g"), of("Meson", "-fpch-deps -O2 -g"));
        let said = differing_builds(&[("a", &make), ("b", &meson), ("c", &make)]);
        let [said] = said.as_slice() else { panic!("{said:?}") };
        assert!(said.starts_with("a and c were built by make, b by Meson, and each"), "{said}");
        let fetched = build(&[(CFLAGS, "-O2")]);
        assert!(differing_builds(&[("a", &make), ("b", &fetched)]).is_empty());
    }

    #[test]
    fn several_variants_in_one_sentence() {
        let old = build(&[(COMPILER, "gcc (Debian 8.3.0-6) 8.3.0")]);
        let new = build(&[(COMPILER, "gcc (Ubuntu 10.2.1) 10.2.1")]);
        let same = build(&[(COMPILER, "GCC: (Debian 10.2.1) 10.2.1")]);
        let unknown = build(&[]);
        let said = differing_builds(&[("a", &old), ("b", &new), ("c", &same), ("d", &unknown)]);
        assert_eq!(
            said,
            [
                "a was compiled by GCC 8.3.0, b and c by GCC 10.2.1: differences may come from the compiler"
            ]
        );
        assert!(differing_builds(&[("b", &new), ("c", &same), ("d", &unknown)]).is_empty());
        assert!(differing_builds(&[]).is_empty());
    }

    #[test]
    fn flags_options_and_facts() {
        let one = build(&[
            (CFLAGS, "-Wall -fwrapv -g -O2 -ffile-prefix-map=/a=."),
            (CONFIGURE, "'--prefix=/a' '--with-llvm' 'CC=cc'"),
            (ASSERTS, "no"),
            (FRAME_POINTERS, "no"),
            (DEBUG_INFO, "yes"),
        ]);
        let other = build(&[
            (CFLAGS, "-Wextra -fwrapv -O3 -march=native -fno-omit-frame-pointer"),
            (CONFIGURE, "'--prefix=/b' '--enable-cassert'"),
            (ASSERTS, "yes"),
            (FRAME_POINTERS, "yes"),
            (DEBUG_INFO, "no"),
        ]);
        assert_eq!(
            differing_builds(&[("a", &one), ("b", &other)]),
            [
                "flags of the compiler differ (a: -O2; b: -O3 -march=native): differences may come from them",
                "options of configure differ (a: --with-llvm; b: none of these): differences may come from them",
                "b has assertions compiled in, which make it slower; a has none",
                "b has frame pointers, which cost every function a register and instructions; a has none",
                "a has debug information, so a profile names more of its functions; b has none",
            ]
        );
    }

    #[test]
    fn the_order_of_flags_is_a_difference() {
        let (one, other) = (build(&[(CFLAGS, "-O2 -O3")]), build(&[(CFLAGS, "-O3 -O2")]));
        let said = differing_builds(&[("a", &one), ("b", &other)]);
        assert!(said[0].contains("(a: -O2 -O3; b: -O3 -O2)"), "{said:?}");
    }

    proptest! {
        #[test]
        fn the_same_build_twice_is_no_difference(
            facts in proptest::collection::btree_map("[a-z -]{1,12}", "[ -~]{0,30}", 0..6),
            cflags in "[ a-zA-Z0-9=-]{0,40}",
        ) {
            let mut one = facts;
            one.insert(CFLAGS.to_owned(), cflags);
            prop_assert!(differing_builds(&[("a", &one), ("b", &one.clone())]).is_empty());
        }
    }
}
