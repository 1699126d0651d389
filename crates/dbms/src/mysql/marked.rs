//! Tables on a server that steelyard did not start: created for a trial, recognized by their
//! comment, dropped afterwards.

use super::names::{bare, literal, quoted};
use crate::{Error, Sql};

/// The comment that marks a table as steelyard's, so leftovers of a killed run can be dropped.
const MARK: &str = "made by steelyard for a trial; may be dropped";
/// An aborted statement of a client may go on for a while. After this many seconds, its table is
/// left to the next run.
const LOCK_LIMIT: u32 = 30;

/// Creates tables with the mark in the same statement: DDL ends a transaction, so a run killed
/// between two statements would leave a table that the next one takes for somebody else's.
pub(super) fn create(sql: &mut dyn Sql, setup: &[String], tables: &[String]) -> Result<(), Error> {
    let mut unmarked: Vec<&String> = tables.iter().collect();
    for statement in setup {
        let created = tables.iter().find(|table| creates(statement, table));
        match created {
            Some(table) => {
                sql.execute(&with_mark(statement))?;
                unmarked.retain(|other| *other != table);
            }
            None => {
                sql.execute(statement)?;
            }
        }
    }
    for table in unmarked {
        sql.execute(&format!("ALTER TABLE {} COMMENT = '{MARK}'", quoted(table)))?;
    }
    Ok(())
}

pub(super) fn drop_ours(sql: &mut dyn Sql, tables: &[String]) -> Result<Option<String>, Error> {
    let mut others = None;
    sql.execute(&format!("SET SESSION lock_wait_timeout = {LOCK_LIMIT}"))?;
    for table in tables {
        let comment = sql.query_rows(&format!(
            "SELECT table_comment FROM information_schema.tables \
             WHERE table_schema = database() AND table_name = {}",
            literal(&bare(table))
        ))?;
        match comment.into_iter().flatten().next() {
            None => {}
            Some(comment) if comment.as_deref() == Some(MARK) => {
                sql.execute(&format!("DROP TABLE {}", quoted(table)))?;
            }
            Some(_) => others = others.or_else(|| Some(table.clone())),
        }
    }
    sql.execute("SET SESSION lock_wait_timeout = DEFAULT")?;
    Ok(others)
}

/// True if a statement is a single CREATE TABLE for `table`.
fn creates(statement: &str, table: &str) -> bool {
    let head = statement.split('(').next().unwrap_or_default();
    let mut words = head.split_whitespace().peekable();
    let mut is = |word: &str| words.next_if(|next| next.eq_ignore_ascii_case(word)).is_some();
    if !(is("CREATE") && is("TABLE")) {
        return false;
    }
    if is("IF") && !(is("NOT") && is("EXISTS")) {
        return false;
    }
    let body = statement.trim().trim_end_matches(';');
    words.next().is_some_and(|name| bare(name) == bare(table)) && !body.contains(';')
}

/// The same CREATE TABLE with the mark among the table's options, which come before its partitions.
fn with_mark(statement: &str) -> String {
    let body = statement.trim().trim_end_matches(';');
    let upper = body.to_ascii_uppercase();
    let end = upper.find("PARTITION BY").unwrap_or(body.len());
    let (options, partitions) = body.split_at(end);
    format!("{} COMMENT = '{MARK}' {partitions}", options.trim_end()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_comes_with_the_table() {
        let marked = |text: &str| with_mark(text).replace(MARK, "M");
        assert_eq!(marked("CREATE TABLE t (a int);"), "CREATE TABLE t (a int) COMMENT = 'M'");
        assert_eq!(
            marked("create table t (a int) engine=InnoDB partition by hash (a) partitions 4"),
            "create table t (a int) engine=InnoDB COMMENT = 'M' partition by hash (a) partitions 4"
        );
    }

    #[test]
    fn only_a_statement_that_creates_the_table_gets_it() {
        assert!(creates("create table pi1(a int)", "pi1"));
        assert!(creates("CREATE TABLE IF NOT EXISTS `pi1` (a int);", "pi1"));
        assert!(!creates("CREATE TABLE pi10 (a int)", "pi1"));
        assert!(!creates("CREATE INDEX pi1 ON t (a)", "pi1"));
        assert!(!creates("CREATE TABLE pi1 (a int); INSERT INTO pi1 VALUES (1)", "pi1"));
    }
}
