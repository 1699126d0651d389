//! A text that a system's own client takes for a password never appears in this crate's output for
//! it.

use percent_encoding::percent_decode_str;
use proptest::prelude::*;

use crate::{Reference, hidden, split_name, variant_name, without_passwords};

/// The passwords that libpq finds in a URL (`conninfo_uri_parse_options`): the user's part ends at
/// an `@` before the first `/`, and parameters follow the first `?` after it.
fn found_by_libpq(url: &str) -> Vec<String> {
    let prefixes = ["postgres://", "postgresql://"];
    let Some(rest) = prefixes.iter().find_map(|prefix| url.strip_prefix(prefix)) else {
        return Vec::new();
    };
    let (user, rest) = match rest.find(['@', '/']) {
        Some(end) if rest[end..].starts_with('@') => (&rest[..end], &rest[end + 1..]),
        _ => ("", rest),
    };
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let options = rest.split_once('?').unwrap_or_default().1.split('&');
    let options = options.filter_map(|option| option.split_once('='));
    let options = options.filter(|(name, _)| decoded(name) == "password");
    let found = user.split_once(':').into_iter().chain(options);
    found.map(|(_, password)| decoded(password)).collect()
}

/// The passwords that clients of PostgreSQL or of MySQL find in a text.
fn found_by_clients(text: &str) -> Vec<String> {
    let postgres = text.parse::<postgres::Config>().ok();
    let postgres = postgres.as_ref().and_then(postgres::Config::get_password);
    let mysql = mysql::Opts::from_url(text).ok();
    let mysql = mysql.as_ref().and_then(mysql::Opts::get_pass);
    let postgres = postgres.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    postgres.into_iter().chain(mysql.map(str::to_owned)).chain(found_by_libpq(text)).collect()
}

/// All that is made of a reference and may be shown or stored.
fn made_of(text: &str) -> Vec<String> {
    let (name, reference) = split_name(text);
    let mut made = vec![name.unwrap_or_default().to_owned()];
    for text in [text, reference] {
        let parsed = text.parse::<Reference>();
        let error = parsed.as_ref().err().map(ToString::to_string).unwrap_or_default();
        made.extend([hidden(text), variant_name(text), error, format!("{parsed:?}")]);
    }
    made
}

/// Four letters of a password in a row that a text has, too. All other letters are small. Parsers
/// drop some control characters.
fn survivor(text: &str, password: &str) -> Option<String> {
    let plain = |text: &str| text.replace(char::is_control, "");
    let (text, password) = (plain(text), plain(password));
    let decoded = percent_decode_str(&text).decode_utf8_lossy().into_owned();
    let letters: Vec<char> = password.chars().collect();
    let fours = letters.windows(4).filter(|four| four.iter().all(char::is_ascii_uppercase));
    fours.map(String::from_iter).find(|four| text.contains(four) || decoded.contains(four))
}

/// Texts in which a reference may be.
fn around(reference: &str) -> Vec<String> {
    let escaped = reference.replace('\\', "\\\\").replace('"', "\\\"");
    let quoted = reference.replace('\'', "'\\''");
    let texts = vec![
        reference.to_owned(),
        format!("variant `a`: cannot use `{reference}`: it names no database"),
        format!("[variants.a]\ndbms = \"{escaped}\"\n[workload.insert]\n"),
        format!("{{\"dbms\":\"{escaped}\",\"steps\":[\"l.i0\"]}}"),
        format!("steelyard run insert -v '{quoted}' -v old=postgres@14.3"),
        format!("Reference({reference:?})"),
        format!("2026-11-22 ERROR: {reference}"),
    ];
    let more: Vec<String> =
        texts.iter().skip(1).map(|text| format!("{text} # write to a@b.example")).collect();
    texts.into_iter().chain(more).collect()
}

/// A password as libpq quotes it in a connection string.
fn quoted(password: &str) -> String {
    format!("'{}'", password.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn encoded(password: &str) -> String {
    let one = |b: u8| match b.is_ascii_alphanumeric() {
        true => char::from(b).to_string(),
        false => format!("%{b:02X}"),
    };
    password.bytes().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_password_that_a_client_finds_survives(
        scheme in "((postgres|postgresql|mysql|mariadb|MySQL)://|host=h |)",
        parts in prop::collection::vec(prop::sample::select(vec![
            "SECRET", "SECRET", "ENCODED", "me", "h", "3306", ":", "@", "/", "?", "#", "&", "=",
            "password=", "user=me", "host=", "dbname=d", "%40", "%20", " ", "'", "\"", "\\", "\t",
            "[", "]", "://", ",", "git:", "path:", "postgres@", "me:SECRET@h/d", "@h/d", "me:",
        ]), 0..10),
    ) {
        // Text that is not a password may be shown, so all differ: AAAA, BBBB, …
        let text = (b'A'..=b'Z').fold(scheme + &parts.concat(), |text, letter| {
            let [plain, code] = [char::from(letter).to_string(), format!("%{letter:02X}")];
            let next = if text.contains("SECRET") { ("SECRET", plain) } else { ("ENCODED", code) };
            text.replacen(next.0, &next.1.repeat(4), 1)
        });
        for password in found_by_clients(&text) {
            for made in made_of(&text) {
                let survivor = survivor(&made, &password);
                prop_assert_eq!(survivor, None, "{:?} → {:?}", text, made);
            }
        }
    }

    #[test]
    fn no_password_survives_wherever_its_reference_is(
        scheme in "(postgres|postgresql|mysql|mariadb)",
        user in "[a-z]{1,5}",
        password in "[QXZ]{4}[QXZ '\"\\\\&;=,:/?#%}@<>\\[\\]]{0,6}[QXZ]{4}",
        place in "(h|db\\.example|\\[::1\\])(:3306)?",
        rest in "(/d(\\?(connect_timeout=3|socket=/x)?)?)?",
    ) {
        let code = encoded(&password);
        let string = quoted(&password);
        // As far as a parameter may have it, and a text around it doesn't end it.
        let raw = password.replace([' ', '\'', '"', '&', '=', '%'], "");
        for reference in [
            format!("{scheme}://{place}/d?user={user}&password={raw}"),
            format!("{scheme}://{place}?user={user}&password={raw}"),
            format!("{scheme}:///d?host=/run&user={user}&password={raw}"),
            format!("{scheme}://{user}@{place}/d?password={raw}"),
            format!("{scheme}://{user}:{password}@{place}{rest}"),
            format!("{scheme}://{user}:{code}@{place}{rest}"),
            format!("{scheme}://{user}@corp:{password}@{place}{rest}"),
            format!("{scheme}://h/d?user={user}&password={code}"),
            format!("host=h user={user} password={string} dbname=d"),
            format!("password = {string} host=h user={user}"),
        ] {
            for made in made_of(&reference) {
                let survivor = survivor(&made, &password);
                prop_assert_eq!(survivor, None, "{:?} → {:?}", reference, made);
            }
            for text in around(&reference) {
                let made = without_passwords(&text);
                let survivor = survivor(&made, &password);
                prop_assert_eq!(survivor, None, "{:?} → {:?}", text, made);
                prop_assert_eq!(without_passwords(&made), made.clone(), "hiding twice");
            }
            // The stored text is hidden once more there.
            let stored = hidden(&reference);
            prop_assert_eq!(without_passwords(&stored), stored.clone());
            prop_assert_eq!(hidden(&stored), stored);
        }
    }
}
