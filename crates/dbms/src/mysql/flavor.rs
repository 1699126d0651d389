//! The differences between MySQL and MariaDB before a server runs.

use super::archive;
use crate::api::kind::Archive;

/// One of the two.
#[derive(Debug)]
pub(super) struct Flavor {
    /// Its name in plans.
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) shown: &'static str,
    /// Names of the server's program, the newest first.
    pub(super) programs: &'static [&'static str],
    /// Where its released versions are.
    pub(super) archives: fn() -> Vec<Archive>,
    /// From which version on (as in [`super::version::Version`]) the server itself creates a data
    /// directory. Earlier ones are given the statements that make their system tables.
    pub(super) initializes: u32,
    /// Lines of the option file that a start needs, each from a version on, unless the plan says
    /// otherwise.
    pub(super) needs: &'static [(u32, &'static str)],
}

/// For rows in bulk; MySQL 8.0 has it off by default.
const LOADS: (u32, &str) = (0, "local_infile = 1");

pub(super) const MYSQL: Flavor = Flavor {
    name: "mysql",
    shown: "MySQL",
    programs: &["mysqld"],
    archives: archive::mysql,
    initializes: 50_700,
    needs: &[
        LOADS,
        // On by default since 8.0, off in all others.
        (80_000, "skip_log_bin"),
        // Its other protocol would have a socket in /tmp. Some builds lack it.
        (80_000, "loose_mysqlx = OFF"),
    ],
};

pub(super) const MARIADB: Flavor = Flavor {
    name: "mariadb",
    shown: "MariaDB",
    programs: &["mariadbd", "mysqld"],
    archives: archive::mariadb,
    initializes: u32::MAX,
    needs: &[
        LOADS,
        // Otherwise it makes a certificate at every start, which takes seconds.
        (110_400, "skip_ssl"),
    ],
};
