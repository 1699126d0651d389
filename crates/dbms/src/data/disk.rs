//! Files on disk other than tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::api::kind::Kind;
use crate::api::system::Footprint;

/// See [`crate::rest_of_disk`].
pub(crate) fn rest(kind: &dyn Kind, directory: &Path, tables: &[Footprint]) -> Footprint {
    let mut bytes: BTreeMap<String, u64> = BTreeMap::new();
    let mut disk = 0;
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        // A server removes files while they are looked at.
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
            if about.is_dir() {
                folders.push(path);
            } else if about.is_file() {
                disk += about.len();
                let file = path.strip_prefix(directory).unwrap_or(&path);
                if let Some(part) = kind.part_of_disk(file) {
                    *bytes.entry(part.to_owned()).or_default() += about.len();
                }
            }
        }
    }
    let tables = tables.iter().filter_map(|table| table.bytes.get("total")).sum::<u64>();
    let known = tables + bytes.values().sum::<u64>();
    bytes.insert("other".to_owned(), disk.saturating_sub(known));
    bytes.insert("disk".to_owned(), disk);
    Footprint { object: String::new(), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_parts_of_the_whole() {
        let place = tempfile::tempdir().unwrap();
        let files = [
            ("postgres", "base/5/1", None),
            ("postgres", "pg_wal/1", Some("wal")),
            ("postgres", "pg_xlog/archive_status/1", Some("wal")),
            ("mysql", "bench/sbtest1.ibd", None),
            ("mysql", "ib_logfile0", Some("redo")),
            ("mariadb", "undo001", Some("undo")),
            ("mysql", "#innodb_redo/#ib_redo7", Some("redo")),
            ("mysql", "undo_002", Some("undo")),
            ("mysql", "ibdata1", Some("system")),
            ("mysql", "mysql.ibd", Some("system")),
            ("mysql", "mysql/user.frm", Some("system")),
            ("mysql", "#innodb_temp/temp_1.ibt", Some("temporary")),
            ("mysql", "ibtmp1", Some("temporary")),
            ("mysql", "host-bin.000002", Some("binlog")),
            ("mariadb", "#rocksdb/000009.log", Some("wal")),
            ("mysql", "bench/redo.ibd", None),
            ("rocksdb", "000004.log", Some("wal")),
            ("rocksdb", "000005.sst", None),
        ];
        for (system, file, part) in files {
            let kind = crate::systems::find(system).unwrap();
            assert_eq!(kind.part_of_disk(Path::new(file)), part, "{system} {file}");
        }
        fs::create_dir_all(place.path().join("base/5")).unwrap();
        fs::create_dir_all(place.path().join("pg_wal")).unwrap();
        for (file, length) in [("base/5/1", 400), ("pg_wal/1", 50), ("PG_VERSION", 6)] {
            fs::write(place.path().join(file), "x".repeat(length)).unwrap();
        }
        let total = [("total".to_owned(), 300)].into();
        let tables = [Footprint { object: "t".to_owned(), bytes: total }];
        let kind = crate::systems::find("postgres").unwrap();
        let found: Vec<_> = rest(kind, place.path(), &tables).bytes.into_iter().collect();
        let expected = [("disk", 456), ("other", 106), ("wal", 50)];
        assert_eq!(found, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
    }
}
