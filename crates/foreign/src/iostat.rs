//! `iostat SECONDS`, best with `-x`.

use crate::lines::{cut_off, lines, other};
use crate::{Column, ForeignError, Reading};

const PROGRAM: &str = "iostat";

pub(crate) fn detect(text: &str) -> bool {
    lines(text).any(|line| is_devices(line.text) || line.text.starts_with("avg-cpu:"))
}

/// The header of the devices' table; before version 12 its first word had a colon.
fn is_devices(text: &str) -> bool {
    let first = text.split_whitespace().next();
    matches!(first, Some("Device" | "Device:")) && text.contains("/s")
}

/// The first line: `Linux 5.15.0 (host) 03/05/2025 _x86_64_ (96 CPU)`.
fn is_banner(text: &str) -> bool {
    text.starts_with("Linux ") && text.trim_end().ends_with(" CPU)")
}

/// True if the first report is left out (`-y`): then its place is blank, a line more than usual.
fn without_first(text: &str) -> bool {
    let mut lines = lines(text).skip_while(|line| !is_banner(line.text)).skip(1);
    let mut blank = || lines.next().is_some_and(|line| line.text.trim().is_empty());
    blank() && blank()
}

pub(crate) fn read(text: &str) -> Result<Reading, ForeignError> {
    let mut columns: Vec<Column> = Vec::new();
    let mut header: Vec<&str> = Vec::new();
    let (mut reports, mut complete, mut in_report, mut begun) = (0_usize, 0, false, false);
    // How many reports to leave out: the average since boot.
    let first = usize::from(!without_first(text));
    for line in lines(text) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        if is_banner(line.text) && std::mem::replace(&mut begun, true) {
            return Err(ForeignError::Unsupported {
                program: PROGRAM,
                line: line.number,
                found: "a second run, which begins with an average since boot".to_owned(),
                remedy: "Keep the output of each run in a file of its own.",
            });
        }
        if let Some(names) = line.text.strip_prefix("avg-cpu:") {
            if !in_report {
                reports += 1;
            }
            (in_report, header) = (true, names.split_whitespace().collect());
            continue;
        }
        if is_devices(line.text) {
            // A table of devices without one of CPUs before it (`-d`).
            if !in_report || !header.iter().all(|name| name.starts_with('%')) {
                reports += 1;
            }
            (in_report, header) = (false, words);
            continue;
        }
        if header.is_empty() {
            continue;
        }
        if words.is_empty() {
            if !header.iter().all(|name| name.starts_with('%')) {
                (header, complete) = (Vec::new(), reports);
            }
            continue;
        }
        let devices = header[0].starts_with("Device");
        let names = if devices { &header[1..] } else { &header[..] };
        let values = if devices { &words[1..] } else { &words[..] };
        if names.len() != values.len() || !line.ended {
            if line.ended && !devices {
                // A time of `-t` between the tables.
                continue;
            }
            return Err(ForeignError::CutOff {
                program: PROGRAM,
                line: line.number,
                expected: "as many values as the header has columns",
            });
        }
        for (name, value) in names.iter().zip(values) {
            let value = line.number(PROGRAM, "figure", value)?;
            let name = if devices { format!("{} {name}", words[0]) } else { (*name).to_owned() };
            let place = columns.iter().position(|column| column.name == name);
            let place = place.unwrap_or_else(|| {
                let unit = unit(name.rsplit(' ').next().unwrap_or_default());
                columns.push(Column { name, unit: unit.into(), values: Vec::new() });
                columns.len() - 1
            });
            if reports > first {
                // With `-z`, a device without any requests is left out of a report.
                columns[place].values.resize(reports - first - 1, 0.0);
                columns[place].values.push(value);
            }
        }
    }
    for column in columns.iter_mut().filter(|column| column.name.contains(' ')) {
        column.values.resize(column.values.len().max(complete.saturating_sub(first)), 0.0);
    }
    if reports == 0 {
        let expected = "iostat's tables (avg-cpu: or Device); JSON is not read";
        return Err(other(PROGRAM, expected, text));
    }
    columns.retain(|column| !column.values.is_empty());
    if columns.is_empty() {
        return Err(cut_off(PROGRAM, "a second report; the first is the average since boot", text));
    }
    Ok(Reading { program: PROGRAM, columns, ..Reading::default() })
}

/// The unit of a column, by its name.
fn unit(name: &str) -> &'static str {
    match name {
        _ if name.starts_with('%') => "%",
        _ if name.ends_with("await") => "ms",
        _ if name.ends_with("-sz") && !name.starts_with("aqu") => "KB",
        _ if name.ends_with("MB/s") || name.starts_with("MB_") => "MB/s",
        _ if name.ends_with("kB/s") || name.starts_with("kB_") => "KB/s",
        _ if name.ends_with("/s") || name == "tps" => "/s",
        _ => "",
    }
}
