//! Settings that differ from the built-in defaults, as far as the version says.

use super::control::Control;
use super::option_file::written;
use crate::{Error, Setting, Sql};

/// Where a value comes from, in the words of MariaDB (information_schema.SYSTEM_VARIABLES) and of
/// MySQL (performance_schema.variables_info), and for people.
const SOURCES: [(&str, &str); 15] = [
    ("CONFIG", "configuration file"),
    ("AUTO", "chosen by the server"),
    ("SQL", "SET GLOBAL"),
    ("COMPILE-TIME", "default"),
    ("COMPILED", "default"),
    ("GLOBAL", "configuration file"),
    ("SERVER", "configuration file"),
    ("EXPLICIT", "configuration file"),
    ("EXTRA", "configuration file"),
    ("USER", "configuration file"),
    ("COMMAND_LINE", "command line"),
    ("COMMAND-LINE", "command line"),
    ("ENV", "environment"),
    ("PERSISTED", "SET PERSIST"),
    ("DYNAMIC", "SET GLOBAL"),
];

/// Settings that decide about performance. They are asked of a server that was not started here and
/// can't say which settings were configured (MySQL before 8.0).
const DECISIVE: [&str; 24] = [
    "binlog_format",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_checksum_algorithm",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_lru_scan_depth",
    "innodb_max_dirty_pages_pct",
    "innodb_page_cleaners",
    "innodb_page_size",
    "innodb_purge_threads",
    "log_bin",
    "sync_binlog",
    "tx_isolation",
];

/// The settings. `configured` are the names that steelyard itself gave to the server: versions
/// that don't say where a value comes from (MySQL 5.6 and 5.7) are asked for these.
pub(super) fn settings(
    control: &mut Control,
    configured: &[String],
) -> Result<Vec<Setting>, Error> {
    let version = control.version()?;
    let rows = if version.mariadb {
        control.query_rows(
            "SELECT variable_name, global_value, global_value_origin, default_value \
             FROM information_schema.system_variables WHERE global_value IS NOT NULL \
             AND (global_value_origin = 'CONFIG' OR global_value_origin = 'COMMAND-LINE' \
             OR global_value_origin <> 'COMPILE-TIME' AND global_value <> default_value) ORDER BY variable_name",
        )?
    } else if version.number >= 80_000 {
        control.query_rows(
            "SELECT i.variable_name, g.variable_value, i.variable_source, NULL \
             FROM performance_schema.variables_info i \
             JOIN performance_schema.global_variables g USING (variable_name) \
             WHERE i.variable_source <> 'COMPILED' ORDER BY variable_name",
        )?
    } else {
        return unsourced(control, configured);
    };
    rows.into_iter()
        .map(|row| match <[Option<String>; 4]>::try_from(row) {
            Ok([Some(name), value, Some(source), boot_value]) => {
                Ok(setting(&name, value.unwrap_or_default(), &source, boot_value))
            }
            other => Err(Error::answer("a setting", format!("{other:?}"))),
        })
        .collect()
}

/// Those of a version that doesn't say where they come from.
fn unsourced(control: &mut Control, configured: &[String]) -> Result<Vec<Setting>, Error> {
    let source = if configured.is_empty() { "running server" } else { "configuration file" };
    let known = |name: &str| {
        let given = |given: &String| same_name(given, name);
        configured.iter().any(given) || configured.is_empty() && DECISIVE.contains(&name)
    };
    let all = control.pairs("SHOW GLOBAL VARIABLES")?;
    let named = all.into_iter().filter(|(name, _)| known(name));
    Ok(named.map(|(name, value)| setting(&name, value, source, None)).collect())
}

/// True if an option of the configuration is this variable: in options, dashes are underscores, and
/// `loose_` may come before them.
fn same_name(option: &str, variable: &str) -> bool {
    let option = written(option);
    option.strip_prefix("loose_").unwrap_or(&option) == variable
}

fn setting(name: &str, value: String, source: &str, boot_value: Option<String>) -> Setting {
    let name = name.to_ascii_lowercase();
    let value = reference::setting_without_passwords(&name, &value);
    let words = SOURCES.iter().find(|(known, _)| *known == source);
    let source = words.map_or_else(|| source.to_ascii_lowercase(), |(_, text)| (*text).to_owned());
    Setting { name, value, unit: None, source, boot_value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden() {
        let value = |name: &str, value: &str| setting(name, value.to_owned(), "CONFIG", None).value;
        assert_eq!(value("WSREP_SST_AUTH", "me:s3cret"), reference::HIDDEN);
        assert_eq!(value("report_password", "s3cret"), reference::HIDDEN);
        assert_eq!(value("INNODB_BUFFER_POOL_SIZE", "134217728"), "134217728");
    }

    #[test]
    fn options_are_variables() {
        assert!(same_name("innodb-buffer-pool-size", "innodb_buffer_pool_size"));
        assert!(same_name("loose_innodb_x", "innodb_x"));
        assert!(!same_name("innodb_x", "innodb_xy"));
    }
}
