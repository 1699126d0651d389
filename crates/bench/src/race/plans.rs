//! The plans that the race writes.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::builds::{BUILDS, Build, STATEMENT_ROWS, STATEMENT_US, variant_of};

/// Rows of l.i0 in a restart: what `steelyard run insert` has by default.
const ROWS: u64 = 200_000;

/// Trials of all builds, each with this many seconds of l.i0.
pub fn trials(directory: &Path, blocks: u32, seconds: f64) -> String {
    let statements = (seconds * 1e6 / STATEMENT_US).round() as u64;
    let whole = format!("pairing = \"blocks\"\nblocks = {blocks}\n");
    plan("race-trials", directory, &whole, &BUILDS, statements.max(1) * STATEMENT_ROWS)
}

/// A run that designs itself: a build against the base.
pub fn live(directory: &Path, build: &Build) -> String {
    let name = format!("race-{}", build.name);
    let whole = format!("margin = {}\n", build.margin);
    let builds = std::slice::from_ref(build);
    plan(&name, directory, &whole, builds, ROWS)
}

/// A count of the statement of l.i0.
pub fn count(directory: &Path) -> String {
    let count = "\n[count]\nkinds = [\"insert-100\"]\nprotocols = [\"simple\"]\n";
    plan("race-count", directory, "", &BUILDS, ROWS) + count
}

/// A plan with the base and `builds`.
fn plan(name: &str, directory: &Path, whole: &str, builds: &[Build], rows: u64) -> String {
    let mut plan = format!(
        "name = \"{name}\"\nbase = \"same\"\nsettle_seconds_scale = 0\nsteal_limit = 1\n{whole}\n\
         [config]\nshared_buffers = \"512MB\"\nmax_wal_size = \"4GB\"\n"
    );
    let repository = directory.join("postgres");
    let others = builds.iter().map(|build| (variant_of(build), build.name));
    for (variant, branch) in [("same", "same")].into_iter().chain(others) {
        let _ = write!(
            plan,
            "\n[variants.{variant}]\ndbms = \"git:{}#{branch}\"\nbuild = {{ compiler = \"{}\" }}\n",
            repository.display(),
            compiler()
        );
    }
    let _ = write!(plan, "\n[workload.insert]\nrows = {rows}\nsteps = [\"l.i0\"]\n");
    plan
}

/// The builds have nearly all files in common: with ccache the later ones take seconds.
fn compiler() -> &'static str {
    let silent = Command::new("ccache").arg("--version").stdout(Stdio::null()).status();
    if silent.is_ok() { "ccache cc" } else { "cc" }
}

#[cfg(test)]
mod tests {
    use super::super::builds::AGAIN;
    use super::*;

    fn read(text: &str) -> plan::Plan {
        plan::Plan::parse(text, None, "race.toml").unwrap()
    }

    #[test]
    fn the_plans_are_what_steelyard_reads() {
        let directory = Path::new("/somewhere/race");
        let names = |plan: &plan::Plan| {
            plan.variants.iter().map(|variant| variant.name.clone()).collect::<Vec<_>>()
        };
        let trials = trials(directory, 2, 5.32);
        assert!(trials.contains("rows = 1000000\n"), "{trials}");
        let trials = read(&trials);
        assert_eq!(trials.blocks, 2);
        assert_eq!(names(&trials), ["same", AGAIN, "minus-2", "minus-5"]);
        assert_eq!(trials.variants[1].dbms, "git:/somewhere/race/postgres#same");
        assert_eq!(names(&read(&live(directory, &BUILDS[2]))), ["same", "minus-5"]);
        let none = read(&format!("budget = \"1m\"\n{}", live(directory, &BUILDS[0])));
        assert_eq!(names(&none), ["same", AGAIN]);
        assert!(none.designs_itself());
        read(&count(directory));
    }
}
