//! Builds from source: two commits of a repository become two servers that differ in one function.
//! Code that does not compile gives a reason. An aborted or killed build leaves nothing that the
//! next does not remove.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::repository::{
    self, BASE, BROKEN, BROKEN_FILE, FUNCTION, LOOP, fake_repository, postgres_repository,
};
use crate::common::{Place, Variant, processes_in};
use dbms::builds::{
    ASSERTS, CFLAGS, COMMIT, COMPILER, DEBUG_INFO, FRAME_POINTERS, SERVER_HASH, SYMBOLS,
};
use dbms::{BuildOptions, BuildSystem, Cache, Error, Installation, Reference};
use object::{Object, ObjectSymbol};

const TARBALL: &str = "DBMS_TEST_TARBALL";

fn reference(repository: &Path, revision: &str) -> Reference {
    let reference: Reference =
        format!("postgres@git:{}#{revision}", repository.display()).parse().unwrap();
    reference
        .with_build(BuildOptions {
            cflags: repository::CFLAGS.to_owned(),
            compiler: repository::compiler().to_owned(),
            ..BuildOptions::default()
        })
        .unwrap()
}

fn obtain(reference: &Reference, cache: &Cache) -> (Result<Installation, Error>, Vec<String>) {
    let said = Mutex::new(Vec::new());
    let begin = Instant::now();
    let result = dbms::obtain(reference, cache, &|line| {
        eprintln!("{:6.1} s {line}", begin.elapsed().as_secs_f64());
        said.lock().unwrap().push(line.to_owned());
    });
    (result, said.into_inner().unwrap())
}

/// Bytes of code of each function in the server's binary; several with one name are added up.
fn functions(installation: &Installation) -> BTreeMap<String, u64> {
    let path = installation.bin_dir.as_ref().unwrap().join("postgres");
    let bytes = fs::read(path).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let mut functions = BTreeMap::new();
    for symbol in file.symbols().filter(|symbol| symbol.kind() == object::SymbolKind::Text) {
        *functions.entry(symbol.name().unwrap().to_owned()).or_insert(0) += symbol.size();
    }
    functions
}

/// Builds both commits of a repository in which a source file was changed since: they differ in one
/// function.
fn build_both(repository: &Path, file: &str, cache: &Cache) -> [Variant; 2] {
    let status = || {
        let output =
            Command::new("git").args(["status", "--porcelain"]).current_dir(repository).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    // Uncommitted changes are not built, and stay.
    fs::write(repository.join(file), "not C\n").unwrap();
    let before = status();
    assert!(!before.is_empty());
    let built = [BASE, LOOP].map(|tag| {
        let reference = reference(repository, tag);
        let installation = obtain(&reference, cache).0.unwrap();
        let (again, said) = obtain(&reference, cache);
        assert_eq!(again.unwrap(), installation);
        assert!(said.is_empty(), "nothing to say about what is built: {said:?}");
        let functions = functions(&installation);
        (Variant { name: tag.to_owned(), installation }, functions)
    });
    assert_eq!(status(), before);

    let [(base, before), (changed, after)] = &built;
    let differ: Vec<&String> = after
        .iter()
        .filter(|(name, size)| before.get(*name) != Some(*size))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(differ, [FUNCTION], "the commits differ in one function, and so do the builds");
    assert!(after[FUNCTION] > before[FUNCTION]);
    let (one, other) = (&base.installation.build, &changed.installation.build);
    assert_ne!(one[COMMIT], other[COMMIT]);
    assert_ne!(one[SERVER_HASH], other[SERVER_HASH]);
    for key in [COMPILER, CFLAGS, DEBUG_INFO, SYMBOLS, FRAME_POINTERS, ASSERTS] {
        assert_eq!(one.get(key), other.get(key), "{key}");
    }
    assert_eq!((one[DEBUG_INFO].as_str(), one[SYMBOLS].as_str()), ("no", "all (.symtab)"));
    assert!(differences([base, changed]).is_empty());
    assert!(base.installation.source.contains("#base (git "), "{}", base.installation.source);
    built.map(|(variant, _)| variant)
}

#[test]
fn two_commits_are_built_once_and_differ_in_one_function() {
    let directory = testing::directory();
    let repository = directory.path().join("small");
    repository::small_repository(&repository);
    let cache = Cache::at(directory.path().join("cache")).unwrap();
    build_both(&repository, repository::SMALL_PROGRAM, &cache);
}

#[test]
#[ignore = "takes minutes: make validate"]
fn two_commits_of_postgres_are_built_and_start() {
    let place = Place::new();
    let sources = tempfile::tempdir().unwrap();
    let repository = postgres_repository(sources.path());
    let built = build_both(&repository, BROKEN_FILE, &place.cache);
    for variant in &built {
        let known = &variant.installation.build;
        assert!(known[CFLAGS].ends_with(repository::CFLAGS), "{}", known[CFLAGS]);
        assert_eq!((known[FRAME_POINTERS].as_str(), known[ASSERTS].as_str()), ("yes", "no"));
        assert!(known[COMPILER].to_lowercase().contains("gcc"), "{}", known[COMPILER]);
        let bin = variant.installation.bin_dir.as_ref().unwrap();
        let program = fs::metadata(bin.join("postgres")).unwrap();
        assert_eq!(program.mode() & 0o777, 0o755);
        assert_eq!(
            program.uid(),
            nix::unistd::geteuid().as_raw(),
            "it is ours, not the compiling user's"
        );
        check_server(&place, variant);
    }
    place.assert_clean();
}

fn differences(variants: [&Variant; 2]) -> Vec<dbms::Difference> {
    dbms::differences(&variants.map(|variant| dbms::Compared {
        name: &variant.name,
        installation: &variant.installation,
        initdb: &[],
        engine: None,
        durability: None,
    }))
}

/// Starts the built server, which has everything it needs.
fn check_server(place: &Place, variant: &Variant) {
    let mut server = place.start(variant, &[]).unwrap();
    let shown = server.sql().unwrap().query_rows("show server_version").unwrap();
    assert_eq!(shown[0][0].as_ref(), Some(&variant.installation.version));
    // Time zones, dictionaries and the procedural language were installed and are found.
    server
        .sql()
        .unwrap()
        .execute("set timezone = 'Europe/Vienna'; create table t (a int primary key)")
        .unwrap();
    server
        .sql()
        .unwrap()
        .execute("do $$ begin for i in 1..10 loop insert into t values (i); end loop; end $$")
        .unwrap();
    assert_eq!(server.sql().unwrap().query_i64("select count(*) from t").unwrap(), 10);
    let stemmed =
        server.sql().unwrap().query_rows("select to_tsvector('english', 'weights')::text").unwrap();
    assert_eq!(stemmed[0][0].as_deref(), Some("'weight':1"));
    server.stop().unwrap().discard().unwrap();
}

/// Names in `directory`, except locks and ccache's.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".lock") && name != "ccache")
        .collect();
    names.sort();
    names
}

/// Kills this test, run again in `directory`, while it builds in `root`. The kernel signals the
/// build, which is gone at once.
fn kill_a_build(directory: &Path, root: &Path) {
    let mut driver = testing::again(&[], directory)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(driver.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut said = Vec::new();
    while !said.last().is_some_and(|line: &String| line.contains("configuring")) {
        said.extend(Some(output.next().unwrap_or_else(|| panic!("no build: {said:#?}"))));
    }
    let begin = Instant::now();
    // The shell and configure.
    while processes_in(root).len() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(600), "{:?}", processes_in(root));
        std::thread::sleep(Duration::from_millis(5));
    }
    driver.kill().unwrap(); // SIGKILL
    driver.wait().unwrap();
    let begin = Instant::now();
    while !processes_in(root).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(600), "the build outlives its driver");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn builds_that_fail_or_are_broken_off_leave_nothing() {
    let (fake, cached) = ("fake", "cache");
    if let Some(directory) = testing::given() {
        let cache = Cache::at(directory.join(cached)).unwrap();
        let _ = obtain(&reference(&directory.join(fake), BROKEN), &cache);
        return;
    }
    let directory = testing::directory();
    let repository = directory.path().join(fake);
    fake_repository(&repository);
    let root = directory.path().join(cached);
    let cache = Cache::at(&root).unwrap();

    kill_a_build(directory.path(), &root);
    assert_eq!(names(&root), [".build.here"], "what the next build removes");

    // Interrupted: it ends soon and leaves nothing.
    let interrupted = AtomicBool::new(false);
    let broken = reference(&repository, BROKEN);
    let result = dbms::obtain_interruptible(&broken, &cache, None, &interrupted, &|line| {
        if line == "configuring" {
            interrupted.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(result, Err(Error::Interrupted { .. })), "{result:?}");
    assert_eq!(processes_in(&root), [0_u32; 0]);
    assert!(names(&root).is_empty(), "{:?}", names(&root));

    // Broken: the compiler's output is shown and kept.
    let error = obtain(&broken, &cache).0.unwrap_err();
    assert!(!error.is_request());
    match &error {
        Error::Build { command, lines, log, .. } => {
            assert!(command.starts_with("make "), "{command}");
            let file = Path::new(BROKEN_FILE).file_name().unwrap().to_str().unwrap();
            assert!(lines.contains(file) && lines.contains("error:"), "{lines}");
            assert!(lines.lines().count() <= 22, "{lines}");
            let kept = fs::read_to_string(log).unwrap();
            assert!(kept.contains("$ ./configure --prefix") && kept.contains(file), "{kept}");
            assert_eq!(names(&root), [log.file_name().unwrap().to_str().unwrap()]);
        }
        other => panic!("expected Build, found {other}"),
    }
    // The same files as a tarball fail in the same way, with their own log.
    let tarball = directory.path().join("postgresql.tar.gz");
    let archive = Command::new("git")
        .args(["archive", "--format=tar.gz", "--prefix=postgresql-x/", "--output"])
        .arg(&tarball)
        .arg(BROKEN)
        .current_dir(&repository)
        .status()
        .unwrap();
    assert!(archive.success());
    let source: Reference = format!("src:{}", tarball.display()).parse().unwrap();
    let options = BuildOptions {
        cflags: repository::CFLAGS.to_owned(),
        compiler: repository::compiler().to_owned(),
        configure: vec!["--with-blocksize=7".to_owned()],
        ..BuildOptions::default()
    };
    match obtain(&source.with_build(options).unwrap(), &cache).0.unwrap_err() {
        Error::Build { command, lines, .. } => {
            assert!(
                command.starts_with("./configure ") && lines.contains("lock size"),
                "{command}: {lines}"
            );
        }
        other => panic!("expected Build, found {other}"),
    }
    assert_eq!(names(&root).len(), 2);
}

/// A full build from the released tarball with steelyard's default flags. It takes minutes; `make
/// validate` runs it.
#[test]
#[ignore = "takes minutes: make validate"]
fn a_tarball_is_built_with_the_default_flags() {
    let directory = testing::directory();
    let tarball = repository::tarball();
    let reference: Reference = format!("postgres@src:{}", tarball.display()).parse().unwrap();
    let hashes: Vec<String> = (0..2)
        .map(|number| {
            // The same location each time, emptied in between.
            let root = directory.path().join("cache");
            let cache = Cache::at(&root).unwrap();
            let (installation, said) = obtain(&reference, &cache);
            let build = installation.unwrap().build;
            assert!(
                said.iter().any(|line| line.starts_with("built postgres")),
                "{number}: {said:?}"
            );
            assert_eq!(
                (build[DEBUG_INFO].as_str(), build[FRAME_POINTERS].as_str()),
                ("yes", "yes")
            );
            assert_eq!(build[dbms::builds::TARBALL_HASH].len(), 64);
            fs::remove_dir_all(&root).unwrap();
            build[SERVER_HASH].clone()
        })
        .collect();
    assert_eq!(hashes[0], hashes[1], "the same source built twice is the same binary");
}

/// Both ways to build a version that has both (16 or later), whose tarball the variable names. It
/// takes minutes: DBMS_TEST_TARBALL=postgresql-17.2.tar.bz2 make validate
#[test]
#[ignore = "takes minutes: make validate"]
fn a_newer_tarball_is_built_by_make_and_by_meson() {
    let Ok(tarball) = std::env::var(TARBALL) else {
        return testing::skip(format_args!("no tarball is named by {TARBALL}"));
    };
    let place = Place::new();
    let built = [BuildSystem::Make, BuildSystem::Meson].map(|system| {
        let reference: Reference = format!("postgres@src:{tarball}").parse().unwrap();
        let reference = reference
            .with_build(BuildOptions {
                cflags: repository::CFLAGS.to_owned(),
                compiler: repository::compiler().to_owned(),
                system: Some(system),
                ..BuildOptions::default()
            })
            .unwrap();
        let installation = obtain(&reference, &place.cache).0.unwrap();
        Variant { name: format!("{system:?}"), installation }
    });
    for variant in &built {
        check_server(&place, variant);
    }
    place.assert_clean();
    let [make, meson] = built.each_ref().map(|variant| &variant.installation.build);
    for key in [COMPILER, DEBUG_INFO, SYMBOLS, FRAME_POINTERS, ASSERTS] {
        assert_eq!(make[key], meson[key], "{key}");
    }
    for build in [make, meson] {
        assert!(build[CFLAGS].ends_with(repository::CFLAGS), "{}", build[CFLAGS]);
    }
    assert!(meson[dbms::builds::CONFIGURE].contains("--auto-features=disabled"));
    let differences = differences(built.each_ref());
    let [one] = differences.as_slice() else { panic!("{differences:?}") };
    assert!(one.text.starts_with("Make was built by make, Meson by Meson"), "{one:?}");
}
