//! Helpers for tests of real servers: one cache for all, a ledger and a directory for each.

pub mod repository;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dbms::{
    Cache, Endpoint, Error, Host, Installation, Ledger, Reference, Server, ServerSpec, ServerUser,
    System,
};

/// A place for one test.
pub struct Place {
    pub directory: tempfile::TempDir,
    pub cache: Cache,
    pub ledger: Ledger,
}

impl Place {
    pub fn new() -> Self {
        let directory = testing::directory();
        let ledger = Ledger::open(directory.path().join("ledger")).unwrap();
        Self { directory, cache: Cache::open_default().unwrap(), ledger }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn trial(&self) -> PathBuf {
        self.path().join("trial")
    }

    /// A running server with small buffers and the given settings.
    pub fn start(
        &self,
        variant: &Variant,
        config: &[(&str, &str)],
    ) -> Result<Box<dyn System>, Error> {
        self.start_in(variant, config, &self.trial())
    }

    pub fn start_in(
        &self,
        variant: &Variant,
        config: &[(&str, &str)],
        directory: &Path,
    ) -> Result<Box<dyn System>, Error> {
        let mut settings = BTreeMap::from([("shared_buffers".to_owned(), "16MB".to_owned())]);
        settings
            .extend(config.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        dbms::start(ServerSpec { config: settings, ..self.spec(variant, directory) })
    }

    pub fn spec<'a>(&'a self, variant: &'a Variant, directory: &'a Path) -> ServerSpec<'a> {
        let Variant { name, installation } = variant;
        let user = ServerUser::choose(None).unwrap();
        ServerSpec::new(name, installation, directory, user, &self.cache, &self.ledger)
    }

    /// Nothing is recorded, and only the ledger is left in the test's directory.
    pub fn assert_clean(&self) {
        assert!(self.ledger.records().unwrap().is_empty(), "entries are left in the ledger");
        let left: Vec<_> = std::fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name != "ledger" && name != "cache")
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

/// A variant that was obtained.
pub struct Variant {
    pub name: String,
    pub installation: Installation,
}

/// Obtains `text`; `None`, with the reason printed, if it is an installation that is not on this
/// machine.
pub fn variant(text: &str) -> Option<Variant> {
    if let Some(path) = text.strip_prefix("path:")
        && !Path::new(path).exists()
    {
        testing::skip(format_args!("{path} is not installed"));
        return None;
    }
    let reference: Reference = text.parse().unwrap();
    let installation =
        dbms::obtain(&reference, &Cache::open_default().unwrap(), &|line| eprintln!("{line}"))
            .unwrap();
    Some(Variant { name: text.to_owned(), installation })
}

/// MariaDB with MyRocks: that of `DBMS_TEST_MYROCKS`, or Debian's if it is installed.
pub fn with_myrocks() -> Option<Variant> {
    let path = std::env::var("DBMS_TEST_MYROCKS").unwrap_or_else(|_| "/usr".to_owned());
    if !Path::new(&path).join("lib/mysql/plugin/ha_rocksdb.so").exists() {
        testing::skip(format_args!("{path} has no MyRocks"));
        return None;
    }
    variant(&format!("mariadb@path:{path}"))
}

/// The named variants, if available here, and those of the same systems in the environment variable
/// `DBMS_TEST_VERSIONS`, such as `postgres@9.6.24 postgres@18.1`.
pub fn variants(texts: &[&str]) -> Vec<Variant> {
    let more = std::env::var("DBMS_TEST_VERSIONS").unwrap_or_default();
    let system = |text: &str| text.split_once('@').map_or("", |(name, _)| name).to_owned();
    let same = |text: &&str| texts.iter().any(|own| system(own) == system(text));
    let more = more.split_ascii_whitespace().filter(same);
    texts.iter().copied().chain(more).filter_map(variant).collect()
}

pub fn socket_directory(server: &dyn System) -> PathBuf {
    match server.endpoint() {
        Endpoint::Postgres(Server { host: Host::Socket(file), .. }) => {
            file.parent().unwrap().to_owned()
        }
        other => panic!("expected a socket, found {other}"),
    }
}

/// Processes whose working directory is below `directory`.
pub fn processes_in(directory: &Path) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|pid| {
            std::fs::read_link(format!("/proc/{pid}/cwd"))
                .is_ok_and(|cwd| cwd.starts_with(directory))
        })
        .collect()
}

pub fn names(tables: &[&str]) -> Vec<String> {
    tables.iter().map(|table| (*table).to_owned()).collect()
}

/// Waits until a condition holds.
pub fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{what} does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// True if any of `objects` still exists.
pub fn ipc_exists(objects: &dbms::IpcObjects) -> bool {
    let listed = |path: &str, id: i32| {
        let list = std::fs::read_to_string(path).unwrap();
        list.lines().any(|line| line.split_ascii_whitespace().nth(1) == Some(&id.to_string()))
    };
    objects.segments.iter().any(|(id, _)| listed("/proc/sysvipc/shm", *id))
        || objects.semaphores.iter().any(|set| listed("/proc/sysvipc/sem", set.id))
        || objects.files.iter().any(|(name, _)| Path::new("/dev/shm").join(name).exists())
}
