//! Properties that hold for any plan and any text.
use std::collections::BTreeMap;
use std::time::Duration;

use crate::fixtures::meaning;
use plan::{
    BuildPlan, BuildSystem, CountPlan, Durability, Given, InsertPlan, Layer, Pairing, Plan,
    Protocol, Tables, WorkloadPlan,
};
use proptest::collection::{btree_map, hash_set, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};

const FULL: &str = include_str!("fixtures/good/full.toml");

/// One change to a text.
#[derive(Debug, Clone)]
enum Change {
    Remove(Index, usize),
    Insert(Index, String),
    DoubleLine(Index),
    SwapLines(Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let piece = prop_oneof![
        "[\\[\\]{}=\",.#\n0-9a-z_-]{1,4}",
        "\\PC{1,4}",
        Just("\u{0}\r\u{FEFF}".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("\"\"\"".to_owned()),
        Just("[[workload.insert]]\n".to_owned()),
    ];
    prop_oneof![
        (any::<Index>(), 1..30usize).prop_map(|(at, n)| Change::Remove(at, n)),
        (any::<Index>(), piece).prop_map(|(at, s)| Change::Insert(at, s)),
        any::<Index>().prop_map(Change::DoubleLine),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Change::SwapLines(a, b)),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut lines: Vec<&str> = text.lines().collect();
    match change {
        Change::Remove(at, n) => {
            let at = at.index(chars.len().max(1));
            let kept = chars.iter().take(at).chain(chars.iter().skip(at + n));
            return kept.collect();
        }
        Change::Insert(at, piece) => {
            let at = at.index(chars.len() + 1);
            let (before, after) = chars.split_at(at);
            return before
                .iter()
                .copied()
                .chain(piece.chars())
                .chain(after.iter().copied())
                .collect();
        }
        _ if lines.is_empty() => {}
        Change::DoubleLine(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at]);
        }
        Change::SwapLines(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
    }
    lines.join("\n")
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,40}", "[a-z \"'\\\\\n\t#=\\[\\]]{0,40}"]
}

fn settings() -> impl Strategy<Value = BTreeMap<String, String>> {
    let value = prop_oneof!["[0-9]{1,5}(MB)?", "[^\u{0}\n\r]{0,20}"];
    btree_map("[a-z][a-z_.]{0,12}", value, 0..4)
}

prop_compose! {
    fn insert_plan()(
        // Within 2^53, the largest number of rows a plan may ask for.
        rows in 100u64..1 << 52,
        indexed_rows in 500u64..1 << 52,
        reads in subsequence(plan::INSERT_STEPS[4..].to_vec(), 0..=6).prop_shuffle(),
        loads in 1..=4usize,
        dop in hash_set(1u32..=100, 1..4),
        read_write_seconds in 1u32..100_000,
        switches in any::<[bool; 4]>(),
        secondary_indexes in 0u32..=3,
        partitions in 0u32..=1000,
        hold_transaction_seconds in 0u32..1000,
    ) -> InsertPlan {
        let loads = plan::INSERT_STEPS[..loads].iter().filter(|s| secondary_indexes > 0 || **s != "l.x");
        let has_index = secondary_indexes == 0 || loads.clone().count() > 1;
        let reads = reads.iter().filter(|s| has_index || s.starts_with("qp"));
        let shared = switches[0] && !switches[1];
        InsertPlan {
            rows,
            indexed_rows,
            steps: loads.chain(reads).map(|s| (*s).to_owned()).collect(),
            dop: dop.into_iter().collect(),
            read_write_seconds,
            tables: if shared { Tables::Shared } else { Tables::PerClient },
            delete_per_insert: switches[1],
            prepared_queries: switches[2],
            prepared_inserts: switches[3],
            secondary_indexes,
            partitions,
            hold_transaction_seconds,
        }
    }
}

/// Memory limit, engine, durability.
type Terms = (Option<u64>, Option<String>, Option<Durability>);
type VariantParts =
    (BTreeMap<String, String>, Option<String>, Vec<String>, Terms, Option<BuildPlan>);

prop_compose! {
    fn build_plan()(
        cflags in proptest::option::of(text()),
        compiler in proptest::option::of("[^\u{0}]{1,10}"),
        configure in vec("[^\u{0}]{1,10}", 0..3),
        system in proptest::option::of(select(vec![BuildSystem::Make, BuildSystem::Meson])),
    ) -> BuildPlan {
        BuildPlan { cflags, compiler, configure, system }
    }
}

fn variant_parts() -> impl Strategy<Value = VariantParts> {
    let config_text = proptest::option::of(text().prop_filter("empty", |t| !t.is_empty()));
    let arguments = vec("[^\u{0}]{1,10}", 0..3);
    let durability = select(vec![Durability::Full, Durability::Relaxed]);
    let terms = (
        proptest::option::of(1u64..1 << 50),
        proptest::option::of("[^\u{0}]{1,10}"),
        proptest::option::of(durability),
    );
    (settings(), config_text, arguments, terms, proptest::option::of(build_plan()))
}

fn count() -> impl Strategy<Value = CountPlan> {
    use proptest::option::of;
    let own = "-- name: setup\ncreate table t (a int);\n-- name: one\nselect 1;\n";
    let protocols = prop_oneof![
        Just(vec![Protocol::Prepared]),
        Just(vec![Protocol::Prepared, Protocol::Simple]),
        Just(vec![Protocol::Simple]),
    ];
    let (kinds, flags) = (vec("[a-z0-9-]{1,10}", 0..3), any::<[bool; 2]>());
    (1u64..1 << 50, of(6u32..1000), protocols, kinds, flags).prop_map(
        move |(rows, statements, protocols, kinds, [with_own, caches])| CountPlan {
            rows,
            statements,
            protocols,
            caches,
            kinds: if with_own { vec!["one".to_owned()] } else { kinds },
            file: with_own.then(|| "own.sql".to_owned()),
            file_text: with_own.then(|| own.to_owned()),
        },
    )
}

type Options =
    ((Pairing, Option<u32>), (f64, u32), Option<f64>, Option<u32>, Option<u64>, bool, (bool, u32));

fn options() -> impl Strategy<Value = Options> {
    use proptest::option::of;
    let slices = (
        prop_oneof![Just(Pairing::Slices), Just(Pairing::Frozen), Just(Pairing::Auto)],
        of(2u32..=10_000),
    );
    (
        prop_oneof![Just((Pairing::Blocks, None)), slices],
        (0.0f64..=1.0, 0u32..=100),
        of(0.0001f64..0.9999),
        of(0u32..1000),
        of(1u64..1_000_000),
        any::<bool>(),
        (any::<bool>(), 1u32..=600),
    )
}

prop_compose! {
    fn any_plan()(
        name in text().prop_filter("empty", |t| !t.is_empty()),
        names in hash_set("[a-zA-Z0-9é][a-zA-Z0-9.+_-]{0,10}", 1..5),
        dbms in "[^\u{0}]{1,30}".prop_filter("blank", |text| !text.trim().is_empty()),
        parts in vec(variant_parts(), 5),
        insert in insert_plan(),
        blocks in 1u32..100,
        seed in proptest::option::of(0..=i64::MAX as u64),
        margin in 0.0001f64..0.9999,
        scale in 0.0f64..=1.0,
        base in any::<Index>(),
        options in options(),
        twins in any::<bool>(),
        count in count(),
    ) -> Plan {
        let workload = WorkloadPlan::Insert(insert);
        let mut layer = Layer::default();
        for name in names {
            layer.set("-v", &["variants", &name, "dbms"], &dbms);
        }
        let mut plan = Plan::short(&workload, &layer).unwrap();
        (plan.name, plan.workload, plan.blocks, plan.seed) = (name, workload, blocks, seed);
        plan.count = count;
        plan.margin = margin;
        plan.settle_seconds_scale = scale;
        plan.base = plan.variants[base.index(plan.variants.len())].name.clone();
        for (variant, (config, text, initdb, terms, build)) in plan.variants.iter_mut().zip(parts) {
            variant.config = config;
            variant.config_file = text.as_ref().map(|_| "a.conf".to_owned());
            variant.config_text = text;
            variant.initdb = initdb;
            (variant.memory_limit, variant.engine, variant.durability) = terms;
            variant.build = build;
        }
        (plan.pairing, plan.slice_ms) = options.0;
        plan.given = Given { blocks: true, pairing: true, seconds: true };
        (plan.steal_limit, plan.repeats) = options.1;
        plan.precision = options.2;
        plan.max_blocks = options.3.map(|more| plan.blocks + more);
        plan.budget = options.4.map(Duration::from_secs);
        (plan.profile, plan.profile_seconds) = options.6;
        if plan.is_adaptive() && plan.blocks == 1 {
            plan.blocks = 2;
            plan.max_blocks = plan.max_blocks.map(|blocks| blocks.max(2));
        }
        let steps = &plan.workload.sequences()[0].steps;
        plan.restore_after = steps[..steps.len() - 1]
            .iter()
            .rfind(|step| options.5 && !step.timed)
            .map(|step| step.key.name.clone());
        if twins { plan.with_twins() } else { plan }
    }
}

proptest! {
    #[test]
    fn changed_texts_never_panic(changes in vec(change(), 1..8)) {
        let mut text = FULL.to_owned();
        for change in &changes {
            text = apply(&text, change);
        }
        match Plan::parse(&text, None, "changed") {
            Ok(plan) => {
                // Whatever is accepted can be written and scheduled.
                let again = Plan::parse(&plan.to_toml(), None, "written").map_err(|e| TestCaseError::fail(e.to_string()))?;
                prop_assert_eq!(meaning(&plan), meaning(&again));
                // What is laid over it is in the text, and says the same there.
                let mut layer = Layer::default();
                layer.set("--seed", &["seed"], &7);
                layer.option("steps", "l.i0,l.x");
                if let Ok(plan) = Plan::parse_with(&text, None, "changed", &layer) {
                    prop_assert_eq!(plan.seed, Some(7));
                    let again = Plan::parse(&plan.text, None, "laid over").map_err(|e| TestCaseError::fail(e.to_string()))?;
                    prop_assert_eq!(&plan, &Plan { added: plan.added.clone(), given: plan.given, ..again });
                }
                prop_assert_eq!(plan.schedule(1).len(), plan.blocks as usize);
            }
            Err(error) => prop_assert!(!error.problems().is_empty()),
        }
    }

    #[test]
    fn any_text_is_answered(text in "\\PC{0,200}") {
        let result = Plan::parse(&text, None, "text");
        prop_assert!(result.is_err_and(|e| !e.problems().is_empty()));
    }

    #[test]
    fn a_written_plan_is_the_same_plan(plan in any_plan()) {
        let written = plan.to_toml();
        let again = Plan::parse(&written, None, "written").map_err(|e| TestCaseError::fail(format!("{e}\n{written}")))?;
        prop_assert_eq!(meaning(&plan), meaning(&again));
    }
}
