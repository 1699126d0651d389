//! Properties that hold for any values.

use judge::{
    ENOUGH_BLOCKS, MachineBlocks, Margin, Verdict, compare, control_false_discoveries,
    over_machines, stalls, t_cdf, t_quantile,
};
use proptest::prelude::*;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (a.abs() + b.abs() + 1.0)
}

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((10.0..1e6_f64, 10.0..1e6_f64), 2..14)
}

fn judged(pairs: &[(f64, f64)]) -> judge::Comparison {
    let (base, variant): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    compare(&base, &variant, Margin::default()).expect("positive values")
}

proptest! {
    #[test]
    fn the_unit_does_not_matter(pairs in pairs(), scale in 1e-3..1e3_f64) {
        let scaled: Vec<_> = pairs.iter().map(|(b, v)| (b * scale, v * scale)).collect();
        let (one, other) = (judged(&pairs), judged(&scaled));
        prop_assert!(near(one.ratio, other.ratio));
        prop_assert!(near(one.low.unwrap(), other.low.unwrap()));
        prop_assert!(near(one.high.unwrap(), other.high.unwrap()));
    }

    #[test]
    fn swapping_the_sides_mirrors_everything(pairs in pairs()) {
        let swapped: Vec<_> = pairs.iter().map(|(b, v)| (*v, *b)).collect();
        let (one, other) = (judged(&pairs), judged(&swapped));
        prop_assert!(near(one.ratio * other.ratio, 1.0));
        prop_assert!(near(one.low.unwrap() * other.high.unwrap(), 1.0));
        prop_assert!(near(one.high.unwrap() * other.low.unwrap(), 1.0));
        prop_assert_eq!(one.sign_flip_p, other.sign_flip_p);
    }

    #[test]
    fn the_order_of_blocks_changes_nothing((pairs, shuffled) in pairs().prop_flat_map(|p| (Just(p.clone()), Just(p).prop_shuffle()))) {
        prop_assert_eq!(judged(&pairs), judged(&shuffled));
    }

    #[test]
    fn the_interval_holds_the_ratio_and_the_verdict_follows_from_it(pairs in pairs()) {
        let found = judged(&pairs);
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        prop_assert!(low <= found.ratio && found.ratio <= high);
        let expected = if found.blocks < ENOUGH_BLOCKS { Verdict::Inconclusive }
            else if high < 0.98 { Verdict::Regression }
            else if low > 1.02 { Verdict::Improvement }
            else if low >= 0.98 && high <= 1.02 { Verdict::Equivalent }
            else { Verdict::Inconclusive };
        prop_assert_eq!(found.verdict, expected);
        let outside = matches!(expected, Verdict::Regression | Verdict::Improvement);
        prop_assert_eq!(found.margin_p.unwrap() < 0.05, high < 0.98 || low > 1.02);
        prop_assert_eq!(found.further_blocks == Some(0), expected != Verdict::Inconclusive);
        let p = found.sign_flip_p.unwrap();
        prop_assert!(p >= 2.0_f64.powi(1 - found.blocks as i32) * (1.0 - 1e-12) && p <= 1.0);
        prop_assert_eq!(found.difference_p.unwrap() < 0.05, found.excludes_one());
        prop_assert!(!outside || found.confirmed());
        let mut alone = [found.clone()];
        control_false_discoveries(&mut alone);
        prop_assert_eq!(alone[0].confirmed(), found.confirmed());
        prop_assert_eq!(alone[0].adjusted_p.is_some(), true);
        alone[0].adjusted_p = None;
        prop_assert_eq!(&alone[0], &found);
    }

    #[test]
    fn t_grows_and_inverts(p in 0.001..0.999_f64, freedom in 1.0..500.0_f64) {
        let t = t_quantile(p, freedom);
        prop_assert!((t_cdf(t, freedom) - p).abs() < 1e-11);
        prop_assert!(t_cdf(t + 0.01, freedom) > t_cdf(t, freedom));
    }

    #[test]
    fn stalls_lie_inside_and_apart(series in prop::collection::vec(prop_oneof![8 => 900.0..1100.0_f64, 2 => 0.0..100.0_f64, 1 => Just(f64::NAN)], 0..200)) {
        let found = stalls(&series);
        prop_assert!((0.0..=1.0).contains(&found.share));
        prop_assert!(found.spans.iter().all(|span| !span.is_empty() && span.end <= series.len()));
        prop_assert!(found.spans.windows(2).all(|pair| pair[0].end < pair[1].start));
    }
}

/// The log ratios of 1 to 6 machines of two types.
fn machines() -> impl Strategy<Value = Vec<MachineBlocks>> {
    let logs = prop::collection::vec(-0.1..0.1_f64, 1..6);
    prop::collection::vec(("[xy]", logs), 1..7).prop_map(|all| {
        let of = |(place, (kind, logs)): (usize, (String, Vec<f64>))| MachineBlocks {
            machine: format!("m{place}"),
            kind,
            logs,
        };
        all.into_iter().enumerate().map(of).collect()
    })
}

fn over(machines: &[MachineBlocks]) -> judge::OverMachines {
    over_machines(machines, Margin::default(), 0.95).expect("finite logs")
}

fn same(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-5 * (one.abs() + other.abs() + 0.1),
        (one, other) => one == other,
    }
}

proptest! {
    #[test]
    fn the_order_of_machines_and_blocks_changes_nothing((machines, mut shuffled) in machines().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle()))) {
        for one in &mut shuffled {
            one.logs.reverse();
        }
        let (one, other) = (over(&machines), over(&shuffled));
        prop_assert_eq!(one.fleet.verdict, other.fleet.verdict);
        prop_assert!(same(one.fleet.low, other.fleet.low));
        prop_assert!(same(one.general.and_then(|it| it.high), other.general.and_then(|it| it.high)));
        prop_assert!(same(one.spread.map(|it| it.p), other.spread.map(|it| it.p)));
        prop_assert!(same(one.spread.map(|it| it.sd), other.spread.map(|it| it.sd)));
        for machine in &one.machines {
            let found = other.machines.iter().find(|it| it.machine == machine.machine).unwrap();
            prop_assert!(same(machine.odd.map(|it| it.p), found.odd.map(|it| it.p)));
            prop_assert_eq!(&machine.comparison, &found.comparison);
        }
    }

    /// All logs times a factor: errors, scatter and p values follow.
    #[test]
    fn the_scale_of_effects_does_not_matter(machines in machines(), scale in 0.1..5.0_f64) {
        let mut scaled = machines.clone();
        for log in scaled.iter_mut().flat_map(|one| &mut one.logs) {
            *log *= scale;
        }
        let (one, other) = (over(&machines), over(&scaled));
        prop_assert!(near(one.fleet.mean_log * scale, other.fleet.mean_log));
        prop_assert!(same(one.fleet.error_log.map(|it| it * scale), other.fleet.error_log));
        prop_assert!(same(one.spread.map(|it| it.p), other.spread.map(|it| it.p)));
        prop_assert!(same(one.spread.map(|it| it.high * scale), other.spread.map(|it| it.high)));
        for (one, other) in one.kinds.iter().zip(&other.kinds) {
            prop_assert!(same(one.odd.map(|it| it.p), other.odd.map(|it| it.p)));
        }
    }

    #[test]
    fn other_machines_are_less_certain_than_these(machines in machines()) {
        let found = over(&machines);
        let interval = found.fleet.low.zip(found.fleet.high);
        prop_assert_eq!(found.general.is_some(), machines.len() > 1);
        if let (Some((low, high)), Some(general)) = (interval, &found.general) {
            prop_assert!(general.low.unwrap() <= low * (1.0 + 1e-12));
            prop_assert!(general.high.unwrap() >= high * (1.0 - 1e-12));
        }
        if let Some(spread) = found.spread {
            prop_assert!(0.0 <= spread.low && spread.low <= spread.sd && spread.sd.is_finite());
            prop_assert!((0.0..=1.0).contains(&spread.p));
        }
        prop_assert_eq!(found.fleet.further_blocks == Some(0), found.fleet.verdict != Verdict::Inconclusive);
    }
}
