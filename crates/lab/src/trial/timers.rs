//! Settings that go by the clock, for servers that are frozen while others have the load.
//!
//! The clock goes on while a server is frozen. So if n servers share the load, a period must be n
//! times as long, and a rate n times as low, to stay the same in the server's own time.

use std::collections::BTreeMap;

use crate::subject::Subject;

/// The settings to add to `config` for a variant's server, one of this many that are up together:
/// those that nobody has set.
pub fn settings(
    servers: usize,
    subject: &Subject,
    config: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let text = subject.variant.config_text.as_deref().unwrap_or_default();
    let same = |name: &str, timer: &str| dbms::same_setting(&subject.installation, name, timer);
    let is_set = |timer: &str| {
        config.keys().any(|name| same(name, timer))
            || text.lines().any(|line| same(reference::setting_of(line), timer))
    };
    let parts = u32::try_from(servers).unwrap_or(u32::MAX);
    let engine = subject.variant.engine.as_deref();
    let timers = dbms::timers(&subject.installation, engine).unwrap_or_default();
    let own = timers
        .iter()
        .filter(|timer| !is_set(timer.name) && !timer.unless.iter().any(|other| is_set(other)));
    own.map(|timer| (timer.name.to_owned(), timer.for_parts(parts))).collect()
}

/// The settings that were made, for people; `None` if there are none.
pub fn note(settings: &BTreeMap<String, String>) -> Option<String> {
    let all: Vec<String> =
        settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    (!all.is_empty()).then(|| {
        format!(
            "the clock goes on while a server is frozen, so these periods are multiplied and these \
             rates divided by the number of servers that share the load: {}",
            all.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use dbms::Installation;
    use plan::Plan;
    use workload::Dialect;

    use super::*;

    /// The settings for a MySQL that shares the load with another one and has this `config`.
    fn of(config: &str) -> BTreeMap<String, String> {
        let text = format!(
            "[variants.a]\ndbms = \"mysql@8.0.31\"\nconfig = {{ {config} }}\n\
             [variants.b]\ndbms = \"mysql@8.0.31\"\n[workload.insert]\nrows = 300\n"
        );
        let plan = Plan::parse(&text, None, "test").unwrap();
        let subject = Subject {
            variant: plan.variants[0].clone(),
            reference: "mysql@8.0.31".parse().unwrap(),
            installation: Installation {
                dbms: "mysql".to_owned(),
                version: "8.0.31".to_owned(),
                source: "mysql@8.0.31".to_owned(),
                bin_dir: Some(PathBuf::from("/nowhere")),
                build: BTreeMap::new(),
            },
            dialect: Dialect::postgres(14),
            own_data: None,
        };
        settings(2, &subject, &subject.variant.config)
    }

    #[test]
    fn rates_are_divided_and_periods_multiplied_where_nobody_has_set_them() {
        let frozen = of("");
        assert_eq!(frozen["innodb_io_capacity"], "100");
        assert_eq!(frozen["innodb_io_capacity_max"], "1000");
        assert_eq!(frozen["innodb_flush_log_at_timeout"], "2");
        assert!(note(&frozen).unwrap().contains("innodb_io_capacity = 100"));
        // One capacity depends on the other.
        let set = of("innodb-io-capacity = 4000, innodb_old_blocks_time = 0");
        let names: Vec<&str> = set.keys().map(String::as_str).collect();
        assert_eq!(names, ["innodb_flush_log_at_timeout", "innodb_flushing_avg_loops"]);
    }
}
