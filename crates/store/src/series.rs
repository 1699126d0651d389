//! Series as bytes.

/// Packs values in little-endian order: as 32-bit floats if that is exact for all (as it is for
/// counts), otherwise as 64-bit floats. Returns the name of the encoding and the bytes.
pub(crate) fn encode(values: &[f64]) -> (&'static str, Vec<u8>) {
    let fits = |x: &f64| x.is_nan() || f64::from(*x as f32).to_bits() == x.to_bits();
    if values.iter().all(fits) {
        let bytes = values.iter().flat_map(|x| (*x as f32).to_le_bytes());
        ("f32", bytes.collect())
    } else {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes());
        ("f64", bytes.collect())
    }
}

/// The reverse; `None` if the bytes or the encoding are invalid.
pub(crate) fn decode(encoding: &str, bytes: &[u8]) -> Option<Vec<f64>> {
    match encoding {
        "f32" => {
            let (chunks, rest) = bytes.as_chunks::<4>();
            let values = chunks.iter().map(|c| f64::from(f32::from_le_bytes(*c)));
            rest.is_empty().then(|| values.collect())
        }
        "f64" => {
            let (chunks, rest) = bytes.as_chunks::<8>();
            let values = chunks.iter().map(|c| f64::from_le_bytes(*c));
            rest.is_empty().then(|| values.collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_take_four_bytes_and_fractions_eight() {
        assert_eq!(encode(&[1.0, 16_777_216.0, f64::NAN]).1.len(), 12);
        assert_eq!(encode(&[0.1]).1.len(), 8);
        assert_eq!(encode(&[16_777_217.0]).1.len(), 8);
        assert_eq!(decode("f32", &[0; 5]), None);
        assert_eq!(decode("f16", &[]), None);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(values: Vec<f64>) {
            let (encoding, bytes) = encode(&values);
            let back = decode(encoding, &bytes).unwrap();
            prop_assert_eq!(back.len(), values.len());
            for (a, b) in back.iter().zip(&values) {
                prop_assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()));
            }
        }
    }
}
