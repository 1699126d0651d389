//! Storage engines: a plan's `engine = "myrocks"`.

use super::binaries::Layout;
use crate::Error;

/// The file of the plugin.
const PLUGIN: &str = "ha_rocksdb.so";

/// An engine for the tables of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StorageEngine {
    InnoDb,
    MyRocks,
}

impl StorageEngine {
    /// The names in plans.
    pub(super) const NAMES: &[&str] = &["innodb", "myrocks"];

    /// The engine that a variant names; InnoDB if it names none.
    pub(super) fn of(name: Option<&str>) -> Result<Self, Error> {
        match name {
            None | Some("innodb") => Ok(Self::InnoDb),
            Some("myrocks") => Ok(Self::MyRocks),
            Some(other) => Err(Error::unsupported(
                format!("the engine {other}"),
                format!("choose one of {}", Self::NAMES.join(", ")),
            )),
        }
    }

    /// Lines of the option file that load the engine and make it the default for new tables.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the installation does not have it.
    pub(super) fn lines(self, layout: &Layout) -> Result<&'static [&'static str], Error> {
        if self == Self::InnoDb {
            return Ok(&["default_storage_engine = InnoDB"]);
        }
        let plugins = layout.plugins.as_deref();
        if plugins.is_some_and(|plugins| plugins.join(PLUGIN).exists()) {
            return Ok(&["plugin_load_add = ha_rocksdb.so", "default_storage_engine = ROCKSDB"]);
        }
        let place = plugins.map_or_else(
            || format!("{} has no directory of plugins", layout.base.display()),
            |plugins| format!("{} has no {PLUGIN}", plugins.display()),
        );
        Err(Error::unsupported(
            format!("MyRocks in {}: {place}, which", layout.program.display()),
            "use a server that has it: on Debian, apt-get install mariadb-server-core \
             mariadb-plugin-rocksdb and write mariadb@path:/usr",
        ))
    }
}
