//! Fetching released binaries. Needs the network unless 13.7 and 14.3 are cached.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;

use dbms::{Cache, Error, Installation, Reference};

fn obtain(text: &str, cache: &Cache) -> (Result<Installation, Error>, Vec<String>) {
    let said = Mutex::new(Vec::new());
    let reference: Reference = text.parse().unwrap();
    let result =
        dbms::obtain(&reference, cache, &|line| said.lock().unwrap().push(line.to_owned()));
    (result, said.into_inner().unwrap())
}

/// The calling test again, without network, with the cache in `directory`.
fn offline(directory: &Path) {
    let status = testing::again(&[], directory)
        // Nothing listens on the discard port.
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("https_proxy", "http://127.0.0.1:9")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn two_at_once_into_an_empty_cache_and_then_offline() {
    if let Some(directory) = testing::given() {
        return without_network(&directory);
    }
    let directory = testing::directory();
    let cache = Cache::at(directory.path()).unwrap();
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..2).map(|_| scope.spawn(|| obtain("postgres@14.3", &cache))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let fetches = results
        .iter()
        .flat_map(|(_, said)| said)
        .filter(|line| line.starts_with("fetching"))
        .count();
    assert_eq!(fetches, 1, "only one of the two fetches: {results:?}");
    let installations: Vec<&Installation> =
        results.iter().map(|(result, _)| result.as_ref().unwrap()).collect();
    assert_eq!(installations[0], installations[1]);
    let installation = installations[0];
    assert_eq!((installation.dbms.as_str(), installation.version.as_str()), ("postgres", "14.3"));
    assert_eq!(installation.source, "postgres@14.3");
    assert_eq!(installation.build["sha256 of the server"].len(), 64);
    assert_eq!(installation.build["postgres --version"], "postgres (PostgreSQL) 14.3");
    assert!(installation.build["version()"].contains("compiled by"));

    // Another user can read and run it; nothing temporary is left.
    let bin = installation.bin_dir.as_ref().unwrap();
    assert_eq!(std::fs::metadata(bin.join("postgres")).unwrap().mode() & 0o777, 0o755);
    assert_eq!(std::fs::metadata(bin).unwrap().mode() & 0o777, 0o755);
    // No server can change the binaries of later ones.
    let own = nix::unistd::geteuid().as_raw();
    for path in [bin.as_path(), &bin.join("postgres"), bin.parent().unwrap()] {
        assert_eq!(std::fs::metadata(path).unwrap().uid(), own, "{}", path.display());
    }
    assert_eq!(installation.build["sha256 of the archive"].len(), 64);
    let names: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(
        names.iter().all(|name| name.to_str().unwrap().starts_with("postgres-14.3.0")),
        "{names:?}"
    );

    let (again, said) = obtain("postgres@14.3", &cache);
    assert_eq!(again.unwrap(), *installation);
    assert!(said.is_empty(), "nothing to say about what is cached: {said:?}");
    offline(directory.path());
}

fn without_network(directory: &Path) {
    let cache = Cache::at(directory).unwrap();
    let (exact, said) = obtain("postgres@14.3", &cache);
    assert_eq!(exact.unwrap().version, "14.3");
    assert!(said.is_empty());
    let (series, said) = obtain("postgres@14", &cache);
    assert_eq!(series.unwrap().version, "14.3");
    assert!(
        said.iter().any(|line| line.contains("cannot be reached") && line.contains("14.3")),
        "{said:?}"
    );
    let error = obtain("postgres@13.7", &cache).0.unwrap_err();
    assert!(matches!(error, Error::Archive { .. }), "{error}");
}

#[test]
fn unknown_versions_name_their_neighbors() {
    let directory = tempfile::tempdir().unwrap();
    let cache = Cache::at(directory.path()).unwrap();
    let found = |text: &str| match obtain(text, &cache).0.unwrap_err() {
        Error::VersionNotFound { near, newest, .. } => (near, newest),
        other => panic!("expected VersionNotFound, found {other}"),
    };
    // The archive lacks 12.4.
    let close = found("postgres@12.4").0;
    assert_eq!(close.len(), 2, "{close:?}");
    assert!(close.iter().all(|version| version.starts_with("12.")), "{close:?}");
    let (near, newest) = found("postgres@8.4");
    assert!(near.is_empty() && newest.len() > 3, "{near:?} {newest:?}");
    // Each of these comes from another place.
    assert_eq!(found("mysql@8.0.20").0, ["8.0.15", "8.0.31"]);
    let (near, newest) = found("mysql@8.4");
    assert!(near.is_empty() && newest.contains(&"8.0.31".to_owned()), "{near:?} {newest:?}");
    let close = found("mariadb@11.4.4").0;
    assert!(
        close.contains(&"11.4.3".to_owned()) && close.contains(&"11.4.5".to_owned()),
        "{close:?}"
    );
    assert_eq!(
        std::fs::read_dir(directory.path())
            .unwrap()
            .filter(|e| e.as_ref().unwrap().path().is_dir())
            .count(),
        0
    );
}
