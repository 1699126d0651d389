//! The short form: a plan without a file, as `steelyard run insert -v postgres@13.7 -v postgres@14.3` makes it.

use std::collections::BTreeMap;

use crate::check::check;
use crate::count::CountPlan;
use crate::problem::{PlanError, Problems};
use crate::types::{
    DEFAULT_MARGIN, DEFAULT_PROFILE_SECONDS, DEFAULT_REPEATS, DEFAULT_STEAL_LIMIT, Pairing, Plan,
    Variant, WorkloadPlan,
};

impl Plan {
    /// A plan of variants (name and dbms), a workload, a number of blocks and perhaps a seed; all else by default.
    ///
    /// The first variant is the base. [`crate::variant_names`] makes names.
    ///
    /// # Errors
    /// [`PlanError::Invalid`] as for a plan from a file, without places.
    pub fn short(
        name: &str,
        variants: Vec<(String, String)>,
        workload: WorkloadPlan,
        blocks: u32,
        seed: Option<u64>,
    ) -> Result<Plan, PlanError> {
        let variants: Vec<Variant> = variants
            .into_iter()
            .map(|(name, dbms)| Variant {
                name,
                dbms,
                build: None,
                config: BTreeMap::new(),
                config_file: None,
                config_text: None,
                initdb: Vec::new(),
                memory_limit: None,
                twin_of: None,
            })
            .collect();
        let mut plan = Plan {
            name: name.to_owned(),
            base: variants.first().map(|v| v.name.clone()).unwrap_or_default(),
            blocks,
            seed,
            margin: DEFAULT_MARGIN,
            settle_seconds_scale: 1.0,
            pairing: Pairing::Blocks,
            slice_ms: None,
            restore_after: None,
            steal_limit: DEFAULT_STEAL_LIMIT,
            repeats: DEFAULT_REPEATS,
            precision: None,
            max_blocks: None,
            budget: None,
            profile: false,
            profile_seconds: DEFAULT_PROFILE_SECONDS,
            variants,
            workload,
            count: CountPlan::default(),
            text: String::new(),
        };
        let mut problems = Problems::new("", "command line");
        check(&plan, &mut problems);
        problems.finish()?;
        plan.text = plan.to_toml();
        // What single keys must fulfil is known to the reader of plans only.
        Plan::parse(&plan.text, None, "the plan made from the command line")
    }
}

/// A name for a variant: `postgres@13.7` → `pg13.7`, `path:/opt/pg-new` → `pg-new`,
/// `path:/usr/lib/postgresql/15` → `pg15`, `git:~/src/postgres#REL_14_3` → `pg-REL_14_3`, `src:postgresql-15.8.tar.bz2` →
/// `pg-postgresql-15.8`, `postgres://user:secret@db:5432/x` → `pg-db`.
pub fn variant_name(dbms: &str) -> String {
    let raw = if let Some(rest) = after_scheme(dbms) {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = match host.rsplit_once(':') {
            Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host,
            _ => host,
        };
        let host = host.trim_matches(['[', ']']);
        format!("pg-{}", if host.is_empty() { "local" } else { host })
    } else if let Some(source) = sourced(dbms, "git:") {
        let revision = source.rsplit_once('#').map_or("HEAD", |(_, revision)| revision);
        // A whole commit is longer than people care for.
        let digits = revision.len() >= 40 && revision.chars().all(|c| c.is_ascii_hexdigit());
        format!("pg-{}", if digits { &revision[..10] } else { revision })
    } else if let Some(path) = sourced(dbms, "src:") {
        let file = path.rsplit('/').next().unwrap_or_default();
        format!("pg-{}", file.split(".tar").next().unwrap_or_default())
    } else if let Some(path) = sourced(dbms, "path:") {
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if last.starts_with(|c: char| c.is_ascii_digit()) {
            format!("pg{last}")
        } else {
            last.to_owned()
        }
    } else if let Some((system, version)) = dbms.split_once('@') {
        let short = match system {
            "postgres" | "postgresql" => "pg",
            "mysql" => "my",
            "rocksdb" => "rx",
            other => other,
        };
        format!("{short}{version}")
    } else {
        dbms.to_owned()
    };
    let clean: String = raw
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .take(60)
        .collect();
    let clean = clean.trim_matches(['.', '-']);
    if clean.is_empty() { "variant".to_owned() } else { clean.to_owned() }
}

/// What stands behind `kind`, with or without the system before it.
fn sourced<'d>(dbms: &'d str, kind: &str) -> Option<&'d str> {
    dbms.strip_prefix("postgres@").unwrap_or(dbms).strip_prefix(kind)
}

fn after_scheme(dbms: &str) -> Option<&str> {
    let (scheme, rest) = dbms.split_once("://")?;
    matches!(scheme, "postgres" | "postgresql").then_some(rest)
}

/// Names for several variants, all different: a name that comes again gets a number, `pg13.7`, `pg13.7-2`.
pub fn variant_names<S: AsRef<str>>(dbms: &[S]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for reference in dbms {
        let name = variant_name(reference.as_ref());
        let mut candidate = name.clone();
        let mut number = 2;
        while names.contains(&candidate) {
            candidate = format!("{name}-{number}");
            number += 1;
        }
        names.push(candidate);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insert::InsertPlan;
    use proptest::prelude::*;

    #[test]
    fn names() {
        for (dbms, name) in [
            ("postgres@13.7", "pg13.7"),
            ("postgres@14", "pg14"),
            ("mysql@8.0.28", "my8.0.28"),
            ("path:/usr/lib/postgresql/15", "pg15"),
            ("path:/opt/pg-new/", "pg-new"),
            ("postgres://me:secret@db.example:5432/x", "pg-db.example"),
            ("postgresql:///x?host=/run", "pg-local"),
            ("postgres://[::1]:5432/x", "pg---1"),
            ("path:/", "variant"),
            ("postgres@path:/opt/pg-new", "pg-new"),
            ("postgres@git:~/src/postgres#REL_14_3", "pg-REL_14_3"),
            ("git:https://example.org/pg#origin/master", "pg-origin-master"),
            ("git:/srv/pg#0123456789abcdef0123456789abcdef01234567", "pg-0123456789"),
            ("git:/srv/pg", "pg-HEAD"),
            ("src:/tmp/postgresql-15.8.tar.bz2", "pg-postgresql-15.8"),
        ] {
            assert_eq!(variant_name(dbms), name, "{dbms}");
        }
        assert_eq!(
            variant_names(&["postgres@13.7", "postgres@13.7", "postgres@14.3", "postgres@13.7"]),
            ["pg13.7", "pg13.7-2", "pg14.3", "pg13.7-3"]
        );
    }

    #[test]
    fn the_short_form_is_checked() {
        let workload = || WorkloadPlan::Insert(InsertPlan::default());
        let plan = Plan::short(
            "demo",
            vec![("pg13.7".into(), "postgres@13.7".into())],
            workload(),
            2,
            Some(5),
        )
        .unwrap();
        assert_eq!((plan.base.as_str(), plan.blocks, plan.seed), ("pg13.7", 2, Some(5)));
        let none = Plan::short("demo", vec![], workload(), 2, None).unwrap_err();
        assert!(none.to_string().starts_with("command line: no variants"), "{none}");
        let zero =
            Plan::short("demo", vec![("a".into(), "postgres@13.7".into())], workload(), 0, None);
        assert!(zero.unwrap_err().to_string().contains("`blocks`"));
    }

    proptest! {
        #[test]
        fn every_name_is_fit_for_a_plan(dbms in "\\PC{1,80}") {
            let names = variant_names(&[&dbms, &dbms]);
            let variants = names.into_iter().map(|n| (n, dbms.clone())).collect();
            let plan = Plan::short("x", variants, WorkloadPlan::Insert(InsertPlan::default()), 1, None);
            prop_assert!(plan.is_ok(), "{}", plan.unwrap_err());
        }
    }
}
