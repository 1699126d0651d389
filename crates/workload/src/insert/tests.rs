use super::*;
use crate::StorageEngine;

fn steps(benchmark: &Benchmark) -> Vec<&Step> {
    benchmark.phases.iter().filter_map(Phase::step).collect()
}

fn plan() -> InsertPlan {
    InsertPlan { rows: 1000, indexed_rows: 500, ..InsertPlan::default() }
}

#[test]
fn the_sequence_is_the_published_one_and_settles_once_after_l_i2() {
    let benchmark = benchmark(&plan(), 1, Dialect::postgres(14)).unwrap();
    let names: Vec<_> = steps(&benchmark).iter().map(|step| step.key.name.clone()).collect();
    assert_eq!(names, INSERT_STEPS);
    let settles: Vec<_> = benchmark
        .phases
        .iter()
        .enumerate()
        .filter_map(|(at, phase)| matches!(phase, Phase::Settle { .. }).then_some(at))
        .collect();
    assert_eq!(settles, [4]);
    assert_eq!(benchmark.phases[4], Phase::Settle { rows: Some(1500) });
    let batches: Vec<_> =
        steps(&benchmark)[..4].iter().map(|step| step.streams[0].operations_per_round).collect();
    assert_eq!(batches, [100, 3, 50, 5]);
}

#[test]
fn rows_are_split_over_clients_in_whole_statements() {
    let plan = InsertPlan { rows: 1001, ..plan() };
    let benchmark = benchmark(&plan, 3, Dialect::postgres(14)).unwrap();
    let rounds: Vec<_> = steps(&benchmark)[0].streams.iter().map(|s| s.end.clone()).collect();
    assert_eq!(rounds, [End::Rounds(4), End::Rounds(4), End::Rounds(3)]);
    assert_eq!(benchmark.tables, ["pi1", "pi2", "pi3"]);
    assert_eq!(steps(&benchmark)[1].operations, Some(1100), "l.x counts the rows in the tables");
}

#[test]
fn statements_read_as_published() {
    let benchmark = benchmark(&plan(), 1, Dialect::postgres(14)).unwrap();
    let all = steps(&benchmark);
    let texts: Vec<_> = all[4].streams[0].requests.iter().map(Request::to_string).collect();
    assert_eq!(
        texts,
        [
            "SELECT productid, customerid, price FROM pi1 WHERE (productid >= $1) ORDER BY productid, customerid, price LIMIT 10",
            "SELECT cashregisterid, customerid, price FROM pi1 WHERE (cashregisterid > $1) ORDER BY cashregisterid, customerid, price LIMIT 10",
            "SELECT price, dateandtime, customerid FROM pi1 WHERE (price >= $1) ORDER BY price, dateandtime, customerid LIMIT 10",
        ]
    );
    assert_eq!(
        all[5].streams[0].requests[0].to_string(),
        "SELECT transactionid, productid, data FROM pi1 WHERE transactionid IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
    );
    let insert = &all[3].streams[0].requests[0];
    assert_eq!(
        insert.to_string(),
        "INSERT INTO pi1 (dateandtime, cashregisterid, customerid, productid, price, data) VALUES \
         ($1,$2,$3,$4,$5,$6),($7,$8,$9,$10,$11,$12),($13,$14,$15,$16,$17,$18),\
         ($19,$20,$21,$22,$23,$24),($25,$26,$27,$28,$29,$30)"
    );
    let Request::Sql(insert) = insert else { panic!() };
    assert_eq!(insert.draws().len(), 30);
}

#[test]
fn inserts_during_queries_run_at_the_rate_per_client() {
    let benchmark = benchmark(&plan(), 4, Dialect::postgres(14)).unwrap();
    let qr500 = steps(&benchmark)[6];
    assert_eq!(qr500.target(&Class::INSERT), Some(2000.0));
    let paces: Vec<_> = qr500
        .streams
        .iter()
        .filter(|stream| stream.class == Class::INSERT)
        .map(|stream| stream.pace.clone())
        .collect();
    assert_eq!(paces, vec![Pace::Rate(10.0); 4]);
}

#[test]
fn deletes_start_with_l_i1_and_follow_the_inserts() {
    let plan = InsertPlan { delete_per_insert: true, ..plan() };
    let benchmark = benchmark(&plan, 2, Dialect::postgres(14)).unwrap();
    for step in steps(&benchmark) {
        let deletes = step.streams.iter().filter(|stream| stream.class == Class::DELETE).count();
        let wanted = if matches!(step.key.name.as_str(), "l.i0" | "l.x") { 0 } else { 2 };
        assert_eq!(deletes, wanted, "{}", step.key.name);
    }
    assert_eq!(
        benchmark.phases[4],
        Phase::Settle { rows: Some(1000) },
        "the tables keep their size"
    );
}

#[test]
fn a_shared_table_serves_all_clients() {
    let plan = InsertPlan { tables: Tables::Shared, ..plan() };
    let benchmark = benchmark(&plan, 3, Dialect::postgres(14)).unwrap();
    assert_eq!(benchmark.tables, ["pi1"]);
    assert_eq!(steps(&benchmark)[1].streams.len(), 1, "one client creates the indexes");
    assert!(
        steps(&benchmark)[0].streams.iter().all(|s| s.requests[0].to_string().contains(" pi1 "))
    );
}

#[test]
fn options_change_what_they_name_and_nothing_else() {
    let none = InsertPlan { secondary_indexes: 0, ..plan() };
    let benchmark_none = benchmark(&none, 1, Dialect::postgres(14)).unwrap();
    assert!(steps(&benchmark_none).iter().all(|step| step.key.name != "l.x"));

    let held = InsertPlan { hold_transaction_seconds: 2, ..plan() };
    let benchmark_held = benchmark(&held, 1, Dialect::postgres(14)).unwrap();
    let holds = |name| {
        let all = steps(&benchmark_held);
        let step = all.iter().find(|step| step.key.name == name).unwrap();
        step.streams.iter().filter(|stream| stream.class == Class::HOLD).count()
    };
    assert_eq!((holds("l.i0"), holds("l.x"), holds("l.i1"), holds("qp100")), (0, 0, 1, 1));

    let parted = InsertPlan { partitions: 3, ..plan() };
    assert_eq!(
        benchmark(&parted, 1, Dialect::postgres(10)),
        Err(Error::TooOld { feature: "partitions", needs: 11, found: 10 })
    );
    let setup = benchmark(&parted, 1, Dialect::postgres(14)).unwrap().setup;
    assert!(setup[0].ends_with("PARTITION BY RANGE (transactionid)"));
    assert_eq!(
        setup[1..4],
        [
            "CREATE TABLE pi1_p0 PARTITION OF pi1 FOR VALUES FROM (MINVALUE) TO (501)",
            "CREATE TABLE pi1_p1 PARTITION OF pi1 FOR VALUES FROM (501) TO (1001)",
            "CREATE TABLE pi1_p2 PARTITION OF pi1 FOR VALUES FROM (1001) TO (MAXVALUE)",
        ]
    );
}

#[test]
fn unknown_steps_are_refused() {
    let steps_of = |names: &[&str]| InsertPlan {
        steps: names.iter().map(|name| (*name).to_owned()).collect(),
        ..plan()
    };
    for bad in ["l.i3", "qr", "qr0", "qx100", "q", "qé1"] {
        let error = benchmark(&steps_of(&[bad]), 1, Dialect::postgres(14)).unwrap_err();
        assert!(matches!(error, Error::UnknownStep { .. }), "{bad}");
    }
}

#[test]
fn point_queries_must_find_rows_that_the_table_has() {
    let finds = |plan: &InsertPlan, dop| {
        let benchmark = benchmark(plan, dop, Dialect::postgres(14)).unwrap();
        let all = steps(&benchmark);
        all[5].streams[0].finds.unwrap()
    };
    let cells =
        |low: i64, high: i64, inserted: i64| move |cell: Cell| [low, high, inserted][cell.0];
    let whole = InsertPlan { rows: 30_000, indexed_rows: 500, ..plan() };
    // 30,500 rows without gaps: hardly any of ten ids is drawn twice.
    let found = finds(&whole, 1).least(cells(1, 30_500, 0));
    assert!((found - 10.0).abs() < 0.01, "{found}");
    // With the gaps from many clients, there are ids for 90,000 rows.
    let shared = InsertPlan { tables: Tables::Shared, ..whole.clone() };
    let found = finds(&shared, 64).least(cells(1, 90_000, 0));
    assert!((found - 10.0 * 30_500.0 / 90_000.0).abs() < 0.03, "{found}");
    // Each of seven tables has at least 42 statements' worth, and the whole share of l.i1 and l.i2.
    let found = finds(&whole, 7).least(cells(1, 42_000, 0));
    assert!((found - 1.0).abs() < 0.05, "{found}");
    // Deleted rows are not expected.
    let deleting = InsertPlan { delete_per_insert: true, ..whole };
    let found = finds(&deleting, 1).least(cells(1, 30_000, 15_000));
    assert!((found - 5.0).abs() < 0.01, "{found}");
    // A table that has lost all its rows leaves the cells unchanged, and does not pass.
    assert!(finds(&deleting, 1).least(cells(0, 0, 0)) > 10.0);
    // Nor does one that was emptied and refilled with a few.
    assert!(finds(&deleting, 1).least(cells(40_001, 40_200, 200)) > 20.0);
}

#[test]
fn steps_that_read_find_settled_tables_whichever_steps_are_left_out() {
    let settles = |steps: &[&str]| {
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        let benchmark = benchmark(&InsertPlan { steps, ..plan() }, 1, Dialect::postgres(14));
        let phases = benchmark.unwrap().phases;
        let name = |phase: &Phase| phase.step().map_or("settle".to_owned(), |s| s.key.name.clone());
        phases.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(settles(&["l.i0", "qp100"]), ["l.i0", "settle", "qp100"]);
    assert_eq!(
        settles(&["l.i0", "l.x", "qr100", "qp100"]),
        ["l.i0", "l.x", "settle", "qr100", "qp100"]
    );
    assert_eq!(settles(&["l.i0", "l.x"]), ["l.i0", "l.x"]);
}

#[test]
fn mysql_gets_the_same_in_its_own_words() {
    let plan = InsertPlan { partitions: 3, ..plan() };
    let of = |engine| benchmark(&plan, 1, Dialect::mysql(engine)).unwrap();
    let innodb = of(StorageEngine::InnoDb);
    assert_eq!(
        innodb.setup,
        ["CREATE TABLE pi1 (transactionid bigint NOT NULL AUTO_INCREMENT, dateandtime datetime, \
          cashregisterid int NOT NULL, customerid int NOT NULL, productid int NOT NULL, \
          price int NOT NULL, data varchar(4000), PRIMARY KEY (transactionid)) ENGINE=InnoDB \
          PARTITION BY RANGE (transactionid) (PARTITION p0 VALUES LESS THAN (501), \
          PARTITION p1 VALUES LESS THAN (1001), PARTITION p2 VALUES LESS THAN (MAXVALUE))"]
    );
    let texts = |step: &Step| -> Vec<String> {
        step.streams[0].requests.iter().map(Request::to_string).collect()
    };
    let index = &steps(&innodb)[1];
    assert_eq!(texts(index).len(), 1);
    assert!(texts(index)[0].starts_with("ALTER TABLE pi1 ADD INDEX pi1_marketsegment (productid"));
    assert_eq!(index.operations, Some(1000));
    let ranges = texts(steps(&innodb)[4]);
    assert!(ranges[2].contains(" FROM pi1 FORCE INDEX (pi1_pdc) WHERE (price >= $1) ORDER BY"));
    let myrocks = of(StorageEngine::MyRocks);
    assert!(myrocks.setup[0].contains("ENGINE=ROCKSDB"));
    assert_eq!(texts(steps(&myrocks)[1]).len(), 3, "one index after another");
    let few = InsertPlan { secondary_indexes: 1, delete_per_insert: true, ..plan.clone() };
    let few = benchmark(&few, 1, Dialect::mysql(StorageEngine::InnoDb)).unwrap();
    let ranges = texts(steps(&few)[4]);
    assert!(ranges[0].contains("FORCE INDEX") && !ranges[1].contains("FORCE INDEX"));
    assert_eq!(
        steps(&few)[4].streams[2].requests[0].to_string(),
        "DELETE FROM pi1 WHERE transactionid >= $1 ORDER BY transactionid LIMIT 50"
    );
}
