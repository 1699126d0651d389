//! "Did you mean": the known word nearest to a mistyped one.

/// The known word nearest to `word`, when it is near enough to be meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong, at least one (as rustc and cargo do it for mistyped names).
    let limit = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance with insertions, deletions, replacements and swaps of neighbours
/// (optimal string alignment), without regard to case and to `-` against `_`.
fn distance(a: &str, b: &str) -> usize {
    let fold = |s: &str| -> Vec<char> {
        s.chars().take(100).map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
    };
    let (a, b) = (fold(a), fold(b));
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (previous[j] + 1).min(row[j - 1] + 1).min(previous[j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("rows", "rows"), 0);
        assert_eq!(distance("row", "rows"), 1);
        assert_eq!(distance("rwos", "rows"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("Indexed-Rows", "indexed_rows"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn near_but_not_far() {
        let known = ["rows", "steps", "dop"];
        assert_eq!(nearest("row", known), Some("rows"));
        assert_eq!(nearest("setps", known), Some("steps"));
        assert_eq!(nearest("threads", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
