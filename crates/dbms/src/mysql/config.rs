//! The option file: what a start needs, the variant's settings, steelyard's own; and a server's
//! complaints about them.
//!
//! The binary log is off in all versions unless the plan sets `log_bin` (MySQL 8.0 and newer have
//! it on by default, which would add a second log to every commit). The version must know every
//! setting of the plan: none is dropped, and a value that the server would adjust is rejected.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::adopt;
use super::binaries::Layout;
use super::engine::StorageEngine;
use super::flavor::Flavor;
use super::option_file::{self, Given, is_off, is_on, plain, quoted, written};
use super::version::Version;
use crate::api::spec::in_bytes;
use crate::{Config, Error, ServerSpec};

const NO_TCP: &str = "servers listen only on a private unix socket";
const INSTALLED: &str = "it belongs to the installation";
const OWN_PLACE: &str = "every trial has its own directory";
const CREATES: &str = "steelyard creates the data directory";
const INCLUDED: &str = "settings in other files would be neither checked nor stored with the results; put them in config_file itself";
const IGNORED: &str = "with that prefix, a server that does not know the setting would ignore it; write it without the prefix";
const CHOSEN: &str = "the variant's `engine` chooses it";

/// Settings that steelyard must choose, by their plain names, and why.
const OWN_SETTINGS: [(&str, &str); 29] = [
    ("socket", "every trial has its own socket"),
    ("port", NO_TCP),
    ("extra_port", NO_TCP),
    ("bind_address", NO_TCP),
    ("networking", NO_TCP),
    ("admin_address", NO_TCP),
    ("mysqlx", NO_TCP),
    ("mysqlx_socket", NO_TCP),
    ("datadir", OWN_PLACE),
    ("tmpdir", OWN_PLACE),
    ("pid_file", OWN_PLACE),
    ("secure_file_priv", OWN_PLACE),
    ("log_error", "the log goes to the trial's server.log"),
    ("basedir", INSTALLED),
    ("plugin_dir", INSTALLED),
    ("lc_messages_dir", INSTALLED),
    ("character_sets_dir", INSTALLED),
    ("user", "steelyard chooses the user that servers run as"),
    ("chroot", OWN_PLACE),
    ("defaults_file", INCLUDED),
    ("defaults_extra_file", INCLUDED),
    ("!include", INCLUDED),
    ("bootstrap", CREATES),
    ("initialize", CREATES),
    ("initialize_insecure", CREATES),
    ("grant_tables", "steelyard connects with its own user"),
    ("daemonize", "steelyard itself watches the process"),
    ("help", "the server would not start"),
    ("version", "the server would not start"),
];

/// Settings that shape a data directory and can't be changed later.
const INITIAL: [&str; 6] = [
    "innodb_page_size",
    "innodb_data_file_path",
    "innodb_undo_tablespaces",
    "innodb_checksum_algorithm",
    "innodb_log_checksum_algorithm",
    "lower_case_table_names",
];

/// `max_connections` where nobody sets it, the same in all versions.
const DEFAULT_CONNECTIONS: u32 = 151;
/// Connections that steelyard itself may have at a time, with room for those just closed.
const OWN_CONNECTIONS: u32 = 5;

/// Where a server puts its files.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) data: PathBuf,
    pub(super) socket: PathBuf,
    pub(super) temporary: PathBuf,
}

/// A plan's `config_file` and its `config`.
pub(super) struct Settings {
    /// The text of the file, and its name for people.
    file: Option<(String, String)>,
    /// The settings in the file.
    in_file: Vec<Given>,
}

impl Settings {
    /// Reads what `spec` says, and checks the names before anything is created.
    pub(super) fn read(spec: &ServerSpec<'_>) -> Result<Self, Error> {
        for name in spec.config.keys() {
            refuse(spec, name, "")?;
            let bare = written(name);
            let letters = bare.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
            if !letters || !bare.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let message = "names of settings consist of letters, digits and underscores";
                return Err(Error::rejected(spec.name, Some(name.clone()), message));
            }
        }
        let Some(path) = &spec.config_file else {
            return Ok(Self { file: None, in_file: Vec::new() });
        };
        let text =
            std::fs::read_to_string(path).map_err(Error::io("read the config_file", path))?;
        let in_file = option_file::read(&text);
        for (name, _) in &in_file {
            refuse(spec, name, &format!(" (in {})", path.display()))?;
        }
        Ok(Self { file: Some((text, path.display().to_string())), in_file })
    }

    /// Names of all settings.
    pub(super) fn names(&self, spec: &ServerSpec<'_>) -> Vec<String> {
        let names = self.in_file.iter().map(|(name, _)| name).chain(spec.config.keys());
        let names: BTreeSet<String> = names.map(|name| plain(name)).collect();
        names.into_iter().collect()
    }

    /// The settings that shape a data directory, as arguments of the server.
    pub(super) fn initial(&self, spec: &ServerSpec<'_>) -> Vec<String> {
        let set = |name: &&&str| {
            let plan = spec.config.iter().rev().find(|(key, _)| plain(key) == **name);
            let plan = plan.map(|(_, value)| value.clone());
            let value = plan.or_else(|| {
                let file = self.in_file.iter().rev().find(|(key, _)| plain(key) == **name);
                file.and_then(|(_, value)| value.clone())
            });
            value.map(|value| format!("--{name}={}", in_bytes(&value)))
        };
        INITIAL.iter().filter_map(|name| set(&name)).collect()
    }

    /// The option file.
    pub(super) fn text(
        &self,
        spec: &ServerSpec<'_>,
        flavor: &Flavor,
        version: Version,
        layout: &Layout,
        places: &Places,
    ) -> Result<String, Error> {
        let mut text = "[mysqld]\n# unless the plan says otherwise\n".to_owned();
        for (_, line) in flavor.needs.iter().filter(|(from, _)| version.number >= *from) {
            let _ = writeln!(text, "{line}");
        }
        let logs =
            spec.config.iter().any(|(name, value)| plain(name) == "log_bin" && !is_off(value));
        if logs {
            // Newer versions require a number for a server with a binary log.
            let _ = writeln!(text, "server_id = 1");
        }
        if let Some((file, name)) = &self.file {
            let _ = writeln!(text, "# from {name}\n{file}\n[mysqld]");
        }
        text.push_str("# from the plan\n");
        for (name, value) in &spec.config {
            let _ = writeln!(text, "{}", line(name, value));
        }
        text.push_str("# steelyard's own\n");
        if spec.engine.is_some() {
            for line in StorageEngine::of(spec.engine)?.lines(layout)? {
                let _ = writeln!(text, "{line}");
            }
        }
        let own = [
            ("datadir", places.data.clone()),
            ("socket", places.socket.clone()),
            ("pid_file", places.socket.with_file_name("pid")),
            ("tmpdir", places.temporary.clone()),
            ("secure_file_priv", places.temporary.clone()),
        ];
        let plugins = layout.plugins.clone().map(|plugins| ("plugin_dir", plugins));
        for (name, path) in layout.settings().into_iter().chain(own).chain(plugins) {
            let _ = writeln!(text, "{name} = {}", quoted(&path.to_string_lossy()));
        }
        text.push_str("skip_networking\n");
        if spec.data.is_some() {
            adopt::LINES.iter().for_each(|line| text.extend([line, "\n"]));
        }
        Ok(text)
    }
}

/// A line for a setting of the plan. `log_bin = off` would be a log named "off".
fn line(name: &str, value: &str) -> String {
    match plain(name).as_str() {
        "log_bin" if is_off(value) => "skip_log_bin".to_owned(),
        "log_bin" if is_on(value) => "log_bin".to_owned(),
        _ => format!("{} = {}", written(name), quoted(&in_bytes(value))),
    }
}

fn refuse(spec: &ServerSpec<'_>, name: &str, place: &str) -> Result<(), Error> {
    let refused = |reason| Err(Error::reserved(spec.name, format!("{name}{place}"), reason));
    let bare = if name == "!include" { name.to_owned() } else { plain(name) };
    if written(name).starts_with("loose_") {
        return refused(IGNORED);
    }
    if spec.engine.is_some() && bare == "default_storage_engine" {
        return refused(CHOSEN);
    }
    match OWN_SETTINGS.iter().find(|(own, _)| *own == bare) {
        Some((_, reason)) => refused(reason),
        None => Ok(()),
    }
}

/// Largest number of clients that these settings, and below them this file, allow in addition to
/// our own connections.
pub(super) fn most_clients(settings: &Config, file: Option<&str>) -> u32 {
    let is_it = |name: &str| matches!(plain(name).as_str(), "max_connections");
    let set = settings.iter().find(|(name, _)| is_it(name)).map(|(_, value)| value.clone());
    let in_file = || {
        let mut given = option_file::read(file?).into_iter();
        // The last one counts.
        given.rfind(|(name, _)| is_it(name))?.1
    };
    let value = set.or_else(in_file).and_then(|value| value.trim().parse().ok());
    value.unwrap_or(DEFAULT_CONNECTIONS).saturating_sub(OWN_CONNECTIONS)
}

/// Finds complaints about a setting in a server's output. A value that the server only adjusted is
/// one if the setting is in `names`, the plain names of the plan's settings.
pub(super) fn rejection(spec: &ServerSpec<'_>, names: &[String], output: &str) -> Option<Error> {
    let adjusts = |line: &str| {
        line.contains(" adjusted to ") && named(line).is_some_and(|it| names.contains(&plain(&it)))
    };
    let line = output.lines().find(|line| complains(line) || adjusts(line))?;
    let setting = named(line).map(|name| {
        let set = spec.config.iter().find(|(key, _)| plain(key) == plain(&name));
        set.map_or(name, |(key, value)| format!("{key} = {value}"))
    });
    Some(Error::rejected(spec.name, setting, message(line)))
}

/// Is this line about a setting that the server does not take?
fn complains(line: &str) -> bool {
    let told = ["[ERROR]", "[Warning]", "[Error]"].iter().any(|level| line.contains(level))
        || line.contains("Unknown suffix");
    let wrong =
        ["unknown variable '", "unknown option '", "ambiguous option '", "Unknown suffix '"];
    let refused = [
        "Error while setting value",
        "Incorrect unsigned value",
        "requires a value",
        "Wrong value",
        "Invalid value",
        "Unrecognized value",
    ];
    // Our own line with that prefix is harmless.
    told && !line.contains("loose_") && wrong.iter().chain(&refused).any(|part| line.contains(part))
}

/// The setting that a complaint names.
fn named(line: &str) -> Option<String> {
    const BEFORE: [&str; 7] = [
        "unknown variable '",
        "unknown option '",
        "ambiguous option '",
        "for variable '",
        " to '",
        "option '",
        "variable '",
    ];
    let (_, rest) = BEFORE.iter().find_map(|before| line.split_once(before))?;
    let name = rest.split(['\'', '=']).next()?;
    (!name.is_empty()).then(|| written(name))
}

/// A line without its time stamp and level.
fn message(line: &str) -> &str {
    let after = |level: &&str| line.split_once(*level).map(|(_, rest)| rest);
    let rest = ["[ERROR]", "[Warning]", "[Error]"].iter().find_map(after).unwrap_or(line).trim();
    // 8.0 writes the number and the part of the server next.
    let rest = rest
        .strip_prefix("[MY-")
        .and_then(|rest| rest.split_once("] [Server] "))
        .map_or(rest, |(_, text)| text);
    // The program's path.
    match rest.split_once(": ") {
        Some((program, text)) if program.starts_with('/') && !program.contains(' ') => text,
        _ => rest,
    }
}

/// The file of options, in the directory of the socket.
pub(super) fn file(socket: &Path) -> PathBuf {
    socket.with_file_name("my.cnf")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_clients_follows_from_the_settings() {
        let set = |value: &str| Config::from([("Max-Connections".to_owned(), value.to_owned())]);
        assert_eq!(most_clients(&Config::new(), None), 146);
        assert_eq!(most_clients(&set("30"), Some("[mysqld]\nmax_connections = 9")), 25);
        let file = "[mysqld]\nmax_connections=7\n[client]\nmax_connections=1\n[mysqld]\nmax-connections = 250 # many\n";
        assert_eq!(most_clients(&Config::new(), Some(file)), 245);
        assert_eq!(most_clients(&set("?"), None), 146, "the server will say what is wrong");
    }

    #[test]
    fn the_binary_log_is_never_named_off() {
        assert_eq!(line("log_bin", "OFF"), "skip_log_bin");
        assert_eq!(line("Log-Bin", "on"), "log_bin");
        assert_eq!(line("log_bin", "binlog"), "log_bin = \"binlog\"");
        assert_eq!(
            line("innodb-buffer-pool-size", "1GB"),
            "innodb_buffer_pool_size = \"1073741824\""
        );
    }

    /// Real messages of servers of all versions about `innodb_buffer_pool_size = banana`, `foo_bar
    /// = 1` and values that they adjusted.
    const COMPLAINTS: [(&str, Option<&str>, &str); 9] = [
        (
            "2026-11-23 15:53:20 30880 [ERROR] /opt/bin/mysqld: unknown variable 'foo_bar=1'",
            Some("foo_bar"),
            "unknown variable 'foo_bar=1'",
        ),
        (
            "2026-11-23T15:55:35.922603Z 0 [ERROR] unknown variable 'foo_bar=1'",
            Some("foo_bar"),
            "unknown variable 'foo_bar=1'",
        ),
        (
            "Unknown suffix 'b' used for variable 'innodb-buffer-pool-size' (value 'banana')",
            Some("innodb_buffer_pool_size"),
            "Unknown suffix 'b' used for variable 'innodb-buffer-pool-size' (value 'banana')",
        ),
        (
            "2026-11-23T15:57:43.919251Z 0 [ERROR] [MY-000058] [Server] Unknown suffix 'b' used for variable 'innodb-buffer-pool-size' (value 'banana').",
            Some("innodb_buffer_pool_size"),
            "Unknown suffix 'b' used for variable 'innodb-buffer-pool-size' (value 'banana').",
        ),
        (
            "2026-11-23T15:57:44.001542Z 0 [ERROR] [MY-000077] [Server] /opt/bin/mysqld: Error while setting value 'banana' to 'innodb-flush-method'.",
            Some("innodb_flush_method"),
            "Error while setting value 'banana' to 'innodb-flush-method'.",
        ),
        (
            "2026-11-23 15:58:09 0 [ERROR] Incorrect unsigned value: '-1' for sync_binlog",
            None,
            "Incorrect unsigned value: '-1' for sync_binlog",
        ),
        (
            "2026-11-23 15:53:20 30898 [Warning] option 'innodb-buffer-pool-size': signed value 1 adjusted to 5242880",
            Some("innodb_buffer_pool_size"),
            "option 'innodb-buffer-pool-size': signed value 1 adjusted to 5242880",
        ),
        (
            "2026-11-23 15:53:20 0 [Warning] Buffered warning: option 'max_connections': unsigned value 0 adjusted to 1",
            Some("max_connections"),
            "Buffered warning: option 'max_connections': unsigned value 0 adjusted to 1",
        ),
        (
            "2026-11-23T15:55:36.001539Z 0 [Warning] option 'max_connections': unsigned value 0 adjusted to 1",
            Some("max_connections"),
            "option 'max_connections': unsigned value 0 adjusted to 1",
        ),
    ];

    #[test]
    fn complaints_are_understood() {
        for (line, setting, said) in COMPLAINTS {
            assert!(complains(line) != line.contains("adjusted"), "{line}");
            assert_eq!(named(line).as_deref(), setting, "{line}");
            assert_eq!(message(line), said);
        }
        for harmless in [
            "2026-11-23 15:53:20 0 [Warning] unknown variable 'loose_mysqlx=OFF'",
            "2026-11-23 15:58:08 0 [Warning] Could not increase number of max_open_files to more than 20000 (request: 32186)",
            "2026-11-23 15:53:20 30880 [Note] Plugin 'FEDERATED' is disabled.",
        ] {
            assert!(!complains(harmless), "{harmless}");
        }
    }
}
