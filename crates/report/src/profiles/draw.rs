//! Flamegraphs as SVG, drawn by the crate `inferno`.

use inferno::flamegraph::{self, Options};

use super::Folded;
use crate::ReportError;

/// Width of a flamegraph in pixels, as wide as the page allows.
const WIDTH: usize = 1150;
/// Functions narrower than this percentage of the width, about a pixel, are left out: they are
/// invisible and would make up most of the SVG.
const NARROW: f64 = 0.1;

/// A flamegraph of the samples; `None` without samples.
pub(crate) fn flamegraph(folded: &Folded, title: &str) -> Result<Option<String>, ReportError> {
    drawn(
        &folded.to_text(),
        &mut options(title, "width: share of samples, all clients and processes of the server"),
    )
}

/// A flamegraph of the variant's samples whose colors show growth (red) or shrinking (blue) since
/// the base, by shares: the base's samples are scaled to the number of the variant's. `None` if
/// either has no samples.
pub(crate) fn differential(
    base: &Folded,
    variant: &Folded,
    title: &str,
) -> Result<Option<String>, ReportError> {
    if base.is_empty() || variant.is_empty() {
        return Ok(None);
    }
    let how = inferno::differential::Options { normalize: true, ..Default::default() };
    let mut both = Vec::new();
    inferno::differential::from_readers(
        how,
        base.to_text().as_bytes(),
        variant.to_text().as_bytes(),
        &mut both,
    )
    .map_err(ReportError::Draw)?;
    let mut lines: Vec<String> =
        String::from_utf8_lossy(&both).lines().map(str::to_owned).collect();
    lines.sort_unstable();
    let options = &mut options(title, "red: a larger share than in the base, blue: a smaller one");
    drawn(&(lines.join("\n") + "\n"), options)
}

fn options(title: &str, subtitle: &str) -> Options<'static> {
    let mut options = Options::default();
    options.title = title.to_owned();
    options.subtitle = Some(subtitle.to_owned());
    options.min_width = NARROW;
    // Without a width it would use the width of its window, which a frame in a page may not know
    // yet when the script runs.
    options.image_width = Some(WIDTH);
    // The same function always gets the same color, and the same profile the same picture.
    options.hash = true;
    options
}

fn drawn(lines: &str, options: &mut Options<'_>) -> Result<Option<String>, ReportError> {
    if lines.trim().is_empty() {
        return Ok(None);
    }
    let mut svg = Vec::new();
    flamegraph::from_lines(options, lines.lines(), &mut svg).map_err(ReportError::Draw)?;
    Ok(Some(String::from_utf8_lossy(&svg).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flamegraphs_show_their_functions() {
        let base = Folded::of("postgres;main;f 60\npostgres;main;g 40\n");
        let variant = Folded::of("postgres;main;f 30\npostgres;main;<h> 170\n");
        let svg = flamegraph(&base, "l.i0: pg13.7").unwrap().unwrap();
        assert!(svg.contains("<svg") && svg.contains("l.i0: pg13.7"));
        assert!(svg.contains("f (60 samples, 60.00%)"), "{svg}");
        assert_eq!(flamegraph(&base, "l.i0: pg13.7").unwrap().unwrap(), svg, "drawn alike");
        let svg = differential(&base, &variant, "l.i0").unwrap().unwrap();
        // 60 of 100 scale to 120 of 200; 30 are left.
        assert!(svg.contains("f (30 samples, 15.00%; -45.00%)"), "{svg}");
        assert!(svg.contains("&lt;h&gt; (170 samples"), "names are no markup");
        assert_eq!(flamegraph(&Folded::default(), "").unwrap(), None);
        assert_eq!(differential(&base, &Folded::default(), "").unwrap(), None);
    }
}
