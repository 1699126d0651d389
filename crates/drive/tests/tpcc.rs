//! The transactions derived from TPC-C: what they leave in the data, and the conditions that find
//! what is wrong.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use dbms::System;
use drive::{Outcome, Single, Target};
use workload::{
    Benchmark, Class, Condition, Dialect, Effect, End, Phase, Scripts, Sent, Step, StorageEngine,
    Stream,
};

use crate::common::mysql::{MysqlServer, number};
use crate::common::revived::Revived;
use crate::common::{HANG, TestServer, load as one_load, run_on, wait_for};
use crate::scripts::scripts;
use crate::workloads::{hold, planned};

/// Transactions of a client.
const ROUNDS: u64 = 400;

/// What the conditions are asked with.
type Number<'a> = &'a mut dyn FnMut(&str) -> i64;

fn steps(benchmark: &Benchmark) -> Vec<&Step> {
    benchmark.phases.iter().filter_map(Phase::step).collect()
}

fn conditions(benchmark: &Benchmark) -> &[Condition] {
    let list = |phase: &&Phase| matches!(phase, Phase::Check(_));
    let Some(Phase::Check(list)) = benchmark.phases.iter().find(list) else { panic!("no check") };
    list
}

/// Makes the tables and loads them.
fn load(benchmark: &Benchmark, target: &Target) {
    for step in &steps(benchmark)[..2] {
        let outcome = run_on((*step).clone(), target.clone());
        assert_eq!(outcome.fatal, None, "{}: {:?}", step.key.name, outcome.failures);
    }
}

/// Runs the mix with three clients, each until it has done its transactions.
fn mix(benchmark: &Benchmark, target: Target, opening: &[String]) -> Outcome {
    let step = steps(benchmark)[2];
    let of = |client| Stream {
        client,
        end: End::Rounds(ROUNDS),
        opening: opening.to_vec(),
        ..step.streams[0].clone()
    };
    let streams = (0..3).map(of).collect();
    let outcome = run_on(Step { streams, seconds: None, ..step.clone() }, target);
    assert_eq!(outcome.fatal, None, "{:?}", outcome.failures);
    assert_eq!(outcome.operations, 3 * ROUNDS);
    outcome
}

fn of(outcome: &Outcome, name: &str) -> i64 {
    let class = outcome.classes.iter().find(|it| it.class.name == name).unwrap();
    class.operations as i64
}

/// The data after transactions is what they were counted as, and right.
fn leave_what_they_did(benchmark: &Benchmark, target: &Target, number: Number<'_>) {
    let share = |outcome: &Outcome, name: &str, percent: f64| {
        let (found, all) = (of(outcome, name) as f64, outcome.operations as f64);
        let mean = all * percent / 100.0;
        let error = (found - mean) / (mean * (1.0 - percent / 100.0)).sqrt();
        assert!(error.abs() < 4.5, "{name}: {found} of {all}");
    };
    let orders = number("SELECT COUNT(*) FROM orders");
    let payments = number("SELECT COUNT(*) FROM history");
    let delivered = "SELECT COUNT(*) FROM orders WHERE o_carrier_id IS NOT NULL";
    let before = number(delivered);
    let outcome = mix(benchmark, target.clone(), &[]);
    let mixed = [("new-order", 45.0), ("payment", 43.0), ("order-status", 4.0)];
    for (name, percent) in mixed.into_iter().chain([("delivery", 4.0), ("stock-level", 4.0)]) {
        share(&outcome, name, percent);
    }
    hold(conditions(benchmark), &mut *number);
    assert_eq!(number("SELECT COUNT(*) FROM history") - payments, of(&outcome, "payment"));
    // One of a hundred new orders is rolled back.
    let made = number("SELECT COUNT(*) FROM orders") - orders;
    let undone = of(&outcome, "new-order") - made;
    assert!((0..=20).contains(&undone), "{undone} of {}", of(&outcome, "new-order"));
    // A delivery has an order of each district, unless another one has just taken it.
    let all = 10 * of(&outcome, "delivery");
    let now = number(delivered) - before;
    assert!((all / 2..=all).contains(&now), "{now} of {all}");
}

/// The same by procedures of the server, which are dropped in the end.
fn so_do_procedures(dialect: Dialect, target: &Target, sql: impl Fn(&str), number: Number<'_>) {
    let named = "SELECT COUNT(*) FROM information_schema.routines \
                 WHERE routine_name LIKE 'steelyard%'";
    let benchmark = planned("tpcc", "mode = \"procedures\"", dialect).unwrap();
    benchmark.setup[benchmark.tables.len()..].iter().for_each(|statement| sql(statement));
    assert_eq!(number(named), 5);
    leave_what_they_did(&benchmark, target, &mut *number);
    benchmark.teardown.iter().for_each(|statement| sql(statement));
    assert_eq!(number(named), 0);
}

/// The numbers of the conditions that do not hold.
fn broken(benchmark: &Benchmark, number: Number<'_>) -> Vec<usize> {
    let list = (1..).zip(conditions(benchmark));
    list.filter(|(_, it)| number(&it.exceptions) > 0).map(|(at, _)| at).collect()
}

/// Each fault, what takes it back, and the conditions that find it.
const FAULTS: [(&str, &str, &[usize]); 8] = [
    (
        "UPDATE warehouse SET w_ytd = w_ytd + 0.01",
        "UPDATE warehouse SET w_ytd = w_ytd - 0.01",
        &[1, 8],
    ),
    (
        "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3",
        "UPDATE district SET d_next_o_id = d_next_o_id - 1 WHERE d_id = 3",
        &[2],
    ),
    (
        "UPDATE new_order SET no_o_id = -no_o_id WHERE no_d_id = 4 AND no_o_id = 2950",
        "UPDATE new_order SET no_o_id = -no_o_id WHERE no_d_id = 4 AND no_o_id = -2950",
        &[3, 5],
    ),
    // A missing row.
    (
        "UPDATE order_line SET ol_w_id = -1 WHERE ol_d_id = 5 AND ol_o_id = 7 AND ol_number = 2",
        "UPDATE order_line SET ol_w_id = 1 WHERE ol_w_id = -1",
        &[4, 6],
    ),
    (
        "UPDATE orders SET o_carrier_id = NULL WHERE o_d_id = 6 AND o_id = 8",
        "UPDATE orders SET o_carrier_id = 1 WHERE o_d_id = 6 AND o_id = 8",
        &[5, 7],
    ),
    // A lost payment.
    (
        "UPDATE history SET h_w_id = -h_w_id, h_c_w_id = -h_c_w_id WHERE h_d_id = 9 AND h_c_id = 9",
        "UPDATE history SET h_w_id = -h_w_id, h_c_w_id = -h_c_w_id WHERE h_d_id = 9 AND h_c_id = 9",
        &[8, 9, 10],
    ),
    // A wrong total.
    (
        "UPDATE customer SET c_balance = c_balance + 1 WHERE c_d_id = 1 AND c_id = 1",
        "UPDATE customer SET c_balance = c_balance - 1 WHERE c_d_id = 1 AND c_id = 1",
        &[10, 12],
    ),
    (
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt + 1 WHERE c_d_id = 2 AND c_id = 2",
        "UPDATE customer SET c_delivery_cnt = c_delivery_cnt - 1 WHERE c_d_id = 2 AND c_id = 2",
        &[11],
    ),
];

/// Payments of a client that adds up for itself what it has read.
const CARELESS: &str = "BEGIN;\n\
    SELECT w_ytd FROM warehouse WHERE w_id = 1 \\gset\n\
    SELECT d_ytd FROM district WHERE d_w_id = 1 AND d_id = 1 \\gset\n\
    \\sleep 1 ms\n\
    UPDATE warehouse SET w_ytd = CAST(:w_ytd AS numeric) + 1 WHERE w_id = 1;\n\
    UPDATE district SET d_ytd = CAST(:d_ytd AS numeric) + 1 WHERE d_w_id = 1 AND d_id = 1;\n\
    INSERT INTO history VALUES (1, 1, 1, 1, 1, now(), 1, 'careless');\n\
    UPDATE customer SET c_balance = c_balance - 1, c_ytd_payment = c_ytd_payment + 1 \
    WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1;\n\
    COMMIT;\n";

/// Runs such payments in four clients, at this level of isolation.
fn careless(server: &TestServer, level: &str) {
    const PAYMENT: Class = Class::new("payment", "payments", "transactions", Effect::Changes);
    let one = Arc::new(Scripts { max_tries: 0, ..scripts(&[(CARELESS, 1)], Sent::Described) });
    let stream = |client| Stream {
        scripts: Some(Arc::clone(&one)),
        end: End::Rounds(25),
        opening: vec![format!(
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {level}"
        )],
        ..Stream::new(client, PAYMENT)
    };
    let step = Step::new("careless", 4, PAYMENT, (0..4).map(stream).collect());
    assert_eq!(run_on(step, server.target()).fatal, None);
}

#[test]
fn conditions_hold_and_find_what_is_wrong() {
    let mut server = TestServer::of("postgres@18.1");
    let benchmark = planned("tpcc", "", Dialect::postgres(18)).unwrap();
    benchmark.setup.iter().for_each(|statement| server.sql(statement));
    let target = server.target();
    load(&benchmark, &target);
    hold(conditions(&benchmark), |sql| server.number(sql));
    for (fault, undo, wanted) in FAULTS {
        server.sql(fault);
        assert_eq!(broken(&benchmark, &mut |sql| server.number(sql)), wanted, "{fault}");
        server.sql(undo);
    }
    leave_what_they_did(&benchmark, &target, &mut |sql| server.number(sql));
    let text = planned("tpcc", "prepared = false", Dialect::postgres(18)).unwrap();
    leave_what_they_did(&text, &target, &mut |sql| server.number(sql));
    {
        let server = RefCell::new(&mut server);
        let mut number = |sql: &str| server.borrow_mut().number(sql);
        let sql = |sql: &str| server.borrow_mut().sql(sql);
        so_do_procedures(Dialect::postgres(18), &target, sql, &mut number);
    }
    // Where transactions can't be serialized, they are tried again.
    let level = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE";
    let outcome = mix(&benchmark, target, &[level.to_owned()]);
    assert!(outcome.retries() > 0);
    careless(&server, "REPEATABLE READ");
    hold(conditions(&benchmark), |sql| server.number(sql));
    // At a lower level, updates are lost.
    careless(&server, "READ COMMITTED");
    let broken = broken(&benchmark, &mut |sql| server.number(sql));
    assert!([8, 9].iter().all(|it| broken.contains(it)), "{broken:?}");
}

fn hold_on(reference: &str) {
    let server = MysqlServer::of(reference);
    let benchmark = planned("tpcc", "", Dialect::mysql(StorageEngine::InnoDb)).unwrap();
    benchmark.setup.iter().for_each(|statement| server.sql(statement));
    load(&benchmark, &server.target());
    hold(conditions(&benchmark), |sql| server.number(sql));
    leave_what_they_did(&benchmark, &server.target(), &mut |sql| server.number(sql));
    let dialect = Dialect::mysql(StorageEngine::InnoDb);
    let text = planned("tpcc", "prepared = false", dialect).unwrap();
    leave_what_they_did(&text, &server.target(), &mut |sql| server.number(sql));
    let mut number = |sql: &str| server.number(sql);
    so_do_procedures(dialect, &server.target(), |it| server.sql(it), &mut number);
}

#[test]
fn conditions_hold_on_mysql_8() {
    hold_on("mysql@8.0.31");
}

#[test]
fn conditions_hold_on_mysql_5_6() {
    hold_on("mysql@5.6.24");
}

#[test]
fn conditions_hold_on_mariadb_11_4() {
    hold_on("mariadb@11.4.5");
}

/// Kills a server in the midst of transactions. When it has recovered, all that it had acknowledged
/// is there, and at most what each client was about to hear of besides. The machine goes on, so
/// this asks nothing of storage.
fn nothing_is_lost(dialect: Dialect, target: &Target, server: &mut dyn System) {
    let benchmark = planned("tpcc", "", dialect).unwrap();
    for statement in &benchmark.setup {
        server.need_sql().unwrap().execute(statement).unwrap();
    }
    load(&benchmark, target);
    let ask = |sql: &str| number(&mut Single::connect(target, 0, 0).unwrap(), sql);
    let count = |table: &str| ask(&format!("SELECT COUNT(*) FROM {table}"));
    let before = ["history", "orders"].map(count);
    let step = Step { seconds: Some(3600.0), ..steps(&benchmark)[2].clone() };
    let running = drive::prepare(&one_load(step, vec![target.clone()])).unwrap().go(Instant::now());
    wait_for("the load", || running.operations()[0] > ROUNDS);
    let revived = Revived::of(server, target);
    assert!(running.wait(HANG), "the clients hang");
    let outcome = running.join().remove(0);
    assert!(outcome.fatal.is_some());
    hold(conditions(&benchmark), ask);
    let made = ["history", "orders"].map(count);
    let [paid, ordered] = [made[0] - before[0], made[1] - before[1]];
    let [payments, orders] = ["payment", "new-order"].map(|name| of(&outcome, name));
    assert!((payments..=payments + 3).contains(&paid), "{paid} of {payments}");
    // One of a hundred new orders is rolled back.
    let mean = orders as f64 / 100.0;
    let most = (mean + 5.0 * mean.sqrt() + 3.0) as i64;
    assert!((orders - most..=orders + 3).contains(&ordered), "{ordered} of {orders}");
    drop(revived);
}

#[test]
fn nothing_that_postgres_acknowledged_is_lost() {
    let mut server = TestServer::of("postgres@18.1");
    let target = server.target();
    nothing_is_lost(Dialect::postgres(18), &target, server.server.as_mut());
}

#[test]
fn nothing_that_mysql_acknowledged_is_lost() {
    let mut server = MysqlServer::of("mysql@8.0.31");
    let target = server.target();
    nothing_is_lost(Dialect::mysql(StorageEngine::InnoDb), &target, server.server.as_mut());
}
