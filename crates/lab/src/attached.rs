//! Tables on a server that is not ours: made for a trial, known by their comment, dropped after it.

use dbms::Server;

use crate::error::Error;

/// The comment that marks a table as ours, so that one which a killed run left can be dropped.
const MARK: &str = "made by steelyard for a trial; may be dropped";

/// Makes sure that none of `tables` is there, dropping those that an earlier run left.
///
/// # Errors
///
/// [`Error::TableExists`] for a table of somebody else.
pub fn clear(server: &mut dyn Server, variant: &str, tables: &[String]) -> Result<(), Error> {
    for table in tables {
        let rows = server.query_rows(&format!(
            "SELECT coalesce(obj_description(to_regclass('{table}'), 'pg_class'), '') \
             WHERE to_regclass('{table}') IS NOT NULL"
        ))?;
        let Some(comment) = rows.first().and_then(|row| row.first()) else { continue };
        if comment.as_deref() != Some(MARK) {
            return Err(Error::TableExists { variant: variant.to_owned(), table: table.clone() });
        }
        server.execute(&format!("DROP TABLE {table}"))?;
    }
    Ok(())
}

/// Marks the tables as ours.
pub fn mark(server: &mut dyn Server, tables: &[String]) -> Result<(), Error> {
    for table in tables {
        server.execute(&format!("COMMENT ON TABLE {table} IS '{MARK}'"))?;
    }
    Ok(())
}

/// Drops the tables after the trial.
pub fn drop_tables(server: &mut dyn Server, tables: &[String]) -> Result<(), Error> {
    for table in tables {
        server.execute(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    Ok(())
}
