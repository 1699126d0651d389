//! The plans that the race writes.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::builds::Build;
use super::function;
use super::subjects::Slowed;

/// A run that designs itself: a build against the base of its subject.
pub fn live(directory: &Path, build: &'static Build) -> String {
    let name = format!("race-{}", build.name);
    let whole = format!("margin = {}\n", build.margin());
    plan(&name, directory, &whole, build, [build])
}

/// A count of all builds of a base's subject.
pub fn count(directory: &Path, base: &Build) -> String {
    plan("race-count", directory, "", base, base.all().skip(1)) + "\n[count]\n" + base.subject.count
}

/// A plan with the base of the subject of `one`, and `builds`.
fn plan(
    name: &str,
    directory: &Path,
    whole: &str,
    one: &Build,
    builds: impl IntoIterator<Item = &'static Build>,
) -> String {
    let subject = one.subject;
    let mut plan = format!(
        "name = \"{name}\"\nsettle_seconds_scale = 0\nsteal_limit = 1\n{whole}{}",
        subject.settings
    );
    for build in one.all().take(1).chain(builds) {
        let _ = write!(plan, "\n[variants.{}]\n{}", build.name, installation(directory, build));
    }
    let _ = write!(plan, "\n{}", subject.workload);
    plan
}

/// What a variant is, in TOML.
fn installation(directory: &Path, build: &Build) -> String {
    match &build.subject.slowed {
        Slowed::Source => format!(
            "dbms = \"git:{}#{}\"\nbuild = {{ compiler = \"{}\" }}\n",
            directory.join("postgres").display(),
            build.name,
            compiler()
        ),
        Slowed::Function(function) => {
            let (system, _) = function.reference.split_once('@').unwrap_or_default();
            let place = function::place(directory, build);
            format!("dbms = \"{system}@path:{}\"\n", place.display())
        }
    }
}

/// The builds have nearly all files in common: with ccache the later ones take seconds.
fn compiler() -> &'static str {
    let silent = Command::new("ccache").arg("--version").stdout(Stdio::null()).status();
    if silent.is_ok() { "ccache cc" } else { "cc" }
}

#[cfg(test)]
mod tests {
    use super::super::builds::BUILDS;
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
        for build in BUILDS.iter().filter(|build| !build.is_base()) {
            let plan = read(&format!("budget = \"1m\"\n{}", live(directory, build)));
            let base = build.all().next().unwrap();
            assert_eq!((base.slower, plan.base_index()), (0, 0));
            assert_eq!(names(&plan), [base.name, build.name]);
            assert!(plan.designs_itself());
            read(&count(directory, build));
        }
        let insert = read(&live(directory, &BUILDS[3]));
        assert_eq!(insert.variants[0].dbms, "git:/somewhere/race/postgres#same");
    }
}
