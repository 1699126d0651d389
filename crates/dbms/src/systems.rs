//! The registry of systems under test: one line each.

use std::sync::{PoisonError, RwLock};

use crate::builds::{Compared, Difference, differing_builds};
use crate::kind::Kind;

/// The systems of this crate. The first is what `path:`, `git:` and `src:` without a name mean.
const SYSTEMS: [&dyn Kind; 6] = [
    &crate::postgres::Postgres,
    &crate::mysql::MYSQL,
    &crate::mysql::MARIADB,
    &crate::rocksdb::RocksDb,
    &crate::nothing::Nothing,
    &crate::nothing::BlockDevice,
];

/// Systems that were added to them.
static ADDED: RwLock<Vec<&'static dyn Kind>> = RwLock::new(Vec::new());

/// Adds a kind of system that this crate does not have, such as one for a test.
pub fn register(kind: &'static dyn Kind) {
    ADDED.write().unwrap_or_else(PoisonError::into_inner).push(kind);
}

/// All kinds, the default one first.
pub(crate) fn all() -> Vec<&'static dyn Kind> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    SYSTEMS.into_iter().chain(added.iter().copied()).collect()
}

/// The kind called `name`.
pub(crate) fn find(name: &str) -> Option<&'static dyn Kind> {
    all().into_iter().find(|kind| kind.name() == name)
}

/// The kind that a plan means if it names none.
pub(crate) fn default() -> &'static dyn Kind {
    SYSTEMS[0]
}

/// What must be shown with a comparison of `variants` because they differ in more than their
/// versions. A fact known for only one of them is not a difference.
///
/// ```
/// use dbms::{Compared, Installation};
/// let installation = |version: &str, compiler: &str| Installation {
///     dbms: "postgres".to_owned(),
///     version: version.to_owned(),
///     source: String::new(),
///     bin_dir: Some("/opt/pg/bin".into()),
///     build: [("compiler".to_owned(), compiler.to_owned())].into(),
/// };
/// let one = installation("13.7", "gcc (Debian 8.3.0-6) 8.3.0");
/// let other = installation("14.3", "gcc (Debian 10.2.1-6) 10.2.1 20210110");
/// let of = |name, installation| Compared { name, installation, initdb: &[] };
/// assert_eq!(
///     dbms::differences(&[of("pg13.7", &one), of("pg14.3", &other)])[0].text,
///     "pg13.7 was compiled by GCC 8.3.0, pg14.3 by GCC 10.2.1: differences may come from the compiler"
/// );
/// ```
pub fn differences(variants: &[Compared<'_>]) -> Vec<Difference> {
    let builds: Vec<_> =
        variants.iter().map(|variant| (variant.name, &variant.installation.build)).collect();
    let builds = differing_builds(&builds).into_iter();
    let mut found: Vec<_> = builds.map(|text| Difference { code: "builds-differ", text }).collect();
    for kind in all() {
        // Data of other servers is not considered.
        let own = variants.iter().filter(|variant| {
            variant.installation.dbms == kind.name() && variant.installation.is_ours()
        });
        found.extend(kind.differences(&own.copied().collect::<Vec<_>>()));
    }
    found
}
