//! Lists of CPUs as the kernel writes them: `0-3,8,10-11`.

/// Larger numbers are not CPUs: no kernel has more (`CONFIG_NR_CPUS` is at most 8192).
const MOST: usize = 1 << 16;

/// The numbers of a list, ascending and without repeats. `None` if the text isn't such a list; an
/// empty text is an empty list.
pub(crate) fn parse(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number < MOST);
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return None;
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The list of ascending numbers, as the kernel writes it.
    fn text(numbers: &[usize]) -> String {
        let runs = numbers.chunk_by(|a, b| a + 1 == *b).filter_map(|run| {
            let (first, last) = (run.first()?, run.last()?);
            Some(if first == last { first.to_string() } else { format!("{first}-{last}") })
        });
        runs.collect::<Vec<_>>().join(",")
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse("\n"), Some(vec![]));
        for wrong in ["3-1", "a", "1,", "0-4294967295", "-", "1--2", "0-99999"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers in prop::collection::btree_set(0_usize..300, 0..60)) {
            let numbers: Vec<usize> = numbers.into_iter().collect();
            prop_assert_eq!(parse(&text(&numbers)), Some(numbers));
        }

        #[test]
        fn what_is_read_is_a_list(list in "[-0-9, x]{0,12}|([0-9]{1,3}(-[0-9]{1,3})?,){0,3}[0-9]") {
            if let Some(numbers) = parse(&list) {
                prop_assert!(numbers.is_sorted_by(|a, b| a < b));
                prop_assert_eq!(parse(&text(&numbers)), Some(numbers));
                prop_assert!(!list.contains('x'));
            }
        }
    }
}
