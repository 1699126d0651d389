//! The chart: shares of right and of wrong calls over machine time, as SVG.

use report::{Panel, Panels};

use super::BUILDS;
use super::board::{Board, MINUTES, Tally, slower};
use super::contenders::Contender;

/// What a panel shows of a tally.
type Shown = fn(&Tally) -> f64;

/// One column for each build; for each condition a row of right calls and one of wrong ones.
pub fn chart(boards: &[Board]) -> String {
    let shown: [(&str, Shown); 2] = [("right", Tally::right), ("wrong", Tally::wrong)];
    let rows = boards.iter().flat_map(|board| shown.map(|(name, of)| (board, name, of)));
    let line = |tallies: &Vec<Tally>, of: Shown| {
        let points = MINUTES.iter().zip(tallies);
        points.map(|(minutes, tally)| (minutes.ln(), of(tally))).collect()
    };
    let panels = rows.flat_map(|(board, name, of)| {
        BUILDS.iter().zip(&board.tallies).map(move |(build, contenders)| Panel {
            title: format!("{name}, {}, {}", board.condition, slower(build)),
            lines: contenders.iter().map(|tallies| line(tallies, of)).collect(),
        })
    });
    Panels {
        title: "Shares of right and wrong calls by minutes of machine time".to_owned(),
        lines: Contender::ALL.map(|contender| contender.name().to_owned()).into(),
        x: MINUTES.iter().map(|minutes| (minutes.ln(), minutes.to_string())).collect(),
        y: [0.0, 50.0, 100.0].map(|percent| (percent, format!("{percent}%"))).into(),
        below: "minutes of machine time".to_owned(),
        columns: BUILDS.len(),
        panels: panels.collect(),
    }
    .svg()
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
