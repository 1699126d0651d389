//! Hides passwords in texts.
//!
//! If the end of a password is uncertain, more is hidden than necessary.

mod sql;

use percent_encoding::percent_decode_str;

/// Replaces hidden text.
pub const HIDDEN: &str = "<hidden>";

/// Whatever ends in one of these is followed by a password: PGPASSWORD too.
const KEYS: [&str; 3] = ["password", "passwd", "mysql_pwd"];

/// Schemes of what is no database server. Their URLs are in many texts, and no careless ones.
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
    let text = sql::without_passwords(&without_credentials(text));
    KEYS.iter().fold(text, |text, key| without_assignments(&text, key))
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

/// Whether what follows this name and a sign is a password.
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

/// Hides the passwords of URLs.
fn without_credentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let scheme = scheme_of(&before[..at]);
        let length = if is_of_server(scheme) {
            // If the text is only a URL, its password may contain anything.
            let alone = out.len() == before.len() && before.trim_start().len() == scheme.len() + 3;
            server_url(&mut out, after, alone)
        } else {
            other_url(&mut out, after)
        };
        rest = &after[length..];
    }
    out.push_str(rest);
    out
}

/// The scheme that a text ends with.
fn scheme_of(text: &str) -> &str {
    let letters = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    &text[text.trim_end_matches(letters).len()..]
}

/// Whether this may be the scheme of a database server, also a mistyped one or one with a driver:
/// `postgre`, `mysql+pymysql`.
fn is_of_server(scheme: &str) -> bool {
    !OTHERS.iter().any(|other| scheme.eq_ignore_ascii_case(other))
}

/// Where a URL ends in a text that has more than the URL. Other blanks than those of ASCII may be
/// part of a password.
fn ends_url(c: char) -> bool {
    c.is_ascii_whitespace() || "\"'".contains(c)
}

/// Appends what may be shown of a server's URL without its scheme; returns how long that is in the
/// text. A careless password may contain all that usually ends one, and blanks and quotes. Where
/// there may be one, the last `@` of the line ends it. If a `/` or `?` comes before that, the `@`
/// may also be in a parameter, and nothing from the password on is shown.
fn server_url(out: &mut String, text: &str, alone: bool) -> usize {
    let line = if alone { text } else { text.split('\n').next().unwrap_or_default() };
    let line = if alone { line } else { &line[..next_url(line)] };
    let until_end =
        |text: &str| if alone { text.len() } else { text.find(ends_url).unwrap_or(text.len()) };
    let whole = until_end(line);
    if has_no_password(&line[..whole]) {
        out.push_str(&parameters(&line[..whole], true));
        return whole;
    }
    let user = line.find([':', '@', '/', '?']).unwrap_or(line.len());
    out.push_str(&line[..user]);
    let at = line.rfind('@');
    let end = at.map_or(whole, |at| at + until_end(&line[at..]));
    match at.filter(|at| !line[..*at].contains(['/', '?'])) {
        Some(at) => out.push_str(&parameters(&line[at..end], true)),
        None => {
            out.push(':');
            out.push_str(HIDDEN);
        }
    }
    end
}

/// Where the next URL of a server begins, after a blank or a quote; otherwise the text's length.
fn next_url(text: &str) -> usize {
    let mut from = 0;
    while let Some(found) = text[from..].find("://") {
        let at = from + found;
        let scheme = scheme_of(&text[..at]);
        let start = at - scheme.len();
        if is_of_server(scheme) && text[..start].ends_with(ends_url) {
            return start;
        }
        from = at + 3;
    }
    text.len()
}

/// Whether no parser finds a password before the host of a URL, which is without its scheme: a user
/// without one, then a host and a port, which is a number, and no further `@`.
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
    // What ends a sentence or a pair of brackets.
    let port = port.unwrap_or_default().trim_end_matches(|c: char| ":,;.)]}`…".contains(c));
    // Without a user, a parser may take all before an `@` for one.
    let before = if user { target.split('?').next().unwrap_or_default() } else { target };
    port.chars().all(|c| c.is_ascii_digit()) && !before.contains('@')
}

/// Appends what may be shown of any other URL without its scheme; returns how long that is in the
/// text.
fn other_url(out: &mut String, text: &str) -> usize {
    let url = &text[..text.find(ends_url).unwrap_or(text.len())];
    let until = |text: &str| text.find(['/', '?', '#']).unwrap_or(text.len());
    let Some(first) = url.find('@').filter(|first| *first < until(url)) else {
        out.push_str(url);
        return url.len();
    };
    // The last @ ends the user's part: a careless password may itself contain one.
    let end = first + until(&url[first..]);
    let host = url[..end].rfind('@').unwrap_or(first);
    out.push_str(url[..host].split(':').next().unwrap_or_default());
    out.push_str(&url[host..]);
    url.len()
}

/// Hides the passwords in a URL's parameters. Even names may be percent-encoded.
fn parameters(url: &str, ours: bool) -> String {
    let Some((place, parameters)) = url.split_once('?').filter(|_| ours) else {
        return url.to_owned();
    };
    let decoded = |name| percent_decode_str(name).decode_utf8_lossy().to_ascii_lowercase();
    let parameters: Vec<String> = parameters
        .split('&')
        .map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if decoded(name).contains("password") => format!("{name}={HIDDEN}"),
            _ => parameter.to_owned(),
        })
        .collect();
    format!("{place}?{}", parameters.join("&"))
}

/// Hides the value that follows this key, in lower case, if there is one.
fn without_assignments(text: &str, key: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // ASCII lower case keeps all byte positions.
    while let Some(at) = rest.to_ascii_lowercase().find(key) {
        let (before, after) = rest.split_at(at + key.len());
        out.push_str(before);
        rest = after;
        let name = |c: char| c.is_ascii_alphanumeric() || "_%-.".contains(c);
        let in_url = out.trim_end_matches(name).ends_with(['?', '&']);
        if is_hidden(after) {
            continue;
        }
        if let Some((start, end)) = value(after, in_url) {
            out.push_str(&after[..start]);
            out.push_str(HIDDEN);
            rest = &after[end..];
        }
    }
    out.push_str(rest);
    out
}

/// Whether the text after a name shows that its value is already hidden, perhaps in quotes and with
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

/// Length of the value at the beginning of a text: up to its closing quote, or without quotes, up
/// to the next blank of ASCII, as libpq reads it.
fn length(value: &str, in_url: bool) -> usize {
    if value.starts_with(HIDDEN) {
        return HIDDEN.len();
    }
    let line = |from: usize| value[from..].find('\n').map_or(value.len(), |at| from + at);
    let mut chars = value.char_indices();
    let first = chars.next().map_or(' ', |(_, c)| c);
    if first == '$' && value[1..].contains('$') {
        // A dollar-quoted SQL string ends with the tag it begins with.
        let tag = value[1..].find('$').map_or(1, |at| at + 2);
        return value[tag..].find(&value[..tag]).map_or(value.len(), |at| at + 2 * tag);
    }
    if !matches!(first, '\'' | '"') {
        let ends = |c: char| c.is_ascii_whitespace() || (in_url && "&\"'".contains(c));
        let mut escaped = false;
        let end = value.find(|c| {
            let ends = ends(c) && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.unwrap_or(value.len());
        // The meaning of a backslash depends on how often the text was quoted.
        return if value[..end].contains('\\') { line(end) } else { end };
    }
    if value[1..].starts_with(first) {
        // Empty, or quoted inside quotes.
        let empty =
            value[2..].chars().next().is_none_or(|c| c.is_whitespace() || ",;&)}]".contains(c));
        return if empty { 2 } else { line(2) };
    }
    let mut at = 1;
    while let Some(found) = value[at..].find(['\\', first]) {
        let next = at + found + 1;
        if value[at + found..].starts_with('\\') {
            at = next + value[next..].chars().next().map_or(0, char::len_utf8);
        } else if value[next..].starts_with(first) {
            at = next + 1;
        } else {
            return if value[..next].contains('\\') { line(next) } else { next };
        }
    }
    value.len()
}

#[cfg(test)]
mod tests;
