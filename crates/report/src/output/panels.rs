//! Charts of many small panels on one scale, as SVG.

use std::fmt::Write;

/// Size of a panel and the space around it, in pixels.
const PANEL: (f64, f64) = (150.0, 84.0);
const GAP: (f64, f64) = (40.0, 46.0);
const LEFT: f64 = 44.0;
const TOP: f64 = 62.0;

/// Marks of the x axis that are closer than this have no label.
const APART: f64 = 22.0;

/// Colors that color-blind readers can tell apart (M. Okabe and K. Ito, 2008).
const COLORS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#7a7a7a"];

/// A chart.
#[derive(Debug, Clone)]
pub struct Panels {
    /// Its title.
    pub title: String,
    /// Names of the lines, four at most; the first is the thickest.
    pub lines: Vec<String>,
    /// The x axis from left to right: where a mark is, and its label.
    pub x: Vec<(f64, String)>,
    /// The y axis from bottom to top.
    pub y: Vec<(f64, String)>,
    /// The label of the x axis.
    pub below: String,
    /// Panels in a row.
    pub columns: usize,
    /// In order.
    pub panels: Vec<Panel>,
}

/// One panel.
#[derive(Debug, Clone)]
pub struct Panel {
    /// Its title.
    pub title: String,
    /// The points of each line of [`Panels::lines`], by x.
    pub lines: Vec<Vec<(f64, f64)>>,
}

/// Where a value is, from 0 at the first mark to 1 at the last.
fn share(marks: &[(f64, String)], value: f64) -> f64 {
    match marks {
        [(first, _), .., (last, _)] => (value - first) / (last - first),
        _ => 0.5,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn thickness(line: usize) -> f64 {
    if line == 0 { 2.5 } else { 1.5 }
}

impl Panels {
    /// The chart as an SVG file.
    pub fn svg(&self) -> String {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let width = LEFT + columns as f64 * (PANEL.0 + GAP.0);
        let height = TOP + rows as f64 * (PANEL.1 + GAP.1) + 4.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" \
             fill=\"#222\">\n<title>{}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
            escaped(&self.title)
        );
        for (place, (name, color)) in self.lines.iter().zip(COLORS).enumerate() {
            let x = LEFT + 160.0 * place as f64;
            let _ = writeln!(
                svg,
                "<path d=\"M{x} 18h24\" stroke=\"{color}\" stroke-width=\"{}\"/>\
                 <text x=\"{}\" y=\"22\">{}</text>",
                thickness(place),
                x + 30.0,
                escaped(name)
            );
        }
        for (place, panel) in self.panels.iter().enumerate() {
            let left = LEFT + (place % columns) as f64 * (PANEL.0 + GAP.0);
            let top = TOP + (place / columns) as f64 * (PANEL.1 + GAP.1);
            self.draw(&mut svg, (left, top), panel);
        }
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{}\">{}</text>\n</svg>",
            height - 6.0,
            escaped(&self.below)
        );
        svg
    }

    fn draw(&self, svg: &mut String, (left, top): (f64, f64), panel: &Panel) {
        let x = |value: f64| left + PANEL.0 * share(&self.x, value);
        let y = |value: f64| top + PANEL.1 * (1.0 - share(&self.y, value));
        let title = escaped(&panel.title);
        let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\">{title}</text>", top - 8.0);
        svg.push_str("<g stroke=\"#ddd\">");
        for (value, _) in &self.y {
            let _ = write!(svg, "<path d=\"M{left} {:.1}h{}\"/>", y(*value), PANEL.0);
        }
        svg.push_str("</g>\n<g font-size=\"9\" text-anchor=\"end\">");
        for (value, label) in &self.y {
            let (x, y, label) = (left - 2.0, y(*value) + 3.0, escaped(label));
            let _ = write!(svg, "<text x=\"{x}\" y=\"{y:.1}\">{label}</text>");
        }
        svg.push_str("</g>\n<g font-size=\"9\" text-anchor=\"middle\">");
        let mut free = f64::NEG_INFINITY;
        for (value, label) in &self.x {
            if x(*value) >= free {
                free = x(*value) + APART;
                let (x, y, label) = (x(*value), top + PANEL.1 + 12.0, escaped(label));
                let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y}\">{label}</text>");
            }
        }
        svg.push_str("</g>\n");
        // The first is drawn last, on top.
        for (place, points) in panel.lines.iter().enumerate().rev() {
            let points = points.iter().map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(*value)));
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>",
                points.collect::<Vec<_>>().join(" "),
                COLORS[place % COLORS.len()],
                thickness(place)
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_where_their_values_are() {
        let mark = |value: f64| (value, value.to_string());
        let panel = |title: &str| Panel {
            title: title.to_owned(),
            lines: vec![vec![(1.0, 0.0), (3.0, 10.0)], vec![(1.0, 5.0)]],
        };
        let chart = Panels {
            title: "a < b".to_owned(),
            lines: vec!["one".to_owned(), "two".to_owned()],
            x: vec![mark(1.0), mark(1.1), mark(3.0)],
            y: vec![mark(0.0), mark(10.0)],
            below: "minutes".to_owned(),
            columns: 2,
            panels: vec![panel("p"), panel("q"), panel("r")],
        };
        let svg = chart.svg();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
        assert!(svg.contains("<title>a &lt; b</title>"));
        assert_eq!(svg.matches("<polyline").count(), 6);
        // From the lower left to the upper right corner.
        assert!(svg.contains("points=\"44.0,146.0 194.0,62.0\""), "{svg}");
        // The third is in the second row.
        assert!(svg.contains("points=\"44.0,276.0 194.0,192.0\""), "{svg}");
        assert!(!svg.contains(">1.1<") && svg.contains(">3<"), "labels don't overlap: {svg}");
    }
}
