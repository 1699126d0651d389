//! Passwords that may stand in a plan, kept out of what is stored.

/// The text with passwords taken out: `scheme://user:password@host` becomes `scheme://user@host`, and the
/// value of `password=` (in a URL or a connection string) becomes empty.
///
/// For texts that are stored or shown; the plan itself keeps the password, since the run needs it.
pub fn without_passwords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        rest = after;
        let end =
            rest.find(|c: char| c.is_whitespace() || "\"'/?#".contains(c)).unwrap_or(rest.len());
        let authority = &rest[..end];
        // The last @ ends the user part: a careless password may hold one itself.
        if let Some(host) = authority.rfind('@')
            && let Some(colon) = authority[..host].find(':')
        {
            out.push_str(&authority[..colon]);
            rest = &rest[host..];
        }
    }
    out.push_str(rest);
    without_assignments(&out)
}

fn without_assignments(text: &str) -> String {
    const KEY: &str = "password=";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // ASCII lower case keeps all byte positions.
    while let Some(at) = rest.to_ascii_lowercase().find(KEY) {
        let (before, after) = rest.split_at(at + KEY.len());
        out.push_str(before);
        let end =
            after.find(|c: char| c.is_whitespace() || "&\"';".contains(c)).unwrap_or(after.len());
        rest = &after[end..];
    }
    out.push_str(rest);
    out
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
            ("postgresql://db/x?user=a&password=b&c=d", "postgresql://db/x?user=a&password=&c=d"),
            ("host=a Password=b port=1", "host=a Password= port=1"),
            ("http://a:1/b@c", "http://a:1/b@c"),
            ("a://b:c@d e://f:g@h", "a://b@d e://f@h"),
        ] {
            assert_eq!(without_passwords(before), after);
        }
    }

    proptest! {
        #[test]
        fn no_url_password_survives(user in "[a-z]{1,8}", password in "[A-Z0-9@:%]{4,12}", host in "[a-z.]{1,12}") {
            let text = without_passwords(&format!("x = \"postgres://{user}:{password}@{host}/db\" # é"));
            prop_assert_eq!(text, format!("x = \"postgres://{user}@{host}/db\" # é"));
        }

        #[test]
        fn never_panics(text in ".*") {
            without_passwords(&text);
        }
    }
}
