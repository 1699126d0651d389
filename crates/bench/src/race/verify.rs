//! How many instructions the planted loops add, by `steelyard count`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use store::Store;

use super::builds::BUILDS;
use super::plans;
use super::steelyard::Steelyard;

/// Instructions of a round: multiply, add, count, jump.
const INSTRUCTIONS: f64 = 4.0;

/// Counts the statement of l.i0 in all builds and prints the cost that each loop adds, alongside
/// the intended cost.
///
/// # Errors
/// When one adds something else by more than a hundredth.
pub fn verify(directory: &Path, steelyard: &Steelyard) -> Result<()> {
    let results = directory.join("count");
    steelyard.run("count", &plans::count(directory), &results, &[])?;
    let store = Store::open_read_only(&results)?;
    let count = store.latest_count()?.context("nothing was counted")?;
    let (variants, counts) = (store.variants(count.id)?, store.counts(count.id)?);
    let of = |name: &str| -> Result<f64> {
        let variant = variants.iter().find(|variant| variant.name == name);
        let variant = variant.with_context(|| format!("{name} was not counted"))?.id;
        let own = counts.iter().filter(|(owner, _)| *owner == variant);
        let each: Vec<f64> =
            own.map(|(_, it)| it.instructions as f64 / it.statements as f64).collect();
        judge::median(&each).with_context(|| format!("{name} has no count"))
    };
    let base = of("same")?;
    println!("\n| build | rounds | instructions per statement | added | expected |");
    println!("|---|---|---|---|---|");
    for build in BUILDS {
        let found = of(build.name)?;
        let (added, expected) = (found - base, f64::from(build.rounds) * INSTRUCTIONS);
        println!("| {} | {} | {found:.0} | {added:.0} | {expected:.0} |", build.name, build.rounds);
        ensure!(
            (added - expected).abs() <= 0.01 * expected,
            "expected {} to add {expected} instructions, found {added}",
            build.name
        );
    }
    Ok(())
}
