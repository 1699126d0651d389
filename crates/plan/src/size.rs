//! Sizes such as `512MB`.

/// A size that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is not a size; write a number of bytes or a number with B, KB, MB, GB or TB, such as \"512MB\""
)]
pub struct SizeError {
    /// The text that was written.
    pub found: String,
}

/// Reads a size in bytes: `4096`, `512MB`, `1.5 GiB`.
///
/// Units are powers of 1024, with or without `i` and in either case, because that is how Postgres
/// and MySQL read `MB` in their settings: `512MB` = `512MiB` = 536870912.
///
/// # Errors
/// When the text is not such a size, or does not fit in 64 bits.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let error = || SizeError { found: text.to_owned() };
    let trimmed = text.trim();
    let digits = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(error()),
    };
    let number = number.replace('_', "");
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift).ok_or_else(error);
    }
    let fraction: f64 = number.parse().map_err(|_| error())?;
    let bytes = fraction * (1u64 << shift) as f64;
    if shift == 0 || !(0.0..9.0e18).contains(&bytes) {
        return Err(error());
    }
    Ok(bytes as u64)
}

/// Writes a size so that [`parse_size`] reads the same number: in the largest unit that divides it.
pub(crate) fn format_size(bytes: u64) -> String {
    for (shift, unit) in [(40, "TB"), (30, "GB"), (20, "MB"), (10, "KB")] {
        if bytes > 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("512MB"), Ok(512 << 20));
        assert_eq!(parse_size(" 1 GiB "), Ok(1 << 30));
        assert_eq!(parse_size("1.5k"), Ok(1536));
        assert_eq!(parse_size("1_000 b"), Ok(1000));
        for bad in ["", "MB", "12 parsecs", "-1MB", "1.5", "99999999999TB", "1e3", "½GB"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn written_sizes_are_read_again(bytes: u64) {
            prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }

        #[test]
        fn anything_is_a_size_or_named(text in "[0-9._]{1,5} ?[kKmMgGtT]?i?[bB]?|.*") {
            match parse_size(&text) {
                Ok(bytes) => prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes)),
                Err(error) => prop_assert_eq!(error.found, text),
            }
        }
    }
}
