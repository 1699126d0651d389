//! The short form: a plan without a file, as in `steelyard run insert -v postgres@13.7 -v
//! postgres@14.3`.

use std::fmt::Write as _;
use std::path::Path;

use toml::{Table, Value};

use crate::key::quoted;
use crate::near::nearest;
use crate::problem::PlanError;
use crate::types::{Given, Plan};
use crate::workloads::WorkloadPlan;

/// The command line's replacement for a plan file.
#[derive(Debug, Clone)]
pub struct ShortForm {
    /// The workload with all its defaults.
    pub workload: WorkloadPlan,
    /// Name and dbms of each variant. The first is the base; [`reference::variant_names`] makes
    /// names.
    pub variants: Vec<(String, String)>,
    /// Settings with their values, for all variants. With a variant's name and a dot in front, as
    /// in `pg14.3.work_mem`, for that one only, in which it wins.
    pub config: Vec<(String, String)>,
    /// Options of the workload by name, with their values.
    pub options: Vec<(String, String)>,
}

impl Plan {
    /// Builds the plan of a short form, with defaults for everything else.
    ///
    /// # Errors
    /// [`PlanError`] as for a plan from a file in this directory, without places.
    pub fn short(short: &ShortForm) -> Result<Plan, PlanError> {
        let name = short.workload.name();
        let mut text = String::new();
        let names: Vec<&str> = short.variants.iter().map(|(name, _)| name.as_str()).collect();
        let config = owned(&short.config, &names)
            .map_err(|message| PlanError::of("the short form", message))?;
        let settings_of = |owner: Option<&str>| -> String {
            let own = config.iter().filter(|setting| setting.owner == owner);
            own.map(|it| format!("{} = {}\n", quoted(it.name), quoted(it.value))).collect()
        };
        let _ = write!(text, "[config]\n{}", settings_of(None));
        for (name, dbms) in &short.variants {
            let (own, name) = (settings_of(Some(name)), quoted(name));
            let _ = writeln!(text, "[variants.{name}]\ndbms = {}", quoted(dbms));
            let _ = write!(text, "[variants.{name}.config]\n{own}");
        }
        let (keys, lines) = section(&short.workload, &short.options, "the short form")?;
        let _ = write!(text, "[workload.{name}]\n{lines}");
        let read = |text: &str| {
            let plan = Plan::parse(text, Some(Path::new(".")), "the short form");
            plan.map_err(PlanError::without_places)
        };
        let mut plan = read(&text)?;
        plan.settle_seconds_scale = plan.workload.family_mut().shorten(&|key| keys.contains(&key));
        let again = read(&plan.to_toml())?;
        Ok(Plan { given: plan.given, added: plan.added, ..again })
    }

    /// This plan with other options of its workload, as (name, value).
    ///
    /// # Errors
    /// [`PlanError`] as for a plan from a file; it names `origin`.
    pub fn with_options(
        &self,
        options: &[(String, String)],
        origin: &str,
    ) -> Result<Plan, PlanError> {
        let (keys, lines) = section(&self.workload, options, origin)?;
        let unreadable = |error: toml::de::Error| PlanError::of(origin, error.to_string());
        let mut whole: Table = self.to_toml().parse().map_err(unreadable)?;
        let steps = keys.contains(&"steps") || self.workload.tells_preparation();
        if steps && self.restore_after.is_some() && self.restore_after == self.added_load() {
            // Chosen for the steps of before; chosen again when the plan is read.
            whole.remove("restore_after");
        }
        let new: Table = lines.parse().map_err(unreadable)?;
        let workload = whole.get_mut("workload").and_then(Value::as_table_mut);
        let own = workload.and_then(|all| all.get_mut(self.workload.name())?.as_table_mut());
        let missing = || PlanError::of(origin, "expected a workload, found none".to_owned());
        own.ok_or_else(missing)?.extend(new);
        // Line numbers would refer to text the user has never seen.
        let plan = Plan::parse(&whole.to_string(), None, origin);
        let plan = plan.map_err(PlanError::without_places)?;
        // The user did not write all keys of the section made for it.
        let of_seconds = self.workload.family().keys_of_seconds();
        let seconds = self.given.seconds || keys.iter().any(|key| of_seconds.contains(key));
        let added = if steps { plan.added } else { self.added.clone() };
        Ok(Plan { given: Given { seconds, ..self.given }, added, ..plan })
    }
}

/// A setting of a short form.
struct Setting<'a> {
    /// The variant that has it; `None`: all.
    owner: Option<&'a str>,
    name: &'a str,
    value: &'a str,
}

/// Settings with the variants that they are for. The names of settings contain dots themselves, as
/// in `auto_explain.log_min_duration`, so that only what equals a variant's name is one.
fn owned<'a>(
    config: &'a [(String, String)],
    variants: &[&'a str],
) -> Result<Vec<Setting<'a>>, String> {
    let owned = |(key, value): &'a (String, String)| {
        let rest = |name: &&'a str| Some((*name, key.strip_prefix(*name)?.strip_prefix('.')?));
        // `pg14.3` also begins with `pg14.`, but no setting with a digit.
        let named = |(_, rest): &(&str, &str)| !rest.starts_with(|c: char| c.is_ascii_digit());
        let own = variants.iter().filter_map(rest).filter(named).max_by_key(|it| it.0.len());
        if let Some((owner, name)) = own {
            return Ok(Setting { owner: Some(owner), name, value });
        }
        match mistaken(key, variants) {
            Some((prefix, near)) => Err(format!(
                "`-c {key}`: no variant is named `{prefix}`; did you mean `{near}`? If the setting's own name begins with `{prefix}.`, give the variant another name, as in -v new=postgres@14.3"
            )),
            None => Ok(Setting { owner: None, name: key, value }),
        }
    };
    config.iter().map(owned).collect()
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

/// The keys that options of a workload stand for, and their lines in its section.
fn section(
    workload: &WorkloadPlan,
    options: &[(String, String)],
    origin: &str,
) -> Result<(Vec<&'static str>, String), PlanError> {
    let (mut keys, mut lines) = (Vec::new(), String::new());
    for (option, value) in options {
        let known = workload.options().iter().find(|known| known.name == option);
        let line = match known {
            Some(known) => known.line(value),
            None => Err(format!("`--{option}` is not an option of `{}`", workload.name())),
        };
        lines.push_str(&line.map_err(|message| PlanError::of(origin, message))?);
        keys.extend(known.map(|known| known.key));
    }
    Ok((keys, lines))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use proptest::prelude::*;

    fn short(variants: Vec<(String, String)>, options: &[(&str, &str)]) -> Result<Plan, PlanError> {
        Plan::short(&ShortForm {
            workload: WorkloadPlan::named("insert").unwrap(),
            variants,
            config: vec![("work_mem".to_owned(), "1MB".to_owned())],
            options: options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        })
    }

    #[test]
    fn the_short_form_is_checked() {
        let one = || vec![("pg13.7".to_owned(), "postgres@13.7".to_owned())];
        let plan = short(one(), &[("rows", "2m"), ("dop", "1,4"), ("shared-table", "")]).unwrap();
        assert_eq!((plan.name.as_str(), plan.base.as_str(), plan.blocks), ("insert", "pg13.7", 6));
        assert_eq!(plan.variants[0].config["work_mem"], "1MB");
        assert_eq!(plan.workload.rows(), [2_000_000, 500_000], "in proportion");
        assert_eq!(plan.workload.sequences().len(), 2);
        assert!((plan.settle_seconds_scale - 0.1).abs() < 1e-12);
        let rows = |options| short(one(), options).unwrap().workload.rows();
        assert_eq!(short(one(), &[("steps", "qr100")]).unwrap().added, ["l.i0", "l.x"]);
        assert_eq!(rows(&[]), [200_000, 50_000]);
        assert_eq!(rows(&[("rows", "8000"), ("indexed-rows", "6_000")]), [8_000, 6_000]);
        for (options, message) in [
            (&[("rows", "many")][..], "`--rows`: expected a count above 0 such as 200000, 200k"),
            (&[("steps", "l.i0,l.y")], "unknown step `l.y`; did you mean `l.x`?"),
            (&[("threads", "4")], "`--threads` is not an option of `insert`"),
            (&[("rows", "3"), ("dop", "4")], "`rows` = 3 is fewer than `dop` = 4"),
        ] {
            let error = short(one(), options).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the short form: {message}")), "{error}");
        }
        let none = short(vec![], &[]).unwrap_err();
        assert!(none.to_string().starts_with("the short form: no variants"), "{none}");
    }

    #[test]
    fn a_setting_may_be_of_one_variant() {
        let planned = |settings: &[(&str, &str)]| {
            let pair = |(one, other): &(&str, &str)| ((*one).to_owned(), (*other).to_owned());
            let variants = [("pg14", "postgres@14"), ("pg14.3", "postgres@14.3")];
            Plan::short(&ShortForm {
                workload: WorkloadPlan::named("insert").unwrap(),
                variants: variants.iter().map(pair).collect(),
                config: settings.iter().map(pair).collect(),
                options: Vec::new(),
            })
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

    #[test]
    fn options_replace_what_a_plan_says() {
        let text = "restore_after = 'index'\nrenamed = { a = 'b' }\n[config]\nwork_mem = '1MB'\n\
            [variants.pg9]\ndbms = 'postgres@9.6'\n[variants.pg10]\ndbms = 'postgres@10'\n\
            config = { jit = 'off' }\n\
            [workload.sysbench]\nrows = 5000\ndrop = ['scan']\n[count]\nrows = 7\n";
        let plan = Plan::parse(text, None, "a.toml").unwrap();
        let options = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let subset = plan.with_options(&options("steps", "scan,update-zipf"), "a.toml").unwrap();
        let steps: Vec<_> = subset.workload.sequences().remove(0).steps;
        let names: Vec<_> = steps.iter().map(|step| step.key.name.as_str()).collect();
        assert_eq!(names, ["load", "index", "scan", "update-zipf"]);
        assert_eq!(subset.added, ["load", "index"]);
        assert_eq!(subset.workload.rows(), plan.workload.rows());
        assert_eq!((&subset.variants, subset.blocks), (&plan.variants, plan.blocks));
        let meant = |plan: &Plan| Plan { text: String::new(), ..plan.clone() };
        assert_eq!(meant(&plan.with_options(&[], "a.toml").unwrap()), meant(&plan));
        // The run still chooses what the user hasn't.
        let designs =
            |plan: Plan| Plan { budget: Some(Duration::from_secs(9)), ..plan }.designs_itself();
        assert!(designs(subset));
        assert!(!designs(plan.with_options(&options("read-seconds", "3"), "a.toml").unwrap()));
        for (name, value, message) in [
            ("steps", "scam", "a.toml: unknown step `scam`; did you mean `scan`?"),
            ("shared-table", "", "a.toml: `--shared-table` is not an option of `sysbench`"),
        ] {
            let error = plan.with_options(&options(name, value), "a.toml").unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_name_is_fit_for_a_plan(dbms in "\\PC{1,80}") {
            let names = reference::variant_names(&[&dbms, &dbms]);
            let variants = names.into_iter().map(|n| (n, dbms.clone())).collect();
            let plan = short(variants, &[]);
            prop_assert!(plan.is_ok(), "{}", plan.unwrap_err());
        }
    }
}
