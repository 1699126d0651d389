//! Settings of a server that the command line gives to one variant.

use crate::near::nearest;

/// The path of a setting in a plan with these variants. With a variant's name and a dot in front,
/// as in `pg14.3.work_mem`, it is that one's. The names of settings contain dots themselves, as in
/// `auto_explain.log_min_duration`, so a prefix counts only if it is a variant's name.
pub(crate) fn owned<'k>(key: &'k str, variants: &[&'k str]) -> Result<Vec<&'k str>, String> {
    let rest = |name: &&'k str| Some((*name, key.strip_prefix(*name)?.strip_prefix('.')?));
    // `pg14.3` also begins with `pg14.`, but no setting with a digit.
    let named = |(_, rest): &(&str, &str)| !rest.starts_with(|c: char| c.is_ascii_digit());
    let own = variants.iter().filter_map(rest).filter(named).max_by_key(|it| it.0.len());
    if let Some((owner, name)) = own {
        return Ok(vec!["variants", owner, "config", name]);
    }
    match mistaken(key, variants) {
        Some((prefix, near)) => Err(format!(
            "`-c {key}`: no variant is named `{prefix}`; did you mean `{near}`? If the setting's own name begins with `{prefix}.`, give the variant another name, as in -v new=postgres@14.3"
        )),
        None => Ok(vec!["config", key]),
    }
}

/// A beginning of a setting's name that is nearly a variant's name, and that name.
fn mistaken<'k, 'v>(key: &'k str, variants: &[&'v str]) -> Option<(&'k str, &'v str)> {
    let mut prefixes: Vec<&str> = key.match_indices('.').map(|(end, _)| &key[..end]).collect();
    prefixes.reverse();
    prefixes.into_iter().find_map(|prefix| {
        // Such as `pg14` for `pg14.3`.
        let begins = |name: &&&str| name.strip_prefix(prefix).is_some_and(|it| it.starts_with('.'));
        let longer = variants.iter().find(begins).copied();
        Some((prefix, longer.or_else(|| nearest(prefix, variants.iter().copied()))?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layer, Plan, WorkloadPlan};

    #[test]
    fn a_setting_may_be_of_one_variant() {
        let planned = |settings: &[(&str, &str)]| {
            let mut layer = Layer::default();
            for (name, dbms) in [("pg14", "postgres@14"), ("pg14.3", "postgres@14.3")] {
                layer.set("-v", &["variants", name, "dbms"], &dbms);
            }
            settings.iter().for_each(|(key, value)| layer.config(key, value));
            Plan::short(&WorkloadPlan::named("insert").unwrap(), &layer)
        };
        let plan = planned(&[
            ("pg14.3.work_mem", "2MB"),
            ("work_mem", "1MB"),
            ("pg14.jit", "off"),
            ("pg_stat_statements.track", "all"),
            ("pg14.3.auto_explain.log_min_duration", "0"),
        ]);
        let plan = plan.unwrap();
        let of = |at: usize| -> Vec<String> {
            let config = plan.variants[at].config.iter();
            config.map(|(name, value)| format!("{name}={value}")).collect()
        };
        assert_eq!(of(0), ["jit=off", "pg_stat_statements.track=all", "work_mem=1MB"]);
        let second =
            ["auto_explain.log_min_duration=0", "pg_stat_statements.track=all", "work_mem=2MB"];
        assert_eq!(of(1), second);
        for (key, prefix, near) in [
            ("pg14.4.work_mem", "pg14.4", "pg14.3"),
            ("pg15.work_mem", "pg15", "pg14"),
            ("PG14.3.auto_explain.log_min_duration", "PG14.3", "pg14.3"),
        ] {
            let error = planned(&[(key, "1")]).unwrap_err().to_string();
            let said = format!("no variant is named `{prefix}`; did you mean `{near}`?");
            assert!(error.starts_with(&format!("the short form: `-c {key}`: {said}")), "{error}");
        }
    }

    #[test]
    fn the_start_of_a_variants_name_is_no_variant() {
        assert_eq!(mistaken("pg13.work_mem", &["pg13.7"]), Some(("pg13", "pg13.7")));
        assert_eq!(mistaken("citus.shard_count", &["citus12"]), None);
        assert_eq!(mistaken("work_mem", &["work_men"]), None);
    }
}
