//! The registry of systems under test: one line each.

use crate::api::builds::{Compared, Difference, differing_builds, grouped};
use crate::api::kind::{Kind, RELAXED};
use crate::{Durability, Error, Installation};

/// All systems. `path:`, `git:` and `src:` without a name mean the first.
pub(crate) const SYSTEMS: [&dyn Kind; 6] = [
    &crate::postgres::Postgres,
    &crate::mysql::MYSQL,
    &crate::mysql::MARIADB,
    &crate::rocksdb::RocksDb,
    &crate::nothing::Nothing,
    &crate::nothing::BlockDevice,
];

/// The kind called `name`.
pub(crate) fn find(name: &str) -> Option<&'static dyn Kind> {
    SYSTEMS.into_iter().find(|kind| kind.name() == name)
}

/// The kind of `installation`.
///
/// # Errors
/// [`Error::Unsupported`] if this version does not have it.
pub(crate) fn of(installation: &Installation) -> Result<&'static dyn Kind, Error> {
    let what = || format!("the system {}", installation.dbms);
    find(&installation.dbms)
        .ok_or_else(|| Error::unsupported(what(), "obtain it with this version"))
}

/// The kind that a plan means if it names none.
pub(crate) fn default() -> &'static dyn Kind {
    SYSTEMS[0]
}

/// Differences between `variants` other than their versions that must be shown with a comparison. A
/// fact known for only one of them is not a difference.
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
/// let of = |name, installation| Compared {
///     name,
///     installation,
///     initdb: &[],
///     engine: None,
///     durability: None,
/// };
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
    found.extend(differing_systems(variants));
    for kind in SYSTEMS {
        // Data of other servers is not considered.
        let own = variants.iter().filter(|variant| {
            variant.installation.dbms == kind.name() && variant.installation.is_ours()
        });
        found.extend(kind.differences(&own.copied().collect::<Vec<_>>()));
    }
    found
}

/// The inherent differences between variants of different systems.
fn differing_systems(variants: &[Compared<'_>]) -> Option<Difference> {
    // The known facts about each, by the name of its first variant.
    let mut natures: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for variant in variants {
        let nature = find(&variant.installation.dbms)?.nature(variant.engine);
        if !nature.is_empty() && natures.iter().all(|(_, known)| *known != nature) {
            natures.push((variant.name, nature));
        }
    }
    let (_, first) = natures.first().filter(|_| natures.len() > 1)?;
    let levels: Vec<_> = variants.iter().map(|variant| variant.durability).collect();
    let relaxed = levels.iter().all(|level| *level == Some(Durability::Relaxed));
    let subject = |(place, (subject, _)): (usize, &(&str, &str))| {
        let values = grouped(&natures, |nature| nature.get(place).map(|(_, value)| *value));
        let each = values.iter().map(|(value, names)| format!("{value} ({})", names.join(", ")));
        let differs = values.len() > 1 && (*subject != RELAXED || relaxed);
        differs.then(|| format!("{subject}: {}", each.collect::<Vec<_>>().join(", ")))
    };
    let mut subjects: Vec<String> = first.iter().enumerate().filter_map(subject).collect();
    if levels.contains(&None) {
        let commits = "what a commit waits for: as the settings of each say (set durability in the \
                       plan to make them alike)";
        subjects.push(commits.to_owned());
    }
    let text = format!("these are different systems; {}", subjects.join("; "));
    Some(Difference { code: "systems-differ", text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_systems_is_named_once() {
        let installation = |dbms: &str| Installation {
            dbms: dbms.to_owned(),
            version: "1".to_owned(),
            source: String::new(),
            bin_dir: None,
            build: Default::default(),
        };
        let [pg, my, maria] = ["postgres", "mysql", "mariadb"].map(installation);
        let of = |variants: &[(&'static str, &Installation, Option<&'static str>)], durability| {
            let variants: Vec<Compared<'_>> = variants
                .iter()
                .map(|&(name, installation, engine)| Compared {
                    name,
                    installation,
                    initdb: &[],
                    engine,
                    durability,
                })
                .collect();
            differing_systems(&variants).map(|difference| difference.text)
        };
        let all = [("pg", &pg, None), ("my", &my, None), ("ma", &maria, None)];
        let text = of(&all, None).unwrap();
        for part in ["isolation: read committed (pg), repeatable read (my);", "set durability"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("(ma)"), "{text}");
        assert!(!of(&all, Some(Durability::Full)).unwrap().contains("relaxed"));
        assert_eq!(of(&all[1..], None), None);
        let relaxed = Some(Durability::Relaxed);
        let rocks = ("rocks", &maria, Some("myrocks"));
        let text = of(&[all[0], all[1], rocks], relaxed).unwrap();
        for part in [
            "isolation: read committed (pg), repeatable read (my, rocks);",
            "of each page (my), of each block (rocks)",
            "the server or the machine fails (pg), those of about the last second",
        ] {
            assert!(text.contains(part), "{text}");
        }
        let text = of(&[all[1], rocks], relaxed).unwrap();
        assert!(!text.contains("isolation") && !text.contains("relaxed"), "{text}");
    }
}
