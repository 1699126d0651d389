//! How many instructions the planted loops add, by `steelyard count`.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use store::Store;

use super::builds::{BUILDS, Build};
use super::plans;
use super::subjects::Slowed;
use crate::steelyard::Steelyard;

/// Counts of MySQL differ by less than this share of them.
const NOISE: f64 = 0.003;
/// Counts of PostgreSQL differ by less.
const EQUAL: f64 = 0.0001;
/// Instructions of a round: multiply, add, count, jump.
const INSTRUCTIONS: f64 = 4.0;

/// Counts the statement of each subject in all of its builds and prints the cost that each loop
/// adds, alongside the intended cost. Of a put, only the function before the true one is counted.
///
/// # Errors
/// When one adds something else by more than a hundredth plus what counts differ by anyway.
pub fn verify(directory: &Path, steelyard: &Steelyard) -> Result<()> {
    println!("\n| build | rounds | instructions per statement | added | expected |");
    println!("|---|---|---|---|---|");
    for base in BUILDS.iter().filter(|build| build.is_base()) {
        let results = directory.join("count");
        steelyard.run("count", &plans::count(directory, base), &results, &[])?;
        let counts = counts(&results)?;
        let of = |build: &Build| {
            counts.get(build.name).with_context(|| format!("{} was not counted", build.name))
        };
        let without = of(base)?;
        let noise = match base.subject.slowed {
            Slowed::Source => EQUAL,
            Slowed::Function(_) => NOISE,
        };
        for build in base.all() {
            let (found, rounds) = (of(build)?, build.rounds);
            let (added, expected) = (found - without, f64::from(rounds) * INSTRUCTIONS);
            println!("| {} | {rounds} | {found:.0} | {added:.0} | {expected:.0} |", build.name);
            ensure!(
                (added - expected).abs() <= 0.01 * expected + noise * found,
                "expected {} to add {expected} instructions, found {added}",
                build.name
            );
        }
    }
    Ok(())
}

/// The instructions per statement of each variant in the newest count: the median of its counts.
fn counts(results: &Path) -> Result<HashMap<String, f64>> {
    let store = Store::open_read_only(results)?;
    let count = store.latest_count()?.context("nothing was counted")?;
    let counts = store.counts(count.id)?;
    let of = |variant: store::Variant| {
        let own = counts
            .iter()
            .filter(|(owner, it)| *owner == variant.id && it.event == store::INSTRUCTIONS);
        let each: Vec<f64> = own.map(|(_, it)| it.total as f64 / it.statements as f64).collect();
        Some((variant.name, judge::median(&each)?))
    };
    Ok(store.variants(count.id)?.into_iter().filter_map(of).collect())
}
