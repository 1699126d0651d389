//! The chart: shares of right and of wrong calls over machine time, as SVG.

use std::fmt::Write;

use super::BUILDS;
use super::board::{Board, MINUTES, Tally, planted};
use super::contenders::Contender;

/// Size of a panel and what is left around it.
const PANEL: (f64, f64) = (150.0, 84.0);
const GAP: (f64, f64) = (36.0, 34.0);
const LEFT: f64 = 118.0;
const TOP: f64 = 66.0;

/// Colors that can be told apart by those who see fewer of them (M. Okabe and K. Ito, 2008), in the
/// order of [`Contender::ALL`].
const COLORS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#7a7a7a"];

/// What a panel shows of a tally.
type Shown = fn(&Tally) -> f64;

/// One column for each build; for each condition a row of right calls and one of wrong ones.
pub fn chart(boards: &[Board]) -> String {
    let shown: [(&str, Shown); 2] = [("right calls", Tally::right), ("wrong calls", Tally::wrong)];
    let rows: Vec<_> =
        boards.iter().flat_map(|board| shown.map(|(name, of)| (board, name, of))).collect();
    let width = LEFT + BUILDS.len() as f64 * (PANEL.0 + GAP.0);
    let height = TOP + rows.len() as f64 * (PANEL.1 + GAP.1) + 12.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <title>Shares of right and wrong calls by minutes of machine time</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let names = Contender::ALL.into_iter().map(Contender::name);
    for (place, (name, color)) in names.zip(COLORS).enumerate() {
        let x = LEFT + 160.0 * place as f64;
        let _ = writeln!(
            svg,
            "<path d=\"M{x} 18h24\" stroke=\"{color}\" stroke-width=\"{}\"/>\
             <text x=\"{}\" y=\"22\">{name}</text>",
            thickness(place),
            x + 30.0
        );
    }
    for (column, build) in BUILDS.iter().enumerate() {
        let (x, _) = corner(column, 0);
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{}\">{}</text>", TOP - 14.0, planted(build));
    }
    for (row, (board, name, of)) in rows.into_iter().enumerate() {
        let (_, y) = corner(0, row);
        let _ = writeln!(
            svg,
            "<text x=\"8\" y=\"{}\" font-weight=\"bold\">{name}</text>\
             <text x=\"8\" y=\"{}\">{}</text>",
            y + 38.0,
            y + 54.0,
            board.condition
        );
        for (column, contenders) in board.tallies.iter().enumerate() {
            panel(&mut svg, corner(column, row), contenders, of);
        }
    }
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{}\">minutes of machine time</text>\n</svg>",
        height - 8.0
    );
    svg
}

fn corner(column: usize, row: usize) -> (f64, f64) {
    let x = LEFT + column as f64 * (PANEL.0 + GAP.0);
    (x, TOP + row as f64 * (PANEL.1 + GAP.1))
}

fn thickness(contender: usize) -> f64 {
    if contender == 0 { 3.0 } else { 1.5 }
}

/// One panel: a line for each contender, over the logarithm of the minutes.
fn panel(svg: &mut String, (left, top): (f64, f64), contenders: &[Vec<Tally>], of: Shown) {
    let last = MINUTES[MINUTES.len() - 1].ln();
    let x = |minutes: f64| left + PANEL.0 * minutes.ln() / last;
    let y = |percent: f64| top + PANEL.1 * (1.0 - percent / 100.0);
    for percent in [0.0, 50.0, 100.0] {
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {}h{}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"9\">{percent}%</text>",
            y(percent),
            PANEL.0,
            left - 2.0,
            y(percent) + 3.0
        );
    }
    for minutes in MINUTES {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\" font-size=\"9\">{minutes}</text>",
            x(minutes),
            top + PANEL.1 + 12.0
        );
    }
    // The first is drawn last, on top.
    for (place, tallies) in contenders.iter().enumerate().rev() {
        let points: Vec<String> = MINUTES
            .iter()
            .zip(tallies)
            .map(|(minutes, tally)| format!("{:.1},{:.1}", x(*minutes), y(of(tally))))
            .collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>",
            points.join(" "),
            COLORS[place],
            thickness(place)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::Condition;
    use super::*;

    #[test]
    fn the_chart_is_small_and_whole() {
        let tallies = vec![vec![vec![Tally::default(); 5]; 4]; 4];
        let boards = Condition::ALL.map(|condition| Board { condition, tallies: tallies.clone() });
        let svg = chart(&boards);
        assert!(svg.len() < 20_000, "{}", svg.len());
        assert_eq!(svg.matches("<polyline").count(), 4 * 4 * 4);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }
}
