//! The results of the measurements, with the bounds.

use crate::measure::{Contender, Run, spread};

/// Bounds of the design, all of them ratios within one run, so they don't depend on the
/// machine. Client CPU per point select compared with the bare loop and both rivals.
const AGAINST_BARE: f64 = 1.05;
const AGAINST_RIVALS: f64 = 0.92;
/// The user part of a point select, compared with all CPU time that the bare loop takes for one.
/// Most of that is the kernel's; the loop's own user part is too small to divide by. It was 1 µs
/// where the bare loop took 11.4.
const USER_TO_BARE: f64 = 0.09;
/// Client CPU per row of l.i0, whose statements are drawn and laid out anew, compared with a bare
/// loop that sends the bytes of one statement again and again. It was 0.5 µs where that loop took
/// about 0.25, by the two figures of steelyard and their ratio to the loop.
const ROWS_TO_BARE: f64 = 2.0;
/// Client CPU per query of many clients compared with one, and throughput with sampling compared
/// with none.
const MANY: f64 = 1.3;
const SAMPLING: f64 = 0.99;

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "MISSED" }
}

fn cpu(runs: &[Run]) -> (f64, f64, f64) {
    spread(runs.iter().map(Run::cpu_per_operation))
}

fn print(contenders: &[Contender], runs: &[Vec<Run>], unit: &str) {
    println!(
        "{:<34}{:>9}  {:>17}  {:>7}  {:>10}",
        unit, "cpu", "lowest..highest", "user", "per second"
    );
    for (contender, runs) in contenders.iter().zip(runs) {
        let (median, low, high) = cpu(runs);
        let (user, ..) = spread(runs.iter().map(Run::user_per_operation));
        let (rate, ..) = spread(runs.iter().map(Run::rate));
        println!(
            "{:<34}{median:>9.3}  {low:>8.3}..{high:<7.3}  {user:>7.3}  {rate:>10.0}",
            contender.name
        );
    }
}

fn ratio(name: &str, ours: &[Run], theirs: &[Run], bound: f64) {
    ratio_of(name, ours, Run::cpu_per_operation, theirs, bound);
}

/// Prints `of` ours, compared with all CPU of theirs.
fn ratio_of(name: &str, ours: &[Run], of: fn(&Run) -> f64, theirs: &[Run], bound: f64) {
    let ratio = spread(ours.iter().map(of)).0 / cpu(theirs).0;
    let pairs = ours.iter().zip(theirs).map(|(a, b)| of(a) / b.cpu_per_operation());
    let (_, low, high) = spread(pairs);
    println!(
        "  {name:<38}{ratio:>7.3}  ({low:.3}..{high:.3} by round)  bound {bound}: {}",
        verdict(ratio <= bound)
    );
}

/// The point selects, in the order of [`crate::rivals::point_select`].
pub fn point_select(contenders: &[Contender], runs: &[Vec<Run>]) {
    print(contenders, runs, "µs per prepared point select");
    println!("\nratios of medians");
    ratio("steelyard / bare C loop", &runs[1], &runs[0], AGAINST_BARE);
    ratio("steelyard / pgbench", &runs[1], &runs[2], AGAINST_RIVALS);
    ratio("steelyard / sysbench", &runs[3], &runs[4], AGAINST_RIVALS);
    let user = Run::user_per_operation;
    ratio_of("user part of steelyard / bare C loop", &runs[1], user, &runs[0], USER_TO_BARE);
}

/// The point selects by sysbench's statement alone, of [`crate::rivals::beside_sysbench`].
pub fn beside_sysbench(contenders: &[Contender], runs: &[Vec<Run>]) {
    print(contenders, runs, "µs per prepared point select");
    ratio("steelyard / sysbench", &runs[0], &runs[1], AGAINST_RIVALS);
}

/// The loads, in the order of [`crate::rivals::loads`].
pub fn loads(contenders: &[Contender], runs: &[Vec<Run>]) {
    print(contenders, runs, "µs per row");
    ratio("steelyard / bare C loop", &runs[1], &runs[0], ROWS_TO_BARE);
}

/// Throughput with and without sampling.
pub fn clients(contenders: &[Contender], runs: &[Vec<Run>]) {
    print(contenders, runs, "µs per prepared point select");
    let (one, ..) = spread(runs[0].iter().map(Run::cpu_per_operation));
    let (many, ..) = spread(runs[1].iter().map(Run::cpu_per_operation));
    let cost = |(many, one): (&Run, &Run)| many.cpu_per_operation() / one.cpu_per_operation();
    let (_, low, high) = spread(runs[1].iter().zip(&runs[0]).map(cost));
    println!(
        "  CPU of many clients / of one       {:>9.3}  ({low:.3}..{high:.3} by round)  bound {MANY}: {}",
        many / one,
        verdict(many / one <= MANY)
    );
}

pub fn sampling(contenders: &[Contender], runs: &[Vec<Run>]) {
    print(contenders, runs, "µs per prepared point select");
    let (without, ..) = spread(runs[0].iter().map(Run::rate));
    let (with, ..) = spread(runs[1].iter().map(Run::rate));
    let (_, low, high) =
        spread(runs[1].iter().zip(&runs[0]).map(|(with, without)| with.rate() / without.rate()));
    println!(
        "  throughput with / without sampling {:>9.3}  ({low:.3}..{high:.3} by round)  bound {SAMPLING}: {}",
        with / without,
        verdict(with / without >= SAMPLING)
    );
}
