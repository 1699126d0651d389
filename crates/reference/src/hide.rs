//! Hides passwords in texts.
//!
//! If the end of a password is uncertain, more is hidden than necessary.

mod place;
mod sql;

use percent_encoding::percent_decode_str;

use place::{Password, length};

use crate::systems::SYSTEMS;

pub use place::HIDDEN;

/// A name that ends in one of these is followed by a password: PGPASSWORD, too.
const KEYS: [&str; 3] = ["password", "passwd", "mysql_pwd"];

/// Schemes that are not database servers. Many texts contain their URLs, without careless
/// passwords.
const OTHERS: [&str; 10] =
    ["http", "https", "ssh", "git", "git+ssh", "file", "ftp", "s3", "gs", "az"];

/// Settings of a server whose values are commands, which may contain a password in any form.
const COMMANDS: [&str; 4] =
    ["archive_command", "restore_command", "archive_cleanup_command", "recovery_end_command"];

/// The text with passwords hidden: those in URLs (`scheme://user:password@host` becomes
/// `scheme://user@host`), in their parameters, in connection strings as libpq reads them (`password
/// = 'x y'`), and in SQL (`PASSWORD 'x'`, `IDENTIFIED BY 'x'`).
///
/// For settings, use [`setting_without_passwords`]. Hiding twice may hide more, never less.
pub fn without_passwords(text: &str) -> String {
    // Each looks at the whole text: what one takes for a password may begin inside another's.
    let mut found = in_urls(text);
    found.extend(sql::passwords(text));
    found.extend(KEYS.iter().flat_map(|key| assigned(text, key)));
    found.sort_by_key(|one| (one.at.start, std::cmp::Reverse(one.at.end)));
    let mut out = String::with_capacity(text.len());
    let mut shown = 0;
    for one in found {
        // A part that begins inside a hidden one only makes it longer.
        if one.at.start >= shown {
            out.push_str(&text[shown..one.at.start]);
            out.push_str(one.instead);
        } else if one.at.end > shown && !out.ends_with(HIDDEN) {
            out.push_str(HIDDEN);
        }
        shown = shown.max(one.at.end);
    }
    out.push_str(&text[shown..]);
    out
}

/// The value of a server's setting with passwords hidden: all of it if it is a connection string, a
/// command or similar.
pub fn setting_without_passwords(name: &str, value: &str) -> String {
    if may_be_secret(name) && !value.is_empty() {
        HIDDEN.to_owned()
    } else {
        without_passwords(value)
    }
}

/// A postgresql.conf or an option file of MySQL with passwords hidden. It remains valid, because
/// whole values are hidden.
pub fn configuration_without_passwords(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let name = name_in(line, "_.-");
            let hidden = without_passwords(line);
            match name {
                "" => hidden,
                _ if hidden == line && !may_be_secret(name) => hidden,
                _ => format!("{name} = '{HIDDEN}'\n"),
            }
        })
        .collect()
}

/// The name that a line of a postgresql.conf sets; empty for comments.
pub fn setting_of(line: &str) -> &str {
    name_in(line, "_.")
}

/// True if this name and a sign announce a password.
pub(crate) fn names_password(name: &str) -> bool {
    let name = name.trim_end().to_ascii_lowercase();
    KEYS.iter().any(|key| name.ends_with(key))
}

/// The name that a line begins with, of letters, digits and these.
fn name_in<'a>(line: &'a str, more: &str) -> &'a str {
    let line = line.trim_start();
    let ends = |c: char| !(c.is_ascii_alphanumeric() || more.contains(c));
    &line[..line.find(ends).unwrap_or(line.len())]
}

fn may_be_secret(name: &str) -> bool {
    // Option files of MySQL know dashes, too.
    let name = name.to_ascii_lowercase().replace('-', "_");
    let part = |part: &str| name.contains(part);
    part("conninfo")
        || part("passphrase")
        || part("secret")
        || name.ends_with("password")
        // User and password of a cluster's copies, in one text.
        || name.ends_with("wsrep_sst_auth")
        || COMMANDS.contains(&name.as_str())
}

/// The passwords of URLs.
fn in_urls(text: &str) -> Vec<Password> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("://") {
        let start = from + at + 3;
        let scheme = scheme_of(&text[from..from + at]);
        from = if is_of_server(scheme) {
            // If the text is only a URL, its password may contain anything.
            let alone = from == 0 && text[..start].trim_start().len() == scheme.len() + 3;
            in_server_url(text, start, alone, &mut found)
        } else {
            in_other_url(text, start, &mut found)
        };
    }
    found
}

/// The scheme that a text ends with.
fn scheme_of(text: &str) -> &str {
    let letters = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    &text[text.trim_end_matches(letters).len()..]
}

/// True if this may be the scheme of a database server, also a mistyped one or one with a driver:
/// `postgre`, `mysql+pymysql`.
fn is_of_server(scheme: &str) -> bool {
    !OTHERS.iter().any(|other| scheme.eq_ignore_ascii_case(other))
}

/// Where a URL ends in a text that has more than the URL. Other blanks than those of ASCII may be
/// part of a password.
fn ends_url(c: char) -> bool {
    c.is_ascii_whitespace() || "\"'".contains(c)
}

/// Finds the passwords of a server's URL, whose scheme ends at `start`; returns where it ends. A
/// careless password may contain characters that usually end one, and blanks and quotes. In such a
/// case, the last `@` of the line ends it. If a `/` or `?` comes before that, the `@` may also be
/// in a parameter, and nothing from the password on is shown.
fn in_server_url(text: &str, start: usize, alone: bool, found: &mut Vec<Password>) -> usize {
    let text = &text[start..];
    let line = if alone { text } else { text.split('\n').next().unwrap_or_default() };
    let line = if alone { line } else { &line[..next_url(line)] };
    let until_end =
        |text: &str| if alone { text.len() } else { text.find(ends_url).unwrap_or(text.len()) };
    let whole = until_end(line);
    if has_no_password(&line[..whole]) {
        in_parameters(&line[..whole], start, found);
        return start + whole;
    }
    let user = line.find([':', '@', '/', '?']).unwrap_or(line.len());
    let at = line.rfind('@');
    let end = at.map_or(whole, |at| at + until_end(&line[at..]));
    match at.filter(|at| !line[..*at].contains(['/', '?'])) {
        Some(at) => {
            found.push(Password { at: start + user..start + at, instead: "" });
            in_parameters(&line[at..end], start + at, found);
        }
        None => found.push(Password { at: start + user..start + end, instead: ":<hidden>" }),
    }
    start + end
}

/// Where the next URL of a server begins, after a blank or a quote; otherwise the text's length.
/// Only the schemes of the systems count: anything else may be part of a careless password.
fn next_url(text: &str) -> usize {
    let mut from = 0;
    while let Some(found) = text[from..].find("://") {
        let at = from + found;
        let scheme = scheme_of(&text[..at]);
        let start = at - scheme.len();
        if names_system(scheme) && text[..start].ends_with(ends_url) {
            return start;
        }
        from = at + 3;
    }
    text.len()
}

/// True if this is the scheme of a system, perhaps with a driver.
fn names_system(scheme: &str) -> bool {
    let name = scheme.split('+').next().unwrap_or_default();
    SYSTEMS.iter().flat_map(|system| system.schemes).any(|known| name.eq_ignore_ascii_case(known))
}

/// True if no parser finds a password before the host of a URL, which is without its scheme: a user
/// without a password, then a host and a port, which is a number, and no further `@`.
fn has_no_password(url: &str) -> bool {
    let (user, target) = match url.split_once('@') {
        Some((user, target)) if !user.contains([':', '/', '?', '#']) => (true, target),
        _ => (false, url),
    };
    let place = &target[..target.find(['/', '?', '#']).unwrap_or(target.len())];
    let port = match place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((_, port)) => port.strip_prefix(':'),
        None => place.split_once(':').map(|(_, port)| port),
    };
    // Characters that end a sentence or a pair of brackets.
    let port = port.unwrap_or_default().trim_end_matches(|c: char| ":,;.)]}`…".contains(c));
    // Without a user, a parser may take all before an `@` for one.
    let before = if user { target.split('?').next().unwrap_or_default() } else { target };
    port.chars().all(|c| c.is_ascii_digit()) && !before.contains('@')
}

/// Finds the password of any other URL, whose scheme ends at `start`; returns where it ends.
fn in_other_url(text: &str, start: usize, found: &mut Vec<Password>) -> usize {
    let text = &text[start..];
    let url = &text[..text.find(ends_url).unwrap_or(text.len())];
    let until = |text: &str| text.find(['/', '?', '#']).unwrap_or(text.len());
    if let Some(first) = url.find('@').filter(|first| *first < until(url)) {
        // The last @ ends the user's part: a careless password may itself contain one.
        let end = first + until(&url[first..]);
        let host = url[..end].rfind('@').unwrap_or(first);
        let user = url[..host].find(':').unwrap_or(host);
        found.push(Password { at: start + user..start + host, instead: "" });
    }
    start + url.len()
}

/// Finds the passwords in the parameters of a URL that begins at `start`. Even names may be
/// percent-encoded.
fn in_parameters(url: &str, start: usize, found: &mut Vec<Password>) {
    let Some((place, parameters)) = url.split_once('?') else { return };
    let decoded = |name| percent_decode_str(name).decode_utf8_lossy().to_ascii_lowercase();
    let mut at = start + place.len() + 1;
    for parameter in parameters.split('&') {
        let end = at + parameter.len();
        match parameter.split_once('=') {
            Some((name, _)) if decoded(name).contains("password") => {
                found.push(Password { at: at + name.len() + 1..end, instead: HIDDEN });
            }
            _ => {}
        }
        at = end + 1;
    }
}

/// The values that follow this key, in lower case.
fn assigned(text: &str, key: &str) -> Vec<Password> {
    // ASCII lower case keeps all byte positions.
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = lower[from..].find(key) {
        from += at + key.len();
        let after = &text[from..];
        let name = |c: char| c.is_ascii_alphanumeric() || "_%-.".contains(c);
        let in_url = text[..from].trim_end_matches(name).ends_with(['?', '&']);
        if is_hidden(after) {
            continue;
        }
        if let Some((start, end)) = value(after, in_url) {
            found.push(Password { at: from + start..from + end, instead: HIDDEN });
            from += end;
        }
    }
    found
}

/// True if the text after a name shows that its value is already hidden, perhaps in quotes and with
/// blanks escaped as in TOML.
fn is_hidden(after: &str) -> bool {
    let near: String = after.chars().take(40).collect();
    let near = ["\\t", "\\n", "\\r"].iter().fold(near, |near, blank| near.replace(blank, " "));
    let value = near.trim_start_matches(|c: char| c.is_whitespace() || "\\\"'=:>".contains(c));
    let end = |c: char| c.is_whitespace() || "\\\"'&".contains(c);
    value.strip_prefix(HIDDEN).is_some_and(|rest| rest.chars().next().is_none_or(end))
}

/// Start and end of the value in the text after a name; `None` if it is not a name with a value.
fn value(after: &str, in_url: bool) -> Option<(usize, usize)> {
    let past = |from: usize, of: &dyn Fn(char) -> bool| {
        after.len() - after[from..].trim_start_matches(of).len()
    };
    let blank = |c: char| c.is_whitespace();
    // The name itself may be quoted, as in JSON and TOML.
    let quoted = past(0, &|c| "\\\"'".contains(c));
    let gap = past(quoted, &blank);
    let sign = past(gap, &|c| "=:>".contains(c));
    let assigned = after[gap..sign].contains('=') || (quoted > 0 && sign > gap);
    let start = past(sign, &blank);
    let value = &after[start..];
    // SQL has no sign between them, but has quotes.
    let sql = quoted == 0 && gap > 0 && sign == gap && value.starts_with(['\'', '$', 'E', 'e']);
    let sql = sql && (!value.starts_with(['E', 'e']) || value[1..].starts_with('\''));
    if !(assigned || sql) || value.is_empty() {
        return None;
    }
    let prefix = if sql && value.starts_with(['E', 'e']) { 1 } else { 0 };
    Some((start, start + prefix + length(&value[prefix..], in_url)))
}

#[cfg(test)]
mod tests;
