//! Packages of the machine's own distribution, Debian or a relative, unpacked and not installed.
//!
//! apt finds a package and checks that it is what its distribution signed. With it, those packages
//! are unpacked that it needs and the machine lacks.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use reference::Package;

use crate::data::paths;
use crate::obtain::build::{tools, work};
use crate::obtain::unpack::Modes;
use crate::process::identity;
use crate::resolve::Form;
use crate::{Cache, Error, Installation, Kind, Reference, ServerUser};

/// The C library, which belongs to the machine's loader of programs.
const C_LIBRARY: &str = "libc6";

/// The installation of a package, from the cache or its distribution.
pub(crate) fn obtain(
    kind: &'static dyn Kind,
    package: &Package,
    cache: &Cache,
    user: &ServerUser,
    progress: &dyn Fn(&str),
) -> Result<Installation, Error> {
    let version = match &package.version {
        Some(version) => version.clone(),
        None => candidate(&package.name, user)?,
    };
    let exact = Package { name: package.name.clone(), version: Some(version.clone()) };
    let fit = |c: char| if c.is_ascii_alphanumeric() || ".+-".contains(c) { c } else { '_' };
    let version: String = version.chars().map(fit).collect();
    let name = format!("deb-{}-{version}-{}", exact.name, std::env::consts::ARCH);
    let tree = cache.finished(&name);
    if !tree.is_dir() {
        let _lock = cache.lock(&name)?;
        // Another process may have made it during the wait.
        if !tree.is_dir() {
            progress(&format!("fetching {exact}"));
            unpack(&exact, &name, cache, user)?;
            progress(&format!("{exact}: unpacked into {}", tree.display()));
        }
    }
    let source = Reference { kind, form: Form::Package(exact) }.to_string();
    Ok(Installation { source, ..kind.describe(&kind.packaged(&tree), user)? })
}

/// The version of a package that would be installed.
fn candidate(name: &str, user: &ServerUser) -> Result<String, Error> {
    let policy =
        ask(&format!("look for the package {name}"), &["apt-cache", "policy", name], user)?;
    let found = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
    found.filter(|version| *version != "(none)").map(str::to_owned).ok_or_else(|| {
        failed(
            &format!("look for the package {name}"),
            "no source of packages has it; look at /etc/apt/sources.list, or run apt-get update",
        )
    })
}

/// Makes the tree of a package in the cache.
fn unpack(package: &Package, name: &str, cache: &Cache, user: &ServerUser) -> Result<(), Error> {
    user.check_reach(cache.path())?;
    let workshop = cache.workshop(name)?;
    let place = |name: &str| workshop.path().join(name);
    let (fetched, unpacked, made) = (place("fetched"), place("unpacked"), place("made"));
    paths::make_private(&fetched, user)?;
    paths::make_private(&unpacked, user)?;
    let needed = needed(package, user)?;
    let doing = format!("fetch {package}");
    let mut fetch = vec![text("env"), text("-C"), fetched.clone().into(), text("apt-get")];
    fetch.extend(["-q", "download"].map(text));
    fetch.extend(needed.iter().map(|(name, version)| text(&format!("{name}={version}"))));
    run(&doing, &fetch, user)?;
    for file in files(&fetched, user)? {
        let words = [text("dpkg-deb"), text("-x"), file.into(), unpacked.clone().into()];
        run(&doing, &words, user)?;
    }
    // Links to other places are for the machine that has the package installed.
    let links =
        [text("find"), unpacked.clone().into(), text("-lname"), text("/*"), text("-delete")];
    run(&doing, &links, user)?;
    identity::take_over(user, &unpacked, &made, Modes::Open)?;
    cache.publish(&made, name).map(drop)
}

fn files(directory: &Path, user: &ServerUser) -> Result<Vec<PathBuf>, Error> {
    identity::as_user(user, || {
        let entries = fs::read_dir(directory).map_err(Error::io("read", directory))?;
        Ok(entries.flatten().map(|entry| entry.path()).collect())
    })
}

/// The package, and those it needs that the machine lacks, with their versions.
fn needed(package: &Package, user: &ServerUser) -> Result<Vec<(String, String)>, Error> {
    let Package { name, version } = package;
    let version = version.clone().unwrap_or_default();
    let doing = format!("look for what {package} needs");
    let wanted = format!("{name}={version}");
    let install = ["apt-get", "-s", "-y", "-q", "--no-install-recommends", "--allow-downgrades"];
    let said = ask(&doing, &[&install[..], &["install", &wanted]].concat(), user)?;
    let mut needed = installed(&said);
    if let Some((_, version)) = needed.iter().find(|(name, _)| name == C_LIBRARY) {
        let detail = format!(
            "it needs {C_LIBRARY} {version}, which this machine doesn't have, and the C library \
             can't be unpacked beside the machine's own; use a machine with a newer system"
        );
        return Err(failed(&doing, &detail));
    }
    if !needed.iter().any(|(found, _)| found == name) {
        // The machine has it installed.
        needed.push((name.clone(), version));
    }
    Ok(needed)
}

/// The packages that apt would install, from what it says of a simulation.
fn installed(said: &str) -> Vec<(String, String)> {
    // `Inst libpq5 [15.8-0+deb12u1] (15.20-0+deb12u1 Debian:12/stable [amd64])`
    let of_line = |line: &str| {
        let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
        let (_, versions) = rest.split_once('(')?;
        Some((name.to_owned(), versions.split(' ').next()?.to_owned()))
    };
    said.lines().filter_map(of_line).collect()
}

fn text(word: &str) -> OsString {
    word.into()
}

fn ask(doing: &str, words: &[&str], user: &ServerUser) -> Result<String, Error> {
    run(doing, &words.iter().map(|word| text(word)).collect::<Vec<_>>(), user)
}

/// Runs a program as the servers' user.
fn run(doing: &str, words: &[OsString], user: &ServerUser) -> Result<String, Error> {
    tools::check("packages (deb:)", &["apt-get", "apt-cache", "dpkg-deb", "find", "env"])?;
    work::ask(words, Some(user))?.map_err(|said| failed(doing, &said))
}

fn failed(doing: &str, detail: &str) -> Error {
    Error::Archive { doing: doing.to_owned(), detail: detail.trim().replace('\n', " ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_apt_would_install_is_read() {
        let said = "Reading package lists...\nBuilding dependency tree...\n\
                    The following NEW packages will be installed:\n  libllvm14\n\
                    Inst libllvm14 (1:14.0.6-12 Debian:12.5/stable [amd64])\n\
                    Inst libpq5 [15.8-0+deb12u1] (15.20-0+deb12u1 Debian-Security:12 [amd64]) []\n\
                    Conf libllvm14 (1:14.0.6-12 Debian:12.5/stable [amd64])\nInst damaged\n";
        let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        assert_eq!(
            installed(said),
            [pair("libllvm14", "1:14.0.6-12"), pair("libpq5", "15.20-0+deb12u1")]
        );
    }
}
