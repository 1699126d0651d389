//! What `--version` prints: which code this is, for which machine, and what it can do there.

use std::env::consts::{ARCH, OS};
use std::sync::LazyLock;

/// The version of steelyard.
const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// The commit it was built from, with `-dirty` if files were changed; `make` sets it.
const COMMIT: Option<&str> = option_env!("STEELYARD_COMMIT");

/// The C library it was built for.
const LIBRARY: &str = if cfg!(target_env = "musl") { "musl" } else { "gnu" };

/// The version and, where it is known, the commit.
pub static SHORT: LazyLock<String> = LazyLock::new(|| match commit() {
    Some(commit) => format!("{NUMBER} ({commit})"),
    None => NUMBER.to_owned(),
});

/// What bug reports need: also the target and what depends on it.
pub static LONG: LazyLock<String> = LazyLock::new(|| {
    let commit = commit().unwrap_or("unknown: it was not built by make");
    let libraries = if dbms::embedded::LOADABLE {
        "yes"
    } else {
        "no: a static program cannot load the library of an engine; the .deb and the wheel can"
    };
    let page = if report::has_page() { "yes" } else { "no: built without web/" };
    format!(
        "{NUMBER}\ncommit:   {commit}\ntarget:   {ARCH}-{OS}-{LIBRARY}\nengines:  {libraries}\n\
         reports:  {page}"
    )
});

fn commit() -> Option<&'static str> {
    COMMIT.filter(|commit| !commit.is_empty())
}
