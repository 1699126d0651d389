//! Checksums of data pages: a default that has changed, and a cost that is not the version's code.

/// The first major version whose initdb makes them unless told otherwise (its release notes).
const BY_DEFAULT: u32 = 18;

/// Whether a data directory has them that initdb of this major version makes with these options; `None` for a version that
/// is not known.
fn made(major: Option<u32>, initdb: &[String]) -> Option<bool> {
    let by_default = major? >= BY_DEFAULT;
    let said = initdb.iter().rev().find_map(|option| match option.as_str() {
        "-k" | "--data-checksums" => Some(true),
        "--no-data-checksums" => Some(false),
        _ => None,
    });
    Some(said.unwrap_or(by_default))
}

/// The sentence that must stand beside a comparison of variants (name, major version, options of initdb) of which some have checksums
/// and others have none.
pub fn differing_checksums(variants: &[(&str, Option<u32>, &[String])]) -> Option<String> {
    let names = |wanted: bool| {
        let of_those =
            variants.iter().filter(|(_, major, options)| made(*major, options) == Some(wanted));
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
        let said = differing_checksums(&[("a", Some(13), none), ("b", Some(18), none)]).unwrap();
        assert!(
            said.contains("pages of b have") && said.contains("those of a have none"),
            "{said}"
        );
        for alike in [
            [("a", Some(13), with), ("b", Some(18), none)],
            [("a", Some(13), none), ("b", Some(18), without)],
            [("a", Some(9), none), ("b", Some(17), none)],
            [("a", None, none), ("b", Some(18), none)],
        ] {
            assert_eq!(differing_checksums(&alike), None, "{alike:?}");
        }
        let short = &["-k".to_owned()][..];
        assert!(differing_checksums(&[("a", Some(13), short), ("b", Some(14), none)]).is_some());
    }
}
