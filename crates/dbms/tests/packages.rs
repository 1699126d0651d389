//! Packages of the machine's own distribution. Needs its sources of packages, unless they are
//! cached.

use std::path::Path;
use std::process::Command;

use dbms::{Cache, Error, Reference};

use crate::common::{Place, Variant};

/// True if the distribution has a package.
fn exists(package: &str) -> bool {
    let said = Command::new("apt-cache").args(["show", "--no-all-versions", package]).output();
    said.is_ok_and(|said| !said.stdout.is_empty())
}

#[test]
fn servers_of_packages_run_without_being_installed() {
    let place = Place::new();
    for (package, system, program) in [
        ("postgresql-15", "postgres", "usr/lib/postgresql/15/bin"),
        ("mariadb-server-core", "mariadb", "usr/sbin"),
    ] {
        if !exists(package) {
            testing::skip(format_args!("there is no package {package}"));
            continue;
        }
        let reference: Reference = format!("deb:{package}").parse().unwrap();
        let installation = dbms::obtain(&reference, &place.cache, &|_| ()).unwrap();
        let bin_dir = installation.bin_dir.clone().unwrap();
        assert!(bin_dir.starts_with(place.cache.path()) && bin_dir.ends_with(program));
        // It says the version that was unpacked, which gives the same again.
        let exact: Reference = installation.source.parse().unwrap();
        assert!(installation.source.starts_with(&format!("deb:{package}=")));
        let again = dbms::obtain(&exact, &place.cache, &|line| panic!("{line}")).unwrap();
        assert_eq!(again, installation);
        assert_eq!(installation.dbms, system);
        let variant = Variant { name: package.to_owned(), installation };
        let directory = place.trial();
        let mut server = dbms::start(place.spec(&variant, &directory)).unwrap();
        let sql = server.need_sql().unwrap();
        let version = sql.query_rows("SELECT version()").unwrap().remove(0).remove(0).unwrap();
        assert!(version.contains(&variant.installation.version), "{version}");
        server.stop().unwrap();
    }
    place.assert_clean();
}

#[test]
fn what_does_not_exist_leaves_nothing() {
    if !exists("bash") {
        return testing::skip("this machine has no packages of Debian");
    }
    let directory = testing::directory();
    let cache = Cache::at(directory.path()).unwrap();
    for (text, said) in [
        ("deb:postgresql-0", "apt-get update"),
        ("deb:postgresql-common=0", "0"),
        // It is a package, but there is no server in it.
        ("postgres@deb:hostname", "bin/postgres"),
    ] {
        let reference: Reference = text.parse().unwrap();
        let error = dbms::obtain(&reference, &cache, &|_| ()).unwrap_err();
        assert!(matches!(error, Error::Archive { .. } | Error::Installation { .. }), "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
    let left = std::fs::read_dir(directory.path()).unwrap().flatten().map(|entry| entry.path());
    let left: Vec<_> = left.filter(|path| path.is_dir()).collect();
    assert!(left.iter().all(|path| has_hostname(path)), "{left:?}");
}

fn has_hostname(tree: &Path) -> bool {
    tree.file_name().unwrap().to_string_lossy().starts_with("deb-hostname-")
}
