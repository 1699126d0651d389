//! Tables on a server that steelyard did not start: created for a trial, recognized by their
//! comment, dropped afterwards.

use crate::{Error, Sql};

/// The comment that marks a table as steelyard's, so leftovers of a killed run can be dropped.
const MARK: &str = "made by steelyard for a trial; may be dropped";
/// An aborted statement of a client may go on for a while. After this long, its table is left to
/// the next run.
const LOCK_LIMIT: &str = "30s";

/// In one transaction, so a killed run leaves no table that the next one would take for somebody
/// else's.
pub(super) fn create(sql: &mut dyn Sql, setup: &[String], tables: &[String]) -> Result<(), Error> {
    let marks = tables.iter().map(|table| format!("COMMENT ON TABLE {table} IS '{MARK}'"));
    let script: Vec<String> = setup.iter().cloned().chain(marks).collect();
    sql.execute(&script.join(";\n")).map(drop)
}

pub(super) fn drop_ours(sql: &mut dyn Sql, tables: &[String]) -> Result<Option<String>, Error> {
    let mut others = None;
    sql.execute(&format!("SET lock_timeout = '{LOCK_LIMIT}'"))?;
    for table in tables {
        let comment = sql.query_rows(&format!(
            "SELECT coalesce(obj_description(to_regclass('{table}'), 'pg_class'), '') \
             WHERE to_regclass('{table}') IS NOT NULL"
        ))?;
        match comment.into_iter().flatten().next() {
            None => {}
            Some(comment) if comment.as_deref() == Some(MARK) => {
                sql.execute(&format!("DROP TABLE {table}"))?;
            }
            Some(_) => others = others.or_else(|| Some(table.clone())),
        }
    }
    sql.execute("RESET lock_timeout")?;
    Ok(others)
}
