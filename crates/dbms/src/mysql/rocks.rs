//! Facts that MyRocks reports about itself: the ROCKSDB_ tables of information_schema.

use std::collections::BTreeMap;

use super::control::{Control, Table};
use super::gathered::Gathered;
use super::names::{bare, file_name, listed};
use crate::{Error, Sql};

/// The table that lists indexes; it exists if MyRocks is loaded.
pub(super) const DDL: &str = "ROCKSDB_DDL";

/// Which rows of a table are counters: table, columns of the object, column of the name (empty: all
/// columns of numbers are figures), true if they describe a state.
const VIEWS: [(&str, &[&str], &str, bool); 6] = [
    ("ROCKSDB_CFSTATS", &["CF_NAME"], "STAT_TYPE", true),
    ("ROCKSDB_COMPACTION_STATS", &["CF_NAME", "LEVEL"], "TYPE", false),
    ("ROCKSDB_DBSTATS", &[], "STAT_TYPE", true),
    ("ROCKSDB_PERF_CONTEXT_GLOBAL", &[], "STAT_TYPE", false),
    ("ROCKSDB_LOCKS", &[], "", true),
    ("ROCKSDB_TRX", &[], "", true),
];

/// Per table: only those of `objects`.
const PER_TABLE: &str = "ROCKSDB_PERF_CONTEXT";
const FILE_MAP: &str = "ROCKSDB_INDEX_FILE_MAP";
const SST_PROPS: &str = "ROCKSDB_SST_PROPS";

/// Figures of ROCKSDB_COMPACTION_STATS that say how things are, and averages.
const COMPACTION_STATES: [&str; 8] = [
    "AvgSec",
    "CompactedFiles",
    "NumFiles",
    "ReadMBps",
    "Score",
    "SizeBytes",
    "WriteAmp",
    "WriteMBps",
];

/// Counts what MyRocks has. ROCKSDB_CF_OPTIONS and ROCKSDB_GLOBAL_INFO contain settings,
/// ROCKSDB_DEADLOCK descriptions of past deadlocks.
pub(super) fn count(
    control: &mut Control,
    objects: &[String],
    has: &dyn Fn(&str) -> bool,
    gathered: &mut Gathered,
    absent: &mut Vec<String>,
) -> Result<(), Error> {
    for (view, object, name, state) in VIEWS {
        if !has(view) {
            absent.push(view.to_owned());
            continue;
        }
        if name.is_empty() {
            let rows =
                control.query_i64(&format!("SELECT count(*) FROM information_schema.{view}"))?;
            gathered.sum(view, "", "rows", rows as f64, true);
            continue;
        }
        let table = control.table(&format!("SELECT * FROM information_schema.{view}"))?;
        for row in &table.rows {
            let parts: Vec<&str> =
                object.iter().filter_map(|part| table.value(row, part)).collect();
            if let (Some(name), Some(value)) = (table.value(row, name), table.value(row, "VALUE")) {
                let state = state || COMPACTION_STATES.contains(&name);
                gathered.add(view, &parts.join("/"), name, value, state);
            }
        }
    }
    if objects.is_empty() {
        return Ok(());
    }
    if has(PER_TABLE) {
        let rows = control.query_rows(&format!(
            "SELECT table_name, stat_type, sum(value) FROM information_schema.{PER_TABLE} \
             WHERE table_schema = database() AND table_name IN ({}) GROUP BY 1, 2",
            listed(objects)
        ))?;
        for row in rows {
            if let [Some(object), Some(name), Some(value)] = row.as_slice() {
                gathered.add(PER_TABLE, object, name, value, false);
            }
        }
    } else {
        absent.push(PER_TABLE.to_owned());
    }
    for index in indexes(control, objects)? {
        let table = objects.iter().find(|object| is_of(&index, object)).map_or("", String::as_str);
        let object = format!("{table}/{}", index.name);
        for (name, value) in [
            ("data_size", index.raw),
            ("disk_size", index.disk),
            ("num_rows", index.entries),
            ("entry_deletes", index.deletes),
        ] {
            gathered.sum(FILE_MAP, &object, name, value, true);
        }
    }
    Ok(())
}

/// An index of MyRocks in the files of the LSM tree, partitions summed. Data that is only in the
/// memtable is not included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Index {
    pub(super) table: String,
    pub(super) name: String,
    /// True if it contains the rows.
    pub(super) primary: bool,
    /// Bytes of keys and values, before compression.
    pub(super) raw: f64,
    /// Bytes in files, without the blocks that index a file's others (about 2%): of these, only the
    /// size before compression is known.
    pub(super) disk: f64,
    /// Keys with a value.
    pub(super) entries: f64,
    /// Keys that only say that a key was deleted.
    pub(super) deletes: f64,
}

/// The indexes of those of `objects` that are tables of MyRocks.
pub(super) fn indexes(control: &mut Control, objects: &[String]) -> Result<Vec<Index>, Error> {
    // Its tables have the names of files.
    let files: Vec<String> = objects.iter().map(|object| file_name(&bare(object))).collect();
    let ddl = control.table(&format!(
        "SELECT table_name, index_name, cf, column_family, index_number, index_type \
         FROM information_schema.{DDL} WHERE table_schema = database() AND table_name IN ({})",
        listed(&files)
    ))?;
    if ddl.rows.is_empty() {
        return Ok(Vec::new());
    }
    let map = control.table(&format!("SELECT * FROM information_schema.{FILE_MAP}"))?;
    let files = control.table(&format!("SELECT * FROM information_schema.{SST_PROPS}"))?;
    Ok(combine(&ddl, &map, &files))
}

/// Divides the bytes of each file among its indexes, in proportion to their keys and values.
fn combine(ddl: &Table, map: &Table, files: &Table) -> Vec<Index> {
    let figure = |table: &Table, row: &[Option<String>], name: &str| {
        table.value(row, name).and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let mut raw_of_file: BTreeMap<&str, f64> = BTreeMap::new();
    for row in &map.rows {
        if let Some(file) = map.value(row, "SST_NAME") {
            *raw_of_file.entry(file).or_insert(0.0) += figure(map, row, "DATA_SIZE");
        }
    }
    let disk_of_file: BTreeMap<&str, f64> = files
        .rows
        .iter()
        .filter_map(|row| {
            let parts = ["DATA_BLOCK_SIZE", "FILTER_BLOCK_SIZE"];
            let size = parts.iter().map(|part| figure(files, row, part)).sum();
            Some((files.value(row, "SST_NAME")?, size))
        })
        .collect();
    let mut found: Vec<Index> = Vec::new();
    for row in &ddl.rows {
        let (Some(table), Some(name), Some(id)) = (
            ddl.value(row, "TABLE_NAME"),
            ddl.value(row, "INDEX_NAME"),
            ddl.value(row, "INDEX_NUMBER"),
        ) else {
            continue;
        };
        let place = found.iter().position(|index| index.table == table && index.name == name);
        let place = place.unwrap_or_else(|| {
            found.push(Index {
                table: table.to_owned(),
                name: name.to_owned(),
                ..Index::default()
            });
            found.len() - 1
        });
        let Some(index) = found.get_mut(place) else { continue };
        // Rdb_key_def::INDEX_TYPE_PRIMARY and _HIDDEN_PRIMARY of rdb_datadic.h.
        index.primary = matches!(ddl.value(row, "INDEX_TYPE"), Some("1" | "3"));
        for part in map.rows.iter().filter(|part| map.value(part, "INDEX_NUMBER") == Some(id)) {
            let raw = figure(map, part, "DATA_SIZE");
            let file = map.value(part, "SST_NAME").unwrap_or_default();
            let of_file = raw_of_file.get(file).copied().unwrap_or(0.0);
            let disk = disk_of_file.get(file).copied().unwrap_or(0.0);
            index.raw += raw;
            index.disk += if of_file > 0.0 { disk * raw / of_file } else { 0.0 };
            index.entries += figure(map, part, "NUM_ROWS");
            index.deletes += figure(map, part, "ENTRY_DELETES");
            index.deletes += figure(map, part, "ENTRY_SINGLEDELETES");
        }
    }
    found
}

/// True if an index belongs to `object`.
pub(super) fn is_of(index: &Index, object: &str) -> bool {
    index.table.eq_ignore_ascii_case(&file_name(&bare(object)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_divided_among_their_indexes() {
        let read = Table::of_tsv;
        let ddl = read(include_str!("../../tests/fixtures/rocksdb-ddl-10.11.19.tsv"));
        let map = read(include_str!("../../tests/fixtures/rocksdb-index-file-map-10.11.19.tsv"));
        let files = read(include_str!("../../tests/fixtures/rocksdb-sst-props-10.11.19.tsv"));
        let indexes = combine(&ddl, &map, &files);
        assert_eq!(indexes.len(), 4, "partitions are one");
        let of = |table: &str, name: &str| {
            let found = indexes.iter().find(|index| index.table == table && index.name == name);
            found.unwrap().clone()
        };
        let (rows, key) = (of("r1", "PRIMARY"), of("r1", "pdc"));
        assert!(rows.primary && !key.primary);
        assert_eq!((rows.entries, rows.deletes, rows.raw), (2000.0, 100.0, 26_800.0));
        assert_eq!((key.entries, key.deletes, key.raw), (2000.0, 100.0, 27_300.0));
        assert_eq!((of("r2", "pdc").entries, of("r2", "pdc").raw), (500.0, 6500.0));
        // Two files have nothing else: 42,872 and 1452 bytes.
        let all: f64 = indexes.iter().map(|index| index.disk).sum();
        assert!((all - 44_324.0).abs() < 1e-6, "{all}");
    }
}
