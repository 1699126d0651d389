//! Builds: a difference between them is reported with the results, and a run resumes only with the
//! same binaries.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use dbms::{Cache, Reference};
use nix::sys::signal::Signal;

use crate::database::Database;
use crate::place::Place;
use crate::plans::plan;

const QUICK: &str = "rows = 2000\nsteps = [\"l.i0\"]";

#[test]
fn builds_that_differ_are_told_beside_the_results() {
    let path = "/usr/lib/postgresql/15";
    if !Path::new(path).join("bin/postgres").exists() {
        return testing::skip(format_args!("{path} is not installed"));
    }
    let place = Place::new();
    let packaged = format!("path:{path}");
    let variants = [("pg14.3", "postgres@14.3"), ("pg15", packaged.as_str())];
    place.run(&[&place.plan(&plan(&variants, "", QUICK))]).expect(0, &[]);
    // The fetched release is built for size by an old compiler, the package for speed by that of
    // its system.
    let texts = Database::of(&place.results())
        .texts("SELECT text FROM warning WHERE code = 'builds-differ'");
    let begins = |begin: &str| texts.iter().find(|text| text.starts_with(begin));
    let compilers = begins("pg14.3 was compiled by GCC ").unwrap();
    assert!(compilers.contains(", pg15 by GCC "), "{compilers}");
    let flags = begins("flags of the compiler differ").unwrap();
    assert!(flags.contains("pg14.3: -Os") && flags.contains("pg15: -O2"), "{flags}");
    let compared = place.steelyard(&["compare"]);
    compared.expect(0, &[]);
    for text in &texts {
        let lines = compared.stdout.lines().filter(|line| line.contains(text.as_str())).count();
        assert_eq!(lines, 1, "{text}\n{}", compared.stdout);
    }
}

#[test]
fn a_run_does_not_go_on_with_another_build_of_the_same_version() {
    let place = Place::new();
    let reference: Reference = "postgres@14.3".parse().unwrap();
    let installation = dbms::obtain(&reference, &Cache::open_default().unwrap(), &|_| ()).unwrap();
    let fetched = installation.bin_dir.unwrap();
    let copied = place.path().join("pg");
    let status =
        Command::new("cp").arg("-r").arg(fetched.parent().unwrap()).arg(&copied).status().unwrap();
    assert!(status.success());
    // Relative to the plan's folder, wherever the command runs.
    fs::create_dir(place.path().join("plans")).unwrap();
    let steps = "rows = 3000\nread_write_seconds = 2\nsteps = [\"l.i0\", \"l.x\", \"qr100\"]";
    let text = plan(&[("pg", "path:../pg")], "blocks = 2", steps);
    let mut run = place.start_run(&[&place.file("plans/plan.toml", &text)]);
    run.wait_for("trial 2/2", "  l.x");
    run.signal(Signal::SIGINT);
    run.end().expect(3, &["interrupted"]);
    // Bytes after the end of an ELF file change nothing but its hash.
    let binary = copied.join("bin/postgres");
    OpenOptions::new().append(true).open(binary).unwrap().write_all(b"x").unwrap();
    place.run(&["--resume"]).expect(2, &["`pg` is still 14.3, but a different build"]);
}
