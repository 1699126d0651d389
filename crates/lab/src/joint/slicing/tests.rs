use workload::{Benchmark, Dialect, Phase};

use super::*;
use crate::sharing::only_reads;

fn benchmark(plan: plan::InsertPlan) -> Benchmark {
    workload::insert::benchmark(&plan, 1, Dialect::postgres(14)).unwrap()
}

fn steps(benchmark: &Benchmark) -> impl Iterator<Item = &Step> {
    benchmark.phases.iter().filter_map(Phase::step)
}

fn slicing(pairing: Pairing, ms: Option<f64>) -> Slicing {
    let (known, longer) = (BTreeMap::new(), BTreeMap::new());
    Slicing { pairing, given: ms, short: false, freezable: false, known, longer }
}

fn chosen(slicing: &Slicing, step: &Step) -> (Way, String) {
    slicing.way(step, false)
}

fn freezable() -> Slicing {
    Slicing { freezable: true, ..slicing(Pairing::Auto, None) }
}

fn is_sliced(slicing: &Slicing, step: &Step) -> bool {
    matches!(chosen(slicing, step).0, Way::Sliced { .. })
}

fn small() -> plan::InsertPlan {
    plan::InsertPlan { rows: 1000, indexed_rows: 500, ..plan::InsertPlan::default() }
}

#[test]
fn auto_slices_what_reads_and_what_adds() {
    let growing = benchmark(plan::InsertPlan { delete_per_insert: false, ..small() });
    for step in steps(&growing) {
        assert_eq!(is_sliced(&slicing(Pairing::Auto, None), step), step.key.name != "l.x");
    }
    let deleting = benchmark(plan::InsertPlan { delete_per_insert: true, ..small() });
    for step in steps(&deleting) {
        let deletes = step.key.name != "l.i0" && step.key.name != "l.x";
        assert_eq!(is_sliced(&slicing(Pairing::Auto, None), step), step.key.name == "l.i0");
        assert_eq!(
            grows_alike(step).is_err() && step.key.name != "l.x",
            deletes,
            "{}",
            step.key.name
        );
        // Asked for, what can be sliced is.
        assert_eq!(is_sliced(&slicing(Pairing::Slices, None), step), step.key.name != "l.x");
    }
}

#[test]
fn queries_beside_paced_inserts_only_read() {
    let benchmark = benchmark(small());
    let reading: Vec<_> =
        steps(&benchmark).filter(|step| only_reads(step)).map(|step| &*step.key.name).collect();
    assert_eq!(reading, ["qr100", "qp100", "qr500", "qp500", "qr1000", "qp1000"]);
}

#[test]
fn frozen_servers_share_all_that_is_more_than_one_operation() {
    let deleting =
        plan::InsertPlan { delete_per_insert: true, hold_transaction_seconds: 1, ..small() };
    let frozen = slicing(Pairing::Frozen, None);
    for step in steps(&benchmark(deleting)) {
        assert_eq!(is_sliced(&frozen, step), step.key.name != "l.x", "{}", step.key.name);
    }
    let way = milliseconds(chosen(&frozen, &first_step()).0);
    assert_eq!(way, (vec![50, 50, 50, 100], Some(50.0)));
    let way = milliseconds(chosen(&slicing(Pairing::Frozen, Some(200.0)), &first_step()).0);
    assert_eq!(way, (vec![200, 200, 200, 400], Some(200.0)));
}

#[test]
fn auto_freezes_servers_whose_work_can_fall_into_any_slice() {
    let is_frozen = |slicing: &Slicing, step: &Step, inside| {
        matches!(slicing.way(step, inside).0, Way::Sliced { frozen: true, .. })
    };
    let deleting = plan::InsertPlan { delete_per_insert: true, ..small() };
    let deleting = benchmark(deleting);
    assert!(freezable().freezes(false, steps(&deleting)));
    assert!(!slicing(Pairing::Auto, None).freezes(false, steps(&deleting)));
    assert!(!freezable().freezes(false, steps(&benchmark(small()))));
    assert!(freezable().freezes(true, steps(&benchmark(small()))), "l.i0 ends by its work");
    for step in steps(&deleting) {
        let changes = step.key.name != "l.i0" && step.key.name != "l.x";
        assert_eq!(is_frozen(&freezable(), step, false), changes, "{}", step.key.name);
        assert!(!is_frozen(&slicing(Pairing::Auto, None), step, false));
    }
}

#[test]
fn one_of_the_first_blocks_without_need_for_a_cpu_freezes_the_others() {
    let (step, mut auto) = (first_step(), freezable());
    for block in 1..3 {
        auto.learn(step.key.clone(), block, need(0.9), Some((40.0, true)));
        assert!(matches!(chosen(&auto, &step).0, Way::Sliced { frozen: false, .. }));
    }
    assert_eq!(auto.in_vain(&step, [need(0.9), need(0.4)]), Some(need(0.4)));
    auto.learn(step.key.clone(), 3, need(0.4), None);
    for block in 4..8 {
        let (way, why) = chosen(&auto, &step);
        assert!(matches!(way, Way::Sliced { frozen: true, .. }), "{why}");
        assert!(why.contains("only 0.40 of 1 CPU"), "{why}");
        auto.learn(step.key.clone(), block, need(0.9), None);
    }
}

#[test]
fn a_query_is_never_frozen() {
    let asks =
        workload::Asks { opening: Vec::new(), queries: Vec::new(), compared: plan::Compared::Rows };
    let step = Step { asks: Some(asks), ..first_step() };
    let mut auto = freezable();
    auto.learn(step.key.clone(), 1, need(0.4), None);
    assert_eq!(chosen(&auto, &step).0, Way::InTurns);
    assert_eq!(auto.otherwise(&step), "in turns");
    assert_eq!(chosen(&slicing(Pairing::Frozen, None), &step).0, Way::InTurns);
}

#[test]
fn what_runs_in_order_runs_whole() {
    let mut step = first_step();
    step.streams[0].in_order = true;
    for pairing in [Pairing::Auto, Pairing::Slices, Pairing::Frozen] {
        assert_eq!(chosen(&slicing(pairing, None), &step).0, Way::InTurns);
    }
}

#[test]
fn a_held_transaction_belongs_to_one_server() {
    let plan = plan::InsertPlan { hold_transaction_seconds: 1, ..small() };
    let benchmark = benchmark(plan);
    let step = steps(&benchmark).find(|step| step.key.name == "qr100").unwrap();
    assert!(!is_sliced(&slicing(Pairing::Slices, None), step));
}

fn first_step() -> Step {
    steps(&benchmark(small())).next().unwrap().clone()
}

fn milliseconds(way: Way) -> (Vec<u128>, Option<f64>) {
    let Way::Sliced { lengths, ms, .. } = way else { panic!("in turns") };
    (lengths.iter().map(Duration::as_millis).collect(), ms)
}

fn need(share: f64) -> Need {
    Need::of([share, 0.0, 0.0, 0.0])
}

#[test]
fn what_the_first_blocks_find_decides_for_the_others() {
    let step = first_step();
    let mut slicing = slicing(Pairing::Auto, None);
    assert_eq!(milliseconds(chosen(&slicing, &step).0), (vec![10, 20, 40, 80, 160], None));
    let learn = |slicing: &mut Slicing, block, share| {
        slicing.learn(step.key.clone(), block, need(share), Some((20.0, true)));
    };
    learn(&mut slicing, 1, 0.93);
    assert_eq!(milliseconds(chosen(&slicing, &step).0), (vec![20, 20, 20, 40], Some(20.0)));
    // The second server of the first block.
    learn(&mut slicing, 1, 0.4);
    let (way, why) = chosen(&slicing, &step);
    assert_eq!(way, Way::InTurns);
    let only = "in the first block, a server and its clients needed only 0.40 of 1 CPU";
    assert!(why.ends_with(only), "{why}");
    // Two of three say otherwise.
    learn(&mut slicing, 2, 0.9);
    assert_eq!(chosen(&slicing, &step).0, Way::InTurns);
    learn(&mut slicing, 3, 0.8);
    let (way, why) = chosen(&slicing, &step);
    assert_eq!(milliseconds(way), (vec![20, 20, 20, 40], Some(20.0)));
    assert!(why.contains("in the first 3 blocks") && why.contains("0.80 of 1 CPU"), "{why}");
    // What later blocks find changes nothing, but is told.
    assert_eq!(slicing.another_way(&step), None);
    for block in 4..8 {
        learn(&mut slicing, block, 0.3);
        assert!(is_sliced(&slicing, &step));
    }
    let told = slicing.another_way(&step).unwrap();
    assert!(told.contains("CPU-bound, so it runs in slices; with later ones"), "{told}");
}

#[test]
fn slices_are_in_vain_where_the_blocks_that_decide_do_without() {
    let step = first_step();
    let mut auto = slicing(Pairing::Auto, None);
    assert_eq!(auto.in_vain(&step, [need(0.9), need(0.4)]), Some(need(0.4)));
    assert_eq!(auto.in_vain(&step, [need(0.9)]), None);
    assert_eq!(slicing(Pairing::Slices, None).in_vain(&step, [need(0.4)]), None);
    for block in 1..4 {
        auto.learn(step.key.clone(), block, need(0.9), None);
    }
    assert_eq!(auto.in_vain(&step, [need(0.4)]), None, "it is decided");
}

#[test]
fn longer_lengths_are_tried_until_one_is_long_enough() {
    let step = first_step();
    let mut slicing = slicing(Pairing::Slices, None);
    slicing.learn(step.key.clone(), 1, need(1.0), Some((160.0, false)));
    assert_eq!(milliseconds(chosen(&slicing, &step).0), (vec![160, 320, 640], None));
    slicing.learn(step.key.clone(), 2, need(1.0), Some((10_000.0, false)));
    let way = milliseconds(chosen(&slicing, &step).0);
    assert_eq!(way, (vec![10_000, 10_000, 10_000, 20_000], Some(10_000.0)));
}

#[test]
fn the_length_of_the_plan_needs_no_search() {
    let step = first_step();
    let way = chosen(&slicing(Pairing::Slices, Some(25.0)), &step).0;
    assert_eq!(milliseconds(way), (vec![25, 25, 25, 50], Some(25.0)));
}

#[test]
fn a_run_that_chooses_lengths_has_time_for_enough_rounds() {
    let lasts = |short: bool, ms: f64| {
        let slicing = Slicing { short, ..slicing(Pairing::Slices, Some(ms)) };
        let step = Step { seconds: Some(0.5), ..first_step() };
        let Way::Sliced { lengths, .. } = chosen(&slicing, &step).0 else { panic!("in slices") };
        slicing.lasting(&step, &lengths).seconds.unwrap()
    };
    for (short, ms, wanted) in
        [(true, 40.0, 0.5), (false, 160.0, 0.5), (true, 160.0, 1.6), (true, 5000.0, 6.0)]
    {
        assert!((lasts(short, ms) - wanted).abs() < 1e-9, "{short} {ms}");
    }
}

/// A later block may find that operations need longer slices.
#[test]
fn a_settled_length_only_grows() {
    let (step, mut slicing) = (first_step(), slicing(Pairing::Auto, None));
    for (block, ms, wanted) in [(1, 40.0, 40.0), (2, 160.0, 160.0), (3, 40.0, 160.0)] {
        slicing.learn(step.key.clone(), block, need(1.0), Some((ms, true)));
        assert_eq!(milliseconds(chosen(&slicing, &step).0).1, Some(wanted));
    }
}

/// Whether a run chooses lengths by itself or not, a length that a block found too short is left.
#[test]
fn a_length_that_proved_too_short_is_left() {
    let step = first_step();
    for (short, wanted) in
        [(true, (vec![160, 160, 160, 320], Some(160.0))), (false, (vec![40, 80, 160], None))]
    {
        let mut slicing = Slicing { short, ..slicing(Pairing::Auto, None) };
        slicing.learn(step.key.clone(), 1, need(1.0), Some((40.0, true)));
        slicing.learn(step.key.clone(), 2, need(1.0), Some((40.0, false)));
        assert_eq!(milliseconds(chosen(&slicing, &step).0), wanted);
        slicing.learn(step.key.clone(), 3, need(1.0), Some((160.0, true)));
        assert_eq!(milliseconds(chosen(&slicing, &step).0).1, Some(160.0));
    }
}

#[test]
fn slices_are_no_shorter_than_two_lengths_agreed_to() {
    let step = first_step();
    for (pairing, ms) in [(Pairing::Auto, 40.0), (Pairing::Frozen, FROZEN)] {
        for (longer, wanted) in [(20.0, ms), (400.0, 400.0)] {
            let longer = [(step.key.clone(), longer)].into();
            let slicing = Slicing { short: true, longer, ..slicing(pairing, None) };
            assert_eq!(milliseconds(chosen(&slicing, &step).0).1, Some(wanted), "{pairing:?}");
        }
    }
    assert!((longest_within(None) - 600.0).abs() < 1e-9);
    assert!((longest_within(Some(2.0)) - 200.0).abs() < 1e-9);
}

#[test]
fn slices_have_room_for_slow_operations() {
    let (step, slicing) =
        (Step { seconds: Some(5.0), ..first_step() }, slicing(Pairing::Slices, Some(40.0)));
    let of = |operation: f64| {
        let (way, why) = chosen(&slicing, &step);
        slices_of(way, why, &step, operation)
    };
    assert_eq!(milliseconds(of(0.001).0), (vec![40, 40, 40, 80], Some(40.0)));
    assert_eq!(milliseconds(of(0.015).0), (vec![60, 60, 60, 80], Some(60.0)));
    assert_eq!(milliseconds(of(0.2).0), (vec![800, 800, 800, 800], Some(800.0)));
    let (way, why) = of(0.3);
    assert_eq!(way, Way::InTurns);
    assert!(why.contains("0.30 s, too long for slices"), "{why}");
}
