//! Changes of a plan's text that leave the rest of it alone.

use std::ops::Range;

use toml::de::DeTable;

/// Changes of a text; none if it can't be changed in place.
pub(crate) struct Edits<'t> {
    text: &'t str,
    made: Option<Vec<(Range<usize>, String)>>,
}

impl<'t> Edits<'t> {
    /// No changes yet. Unless they are `possible`, there will be no text.
    pub(crate) fn new(text: &'t str, possible: bool) -> Self {
        Edits { text, made: possible.then(Vec::new) }
    }

    /// Sets the key at a path of the document that the text is.
    pub(crate) fn set(&mut self, document: &DeTable, path: &[String], value: &str) {
        match (&mut self.made, edit(self.text, document, path, value)) {
            (Some(made), Some(edit)) => made.push(edit),
            _ => self.made = None,
        }
    }

    /// The text with the changes; `None` if it can't be changed in place.
    pub(crate) fn finish(self) -> Option<String> {
        let mut made = self.made?;
        made.sort_by_key(|(range, _)| range.start);
        let (mut text, mut end) = (String::new(), 0);
        for (range, new) in made {
            text.push_str(self.text.get(end..range.start)?);
            text.push_str(&new);
            end = range.end;
        }
        Some(text + self.text.get(end..)?)
    }
}

/// The part of the text to replace, and its replacement. `None` for a table that is not written as
/// one, but by dotted keys or not at all.
fn edit(
    text: &str,
    document: &DeTable,
    path: &[String],
    value: &str,
) -> Option<(Range<usize>, String)> {
    let (key, tables) = path.split_last()?;
    let (mut table, mut head) = (document, None);
    for name in tables {
        let below = table.get(name.as_str())?;
        (table, head) = (below.get_ref().as_table()?, Some(below.span()));
    }
    if let Some(known) = table.get(key.as_str()) {
        return (!known.get_ref().is_table()).then(|| (known.span(), value.to_owned()));
    }
    let line = format!("{key} = {value}");
    let behind = |place: usize| {
        let end = text.get(place..)?.find('\n').map_or(text.len(), |length| place + length);
        Some((end..end, format!("\n{line}")))
    };
    let Some(head) = head else {
        // Behind the last key at the top, which is before the first table.
        let values = table.values().filter(|value| !value.get_ref().is_table());
        let start = text.len() - text.trim_start_matches('\u{feff}').len();
        let first = Some((start..start, format!("{line}\n")));
        return values.map(|value| value.span().end).max().map_or(first, behind);
    };
    match text.get(head.clone())?.chars().next()? {
        '[' => behind(head.end),
        '{' if !table.is_empty() => Some((head.start + 1..head.start + 1, format!(" {line},"))),
        _ => None,
    }
}
