//! Tests on servers, of the parts that only this folder sees.

#![allow(clippy::float_cmp)] // counts are exact

use std::path::Path;
use std::time::{Duration, Instant};

use super::changed::Changed;
use super::control::{Control, number};
use super::tables::is_rocks;
use super::{counters, debt, gauges, monitor, moved, plans, settings, settle, tables, waits};
use crate::{Cache, Counter, Diagnosis, Error, Ledger, ParsedPlan, ServerSpec, ServerUser, Sql};

/// The servers to test, in addition to MariaDB with MyRocks in the folder that `DBMS_TEST_MYROCKS`
/// names.
const SERVERS: [&str; 3] = ["mysql@5.6.24", "mysql@8.0.31", "mariadb@10.11.5"];

/// Runs a test on every server and engine.
fn on_all(name: &str, test: impl Fn(&mut Control, &str)) {
    let cache = Cache::open_default().unwrap();
    let myrocks = std::env::var("DBMS_TEST_MYROCKS").ok();
    let myrocks = myrocks.map(|path| format!("mariadb@path:{path}"));
    let usual = SERVERS.map(|reference| (reference.to_owned(), "innodb"));
    for (reference, engine) in usual.into_iter().chain(myrocks.map(|path| (path, "myrocks"))) {
        let place = testing::directory();
        let installation =
            crate::obtain(&reference.parse().unwrap(), &cache, &|line| eprintln!("{line}"))
                .unwrap();
        let trial = place.path().join("trial");
        let user = ServerUser::choose(None).unwrap();
        let ledger = Ledger::open(place.path().join("ledger")).unwrap();
        let settings = [("innodb_buffer_pool_size", "64MB"), ("performance_schema", "ON")];
        let mut server = crate::start(ServerSpec {
            config: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            engine: Some(engine),
            ..ServerSpec::new(name, &installation, &trial, user, &cache, &ledger)
        })
        .unwrap();
        assert!(server.alive());
        let mut control = Control::new(server.endpoint());
        eprintln!("{name}: {reference} {engine}");
        test(&mut control, if engine == "myrocks" { "ROCKSDB" } else { "InnoDB" });
        control.close();
        server.end().unwrap().discard().unwrap();
    }
}

fn names(tables: &[&str]) -> Vec<String> {
    tables.iter().map(|table| (*table).to_owned()).collect()
}

fn figure(rows: &[Counter], view: &str, object: &str, name: &str) -> f64 {
    rows.iter()
        .find(|row| row.view == view && row.object == object && row.name == name)
        .unwrap_or_else(|| panic!("no {view} {object} {name}"))
        .value
}

/// SQL that makes `table` with `rows` rows and an index.
fn filled(table: &str, engine: &str, rows: u64) -> String {
    let mut sql = format!(
        "drop table if exists {table}; create table {table} (a bigint auto_increment primary key, \
         b int not null, c char(100) not null, key pdc (b)) engine={engine}; \
         insert into {table} (b, c) values (1, 'x');"
    );
    let mut have = 1;
    while have < rows {
        let more = have.min(rows - have);
        sql = format!(
            "{sql} insert into {table} (b, c) select a % 1000, concat('x', a) from {table} limit {more};"
        );
        have += more;
    }
    sql
}

#[test]
fn statements_of_the_control_connection() {
    on_all("control", |control, engine| {
        control.execute("drop table if exists c1; drop table if exists c2").unwrap();
        let made = format!("create table c1 (a int primary key, b varchar(9)) engine={engine}");
        assert_eq!(
            control
                .execute(&format!("{made}; insert into c1 values (1, null), (2, 'x;y')"))
                .unwrap(),
            2
        );
        assert_eq!(control.execute("update c1 set b = 'z' where a > 0;").unwrap(), 2);
        let rows = control.query_rows("select a, nullif(b, 'z'), 1.5 from c1 order by a").unwrap();
        assert_eq!(rows[1], [Some("2".to_owned()), None, Some("1.5".to_owned())]);
        assert_eq!(control.query_i64("select count(*) from c1").unwrap(), 2);
        assert!(matches!(control.query_i64("select a from c1"), Err(Error::Answer { .. })));

        // The second of three fails: the first was done, the third not.
        let error = control
            .execute("insert into c1 values (3, ''); insert into c1 values (1, ''); drop table c1")
            .unwrap_err();
        assert_eq!(number(&error), Some(1062));
        assert!(error.to_string().contains("SQLSTATE 23000, error 1062: Duplicate"), "{error}");
        assert_eq!(control.query_i64("select count(*) from c1").unwrap(), 3);

        // A lost connection is reopened.
        let id = control.query_i64("select connection_id()").unwrap();
        let mut other = control.another();
        other.execute(&format!("kill {id}")).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        assert_ne!(control.query_i64("select connection_id()").unwrap(), id);
        let id = other.query_i64("select connection_id()").unwrap();
        let killer = std::thread::spawn({
            let mut killer = control.another();
            move || {
                std::thread::sleep(Duration::from_millis(500));
                killer.execute(&format!("kill query {id}")).unwrap();
            }
        });
        let wait = "select count(*) from information_schema.columns x, information_schema.columns y, \
                    information_schema.columns z where x.column_name < concat(y.column_name, z.column_name)";
        let error = other.execute(wait).unwrap_err();
        assert_eq!((number(&error), error.diagnosis()), (Some(1317), Some(Diagnosis::Interrupted)));
        killer.join().unwrap();
        control.execute("drop table c1").unwrap();
    });
}

#[test]
fn tables_of_a_trial_are_marked() {
    on_all("marked", |control, engine| {
        control
            .execute("drop table if exists m1; drop table if exists m2; drop table if exists m3")
            .unwrap();
        let tables = names(&["m1", "`m2`"]);
        let setup = [
            format!(
                "create table m1 (a int primary key) engine={engine} partition by hash (a) partitions 2"
            ),
            format!("CREATE TABLE `m2` (a int) engine={engine}; insert into m2 values (1)"),
        ];
        control.create_marked(&setup, &tables).unwrap();
        control
            .execute(&format!("create table m3 (a int) engine={engine} comment='mine'"))
            .unwrap();
        let left = control.drop_marked(&names(&["m1", "m3", "`m2`", "m4"])).unwrap();
        assert_eq!(left.as_deref(), Some("m3"));
        let rows = control.query_rows("show tables like 'm_'").unwrap();
        assert_eq!(rows, [[Some("m3".to_owned())]]);
        control.execute("drop table m3").unwrap();
    });
}

#[test]
fn counters_count_what_was_done() {
    on_all("counters", |control, engine| {
        control.execute(&filled("k1", engine, 1)).unwrap();
        control
            .execute(&format!(
                "drop table if exists k2; create table k2 (a int primary key) engine={engine} \
                 partition by hash (a) partitions 4"
            ))
            .unwrap();
        let objects = names(&["k1", "k2"]);
        let before = counters::snapshot(control, &objects).unwrap();
        let mut client = control.another();
        for a in 0..1000 {
            client.execute(&format!("insert into k1 (b, c) values ({a}, 'y')")).unwrap();
        }
        client
            .execute("insert into k2 values (1), (2), (3); select a from k1 where b = 77")
            .unwrap();
        client.close();
        let begin = Instant::now();
        let after = counters::snapshot(control, &objects).unwrap();
        eprintln!(
            "a snapshot of {} figures: {:?}",
            after.rows.len() + after.state.len(),
            begin.elapsed()
        );
        let changes = after.difference(&before);
        let of = |name: &str| figure(&changes, moved::STATUS, "", name);
        assert_eq!(of("Com_insert"), 1001.0);
        assert!((1003.0..1010.0).contains(&of("Handler_write")) || of("Handler_write") > 1003.0);
        if engine == "InnoDB" {
            let lsn = figure(&changes, moved::INNODB, "", "lsn");
            assert!((100_000.0..10_000_000.0).contains(&lsn), "{lsn}");
            assert!(of("Innodb_buffer_pool_write_requests") > 2000.0);
        } else {
            assert!(of("Rocksdb_number_keys_written") >= 2003.0, "rows and their keys in an index");
            assert!(after.state.iter().any(|row| row.view == "ROCKSDB_CFSTATS"));
            assert!(changes.iter().any(|row| row.view == "ROCKSDB_PERF_CONTEXT_GLOBAL"));
        }
        assert!(after.get(moved::INNODB, "", "history_list_length").is_some());
        assert!(after.get(moved::INNODB, "", "checkpoint_age").unwrap() >= 0.0);
        assert!(after.get(moved::STATUS, "", "Threads_connected").unwrap() >= 1.0);
        assert!(changes.iter().any(|row| row.view == moved::METRICS));
        let waits = "table_io_waits_summary_by_table";
        let on = control.variable("performance_schema").unwrap().as_deref() == Some("ON");
        assert_eq!(after.absent.iter().any(|view| view == waits), !on);
        if on {
            assert_eq!(figure(&changes, waits, "k1", "count_insert"), 1000.0);
            assert_eq!(figure(&changes, waits, "k2", "count_insert"), 3.0);
            let index = "table_io_waits_summary_by_index_usage";
            assert!(figure(&changes, index, "k1/pdc", "count_fetch") >= 1.0);
        }
        // Counters do not fall.
        let fell: Vec<&Counter> = changes.iter().filter(|row| row.value < 0.0).collect();
        assert!(fell.is_empty(), "{fell:?}");
        control.execute("drop table k1; drop table k2").unwrap();
    });
}

#[test]
fn sizes_are_those_of_files() {
    on_all("sizes", |control, engine| {
        control.execute(&filled("s1", engine, 50_000)).unwrap();
        control
            .execute(&format!(
                "drop table if exists `Odd-name`; create table `Odd-name` (a int primary key, b int, \
                 key (b)) engine={engine} partition by hash (a) partitions 3; \
                 insert into `Odd-name` select a, b from s1 limit 9000"
            ))
            .unwrap();
        let objects = names(&["s1", "`Odd-name`"]);
        settle::settle(control, &objects).unwrap();
        let found = tables::footprint(control, &objects).unwrap();
        assert_eq!(found[1].object, "`Odd-name`");
        let bytes = |place: usize, name: &str| found[place].bytes[name] as f64;
        let datadir = control.variable("datadir").unwrap().unwrap();
        let files = |start: &str| -> f64 {
            let entries = std::fs::read_dir(Path::new(&datadir).join("steelyard")).unwrap();
            let sizes = entries.filter_map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                let ours = name.starts_with(start) && name.ends_with(".ibd");
                ours.then(|| entry.metadata().unwrap().len() as f64)
            });
            sizes.sum()
        };
        for place in [0, 1] {
            assert!(bytes(place, "rel") > 0.0 && bytes(place, "index") > 0.0);
            assert!(bytes(place, "rel") + bytes(place, "index") <= bytes(place, "total") * 1.001);
        }
        // 50,000 rows of 112 bytes and an index of 12 bytes for each.
        if is_rocks(engine) {
            let mut directory = control.variable("rocksdb_datadir").unwrap().unwrap();
            if directory.starts_with("./") {
                directory = format!("{datadir}/{directory}");
            }
            let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
            let tables =
                entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".sst"));
            let all: u64 = tables.map(|entry| entry.metadata().unwrap().len()).sum();
            let ours = bytes(0, "total") + bytes(1, "total");
            assert!(ours <= all as f64 && ours > 0.95 * all as f64, "{ours} of {all}");
        } else {
            assert!((5.6e6..12e6).contains(&bytes(0, "rel")), "{}", bytes(0, "rel"));
            assert!((0.6e6..3e6).contains(&bytes(0, "index")), "{}", bytes(0, "index"));
            assert_eq!(bytes(0, "total"), files("s1."));
            assert_eq!(bytes(1, "total"), files("Odd@002dname#"));
        }
        let error = tables::footprint(control, &names(&["nothing"])).unwrap_err();
        assert!(error.to_string().contains("nothing"));
        control.execute("drop table s1; drop table `Odd-name`").unwrap();
    });
}

#[test]
fn settling_purges_and_writes_and_puts_settings_back() {
    on_all("settle", |control, engine| {
        control.execute(&filled("z1", engine, 100_000)).unwrap();
        for round in 0..300 {
            control
                .execute(&format!(
                    "update z1 set b = b + 1 where a between {0} and {0} + 300",
                    round * 300
                ))
                .unwrap();
        }
        control.execute("delete from z1 where a % 3 = 0").unwrap();
        let all = |control: &mut Control| control.pairs("show global variables").unwrap();
        let variables = all(control);
        let begin = Instant::now();
        let settled = settle::settle(control, &names(&["z1"])).unwrap();
        eprintln!("{}", settled.lines.join("\n"));
        assert!(settled.seconds > 0.0 && settled.seconds <= begin.elapsed().as_secs_f64());
        assert!(settled.lines[0].contains("ANALYZE NO_WRITE_TO_BINLOG TABLE `z1`: OK"));
        let differing: Vec<_> = all(control)
            .into_iter()
            .filter(|pair| {
                !variables.contains(pair) && pair.0 != "timestamp" && !pair.0.starts_with("gtid")
            })
            .collect();
        assert!(differing.is_empty(), "{differing:?}");
        let status = control.pairs("show global status like 'Innodb_buffer_pool_pages_%'").unwrap();
        let of = |name: &str| -> f64 {
            status.iter().find(|pair| pair.0 == name).unwrap().1.parse().unwrap()
        };
        let (dirty, pages) =
            (of("Innodb_buffer_pool_pages_dirty"), of("Innodb_buffer_pool_pages_total"));
        assert!(dirty <= pages / 50.0, "{dirty} of {pages}");
        let history = monitor::Monitor::ask(control).unwrap().history.unwrap();
        // In MySQL 5.6 and MariaDB 10.1, nothing shortens the list of an idle server.
        if control.variable("innodb_purge_rseg_truncate_frequency").unwrap().is_some() {
            assert!(history <= 20.0, "{history}");
        }
        if is_rocks(engine) {
            let text = settled.lines.join("\n");
            assert!(text.contains("rocksdb_force_flush_memtable_now"), "{text}");
            assert!(text.contains("lzero_now"), "{text}");
        }
        let error = settle::settle(control, &names(&["nothing"])).unwrap_err();
        assert!(error.to_string().contains("nothing"));
        settle::flush(control).unwrap();
        assert_eq!(
            control.pairs("show global variables like 'innodb_max_dirty_pages%'").unwrap(),
            {
                let mut kept = variables;
                kept.retain(|pair| pair.0.starts_with("innodb_max_dirty_pages"));
                kept
            }
        );
        control.execute("drop table z1").unwrap();
    });
}

#[test]
fn settings_are_put_back_when_something_fails() {
    on_all("changed", |control, _| {
        let name = "innodb_max_dirty_pages_pct";
        let before = control.variable(name).unwrap();
        let mut changed = Changed::new(control.another());
        changed.set("innodb_max_dirty_pages_pct_lwm", "1").unwrap();
        changed.set(name, "1").unwrap();
        changed.set("no_such_setting", "1").unwrap();
        assert!(control.variable(name).unwrap().unwrap().starts_with('1'));
        assert!(changed.set("innodb_io_capacity", "banana").is_err());
        drop(changed);
        assert_eq!(control.variable(name).unwrap(), before);
    });
}

#[test]
fn plans_have_shapes() {
    on_all("plans", |control, engine| {
        control.execute(&filled("p1", engine, 5000)).unwrap();
        control.execute("analyze table p1").unwrap();
        let mut plan = |sql: &str| -> ParsedPlan {
            plans::parse(&plans::query_plan(control, sql).unwrap().unwrap())
        };
        let point = plan("select * from p1 where a = 17");
        assert_eq!(point, plan("select * from p1 where a = 18"));
        assert_eq!(point.outline, "const on p1 using PRIMARY");
        let range =
            plan("select b from p1 force index (pdc) where b >= 3 and b < 9 order by b limit 10");
        assert!(
            range.outline.starts_with("range on p1 using pdc (Using where; Using index"),
            "{range:?}"
        );
        assert_ne!(range.shape, point.shape);
        assert!(plan("update p1 set c = 'y' where a = 5").outline.contains("on p1 using PRIMARY"));
        assert_eq!(plans::query_plan(control, "flush status").unwrap(), None);
        control.execute("drop table p1").unwrap();
    });
}

#[test]
fn what_a_server_says_of_itself() {
    on_all("looks", |control, engine| {
        control.execute(&filled("g1", engine, 3000)).unwrap();
        let configured = names(&["innodb-buffer-pool-size", "loose_performance_schema"]);
        let found = settings::settings(control, &configured).unwrap();
        let pool = found.iter().find(|setting| setting.name == "innodb_buffer_pool_size").unwrap();
        assert!(["configuration file", "command line"].contains(&&*pool.source), "{pool:?}");
        assert!(found.len() < 120, "{found:#?}");

        let mut watch = gauges::Watch::open(control).unwrap();
        watch.look().unwrap();
        control.execute("select count(*) from g1").unwrap();
        let begin = Instant::now();
        let seen = watch.look().unwrap();
        eprintln!("{:?}: {seen:?}", begin.elapsed());
        for name in ["state.history", "state.dirty", "state.checkpoint_age", "state.redo"] {
            let gauge = seen.iter().find(|gauge| gauge.name == name);
            let gauge = gauge.unwrap_or_else(|| panic!("no {name}"));
            assert!(gauge.value >= 0.0 && (gauge.unit != "%" || gauge.value <= 100.0), "{gauge:?}");
        }
        assert_eq!(seen.iter().any(|gauge| gauge.name == "state.memtables"), {
            control.variable("rocksdb_datadir").unwrap().is_some()
        });

        let mut looks = waits::open(control).unwrap();
        assert_eq!(looks().unwrap(), []);
        let busy = std::thread::spawn({
            let mut other = control.another();
            move || other.execute("select sleep(3)").unwrap()
        });
        std::thread::sleep(Duration::from_millis(1000));
        let seen = looks().unwrap();
        eprintln!("{seen:?}");
        assert_eq!(seen.iter().map(|(_, count)| count).sum::<u32>(), 1);
        busy.join().unwrap();

        let owed = debt::debt(control, &names(&["g1"])).unwrap();
        assert_eq!(owed.dead_rows.is_some(), !is_rocks(engine));
        assert!(owed.bytes.unwrap() > 0.0 || is_rocks(engine));
        control.execute("drop table g1").unwrap();
    });
}

#[test]
fn a_row_lock_is_a_wait() {
    on_all("locks", |control, engine| {
        if is_rocks(engine) {
            return;
        }
        control.execute(&filled("l1", engine, 10)).unwrap();
        control.execute("begin; update l1 set b = 0 where a = 1").unwrap();
        let waiting = std::thread::spawn({
            let mut other = control.another();
            move || other.execute("update l1 set b = 1 where a = 1").unwrap()
        });
        std::thread::sleep(Duration::from_millis(1000));
        let mut looks = waits::open(control).unwrap();
        let seen = looks().unwrap();
        assert!(seen.contains(&("waiting for a row lock".to_owned(), 1)), "{seen:?}");
        control.execute("rollback").unwrap();
        waiting.join().unwrap();
        control.execute("drop table l1").unwrap();
    });
}
