//! Keeps passwords out of stored and displayed text.
//!
//! If the end of a password is uncertain, more is hidden than necessary.
//!
//! ```
//! assert_eq!(secret::without_passwords("postgres://me:x@db/y"), "postgres://me@db/y");
//! ```

use percent_encoding::percent_decode_str;

/// Replaces hidden text.
pub const HIDDEN: &str = "<hidden>";

/// Settings of a server whose values are commands, which may contain a password in any form.
const COMMANDS: [&str; 4] =
    ["archive_command", "restore_command", "archive_cleanup_command", "recovery_end_command"];

/// The text with passwords hidden: those in URLs (`scheme://user:password@host` becomes
/// `scheme://user@host`), in their parameters, in connection strings as libpq reads them (`password
/// = 'x y'`), and in SQL (`PASSWORD 'x'`).
///
/// For settings, use [`setting_without_passwords`]. Hiding twice changes nothing.
pub fn without_passwords(text: &str) -> String {
    without_assignments(&without_credentials(text))
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

/// A postgresql.conf with passwords hidden. It remains valid, because whole values are hidden.
pub fn configuration_without_passwords(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            let name = setting_of(line);
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
    let line = line.trim_start();
    let end = line
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
        .unwrap_or(line.len());
    line.get(..end).unwrap_or_default()
}

fn may_be_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let part = |part: &str| name.contains(part);
    part("conninfo")
        || part("passphrase")
        || part("secret")
        || name.ends_with("password")
        || COMMANDS.contains(&name.as_str())
}

/// Hides the passwords of URLs.
fn without_credentials(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let scheme = before.trim_end_matches("://").to_ascii_lowercase();
        let ours = scheme.ends_with("postgres") || scheme.ends_with("postgresql");
        // If the text is only a URL, its password may contain anything.
        let alone =
            out.len() == before.len() && matches!(scheme.trim_start(), "postgres" | "postgresql");
        let ends = |c: char| !alone && (c.is_whitespace() || "\"'".contains(c));
        let url = &after[..after.find(ends).unwrap_or(after.len())];
        rest = &after[url.len()..];
        let until = |text: &str| text.find(|c| "/?#".contains(c)).unwrap_or(text.len());
        // libpq and other clients take the text before the first @ as the user's part, unless a /
        // comes first.
        let first = url.find('@').filter(|first| ours || *first < until(url));
        let Some(first) = first else {
            out.push_str(&parameters(url, ours));
            continue;
        };
        // The last @ ends the user's part: a careless password may itself contain one.
        let query = url[first..].find('?').unwrap_or(url.len() - first);
        let end = first + if ours { query } else { until(&url[first..]) };
        let host = url[..end].rfind('@').unwrap_or(first);
        out.push_str(url[..host].split(':').next().unwrap_or_default());
        out.push_str(&parameters(&url[host..], ours));
    }
    out.push_str(rest);
    out
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

/// Hides the value that follows `password`, if there is one.
fn without_assignments(text: &str) -> String {
    const KEY: &str = "password";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // ASCII lower case keeps all byte positions.
    while let Some(at) = rest.to_ascii_lowercase().find(KEY) {
        let (before, after) = rest.split_at(at + KEY.len());
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
/// to the next blank.
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
        let ends = |c: char| c.is_whitespace() || (in_url && "&\"'".contains(c));
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn passwords_go_and_the_rest_stays() {
        for (before, after) in [
            (r#"dbms = "postgres://me:s3cret@db:5432/x""#, r#"dbms = "postgres://me@db:5432/x""#),
            ("postgres://me@db/x", "postgres://me@db/x"),
            ("postgres://me:p@ss@db/x", "postgres://me@db/x"),
            ("postgres://me:a/b?c#d e'f@db/x?a=b", "postgres://me@db/x?a=b"),
            ("postgres://me@db/x?application_name=a@b", "postgres://me@db/x?application_name=a@b"),
            (
                "postgresql://db/x?user=a&password=b&c=d",
                "postgresql://db/x?user=a&password=<hidden>&c=d",
            ),
            ("postgresql://db/x?%70assword=b c&d=e", "postgresql://db/x?%70assword=<hidden>&d=e"),
            (
                "x 'postgresql://db/x?sslpassword=b' y",
                "x 'postgresql://db/x?sslpassword=<hidden>' y",
            ),
            ("host=a Password=b port=1", "host=a Password=<hidden> port=1"),
            ("host=a password = 'b c' port=1", "host=a password = <hidden> port=1"),
            ("host=a password=b;c&d'e port=1", "host=a password=<hidden> port=1"),
            (r"password=b\ c", "password=<hidden>"),
            (r"password='it\'s'", "password=<hidden>"),
            ("password='it''s' port=1", "password=<hidden> port=1"),
            (r#"{"password": "b c", "port": 1}"#, r#"{"password": <hidden>, "port": 1}"#),
            ("ALTER ROLE a PASSWORD 'b c' LOGIN", "ALTER ROLE a PASSWORD <hidden> LOGIN"),
            ("ALTER ROLE a PASSWORD $x$b c$x$ LOGIN", "ALTER ROLE a PASSWORD <hidden> LOGIN"),
            ("OPTIONS (password 'b')", "OPTIONS (password <hidden>)"),
            ("PGPASSWORD=b psql", "PGPASSWORD=<hidden> psql"),
            ("password_encryption = md5", "password_encryption = md5"),
            (
                "password authentication failed for user \"a\"",
                "password authentication failed for user \"a\"",
            ),
            ("no password supplied", "no password supplied"),
            ("http://a:1/b@c", "http://a:1/b@c"),
            ("a://b:c@d e://f:g@h", "a://b@d e://f@h"),
        ] {
            assert_eq!(without_passwords(before), after);
            assert_eq!(without_passwords(after), after, "hiding twice");
        }
    }

    #[test]
    fn settings_that_may_be_secret_are_hidden_whole() {
        for (name, value, expected) in [
            ("primary_conninfo", "host=a", HIDDEN),
            ("Primary_ConnInfo", "host=a", HIDDEN),
            ("ssl_passphrase_command", "echo x", HIDDEN),
            ("archive_command", "curl -u a:b", HIDDEN),
            ("archive_command", "", ""),
            ("some.extension_password", "x", HIDDEN),
            ("some.extension", "host=a password = b", "host=a password = <hidden>"),
            ("password_encryption", "md5", "md5"),
            ("shared_buffers", "1GB", "1GB"),
        ] {
            assert_eq!(setting_without_passwords(name, value), expected, "{name}");
        }
    }

    #[test]
    fn lines_of_configuration_files() {
        for (line, name) in [
            ("  port = 5433", "port"),
            ("hba_file='/x'", "hba_file"),
            ("# port = 1", ""),
            ("\tInclude 'x'", "Include"),
            ("include_dir=x", "include_dir"),
            ("include_if_exists'x' # y", "include_if_exists"),
        ] {
            assert_eq!(setting_of(line), name);
        }
    }

    /// A password as libpq quotes it in a connection string.
    fn quoted(password: &str) -> String {
        format!("'{}'", password.replace('\\', "\\\\").replace('\'', "\\'"))
    }

    /// The same without quotes.
    fn escaped(password: &str) -> String {
        let special = |c: char| c == '\\' || c == '\'' || c.is_whitespace();
        password.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
    }

    /// All characters but letters and digits percent-encoded, and some of these too.
    fn encoded(password: &str) -> String {
        let plain = |b: u8| b.is_ascii_alphanumeric() && !b.is_multiple_of(3);
        let one = |b: u8| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
        password.bytes().map(one).collect()
    }

    /// No piece of `secret` that is four letters long is in `text`.
    fn survives(text: &str, secret: &str) -> bool {
        let letters: Vec<char> = secret.chars().collect();
        letters.windows(4).any(|four| {
            let four: String = four.iter().collect();
            four.chars().all(|c| c.is_ascii_alphanumeric()) && text.contains(&four)
        })
    }

    proptest! {
        #[test]
        fn no_form_survives(
            password in "[QXZ]{4}[QXZ '\"\\\\&;=,@:/?#%}]{0,6}[QXZ]{4}",
            key in "(password|PassWord|sslpassword|PGPASSWORD)",
            sign in "(=| = |=\\t|  =)",
        ) {
            let conninfo = [quoted(&password), escaped(&password)];
            let mut forms: Vec<String> = conninfo
                .iter()
                .map(|value| format!("host=a {key}{sign}{value} port=1"))
                .collect();
            // In postgresql.conf, TOML and JSON.
            for form in forms.clone() {
                let inner = form.replace('\\', "\\\\");
                forms.push(format!("x.y = '{}'", inner.replace('\'', "''")));
                forms.push(format!("x = \"{}\"", inner.replace('"', "\\\"")));
            }
            let code = encoded(&password);
            forms.extend([
                format!("postgres://me:{code}@h/d"),
                format!("x = \"postgresql://me:{code}@h/d\" y"),
                format!("postgres://h/d?{key}={code}&c=d"),
                format!("see postgres://h/d?c=d&%70%61SSword={code}, there"),
                format!("postgres://me:{}@h/d", password.replace('@', "")),
                format!("ALTER ROLE me PASSWORD '{}'", password.replace('\'', "''")),
                format!("ALTER ROLE me PASSWORD E{}", quoted(&password)),
            ]);
            for form in forms {
                let hidden = without_passwords(&form);
                prop_assert!(!survives(&hidden, &password), "{form} → {hidden}");
                prop_assert!(!survives(&hidden, &code), "{form} → {hidden}");
            }
        }

        #[test]
        fn no_url_password_survives(user in "[a-z]{1,8}", password in "[A-Z0-9@:%]{4,12}", host in "[a-z.]{1,12}") {
            let text = without_passwords(&format!("x = \"postgres://{user}:{password}@{host}/db\" # é"));
            prop_assert_eq!(text, format!("x = \"postgres://{user}@{host}/db\" # é"));
        }

        #[test]
        fn never_panics(text in ".*", more in "(password|://|[ =:'\"$\\\\@?&%é])*") {
            without_passwords(&text);
            without_passwords(&more);
            setting_of(&text);
        }
    }
}
