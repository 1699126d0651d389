//! Sizes of tables with their partitions.

use std::collections::BTreeMap;
use std::path::Path;

use super::control::{Control, Table};
use super::names::{bare, file_name, listed, literal};
use super::rocks;
use crate::{Endpoint, Error, Footprint, Host, Server, Sql};

/// Bytes of a table: its secondary indexes, its rows (with the primary key), everything.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Size {
    index: f64,
    rel: f64,
    total: f64,
}

/// Pages of a table that InnoDB has no statistics of yet.
const FIRST_PAGES: f64 = 65_536.0;
/// Bytes that the file of a table may have free: InnoDB extends it by four extents of 1 MB.
const FREE: f64 = 8.0 * 1024.0 * 1024.0;
/// Up to this size of the parts, InnoDB extends the file by single pages.
const SMALL: f64 = 32.0 * 16_384.0;
/// Further bytes of such a small file: pages about the file itself, and some that are free.
const SMALL_FREE: f64 = 16.0 * 16_384.0;

impl Size {
    /// True if the sizes of the parts are out of date: they were computed when the table was much
    /// smaller.
    fn is_old(&self) -> bool {
        let parts = self.index + self.rel;
        let free = if parts <= SMALL { SMALL_FREE } else { FREE };
        (self.rel <= FIRST_PAGES && self.total > FREE) || 2.0 * parts + free < self.total
    }
}

/// Sizes of `tables` in bytes, partitions summed.
///
/// InnoDB: `total` is what the files have, including free pages; `rel` (the clustered index) and
/// `index` are as of the last time InnoDB computed statistics: at ANALYZE, and some seconds after a
/// tenth of the rows have changed. They are absent if those of a table are evidently out of date.
/// MyRocks: bytes of files, without what is still in the memtable.
pub(super) fn footprint(control: &mut Control, tables: &[String]) -> Result<Vec<Footprint>, Error> {
    let engines = engines(control, tables)?;
    let mine = |wanted: bool| -> Vec<String> {
        let pairs = tables.iter().zip(&engines);
        pairs.filter(|(_, engine)| is_rocks(engine) == wanted).map(|(t, _)| t.clone()).collect()
    };
    let mut sizes = BTreeMap::new();
    let rocks = mine(true);
    if !rocks.is_empty() {
        sizes.extend(rocks_sizes(control, &rocks)?);
    }
    let inno = mine(false);
    if !inno.is_empty() {
        sizes.extend(innodb_sizes(control, &inno)?);
    }
    Ok(footprints(tables, &sizes))
}

/// Has the parts of all tables, or none of them: a sum over only some tables would be misleading.
fn footprints(tables: &[String], sizes: &BTreeMap<String, Size>) -> Vec<Footprint> {
    let old = sizes.values().any(Size::is_old);
    let footprint = |table: &String| {
        let size = sizes.get(table).copied().unwrap_or_default();
        let parts = [("index", size.index), ("rel", size.rel)];
        let known = parts.into_iter().filter(|_| !old);
        let bytes = known.chain([("total", size.total)]);
        let bytes = bytes.map(|(name, bytes)| (name.to_owned(), bytes as u64)).collect();
        Footprint { object: table.clone(), bytes }
    };
    tables.iter().map(footprint).collect()
}

/// Names the role of a file of the data directory; `None` for a table's file.
pub(super) fn part_of_disk(file: &Path) -> Option<&'static str> {
    let top = file.iter().next()?.to_str()?;
    let inside = file.iter().nth(1).is_some();
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let numbered = extension.len() == 6 && extension.bytes().all(|byte| byte.is_ascii_digit());
    if top == "#innodb_redo" || !inside && top.starts_with("ib_logfile") {
        Some("redo")
    } else if !inside && top.starts_with("undo") {
        Some("undo")
    } else if top == "mysql" || !inside && (top.starts_with("ibdata") || top == "mysql.ibd") {
        Some("system")
    } else if top == "#innodb_temp" || !inside && top.starts_with("ibtmp") {
        Some("temporary")
    } else if !inside && numbered && top.contains("bin") {
        Some("binlog")
    } else if inside && extension == "log" && top.ends_with("rocksdb") {
        Some("wal")
    } else {
        None
    }
}

/// The storage engine of each of `tables`.
///
/// # Errors
/// [`Error::Answer`] if one does not exist.
pub(super) fn engines(control: &mut Control, tables: &[String]) -> Result<Vec<String>, Error> {
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let known = control.pairs(&format!(
        "SELECT table_name, engine FROM information_schema.tables \
         WHERE table_schema = database() AND table_name IN ({})",
        listed(tables)
    ))?;
    let engine = |table: &String| {
        let found = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(&bare(table)));
        let lacking = || Error::answer(format!("table {table}"), "no such table");
        found.map(|(_, engine)| engine.clone()).ok_or_else(lacking)
    };
    tables.iter().map(engine).collect()
}

/// True if this is the name of MyRocks.
pub(super) fn is_rocks(engine: &str) -> bool {
    engine.eq_ignore_ascii_case("ROCKSDB")
}

fn rocks_sizes(control: &mut Control, tables: &[String]) -> Result<Vec<(String, Size)>, Error> {
    let indexes = rocks::indexes(control, tables)?;
    let size = |table: &String| {
        let mut size = Size::default();
        for index in indexes.iter().filter(|index| rocks::is_of(index, table)) {
            let place = if index.primary { &mut size.rel } else { &mut size.index };
            *place += index.disk;
            size.total += index.disk;
        }
        (table.clone(), size)
    };
    Ok(tables.iter().map(size).collect())
}

fn innodb_sizes(control: &mut Control, tables: &[String]) -> Result<Vec<(String, Size)>, Error> {
    let schema = control.text("SELECT database()")?;
    let spaces = spaces(control, &schema)?;
    let page: f64 = control
        .variable("innodb_page_size")?
        .and_then(|size| size.parse().ok())
        .ok_or_else(|| Error::answer("innodb_page_size", "no such variable"))?;
    let statistics = control.query_rows(&format!(
        "SELECT table_name, index_name, stat_value FROM mysql.innodb_index_stats \
         WHERE stat_name = 'size' AND database_name = {}",
        literal(&schema)
    ))?;
    let size = |table: &String| {
        let mut size = Size::default();
        let name = bare(table);
        let is_own = |space: &&Space| {
            is_part(&space.table, &file_name(&name)) || is_part(&space.table, &name)
        };
        let own: Vec<&Space> = spaces.iter().filter(is_own).collect();
        let page = own.iter().find_map(|space| space.compressed_page).unwrap_or(page);
        for row in &statistics {
            let [Some(part), Some(index), Some(pages)] = row.as_slice() else { continue };
            if is_part(part, &name) {
                // The clustered index is the primary key, or a hidden one if there is none. A
                // unique index that takes its place is not told from others.
                let clustered = matches!(index.as_str(), "PRIMARY" | "GEN_CLUST_INDEX");
                let place = if clustered { &mut size.rel } else { &mut size.index };
                *place += page * pages.parse::<f64>().unwrap_or(0.0);
            }
        }
        size.total = own.iter().map(|space| space.bytes).sum();
        if own.is_empty() {
            // In a tablespace together with others (innodb_file_per_table = OFF).
            size.total = size.index + size.rel;
        }
        (table.clone(), size)
    };
    Ok(tables.iter().map(size).collect())
}

/// The file of a table or of one of its partitions.
#[derive(Clone, Debug, PartialEq)]
struct Space {
    /// Its name, in most versions encoded as in the file system: `pi1`, `parts#P#p0`.
    table: String,
    bytes: f64,
    /// The size of its pages, if its rows are compressed.
    compressed_page: Option<f64>,
}

/// The files of a schema's tables.
fn spaces(control: &mut Control, schema: &str) -> Result<Vec<Space>, Error> {
    let version = control.version()?;
    // In MySQL 8.0, names are not those of files.
    let (view, prefix) = if !version.mariadb && version.number >= 80_000 {
        ("innodb_tablespaces", format!("{schema}/"))
    } else {
        ("innodb_sys_tablespaces", format!("{}/", file_name(schema)))
    };
    let found = control.table(&format!(
        "SELECT * FROM information_schema.{view} WHERE left(name, {}) = {}",
        prefix.chars().count(),
        literal(&prefix)
    ))?;
    // MySQL before 5.7 and MariaDB before 10.2 don't have the size, and MySQL 8.0.15 says 0 if the
    // name of the file is not that of the table.
    let directory = match control.endpoint() {
        Endpoint::Mysql(Server { host: Host::Socket(_), .. }) => control.variable("datadir")?,
        _ => None,
    };
    let size = |file: &str| {
        let file = Path::new(directory.as_deref()?).join(file);
        std::fs::metadata(file).ok().map(|file| file.len() as f64)
    };
    Ok(read_spaces(&found, &prefix, &|name| {
        let partition = |part: &str| part.split('#').map(file_name).collect::<Vec<_>>().join("#");
        let encoded: Vec<String> = name.split('/').map(partition).collect();
        size(&format!("{name}.ibd")).or_else(|| size(&format!("{}.ibd", encoded.join("/"))))
    }))
}

/// Reads rows of the table of tablespaces. `on_disk` is asked for the bytes of a tablespace's file
/// if they are not in the table.
fn read_spaces(found: &Table, prefix: &str, on_disk: &dyn Fn(&str) -> Option<f64>) -> Vec<Space> {
    let space = |row: &Vec<Option<String>>| {
        let name = found.value(row, "NAME")?;
        let figure =
            |name: &str| found.value(row, name)?.parse::<f64>().ok().filter(|figure| *figure > 0.0);
        let compressed = found.value(row, "ROW_FORMAT") == Some("Compressed");
        // Since MariaDB 10.6, PAGE_SIZE is that in the file.
        let page = figure("ZIP_PAGE_SIZE").or_else(|| figure("PAGE_SIZE"));
        Some(Space {
            table: name.strip_prefix(prefix)?.to_owned(),
            bytes: figure("FILE_SIZE").or_else(|| on_disk(name))?,
            compressed_page: page.filter(|_| compressed),
        })
    };
    found.rows.iter().filter_map(space).collect()
}

/// True if `part` is the table `name` or a partition of it (`#P#` or, in MySQL 8.0, `#p#`).
fn is_part(part: &str, name: &str) -> bool {
    let Some((head, rest)) = part.split_at_checked(name.len()) else { return false };
    let partition = rest.get(..3).is_some_and(|mark| mark.eq_ignore_ascii_case("#p#"));
    head.eq_ignore_ascii_case(name) && (rest.is_empty() || partition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_from_before_the_load_are_old() {
        let mb = 1024.0 * 1024.0;
        let size = |index: f64, rel: f64, total: f64| Size { index, rel, total };
        assert!(size(2.5 * mb, 16384.0, 9.0 * mb).is_old());
        assert!(size(2.5 * mb, 2.0 * mb, 100.0 * mb).is_old());
        assert!(!size(2.5 * mb, 2.0 * mb, 9.0 * mb).is_old());
        assert!(!size(16384.0, 16384.0, 0.1 * mb).is_old());
        // Of a table with 2,000 rows, before and after they were counted.
        assert!(size(32768.0, 16384.0, 0.6 * mb).is_old());
        assert!(!size(0.1 * mb, 0.4 * mb, 0.6 * mb).is_old());
        assert!(!size(0.0, 60.0 * mb, 68.0 * mb).is_old());
    }

    #[test]
    fn parts_are_those_of_all_tables_or_of_none() {
        let mb = 1024.0 * 1024.0;
        let known = Size { index: 3.0 * mb, rel: 22.0 * mb, total: 29.0 * mb };
        let old = Size { index: 16384.0, rel: 16384.0, total: 29.0 * mb };
        let tables = ["t1", "t2"].map(str::to_owned);
        let names = |sizes: [Size; 2]| -> Vec<String> {
            let sizes = tables.iter().cloned().zip(sizes).collect();
            let found = footprints(&tables, &sizes).into_iter();
            found.flat_map(|footprint| footprint.bytes.into_keys()).collect()
        };
        assert_eq!(names([known, known]), ["index", "rel", "total", "index", "rel", "total"]);
        assert_eq!(names([known, old]), ["total", "total"]);
    }

    #[test]
    fn partitions_belong_to_their_table() {
        for part in ["pi1", "pi1#P#p0", "pi1#p#p0#sp#s1"] {
            assert!(is_part(part, "pi1"), "{part}");
        }
        for part in ["pi10", "pi", "pi1#x", "pi10#P#p0", ""] {
            assert!(!is_part(part, "pi1"), "{part}");
        }
    }

    #[test]
    fn tablespaces_of_all_versions() {
        let fixtures = [
            (include_str!("../../tests/fixtures/innodb-tablespaces-5.6.24.tsv"), [7.0; 4]),
            (
                include_str!("../../tests/fixtures/innodb-tablespaces-5.7.22.tsv"),
                [114_688.0, 98_304.0, 114_688.0, 114_688.0],
            ),
            (
                include_str!("../../tests/fixtures/innodb-tablespaces-8.0.31.tsv"),
                [131_072.0, 114_688.0, 131_072.0, 131_072.0],
            ),
            (
                include_str!("../../tests/fixtures/innodb-tablespaces-11.4.5.tsv"),
                [81_920.0, 65_536.0, 81_920.0, 81_920.0],
            ),
        ];
        for (text, bytes) in fixtures {
            // 5.6 does not have the size.
            let spaces = read_spaces(&Table::of_tsv(text), "fx/", &|name| {
                assert!(name.starts_with("fx/"));
                Some(7.0)
            });
            assert_eq!(spaces.iter().map(|space| space.bytes).collect::<Vec<_>>(), bytes);
            assert!(spaces.iter().all(|space| space.compressed_page.is_none()));
            let of = |name: &str| spaces.iter().filter(|space| is_part(&space.table, name)).count();
            assert_eq!([of("s1"), of("s1x"), of("parts"), of("part")], [1, 1, 2, 0]);
        }
        let none =
            "SPACE\tNAME\tROW_FORMAT\tPAGE_SIZE\tZIP_PAGE_SIZE\n1\tfx/z\tCompressed\t16384\t8192";
        let compressed = read_spaces(&Table::of_tsv(none), "fx/", &|_| Some(9.0));
        assert_eq!(compressed[0].compressed_page, Some(8192.0));
        assert!(read_spaces(&Table::of_tsv(none), "fx/", &|_| None).is_empty());
    }
}
