//! pgbench scripts on a real server: what they send, keep, count and retry, and how they fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drive::Outcome;
use workload::{Class, Effect, End, Pace, Scripts, Sent, Step, Stream};

use crate::common::mysql::MysqlServer;
use crate::common::{TestServer, load, make_table, run_on};

const TRANSACTION: Class =
    Class::new("transaction", "transactions", "transactions", Effect::Changes);

pub fn scripts(texts: &[(&str, u32)], sent: Sent) -> Scripts {
    let mut symbols = script::Symbols::new();
    symbols.define("given");
    let parse = |(place, (text, weight)): (usize, &(&str, u32))| {
        (script::parse(&format!("s{place}.sql"), text, &mut symbols).unwrap(), *weight)
    };
    let scripts = texts.iter().enumerate().map(parse).collect();
    let given = vec![("given".to_owned(), "it's".to_owned())];
    Scripts {
        scripts,
        symbols,
        given,
        scale: 1,
        literals: false,
        sent,
        max_tries: 1,
        latency_limit: None,
        thinks: false,
    }
}

pub fn stream(client: u32, scripts: &Arc<Scripts>, end: End) -> Stream {
    Stream { scripts: Some(Arc::clone(scripts)), end, ..Stream::new(client, TRANSACTION) }
}

fn run_streams(server: &TestServer, streams: Vec<Stream>, seconds: Option<f64>) -> Outcome {
    let clients = streams.len() as u32;
    let step = Step { seconds, ..Step::new("script", clients, TRANSACTION, streams) };
    let ready = drive::prepare(&load(step, vec![server.target()])).unwrap();
    let running = ready.go(Instant::now() + Duration::from_millis(5));
    assert!(running.wait(Duration::from_secs(60)), "the step hangs");
    running.join().remove(0)
}

/// Runs scripts for this many rounds, with one client.
pub fn run(server: &TestServer, scripts: Scripts, rounds: u64) -> Outcome {
    let scripts = Arc::new(scripts);
    run_streams(server, vec![stream(0, &scripts, End::Rounds(rounds))], None)
}

/// Every construct that reaches the server.
const ALL: &str = "\
\\set n 2 + :client_id
\\set limit :n * 10
SELECT :n AS id, 'a' || :n::text AS name \\gset row_
\\if :row_id = 2
INSERT INTO seen VALUES (:row_id, 'a' || :row_id);
\\elif :row_id = 3
INSERT INTO seen VALUES (-1, 'elif');
\\else
INSERT INTO seen VALUES (-2, 'else');
\\endif
\\sleep 1 ms
BEGIN;
UPDATE t SET v = v + :n WHERE id = :n;
INSERT INTO seen SELECT 100 + count(*), :given FROM t WHERE id <= :limit;
END;
";

/// A user who thinks for longer than the step is no reason to wait.
#[test]
fn thinking_ends_with_the_step() {
    let server = TestServer::of("postgres@14.3");
    let all = scripts(&[("\\set pause 1000\n\\sleep :pause s\nSELECT 1;\n", 1)], Sent::Described);
    let stream = Stream {
        scripts: Some(Arc::new(Scripts { thinks: true, ..all })),
        ..Stream::new(0, Class::QUERY)
    };
    // Most are in the midst of it all the time.
    let streams = (0..20).map(|client| Stream { client, ..stream.clone() }).collect();
    let step = Step::new("thinking", 20, Class::QUERY, streams);
    let begin = Instant::now();
    let outcome = run_on(Step { seconds: Some(0.5), ..step }, server.target());
    assert!(begin.elapsed() < Duration::from_secs(300));
    assert!(outcome.fatal.is_none() && outcome.operations < 10, "{outcome:?}");
}

/// What a user thinks is no part of the response time, unlike the sleep of a script.
#[test]
fn thinking_is_not_responding() {
    let server = TestServer::of("postgres@14.3");
    let fastest = |thinks: bool| {
        let all = scripts(&[("\\sleep 300 ms\nSELECT 1;\n", 1)], Sent::Described);
        let stream = Stream {
            scripts: Some(Arc::new(Scripts { thinks, ..all })),
            end: End::Rounds(3),
            ..Stream::new(0, Class::QUERY)
        };
        let outcome = run_on(Step::new("thinking", 1, Class::QUERY, vec![stream]), server.target());
        assert_eq!((outcome.operations, &outcome.fatal), (3, &None));
        assert!(outcome.seconds >= 0.9, "{}", outcome.seconds);
        outcome.classes[0].latency.min()
    };
    let (thinking, sleeping) = (fastest(true), fastest(false));
    // A histogram rounds down.
    assert!(sleeping > 299_000_000 && thinking < sleeping / 2, "{thinking} {sleeping}");
}

#[test]
fn every_protocol_does_the_same() {
    let mut server = TestServer::start();
    make_table(&mut server, 100);
    server.sql("CREATE TABLE seen (id int, name text)");
    for (sent, given) in
        [(Sent::Text, "'it''s'"), (Sent::Extended, "it's"), (Sent::Described, "it's")]
    {
        server.sql("TRUNCATE seen");
        server.sql("UPDATE t SET v = 0");
        // In the simple protocol, a variable becomes text in the statement.
        let mut all = scripts(&[(ALL, 1)], sent);
        all.given = vec![("given".to_owned(), given.to_owned())];
        let outcome = run(&server, all, 5);
        assert_eq!((outcome.fatal, outcome.operations), (None, 5), "{sent:?}");
        for (query, wanted) in [
            ("SELECT count(*) FROM seen WHERE id = 2 AND name = 'a2'", 5),
            ("SELECT count(*) FROM seen WHERE id = 120 AND name = 'it''s'", 5),
            ("SELECT count(*) FROM seen", 10),
            ("SELECT v FROM t WHERE id = 2", 10),
            ("SELECT sum(v) FROM t", 10),
        ] {
            assert_eq!(server.number(query), wanted, "{sent:?}: {query}");
        }
        assert_eq!(outcome.classes[0].rows, 5, "rows of results, not of commands");
    }
}

#[test]
fn a_pipeline_sends_before_it_reads() {
    let mut server = TestServer::start();
    make_table(&mut server, 100);
    let text = "\\startpipeline\n\
        SELECT v FROM t WHERE id = 1;\nUPDATE t SET v = v + 1 WHERE id = 1;\n\\syncpipeline\n\
        SELECT v FROM t WHERE id = 2;\nSELECT 1 WHERE false;\n\\endpipeline\n\
        SELECT v AS now FROM t WHERE id = 1 \\gset\n\
        INSERT INTO t VALUES (1000 + :now, :now);\n";
    for sent in [Sent::Extended, Sent::Described] {
        let outcome = run(&server, scripts(&[(text, 1)], sent), 20);
        assert_eq!((outcome.fatal, outcome.operations), (None, 20), "{sent:?}");
        assert_eq!(outcome.classes[0].rows, 60);
    }
    assert_eq!(server.number("SELECT count(*) FROM t WHERE id = 1000 + v AND v > 0"), 40);
}

#[test]
fn several_statements_at_once_keep_what_they_should() {
    let mut server = TestServer::start();
    make_table(&mut server, 100);
    let text = "SELECT 7 AS a \\; SELECT 8 AS b WHERE false \\; SELECT 9 AS c \\aset\n\
        SELECT 1 AS x \\; SELECT 2 AS y \\gset q_\n\
        INSERT INTO t VALUES (1000 + :a * :c, :q_y);\n\
        DELETE FROM t WHERE id = 1063;\n";
    let outcome = run(&server, scripts(&[(text, 1)], Sent::Text), 10);
    assert_eq!((outcome.fatal, outcome.operations), (None, 10));
    assert_eq!(server.number("SELECT count(*) FROM t"), 100);
}

#[test]
fn scripts_are_chosen_by_weight() {
    let mut server = TestServer::start();
    make_table(&mut server, 3);
    let one = "UPDATE t SET v = v + 1 WHERE id = 1;";
    let other = "UPDATE t SET v = v + 1 WHERE id = 2;";
    let outcome =
        run(&server, scripts(&[(one, 3), (other, 1), ("SELECT 1;", 0)], Sent::Described), 800);
    assert_eq!((outcome.fatal, outcome.operations), (None, 800));
    let first = server.number("SELECT v FROM t WHERE id = 1");
    assert_eq!(first + server.number("SELECT v FROM t WHERE id = 2"), 800);
    // 600 are expected; the standard deviation is 12.
    assert!((550..650).contains(&first), "{first}");
}

/// Clients that want the same row and can't be serialized.
const CONTENDED: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ;\n\
    SELECT v AS seen FROM t WHERE id = 1 \\gset\n\\sleep 1 ms\n\
    UPDATE t SET v = :seen + 1 WHERE id = 1;\nEND;\n";

#[test]
fn what_cannot_be_serialized_is_tried_again_or_fails_and_never_counts() {
    let mut server = TestServer::start();
    make_table(&mut server, 3);
    for max_tries in [1, 0] {
        server.sql("UPDATE t SET v = 0");
        let contended =
            Arc::new(Scripts { max_tries, ..scripts(&[(CONTENDED, 1)], Sent::Described) });
        let streams = (0..4).map(|client| stream(client, &contended, End::Time)).collect();
        let outcome = run_streams(&server, streams, Some(1.0));
        assert_eq!(outcome.fatal, None);
        let class = &outcome.classes[0];
        // Those that began before the time was over and ended after it are in the table only.
        let done = server.number("SELECT v FROM t WHERE id = 1") as u64;
        assert!((outcome.operations..=outcome.operations + 4).contains(&done), "{done}");
        assert_eq!(class.latency.len(), done, "failed ones are no latency");
        if max_tries == 1 {
            assert!(class.failed > 0 && outcome.retries() == 0, "{:?}", outcome.failures);
        } else {
            assert!(class.failed == 0 && outcome.retries() > 0, "{:?}", outcome.failures);
        }
        assert!(outcome.failures.iter().all(|failure| failure.code == "40001"));
    }
}

#[test]
fn a_late_transaction_is_skipped_or_counted_as_late() {
    let mut server = TestServer::start();
    make_table(&mut server, 3);
    let slow = Scripts {
        latency_limit: Some(0.015),
        ..scripts(&[("\\sleep 10 ms\nSELECT 1;", 1)], Sent::Text)
    };
    let slow = Arc::new(slow);
    let paced = Stream { pace: Pace::Rate(400.0), ..stream(0, &slow, End::Time) };
    let outcome = run_streams(&server, vec![paced], Some(1.0));
    let class = &outcome.classes[0];
    assert_eq!(outcome.fatal, None);
    // Each takes 10 ms, in which four are due. All that were due are skipped, or have a response
    // time: they were done, or waited in vain. One may be under way at the end.
    assert!((1..=100).contains(&class.operations), "{class:?}");
    assert!((399..=401).contains(&(class.skipped + class.latency.len())), "{class:?}");
    // All but the first begin late.
    assert!(class.late + 1 >= class.operations, "{class:?}");
    assert!(class.skipped > 2 * class.operations, "{class:?}");
}

#[test]
fn mistakes_are_told_with_their_place_and_end_the_step() {
    let mut server = TestServer::start();
    make_table(&mut server, 3);
    for (text, message) in [
        ("SELECT 1 WHERE false \\gset\n", "s0.sql:1:1: \\gset: expected one row, found 0"),
        ("\nSELECT v FROM t \\gset\n", "s0.sql:2:1: \\gset: expected one row, found 3"),
        ("SELECT 0 AS a \\gset\n\\set x 1 / :a\n", "s0.sql:2:1: division by zero"),
        ("BEGIN;\nSELECT 1;\n", "s0.sql: the script ended inside a transaction"),
        ("SELECT 1 / 0;\n", "division by zero"),
        ("SELECT * FROM missing;\n", "relation \"missing\" does not exist"),
        (
            "\\startpipeline\nSELECT 1;\nSELECT 1 / 0;\nSELECT 1;\n\\endpipeline\n",
            "division by zero",
        ),
    ] {
        let fatal = run(&server, scripts(&[(text, 1)], Sent::Described), 3).fatal;
        let fatal = fatal.unwrap_or_else(|| panic!("{text} is no mistake"));
        assert!(fatal.contains(message), "{text}: {fatal}");
    }
    // If all rounds fail, there is no rate.
    let all = "BEGIN ISOLATION LEVEL SERIALIZABLE;\n\
        DO $$ BEGIN RAISE EXCEPTION 'never' USING ERRCODE = '40001'; END $$;\nEND;\n";
    let fatal = run(&server, scripts(&[(all, 1)], Sent::Text), 3).fatal.unwrap();
    assert!(fatal.starts_with("all 3 transactions failed, the last with: "), "{fatal}");
}

/// Results of all types become variables, which go back as they came.
const KEEPS: &str = "\
SELECT a, b, c, d, e, f, g, h, i FROM kept WHERE id = 1 \\gset
SELECT -:a AS a, NULL AS j \\gset minus_
\\set index :minus_a + 6
\\set name :index
BEGIN;
INSERT INTO kept VALUES (2, :a, :b, :c, :d, :e, :f, :g, :h, :i);
UPDATE kept SET d = :name WHERE id = 2 AND :minus_j IS NULL;
COMMIT;
SELECT COUNT(*) AS rows_now FROM kept \\gset
\\if :rows_now = 2
DELETE FROM kept WHERE id = 2 AND a = :a AND b = :b AND c = :c AND d = 'six' AND e = :e \
  AND f = :f AND g = :g AND h = :h AND i = :i;
\\endif
SELECT COUNT(*) AS rows_now FROM kept \\gset
\\if :rows_now = 1
INSERT INTO done VALUES (:client_id);
\\endif
";

/// A script does the same as text and prepared.
pub fn results_become_variables(server: &MysqlServer) {
    server.sql(
        "CREATE TABLE kept (id int PRIMARY KEY, a tinyint, b bigint, c datetime, d varchar(300), \
         e char(9), f decimal(12,2), g double, h date, i time) ENGINE = InnoDB",
    );
    server.sql("CREATE TABLE done (n int) ENGINE = InnoDB");
    server.sql(
        "INSERT INTO kept VALUES (1, -7, 9007199254740993, '2022-06-16 10:00:01', 'seven', 'x y', \
         -1234.50, 0.25, '1999-12-31', '-12:34:56')",
    );
    for sent in [Sent::Text, Sent::Described] {
        let mut all = scripts(&[(KEEPS, 1)], sent);
        all.literals = true;
        let name = all.symbols.slot("name").unwrap();
        let names = (0..20).map(|n| if n == 13 { "six" } else { "other" }.to_owned());
        let names: Vec<String> = names.collect();
        all.scripts[0].0.choose(name, &names);
        let streams = vec![stream(0, &all.into(), End::Rounds(5))];
        let outcome = server.run(Step::new("script", 1, TRANSACTION, streams));
        assert_eq!((outcome.fatal, outcome.operations), (None, 5), "{sent:?}");
        assert_eq!(server.number("SELECT COUNT(*) FROM done"), 5, "{sent:?}");
        server.sql("TRUNCATE done");
    }
    let extended = scripts(&[("SELECT 1;", 1)], Sent::Extended);
    let stream = stream(0, &extended.into(), End::Rounds(1));
    let load = load(Step::new("script", 1, TRANSACTION, vec![stream]), vec![server.target()]);
    let Err(error) = drive::prepare(&load) else { panic!("MySQL parses nothing anew") };
    assert!(error.to_string().contains("choose text (simple) or prepared"), "{error}");
}
