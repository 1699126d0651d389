//! Fits names and sentences to the width of a terminal.

use textwrap::{Options, WordSeparator, WordSplitter};

use super::table::Table;

/// The least that is left of a name.
const LEAST: usize = 9;

/// The lines of a text, broken only between words; the second and later ones are indented.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width)
        .subsequent_indent("  ")
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

/// These names with at most `width` characters each: a longer one has `…` in its middle, or
/// elsewhere if two names would then look alike.
pub fn shortened(names: &[String], width: usize) -> Vec<String> {
    let width = width.max(1);
    let middle = (width - 1) / 2;
    let cut = |head: usize| -> Vec<String> {
        names.iter().map(|name| without_middle(name, head, width)).collect()
    };
    let mut heads: Vec<usize> = (0..width).collect();
    heads.sort_by_key(|head| head.abs_diff(middle));
    let tells_apart = |short: &Vec<String>| {
        let mut pairs: Vec<(&String, &String)> = short.iter().zip(names).collect();
        pairs.sort_unstable();
        pairs.windows(2).all(|two| two[0].0 != two[1].0 || two[0].1 == two[1].1)
    };
    heads.into_iter().map(cut).find(tells_apart).unwrap_or_else(|| cut(middle))
}

/// A name with `head` characters before what is left out, or the whole name if it fits.
fn without_middle(name: &str, head: usize, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let before = name.chars().take(head);
    let after = name.chars().skip(length - (width - 1 - head));
    before.chain(['…']).chain(after).collect()
}

impl Table {
    /// This table with shorter headings, and shorter names in these columns, so that it is at most
    /// this wide; as narrow as it gets if that is not enough. `base`: a name elsewhere that none of
    /// them may look like.
    pub(crate) fn squeezed(&self, width: usize, names: &[usize], base: &str) -> Self {
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|it| self.width(it)).collect();
        let cells =
            |column: usize| self.rows.iter().filter_map(move |row| self.line(row).nth(column));
        let rigid = |column: usize| {
            let widest = || cells(column).map(|cell| cell.chars().count()).max();
            if names.contains(&column) { LEAST } else { widest().unwrap_or(0).max(LEAST) }
        };
        let least: Vec<usize> = (0..self.columns.len()).map(rigid).collect();
        let gaps = 2 * self.columns.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            let spare = (0..widths.len()).filter(|column| widths[*column] > least[*column]);
            let Some(widest) = spare.max_by_key(|column| widths[*column]) else { break };
            widths[widest] -= 1;
        }
        let mut table = self.clone();
        table.columns = table
            .columns
            .iter()
            .zip(&widths)
            .flat_map(|(head, width)| shortened(std::slice::from_ref(head), *width))
            .collect();
        for column in names {
            let Some(width) = widths.get(*column) else { continue };
            let all: Vec<String> = cells(*column).chain([base]).map(str::to_owned).collect();
            for (row, name) in table.rows.iter_mut().zip(shortened(&all, *width)) {
                let cell = match column {
                    0 => Some(&mut row.label),
                    column => row.cells.get_mut(column - 1),
                };
                if let Some(cell) = cell {
                    *cell = name;
                }
            }
        }
        table
    }

    /// True if it is at most this wide.
    pub(crate) fn fits(&self, width: usize) -> bool {
        let columns = (0..self.columns.len()).map(|column| self.width(column) + 2);
        columns.sum::<usize>() <= width + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::table::{Row, Section, texts};

    #[test]
    fn lines_end_between_words() {
        let text = "! too-few-blocks: run at-least-six";
        assert_eq!(wrapped(text, 20), ["! too-few-blocks:", "  run at-least-six"]);
        assert_eq!(wrapped("a/path/that/is/long", 8), ["a/path/that/is/long"], "no word is broken");
    }

    #[test]
    fn names_lose_their_middle_but_stay_apart() {
        let short = |names: &[&str], width| shortened(&texts(names.iter().copied()), width);
        assert_eq!(short(&["pg17", "postgres.patched"], 9), ["pg17", "post…ched"]);
        let alike = short(&["pg16.11.range1000.pk1.dop400", "pg17.7.range1000.pk1.dop400"], 9);
        assert_eq!(alike, ["pg16…p400", "pg17…p400"]);
        let apart = short(&["range.of.pg16.and.pk1", "range.of.pg17.and.pk1"], 11);
        assert_ne!(apart[0], apart[1], "{apart:?}");
        assert!(apart.iter().all(|name| name.chars().count() == 11), "{apart:?}");
        assert_eq!(short(&["äöüäöüäöü"], 5), ["äö…öü"], "characters, not bytes");
    }

    #[test]
    fn a_table_gets_narrower_by_its_names() {
        let mut table = Table::new(Section::Relative, "id", "title");
        table.columns = texts(["step", "a.heading.that.is.long", "variant"]);
        let name = "a.variant.with.a.long.name";
        table.rows = vec![Row::new("l.i0", texts(["12345", name]))];
        let narrow = table.squeezed(40, &[0, 2], "");
        assert!(narrow.fits(40) && !table.fits(40), "{narrow:?}");
        assert_eq!(
            (narrow.rows[0].label.as_str(), narrow.rows[0].cells[0].as_str()),
            ("l.i0", "12345")
        );
        assert!(narrow.rows[0].cells[1].contains('…'), "{narrow:?}");
        assert_eq!(table.squeezed(80, &[0, 2], ""), table, "where there is room");
        assert!(!table.squeezed(10, &[0, 2], "").fits(10), "no further than it says anything");
    }
}
