//! Texts with passwords in them.

use super::*;
use proptest::prelude::*;

#[test]
fn passwords_go_and_the_rest_stays() {
    for (before, after) in [
        (r#"dbms = "postgres://me:s3cret@db:5432/x""#, r#"dbms = "postgres://me@db:5432/x""#),
        ("postgres://me@db/x", "postgres://me@db/x"),
        ("postgres://me:p@ss@db/x", "postgres://me@db/x"),
        ("postgres://me:b#d e'f@db/x?a=b", "postgres://me@db/x?a=b"),
        ("postgres://me:a/b?c#d e'f@db/x?a=b", "postgres://me:<hidden>"),
        ("postgres://db/x?user=me&password=p@ss", "postgres://db:<hidden>"),
        (
            "see postgres://db:5432/x?user=me&password=p@ss, there",
            "see postgres://db:<hidden> there",
        ),
        ("postgresql:///x?host=/run&user=me&password=p@ss", "postgresql://:<hidden>"),
        ("postgres://[::1]:5432/x?user=me&password=p@s/d", "postgres://[:<hidden>"),
        ("postgres://me:a@db/x?password=p@ss", "postgres://me:<hidden>"),
        ("postgres://me@db/x?password=p@ss", "postgres://me@db/x?password=<hidden>"),
        ("x postgres://db/x?password=a\u{a0}b y", "x postgres://db/x?password=<hidden> y"),
        ("postgres://me@db/x?application_name=a@b", "postgres://me@db/x?application_name=a@b"),
        (
            "postgresql://db/x?user=a&password=b&c=d",
            "postgresql://db/x?user=a&password=<hidden>&c=d",
        ),
        ("postgresql://db/x?%70assword=b c&d=e", "postgresql://db/x?%70assword=<hidden>&d=e"),
        ("x 'postgresql://db/x?sslpassword=b' y", "x 'postgresql://db/x?sslpassword=<hidden>' y"),
        ("host=a Password=b port=1", "host=a Password=<hidden> port=1"),
        ("host=a password = 'b c' port=1", "host=a password = <hidden> port=1"),
        ("host=a password=b;c&d'e port=1", "host=a password=<hidden> port=1"),
        (r"password=b\ c", "password=<hidden>"),
        ("host=a password=b\u{a0}c port=1", "host=a password=<hidden> port=1"),
        (r"password='it\'s'", "password=<hidden>"),
        ("password='it''s' port=1", "password=<hidden> port=1"),
        (r"host=h password='a://:\'b' dbname=d", "host=h password=<hidden>"),
        (r#"{"password": "b c", "port": 1}"#, r#"{"password": <hidden>, "port": 1}"#),
        ("ALTER ROLE a PASSWORD 'b c' LOGIN", "ALTER ROLE a PASSWORD <hidden> LOGIN"),
        ("ALTER ROLE a PASSWORD $x$b c$x$ LOGIN", "ALTER ROLE a PASSWORD <hidden> LOGIN"),
        ("CREATE USER a IDENTIFIED BY 'b c'; x", "CREATE USER a IDENTIFIED BY <hidden>; x"),
        (
            r#"identified with 'sha' by "b c" require ssl"#,
            "identified with 'sha' by <hidden> require ssl",
        ),
        (
            "IDENTIFIED VIA ed25519 USING PASSWORD('b')",
            "IDENTIFIED VIA ed25519 USING PASSWORD(<hidden>)",
        ),
        ("IDENTIFIED BY PASSWORD '*9A'", "IDENTIFIED BY PASSWORD <hidden>"),
        ("SET PASSWORD FOR 'a'@'b' = 'c d';", "SET PASSWORD FOR 'a'@'b' = <hidden>;"),
        ("it was identified as a's", "it was identified as a's"),
        ("OPTIONS (password 'b')", "OPTIONS (password <hidden>)"),
        ("PGPASSWORD=b psql", "PGPASSWORD=<hidden> psql"),
        ("password_encryption = md5", "password_encryption = md5"),
        (
            "password authentication failed for user \"a\"",
            "password authentication failed for user \"a\"",
        ),
        ("no password supplied", "no password supplied"),
        ("http://a:1/b@c", "http://a:1/b@c"),
        ("http://b:c@d ssh://f:g@h", "http://b@d ssh://f@h"),
        ("postgre://b:c d@h", "postgre://b@h"),
        ("mysql://me:s3cret@host/d", "mysql://me@host/d"),
        ("mysql://me:p#w z'\"@h/d", "mysql://me@h/d"),
        ("mysql://me:p#w/x?y z'\"@h/d", "mysql://me:<hidden>"),
        ("at postgres://me:a'://b@h: no", "at postgres://me:<hidden> no"),
        ("-v 'postgres://a:b@h' -v 'mysql://c:d@h'", "-v 'postgres://a@h' -v 'mysql://c@h'"),
        ("-v 'mysql://me:p#w z@h/d' -v b", "-v 'mysql://me@h/d' -v b"),
        ("`mysql://me:it's@h:3306/d`: refused", "`mysql://me@h:3306/d`: refused"),
        ("at mysql://me@h:3306: refused to 'me'@'x'", "at mysql://me@h:3306: refused to 'me'@'x'"),
        ("at postgres://db:5432, root@db", "at postgres://db:5432, root@db"),
        ("- mysql://me:a@h/d mariadb://you:b@i/e", "- mysql://me@h/d mariadb://you@i/e"),
        ("jdbc:mysql://h/d?user=a&password=b&c=d", "jdbc:mysql://h/d?user=a&password=<hidden>&c=d"),
        ("mysql+pymysql://me:a b@h/d", "mysql+pymysql://me@h/d"),
        ("mysql://me:s3cret", "mysql://me:<hidden>"),
        ("mysql://me@corp:p/w@h/d", "mysql://me:<hidden>"),
        ("postgres://me@[::1]:5432/d?a=b@c", "postgres://me@[::1]:5432/d?a=b@c"),
        ("MYSQL_PWD=b mysql --passwd=c", "MYSQL_PWD=<hidden> mysql --passwd=<hidden>"),
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
        ("wsrep-sst-auth", "me:s3cret", HIDDEN),
        ("loose_wsrep_sst_auth", "me:s3cret", HIDDEN),
        ("some.extension_password", "x", HIDDEN),
        ("some.extension", "host=a password = b", "host=a password = <hidden>"),
        ("password_encryption", "md5", "md5"),
        ("shared_buffers", "1GB", "1GB"),
    ] {
        assert_eq!(setting_without_passwords(name, value), expected, "{name}");
    }
}

#[test]
fn option_files_keep_only_what_is_no_password() {
    let text = "[mysqld]\nwsrep-sst-auth = me:s3cret\nport=1 # x\nreport-password=s3cret\n";
    let hidden =
        "[mysqld]\nwsrep-sst-auth = '<hidden>'\nport=1 # x\nreport-password = '<hidden>'\n";
    assert_eq!(configuration_without_passwords(text), hidden);
    assert_eq!(configuration_without_passwords(hidden), hidden);
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
            format!("ALTER USER me IDENTIFIED BY '{}'", password.replace('\'', "''")),
            format!("SET PASSWORD FOR me = PASSWORD({})", quoted(&password)),
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

    /// The shown parts stand in the text, in this order. Where nothing announces a password, they
    /// are the whole text.
    #[test]
    fn the_rest_stays(text in ".*", more in "(password|://|[ =:'\"$\\\\@?&%é])*") {
        for text in [text, more] {
            let hidden = without_passwords(&text);
            let shown = hidden.replace(&format!(":{HIDDEN}"), "").replace(HIDDEN, "");
            let mut letters = text.chars();
            prop_assert!(shown.chars().all(|c| letters.any(|other| other == c)), "{text} → {hidden}");
            let lower = text.to_ascii_lowercase();
            let announced = lower.contains("://") || lower.contains("identified ");
            let announced = announced || KEYS.iter().any(|key| lower.contains(key));
            prop_assert!(announced || hidden == text, "{text} → {hidden}");
            let name = setting_of(&text);
            prop_assert!(text.trim_start().starts_with(name), "{text}: {name}");
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c)), "{name}");
        }
    }
}
