//! The plans that the race writes.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::builds::{BUILDS, Build};
use super::function;
use super::subjects::{Slowed, Subject};

/// A run that designs itself: a build against the one of its subject without a difference.
pub fn live(directory: &Path, build: &Build) -> String {
    let name = format!("race-{}", build.name);
    let whole = format!("margin = {}\n", build.margin());
    plan(&name, directory, &whole, build.subject, std::slice::from_ref(build))
}

/// A count of all builds of a subject.
pub fn count(directory: &Path, subject: &'static Subject) -> String {
    let others = |build: &&Build| build.slower > 0 && std::ptr::eq(build.subject, subject);
    let builds: Vec<&Build> = BUILDS.iter().filter(others).collect();
    plan("race-count", directory, "", subject, builds) + "\n[count]\n" + subject.count
}

/// A plan with the base of a subject and `builds`.
fn plan<'a>(
    name: &str,
    directory: &Path,
    whole: &str,
    subject: &Subject,
    builds: impl IntoIterator<Item = &'a Build>,
) -> String {
    let mut builds = builds.into_iter().peekable();
    let base = builds.peek().map_or(&BUILDS[0], |build| build.base());
    let mut plan = format!(
        "name = \"{name}\"\nbase = \"{}\"\nsettle_seconds_scale = 0\nsteal_limit = 1\n{whole}{}",
        base.name, subject.settings
    );
    let others = builds.map(|build| (build.variant(), build));
    for (variant, build) in [(base.name.to_owned(), base)].into_iter().chain(others) {
        let _ = write!(plan, "\n[variants.{variant}]\n{}", installation(directory, build));
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
        for build in &BUILDS {
            let plan = read(&format!("budget = \"1m\"\n{}", live(directory, build)));
            assert_eq!(names(&plan), [build.base().name.to_owned(), build.variant()]);
            assert!(plan.designs_itself());
            read(&count(directory, build.subject));
        }
        let insert = read(&live(directory, &BUILDS[2]));
        assert_eq!(insert.variants[0].dbms, "git:/somewhere/race/postgres#same");
    }
}
