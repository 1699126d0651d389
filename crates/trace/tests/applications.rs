//! What logs of real applications hold: statements in the extended protocol.

use trace::{Anonymizer, Databases, Format, Ranking, Statement, Syntax};

use crate::{detected, read};

/// A record of PostgreSQL's log: its severity, message, detail, context, and statement.
type Record<'r> = [&'r str; 5];

/// Records of one session as `csvlog`, `jsonlog` and text, a second apart.
fn in_three_formats(records: &[Record<'_>]) -> [(Format, String); 3] {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let (mut json, mut text) = (String::new(), String::new());
    for (second, [severity, message, detail, context, query]) in (10..).zip(records) {
        let at = format!("2026-12-01 11:20:{second}.000 UTC");
        let mut row = vec![&*at, "shop", "shop", "7", "", "6b0ead8f.7", "1", "", &at, "", "0"];
        row.extend([severity, "00000", message, detail, "", "", "", context, query, "", ""]);
        csv.write_record(row).unwrap();
        let object = serde_json::json!({
            "timestamp": at, "dbname": "shop", "session_id": "6b0ead8f.7",
            "error_severity": severity, "message": message, "detail": detail,
            "context": context, "statement": query,
        });
        json.push_str(&format!("{object}\n"));
        let parts = [(*severity, message), ("DETAIL", detail), ("CONTEXT", context)];
        for (label, part) in parts.into_iter().chain([("STATEMENT", query)]) {
            if !part.is_empty() {
                let part = part.replace('\n', "\n\t");
                text.push_str(&format!("{at} [7] shop@shop {label}:  {part}\n"));
            }
        }
    }
    let csv = String::from_utf8(csv.into_inner().unwrap()).unwrap();
    [(Format::PostgresCsv, csv), (Format::PostgresJson, json), (Format::PostgresStderr, text)]
}

/// When a statement began and how long it took, in microseconds after the first.
fn times(found: &[Statement]) -> Vec<(i64, Option<u64>)> {
    found.iter().map(|it| (it.at_us - found[0].at_us, it.took_us)).collect()
}

#[test]
fn a_statement_begins_when_it_is_parsed() {
    let (found, summary) = detected("postgres-bind.csv");
    assert_eq!((summary.statements, summary.other, summary.damaged), (3, 4, 0), "{summary:?}");
    // 0.359 ms + 1.888 ms + 0.032 ms, which end at .336.
    let expected = [(0, Some(19)), (1_740, Some(2_279)), (5_765, Some(3_254))];
    assert_eq!(times(&found), expected.map(|(at, took)| (at, took)));
}

#[test]
fn only_the_statement_that_was_prepared_takes_the_time_of_it() {
    let log = |message| ["LOG", message, "", "", ""];
    for (_, text) in in_three_formats(&[
        log("duration: 1.000 ms  parse s1: SELECT 1"),
        log("duration: 2.000 ms  execute s2: SELECT 2"),
        log("duration: 2.000 ms  execute s1: SELECT 1"),
        log("duration: 1.000 ms  parse s1: SELECT 1"),
        log("duration: 1.000 ms  bind s1/c1: SELECT 1"),
        // With `log_statement`, a statement is logged before its time.
        log("execute s1/c1: SELECT 1"),
        log("duration: 2.000 ms"),
        log("duration: 9.000 ms  bind s2: SELECT 2"),
        ["ERROR", "division by zero", "", "", "SELECT 2"],
        log("duration: 2.000 ms  execute s2: SELECT 2"),
    ]) {
        let (found, summary) = read(trace::detect(&text).unwrap(), text.as_bytes()).unwrap();
        assert_eq!((summary.other, summary.damaged), (5, 0), "{summary:?}\n{text}");
        let took: Vec<_> = found.iter().map(|it| it.took_us).collect();
        assert_eq!(took, [Some(2_000), Some(2_000), Some(4_000), None, Some(2_000)], "{text}");
        assert_eq!(times(&found)[2].0, 4_000_000, "{text}");
    }
}

#[test]
fn statements_that_fail_have_the_values_of_their_context() {
    let (found, summary) = detected("postgres-errors.log");
    let failed: Vec<&Statement> = found.iter().filter(|it| it.failed).collect();
    let texts: Vec<&str> = failed.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(
        texts,
        ["insert into u(t) values ('it''s\nnew')", "select 1/(length('a')-1)"],
        "{summary:?}"
    );
    let bound = failed[0].bound.as_ref().unwrap();
    assert_eq!(bound.values, [Some("it's\nnew".to_owned())]);
    // One fails before it has its values, and one knows no table.
    assert_eq!((summary.without_values, summary.damaged), (2, 0), "{summary:?}");
}

#[test]
fn the_context_of_an_error_is_in_all_formats() {
    let context = "PL/pgSQL function f(integer) line 3 at RAISE\n\
                   portal \"c1\" with parameters: $1 = '5', $2 = NULL";
    let cut = "unnamed portal with parameters: $1 = '5...'";
    for (format, text) in in_three_formats(&[
        ["ERROR", "no", "", context, "SELECT f($1, $2)"],
        ["ERROR", "no", "", cut, "SELECT f($1)"],
        ["ERROR", "no", "", "", "SELECT f($1)"],
        ["ERROR", "no", "", "", "SELECT f(1)"],
    ]) {
        let (found, summary) = read(format, text.as_bytes()).unwrap();
        let said: Vec<_> = found.iter().map(|it| (&*it.text, it.bound.is_some())).collect();
        assert_eq!(said, [("SELECT f('5', NULL)", true), ("SELECT f(1)", false)], "{format}");
        assert_eq!((summary.without_values, summary.damaged), (2, 0), "{format}: {summary:?}");
    }
}

/// The databases of these statements, one after another.
fn databases(found: &[Statement]) -> Vec<&str> {
    found.iter().map(|it| it.database.as_deref().unwrap_or("-")).collect()
}

#[test]
fn statements_have_their_database() {
    let (found, _) = detected("postgres-databases.csv");
    let mut counted = Databases::default();
    found.iter().for_each(|statement| counted.add(statement));
    let said = "miniflux (2 statements), postgres (1 statement), wagtail (2 statements)";
    assert_eq!(counted.to_string(), said);
    for (format, text) in in_three_formats(&[["LOG", "statement: SELECT 1", "", "", ""]]) {
        assert_eq!(databases(&read(format, text.as_bytes()).unwrap().0), ["shop"], "{format}");
    }
    for name in ["mysql-5.7.log", "mariadb-10.1.log", "mysql-5.7-slow.log", "mariadb-11.4-slow.log"]
    {
        let (found, _) = detected(name);
        let of = |part| found.iter().position(|it| it.text.starts_with(part)).unwrap();
        assert_eq!(databases(&found)[of("CREATE TABLE items")], "shop", "{name}");
    }
}

#[test]
fn a_session_can_choose_another_database() {
    let at = "2026-11-28T20:10:00.0Z\t    ";
    let records = [
        "2 Connect\tshop@localhost on  using Socket",
        "2 Query\tSELECT 0",
        "2 Init DB\tshop",
        "3 Connect\tblog@localhost as anonymous on blog",
        "2 Query\tSELECT 1",
        "3 Query\tSELECT 2",
        "3 Query\t/* x */ use `my blog`;",
        "3 Reset Connection\t",
        "3 Query\tSELECT 3",
        "2 Change user\tshop@localhost on blog using TCP/IP",
        "2 Query\tSELECT 4",
        "2 Quit\t",
        "2 Query\tSELECT 5",
    ];
    let log: String = records.map(|record| format!("{at}{record}\n")).concat();
    let (mut found, _) = read(Format::MysqlGeneral, log.as_bytes()).unwrap();
    found.sort_by(|one, other| one.text.cmp(&other.text));
    assert_eq!(databases(&found), ["-", "shop", "blog", "my blog", "blog", "-"]);
}

/// MariaDB writes the schema of each statement, MySQL only another one than before.
#[test]
fn a_slow_log_has_databases() {
    let record = |schema: &str, used: &str| {
        format!(
            "# User@Host: shop[shop] @ localhost []  Id:     7\n{schema}\
             # Query_time: 0.000147  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0\n\
             {used}SET timestamp=1795905713;\nSELECT 1;\n"
        )
    };
    let log = [
        record("", "use shop;\n"),
        record("", ""),
        record("# Thread_id: 7  Schema: blog  QC_hit: No\n", ""),
        record("# Thread_id: 7  Schema:   QC_hit: No\n", ""),
        record("", "use `blog`;\n"),
    ];
    let (found, _) = read(Format::MysqlSlow, log.concat().as_bytes()).unwrap();
    assert_eq!(databases(&found), ["shop", "shop", "blog", "-", "blog"]);
}

/// Savepoints and cursors with the names that Django makes.
#[test]
fn generated_names_make_no_forms() {
    let (found, _) = detected("postgres-generated-names.csv");
    let mut ranking = Ranking::new(Syntax::Dollars);
    for mut statement in found {
        let place = ranking.add(&statement);
        Anonymizer::new(b"k").statement(&mut statement, Syntax::Dollars);
        assert_eq!(ranking.add(&statement), place, "{statement:?}");
    }
    let forms: Vec<_> = ranking.forms().iter().map(|it| (&it.text[..7], it.statements)).collect();
    let expected = [
        ("savepoi", 4),
        ("release", 4),
        ("declare", 2),
        ("fetch f", 4),
        ("close ?", 4),
        ("declare", 2),
    ];
    assert_eq!(forms, expected);
}
