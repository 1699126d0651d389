//! "Did you mean": the known word nearest to a mistyped one.

use strsim::osa_distance;

/// The known word nearest to `word`, if it is near enough; ignores case and treats `-` as `_`.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |s: &str| s.to_ascii_lowercase().replace('-', "_");
    let distance = |candidate| (osa_distance(&fold(word), &fold(candidate)), candidate);
    // A third of the letters may be wrong, at least one (as rustc and cargo do it for mistyped
    // names).
    let near = |(distance, _): &(usize, &str)| *distance <= (word.chars().count() / 3).max(1);
    known.into_iter().map(distance).filter(near).min_by_key(|one| one.0).map(|one| one.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_but_not_far() {
        let known = ["rows", "steps", "dop", "indexed_rows"];
        for (word, meant) in [
            ("row", Some("rows")),
            ("setps", Some("steps")),
            ("rwos", Some("rows")),
            ("Indexed-Rows", Some("indexed_rows")),
            ("threads", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }
}
