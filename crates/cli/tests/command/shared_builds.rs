//! Builds that machines share: one builds and pushes, another gets the same build without
//! compiling. A damaged build is refused; a missing or unreachable one is built.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use testing::repository::{commit, git};

use crate::moto::Moto;
use crate::place::{Ended, Place, names};

const EMAIL: &str = "test@example.org";
const BUCKET: &str = "s3://bucket/some/prefix";
/// Builds like PostgreSQL, within a second: compiles a program that only prints its version.
const MAKEFILE: &str = "bin = $(DESTDIR)/usr/local/pgsql/bin\n\
    install:\n\
    \tmkdir -p $(bin) $(DESTDIR)/usr/local/pgsql/share\n\
    \tcc -g -o $(bin)/postgres postgres.c\n\
    \tcp $(bin)/postgres $(bin)/initdb\n\
    \tln -s postgres $(bin)/postmaster\n\
    \techo x > $(DESTDIR)/usr/local/pgsql/share/postgres.bki\n";
const PROGRAM: &str = "#include <stdio.h>\n\
    int main(void) { puts(\"postgres (PostgreSQL) 15.8\"); return 0; }\n";

/// A repository with one commit, to build from.
fn repository(place: &Place) -> PathBuf {
    let tree = place.path().join("source");
    let files = [
        ("configure", "#!/bin/sh\n"),
        ("src/Makefile.global", "with_llvm = no\n"),
        ("src/backend/Makefile", MAKEFILE),
        ("src/backend/postgres.c", PROGRAM),
        ("src/backend/parser/gram.c", ""),
    ];
    for (file, text) in files {
        let path = tree.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::set_permissions(tree.join("configure"), fs::Permissions::from_mode(0o755)).unwrap();
    git(&tree, EMAIL, &["init", "--quiet", "--initial-branch=main"]).unwrap();
    commit(&tree, EMAIL, "Say a version").unwrap();
    tree
}

/// A command on the machine that has this cache.
fn on(place: &Place, cache: &str, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("STEELYARD_CACHE", place.path().join(cache)).env("HOME", place.path());
    for name in ["AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL"] {
        command.env_remove(name);
    }
    command.env_remove("STEELYARD_BUILDS");
    command
}

/// `steelyard fetch` of the repository's commit on the machine that has this cache.
fn fetch(place: &Place, cache: &str, more: &[&str], change: impl Fn(&mut Command)) -> Ended {
    let reference = format!("git:{}#main", place.path().join("source").display());
    let mut command = on(place, cache, &[&["fetch", &reference], more].concat());
    change(&mut command);
    place.spawn(command).end()
}

fn push(place: &Place, cache: &str, address: &str) -> Ended {
    place.spawn(on(place, cache, &["push", "--builds", address])).end()
}

/// True if a build was made here, false if it was obtained from elsewhere.
fn built(ended: &Ended) -> bool {
    ended.expect(0, &[]);
    let [built, obtained] =
        ["built postgres 15.8", "obtained postgres 15.8"].map(|text| ended.stderr.contains(text));
    assert!(built != obtained, "{}", ended.stderr);
    built
}

/// The builds in a cache.
fn builds(place: &Place, cache: &str) -> Vec<String> {
    let mut names = names(&place.path().join(cache));
    names.retain(|name| !name.ends_with(".lock") && name != "archives");
    names
}

/// Files of an archive that is a directory, by their ending.
fn files(archive: &Path, ending: &str) -> Vec<PathBuf> {
    let folder = archive.join("builds");
    let mut names = names(&folder);
    names.retain(|name| name.ends_with(ending));
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// A place with a repository whose commit was built in `cache` and pushed into `archive`.
fn pushed() -> (Place, PathBuf) {
    let place = Place::new();
    repository(&place);
    assert!(built(&fetch(&place, "cache", &[], |_| ())));
    let archive = place.path().join("archive");
    push(&place, "cache", archive.to_str().unwrap()).expect(0, &[]);
    (place, archive)
}

/// A PATH with these programs alone.
fn path_of(place: &Place, programs: &[&str]) -> PathBuf {
    let directory = place.path().join("programs");
    fs::create_dir_all(&directory).unwrap();
    for program in programs {
        let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|directory| directory.join(program))
            .find(|path| path.exists());
        symlink(found.unwrap(), directory.join(program)).unwrap();
    }
    directory
}

#[test]
fn one_machine_builds_and_another_obtains() {
    let (place, archive) = pushed();
    let address = archive.to_str().unwrap();
    let again = push(&place, "cache", address);
    assert!(again.stdout.contains("is already at"), "{}", again.stdout);
    let from = ["--builds", address];

    let obtained = fetch(&place, "other", &from, |_| ());
    assert!(!built(&obtained));
    let [own, other] = ["cache", "other"].map(|cache| {
        let [name] = <[_; 1]>::try_from(builds(&place, cache)).unwrap();
        (name.clone(), place.path().join(cache).join(name))
    });
    assert_eq!(own.0, other.0);
    for file in ["bin/postgres", "bin/postmaster", "share/postgres.bki", "steelyard-build.json"] {
        let read = |root: &Path| fs::read(root.join(file)).unwrap();
        assert!(read(&own.1) == read(&other.1), "{file}");
    }
    assert_eq!(fs::read_link(other.1.join("bin/postmaster")).unwrap(), Path::new("postgres"));
    let description = fs::read_to_string(other.1.join("steelyard.json")).unwrap();
    assert!(description.contains("\"commit subject\": \"Say a version\""), "{description}");
    assert!(description.contains("\"obtained from\": \"file://"), "{description}");
    let known = fetch(&place, "other", &from, |_| ());
    assert_eq!((known.code, known.stderr.as_str()), (Some(0), ""));

    // The same bytes again, from the machine that obtained it.
    let second = place.path().join("second");
    push(&place, "other", second.to_str().unwrap()).expect(0, &[]);
    let names = |archive: &Path| -> Vec<_> {
        let files = files(archive, "").into_iter();
        files.map(|file| file.file_name().map(std::ffi::OsStr::to_owned)).collect()
    };
    assert_eq!(names(&archive), names(&second));
}

#[test]
fn a_machine_without_a_compiler_obtains_the_only_one() {
    let (place, archive) = pushed();
    let path = path_of(&place, &["git"]);
    let at = |cache: &str, from: &str| {
        fetch(&place, cache, &[], |command| {
            command.env("PATH", &path).env("STEELYARD_BUILDS", from);
        })
    };
    at("bare", "").expect(2, &["needs cc"]);
    assert!(!built(&at("bare", archive.to_str().unwrap())));
    // Now it is in the cache.
    let known = at("bare", "");
    assert_eq!((known.code, known.stderr.as_str()), (Some(0), ""));

    // A second compiler: which one is meant?
    let directory = place.path().join("second");
    other_compiler(&directory);
    let both = fetch(&place, "second-cache", &[], |command| {
        command.env("PATH", with_first(&directory));
    });
    assert!(built(&both));
    push(&place, "second-cache", archive.to_str().unwrap()).expect(0, &[]);
    assert_eq!(files(&archive, ".json").len(), 2);
    let said = at("bare-too", archive.to_str().unwrap());
    said.expect(2, &["several by different compilers", "needs cc"]);
}

/// A compiler `cc` in `directory` that reports another version.
fn other_compiler(directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    let script =
        "#!/bin/sh\n[ \"$1\" = --version ] && exec echo 'cc 99.1'\nexec /usr/bin/cc \"$@\"\n";
    fs::write(directory.join("cc"), script).unwrap();
    fs::set_permissions(directory.join("cc"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn with_first(directory: &Path) -> String {
    format!("{}:{}", directory.display(), std::env::var("PATH").unwrap())
}

#[test]
fn another_compiler_does_not_get_it() {
    let (place, archive) = pushed();
    let directory = place.path().join("compiler");
    other_compiler(&directory);
    let from = ["--builds", archive.to_str().unwrap()];
    let other = fetch(&place, "other", &from, |command| {
        command.env("PATH", with_first(&directory));
    });
    assert!(built(&other));
    assert!(other.stderr.contains("has no build of postgres"), "{}", other.stderr);
    assert_ne!(builds(&place, "cache"), builds(&place, "other"));
}

#[test]
fn what_is_damaged_is_refused_and_named() {
    let (place, archive) = pushed();
    let from = ["--builds", archive.to_str().unwrap()];
    let [packed] = <[_; 1]>::try_from(files(&archive, ".tar.gz")).unwrap();
    let [entry] = <[_; 1]>::try_from(files(&archive, ".json")).unwrap();
    let refused = |object: &Path, said: &str| {
        let name = object.file_name().unwrap().to_str().unwrap();
        fetch(&place, "other", &from, |_| ()).expect(2, &[name, said, "Nothing of it was used"]);
        assert!(builds(&place, "other").is_empty());
    };
    let whole = fs::read(&packed).unwrap();
    for length in [0, 20, whole.len() / 2, whole.len() - 1] {
        fs::write(&packed, &whole[..length]).unwrap();
        refused(&packed, &format!("found {length} bytes"));
    }
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    fs::write(&packed, &changed).unwrap();
    refused(&packed, "with SHA-256");
    fs::write(&packed, &whole).unwrap();

    let text = fs::read_to_string(&entry).unwrap();
    fs::write(&entry, &text[..text.len() / 2]).unwrap();
    refused(&entry, "not a build's entry");
    // Another build under this name.
    let other = text.replace("-fno-omit-frame-pointer", "-fomit-frame-pointer");
    assert_ne!(other, text);
    fs::write(&entry, &other).unwrap();
    refused(&packed, "another build than its name says");
    // An entry that a newer steelyard wrote is not used, but is not damaged either.
    fs::write(&entry, text.replace("\"format\": 1", "\"format\": 9")).unwrap();
    let newer = fetch(&place, "newer", &from, |_| ());
    assert!(built(&newer) && newer.stderr.contains("newer steelyard"), "{}", newer.stderr);
    fs::write(&entry, &text).unwrap();
    assert!(!built(&fetch(&place, "other", &from, |_| ())));
}

#[test]
fn a_build_that_does_not_run_here_is_made_here() {
    let place = Place::new();
    repository(&place);
    assert!(built(&fetch(&place, "cache", &[], |_| ())));
    // As if it needed a library that this machine does not have.
    let [name] = <[_; 1]>::try_from(builds(&place, "cache")).unwrap();
    let program = place.path().join("cache").join(name).join("bin/postgres");
    fs::write(&program, "#!/bin/sh\necho no such library >&2; exit 127\n").unwrap();
    let archive = place.path().join("archive");
    let address = archive.to_str().unwrap();
    push(&place, "cache", address).expect(0, &[]);
    let here = fetch(&place, "other", &["--builds", address], |_| ());
    assert!(built(&here));
    let said = here.stderr.contains("does not run on this machine");
    assert!(said && here.stderr.contains("no such library"), "{}", here.stderr);
}

#[test]
fn a_place_that_cannot_be_reached_stops_nothing() {
    let place = Place::new();
    repository(&place);
    let none = place.path().join("none");
    let here = fetch(&place, "cache", &["--builds", none.to_str().unwrap()], |_| ());
    assert!(built(&here) && !none.exists());
    assert!(here.stderr.contains("cannot obtain builds from file://"), "{}", here.stderr);
    let here = fetch(&place, "other", &["--builds", BUCKET], |command| {
        command.env("AWS_ENDPOINT_URL", "http://127.0.0.1:1").env("AWS_ALLOW_HTTP", "true");
        command.env("AWS_ACCESS_KEY_ID", "x").env("AWS_SECRET_ACCESS_KEY", "y");
    });
    assert!(built(&here));
    let lines = here.stderr.lines().filter(|line| line.contains("cannot obtain builds"));
    assert_eq!(lines.count(), 1, "{}", here.stderr);

    // An invalid address is the user's mistake.
    for command in [&["fetch", "13.7"][..], &["run", "insert", "-v", "postgres@13.7"]] {
        let command = [command, &["--builds", "ftp://host/x"]].concat();
        place.spawn(on(&place, "cache", &command)).end().expect(2, &["expected s3://"]);
    }
    let too_many = ["push", "--builds", "load", "archive"];
    place.spawn(on(&place, "cache", &too_many)).end().expect(2, &["only an address"]);
}

#[test]
fn what_cannot_be_shared_is_left_out() {
    let place = Place::new();
    repository(&place);
    assert!(built(&fetch(&place, "cache", &[], |_| ())));
    let [name] = <[_; 1]>::try_from(builds(&place, "cache")).unwrap();
    let key = place.path().join("cache").join(name).join("steelyard-build.json");
    let text = fs::read_to_string(&key).unwrap();
    fs::write(&key, text.replace("-O2", "-O2 -march=native")).unwrap();
    let ask = || push(&place, "cache", "./archive");
    ask().expect(0, &["processor of one machine"]);
    fs::remove_file(&key).unwrap();
    ask().expect(0, &["earlier steelyard"]);
    assert!(names(&place.path().join("archive")).is_empty());
}

#[test]
fn two_who_push_the_same_build_lose_nothing() {
    let place = Place::new();
    repository(&place);
    for cache in ["one", "other"] {
        assert!(built(&fetch(&place, cache, &[], |_| ())));
    }
    let archive = place.path().join("archive");
    let address = archive.to_str().unwrap();
    let running =
        ["one", "other"].map(|it| place.spawn(on(&place, it, &["push", "--builds", address])));
    for one in running {
        one.end().expect(0, &[]);
    }
    assert_eq!(files(&archive, ".json").len(), 1);
    assert_eq!(files(&archive, ".tar.gz").len(), 1, "of two builds with different paths in them");
    assert!(!built(&fetch(&place, "third", &["--builds", address], |_| ())));
}

#[test]
fn builds_go_through_object_storage() {
    let Some(moto) = Moto::start(None) else { return };
    let place = Place::new();
    repository(&place);
    assert!(built(&fetch(&place, "cache", &[], |_| ())));
    let push = || {
        let mut command = on(&place, "cache", &["push", "--builds", BUCKET]);
        moto.with(&mut command);
        place.spawn(command).end()
    };
    let from = |cache: &str, bucket: &str| {
        fetch(&place, cache, &["--builds", bucket], |command| {
            moto.with(command);
        })
    };
    let none = from("none", BUCKET);
    assert!(built(&none) && none.stderr.contains("has no build of"), "{}", none.stderr);
    let none = from("no-bucket", "s3://no-such-bucket/x");
    assert!(built(&none) && none.stderr.contains("no such bucket"), "{}", none.stderr);
    push().expect(0, &[]);
    let before = moto.log().len();
    let again = push();
    assert!(again.stdout.contains("is already at"), "{}", again.stdout);
    let requests = moto.requests(before);
    assert!(requests.len() == 1 && requests[0].starts_with("HEAD "), "{requests:?}");
    let before = moto.log().len();
    assert!(!built(&from("other", BUCKET)));
    // The entry and the file.
    assert_eq!(moto.requests(before).len(), 2, "{:?}", moto.requests(before));
}
