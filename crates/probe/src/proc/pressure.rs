//! Pressure stall information: `/proc/pressure/{cpu,io,memory}`, since Linux 4.20.

/// Total time with at least one task waiting for the resource ("some"), in µs.
pub(crate) fn parse_some_us(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_some() {
        let text = "some avg10=0.40 avg60=0.16 avg300=0.21 total=3426732\n\
                    full avg10=0.40 avg60=0.16 avg300=0.19 total=3241709\n";
        assert_eq!(parse_some_us(text), Some(3_426_732));
        assert_eq!(parse_some_us("full avg10=0.40 total=3\n"), None);
    }

    proptest! {
        #[test]
        fn the_total_is_found_among_anything(
            total: u64, other in "(full[ a-z0-9=.]{0,30}\n){0,3}", words in "([a-s0-9=.]{1,9} ){0,5}",
        ) {
            let text = format!("{other}some {words}total={total}\n{other}");
            prop_assert_eq!(parse_some_us(&text), Some(total));
            prop_assert_eq!(parse_some_us(&other), None);
        }
    }
}
