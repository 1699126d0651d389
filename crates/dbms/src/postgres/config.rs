//! postgresql.conf: the variant's settings, steelyard's own minimum, and a server's complaints
//! about them.

use std::fmt::Write;
use std::path::Path;

use super::access::Access;
use crate::{Config, Error, ServerSpec, Timer};

/// Settings that steelyard must choose, whether its own lines (which come last) override others,
/// and why.
const OWN_SETTINGS: [(&str, bool, &str); 14] = [
    (
        "listen_addresses",
        true,
        "servers listen only where steelyard's clients connect, usually on a private unix socket alone",
    ),
    ("unix_socket_directories", true, "every trial has its own socket directory"),
    ("unix_socket_permissions", true, "the socket belongs to the server's own user"),
    ("unix_socket_group", true, "the socket belongs to the server's own user"),
    (
        "port",
        true,
        "steelyard chooses it; without TCP, it is only part of the socket's name in the trial's own directory",
    ),
    ("data_directory", false, "every trial has its own data directory"),
    (
        "hba_file",
        false,
        "the server uses the one in its data directory, or with TCP, one of steelyard's",
    ),
    ("ident_file", false, "the server uses the one in its data directory"),
    ("external_pid_file", false, "steelyard itself records the process"),
    ("logging_collector", true, "the log goes to the trial's server.log"),
    ("log_destination", true, "the log goes to the trial's server.log"),
    ("include", false, INCLUDED),
    ("include_dir", false, INCLUDED),
    ("include_if_exists", false, INCLUDED),
];

/// Settings that make the log record what the server did by itself, unless the plan overrides them.
const LOGGED: &str = "# so that the log says what the server does by itself\n\
                      log_line_prefix = '%m [%p] '\n\
                      log_timezone = 'UTC'\n\
                      log_checkpoints = on\n\
                      log_autovacuum_min_duration = 0\n";

const INCLUDED: &str = "settings in other files would be neither checked nor stored with the results; put them in config_file itself";

/// Periods of work in the background. Until 9.5, `checkpoint_timeout` is an hour at most.
pub(super) const TIMERS: [Timer; 4] = [
    Timer::period("checkpoint_timeout", 300, 3600, "s"),
    Timer::period("autovacuum_naptime", 60, 2_147_483, "s"),
    Timer::period("bgwriter_delay", 200, 10_000, "ms"),
    Timer::period("wal_writer_delay", 200, 10_000, "ms"),
];

/// `max_connections` where nobody sets it (PostgreSQL's manual, "Connections and Authentication").
const DEFAULT_CONNECTIONS: u32 = 100;
/// Connections that steelyard itself may have at a time, with room for those just closed.
const OWN_CONNECTIONS: u32 = 5;

/// Largest number of clients that these settings, and below them this file, allow in addition to
/// our own connections.
pub(super) fn most_clients(settings: &Config, file: Option<&str>) -> u32 {
    const NAME: &str = "max_connections";
    let set = settings.iter().find(|(name, _)| name.eq_ignore_ascii_case(NAME));
    let in_file = || {
        let mut lines =
            file?.lines().filter(|line| reference::setting_of(line).eq_ignore_ascii_case(NAME));
        // The last one counts.
        let value =
            lines.next_back()?.trim_start()[NAME.len()..].split('#').next()?.replace('=', " ");
        Some(value.trim().trim_matches('\'').to_owned())
    };
    let value = set.map(|(_, value)| value.trim().to_owned()).or_else(in_file);
    let connections = value.and_then(|value| value.parse().ok()).unwrap_or(DEFAULT_CONNECTIONS);
    connections.saturating_sub(OWN_CONNECTIONS)
}

/// Checks names of settings before anything is created.
pub(super) fn check(spec: &ServerSpec<'_>) -> Result<(), Error> {
    for name in spec.config.keys() {
        if let Some((.., reason)) =
            OWN_SETTINGS.iter().find(|(own, ..)| own.eq_ignore_ascii_case(name))
        {
            return Err(Error::reserved(spec.name, name.clone(), reason));
        }
        let valid = !name.is_empty()
            && name.split('.').all(|part| {
                part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
            });
        if !valid {
            let message = "names of settings consist of letters, digits and underscores";
            return Err(Error::rejected(spec.name, Some(name.clone()), message));
        }
    }
    Ok(())
}

/// The text to append to postgresql.conf: what makes the log useful, `config_file`, then the plan's
/// settings, then steelyard's own.
pub(super) fn text(
    spec: &ServerSpec<'_>,
    sockets: &Path,
    access: &Access,
) -> Result<String, Error> {
    let mut text = format!("\n{LOGGED}");
    if let Some(path) = &spec.config_file {
        let given =
            std::fs::read_to_string(path).map_err(Error::io("read the config_file", path))?;
        for line in given.lines() {
            let set = reference::setting_of(line);
            let mut lasting = OWN_SETTINGS.iter().filter(|(_, overridden, _)| !overridden);
            if let Some((name, _, reason)) =
                lasting.find(|(name, ..)| set.eq_ignore_ascii_case(name))
            {
                let setting = format!("{name} (in {})", path.display());
                return Err(Error::reserved(spec.name, setting, reason));
            }
        }
        let _ = writeln!(text, "# from {}\n{given}", path.display());
    }
    text.push_str("# from the plan\n");
    for (name, value) in &spec.config {
        let _ = writeln!(text, "{name} = {}", quote(value));
    }
    text.push_str("# steelyard's own\n");
    // The setting is a list, in which quotes protect commas and blanks.
    let sockets = format!("\"{}\"", sockets.to_string_lossy().replace('"', "\"\""));
    let (listen_addresses, more) = access.settings();
    let own = [
        ("listen_addresses", listen_addresses.as_str()),
        ("log_destination", "stderr"),
        ("logging_collector", "off"),
        ("port", &access.port.to_string()),
        ("unix_socket_permissions", "0700"),
        ("unix_socket_directories", &sockets),
    ];
    for (name, value) in own.into_iter().chain(more.iter().map(|(name, value)| (*name, &**value))) {
        let _ = writeln!(text, "{name} = {}", quote(value));
    }
    Ok(text)
}

/// A value as a quoted string of postgresql.conf ("Setting Parameters"): quotes doubled,
/// backslashes escaped.
fn quote(value: &str) -> String {
    let mut quoted = String::from("'");
    for c in value.chars() {
        match c {
            '\'' => quoted.push_str("''"),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

/// Finds complaints about a setting in a server's messages.
pub(super) fn rejection(spec: &ServerSpec<'_>, output: &str) -> Option<Error> {
    let lines: Vec<&str> = output.lines().map(message).collect();
    let at = lines.iter().position(|line| {
        line.contains("parameter \"")
            || line.contains("syntax error in file")
            || line.contains("outside the valid range")
    })?;
    let line = lines.get(at)?;
    let setting = line
        .split_once("parameter \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(name, _)| name.to_owned())
        .map(|name| match spec.config.iter().find(|(key, _)| key.eq_ignore_ascii_case(&name)) {
            Some((key, value)) => format!("{key} = {value}"),
            None => name,
        });
    let hint =
        lines.get(at + 1).filter(|next| next.starts_with("HINT:") || next.starts_with("DETAIL:"));
    let message = hint.map_or_else(|| (*line).to_owned(), |hint| format!("{line} ({hint})"));
    Some(Error::rejected(spec.name, setting, message))
}

/// A log line without its time stamp.
fn message(line: &str) -> &str {
    ["LOG:", "FATAL:", "ERROR:", "WARNING:", "HINT:", "DETAIL:"]
        .iter()
        .filter_map(|level| line.find(level).map(|at| (at, *level)))
        .min()
        .and_then(|(at, level)| {
            let keep = if matches!(level, "HINT:" | "DETAIL:") { at } else { at + level.len() };
            line.get(keep..)
        })
        .unwrap_or(line)
        .trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_clients_follows_from_the_settings() {
        let set = |value: &str| Config::from([("Max_Connections".to_owned(), value.to_owned())]);
        assert_eq!(most_clients(&Config::new(), None), 95);
        assert_eq!(most_clients(&set("30"), Some("max_connections = 9")), 25);
        let file = "max_connections=7\n # max_connections = 1\n  max_connections = '250' # many\n";
        assert_eq!(most_clients(&Config::new(), Some(file)), 245);
        assert_eq!(most_clients(&set("?"), None), 95, "the server will say what is wrong");
    }

    #[test]
    fn values_are_quoted() {
        assert_eq!(quote("1GB"), "'1GB'");
        assert_eq!(quote("it's C:\\x\nport=1"), "'it''s C:\\\\x\\nport=1'");
    }

    #[test]
    fn messages_lose_their_time_stamp() {
        assert_eq!(
            message("2026-11-21 09:00:00.000 UTC [12] LOG:  invalid value"),
            "invalid value"
        );
        assert_eq!(message("2026 UTC [12] HINT:  Valid units"), "HINT:  Valid units");
        assert_eq!(message("plain"), "plain");
    }
}
