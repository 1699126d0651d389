//! Sizes of tables with their partitions, and the server's settings.

use super::control::{Control, literal};
use crate::{Error, Footprint, Setting, Sql};

/// SQL of a relation `tree (root, relid)`: every table of `tables` under its given name, with
/// everything that inherits from it. Works from 9.6 on, where partitions are children by
/// inheritance.
pub(super) fn tree(tables: &[String]) -> String {
    let named: Vec<String> = tables
        .iter()
        .map(|table| {
            let name = literal(table);
            format!("SELECT {name}::text AS root, to_regclass({name}::text)::oid AS relid")
        })
        .collect();
    format!(
        "tree (root, relid) AS (SELECT * FROM ({}) named UNION ALL \
         SELECT tree.root, i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree ON i.inhparent = tree.relid)",
        named.join(" UNION ALL ")
    )
}

/// Sizes of `tables` in bytes, partitions summed.
pub(super) fn footprint(control: &mut Control, tables: &[String]) -> Result<Vec<Footprint>, Error> {
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let rows = control.query_rows(&format!(
        "WITH RECURSIVE {} SELECT root, sum(pg_indexes_size(relid))::bigint, sum(pg_relation_size(relid))::bigint, \
         sum(pg_total_relation_size(relid))::bigint FROM tree GROUP BY root",
        tree(tables)
    ))?;
    tables
        .iter()
        .map(|table| {
            let row = rows
                .iter()
                .find(|row| row.first().is_some_and(|name| name.as_deref() == Some(table)));
            let bytes = |(i, name): (usize, &&str)| {
                Some(((*name).to_owned(), row?.get(i + 1)?.as_deref()?.parse::<u64>().ok()?))
            };
            match ["index", "rel", "total"].iter().enumerate().map(bytes).collect() {
                Some(bytes) => Ok(Footprint { object: table.clone(), bytes }),
                None => Err(Error::answer(format!("table {table}"), "no such table")),
            }
        })
        .collect()
}

/// Settings that differ from the built-in defaults. Those of source `client` and `session` are left
/// out: they belong to the connection that asks, not to the server.
pub(super) fn settings(control: &mut Control) -> Result<Vec<Setting>, Error> {
    let rows = control.query_rows(
        "SELECT name, current_setting(name), unit, source, boot_val FROM pg_catalog.pg_settings \
         WHERE source NOT IN ('default', 'client', 'session') ORDER BY name",
    )?;
    rows.into_iter()
        .map(|row| match <[Option<String>; 5]>::try_from(row) {
            Ok([Some(name), value, unit, Some(source), boot_value]) => {
                let value = reference::setting_without_passwords(&name, &value.unwrap_or_default());
                Ok(Setting { name, value, unit, source, boot_value })
            }
            other => Err(Error::answer("a setting", format!("{other:?}"))),
        })
        .collect()
}
