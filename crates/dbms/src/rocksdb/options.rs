//! Settings in RocksDB's own words: from a plan to the text that it parses, and from the file that
//! it writes.

use crate::api::spec::in_bytes;
use crate::{Config, Error, ServerSpec, Timer};

/// Settings that steelyard must choose, and why.
const OWN: [(&str, &str); 8] = [
    ("create_if_missing", CREATED),
    ("create_missing_column_families", CREATED),
    ("error_if_exists", CREATED),
    ("db_log_dir", DIRECTORY),
    ("wal_dir", DIRECTORY),
    ("db_paths", DIRECTORY),
    ("cf_paths", DIRECTORY),
    ("keep_log_file_num", "the log of each trial is kept"),
];
const CREATED: &str = "a trial begins with an empty database or a copy of a loaded one";
const DIRECTORY: &str = "every trial has its own directory";

/// Settings that go by the clock: how often statistics are written, and how fast writers may go on
/// while compaction is behind (16 MB/s, unless there is a limit for all writes).
pub(super) const TIMERS: [Timer; 3] = [
    Timer::period("stats_dump_period_sec", 600, 4_294_967_295, ""),
    Timer::period("stats_persist_period_sec", 600, 4_294_967_295, ""),
    Timer::rate("delayed_write_rate", 16 << 20, 1)
        .unless(&["rate_limiter_bytes_per_sec", "rate_limiter"]),
];

/// Settings of tables (BlockBasedTableOptions in rocksdb/table.h), which RocksDB reads in braces.
const OF_TABLES: [&str; 34] = [
    "flush_block_policy_factory",
    "cache_index_and_filter_blocks",
    "cache_index_and_filter_blocks_with_high_priority",
    "pin_l0_filter_and_index_blocks_in_cache",
    "pin_top_level_index_and_filter",
    "metadata_cache_options",
    "index_type",
    "data_block_index_type",
    "data_block_hash_table_util_ratio",
    "hash_index_allow_collision",
    "checksum",
    "no_block_cache",
    "block_cache",
    "block_cache_compressed",
    "persistent_cache",
    "cache_usage_options",
    "block_size",
    "block_size_deviation",
    "block_restart_interval",
    "index_block_restart_interval",
    "metadata_block_size",
    "decouple_partitioned_filters",
    "partition_filters",
    "optimize_filters_for_memory",
    "use_delta_encoding",
    "filter_policy",
    "whole_key_filtering",
    "verify_compression",
    "read_amp_bytes_per_bit",
    "format_version",
    "enable_index_compression",
    "block_align",
    "index_shortening",
    "max_auto_readahead_size",
];

/// Refuses settings that steelyard chooses.
pub(super) fn check(spec: &ServerSpec<'_>) -> Result<(), Error> {
    for name in spec.config.keys() {
        if let Some((_, reason)) = OWN.iter().find(|(own, _)| own == name) {
            return Err(Error::reserved(spec.name, name.clone(), reason));
        }
    }
    if let Some(file) = &spec.config_file {
        return Err(Error::unsupported(
            format!("a config_file ({}) for RocksDB", file.display()),
            "put its settings into `config`",
        ));
    }
    Ok(())
}

/// Settings as the text that RocksDB parses.
pub fn text(config: &Config) -> String {
    let (tables, others): (Vec<_>, Vec<_>) =
        config.iter().partition(|(name, _)| OF_TABLES.contains(&name.as_str()));
    let join = |settings: &[(&String, &String)]| {
        let one = |(name, value): &(&String, &String)| format!("{name}={};", in_bytes(value));
        settings.iter().map(one).collect::<String>()
    };
    let mut text = join(&others);
    if !tables.is_empty() {
        text.push_str(&format!("block_based_table_factory={{{}}};", join(&tables)));
    }
    text
}

/// Version and settings in an OPTIONS file, which has the form of an INI file.
pub(super) fn read(file: &str) -> (Option<String>, Config) {
    let (mut version, mut settings, mut section) = (None, Config::new(), "");
    for line in file.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.split(['/', ' ', ']']).next().unwrap_or_default();
        } else if let Some((name, value)) = line.split_once('=')
            && !line.starts_with('#')
        {
            match (section, name) {
                ("Version", "rocksdb_version") => version = Some(value.to_owned()),
                ("Version", _) => {}
                _ => {
                    settings.insert(name.to_owned(), value.to_owned());
                }
            }
        }
    }
    (version, settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_tables_are_in_braces() {
        let config = [
            ("write_buffer_size", "16MB"),
            ("block_size", "8kB"),
            ("block_cache", "{capacity=1073741824;num_shard_bits=6}"),
            ("compression_per_level", "kNoCompression:kLZ4Compression"),
        ];
        let config = config.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(
            text(&config),
            "compression_per_level=kNoCompression:kLZ4Compression;write_buffer_size=16777216;\
             block_based_table_factory={block_cache={capacity=1073741824;num_shard_bits=6};\
             block_size=8192;};"
        );
        assert_eq!(text(&Config::new()), "");
    }

    #[test]
    fn a_file_of_options_is_read() {
        let file = "# This is a RocksDB option file.\n[Version]\n  rocksdb_version=7.4.5\n  \
                    options_file_version=1.1\n\n[DBOptions]\n  max_open_files=-1\n  \
                    wal_dir=/data/x\n[CFOptions \"default\"]\n  num_levels=8\n  \
                    compression_opts={level=32767;max_dict_bytes=0;}\n  \
                    [TableOptions/BlockBasedTable \"default\"]\n  block_size=8192\n";
        let (version, settings) = read(file);
        assert_eq!(version.as_deref(), Some("7.4.5"));
        assert_eq!(settings["num_levels"], "8");
        assert_eq!(settings["compression_opts"], "{level=32767;max_dict_bytes=0;}");
        assert_eq!((settings["block_size"].as_str(), settings.len()), ("8192", 5));
        assert_eq!(
            read("nonsense = \n="),
            (
                None,
                Config::from([
                    (String::new(), String::new()),
                    ("nonsense ".to_owned(), String::new())
                ])
            )
        );
    }
}
