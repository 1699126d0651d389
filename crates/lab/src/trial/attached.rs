//! Tables on a server that is not ours: made for a trial, known by their comment, dropped after it.

use dbms::Sql;

use crate::error::Error;

/// The comment that marks a table as ours, so that one which a killed run left can be dropped.
const MARK: &str = "made by steelyard for a trial; may be dropped";
/// A statement of a client that was broken off may go on for a while; longer than this its table
/// is left to the next run.
const LOCK_LIMIT: &str = "30s";

/// Makes sure that none of `tables` is there, dropping those that an earlier run left.
///
/// # Errors
///
/// [`Error::TableExists`] for a table of somebody else.
pub fn clear(sql: &mut dyn Sql, variant: &str, tables: &[String]) -> Result<(), Error> {
    for table in tables {
        match owner(sql, table)? {
            None => {}
            Some(Owner::Steelyard) => {
                sql.execute(&format!("DROP TABLE {table}"))?;
            }
            Some(Owner::Stranger) => {
                let (variant, table) = (variant.to_owned(), table.clone());
                return Err(Error::TableExists { variant, table });
            }
        }
    }
    Ok(())
}

/// Makes the tables and marks them as ours, in one transaction: a run that is killed in between
/// leaves no table that the next one would take for a stranger's.
pub fn create(sql: &mut dyn Sql, setup: &[String], tables: &[String]) -> Result<(), dbms::Error> {
    let marks = tables.iter().map(|table| format!("COMMENT ON TABLE {table} IS '{MARK}'"));
    let script: Vec<String> = setup.iter().cloned().chain(marks).collect();
    sql.execute(&script.join(";\n")).map(|_| ())
}

/// Drops the tables after the trial, however it ended; a stranger's table of the same name stays.
pub fn drop_tables(sql: &mut dyn Sql, tables: &[String]) -> Result<(), Error> {
    sql.execute(&format!("SET lock_timeout = '{LOCK_LIMIT}'"))?;
    for table in tables {
        if owner(sql, table)? == Some(Owner::Steelyard) {
            sql.execute(&format!("DROP TABLE {table}"))?;
        }
    }
    Ok(())
}

/// Whose a table is.
#[derive(PartialEq)]
enum Owner {
    Steelyard,
    Stranger,
}

/// Whose `table` is; `None` if there is no such table.
fn owner(sql: &mut dyn Sql, table: &str) -> Result<Option<Owner>, Error> {
    let rows = sql.query_rows(&format!(
        "SELECT coalesce(obj_description(to_regclass('{table}'), 'pg_class'), '') \
         WHERE to_regclass('{table}') IS NOT NULL"
    ))?;
    Ok(rows.first().and_then(|row| row.first()).map(|comment| {
        if comment.as_deref() == Some(MARK) { Owner::Steelyard } else { Owner::Stranger }
    }))
}
