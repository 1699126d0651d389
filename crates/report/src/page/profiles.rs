//! The profiles in the form that the page gets: compressed flamegraphs and tables.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use plan::{Labels, StepKey};
use serde::Serialize;
use store::Store;

use super::why::step_tables;
use crate::ReportError;
use crate::load::model::Results;
use crate::output::table::Table;
use crate::profiles::{Flame, flames, read};

/// Maximum bytes of compressed flamegraphs in a page: about 200 of them.
const MOST: usize = 8 << 20;

/// The profiles of one step.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PageProfile {
    pub(crate) step: String,
    pub(crate) dop: u32,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Labels>", optional))]
    pub(crate) labels: Labels,
    pub(crate) flames: Vec<PageFlame>,
    pub(crate) tables: Vec<Table>,
}

/// A flamegraph: of a variant, or of the difference of two.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct PageFlame {
    /// Index of the variant.
    pub(crate) variant: usize,
    /// Index of the variant it is compared with, if it is a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<usize>,
    pub(crate) samples: u64,
    /// The SVG, deflated without a header (RFC 1951), in base64.
    pub(crate) svg: String,
}

/// The profiles of an experiment for its page, and a warning if some are left out.
pub(crate) fn page_profiles(
    store: &Store,
    results: &Results,
    base: usize,
) -> Result<(Vec<PageProfile>, Option<String>), ReportError> {
    let mut pages = Vec::new();
    let (mut bytes, mut left_out) = (0, 0);
    for profiles in read(store, results)? {
        let Some(step) = results.steps.get(profiles.step) else { continue };
        let mut shown = Vec::new();
        for Flame { variant, base, svg } in flames(results, step, &profiles, base)? {
            let svg = packed(&svg);
            if bytes + svg.len() > MOST {
                left_out += 1;
                continue;
            }
            bytes += svg.len();
            let samples = profiles.variants[variant].samples();
            shown.push(PageFlame { variant, base, samples, svg });
        }
        let tables = step_tables(results, &profiles, base);
        let StepKey { name, dop, labels } = step.key.clone();
        pages.push(PageProfile { step: name, dop, labels, flames: shown, tables });
    }
    let said = (left_out > 0).then(|| {
        format!(
            "{left_out} flamegraphs are left out because the page would be too large; they are in the results directory \
             under artifacts/profiles"
        )
    });
    Ok((pages, said))
}

/// Deflated, in base64: a flamegraph takes a tenth of its size.
fn packed(svg: &str) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing into memory can't fail.
    let _ = encoder.write_all(svg.as_bytes());
    STANDARD.encode(encoder.finish().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn what_is_packed_can_be_unpacked() {
        let svg = "<svg>".repeat(1000);
        let packed = packed(&svg);
        assert!(packed.len() < 100);
        let bytes = STANDARD.decode(packed).unwrap();
        let mut text = String::new();
        flate2::read::DeflateDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, svg);
    }
}
