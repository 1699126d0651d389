//! Costs per operation, from the output of programs that watch a machine.

use std::collections::BTreeMap;

use foreign::Column;
use store::{Better, StepRecord};

use super::Finished;
use super::describe::add;
use super::error::ImportError;

/// The devices whose reads and writes count as costs, chosen once for all files so that results are
/// comparable.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Devices {
    /// The best first.
    ranked: Vec<String>,
    given: bool,
    by_reads: bool,
}

impl Devices {
    /// The device that was given, or an order of all: first those with the most kilobytes written
    /// in all files together or, if that is less than a hundredth of what was read, read.
    ///
    /// # Errors
    /// When no file has the given device.
    pub(super) fn choose(files: &[Finished], given: Option<&str>) -> Result<Self, ImportError> {
        let mut moved: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for columns in files.iter().map(|file| &file.reading.columns) {
            for device in devices(columns) {
                let of = moved.entry(device).or_default();
                of.0 += kilobytes(columns, device, Direction::Read).unwrap_or(0.0);
                of.1 += kilobytes(columns, device, Direction::Written).unwrap_or(0.0);
            }
        }
        if let Some(given) = given {
            return if moved.contains_key(given) {
                Ok(Self { ranked: vec![given.to_owned()], given: true, by_reads: false })
            } else {
                let known = moved.into_keys().map(str::to_owned).collect();
                Err(ImportError::NoDevice { given: given.to_owned(), known })
            };
        }
        let (read, written) = moved
            .values()
            .fold((0.0_f64, 0.0_f64), |most, of| (most.0.max(of.0), most.1.max(of.1)));
        let by_reads = written < read / 100.0;
        let amount = |device: &str| {
            let (read, written) = moved.get(device).copied().unwrap_or_default();
            // Traffic to devices made of others are counted again below them, and with a mirror the
            // others have more. They hold what other file systems write, too.
            let factor = if stacked(device) { 2.0 } else { 1.0 };
            factor * if by_reads { read } else { written }
        };
        let mut ranked: Vec<String> = moved.keys().map(|device| (*device).to_owned()).collect();
        ranked.sort_by(|one, other| amount(other).total_cmp(&amount(one)));
        Ok(Self { ranked, given: false, by_reads })
    }

    /// The one chosen among these columns.
    fn of(&self, columns: &[Column]) -> Option<&str> {
        let known = devices(columns);
        self.ranked.iter().map(String::as_str).find(|device| known.contains(device))
    }

    /// The note about the choice among these columns.
    pub(super) fn said(&self, columns: &[Column]) -> Option<String> {
        let device = self.of(columns)?;
        let mut others = devices(columns);
        others.retain(|other| *other != device);
        let moved =
            if self.by_reads { "from which most was read" } else { "to which most was written" };
        let why = match (self.given, others.is_empty()) {
            (true, _) => ", as given".to_owned(),
            (_, true) => ", the only device".to_owned(),
            _ => format!(", {moved}; --device chooses another of {}", others.join(", ")),
        };
        Some(format!("reads and writes per operation are those of {device}{why}"))
    }
}

/// True if it is made of other devices, by the kernel's names: md for RAID, dm for LVM.
fn stacked(device: &str) -> bool {
    device.starts_with("md") || device.starts_with("dm-")
}

/// The devices of a file, whose names are in front of their columns'.
fn devices(columns: &[Column]) -> Vec<&str> {
    let mut found = Vec::new();
    for (device, _) in columns.iter().filter_map(|column| column.name.split_once(' ')) {
        if !found.contains(&device) {
            found.push(device);
        }
    }
    found
}

/// The mean of a column.
fn mean(columns: &[Column], name: &str) -> Option<f64> {
    columns.iter().find(|column| column.name == name)?.mean()
}

#[derive(Clone, Copy)]
enum Direction {
    Read,
    Written,
}

/// Kilobytes per second, from any of the printed units.
fn kilobytes(columns: &[Column], device: &str, direction: Direction) -> Option<f64> {
    let names = match direction {
        Direction::Read => ["rkB/s", "kB_read/s", "rMB/s", "MB_read/s"],
        Direction::Written => ["wkB/s", "kB_wrtn/s", "wMB/s", "MB_wrtn/s"],
    };
    let found =
        names.iter().find_map(|name| Some((name, mean(columns, &format!("{device} {name}"))?)));
    found.map(|(name, value)| if name.contains("MB") { value * 1024.0 } else { value })
}

/// Adds the costs per operation that follow from what was seen during a step.
///
/// The published tables do the same: the mean of a column divided by operations per second.
pub(super) fn costs(record: &mut StepRecord, columns: &[Column], devices: &Devices) {
    let rate = record.metrics.iter().find(|(name, _)| name == metrics::OPS.name);
    let rate = rate.map_or(f64::NAN, |(_, value)| *value);
    if record.measure.better == Better::Less {
        record.notes.push("costs per operation need a rate, and this is a time".to_owned());
        return;
    }
    let mean = |name: &str| mean(columns, name);
    let user = mean("us").or_else(|| Some(mean("%user")? + mean("%nice").unwrap_or(0.0)));
    let system = mean("sy").or_else(|| mean("%system"));
    if let (Some(user), Some(system)) = (user, system) {
        add(record, metrics::CPU.name.to_owned(), (user + system) / rate);
    }
    if let Some(switches) = mean("cs") {
        add(record, metrics::SWITCHES.name.to_owned(), switches / rate);
    }
    let Some(device) = devices.of(columns) else { return };
    let figures = [
        (&metrics::READS, mean(&format!("{device} r/s"))),
        (&metrics::WRITES, mean(&format!("{device} w/s"))),
        (&metrics::READ_KB, kilobytes(columns, device, Direction::Read)),
        (&metrics::WRITTEN_KB, kilobytes(columns, device, Direction::Written)),
    ];
    for (metric, value) in figures {
        if let Some(value) = value {
            add(record, metric.name.to_owned(), value / rate);
        }
    }
    record.notes.extend(devices.said(columns));
}
