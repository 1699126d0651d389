//! The distributions of random functions, compared with draws of the real pgbench.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
use script::{Action, Scalar, Symbols, parse};

use crate::server::Server;

/// Draws of each expression.
const DRAWS: usize = 100_000;

/// Lines for each expression in a script that is run again and again.
const LINES: usize = 100;

/// An expression, and one that is slightly different.
const CASES: [(&str, &str); 9] = [
    ("random(1, 100000)", "random(1, 102000)"),
    ("random(-3, 3)", "random(-3, 4)"),
    ("random_gaussian(-50000, 50000, 2.5)", "random_gaussian(-50000, 50000, 2.8)"),
    ("random_gaussian(1, 20, 4)", "random_gaussian(1, 20, 4.2)"),
    ("random_exponential(1, 100000, 3.0)", "random_exponential(1, 100000, 3.4)"),
    ("random_exponential(1, 20, 0.5)", "random_exponential(1, 20, 0.7)"),
    ("random_zipfian(1, 100000, 1.1)", "random_zipfian(1, 100000, 1.15)"),
    ("random_zipfian(1, 20, 1.5)", "random_zipfian(1, 20, 1.56)"),
    ("random_zipfian(1, 1000000, 1.01)", "random_zipfian(1, 1000000, 1.05)"),
];

/// Limits that are exceeded with probability 1e-4 if the distributions are the same: of the
/// Kolmogorov distribution, and of the standard normal one.
const KOLMOGOROV: f64 = 2.2253;
const NORMAL: f64 = 3.7190;

fn ours(expression: &str, seed: u64) -> Vec<i64> {
    let mut symbols = Symbols::new();
    let script = parse("draw", &format!("\\set x {expression}"), &mut symbols).unwrap();
    let Action::Set { expr, .. } = &script.commands[0].action else { panic!() };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut host = || rng.next_u64();
    let draw = |_| match expr.evaluate(&[], &mut host) {
        Ok(Scalar::Int(value)) => value,
        other => panic!("{expression}: {other:?}"),
    };
    (0..DRAWS).map(draw).collect()
}

fn theirs(server: &Server) -> Vec<Vec<i64>> {
    let lines = CASES.map(|(expression, _)| format!("\\set x debug({expression})\n"));
    let transactions = format!("-t{}", DRAWS / LINES);
    let printed =
        server.pgbench(&lines.concat().repeat(LINES), &[&transactions, "--random-seed=1"]);
    assert!(printed.success, "{}", printed.text);
    let mut draws = vec![Vec::with_capacity(DRAWS); CASES.len()];
    for line in printed.text.lines() {
        let Some(rest) = line.strip_prefix("debug(script=0,command=") else { continue };
        let (command, value) = rest.split_once("): int ").unwrap();
        let command: usize = command.parse().unwrap();
        draws[(command - 1) % CASES.len()].push(value.parse().unwrap());
    }
    draws
}

/// The two-sample statistic of Kolmogorov and Smirnov, as a multiple of its limit. It is too small
/// if values are equal, never too large.
fn kolmogorov(a: &[i64], b: &[i64]) -> f64 {
    let sorted = |values: &[i64]| {
        let mut values = values.to_vec();
        values.sort_unstable();
        values
    };
    let (a, b) = (sorted(a), sorted(b));
    let below = |values: &[i64], value| {
        values.partition_point(|other| *other <= value) as f64 / values.len() as f64
    };
    let mut distance = 0f64;
    for value in a.iter().chain(&b) {
        distance = distance.max((below(&a, *value) - below(&b, *value)).abs());
    }
    let (n, m) = (a.len() as f64, b.len() as f64);
    distance * (n * m / (n + m)).sqrt() / KOLMOGOROV
}

/// Two-sample chi-squared over the values, as a multiple of its limit, by the approximation of
/// Wilson and Hilferty. Values above 30 are one.
fn chi_squared(a: &[i64], b: &[i64]) -> f64 {
    let bin = |value: &i64| (value.clamp(&-30, &31) + 30) as usize;
    let mut counts = [[0f64; 62]; 2];
    for (counts, values) in counts.iter_mut().zip([a, b]) {
        values.iter().for_each(|value| counts[bin(value)] += 1.0);
    }
    let (mut sum, mut bins) = (0.0, 0.0);
    for (a, b) in counts[0].into_iter().zip(counts[1]) {
        if a + b > 0.0 {
            sum += (a - b).powi(2) / (a + b);
            bins += 1.0;
        }
    }
    let freedom: f64 = bins - 1.0;
    if freedom < 1.0 {
        return 0.0;
    }
    let spread = 2.0 / (9.0 * freedom);
    ((sum / freedom).cbrt() - (1.0 - spread)) / spread.sqrt() / NORMAL
}

pub fn are_the_same(server: &Server) {
    let theirs = theirs(server);
    for (index, ((same, other), theirs)) in CASES.into_iter().zip(theirs).enumerate() {
        assert_eq!(theirs.len(), DRAWS, "{same}");
        let drawn = [same, other].map(|expression| ours(expression, index as u64));
        let farthest = |ours: &[i64]| kolmogorov(ours, &theirs).max(chi_squared(ours, &theirs));
        let (found, control) = (farthest(&drawn[0]), farthest(&drawn[1]));
        println!("{same}: {found:.2} of the limit; {other}: {control:.2}");
        assert!(found < 1.0, "{same}: {found}");
        assert!(control > 1.0, "{other} cannot be told from {same}: {control}");
        let range = |values: &[i64]| (values.iter().min().copied(), values.iter().max().copied());
        if !same.contains("100000") && !same.contains("50000") {
            assert_eq!(range(&drawn[0]), range(&theirs), "{same}");
        }
    }
}
