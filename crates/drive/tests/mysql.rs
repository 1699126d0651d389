//! MySQL's protocol against real servers, from the oldest to the newest.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::mysql::{MysqlServer, execute, make_table, number};
use crate::common::{HANG, load, point_select, statement, step, stream, text, uniform, wait_for};
use drive::{Address, Error, Load, Seat, Single, Target};
use nix::sched::sched_getaffinity;
use nix::unistd::Pid;
use workload::{
    Action, Cell, Class, Column, Content, Copy, Draw, End, Expect, Numbered, Pace, Piece, Request,
    Sent, Statement, Stream,
};

/// A version with the latest protocol, and the one that differs most.
const NEW: &str = "mysql@8.0.31";
const OLD: &str = "mysql@5.6.24";
const MARIA: &str = "mariadb@11.4.5";

fn one(statement: Statement) -> Vec<Stream> {
    vec![stream(0, Class::QUERY, statement, Pace::Free, End::Rounds(1))]
}

/// The streams find the rows that the server counts, as text and prepared.
fn counts(server: &MysqlServer) {
    make_table(server, 1000);
    for prepared in [true, false] {
        let streams = (0..3)
            .map(|client| {
                stream(client, Class::QUERY, point_select(prepared), Pace::Free, End::Rounds(500))
            })
            .collect();
        let before = server.status("Questions");
        let outcome = server.run(step(Class::QUERY, streams, None));
        let seen = server.status("Questions") - before;
        assert_eq!(outcome.fatal, None);
        let queries = outcome.class(&Class::QUERY).unwrap();
        assert_eq!((outcome.operations, queries.rows), (1500, 1500));
        // It also counts that it is asked, and that connections end.
        assert!((1500..=1510).contains(&seen), "{seen}");
    }
}

/// The thread that serves a client has its CPU while the client runs, and no longer.
fn threads(server: &MysqlServer) {
    let process = server.pid();
    let seated = || -> Vec<String> {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
        let tasks = tasks.map(|task| task.path().join("status"));
        // A thread may end meanwhile.
        let line = |text: String| {
            let line = text.lines().find(|line| line.starts_with("Cpus_allowed_list:"))?;
            line.split_whitespace().nth(1).map(str::to_owned)
        };
        let lists = tasks.filter_map(|task| fs::read_to_string(task).ok().and_then(line));
        lists.filter(|list| list == "1").collect()
    };
    let own = sched_getaffinity(Pid::from_raw(0)).unwrap();
    if !own.is_set(0).unwrap() || !own.is_set(1).unwrap() {
        return testing::skip("it takes the CPUs 0 and 1");
    }
    assert_eq!(seated(), [""; 0]);
    let stream = stream(0, Class::QUERY, point_select(true), Pace::Free, End::Time);
    let step = step(Class::QUERY, vec![stream], Some(0.3));
    let seats = vec![Seat { client: 0, server: 1, needed: true }];
    let load = Load { seats, ..Load::new(Arc::new(step), vec![server.target()], 1) };
    let ready = drive::prepare(&load).unwrap();
    assert_eq!(seated(), ["1"]);
    let running = ready.go(Instant::now());
    assert!(running.wait(HANG));
    assert_eq!(running.join().remove(0).fatal, None);
    assert_eq!(seated(), [""; 0]);
}

/// Values of every kind arrive as they were drawn; text and prepared statements do the same.
fn values(server: &MysqlServer) {
    for table in ["plain", "bound"] {
        server.sql(&format!(
            "CREATE TABLE {table} (id bigint AUTO_INCREMENT PRIMARY KEY, a int, b bigint, \
             c datetime, d varchar(300), e char(20), f int) ENGINE = InnoDB"
        ));
    }
    let (low, high) = (i64::MIN / 2, i64::MAX / 2);
    let wide = Piece::Value(Draw::Uniform { low, high, width: workload::Width::Eight });
    let insert = |table: &str, sent: Sent| {
        let row = vec![
            text("("),
            uniform(-1_000_000, 1_000_000),
            text(","),
            wide.clone(),
            text(","),
            Piece::Value(Draw::Now),
            text(","),
            Piece::Value(Draw::Text { min: 0, max: 300 }),
            text(","),
            Piece::Value(Draw::Digits { groups: 3, digits: 4 }),
            text(","),
            Piece::Value(Draw::Earlier { back: 5, plus: 7, width: workload::Width::Four }),
            text(")"),
        ];
        let head = text(&format!("INSERT INTO {table} (a, b, c, d, e, f) VALUES "));
        let rows = Piece::Rows { count: 20, row };
        Statement { pieces: vec![head, rows], sent, expect: Expect::affected(20) }
    };
    let mut connection = server.connection();
    for (table, sent) in [("plain", Sent::Text), ("bound", Sent::Prepared)] {
        let prepared = connection.prepare(insert(table, sent)).unwrap();
        for seed in 0..50 {
            connection.reseed(seed);
            connection.run(prepared).unwrap();
        }
    }
    let same = "SELECT COUNT(*) FROM plain JOIN bound USING (a, b, c, d, e, f)";
    assert_eq!(number(&mut connection, same), 1000);
    let right = "SELECT COUNT(*) FROM bound WHERE f = a + 7 AND c = '2022-06-16 10:00:00' \
                 AND LENGTH(e) = 14 AND b <> a AND LENGTH(d) <= 300";
    assert_eq!(number(&mut connection, right), 1000);
    let distinct = "SELECT COUNT(DISTINCT b) FROM bound";
    assert_eq!(number(&mut connection, distinct), 1000);
    assert!(number(&mut connection, "SELECT MAX(LENGTH(d)) FROM bound") > 251);
}

/// The integers of a row are those of the server, in both forms of the protocol.
fn integers(server: &MysqlServer) {
    server.sql(
        "CREATE TABLE n (a tinyint, b tinyint unsigned, c smallint, d mediumint, e int, f bigint, \
         g bigint unsigned, h decimal(30, 0), i int, j year, k varchar(5)) ENGINE = InnoDB",
    );
    server.sql(
        "INSERT INTO n VALUES (-128, 255, -32768, -8388608, -2147483648, -9223372036854775808, \
         9223372036854775807, 123456789012345678, NULL, 2022, '-17')",
    );
    let wanted = [
        Some(-128),
        Some(255),
        Some(-32768),
        Some(-8_388_608),
        Some(-2_147_483_648),
        Some(i64::MIN),
        Some(i64::MAX),
        Some(123_456_789_012_345_678),
        None,
        Some(2022),
        Some(-17),
    ];
    let mut connection = server.connection();
    for prepared in [true, false] {
        let all = vec![text("SELECT * FROM n WHERE e < "), uniform(0, 1)];
        let expect = Expect::Rows { min: 1, max: 1 };
        let row = connection.row(&statement(all, prepared, expect)).unwrap();
        assert_eq!(row, wanted);
        let sums = vec![text("SELECT SUM(e), MAX(e), COUNT(*), AVG(i) FROM n")];
        let row = connection.row(&statement(sums, prepared, expect)).unwrap();
        assert_eq!(row, [Some(-2_147_483_648), Some(-2_147_483_648), Some(1), None]);
    }
}

/// Affected rows, several results, and a row that is found but not changed.
fn answers(server: &MysqlServer) {
    let mut connection = server.connection();
    let mut expect = |sql: &str, prepared: bool, expect: Expect| {
        let prepared = connection.prepare(statement(vec![text(sql)], prepared, expect)).unwrap();
        // Twice: prepared statements leave out types the second time.
        for _ in 0..2 {
            connection.run(prepared).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    };
    for prepared in [true, false] {
        expect("UPDATE t SET v = v + 1 WHERE id <= 300", prepared, Expect::affected(300));
        expect("UPDATE t SET v = v WHERE id <= 300", prepared, Expect::affected(300));
        expect("DELETE FROM t WHERE id > 5000", prepared, Expect::affected(0));
        expect("SELECT * FROM t", prepared, Expect::Rows { min: 1000, max: 1000 });
        expect("DO 1", prepared, Expect::Success);
    }
    server.sql(
        "CREATE PROCEDURE several() BEGIN SELECT 1; SELECT id FROM t WHERE id <= 10; \
         UPDATE t SET v = v + 1 WHERE id <= 7; END",
    );
    for prepared in [true, false] {
        expect("CALL several()", prepared, Expect::Rows { min: 11, max: 11 });
    }
}

/// Rows and statements of these lengths.
fn large(server: &MysqlServer, lengths: &[usize]) {
    server.sql("SET GLOBAL max_allowed_packet = 67108864");
    let mut connection = server.connection();
    // A row's packet has the length of its value before it: 4 bytes up to 16 MB, then 9.
    for &length in lengths {
        for prepared in [true, false] {
            let select = format!("SELECT REPEAT('x', {length}), 1 UNION ALL SELECT 2, 3");
            let expect = Expect::Rows { min: 2, max: 2 };
            let select = statement(vec![text(&select)], prepared, expect);
            let select = connection.prepare(select).unwrap();
            connection.run(select).unwrap();
        }
        let sent = format!("SELECT LENGTH('{}')", "x".repeat(length));
        assert_eq!(number(&mut connection, &sent), length as i64);
        let padded = format!("SELECT {length}{}", " ".repeat(length - 20));
        assert_eq!(number(&mut connection, &padded), length as i64);
    }
}

/// Rows sent in bulk are as if copied.
fn bulk(server: &MysqlServer) {
    server.sql("CREATE TABLE b (id int PRIMARY KEY, tens int, n int, f char(84)) ENGINE = InnoDB");
    let number_of = |every| Column::Number { every };
    let filler = Column::Text("it's".to_owned());
    let columns = vec![number_of(1), number_of(10), Column::Text("\\N".to_owned()), filler];
    let rows = |rows: u64, first: u64, sent: usize| Numbered {
        rows,
        first,
        sent: Cell(sent),
        columns: columns.clone(),
    };
    let copy = |rows| Copy { table: "b".to_owned(), content: Content::Numbered(rows) };
    // 20 rounds of 10 rows, and 3 of several packets each.
    let of = |client, rows: Numbered, rounds| Stream {
        operations_per_round: rows.rows,
        adds_to: Some(rows.sent),
        end: End::Rounds(rounds),
        ..Stream::repeating(client, Class::INSERT, Request::Copy(copy(rows)))
    };
    let streams = vec![of(0, rows(10, 0, 0), 20), of(1, rows(30_000, 200, 1), 3)];
    let outcome = server.run(step(Class::INSERT, streams, None));
    assert_eq!((outcome.fatal, outcome.operations), (None, 90_200));
    let mut connection = server.connection();
    for (sql, wanted) in [
        ("SELECT COUNT(*) FROM b WHERE id BETWEEN 1 AND 90200", 90_200),
        ("SELECT COUNT(*) FROM b", 90_200),
        ("SELECT COUNT(DISTINCT tens) FROM b", 9020),
        ("SELECT COUNT(*) FROM b WHERE n IS NULL AND f = 'it''s'", 90_200),
        ("SELECT COUNT(*) FROM b WHERE tens <> (id - 1) DIV 10 + 1", 0),
    ] {
        assert_eq!(number(&mut connection, sql), wanted, "{sql}");
    }
    // A row that is left out, or not stored as it is, is an error.
    execute(&mut connection, "DELETE FROM b WHERE id < 90000");
    let mut fails = |copy: Copy, said: &str| {
        let prepared = connection.prepare(Request::Copy(copy)).unwrap();
        let error = connection.run(prepared).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("LOAD DATA LOCAL"), "{error}");
    };
    let said = "expected 100000 rows stored without warnings, got 99799 rows and";
    fails(copy(rows(100_000, 0, 2)), said);
    for (place, wrong) in [(2, "thirty"), (3, "\u{e9}")] {
        let mut rows = rows(1, 200_000 + place as u64, 3);
        rows.columns[place] = Column::Text(wrong.to_owned());
        fails(copy(rows), "got 1 rows and 1 warnings, the first: Incorrect");
    }
    fails(Copy { table: "missing".to_owned(), ..copy(rows(1, 0, 3)) }, "missing");
    server.sql("SET GLOBAL local_infile = 0");
    fails(copy(rows(1, 300_000, 3)), "local_infile = 1");
    server.sql("SET GLOBAL local_infile = 1");
    // A file is not ours to send, and the connection goes on.
    let foreign = "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE b";
    let prepared = connection.prepare(Statement::plain(foreign, Expect::Success)).unwrap();
    assert_eq!(connection.run(prepared).unwrap_err().code(), Some("1148 (42000)"));
    execute(&mut connection, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'");
    let prepared = connection.prepare(Request::Copy(copy(rows(1, 400_000, 3)))).unwrap();
    connection.run(prepared).unwrap();
    assert_eq!(number(&mut connection, "SELECT n IS NULL FROM b WHERE id = 400001"), 1);
}

/// Lengths of rows and statements on both sides of a packet's 16 MB.
const AROUND: [usize; 2] = [(1 << 24) - 5, 1 << 24];
/// All that need a case of their own.
const ALL: [usize; 6] = [100_000, (1 << 24) - 6, (1 << 24) - 5, (1 << 24) - 1, 1 << 24, 40_000_000];

/// Checks that every version must pass.
fn speaks(reference: &str, lengths: &[usize]) {
    let server = MysqlServer::of(reference);
    counts(&server);
    if reference != OLD {
        threads(&server);
    }
    values(&server);
    integers(&server);
    answers(&server);
    bulk(&server);
    crate::scripts::results_become_variables(&server);
    large(&server, lengths);
}

#[test]
fn mysql_5_6_is_understood() {
    speaks(OLD, &AROUND);
}

#[test]
fn mysql_5_7_is_understood() {
    speaks("mysql@5.7.22", &AROUND);
}

#[test]
fn mysql_8_0_15_is_understood() {
    speaks("mysql@8.0.15", &AROUND);
}

#[test]
fn mysql_8_0_31_is_understood() {
    speaks(NEW, &ALL);
}

#[test]
fn mariadb_10_1_is_understood() {
    speaks("mariadb@10.1.23", &AROUND);
}

#[test]
fn mariadb_10_2_is_understood() {
    speaks("mariadb@10.2.11", &AROUND);
}

#[test]
fn mariadb_11_4_is_understood() {
    speaks(MARIA, &ALL);
}

#[test]
fn deadlocks_are_retried_and_counted() {
    for reference in [OLD, NEW, MARIA] {
        let server = MysqlServer::of(reference);
        make_table(&server, 2);
        let update = statement(
            vec![text("UPDATE t SET v = v + 1 WHERE id = "), uniform(1, 3)],
            true,
            Expect::affected(1),
        );
        let streams = (0..4)
            .map(|client| {
                let begin = Statement::plain("BEGIN", Expect::Success);
                let mut stream = stream(client, Class::INSERT, begin, Pace::Free, End::Rounds(100));
                let commit = Statement::plain("COMMIT", Expect::Success);
                stream.requests.extend([update.clone(), commit].map(Request::from));
                stream.actions = [0, 1, 1, 2].map(Action::Run).to_vec();
                stream
            })
            .collect();
        let outcome = server.run(step(Class::INSERT, streams, None));
        assert_eq!(outcome.fatal, None);
        assert!(outcome.retries() > 0, "no deadlock came about");
        let deadlock = |code: &str| code == "1213 (40001)";
        assert!(outcome.failures.iter().all(|it| it.retried && deadlock(&it.code)));
        assert_eq!(server.number("SELECT SUM(v) FROM t"), 800, "each round took effect once");
    }
}

#[test]
fn a_lock_wait_that_times_out_is_retried_whole() {
    for reference in [OLD, NEW, MARIA] {
        let server = MysqlServer::of(reference);
        make_table(&server, 2);
        server.sql("SET GLOBAL innodb_lock_wait_timeout = 1");
        let mut holder = server.connection();
        execute(&mut holder, "BEGIN");
        execute(&mut holder, "UPDATE t SET v = 100 WHERE id = 2");
        let begin = Statement::plain("BEGIN", Expect::Success);
        let mut stream = stream(0, Class::INSERT, begin, Pace::Free, End::Rounds(1));
        let update = |id: u32| {
            let text = format!("UPDATE t SET v = v + 1 WHERE id = {id}");
            Statement::plain(text, Expect::affected(1))
        };
        let commit = Statement::plain("COMMIT", Expect::Success);
        stream.requests.extend([update(1), update(2), commit].map(Request::from));
        stream.actions = (0..4).map(Action::Run).collect();
        let load = load(step(Class::INSERT, vec![stream], None), vec![server.target()]);
        let running = drive::prepare(&load).unwrap().go(Instant::now());
        // It waits a second time: the first wait has timed out.
        wait_for("the second wait", || server.status("Innodb_row_lock_waits") >= 2);
        execute(&mut holder, "ROLLBACK");
        assert!(running.wait(HANG));
        let outcome = running.join().remove(0);
        assert_eq!((outcome.fatal.clone(), outcome.operations), (None, 1));
        assert!(outcome.retries() > 0);
        assert_eq!(outcome.failures[0].code, "1205 (HY000)");
        // The server had rolled back only the statement that waited.
        assert_eq!(server.number("SELECT SUM(v) FROM t"), 2);
    }
}

#[test]
fn wrong_answers_and_errors_end_the_step() {
    let server = MysqlServer::of(MARIA);
    make_table(&server, 10);
    for prepared in [true, false] {
        let select = statement(
            vec![text("SELECT v FROM t WHERE id = "), uniform(11, 20)],
            prepared,
            Expect::Rows { min: 1, max: 1 },
        );
        let fatal = server.run(step(Class::QUERY, one(select), None)).fatal.unwrap();
        assert!(fatal.contains("expected 1 rows, got 0"), "{fatal}");
        let two =
            statement(vec![text("DELETE FROM t WHERE id = 3")], prepared, Expect::affected(2));
        let fatal = server.run(step(Class::INSERT, one(two), None)).fatal.unwrap();
        assert!(fatal.contains("2 rows affected, got"), "{fatal}");
    }
    let duplicate = Statement::plain("INSERT INTO t VALUES (1, 1)", Expect::affected(1));
    let outcome = server.run(step(Class::INSERT, one(duplicate), None));
    let fatal = outcome.fatal.unwrap();
    assert!(fatal.contains("ERROR 1062 (23000): Duplicate entry"), "{fatal}");
    assert!(fatal.contains("INSERT INTO t"), "{fatal}");
    let missing = statement(vec![text("SELECT * FROM missing")], true, Expect::Success);
    let error =
        drive::prepare(&load(step(Class::QUERY, one(missing), None), vec![server.target()]));
    assert_eq!(error.err().unwrap().code(), Some("1146 (42S02)"));
}

#[test]
fn what_the_protocol_lacks_is_refused() {
    let server = MysqlServer::of(MARIA);
    let mut connection = server.connection();
    let select = || Statement::plain("SELECT 1", Expect::Success);
    let pipeline = Request::Pipeline { statement: select(), depth: 2 };
    let extended = Statement { sent: Sent::Extended, ..select() };
    for request in [pipeline, extended.into()] {
        let error = connection.prepare(request).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }
    // MySQL prepares no HANDLER. Sent as text, it would need the value in it.
    let server = MysqlServer::of(NEW);
    make_table(&server, 2);
    let mut connection = server.connection();
    let mut handler = |pieces| connection.prepare(statement(pieces, true, Expect::Success));
    handler(vec![text("HANDLER t OPEN")]).unwrap();
    let error = handler(vec![text("HANDLER t READ FIRST LIMIT "), uniform(1, 3)]).unwrap_err();
    assert!(error.code().is_some_and(|code| code.starts_with("1295")), "{error}");
}

#[test]
fn a_server_that_dies_ends_the_step() {
    let server = MysqlServer::of(NEW);
    make_table(&server, 1000);
    let streams = (0..3)
        .map(|client| stream(client, Class::QUERY, point_select(true), Pace::Free, End::Time))
        .collect();
    let load = load(step(Class::QUERY, streams, Some(1800.0)), vec![server.target()]);
    let running = drive::prepare(&load).unwrap().go(Instant::now());
    while running.operations()[0] == 0 {
        assert!(!running.wait(Duration::from_millis(10)), "it ended");
    }
    server.kill();
    assert!(running.wait(HANG), "it goes on");
    let outcome = running.join().remove(0);
    assert!(outcome.fatal.is_some());
    assert_eq!(outcome.failures.last().unwrap().kind, drive::ErrorKind::Disconnected);
}

#[test]
fn a_client_that_waits_can_be_broken_off() {
    let server = MysqlServer::of(MARIA);
    let sleep = Statement::plain("SELECT SLEEP(3600)", Expect::Rows { min: 1, max: 1 });
    let streams = vec![stream(0, Class::QUERY, sleep, Pace::Free, End::Time)];
    let load = load(step(Class::QUERY, streams, Some(0.2)), vec![server.target()]);
    let running = drive::prepare(&load).unwrap().go(Instant::now());
    assert!(!running.wait(Duration::from_millis(700)), "an answer came");
    running.break_off();
    assert!(running.wait(HANG));
    assert_eq!(running.join().remove(0).operations, 0);
}

#[test]
fn many_clients_share_threads() {
    let server = MysqlServer::of(NEW);
    make_table(&server, 1000);
    let many = 16 * std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32) + 8;
    let streams = (0..many)
        .map(|client| {
            stream(client, Class::QUERY, point_select(client % 2 == 0), Pace::Free, End::Rounds(50))
        })
        .collect();
    let outcome = server.run(step(Class::QUERY, streams, None));
    let done = u64::from(many) * 50;
    assert_eq!((outcome.fatal.clone(), outcome.operations), (None, done));
    assert_eq!(outcome.class(&Class::QUERY).unwrap().rows, done);
}

/// Connects as `user` with this password, and asks for something.
fn connect(server: &MysqlServer, user: &str, password: Option<&str>) -> Result<(), Error> {
    let (user, password) = (user.to_owned(), password.map(reference::Password::new));
    let target = Target::new("my", drive::Mysql { user, password, ..server.mysql() });
    let mut connection = Single::connect(&target, 1, 0)?;
    assert_eq!(number(&mut connection, "SELECT 17"), 17);
    Ok(())
}

#[test]
fn passwords_are_given_as_the_server_asks() {
    let plain = "IDENTIFIED BY 'pässword'";
    let native = "IDENTIFIED WITH mysql_native_password BY 'pässword'";
    let sha = "IDENTIFIED WITH caching_sha2_password BY 'pässword'";
    for (reference, ways) in [(OLD, &[plain][..]), (NEW, &[plain, native, sha]), (MARIA, &[plain])]
    {
        let server = MysqlServer::of(reference);
        for (number, way) in ways.iter().enumerate() {
            let user = format!("u{number}");
            server.sql(&format!("CREATE USER {user}@localhost {way}"));
            server.sql(&format!("GRANT ALL ON *.* TO {user}@localhost"));
            let error = connect(&server, &user, None).unwrap_err();
            assert!(matches!(error, Error::Authentication { .. }), "{way}: {error}");
            let error = connect(&server, &user, Some("wrong")).unwrap_err();
            assert_eq!(error.code(), Some("1045 (28000)"), "{way}: {error}");
            // The first time, caching_sha2_password needs the password; later, its hash is enough.
            for _ in 0..3 {
                connect(&server, &user, Some("pässword")).unwrap();
            }
        }
        server.sql("CREATE USER nobody@localhost");
        for password in [None, Some("")] {
            let error = connect(&server, "nobody", password).unwrap_err();
            assert_eq!(error.code(), Some("1044 (42000)"), "no rights to the database: {error}");
        }
    }
}

#[test]
fn connecting_fails_with_a_reason() {
    let server = MysqlServer::of(MARIA);
    let select = Statement::plain("SELECT 1", Expect::Rows { min: 1, max: 1 });
    let refused = |mysql: drive::Mysql| {
        let streams = one(select.clone());
        let target = Target::new("my", mysql);
        drive::prepare(&load(step(Class::QUERY, streams, None), vec![target])).err().unwrap()
    };
    let nowhere = Address::Unix("/nonexistent/s".into());
    let error = refused(drive::Mysql { address: nowhere, ..server.mysql() });
    assert!(matches!(error, Error::Connect { .. }), "{error}");
    let error = refused(drive::Mysql { database: "nothing".to_owned(), ..server.mysql() });
    assert_eq!(error.code(), Some("1049 (42000)"), "{error}");
    server.sql("SET GLOBAL max_connections = 10");
    let held: Vec<_> = (0..12)
        .map(|_| Single::connect(&server.target(), 1, 0))
        .take_while(Result::is_ok)
        .collect();
    let error = refused(server.mysql());
    assert!(error.code().is_some_and(|code| code.starts_with("1040")), "{error}");
    drop(held);
}
