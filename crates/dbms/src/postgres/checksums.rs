//! Checksums of data pages: a default that has changed, and a cost that is not the version's code.

/// The first major version whose initdb makes them unless told otherwise (its release notes).
const BY_DEFAULT: u32 = 18;

/// Whether a data directory has them that initdb of this version makes with these options; `None` for a version that
/// does not begin with a number.
fn made(version: &str, initdb: &[String]) -> Option<bool> {
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    let by_default = major.parse::<u32>().ok()? >= BY_DEFAULT;
    let said = initdb.iter().rev().find_map(|option| match option.as_str() {
        "-k" | "--data-checksums" => Some(true),
        "--no-data-checksums" => Some(false),
        _ => None,
    });
    Some(said.unwrap_or(by_default))
}

/// The sentence that must stand beside a comparison of variants (name, version, options of initdb) of which some have checksums
/// and others have none.
pub fn differing_checksums(variants: &[(&str, &str, &[String])]) -> Option<String> {
    let names = |wanted: bool| {
        let of_those =
            variants.iter().filter(|(_, version, options)| made(version, options) == Some(wanted));
        of_those.map(|(name, ..)| *name).collect::<Vec<_>>()
    };
    let (with, without) = (names(true), names(false));
    if with.is_empty() || without.is_empty() {
        return None;
    }
    Some(format!(
        "data pages of {} have checksums (from PostgreSQL {BY_DEFAULT} on initdb makes them by default), those of {} have none: differences \
         may come from that; initdb = [\"--data-checksums\"] for all makes them alike",
        with.join(", "),
        without.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_of_18_is_told_beside_older_ones() {
        let none: &[String] = &[];
        let with = &["--data-checksums".to_owned()][..];
        let without = &["--data-checksums".to_owned(), "--no-data-checksums".to_owned()][..];
        let said = differing_checksums(&[("a", "13.7", none), ("b", "18.1", none)]).unwrap();
        assert!(
            said.contains("pages of b have") && said.contains("those of a have none"),
            "{said}"
        );
        for alike in [
            [("a", "13.7", with), ("b", "18.1", none)],
            [("a", "13.7", none), ("b", "18devel", without)],
            [("a", "9.6.24", none), ("b", "17.2", none)],
            [("a", "unknown", none), ("b", "18.1", none)],
        ] {
            assert_eq!(differing_checksums(&alike), None, "{alike:?}");
        }
        let short = &["-k".to_owned()][..];
        assert!(differing_checksums(&[("a", "13.7", short), ("b", "14.3", none)]).is_some());
    }
}
