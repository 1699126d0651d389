use std::collections::{BTreeMap, BTreeSet};

use plan::{Home, WorkloadPlan};

use super::*;
use crate::copy::Generated;
use crate::rng::Rng;

fn small() -> TpccPlan {
    TpccPlan { warehouses: 2, dop: vec![1, 4], load_dop: 3, ..TpccPlan::default() }
}

fn all() -> [Dialect; 4] {
    let engine = |name| Dialect::of("mariadb", 10, Some(name));
    [Dialect::postgres(13), Dialect::of("mysql", 8, None), engine("innodb"), engine("myrocks")]
}

/// A part of a table of two warehouses.
fn part_of(table: &str, part: u32, parts: u32) -> Vec<Vec<String>> {
    let (by, table) = (Generator::Tpcc, table.to_owned());
    let fields = |row: String| row.split('\t').map(str::to_owned).collect();
    rows(&Generated { by, table, scale: 2, part, parts }).map(fields).collect()
}

/// The last district of a table, or a tenth of a warehouse's stock.
fn district_of(table: &str) -> Vec<Vec<String>> {
    part_of(table, 20, 20)
}

#[test]
fn steps_are_those_of_the_plan() {
    let plan = small();
    let planned = WorkloadPlan::Tpcc(plan.clone()).sequences().remove(0).steps;
    for dialect in all() {
        let benchmark = benchmark(&plan, dialect).unwrap();
        let steps: Vec<&Step> = benchmark.phases.iter().filter_map(Phase::step).collect();
        let keys: Vec<_> = steps.iter().map(|step| &step.key).collect();
        assert_eq!(keys, planned.iter().map(|step| &step.key).collect::<Vec<_>>());
        assert!(steps.iter().zip(&planned).all(|(step, it)| step.is_timed() == it.timed));
        let checks = benchmark.phases.iter().filter(|it| matches!(it, Phase::Check(_))).count();
        assert_eq!((checks, benchmark.tables.len()), (3, 9));
        assert!(matches!(benchmark.phases.last(), Some(Phase::Check(list)) if list.len() == 12));
        let mix = &steps[3].streams[3];
        assert_eq!(mix.scripts.as_ref().unwrap().scripts.len(), mix.mix.len());
        assert_eq!(catalogue(&plan, dialect).unwrap().kinds.len(), 5);
    }
    let unchecked = TpccPlan { check: false, ..plan };
    let phases = benchmark(&unchecked, all()[0]).unwrap().phases;
    assert!(!phases.iter().any(|phase| matches!(phase, Phase::Check(_))));
    let error = benchmark(&unchecked, Dialect::KeyValue).unwrap_err();
    assert_eq!(error, Error::Unfit { workload: "tpcc", needs: "SQL" });
}

#[test]
fn procedures_are_made_and_dropped() {
    let plan = TpccPlan { mode: TpccMode::Procedures, ..small() };
    for dialect in all() {
        let made = benchmark(&plan, dialect).unwrap();
        let (tables, procedures) = made.setup.split_at(9);
        assert_eq!((tables.len(), procedures.len(), made.teardown.len()), (9, 5, 5));
        for text in made.setup.iter().chain(&made.teardown) {
            assert!(!text.contains(['{', '}']), "{text}");
        }
        assert_eq!(catalogue(&plan, dialect).unwrap().setup, made.setup);
        let Some(Phase::Step(mix)) = made.phases.iter().rfind(|it| it.step().is_some()) else {
            panic!("no mix")
        };
        let scripts = mix.streams[0].scripts.as_ref().unwrap();
        let statements = |script: &::script::Script| {
            let is = |it: &&::script::Command| matches!(it.action, ::script::Action::Sql(_));
            script.commands.iter().filter(is).count()
        };
        let all: Vec<_> = scripts.scripts.iter().map(|(it, _)| statements(it)).collect();
        // A function of PostgreSQL can't roll back an order by itself.
        let order = if dialect.family() == "PostgreSQL" { 4 } else { 1 };
        assert_eq!(all, [order, 1, 1, 1, 1]);
    }
    // Those that a killed run left are dropped in any case.
    assert_eq!(benchmark(&small(), all()[0]).unwrap().teardown.len(), 5);
}

/// Means of clause 5.2.5.7, and the bounds of clause 5.2.5.4.
#[test]
fn users_type_and_think() {
    const RUNS: i32 = 4_000;
    let plan = TpccPlan { think: true, ..small() };
    let all = transactions::scripts(&plan, all()[0].sql("tpcc").unwrap()).unwrap();
    assert!(all.thinks);
    let rng = &mut Rng::new(5);
    let wanted = [(18, 12), (3, 12), (2, 10), (2, 5), (2, 5)];
    for (transaction, (typing, thinking)) in MIX.iter().zip(wanted) {
        let mut sum = 0.0;
        for _ in 0..RUNS {
            let pause = draws(&all, &transaction.class.name, 0, rng)["pause"];
            assert!((typing * 1000..(typing + 10 * thinking) * 1000).contains(&pause), "{pause}");
            sum += pause as f64 / 1000.0;
        }
        let (mean, wanted) = (sum / f64::from(RUNS), (typing + thinking) as f64);
        let error = thinking as f64 / f64::from(RUNS).sqrt();
        assert!((mean - wanted).abs() < 4.0 * error, "{mean}, expected {wanted}");
    }
}

/// Cardinalities of clauses 1.2.1 and 4.3.3.1.
#[test]
fn tables_have_their_rows() {
    let wanted = [100_000, 2, 20, 10_000, 3_000, 3_000, 3_000, 30_000, 900];
    for ((table, columns), wanted) in TABLES.iter().zip(wanted) {
        let found = if SMALL.contains(table) { part_of(table, 1, 1) } else { district_of(table) };
        if *table == "order_line" {
            // 5 to 15 for each order; the standard deviation of their sum is 173.
            assert!((found.len() as i64 - wanted as i64).abs() < 800, "{}", found.len());
        } else {
            assert_eq!(found.len(), wanted, "{table}");
        }
        let kinds = [" integer", "char(", "decimal(", "{time}"];
        let fields: usize = kinds.map(|kind| columns.matches(kind).count()).iter().sum();
        let right = |field: &String| !field.is_empty() && !field.contains(['\'', '\n']);
        for row in &found {
            assert!(row.len() == fields && row.iter().all(right), "{table}: {row:?}");
        }
    }
    assert!(part_of("nowhere", 1, 1).is_empty());
}

/// Clients share the districts, however many they are.
#[test]
fn parts_are_the_whole() {
    let whole = part_of("new_order", 1, 1);
    assert_eq!(whole.len(), 18_000);
    for parts in [3, 7, 40] {
        let shared: Vec<_> = (1..=parts).flat_map(|it| part_of("new_order", it, parts)).collect();
        assert!(shared == whole, "in {parts} parts");
    }
    assert_eq!(district_of("stock").last().unwrap()[..2], ["100000", "2"]);
}

#[test]
fn each_customer_has_an_order_whose_lines_are_there() {
    let mut lines: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for line in district_of("order_line") {
        *lines.entry(line[..3].to_vec()).or_default() += 1;
        assert_eq!(line[6] == "\\N", line[0].parse::<u32>().unwrap() > 2100);
        assert_eq!(line[8] == "0.00", line[6] != "\\N");
    }
    let mut buyers = BTreeSet::new();
    for order in district_of("orders") {
        assert_eq!(lines[&order[..3]], order[6].parse::<usize>().unwrap());
        assert_eq!(order[5] == "\\N", order[0].parse::<u32>().unwrap() > 2100);
        buyers.insert(order[3].clone());
    }
    assert_eq!(buyers.len(), 3_000);
}

#[test]
fn values_are_as_the_specification_draws_them() {
    let customers = district_of("customer");
    let names: BTreeSet<&str> = customers[..1000].iter().map(|it| it[5].as_str()).collect();
    assert_eq!((names.len(), customers[371].get(5).unwrap().as_str()), (1000, "PRICALLYOUGHT"));
    // A tenth; the standard deviation is 16.
    let bad = customers.iter().filter(|it| it[13] == "BC").count() as i64;
    assert!((bad - 300).abs() < 80, "{bad}");
    let lengths = customers.iter().map(|it| it[20].len());
    assert_eq!((lengths.clone().min(), lengths.max()), (Some(300), Some(500)));
    let stock = district_of("stock");
    let original = stock.iter().filter(|it| it[16].contains("ORIGINAL")).count() as i64;
    assert!((original - 1_000).abs() < 130, "{original}");
    let lengths = stock.iter().map(|it| it[16].len());
    assert_eq!((lengths.clone().min(), lengths.max()), (Some(26), Some(50)));
    let zip = |row: &[String]| row[6].len() == 9 && row[6].ends_with("11111");
    assert!(part_of("warehouse", 1, 1).iter().all(|row| zip(row)));
}

fn scripts(home: Home) -> Scripts {
    let plan = TpccPlan { home, warehouses: 5, ..TpccPlan::default() };
    transactions::scripts(&plan, all()[0].sql("tpcc").unwrap()).unwrap()
}

/// Plays the draws of a script, which come before its first statement; returns the variables.
fn draws(scripts: &Scripts, name: &str, client: i64, rng: &mut Rng) -> BTreeMap<String, i64> {
    use ::script::{Action, Scalar, Value};
    let (script, _) = scripts.scripts.iter().find(|(script, _)| script.name == name).unwrap();
    let mut variables = ::script::initial(&scripts.symbols, [scripts.scale, client, 1, 1], []);
    let mut drawn = BTreeMap::new();
    for command in &script.commands {
        let (slot, value) = match &command.action {
            Action::Set { slot, expr } => (slot, expr),
            Action::Choose { slot, index, .. } => (slot, index),
            _ => break,
        };
        let value = value.evaluate(&variables, &mut || rng.next_u64()).unwrap();
        variables[slot.index()] = Value::from(value);
        let number = match value {
            Scalar::Int(number) => number,
            other => i64::from(other.truth()),
        };
        drawn.insert(scripts.symbols.name(*slot).to_owned(), number);
    }
    drawn
}

/// How often values are drawn, against their probabilities (clauses 2.1.6, 2.4.1 and 2.5.1).
#[test]
fn values_are_drawn_with_their_probabilities() {
    const RUNS: i64 = 4_000;
    let rng = &mut Rng::new(7);
    // Within four standard deviations.
    let near = |found: i64, share: f64| {
        let mean = share * RUNS as f64;
        (found as f64 - mean).abs() <= 4.0 * (mean * (1.0 - share)).sqrt()
    };
    let fixed = scripts(Home::Fixed);
    let orders: Vec<_> = (0..RUNS).map(|_| draws(&fixed, "new-order", 7, rng)).collect();
    let count = |all: &[BTreeMap<String, i64>], is: &dyn Fn(&BTreeMap<String, i64>) -> bool| {
        all.iter().filter(|it| is(it)).count() as i64
    };
    assert!(near(count(&orders, &|it| it["unused"] == 1), 0.01));
    // None of 5 to 15 lines is of another warehouse.
    let local = (5..=15).map(|lines| 0.99f64.powi(lines)).sum::<f64>() / 11.0;
    assert!(near(count(&orders, &|it| it["all_local"] == 1), local));
    for lines in 5..=15 {
        assert!(near(count(&orders, &|it| it["ol_cnt"] == lines), 1.0 / 11.0), "{lines}");
    }
    // Client 7 of 5 warehouses sits in the third, in its second district.
    let home = |it: &BTreeMap<String, i64>| (it["w_id"], it["terminal_d_id"]) == (3, 2);
    assert!(orders.iter().all(home));
    // The share of each eighth of the customers follows from the definition.
    let mut shares = [0.0; 8];
    for low in 0..1024u32 {
        for high in (1..=3000u32).step_by(7) {
            shares[((((low | high) + 487) % 3000) / 375) as usize] += 1.0;
        }
    }
    let all: f64 = shares.iter().sum();
    for (eighth, share) in (0..).zip(shares) {
        let is = |it: &BTreeMap<String, i64>| (it["c_id"] - 1) / 375 == eighth;
        assert!(near(count(&orders, &is), share / all), "{eighth}: {}", share / all);
    }
    let any = scripts(Home::Any);
    let payments: Vec<_> = (0..RUNS).map(|_| draws(&any, "payment", 0, rng)).collect();
    assert!(near(count(&payments, &|it| it["by_name"] == 1), 0.6));
    assert!(near(count(&payments, &|it| it["elsewhere"] == 1), 0.15));
    let elsewhere = |it: &BTreeMap<String, i64>| it["c_w_id"] != it["w_id"];
    assert!(payments.iter().all(|it| elsewhere(it) == (it["elsewhere"] == 1)));
    for warehouse in 1..=5 {
        assert!(near(count(&payments, &|it| it["w_id"] == warehouse), 0.2));
        assert!(near(count(&payments, &|it| it["c_w_id"] == warehouse), 0.2));
    }
}
