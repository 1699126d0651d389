//! Checksums of data pages: a default that changed, and a cost that does not come from the
//! version's code.

use crate::Compared;

/// The first major version whose initdb enables them by default (its release notes).
const BY_DEFAULT: u32 = 18;

/// True if initdb of this major version with these options creates a data directory with checksums;
/// `None` for an unknown version.
fn made(major: Option<u32>, initdb: &[String]) -> Option<bool> {
    let by_default = major? >= BY_DEFAULT;
    let said = initdb.iter().rev().find_map(|option| match option.as_str() {
        "-k" | "--data-checksums" => Some(true),
        "--no-data-checksums" => Some(false),
        _ => None,
    });
    Some(said.unwrap_or(by_default))
}

/// The sentence that must be shown with a comparison if only some variants have checksums.
pub(super) fn differing(variants: &[Compared<'_>]) -> Option<String> {
    let names = |wanted: bool| {
        let of_those = variants
            .iter()
            .filter(|variant| made(variant.installation.major(), variant.initdb) == Some(wanted));
        of_those.map(|variant| variant.name).collect::<Vec<_>>()
    };
    let (with, without) = (names(true), names(false));
    if with.is_empty() || without.is_empty() {
        return None;
    }
    Some(format!(
        "data pages of {} have checksums (from PostgreSQL {BY_DEFAULT} on initdb makes them by default), those of {} have none: differences may come from that; initdb = [\"--data-checksums\"] for all makes them alike",
        with.join(", "),
        without.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::Installation;

    /// The sentence for `a` and `b`, each a version and options of initdb.
    fn said(variants: [(&str, &[&str]); 2]) -> Option<String> {
        let made = variants.map(|(version, initdb)| {
            let installation = Installation::of("postgres", version);
            (installation, initdb.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>())
        });
        let of = |name, (installation, initdb)| Compared {
            name,
            installation,
            initdb,
            engine: None,
            durability: None,
        };
        let [(one, with_one), (other, with_other)] = &made;
        differing(&[of("a", (one, with_one)), of("b", (other, with_other))])
    }

    #[test]
    fn the_default_of_18_is_reported_with_older_versions() {
        let with = &["--data-checksums"][..];
        let without = &["--data-checksums", "--no-data-checksums"][..];
        let text = said([("13.7", &[]), ("18.1", &[])]).unwrap();
        assert!(
            text.contains("pages of b have") && text.contains("those of a have none"),
            "{text}"
        );
        for alike in [
            [("13.7", with), ("18.1", &[])],
            [("13.7", &[]), ("18.1", without)],
            [("9.6.24", &[]), ("17.0", &[])],
            [("unknown", &[]), ("18.1", &[])],
        ] {
            assert_eq!(said(alike), None, "{alike:?}");
        }
        assert!(said([("13.7", &["-k"]), ("14.3", &[])]).is_some());
    }
}
