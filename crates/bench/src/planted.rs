//! Repositories made of the source of PostgreSQL that `scripts/setup.sh` fetches.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use testing::repository::{tarball, unpack};

/// Makes the repository `tree`, in place of one that is there: the unpacked source, of which
/// `commit` makes the commits. It appears there whole.
pub fn repository(
    sources: &Path,
    tree: &Path,
    commit: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let tarball = tarball(sources).with_context(|| {
        format!(
            "expected the source of PostgreSQL 15 in {}, found none; run scripts/setup.sh validate",
            sources.display()
        )
    })?;
    let tarball = std::path::absolute(tarball)?;
    let new = tree.with_extension("new");
    for old in [tree, &new] {
        if old.exists() {
            fs::remove_dir_all(old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
    }
    fs::create_dir_all(&new).with_context(|| format!("cannot create {}", new.display()))?;
    unpack(&tarball, &new)?;
    commit(&new)?;
    Ok(fs::rename(&new, tree)?)
}
