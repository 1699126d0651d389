//! Splits lines of tables, and reads their cells.

/// The separator between the cells of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// Markdown.
    Bars,
    Tabs,
    /// CSV.
    Commas,
    /// Two or more spaces, so names may have one.
    Gaps,
    /// Any spaces.
    Words,
}

impl Split {
    /// The separators that a header may have, in order of preference; `ruled`: a rule of Markdown
    /// follows it.
    pub(super) fn of(header: &str, ruled: bool) -> &'static [Self] {
        match header.trim_start() {
            text if text.starts_with('|') || ruled && text.contains('|') => &[Self::Bars],
            text if text.contains('\t') => &[Self::Tabs],
            text if text.contains(',') => &[Self::Commas, Self::Gaps, Self::Words],
            _ => &[Self::Gaps, Self::Words],
        }
    }

    pub(super) fn cells(self, text: &str) -> Vec<String> {
        let trimmed = |cell: &str| cell.trim().to_owned();
        match self {
            Self::Bars => {
                let inner = text.trim().trim_start_matches('|').trim_end_matches('|');
                inner.split('|').map(|cell| trimmed(cell).replace('\\', "")).collect()
            }
            Self::Tabs => text.split('\t').map(trimmed).collect(),
            Self::Commas => quoted(text),
            Self::Gaps => text.split("  ").map(trimmed).filter(|cell| !cell.is_empty()).collect(),
            Self::Words => text.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

/// The fields of a line of CSV. A quote within quotes is written twice.
fn quoted(text: &str) -> Vec<String> {
    let (mut fields, mut field, mut inside) = (Vec::new(), String::new(), false);
    let mut letters = text.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if inside && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => inside = !inside,
            ',' if !inside => fields.push(std::mem::take(&mut field).trim().to_owned()),
            other => field.push(other),
        }
    }
    fields.push(field.trim().to_owned());
    fields
}

/// The content of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    Figure(f64),
    /// Something that stands for a figure that is not known.
    Missing,
    Word,
}

impl Cell {
    pub(super) fn of(text: &str) -> Self {
        // A mark that a note explains, and the scatter of a mean.
        let text = text.trim().trim_end_matches('*').trim_end();
        let text = text.split_once(" ±").map_or(text, |(mean, _)| mean.trim_end());
        // So `compare` marks a ratio that may be chance.
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let text = inner.unwrap_or(text);
        if ["", "-", "–", "—", "NA", "N/A", "n/a"].contains(&text) {
            return Self::Missing;
        }
        let whole = text.split('.').next().unwrap_or_default();
        let mut groups = whole.trim_start_matches('-').split(',');
        let first = groups.next().unwrap_or_default();
        let grouped = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
        let plain = if grouped { text.replace(',', "") } else { text.to_owned() };
        crate::lines::number(&plain).map_or(Self::Word, Self::Figure)
    }
}

#[cfg(test)]
mod tests {
    use super::Cell;

    #[test]
    fn marks_of_compare_are_no_part_of_a_figure() {
        let found = ["0.934", "(0.934)", "(0.934)*", "44377 ±0.7%", "(…)", "()"].map(Cell::of);
        let ratio = Cell::Figure(0.934);
        assert_eq!(found[..4], [ratio, ratio, ratio, Cell::Figure(44377.0)]);
        assert_eq!(found[4..], [Cell::Word, Cell::Missing]);
    }
}
