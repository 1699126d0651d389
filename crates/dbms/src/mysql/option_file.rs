//! Option files in the server's own format: their settings, and how values are written.

/// A setting: its name as given, and its value; `None` for a name alone.
pub(super) type Given = (String, Option<String>);

/// Prefixes that an option's name may have ("Program Option Modifiers" in MySQL's manual).
const MODIFIERS: [&str; 5] = ["loose_", "skip_", "disable_", "enable_", "maximum_"];

/// A name as the server sees it: without a modifier, in lower case, with underscores.
pub(super) fn plain(name: &str) -> String {
    let name = written(name);
    let bare = MODIFIERS.iter().find_map(|modifier| name.strip_prefix(modifier));
    bare.map_or_else(|| name.clone(), str::to_owned)
}

/// A name in lower case, with underscores.
pub(super) fn written(name: &str) -> String {
    name.trim().trim_start_matches('-').to_ascii_lowercase().replace('-', "_")
}

/// The settings of an option file for servers, in order. Groups of other programs are left out.
/// Lines that include other files come as the name `!include`.
pub(super) fn read(text: &str) -> Vec<Given> {
    let mut given = Vec::new();
    // Without a group, the server refuses the file itself.
    let mut ours = true;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with("!include") {
            given.push(("!include".to_owned(), None));
        } else if let Some(group) = line.strip_prefix('[') {
            ours = ["mysqld", "mariadb", "server"].iter().any(|known| group.starts_with(known));
        } else if ours {
            let (name, value) = match line.split_once('=') {
                Some((name, value)) => (name, Some(unquoted(value))),
                None => (line.split('#').next().unwrap_or(line), None),
            };
            given.push((name.trim().to_owned(), value));
        }
    }
    given
}

/// A value without the quotes or the comment around it.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.split(quote).next().unwrap_or_default().to_owned();
        }
    }
    value.split('#').next().unwrap_or_default().trim().to_owned()
}

/// A value in double quotes, with special characters escaped ("Using Option Files" in MySQL's
/// manual).
pub(super) fn quoted(value: &str) -> String {
    let mut quoted = String::from("\"");
    for c in value.chars() {
        match c {
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// True if a value turns something off.
pub(super) fn is_off(value: &str) -> bool {
    ["0", "off", "false", "no"].iter().any(|off| value.trim().eq_ignore_ascii_case(off))
}

/// True if a value turns something on without saying more.
pub(super) fn is_on(value: &str) -> bool {
    ["", "1", "on", "true", "yes"].iter().any(|on| value.trim().eq_ignore_ascii_case(on))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn files_are_read_as_the_server_reads_them() {
        let text = "[client]\nsocket=/x\n[mysqld]\n# comment\n; another\nInnoDB-Buffer-Pool-Size = 1G # note\n\
                    skip-name-resolve\n[mysqldump]\nquick\n[mariadb-10.11]\n  port=\"33 06\"\n!includedir /etc/x\n";
        let expected = [
            ("InnoDB-Buffer-Pool-Size", Some("1G")),
            ("skip-name-resolve", None),
            ("quick", None),
            ("port", Some("33 06")),
            ("!include", None),
        ];
        let own = |(name, value): (&str, Option<&str>)| (name.to_owned(), value.map(str::to_owned));
        assert_eq!(read(text), expected.map(own));
        assert_eq!(plain("loose-InnoDB-Buffer-Pool-Size"), "innodb_buffer_pool_size");
        assert_eq!(plain("--skip_networking"), "networking");
    }

    #[test]
    fn values_are_quoted() {
        assert_eq!(quoted("O_DIRECT"), "\"O_DIRECT\"");
        assert_eq!(quoted("a\"b\\c\nport=1 # x"), "\"a\\\"b\\\\c\\nport=1 # x\"");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*", lines in "([\\[\\]a-z=#'\" !-]*\n){0,8}") {
            for text in [text, lines] {
                let found = read(&text);
                prop_assert!(found.len() <= text.lines().count());
                for (name, value) in found {
                    prop_assert_eq!(name.trim(), &*name);
                    prop_assert!(text.contains(&*name));
                    prop_assert!(value.is_none_or(|value| text.contains(&*value)));
                }
            }
        }

        #[test]
        fn a_value_is_one_line(value in "[ -~\\n\\r\\t]{0,20}") {
            prop_assert_eq!(quoted(&value).lines().count(), 1);
        }
    }
}
