//! Facts about a build from the server's binary: compiler, flags, symbols.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Error;
use crate::api::builds::{ASSERTS, CFLAGS, COMMENT, COMPILER, CONFIGURE, FRAME_POINTERS, VERSION};
use crate::obtain::elf;

/// The facts in the binary `postgres` itself.
pub(super) fn of_binary(postgres: &Path) -> Result<BTreeMap<String, String>, Error> {
    let bytes = fs::read(postgres).map_err(Error::io("read", postgres))?;
    let mut facts = elf::facts(&bytes);
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            facts.insert(key.to_owned(), value);
        }
    };
    let version = find_text(&bytes, b"PostgreSQL ", |text| text.contains(COMPILED_BY));
    add(VERSION, version);
    add(CFLAGS, find_text(&bytes, b"-Wall ", is_cflags));
    add(CONFIGURE, find_text(&bytes, b" '", is_configure).map(|text| text.trim().to_owned()));
    Ok(facts)
}

/// Adds what follows from other facts.
pub(super) fn derive(facts: &mut BTreeMap<String, String>) {
    // Objects by several compilers, or by unknown ones (packages strip it): use what configure was
    // told.
    let by_one = facts.get(COMMENT).filter(|comment| !comment.contains("; "));
    let told = || facts.get(VERSION).and_then(|text| compiled_by(text));
    if let Some(compiler) = by_one.map(String::as_str).or_else(told).map(str::to_owned) {
        facts.insert(COMPILER.to_owned(), compiler);
    }
    if let Some(kept) = facts.get(CFLAGS).map(|flags| keeps_frame_pointers(flags)) {
        facts.insert(FRAME_POINTERS.to_owned(), yes_no(kept));
    }
    let asserts = facts.get(CONFIGURE).map(|options| {
        // The later of the two wins, as in configure.
        options
            .split('\'')
            .filter_map(|option| match option {
                "--enable-cassert" | "--enable-cassert=yes" | "-Dcassert=true" => Some(true),
                "--disable-cassert" | "--enable-cassert=no" => Some(false),
                _ => None,
            })
            .next_back()
            .unwrap_or(false)
    });
    if let Some(asserts) = asserts {
        facts.insert(ASSERTS.to_owned(), yes_no(asserts));
    }
}

fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// `version()` names the compiler between this and the next comma.
const COMPILED_BY: &str = ", compiled by ";

/// `PostgreSQL 13.7 on x86_64, compiled by gcc (Debian 10.2.1-6) 10.2.1 20210110, 64-bit` → `gcc
/// (Debian 10.2.1-6) …`.
fn compiled_by(version: &str) -> Option<&str> {
    let (_, compiler) = version.split_once(COMPILED_BY)?;
    Some(compiler.rsplit_once(", ").map_or(compiler, |(compiler, _)| compiler))
}

/// The server contains the output of `pg_config --cflags` since 9.6, for its view pg_config.
/// PostgreSQL's configure puts these warnings before all other flags, and PostgreSQL needs that
/// flag to be correct, so no other text looks like it.
fn is_cflags(text: &str) -> bool {
    text.contains("-Wmissing-prototypes") && text.contains("-fno-strict-aliasing")
}

/// True if `text` is output of `pg_config --configure`: each option in quotes, with a space before
/// it.
fn is_configure(text: &str) -> bool {
    let known = ["'--prefix=", "'--with-", "'--without-", "'--enable-", "'--disable-"];
    text.ends_with('\'') && known.iter().any(|option| text.contains(option))
}

/// On x86-64 and ARM, compilers omit frame pointers by default from -O1 on.
fn keeps_frame_pointers(flags: &str) -> bool {
    let mut optimized = false;
    let mut told = None;
    for flag in flags.split_ascii_whitespace() {
        match flag {
            "-O0" => optimized = false,
            "-fno-omit-frame-pointer" => told = Some(true),
            "-fomit-frame-pointer" => told = Some(false),
            flag if flag.starts_with("-O") => optimized = true,
            _ => {}
        }
    }
    told.unwrap_or(!optimized)
}

/// The first text in a binary that begins with `begin`, ends with a zero byte and satisfies
/// `wanted`.
fn find_text(bytes: &[u8], begin: &[u8], wanted: impl Fn(&str) -> bool) -> Option<String> {
    /// Longer than any of these texts; options of configure can be many.
    const LONGEST: usize = 16 * 1024;
    // A separate constant begins after the zero byte of the previous one; the last one has no
    // successor.
    let end = bytes.iter().rposition(|byte| *byte == 0)?;
    let texts = bytes[..end].split(|byte| *byte == 0);
    texts
        .filter(|text| text.starts_with(begin) && text.len() < LONGEST)
        .filter_map(|text| std::str::from_utf8(text).ok())
        .find(|text| wanted(text))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::builds::{DEBUG_INFO, SERVER_HASH, SYMBOLS};
    use proptest::prelude::*;

    #[test]
    fn texts_in_a_binary() {
        let binary = b"\0PostgreSQL JDBC\0x\0PostgreSQL 13.7 on x86_64, compiled by gcc (Debian 10.2.1-6) 10.2.1 20210110, 64-bit\0more\
            \0-Wall is a flag\0-Wall -Wmissing-prototypes -fno-strict-aliasing -O2\0 '%s' \0 'CFLAGS=-O2' '--prefix=/usr' '--with-openssl'\0x '--y'\0";
        let version = find_text(binary, b"PostgreSQL ", |t| t.contains(COMPILED_BY)).unwrap();
        assert!(version.starts_with("PostgreSQL 13.7 on x86_64, compiled by gcc"), "{version}");
        assert_eq!(compiled_by(&version), Some("gcc (Debian 10.2.1-6) 10.2.1 20210110"));
        let flags = find_text(binary, b"-Wall ", is_cflags);
        assert_eq!(flags.as_deref(), Some("-Wall -Wmissing-prototypes -fno-strict-aliasing -O2"));
        let configure = find_text(binary, b" '", is_configure);
        assert_eq!(configure.as_deref(), Some(" 'CFLAGS=-O2' '--prefix=/usr' '--with-openssl'"));
        assert_eq!(find_text(b"nothing", b"-Wall ", is_cflags), None);
        assert_eq!(find_text(b"", b"-Wall ", is_cflags), None);
    }

    #[test]
    fn the_compiler_is_found_from_known_facts() {
        let compiler = |facts: &[(&str, &str)]| {
            let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
            let mut facts: BTreeMap<String, String> = facts.iter().map(own).collect();
            derive(&mut facts);
            facts.remove(COMPILER)
        };
        let version =
            (VERSION, "PostgreSQL 15.8 on x86_64, compiled by clang version 16.0.6, 64-bit");
        assert_eq!(compiler(&[version]).as_deref(), Some("clang version 16.0.6"));
        let both = (COMMENT, "GCC: (Debian 12.2.0-14) 12.2.0; clang version 16.0.6");
        assert_eq!(compiler(&[both, version]).as_deref(), Some("clang version 16.0.6"));
        let one = (COMMENT, "GCC: (Debian 12.2.0-14) 12.2.0");
        assert_eq!(compiler(&[one, version]).as_deref(), Some(one.1));
        assert_eq!(compiler(&[]), None);
    }

    #[test]
    fn frame_pointers_by_flags() {
        for (flags, kept) in [
            ("-O2", false),
            ("-O2 -fno-omit-frame-pointer", true),
            ("-fno-omit-frame-pointer -O2 -fomit-frame-pointer", false),
            ("-O2 -O0 -g", true),
            ("-Wall", true),
            ("-Og", false),
        ] {
            assert_eq!(keeps_frame_pointers(flags), kept, "{flags}");
        }
    }

    #[test]
    fn asserts_by_options() {
        let asserts = |configure: &str| {
            let mut facts = BTreeMap::from([(CONFIGURE.to_owned(), configure.to_owned())]);
            derive(&mut facts);
            facts.remove(ASSERTS).unwrap()
        };
        assert_eq!(asserts("'--prefix=/x' '--enable-cassert'"), "yes");
        assert_eq!(asserts("'--enable-cassert' '--disable-cassert'"), "no");
        assert_eq!(asserts("'--prefix=/enable-cassert'"), "no");
        let mut nothing = BTreeMap::new();
        derive(&mut nothing);
        assert!(nothing.is_empty());
    }

    #[test]
    fn real_binaries() {
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("a.c");
        fs::write(
            &source,
            "static int f(int x) { return x + 1; } int main(int c, char **v) { return f(c); }",
        )
        .unwrap();
        let build = |name: &str, flags: &[&str]| {
            let program = directory.path().join(name);
            let status = std::process::Command::new("cc")
                .args(flags)
                .arg("-o")
                .arg(&program)
                .arg(&source)
                .status()
                .unwrap();
            assert!(status.success());
            let mut facts = of_binary(&program).unwrap();
            derive(&mut facts);
            facts
        };
        let debug = build("debug", &["-g", "-O0"]);
        assert_eq!(debug[DEBUG_INFO], "yes");
        assert_eq!(debug[SYMBOLS], "all (.symtab)");
        assert!(debug[COMPILER].contains("GCC") || debug[COMPILER].contains("clang"), "{debug:?}");
        let stripped = build("stripped", &["-s", "-O2"]);
        assert_eq!(stripped[DEBUG_INFO], "no");
        assert_eq!(stripped[SYMBOLS], "exported (.dynsym)");
        assert_ne!(debug[SERVER_HASH], stripped[SERVER_HASH]);
        assert!(!stripped.contains_key(CFLAGS) && !stripped.contains_key(VERSION));
        let script = directory.path().join("script");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        assert!(of_binary(&script).unwrap()[SYMBOLS].starts_with("unknown"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_searched(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in "[ -~]{0,40}") {
            let mut all = bytes.clone();
            all.extend([0]);
            all.extend(format!("-Wall {text}").bytes());
            all.extend([0]);
            let found = find_text(&all, b"-Wall ", |found| found.ends_with(&text));
            prop_assert!(found.is_some_and(|found| found.starts_with("-Wall ")));
            // A file that is not a binary has nothing else to tell.
            let facts = elf::facts(&bytes);
            prop_assert_eq!(facts[SYMBOLS].starts_with("unknown"), !facts.contains_key(DEBUG_INFO));
        }
    }
}
