//! `vmstat SECONDS`.

use crate::lines::{cut_off, lines, other};
use crate::{Column, ForeignError, Reading};

const PROGRAM: &str = "vmstat";

/// The columns that are read, with their units. Those of memory have the unit of `-S`, which the
/// output doesn't say.
const COLUMNS: [(&str, &str); 19] = [
    ("r", ""),
    ("b", ""),
    ("swpd", ""),
    ("free", ""),
    ("buff", ""),
    ("inact", ""),
    ("active", ""),
    ("cache", ""),
    ("si", "/s"),
    ("so", "/s"),
    ("bi", "blocks/s"),
    ("bo", "blocks/s"),
    ("in", "/s"),
    ("cs", "/s"),
    ("us", "%"),
    ("sy", "%"),
    ("id", "%"),
    ("wa", "%"),
    ("st", "%"),
];

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| is_header(line.text))
}

fn is_header(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.starts_with(&["r", "b", "swpd"]) && words.contains(&"cs")
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    let mut header: Vec<&str> = Vec::new();
    let mut columns: Vec<Column> = Vec::new();
    let mut reports = 0_usize;
    for line in lines(text) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if is_header(line.text) {
            if !header.is_empty() && header != words {
                return Err(ForeignError::Unsupported {
                    program: PROGRAM,
                    line: line.number,
                    found: "a header with other columns".to_owned(),
                    remedy: "Keep the output of each run in a file of its own.",
                });
            }
            // Headers are repeated when the screen is full.
            if header.is_empty() {
                let known = |name: &&str| COLUMNS.iter().find(|(known, _)| known == name);
                columns.extend(words.iter().filter_map(known).map(|(name, unit)| Column {
                    name: (*name).to_owned(),
                    unit: (*unit).into(),
                    values: Vec::new(),
                }));
                header = words;
            }
            continue;
        }
        if header.is_empty() || words.is_empty() || words[0].contains("procs") {
            continue;
        }
        // A time has two words, its header (the zone) one.
        if words.len() < header.len() || !line.ended {
            return Err(ForeignError::CutOff {
                program: PROGRAM,
                line: line.number,
                expected: "as many values as the header has columns",
            });
        }
        reports += 1;
        for column in &mut columns {
            let place = header.iter().position(|name| *name == column.name).unwrap_or_default();
            let value = line.number(PROGRAM, "figure", words[place])?;
            // The first report is the average since boot.
            if reports > 1 {
                column.values.push(value);
            }
        }
    }
    if header.is_empty() {
        return Err(other(PROGRAM, "vmstat's header (r b swpd free …)", text));
    }
    if reports < 2 {
        return Err(cut_off(PROGRAM, "a second report; the first is the average since boot", text));
    }
    Ok(Reading { program: PROGRAM, columns, ..Reading::default() })
}
