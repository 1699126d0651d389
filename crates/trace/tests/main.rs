//! The readers, on logs that servers wrote: PostgreSQL 15 in three formats at once, MySQL 5.6 to
//! 8.0, MariaDB 10.1 and 11.4. The statements are those of psql, pgbench and PyMySQL; in
//! [`applications`], of others.

#![allow(clippy::unwrap_used)] // a test fails by it

mod applications;
mod common;
mod digests;

use std::ops::ControlFlow;

use proptest::prelude::*;
use trace::{
    Anonymizer, Format, Options, Ranking, Statement, Summary, Syntax, TraceError, normal_form,
};

use common::{fixture, sql};

fn read(format: Format, log: &[u8]) -> Result<(Vec<Statement>, Summary), TraceError> {
    let mut found = Vec::new();
    let summary = trace::read(format, &Options::default(), &mut &log[..], &mut |statement| {
        found.push(statement);
        ControlFlow::Continue(())
    })?;
    Ok((found, summary))
}

fn detected(name: &str) -> (Vec<Statement>, Summary) {
    let text = fixture(name);
    read(trace::detect(&text).unwrap(), text.as_bytes()).unwrap()
}

#[test]
fn three_formats_of_one_server_say_the_same() {
    let (csv, summary) = detected("postgres.csv");
    assert_eq!((summary.statements, summary.sessions, summary.failed), (27, 4, 3), "{summary:?}");
    assert_eq!(summary.damaged, 0, "{summary:?}");
    assert_eq!(detected("postgres.json").0, csv);
    let (log, of_log) = detected("postgres.log");
    // This one has no `%d`.
    let without = |it: &Statement| Statement { database: None, ..it.clone() };
    assert_eq!(log, csv.iter().map(without).collect::<Vec<_>>());
    assert_eq!(of_log.damaged, 0, "{of_log:?}");
    let failed: Vec<&str> = csv.iter().filter(|it| it.failed).map(|it| it.text.as_str()).collect();
    assert_eq!(failed, ["SELECT * FROM nothing;", "SELECT 1/0;", "SELECT 1;"]);
    let texts: Vec<&str> = csv.iter().map(|it| it.text.as_str()).collect();
    assert!(texts.contains(&"SELECT name\nFROM items -- the cheapest\nWHERE price < 2.0;"));
    let kaese =
        "INSERT INTO items VALUES (1, 'it''s', 1.5), (2, E'back\\\\slash', 2), (3, 'käse', NULL);";
    assert!(texts.contains(&kaese), "{texts:?}");
    let prepared = |text: &&&str| text.starts_with("SELECT name FROM items WHERE id = '");
    assert_eq!(texts.iter().filter(prepared).count(), 8);
    assert!(texts.contains(&"UPDATE items SET price = '2' * 1.5 WHERE id = '2';"), "{texts:?}");
    assert!(csv.iter().all(|it| it.failed || it.took_us.is_some()), "{csv:?}");
    let update =
        csv.iter().find(|it| it.text.starts_with("UPDATE items SET price = price")).unwrap();
    assert_eq!(update.took_us, Some(520));
}

#[test]
fn general_logs_of_three_servers() {
    let texts = |name: &str| -> (Vec<String>, Summary) {
        let (found, summary) = detected(name);
        let own = |it: &Statement| !it.text.contains("@@skip_networking");
        (found.into_iter().filter(own).map(|it| it.text).collect(), summary)
    };
    let (old, summary) = texts("mysql-5.7.log");
    assert_eq!((summary.sessions, summary.damaged), (2, 0), "{summary:?}");
    assert_eq!(old.len(), 15, "{old:?}");
    assert!(old.contains(&"SELECT name FROM items WHERE id = 2".to_owned()));
    assert!(old.contains(&"SELECT 'a tab\tand\n\nan empty line'".to_owned()));
    assert!(!old.iter().any(|text| text.starts_with("EXECUTE") || text.starts_with("USE")));
    for other in ["mysql-8.0.log", "mariadb-11.4.log"] {
        assert_eq!(texts(other).0, old, "{other}");
    }
    let (found, _) = detected("mysql-5.7.log");
    assert_eq!(found[1].at_us - found[0].at_us, 143);
}

/// The old form has no time in lines of the same second. The servers were restarted in between.
#[test]
fn general_logs_of_old_servers() {
    // MariaDB also logs statements with mistakes in their syntax.
    for (name, statements) in [("mysql-5.6.log", 30), ("mariadb-10.1.log", 31)] {
        let (found, summary) = detected(name);
        assert_eq!((found.len(), summary.sessions, summary.damaged), (statements, 3, 0), "{name}");
    }
}

/// The same statements on five servers. A literal looks like the beginning of a record, a session
/// sets its clock to 1970, and a second one comes in between.
#[test]
fn slow_logs_of_five_servers() {
    let texts = |found: &[Statement], session: u32| -> Vec<String> {
        let own = found.iter().filter(|it| it.session == session);
        // Not every server logs what it can't parse.
        own.map(|it| it.text.clone()).filter(|text| text != "SELEC 1").collect()
    };
    let (first, _) = detected("mysql-8.0-slow.log");
    let sent = texts(&first, 0);
    assert_eq!(sent.len(), 25, "{sent:#?}");
    for text in [
        "SELECT name\nFROM items -- the cheapest\nWHERE price < 2.0",
        "SELECT 'a; b\n# Time: 1\n', 'x'",
        "SELECT ';\n# User@Host: a[a] @ b []  Id: 9\n'",
        "SELECT name FROM items WHERE id = 2",
        "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
    ] {
        assert!(sent.iter().any(|it| it == text), "{text}: {sent:#?}");
    }
    for name in [
        "mysql-5.6-slow.log",
        "mysql-5.7-slow.log",
        "mysql-8.0-slow.log",
        "mariadb-10.1-slow.log",
        "mariadb-11.4-slow.log",
    ] {
        let (found, summary) = detected(name);
        assert_eq!((summary.sessions, summary.damaged), (2, 0), "{name}: {summary:?}");
        assert_eq!(texts(&found, 0), sent, "{name}");
        let second = ["SET NAMES utf8mb4", "SELECT COUNT(*) FROM items", "SELECT 4", "SELECT 6"];
        assert_eq!(texts(&found, 1), second, "{name}");
        let slept = found.iter().find(|it| it.text.starts_with("SELECT SLEEP")).unwrap();
        assert!(slept.took_us.is_some_and(|us| us >= 10_000), "{name}: {slept:?}");
        let times: Vec<i64> = found.iter().map(|it| it.at_us).collect();
        let span = times.iter().max().unwrap() - times.iter().min().unwrap();
        assert!(span < 10_000_000, "{name}: {span}");
    }
}

/// What a server writes around a statement, such as its plan and ids; and what a client sends.
#[test]
fn only_the_clients_own_lines_are_sent() {
    let log = "# Time: 2026-11-28T22:41:53.357021Z\n\
               # User@Host: shop[shop] @ localhost []\n\
               # Thread_id: 3  Schema: shop  QC_hit: No\n\
               # Query_time: 0.000147  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0\n\
               #\n# explain: id\tselect_type\ttable\n# explain: 1\tSIMPLE\titems\n#\n\
               use `shop`;\nSET last_insert_id=7,insert_id=8,timestamp=1795905713;\n\
               SET timestamp=1000;\n\
               # User@Host: shop[shop] @ localhost []  Id:     4\n\
               # Query_time: 0.000001  Lock_time: 0.000000 Rows_sent: 0 Errno: 0 Start: \
               2026-11-28T22:41:53.357021Z End: 2026-11-28T22:41:53.357022Z\n\
               SET timestamp=1795905713;\nuse_it();\n";
    let (found, summary) = read(Format::MysqlSlow, log.as_bytes()).unwrap();
    let said: Vec<_> = found.iter().map(|it| (it.text.as_str(), it.took_us)).collect();
    let expected = [("SET timestamp=1000", Some(147)), ("use_it()", Some(1))];
    assert_eq!((said, summary.damaged), (expected.to_vec(), 0), "{summary:?}");
    assert_eq!(found[0].at_us % 1_000_000, 357_021 - 147);

    // A clock that was set back; a sampled log.
    let wrong = log.replace("Query_time: 0.000147", "Query_time: 18446744073709.550781");
    assert_eq!(read(Format::MysqlSlow, wrong.as_bytes()).unwrap().1.damaged, 1);
    let sampled = log.replace("#\n# explain: id", "# Log_slow_rate_limit: 10\n# explain: id");
    let error = read(Format::MysqlSlow, sampled.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("one of 10"), "{error}");
    // Without a time before it: a log cut at its beginning.
    let cut = log.split_once('\n').unwrap().1;
    let (found, _) = read(Format::MysqlSlow, cut.as_bytes()).unwrap();
    assert_eq!(found[0].at_us, 1_795_905_713_000_000 - 147);
}

/// A server that dies while it writes, and starts again: at most the statement before is lost.
#[test]
fn a_restart_ends_a_slow_log_anywhere() {
    let log = fixture("mysql-5.7-slow.log");
    let (whole, _) = read(Format::MysqlSlow, log.as_bytes()).unwrap();
    let texts = |found: &[Statement]| found.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
    let all = texts(&whole);
    let lines: Vec<&str> = log.lines().collect();
    for end in 4..lines.len() {
        let both = format!("{}\n{log}", lines[..end].join("\n"));
        let (found, summary) = read(Format::MysqlSlow, both.as_bytes()).unwrap();
        let found = texts(&found);
        // After a literal without an end, one statement is not trusted.
        assert!(found.ends_with(&all[1..]), "cut after line {end}: {summary:?}");
        let before = &found[..found.len() + 1 - all.len()];
        let known = before.iter().all(|text| all.contains(text));
        assert!(known, "cut after line {end}: {before:?}, {summary:?}");
    }
}

/// A literal with all that precedes a statement: what it holds is not sent.
#[test]
fn a_record_inside_a_literal_is_no_statement() {
    let head = "# User@Host: shop[shop] @ localhost []  Id:     7\n\
                # Query_time: 0.000147  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n\
                SET timestamp=1795905713;\n";
    let of = |statements: &[&str]| {
        let records = statements.iter().map(|text| format!("{head}{text};\n"));
        let (found, summary) =
            read(Format::MysqlSlow, records.collect::<String>().as_bytes()).unwrap();
        (found.into_iter().map(|it| it.text).collect::<Vec<_>>(), summary.damaged)
    };
    let forged = format!("INSERT INTO logs VALUES ('a;\n{head}DROP TABLE t;\n')");
    let (found, damaged) = of(&["SELECT 1", &forged, "SELECT 2", "SELECT 3 -- it's fine"]);
    assert_eq!((found[0].as_str(), damaged), ("SELECT 1", 3), "{found:?}");
    assert!(!found.iter().any(|text| text.contains("DROP")), "{found:?}");
    // A literal that never ends is a mistake of its statement alone.
    let (found, damaged) = of(&["SELECT 'x", "SELECT 2", "SELECT 3"]);
    assert_eq!((found, damaged), (vec!["SELECT 3".to_owned()], 2));
    let half = "SELECT 'a;\n# User@Host: x[x]' , 1";
    let (found, damaged) = of(&[half, "SELECT 2", half]);
    assert_eq!((found, damaged), ([half, "SELECT 2", half].map(str::to_owned).to_vec(), 0));
    let without = forged.replace("SET timestamp=1795905713;\n", "");
    let (found, _) = of(&["SELECT 1", &without, "SELECT 2"]);
    assert!(!found.iter().any(|text| text.contains("DROP")), "{found:?}");
}

/// As Percona Server writes it, and MySQL with `log_slow_extra`.
#[test]
fn a_slow_log_may_say_what_failed() {
    let log = "# Time: 2026-11-28T22:41:53.357021Z\n\
               # User@Host: shop[shop] @ localhost []  Id:     7\n\
               # Query_time: 0.000147  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0 \
               Thread_id: 7 Errno: 1146 Killed: 0 Bytes_received: 0\n\
               SET timestamp=1795905713;\nSELECT * FROM nothing;\n\
               # User@Host: shop[shop] @ localhost []  Id:     7\n\
               # Schema: shop  Last_errno: 0  Killed: 0\n\
               # Query_time: 0.000147  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n\
               # Bytes_sent: 11  Tmp_tables: 0\n\
               SET insert_id=3,timestamp=1795905713;\n# a remark\nSELECT 1;\n\
               # Time: 2026-11-28T22:41:54.357021Z\nno record\n";
    let (found, summary) = read(Format::MysqlSlow, log.as_bytes()).unwrap();
    let said: Vec<_> = found.iter().map(|it| (it.text.as_str(), it.failed)).collect();
    let expected = [("SELECT * FROM nothing", true), ("# a remark\nSELECT 1", false)];
    assert_eq!(said, expected, "{summary:?}");
    // The two lines at the end.
    assert_eq!((summary.statements, summary.damaged, summary.sessions), (2, 2, 1));
}

#[test]
fn another_server_in_the_same_file_is_refused() {
    let both = fixture("mysql-5.7.log") + &fixture("mariadb-11.4.log");
    let error = read(Format::MysqlGeneral, both.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("11.4.5-MariaDB-log (MariaDB Server), not 5.7.22-log"), "{error}");
    let both = fixture("mysql-5.7-slow.log") + &fixture("mariadb-11.4-slow.log");
    let error = read(Format::MysqlSlow, both.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("11.4.5-MariaDB-log (MariaDB Server), not 5.7.22-log"), "{error}");
}

#[test]
fn a_wrong_format_is_told() {
    let log = fixture("mysql-5.7.log");
    for format in [Format::PostgresCsv, Format::PostgresJson, Format::PostgresStderr, Format::Plain]
    {
        let error = read(format, log.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("format"), "{format}: {error}");
    }
    assert!(matches!(read(Format::Plain, b""), Err(TraceError::NoRecords { .. })));
    assert_eq!(trace::detect("hello\nworld\n"), None);
    assert!("csv".parse::<Format>().unwrap_err().to_string().contains("postgres-csv"));
}

#[test]
fn other_prefixes() {
    let read = |prefix: &str, log: &str| {
        let options = Options { line_prefix: Some(prefix.to_owned()) };
        let mut found = Vec::new();
        let each = &mut |statement| {
            found.push(statement);
            ControlFlow::Continue(())
        };
        trace::read(Format::PostgresStderr, &options, &mut log.as_bytes(), each).map(|_| found)
    };
    let one = "2026-11-28 20:08:46.294 UTC [7]: user=a b,db=c LOG:  statement: SELECT 1\n\
               2026-11-28 20:08:46.295 UTC [7]: user=a b,db=c LOG:  duration: 0.5 ms\n";
    let found = read("%m [%p]: user=%u,db=%d ", one).unwrap();
    assert_eq!((found.len(), found[0].took_us), (1, Some(500)));
    let epoch = "1764000000.250 6b0b34ce.74bf q LOG:  duration: 250.0 ms  statement: SELECT 1\n";
    assert_eq!(read("%n %c %a ", epoch).unwrap()[0].at_us, 1_764_000_000_000_000);
    let error = read("%m %u ", one).unwrap_err().to_string();
    assert!(error.contains("%p"), "{error}");
}

/// Debian's prefix, of processes with a session and without.
#[test]
fn lines_without_a_session_have_no_user() {
    let log = "2026-11-28 20:08:46.294 UTC [7] LOG:  checkpoint starting: time\n\
               2026-11-28 20:08:46.294 UTC [8] shop@shop LOG:  duration: 0.5 ms  statement: SELECT\n\
               \t1\n\
               2026-11-28 20:08:46.295 UTC [9] shop@shop ERROR:  division by zero\n\
               2026-11-28 20:08:46.295 UTC [9] shop@shop STATEMENT:  SELECT 1/0\n\
               2026-11-28 20:08:46.296 UTC [7] shop@shop ANWEISUNG:  SELECT 1/0\n";
    let (found, summary) = read(trace::detect(log).unwrap(), log.as_bytes()).unwrap();
    let texts: Vec<(&str, bool)> = found.iter().map(|it| (it.text.as_str(), it.failed)).collect();
    assert_eq!(texts, [("SELECT\n1", false), ("SELECT 1/0", true)]);
    assert_eq!(summary.damaged, 1, "{summary:?}");
}

/// The second of two equal statements fails.
#[test]
fn a_repeated_statement_that_fails_is_another() {
    let log = "2026-11-28 20:08:46.294 UTC [8] LOG:  duration: 0.5 ms  statement: INSERT INTO t\n\
               2026-11-28 20:08:46.295 UTC [8] ERROR:  duplicate key\n\
               2026-11-28 20:08:46.295 UTC [8] STATEMENT:  INSERT INTO t\n\
               2026-11-28 20:08:46.296 UTC [8] ERROR:  duplicate key\n\
               2026-11-28 20:08:46.296 UTC [8] STATEMENT:  INSERT INTO u VALUES ($1)\n";
    let (found, summary) = read(Format::PostgresStderr, log.as_bytes()).unwrap();
    assert_eq!(found.iter().map(|it| it.failed).collect::<Vec<_>>(), [false, true]);
    assert_eq!((summary.damaged, summary.without_values), (0, 1), "{summary:?}");
}

#[test]
fn a_restart_begins_new_sessions() {
    let log = fixture("mysql-5.7.log");
    let (_, summary) = read(Format::MysqlGeneral, log.repeat(2).as_bytes()).unwrap();
    assert_eq!(summary.sessions, 4);
    let crash = "2026-11-28T20:10:00.0Z\t    2 Query\tSELECT 1\n".to_owned()
        + log.lines().take(3).map(|line| format!("{line}\n")).collect::<String>().as_str()
        + "2026-11-28T20:11:00.0Z\t    2 Query\tSELECT 2\n\
           2026-11-28T20:11:01.0Z\t    2 Clone\t\n";
    let (found, summary) = read(Format::MysqlGeneral, crash.as_bytes()).unwrap();
    assert_eq!((found.len(), summary.sessions, summary.damaged), (2, 2, 0), "{summary:?}");
    assert_eq!(found[1].text, "SELECT 2");
}

/// A cut takes nothing from what comes before it, but for what became of the latest statements.
#[test]
fn a_cut_log_has_the_statements_before() {
    let names = [
        "postgres.csv",
        "postgres.json",
        "postgres.log",
        "mysql-8.0.log",
        "mariadb-11.4.log",
        "mysql-8.0-slow.log",
        "mariadb-11.4-slow.log",
    ];
    for name in names {
        let text = fixture(name);
        let format = trace::detect(&text).unwrap();
        let (whole, _) = read(format, text.as_bytes()).unwrap();
        for end in (0..text.len()).step_by(97) {
            let Ok((found, _)) = read(format, &text.as_bytes()[..end]) else { continue };
            assert!(found.len() <= whole.len() + 1, "{name} at {end}");
            let sure = found.len().saturating_sub(5);
            for statement in &found[..sure] {
                assert!(whole.iter().any(|it| it.text == statement.text), "{name} at {end}");
            }
        }
    }
}

#[test]
fn what_is_written_is_read() {
    let (statements, _) = detected("postgres.csv");
    let mut text = Vec::new();
    statements.iter().for_each(|statement| trace::write(statement, &mut text).unwrap());
    assert_eq!(trace::detect(std::str::from_utf8(&text).unwrap()), Some(Format::Plain));
    let (again, _) = read(Format::Plain, &text).unwrap();
    let texts = |all: &[Statement]| all.iter().map(|it| it.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&again), texts(&statements));
    let times = |all: &[Statement]| {
        let time = |it: &Statement| (it.at_us, it.took_us, it.failed, it.database.clone());
        all.iter().map(time).collect::<Vec<_>>()
    };
    assert_eq!(times(&again), times(&statements));
}

#[test]
fn statements_are_ranked_by_their_forms() {
    let (statements, _) = detected("postgres.csv");
    let mut ranking = Ranking::new(Syntax::Dollars);
    statements.iter().for_each(|statement| {
        ranking.add(statement);
    });
    let form = "select name from items where id = ? and name <> ?";
    let found = ranking.forms().iter().find(|it| it.text == form).unwrap();
    assert_eq!(found.statements, 8);
    let order = ranking.order();
    let cost = |place: usize| ranking.forms()[place].took_us;
    assert!(order.windows(2).all(|two| cost(two[0]) >= cost(two[1])));
}

/// A general log that ends in a line has no part of a statement, which may be another one.
#[test]
fn a_part_of_a_line_is_no_statement() {
    let log = "2026-11-28T21:15:59.1Z\t    0 Execute\tCREATE TABLE own (a int)\n\
               2026-11-28T21:15:59.2Z\t    7 Query\tSELECT 1\n\
               2026-11-28T21:15:59.3Z\t    7 Query\tDELETE FROM t";
    let (found, summary) = read(Format::MysqlGeneral, log.as_bytes()).unwrap();
    assert_eq!(found.iter().map(|it| it.text.as_str()).collect::<Vec<_>>(), ["SELECT 1"]);
    assert_eq!((summary.records, summary.damaged), (3, 1), "{summary:?}");
    let log = "2026-11-28 20:08:46.294 UTC [7] LOG:  statement: SELECT 1\n\
               2026-11-28 20:08:46.295 UTC [7] LOG:  statement: DELETE FROM t";
    let (found, summary) = read(Format::PostgresStderr, log.as_bytes()).unwrap();
    assert_eq!((found.len(), summary.damaged), (1, 1), "{summary:?}");
}

/// As PostgreSQL 15 logs a division by zero in a parallel query.
#[test]
fn a_helper_of_a_query_sends_nothing() {
    let log = "2026-11-28 20:46:56.523 UTC,,,31307,,6b0b3dc0.7a4b,1,,2026-11-28 20:46:56 UTC,4/3,0,\
               ERROR,22012,\"division by zero\",,,,,,\"SELECT count(1/(g-100000)) FROM big;\",,,\
               \"psql\",\"parallel worker\",31305,3018565191328448719\n\
               2026-11-28 20:46:56.526 UTC,\"shop\",\"postgres\",31305,\"[local]\",6b0b3dc0.7a49,26,\
               \"SELECT\",2026-11-28 20:46:56 UTC,3/25,0,ERROR,22012,\"division by zero\",,,,,\
               \"parallel worker\",\"SELECT count(1/(g-100000)) FROM big;\",,,\
               \"psql\",\"client backend\",,3018565191328448719\n";
    let (found, summary) = read(Format::PostgresCsv, log.as_bytes()).unwrap();
    assert_eq!((found.len(), summary.sessions, summary.failed), (1, 1, 1), "{found:?}");
}

fn any_format() -> impl Strategy<Value = Format> {
    prop::sample::select(Format::ALL.to_vec())
}

fn anonymous(text: &str, syntax: Syntax) -> String {
    let mut statement = Statement { text: text.to_owned(), ..Statement::default() };
    Anonymizer::new(b"k").statement(&mut statement, syntax);
    statement.text
}

proptest! {
    #[test]
    fn no_bytes_panic(format in any_format(), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(format, &bytes);
        let _ = trace::detect(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_damage_panics(at in 0_usize..20_000, byte in any::<u8>()) {
        for name in ["postgres.csv", "postgres.log", "mysql-8.0.log", "mariadb-11.4-slow.log"] {
            let mut bytes = fixture(name).into_bytes();
            let format = trace::detect(&String::from_utf8_lossy(&bytes)).unwrap();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = read(format, &bytes);
        }
    }

    #[test]
    fn a_normal_form_is_its_own(text in sql()) {
        for syntax in [Syntax::Dollars, Syntax::Backslashes] {
            let form = normal_form(&text, syntax);
            let _ = anonymous(&text, syntax);
            if form.chars().all(|c| c.is_ascii_alphanumeric() || "?,() ".contains(c)) {
                prop_assert_eq!(normal_form(&form, syntax), form);
            }
        }
    }

    #[test]
    fn anonymous_statements_keep_their_form(text in sql()) {
        for syntax in [Syntax::Dollars, Syntax::Backslashes] {
            let other = anonymous(&text, syntax);
            prop_assert_eq!(normal_form(&other, syntax), normal_form(&text, syntax));
        }
    }
}
